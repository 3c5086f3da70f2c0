# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""For tests in Python: the programs that they run, and their results."""

import atexit
import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

# Tables have local times.
os.environ["TZ"] = "UTC0"
time.tzset()

_NEEDS = os.path.dirname(os.path.realpath(__file__)) + "/needs"


def _lacks(*words):
    """What is missing here, and why; "" if nothing is (support/needs)."""
    return subprocess.run((_NEEDS, *words), stdout=subprocess.PIPE, text=True, check=False).stdout.strip()


def have(needs):
    return not _lacks(*needs.split())


def need(needs, name):
    """False, with a skip of the checks `name`, if something is missing here that the test itself does not need."""
    lacks = _lacks(*needs.split())
    if lacks:
        print("skip %s: needs %s" % (name, lacks))
    return not lacks


if os.path.isfile(sys.argv[0]) and (lacking := _lacks("-f", sys.argv[0])):
    print("skip %s: needs %s" % (os.path.basename(sys.argv[0]), lacking))
    sys.exit(0)

O = os.path.realpath(os.environ.get("O", "build"))
PROGRAM = os.path.realpath(os.environ.get("PROGRAM", O + "/zmem-bpf"))
# A copy: a process of another test would share its pages, and change their PSS when it ends.
MKMEM = O + "/mkmem"
_own = None
if os.path.exists(MKMEM):
    _own = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, _own, ignore_errors=True)
    MKMEM = shutil.copy(MKMEM, _own)
# A blank in the path of the tree would end a name in LD_PRELOAD.
PRELOAD = O + "/preload.so"
if _own and os.path.exists(PRELOAD):
    PRELOAD = shutil.copy(PRELOAD, _own)
failures = []


def result(good, name, why=""):
    if good:
        print("ok", name)
    else:
        failures.append(name)
        print("not ok %s: %s" % (name, ascii(str(why))[:600]))


def same(name, got, want):
    result(got == want, name, "%r, not %r" % (got, want))


def wait_until(condition, patience=30):
    """Calls condition() every 0.05 s until it is true, for at most `patience` seconds. Returns its last value."""
    end = time.monotonic() + patience
    while not (value := condition()) and time.monotonic() < end:
        time.sleep(0.05)
    return value


def exit_code():
    return 1 if failures or os.environ.get("OWN_PROCESSES") == "after a failure" else 0


def see_own_processes_only(before=()):
    """Restarts the test in a pid and mount namespace, where it sees no process of other tests, if one can be had. OOM
    kills of other tests are still seen. Runs the checks of `before` first, with all processes."""
    if os.environ.get("OWN_PROCESSES"):
        # The first process of a namespace ignores signals without a handler.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        return
    run_checks(before)
    if not have("mount"):
        return
    if _own:
        shutil.rmtree(_own)
    os.environ["OWN_PROCESSES"] = "after a failure" if failures else "1"
    os.execvp("unshare", ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", sys.executable, "-B", *sys.argv))


def run_checks(checks, *args):
    """Runs each check; an exception in one does not stop the others."""
    for check in checks:
        try:
            check(*args)
        except Exception as error:  # any exception is a failure of this check
            result(False, check.__name__, repr(error))
        sys.stdout.flush()


def mkmem_pids(child):
    """{(shape, role): pid} of a mkmem that was just started, when all processes are idle."""
    pids = {}
    for line in child.stdout:
        words = line.split()
        if words[0] == "DONE":
            break
        if words[0] == "READY":
            pids[words[1], words[2]] = int(words[3])
    return pids


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(str(text))


# Where memory cgroups are made, in v1 or v2.
MEMORY_CGROUPS = next((p for p in ("/sys/fs/cgroup/memory", "/sys/fs/cgroup") if os.path.exists(p + "/cgroup.procs")), None)


def cgroup_removed(path):
    """Removes a cgroup. False as long as the kernel refuses, because a process is in it."""
    with contextlib.suppress(OSError):
        os.rmdir(path)
    return not os.path.exists(path)


POOL = "/proc/sys/vm/nr_hugepages"


def _pool():
    with open(POOL, encoding="ascii") as file:
        return int(file.read())


@contextlib.contextmanager
def huge_pages(count, for_mkmem=False):
    """Reserves `count` more huge pages. Yields the size of one, or 0 if there are none. The pool is the machine's: one
    test at a time may change it, and meanwhile mkmem takes no page of it, except with `for_mkmem`."""
    if not os.path.exists(POOL):
        yield 0
        return
    with open(POOL, encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        before = _pool()
        try:
            with open(POOL, "w", encoding="ascii") as file:
                file.write(str(before + count))
            with open("/proc/meminfo", encoding="ascii") as file:
                size = next(int(line.split()[1]) for line in file if line.startswith("Hugepagesize:")) * 1024
            if for_mkmem:
                fcntl.flock(lock, fcntl.LOCK_SH)
            yield size if _pool() >= before + count else 0
        finally:
            with open(POOL, "w", encoding="ascii") as file:
                file.write(str(before))
