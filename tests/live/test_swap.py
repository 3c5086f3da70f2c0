#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# alone: it switches on a zram device of its own as swap, and off again
"""Swap slot by slot: SWAP_PSS without smaps_rollup, equal to it to the kB, and what swap takes in RAM,
beside the device's own sum, for each compressor that zram has of these: lzo, lzo-rle, zstd."""
# needs: counters swap mount sysctl strace python-jsonschema

import contextlib
import ctypes
import json
import mmap
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time

import paths  # noqa: F401
from outcome import MKMEM, PROGRAM, exit_code, mkmem_pids, result, run_checks
import validate_json
from swap import CONTROL, delay_accounting, read, write, zram

MIB = 1 << 20
PAGE = 4096
LIMIT = 60
COMPRESSORS = ("lzo", "lzo-rle", "zstd")
MADV_NOHUGEPAGE, MADV_PAGEOUT = 15, 21
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)
LIBC.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
LIBC.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)


def available():
    number = read(CONTROL + "/hot_add").strip()
    words = read("/sys/block/zram%s/comp_algorithm" % number).replace("[", "").replace("]", "").split()
    write(CONTROL + "/hot_remove", number)
    return [word for word in COMPRESSORS if word in words]


@contextlib.contextmanager
def shapes(*names):
    child = subprocess.Popen([MKMEM, *names], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield mkmem_pids(child)
    finally:
        child.stdin.close()
        child.wait()
        child.stdout.close()


def document(*args):
    done = subprocess.run((PROGRAM, *args, "--json"), capture_output=True, timeout=LIMIT, check=False)
    if done.returncode:
        raise RuntimeError("exit code %d: %s" % (done.returncode, done.stderr.decode()[:300]))
    return validate_json.parse(done.stdout)


def processes():
    """By pid, from BPF alone."""
    return {p["pid"]: p for p in document("--source", "bpf", "--pss", "kernel")["processes"]}


def rollup(pid, key):
    for line in read("/proc/%d/smaps_rollup" % pid).splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1])
    return None


def compare_with_smaps(what, pids):
    """Every process of the list; what moves meanwhile is read again."""
    for _ in range(5):
        found = processes()
        wrong = []
        for pid in pids:
            got = found.get(pid, {}).get("swap_pss_bytes")
            want = rollup(pid, "SwapPss")
            if got is None or got >> 10 != want:
                wrong.append((pid, got, want))
        if not wrong:
            break
    result(not wrong, "%s: SWAP_PSS of %d processes as in smaps_rollup" % (what, len(pids)), wrong[:5])


def every_shape(_):
    with shapes("swap", "swap_fork", "swap_half", "swap_exec", "swap_left", "swap_own", "swap_none", "swap_thp",
                "swap_file", "swap_shmem", "swap_memfd") as pids:
        compare_with_smaps("shapes", list(pids.values()))


def crowd(_):
    """mkmem_pids() has one of each role; the others are its children."""
    with shapes("swap_crowd") as pids:
        parent = pids["swap_crowd", "main"]
        children = [int(pid) for pid in read("/proc/%d/task/%d/children" % (parent, parent)).split()]
        result(len(children) >= 300, "300 processes share swap", len(children))
        compare_with_smaps("a crowd", [parent, *children])


def opened(*args):
    """The files of /proc that the program opens, without the processes that it verifies, and itself."""
    trace = subprocess.run(["strace", "-f", "-qq", "-e", "trace=openat", PROGRAM, "--source", "bpf", "--verify", "0",
                            *args], capture_output=True, timeout=LIMIT, check=False)
    return trace.stderr.decode(errors="replace").replace('"self/smaps_rollup"', "")


def trial(_):
    done = subprocess.run((PROGRAM, "doctor"), capture_output=True, text=True, timeout=LIMIT, check=False)
    result("swap slots ok of 1 device; a test agrees with smaps_rollup" in " ".join(done.stdout.split()),
           "doctor tries swap slots", done.stdout)


def without_smaps(_):
    with shapes("swap_fork") as pids:
        done = opened("-p", ",".join(str(pid) for pid in pids.values()), "--json")
        result("smaps_rollup" not in done, "SWAP_PSS of a fork in documents opens no smaps_rollup", done[-300:])


LARGE = 8 * MIB
TWICE = ("-c", "2", "-i", "0.1")
COMMANDS = ((), ("--json",), ("-F", "csv"), ("-F", "html"), ("-F", "folded"), ("-F", "prometheus"), ("--verify", "1000"),
            ("-s", "swap_pss", "-n", "3"), ("-l",), ("-o", "+swap_ram,thp"), ("--tree",), ("-g", "user"), ("-g", "cgroup"),
            ("system",), ("system", "-l"), ("files",), ("files", "-g", "fs"), ("doctor",), ("compare", "--verify", "1000"),
            ("watch", *TWICE), ("watch", "--grow", *TWICE), ("top", *TWICE),
            ("record", "--output", "/dev/null", *TWICE))


def smaps_read(*args):
    """The processes of which the program opens smaps or smaps_rollup, once for each time. top needs a terminal."""
    terminal = "top" in args
    command = ["script", "-qec", "TERM=xterm " + shlex.join((PROGRAM, *args)), "/dev/null"] if terminal else [PROGRAM, *args]
    with tempfile.NamedTemporaryFile("r", errors="replace") as trace:
        done = subprocess.run(["strace", "-f", "-qq", "-y", "-e", "trace=openat", "-o", trace.name, *command],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=LIMIT, check=False)
        text = trace.read()
    if done.returncode:
        raise RuntimeError("%s: exit code %d: %s" % (args, done.returncode, (done.stdout + done.stderr)[-300:]))
    return [int(pid) for pid in re.findall(r'</proc/(\d+)>, "smaps(?:_rollup)?"', text)]


def size_of(pid):
    """Pages and swap entries that the kernel walks for smaps_rollup, bytes."""
    return sum(int(line.split()[1]) << 10 for line in read("/proc/%d/status" % pid).splitlines()
               if line.startswith(("VmRSS:", "VmSwap:")))


def no_large_read(state, own):
    """No command reads such a file of a large process, which would hold its lock, unless it is told to."""
    for args in COMMANDS:
        pids = smaps_read(*args)
        large = own.intersection(pids)
        result(not large, "%s, %s: of %d readings none is of a large process" % (state, " ".join(args) or "a table", len(pids)),
               large)
    for args in (("--pss", "rollup"), ("--verify", "all")):
        result(own.issubset(smaps_read(*args)), "%s, %s: large processes are read" % (state, " ".join(args)), own)


def no_large_reads(_):
    """With little swap in use, also where a thousand processes are verified. One shares swap by fork, another one is
    small but for its swap."""
    with shapes("swap_books") as pids, swapped_out(RANDOM, PLAIN, RANDOM, fork=True) as pid:
        children = read("/proc/%d/task/%d/children" % (pid, pid)).split()
        own = {one for one in (*pids.values(), pid, *map(int, children)) if size_of(one) > LARGE}
        result(len(own) >= 5, "processes are large", own)
        no_large_read("little swap", own)
        done = subprocess.run((PROGRAM, "-p", str(pid), "-F", "csv", "-o", "swap_pss"), capture_output=True, text=True,
                              timeout=LIMIT, check=False)
        result(done.stdout.split()[1:2] == [str(rollup(pid, "SwapPss") << 10)], "and SWAP_PSS is known",
               (done.stdout, done.stderr))


def costs(at):
    with shapes("swap_mixed") as pids:
        for _ in range(5):
            found = processes()
            system = document("system")["swap"]
            compressed = int(read(at + "/mm_stat").split()[1])
            sums = (system["swap_ram_bytes"], system["swap_ram_files_bytes"])
            if None not in sums and abs(sum(sums) - compressed) <= compressed // 100:
                break
        result(None not in sums and abs(sum(sums) - compressed) <= compressed // 100,
               "SWAP_RAM of processes and files is the device's compressed size", (sums, compressed))
        main, child = (found[pids["swap_mixed", role]]["swap_ram_bytes"] for role in ("main", "child"))
        # A quarter is random and is kept as it is; a quarter is one word repeated and takes nothing.
        # Some of its pages may be in RAM again.
        result(main == child and 2 * MIB - MIB // 8 <= main < 3 * MIB,
               "half of it for each of two that share it", (main, child))
        result(found[pids["swap_mixed", "shmem"]]["swap_ram_bytes"] == 0, "shared memory belongs to its file", found)
        files = [f for f in document("files", "-f", "mkmem")["files"] if f["swapped_bytes"] > MIB]
        # Some of its pages may be in RAM again.
        result(len(files) == 1 and 4 * MIB <= files[0]["swap_ram_bytes"] + files[0]["resident_bytes"] < 6 * MIB,
               "and the file has it", files)
        result(system["rest_bytes"] is not None and abs(system["rest_bytes"]) < MIB, "less than 1 MiB is left over",
               system)
        totals = document("--source", "bpf", "-g", "user")["totals"]
        result(totals["swap_ram_bytes"] is not None and abs(totals["swap_ram_bytes"] - sums[0]) < MIB,
               "sums of groups", totals)


@contextlib.contextmanager
def swapped_out(*parts, whole=True, fork=False):
    """A child with private memory of these parts, all of it in swap, or as much as there is room for. With `fork` a
    child of its own shares it."""
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        text = b"".join(parts)
        area = mmap.mmap(-1, len(text), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        here = ctypes.addressof(ctypes.c_char.from_buffer(area))
        LIBC.madvise(here, len(text), MADV_NOHUGEPAGE)
        area.write(text)
        for _ in range(50):
            LIBC.madvise(here, len(text), MADV_PAGEOUT)
            swap = rollup(os.getpid(), "Swap") or 0
            if swap >= len(text) // 1024 or not whole and read("/proc/meminfo").find("SwapFree:              0 kB") > 0:
                break
            time.sleep(0.02)
        if fork and not os.fork():
            LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        else:
            os.write(theirs, b"x")
        time.sleep(LIMIT)  # a process: its parent ends it
        os._exit(0)
    try:
        os.read(ours, 1)
        yield child
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(ours)
        os.close(theirs)


RANDOM, WORD, PLAIN, ZERO = os.urandom(4 * MIB), b"zmem-bpf" * (MIB // 4), b"".join(
    b"%08d" % number + bytes(PAGE - 8) for number in range(3 * MIB // PAGE)), bytes(MIB)


def near(a, b):
    """The same, but for some pages that are in RAM again."""
    return a is not None and abs(a - b) <= MIB // 8


def kinds(at):
    """Pages by what they are: random, of one word, others; beside the counts of the device. It also has pages of
    processes that are hidden from BPF."""
    def as_device(kind, pages, hidden):
        return totals[kind] is not None and -MIB // 8 <= pages * PAGE - totals[kind] <= hidden + MIB // 8

    with swapped_out(RANDOM, WORD, PLAIN) as pid:
        for _ in range(5):
            totals = document("--source", "bpf")["totals"]
            stat = [int(word) for word in read(at + "/mm_stat").split()]
            hidden = max(stat[0] - totals["swap_bytes"], 0)
            filled, random = as_device("swap_filled_bytes", stat[5], hidden), as_device("swap_incompressible_bytes", stat[7], hidden)
            if filled and random:
                break
        result(filled, "pages of one word: as the device counts them",
               (stat, totals))
        result(random, "pages that do not compress: as the device counts them", (stat, totals))
        p = processes()[pid]
        result(near(p["swap_filled_bytes"], len(WORD)) and near(p["swap_incompressible_bytes"], len(RANDOM)) and
               p["swap_disk_bytes"] == 0 and p["swap_ram_zswap_bytes"] == 0 and
               p["swap_ram_zram_bytes"] == p["swap_ram_bytes"] > p["swap_incompressible_bytes"] and
               p["swap_ram_status"] == "ok", "the parts of a process", p)


def huge_file(at):
    """A file of huge pages, swapped out as such: each of their slots counts by itself."""
    with tempfile.TemporaryDirectory() as place:
        if subprocess.run(("mount", "-t", "tmpfs", "-o", "huge=always", "tmpfs", place), check=False).returncode:
            print("note this kernel has no huge pages of tmpfs")
            return
        try:
            with open(place + "/huge", "wb+") as file:
                file.truncate(8 * MIB)
                area = mmap.mmap(file.fileno(), 8 * MIB)
                area.write((RANDOM[:PAGE] + PLAIN[:PAGE]) * (4 * MIB // PAGE))
                here = ctypes.addressof(ctypes.c_char.from_buffer(area))
                for _ in range(50):
                    if LIBC.madvise(here, 8 * MIB, MADV_PAGEOUT) or (rollup(os.getpid(), "Swap") or 0) >= 8 << 10:
                        break
                    time.sleep(0.02)
                swap, compressed = document("system")["swap"], int(read(at + "/mm_stat").split()[1])
                # Half of the pages are random: as large as before.
                result(compressed >= 4 * MIB and swap["swap_ram_files_bytes"] is not None and
                       abs(swap["swap_ram_bytes"] + swap["swap_ram_files_bytes"] - compressed) <= compressed // 50,
                       "SWAP_RAM of a file of huge pages", (swap, compressed))
        finally:
            subprocess.run(("umount", "-l", place), check=True)


@contextlib.contextmanager
def loop_device(place, rotating):
    """A disk in a file, of either kind: slots of a rotating one are in no cluster of a CPU."""
    path = os.path.join(place, "disk")
    with open(path, "wb") as file:
        file.truncate(64 * MIB)
    done = subprocess.run(("losetup", "-f", "--show", path), capture_output=True, text=True, check=True)
    device = done.stdout.strip()
    try:
        write("/sys/block/%s/queue/rotational" % os.path.basename(device), "1" if rotating else "0")
        subprocess.run(("mkswap", device), stdout=subprocess.DEVNULL, check=True)
        subprocess.run(("swapon", device), check=True)
        try:
            yield
        finally:
            subprocess.run(("swapoff", device), check=True)
    finally:
        subprocess.run(("losetup", "-d", device), check=True)


def on_disk():
    """Its pages take no RAM; pages of zeroes are on no disk since Linux 6.12."""
    for what, rotating in (("rotating disk", True), ("disk", False)):
        with tempfile.TemporaryDirectory() as place, loop_device(place, rotating), swapped_out(RANDOM, ZERO) as pid:
            p = processes()[pid]
        result(p["swap_ram_bytes"] == 0 and p["swap_incompressible_bytes"] == 0 and
               near(p["swap_disk_bytes"] + p["swap_filled_bytes"], p["swap_pss_bytes"]) and
               near(p["swap_disk_bytes"], len(RANDOM) + (0 if p["swap_filled_bytes"] else len(ZERO))),
               "swap on a %s takes no RAM" % what, p)


def full():
    """A device without a free slot is no other device."""
    with zram("lzo", "4M"), swapped_out(RANDOM, RANDOM, whole=False) as pid:
        used = [line.split() for line in read("/proc/swaps").splitlines()[1:]]
        p = processes()[pid]
        result(used[0][2] == used[0][3], "the device is full", used)
        result(p["swap_pss_bytes"] == p["swap_bytes"] > MIB and p["swap_ram_status"] == "ok" and
               near(p["swap_ram_bytes"], p["swap_bytes"]), "what is in a full device", p)
    with zram("lzo", "4M"), swapped_out(RANDOM, RANDOM, RANDOM, whole=False, fork=True) as pid:
        no_large_read("full swap", {pid})


def full_before_disk():
    """Compressed swap that is full, and the rest on a disk: slots of both."""
    for rotating in (False, True):
        with (tempfile.TemporaryDirectory() as place, loop_device(place, rotating), zram("lzo", "4M") as at,
              swapped_out(RANDOM, RANDOM, RANDOM) as pid):
            used = {row[0]: row[2:4] for row in (line.split() for line in read("/proc/swaps").splitlines()[1:])}
            p = processes()[pid]
            size, taken = used.pop("/dev/" + os.path.basename(at))
            result(size == taken and len(used) == 1, "a device is full before another one", (size, taken, used))
            result(p["swap_ram_status"] == "ok" and
                   p["swap_pss_bytes"] == p["swap_bytes"] == p["swap_ram_bytes"] + p["swap_disk_bytes"] and
                   near(p["swap_ram_bytes"], len(RANDOM)) and near(p["swap_disk_bytes"], 2 * len(RANDOM)),
                   "what is in each of both", p)


ENTRIES, TABLE, SLOT = 16 * 1024, 512, 4  # WALK_BUDGET, SWAP_SLOT_WORK


def many_slots(_):
    """A process with more slots than a run looks at: each is counted once, and no run takes long."""
    with swapped_out(*[WORD] * 12, fork=True) as pid:
        done = subprocess.run((PROGRAM, "--timing", "-p", str(pid), "-F", "csv", "-o", "swap_pss"), capture_output=True,
                              text=True, timeout=LIMIT, check=False)
        want = rollup(pid, "SwapPss") << 10
        result(done.stdout.split()[1:] == [str(want)] and want > ENTRIES // SLOT * PAGE // 2,
               "SWAP_PSS of many slots as in smaps_rollup", (done.stdout, want))
    entries = re.findall(r"at most (\d+) table entries for swap", done.stderr)
    result(len(entries) == 1 and ENTRIES <= int(entries[0]) < ENTRIES + (2 + SLOT) * TABLE, "a run looks at few slots",
           done.stderr)


NODES = 512 + 128  # of trees in one run of holders.bpf.c: ZMEM_MAPPERS_STEPS, and the depth of two walks
PAGES = 4096
AGAIN = """
import mmap, os, sys
while True:
    mmap.mmap(int(sys.argv[1]), int(sys.argv[2]), mmap.MAP_SHARED, mmap.PROT_READ).close()
"""


@contextlib.contextmanager
def swapped_memfd(word=WORD):
    """A file of shared memory, every third page of which is in RAM and the others in swap: its descriptor and size."""
    size = PAGES * PAGE
    fd = os.memfd_create("swapped")
    try:
        os.ftruncate(fd, size)
        with mmap.mmap(fd, size) as area:
            at = ctypes.c_char.from_buffer(area)
            area.write(word * (size // len(word)))
            for _ in range(50):
                LIBC.madvise(ctypes.addressof(at), size, MADV_PAGEOUT)
                if (rollup(os.getpid(), "Swap") or 0) >= size // 1024:
                    break
                time.sleep(0.02)
            for page in range(0, PAGES, 3):
                os.pread(fd, 1, page * PAGE)
            del at
        yield fd, size
    finally:
        os.close(fd)


def many_mappings(_):
    """Of a swapped file: 200 parts, each another one, with pages that are counted one by one; and 2,000 mappings of all of
    it. Both take many runs of a program, each of which looks at few nodes; none is left out or counted twice, also while
    others come and go."""
    for what, parts, wholes, busy in (("parts", 200, 0, False), ("mappings", 0, 2000, False), ("both, beside others", 100, 1000, True)):
        with contextlib.ExitStack() as stack:
            fd, size = stack.enter_context(swapped_memfd())
            if busy:
                child = subprocess.Popen([sys.executable, "-c", AGAIN, str(fd), str(size)], pass_fds=[fd])
                stack.callback(child.wait)
                stack.callback(child.kill)
            for i in range(parts + wholes):
                first = PAGE * (i + 1) if i < parts else 0
                at = LIBC.mmap(None, size - first, mmap.PROT_READ, mmap.MAP_SHARED, fd, first)
                stack.callback(LIBC.munmap, at, size - first)
            pid = os.getpid()
            for _ in range(5):
                done = subprocess.run((PROGRAM, "--json", "--timing", "-p", str(pid)), capture_output=True, text=True,
                                      timeout=LIMIT, check=False)
                p = json.loads(done.stdout)["processes"][0]
                want = (rollup(pid, "Swap") << 10) - p["swap_bytes"]
                if p["swap_shmem_bytes"] == want:
                    break
            result(p["swap_shmem_bytes"] == want > size * (parts + wholes) // 3, "%s: SWAP_SHMEM as in smaps_rollup" % what,
                   (p["swap_shmem_bytes"], want))
            nodes = re.findall(r"BPF run: at most (\d+) nodes", done.stderr)
            result(len(nodes) == 1 and 512 <= int(nodes[0]) <= NODES, "%s: few nodes in a run" % what, done.stderr)


def in_cache(_):
    """Memory shared by fork that both have read again: no process has an entry, and its slots are in use."""
    size = 8 * MIB
    area = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    here = ctypes.addressof(ctypes.c_char.from_buffer(area))
    LIBC.madvise(here, size, MADV_NOHUGEPAGE)
    area.write(os.urandom(size))
    for _ in range(50):
        LIBC.madvise(here, size, MADV_PAGEOUT)
        if (rollup(os.getpid(), "Swap") or 0) >= size // 1024:
            break
        time.sleep(0.02)
    ours, theirs = os.pipe()
    child = os.fork()
    touched = sum(area[at] for at in range(0, size, PAGE))
    if not child:
        os.write(theirs, b"x")
        time.sleep(LIMIT)  # a process: its parent ends it
        os._exit(touched & 1)
    try:
        os.read(ours, 1)
        system = document("system")["swap"]
        result(system["swap_cache_bytes"] is not None and system["swap_cache_bytes"] >= size * 3 // 4,
               "slots that only the swap cache has are counted", system)
        result(system["rest_bytes"] is not None and abs(system["rest_bytes"]) < MIB,
               "less than 1 MiB is left over beside the swap cache", system)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def run_with_share(pid, share, *args):
    """Runs the program where smaps_rollup of the process has another SwapPss, in kB. Returns its row, and stderr."""
    with tempfile.NamedTemporaryFile("w", encoding="ascii") as fake:
        fake.write("".join("SwapPss: %d kB\n" % share if line.startswith("SwapPss:") else line
                           for line in read("/proc/%d/smaps_rollup" % pid).splitlines(keepends=True)))
        fake.flush()
        script = 'mount --bind "$1" "/proc/$2/smaps_rollup" && shift 2 && exec "$@"'
        done = subprocess.run(("unshare", "--mount", "sh", "-c", script, "-", fake.name, str(pid), PROGRAM, "--json",
                               "--source", "bpf", "-o", "+swap_ram", "-p", str(pid), *args),
                              capture_output=True, text=True, timeout=LIMIT, check=False)
        return [(p["swap_pss_bytes"], p["swap_ram_bytes"]) for p in json.loads(done.stdout or '{"processes":[]}')["processes"]], done.stderr


def disagreeing(_):
    """As if slots meant something else."""
    with shapes("swap_left") as pids:
        pid = pids["swap_left", "child"]
        wrong = (rollup(pid, "SwapPss") or 0) + 4
        for pss in "kernel", "auto":
            want = None if pss == "kernel" else wrong << 10
            found, errors = run_with_share(pid, wrong, "--pss", pss)
            result(found == [(want, None)] and "SWAP_PSS from swap slots differed" in errors,
                   "--pss %s: swap slots that differ from smaps_rollup are not used" % pss, (found, want, errors))


def comers(_):
    """Processes that share slots begin and end: SWAP_PSS of another one changes between two readings, and its SWAP does not."""
    with shapes("swap_comers") as pids:
        pid = pids["swap_comers", "main"]
        # On a busy machine none of them may run while the program reads.
        for _ in range(20):
            found, errors = run_with_share(pid, 1)
            good = len(found) == 1 and found[0][0] > 1024 and found[0][1] is not None and "swap slots" not in errors
            if good:
                break
        result(good, "a process with sharers that begin and end tells nothing of swap slots", (found, errors))


def switching(at):
    """The device goes and comes while its slots are read: no error, and no process has more than its swap."""
    device = "/dev/" + os.path.basename(at)
    again = 'for i in 1 2 3 4 5 6; do swapoff "$1" && swapon -p 100 "$1"; done'
    wrong = []
    with shapes("swap_mixed"):
        child = subprocess.Popen(["sh", "-c", again, "-", device])
        runs = 0
        while child.poll() is None or runs < 5:
            runs += 1
            wrong += [p for p in processes().values() if p["swap_bytes"] is not None and
                      ((p["swap_pss_bytes"] or 0) > p["swap_bytes"] or (p["swap_ram_bytes"] or 0) > p["swap_bytes"])]
        result(child.returncode == 0, "swap was switched off and on while %d snapshots were taken" % runs)
    result(not wrong, "no process has more of it than swap entries", wrong[:3])


def switched_off():
    with shapes("swap") as pids:
        del pids
        found = [p for p in processes().values() if p["swap_ram_bytes"] not in (0, None)]
        result(not found, "without swap it takes no RAM", found[:3])
    with swapped_out(RANDOM, RANDOM, RANDOM, whole=False, fork=True) as pid:
        no_large_read("no swap", {pid})


def swapped_in():
    return next(int(line.split()[1]) for line in read("/proc/vmstat").splitlines() if line.startswith("pswpin "))


def swap_ins(_):
    """What a process and its threads read from swap: one page at a time, as on any device that is synchronous."""
    code = ("import ctypes,mmap,sys,threading\n"
            "n=%d; m=mmap.mmap(-1,n,mmap.MAP_PRIVATE|mmap.MAP_ANONYMOUS); c=ctypes.CDLL(None)\n"
            "a=ctypes.addressof(ctypes.c_char.from_buffer(m)); c.madvise(ctypes.c_void_p(a),ctypes.c_size_t(n),%d)\n"
            "m.write(b'x'*n)\n"
            "end=threading.Event(); threading.Thread(target=end.wait, daemon=True).start()\n"
            "for line in sys.stdin:\n"
            "    c.madvise(ctypes.c_void_p(a),ctypes.c_size_t(n),%d)\n"
            "    t=threading.Thread(target=lambda: [m[i] for i in range(0,n,4096)]) if line=='thread\\n' else None\n"
            "    t and (t.start(), t.join())\n"
            "    t or [m[i] for i in range(0,n,4096)]\n"
            "    print('done', flush=True)\n") % (2 * MIB, MADV_NOHUGEPAGE, MADV_PAGEOUT)
    args = ("--source", "bpf", "--pss", "none")
    with delay_accounting(1), subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                               text=True) as child:
        def pages(word):
            before = swapped_in()
            child.stdin.write(word + "\n")
            child.stdin.flush()
            child.stdout.readline()
            return swapped_in() - before

        def counted():
            found = {p["pid"]: p for p in document(*args)["processes"]}
            return found[child.pid]["swapins"]

        first = pages("read")
        before = counted()
        more = pages("read")
        after = counted()
        # For each other CPU up to 31 pages stay in RAM: they are in its batch, where MADV_PAGEOUT does not look.
        result(first >= 256 and more >= 256 and abs(after - before - more) <= more // 20, "swap-ins are those of pswpin",
               (first, more, before, after))
        pages("thread")
        result(counted() == after, "those of a thread that ended are not counted", (after, counted()))
        watch = subprocess.Popen((PROGRAM, "watch", "-F", "ndjson", "-p", str(child.pid), "-i", "1", "-c", "2", *args),
                                 stdout=subprocess.PIPE, text=True)
        rows = [json.loads(watch.stdout.readline())]
        watch.stdout.readline()
        more = pages("read")
        rows.append(json.loads(watch.stdout.readline()))
        watch.communicate()
        took = (rows[1]["timestamp_ms"] - rows[0]["timestamp_ms"]) / 1000
        result(rows[0]["swapins_per_second"] is None and abs(rows[1]["swapins_per_second"] * took - more) <= more // 20 + 1,
               "watch has swap-ins per second", (rows, more, took))
        with delay_accounting(0):
            result(counted() is None, "without delay accounting they are not known")
            done = subprocess.run((PROGRAM, *args, "-o", "pid,swapins"), capture_output=True, text=True, timeout=LIMIT, check=False)
            result("kernel.task_delayacct is 0" in done.stderr, "and the reason is said", done.stderr)
        child.stdin.close()


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # it switches swap off
    done = False
    for compressor in available():
        with zram(compressor) as at:
            print("ok swap on zram with", compressor)
            run_checks((costs, kinds) if done else
                       (every_shape, crowd, trial, without_smaps, no_large_reads, disagreeing, comers, costs, kinds, swap_ins, huge_file,
                        in_cache, many_mappings, many_slots, switching),
                       at)
        done = True
    result(done, "zram has one of the compressors")
    on_disk()
    full()
    full_before_disk()
    switched_off()
    return exit_code()


if __name__ == "__main__":
    sys.exit(main())
