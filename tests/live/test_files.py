#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""zmem-bpf files: every kind of file to the page, also of other mount namespaces, and the sums of
the machine beside those of the kernel. Other tests make files meanwhile: what is wrong with such a sum is
measured again."""
# needs: python-jsonschema

import contextlib
import ctypes
import mmap
import os
import re
import subprocess
import sys
import tempfile
import threading

import paths  # noqa: F401
from outcome import MEMORY_CGROUPS, PROGRAM, cgroup_removed, exit_code, huge_pages, need, result, run_checks, wait_until
import validate_json

PAGE = mmap.PAGESIZE
LIMIT = 60
TRIES = 20
SLACK = (os.cpu_count() * 125 + 64) * PAGE  # what the kernel keeps apart for each CPU, and more
NAME = "zmem-files-%d" % os.getpid()
IPC_RMID = 0
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.shmat.restype = ctypes.c_void_p


def run(*args):
    return subprocess.run((PROGRAM, "files") + args, capture_output=True, stdin=subprocess.DEVNULL,
                          timeout=LIMIT, check=False)


def document(*args):
    done = run("--json", *args)
    if done.returncode:
        raise RuntimeError("exit code %d: %s" % (done.returncode, done.stderr.decode()[:300]))
    return validate_json.parse(done.stdout)


def listed(pattern=NAME, *args):
    return document("-f", re.escape(pattern), *args)["files"]


def check_file(what, files, **want):
    """One file, with these values."""
    if len(files) != 1:
        result(False, what, "%d files: %s" % (len(files), files))
        return
    got = {key: files[0][key] for key in want}
    result(got == want, what, "%s instead of %s" % (got, want))


@contextlib.contextmanager
def tmpfs():
    with tempfile.TemporaryDirectory(prefix=NAME) as at:
        subprocess.run(["mount", "-t", "tmpfs", "zmem", at], check=True)
        try:
            yield at
        finally:
            subprocess.run(["umount", at], check=True)


def fill(path, pages):
    with open(path, "wb") as file:
        file.write(b"x" * (pages * PAGE))


def of_tmpfs():
    with tmpfs() as at:
        path = os.path.join(at, "dir")
        os.mkdir(path)
        path = os.path.join(path, "a file\n")
        fill(path, 37)
        check_file("tmpfs: a file to the page", listed(), kind="tmpfs", fs="tmpfs", path=path, mount=at,
                   name="a file\n", resident_bytes=37 * PAGE, swapped_bytes=0, size_bytes=37 * PAGE,
                   mapped=False, dirty=None, deleted=False, inode=os.stat(path).st_ino)
        # A hole takes no memory.
        with open(path, "r+b") as file:
            file.truncate(1 << 30)
            check_file("tmpfs: a file with a hole", listed(), resident_bytes=37 * PAGE, size_bytes=1 << 30)
            with mmap.mmap(file.fileno(), PAGE):
                check_file("tmpfs: a mapped file", listed(), mapped=True)
            os.unlink(path)
            check_file("tmpfs: a deleted file that is open", listed("/a file\n"), deleted=True,
                       resident_bytes=37 * PAGE)
        result(not listed("/a file\n"), "tmpfs: a deleted file that was closed is gone")


def of_other_namespace():
    """A tmpfs that no path of this mount namespace leads to."""
    script = "mount -t tmpfs zmem /mnt && head -c %d /dev/zero >/mnt/%s && echo ready && cat" % (11 * PAGE, NAME)
    child = subprocess.Popen(["unshare", "--mount", "--propagation", "private", "sh", "-c", script],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    child.stdout.readline()
    check_file("another mount namespace", listed(), kind="tmpfs", path="/" + NAME, mount=None,
               resident_bytes=11 * PAGE)
    shown = subprocess.run([PROGRAM, "files", "-f", "^tmpfs:/%s$" % NAME, "-o", "name", "-H"], capture_output=True,
                           text=True, check=True).stdout.split("\n")[0].strip()
    result(shown == "tmpfs:/" + NAME, "another mount namespace: the path does not seem to begin at our root", shown)
    child.communicate()
    result(not listed(), "another mount namespace: gone with it")


def of_hidden():
    """Below another mount: the path leads elsewhere."""
    with tmpfs() as at:
        os.mkdir(at + "/sub")
        fill(at + "/sub/file", 3)
        check_file("not hidden", listed(at + "/sub/file"), path=at + "/sub/file", hidden=False)
        subprocess.run(["mount", "-t", "tmpfs", "zmem", at + "/sub"], check=True)
        try:
            check_file("hidden by a mount on its directory", listed(at + "/sub/file"), path=at + "/sub/file", mount=at, hidden=True)
        finally:
            subprocess.run(["umount", at + "/sub"], check=True)


def of_memfd():
    fd = os.memfd_create(NAME)
    os.write(fd, b"y" * (5 * PAGE + 1))
    check_file("memfd", listed(), kind="memfd", name="memfd:" + NAME, path=None, mount=None,
               resident_bytes=6 * PAGE, size_bytes=5 * PAGE + 1, deleted=False, mapped=False)
    with mmap.mmap(fd, PAGE):
        check_file("memfd: mapped", listed(), mapped=True)
    os.close(fd)
    result(not listed(), "memfd: gone when it is closed")


def of_sysv():
    key = os.getpid()
    shmid = LIBC.shmget(key, 9 * PAGE, 0o1000 | 0o600)
    address = LIBC.shmat(shmid, None, 0)
    try:
        ctypes.memset(address, 1, 7 * PAGE)
        check_file("SysV segment", listed("SYSV%08x" % key), kind="sysv", inode=shmid, resident_bytes=7 * PAGE,
                   size_bytes=9 * PAGE, mapped=True, shmid=shmid, key="0x%08x" % key, dest=False)
        LIBC.shmdt(ctypes.c_void_p(address))
        check_file("SysV segment that no process maps", listed("SYSV%08x" % key), resident_bytes=7 * PAGE,
                   mapped=False)
    finally:
        LIBC.shmctl(shmid, IPC_RMID, None)
    result(not listed("SYSV%08x" % key), "SysV segment: gone when it is removed")
    # IPC_RMID of a segment that is attached, also of one in another IPC namespace.
    for space in ([], ["unshare", "--ipc"]):
        child = subprocess.Popen([*space, sys.executable, "-c", REMOVED, str(key), str(5 * PAGE)], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, text=True)
        shmid, other = map(int, child.stdout.readline().split())
        what = "another IPC namespace: " if space else ""
        check_file(what + "a segment that was removed, and is attached", listed("SYSV%08x" % key), kind="sysv", shmid=shmid,
                   mapped=True, deleted=False, dest=True, resident_bytes=5 * PAGE)
        check_file(what + "a segment that was not", listed("SYSV%08x" % (key + 1)), shmid=other, dest=False, mapped=True)
        child.communicate()
        result(not listed("SYSV%08x" % key), what + "it is gone with the process")


REMOVED = """
import ctypes, sys
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
ids = [libc.shmget(int(sys.argv[1]) + i, int(sys.argv[2]), 0o1600) for i in range(2)]
for i in ids:
    ctypes.memset(libc.shmat(i, None, 0), 1, int(sys.argv[2]))
libc.shmctl(ids[0], 0, None)
print(*ids, flush=True)
sys.stdin.read()
libc.shmctl(ids[1], 0, None)
"""


def of_ramfs():
    """The kernel cannot free its pages: the sum of those that it cannot free has them."""
    with tempfile.TemporaryDirectory(prefix=NAME) as at:
        subprocess.run(["mount", "-t", "ramfs", "zmem", at], check=True)
        try:
            before = document("-n", "1")["totals"]["cache_unevictable_bytes"]
            fill(at + "/file", 700)
            check_file("ramfs: a file", listed(at), kind="ramfs", fs="ramfs", path=at + "/file", unevictable=True, dirty=None,
                       resident_bytes=700 * PAGE)
            grew = document("-n", "1")["totals"]["cache_unevictable_bytes"] - before
            result(grew == 700 * PAGE, "ramfs: the sum of what cannot be freed", grew)
            table = run("-f", at).stdout.decode()
            result(" unevictable " in table and "cannot be freed (ramfs)" in table, "ramfs: table", table)
        finally:
            subprocess.run(["umount", at], check=True)


def of_shared_anonymous():
    size = (4099 + os.getpid()) * PAGE  # no other mapping has this size
    with mmap.mmap(-1, size) as memory:
        memory.write(b"z" * (13 * PAGE))
        files = [file for file in listed("dev/zero") if file["size_bytes"] == size]
        check_file("shared anonymous memory", files, kind="shared_anon", resident_bytes=13 * PAGE, mapped=True)


def of_disk():
    """The page cache of a file on a disk, dirty and then clean."""
    for pages in (1, 70):
        path = "%s-%d" % (os.path.join(os.environ.get("TMPDIR", "/var/tmp"), NAME), pages)
        try:
            def written(path=path, pages=pages):
                fill(path, pages)
                files = listed()
                return files if files and files[0]["dirty"] else None  # the kernel may write it meanwhile
            check_file("a file of %d pages, just written" % pages, wait_until(written) or listed(), kind="file", dirty=True,
                       resident_bytes=pages * PAGE, path=path, deleted=False)
            fd = os.open(path, os.O_RDONLY)
            os.fsync(fd)
            check_file("a file of %d pages, synced" % pages, listed(), dirty=False, resident_bytes=pages * PAGE)
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            result(not listed(), "a file of %d pages that was dropped" % pages)
            os.close(fd)
        finally:
            os.unlink(path)


def of_overlay():
    """The pages of a file of an overlay are those of the file below it, where both are seen. A process that
    has the file open holds that one."""
    with tmpfs() as at:
        for name in ("lower", "upper", "work", "merged"):
            os.mkdir(at + "/" + name)
        fill(at + "/lower/zmem-below", 17)
        done = subprocess.run(["mount", "-t", "overlay", "zmem", "-o", "lowerdir=%s/lower,upperdir=%s/upper,workdir=%s/work"
                               % (at, at, at), at + "/merged"], capture_output=True, check=False)
        if done.returncode:
            print("# no overlayfs: %s" % done.stderr.decode().strip())
            return
        try:
            with open(at + "/merged/zmem-below", "rb") as file:
                file.read()
                files = listed("/zmem-below", "-o", "+holders")
                check_file("overlay: a file of the lower directory", files, kind="tmpfs", path=at + "/lower/zmem-below",
                           resident_bytes=17 * PAGE, holders=[os.getpid()])
            fill(at + "/merged/zmem-above", 5)
            check_file("overlay: a file of the upper directory", listed("/zmem-above"), kind="tmpfs", path=at + "/upper/zmem-above",
                       resident_bytes=5 * PAGE)
        finally:
            subprocess.run(["umount", at + "/merged"], check=True)


def of_loop():
    """A file of an ext4 on a loop device; the image has pages of its own."""
    with tempfile.TemporaryDirectory(prefix=NAME, dir="/var/tmp") as at:
        image, point = at + "/image", at + "/mnt"
        os.mkdir(point)
        with open(image, "wb") as file:
            file.truncate(16 << 20)
        made = subprocess.run(["mkfs.ext4", "-q", "-F", image], capture_output=True, check=False)
        if made.returncode == 0:
            made = subprocess.run(["mount", "-o", "loop", image, point], capture_output=True, check=False)
        if made.returncode:
            print("# no loop device with ext4: %s" % made.stderr.decode().strip())
            return
        try:
            fill(point + "/zmem-inside", 23)
            os.sync()
            check_file("ext4 on a loop device", listed("/zmem-inside"), kind="file", fs="ext4", path=point + "/zmem-inside",
                       mount=point, resident_bytes=23 * PAGE, dirty=False)
            result(len(listed(image)) == 1, "ext4 on a loop device: its image")
        finally:
            subprocess.run(["umount", point], check=True)


def of_hugetlbfs():
    """Its own account: neither Shmem nor page cache."""
    if not need("hugetlb", "hugetlbfs"):
        return
    with huge_pages(3) as size, tempfile.TemporaryDirectory(prefix=NAME) as at:
        if not size:
            print("# no huge pages could be reserved")
            return
        fd = os.memfd_create(NAME + "-huge", os.MFD_HUGETLB)
        os.ftruncate(fd, 2 * size)
        subprocess.run(["mount", "-t", "hugetlbfs", "zmem", at], check=True)
        try:
            with mmap.mmap(fd, 2 * size) as memory, open(at + "/file", "w+b") as file:
                memory[0] = memory[size] = 1
                file.truncate(size)
                with mmap.mmap(file.fileno(), size) as other:
                    other[0] = 1
                    check_file("hugetlbfs: a file", listed(at), kind="hugetlb", fs="hugetlbfs", path=at + "/file", mount=at,
                               resident_bytes=size, size_bytes=size, mapped=True, dirty=None, deleted=False)
                    os.unlink(at + "/file")
                    check_file("hugetlbfs: a deleted file", listed(at), resident_bytes=size, deleted=True)
                check_file("hugetlbfs: a memfd", listed(NAME + "-huge"), kind="hugetlb", name="memfd:" + NAME + "-huge",
                           path=None, mount=None, resident_bytes=2 * size, deleted=False)
                data = document()
                sizes = [file["resident_bytes"] for file in data["files"] if file["kind"] == "hugetlb"]
                result(data["totals"]["hugetlb_listed_bytes"] == sum(sizes) >= 3 * size, "hugetlbfs: its sum",
                       (data["totals"], sizes))
                result(data["totals"]["hugetlb_pool_bytes"] >= 3 * size, "hugetlbfs: the pool", data["totals"])
        finally:
            subprocess.run(["umount", at], check=True)
            os.close(fd)


def holders_of(pattern):
    files = listed(pattern, "-o", "+holders")
    return files[0]["holders"] if len(files) == 1 else files


def of_holders():
    """Processes that have a file open or map it, each once."""
    fd = os.memfd_create(NAME)
    os.write(fd, b"h" * PAGE)
    result(holders_of(NAME) == [os.getpid()], "holders: it is open", holders_of(NAME))
    memory = mmap.mmap(fd, PAGE)
    os.close(fd)
    result(holders_of(NAME) == [os.getpid()], "holders: the descriptor of mmap()", holders_of(NAME))
    # A mapping of a file that is closed; 40 children have inherited it.
    children = []
    for _ in range(40):
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reader)
            os.closerange(3, writer)
            os.closerange(writer + 1, 256)
            os.write(writer, b"x")
            while True:
                threading.Event().wait()
        os.close(writer)
        os.read(reader, 1)
        os.close(reader)
        children.append(pid)
    try:
        want = sorted([os.getpid()] + children)
        result(holders_of(NAME) == want, "holders: 40 children that map it alone", holders_of(NAME))
    finally:
        for pid in children:
            os.kill(pid, 9)
            os.waitpid(pid, 0)
        memory.close()
    key = os.getpid()
    shmid = LIBC.shmget(key, PAGE, 0o1000 | 0o600)
    address = LIBC.shmat(shmid, None, 0)
    try:
        ctypes.memset(address, 1, PAGE)
        result(holders_of("SYSV%08x" % key) == [os.getpid()], "holders: a SysV segment")
        LIBC.shmdt(ctypes.c_void_p(address))
        result(holders_of("SYSV%08x" % key) == [], "holders: a SysV segment that no process maps")
    finally:
        LIBC.shmctl(shmid, IPC_RMID, None)


def of_hidden_holders():
    """A program in a pid namespace of its own sees none of those that map the file: it knows no number."""
    fd = os.memfd_create(NAME)
    os.write(fd, b"h" * PAGE)
    with mmap.mmap(fd, PAGE):
        os.close(fd)
        for own, want in ((False, ([os.getpid()], 1, "ok")), (True, (None, None, "hidden"))):
            done = subprocess.run((("unshare", "--pid", "--fork") if own else ()) +
                                  (PROGRAM, "files", "-J", "-f", NAME, "-o", "+holders"), capture_output=True,
                                  timeout=LIMIT, check=True)
            file, = validate_json.parse(done.stdout)["files"]
            got = file["holders"], file["holders_count"], file["holders_status"]
            result(got == want, "holders, %s pid namespace" % ("another" if own else "our"), got)


def of_cgroups():
    """Pages of two cgroups, one of which was removed: each with its bytes."""
    if not need("cgroups", "files: cgroups"):
        return
    with tmpfs() as at:
        for name, pages in (("one", 600), ("two", 300)):
            cgroup = "%s/%s-%s" % (MEMORY_CGROUPS, NAME, name)
            os.mkdir(cgroup)
            try:
                subprocess.run(["sh", "-c", 'echo 0 >"$1/cgroup.procs" && exec head -c "$2" /dev/zero >>"$3"', "-", cgroup,
                                str(pages * PAGE), at + "/file"], check=True)
            finally:
                if name == "one":
                    wait_until(lambda path=cgroup: cgroup_removed(path))
        try:
            file, = listed(at, "-o", "+cgroup,holders")
            got = [(row["cgroup"].rsplit("/", 1)[1], row["bytes"], row["deleted"]) for row in file["cgroups"]]
            result(got == [(NAME + "-one", 600 * PAGE, True), (NAME + "-two", 300 * PAGE, False)], "cgroups: json",
                   file["cgroups"])
            result(file["holders"] == [], "cgroups: with holders", file)
            table = run("-f", at, "-w", "-o", "+cgroup").stdout.decode()
            result("%s-one (deleted) 2.34 MiB, /" % NAME in table, "cgroups: table", table)
        finally:
            wait_until(lambda: cgroup_removed("%s/%s-two" % (MEMORY_CGROUPS, NAME)))


def many_files():
    """More files than one visit has room for; each has its page."""
    count = 6000
    with tmpfs() as at:
        for i in range(count):
            fill("%s/%05d" % (at, i), 1 + i % 2)
        files = listed(at)
        result(sorted(file["path"] for file in files) == ["%s/%05d" % (at, i) for i in range(count)],
               "6,000 files: each once", "%d files" % len(files))
        wrong = [file for file in files if file["resident_bytes"] != (1 + int(file["name"]) % 2) * PAGE]
        result(not wrong, "6,000 files: each to the page", wrong[:2])
        groups = document("-g", "dir", "-f", re.escape(at))["groups"]
        result(groups == [{"group": at, "files": count, "resident_bytes": count // 2 * 3 * PAGE, "swapped_bytes": 0,
                           "swap_ram_bytes": 0, "size_bytes": count // 2 * 3 * PAGE}], "6,000 files: their directory", groups)
        done = document("-f", re.escape(at), "--min", str(2 * PAGE), "-n", "5")
        result(len(done["files"]) == 5 and done["totals"]["files"] == count // 2, "--min and -n", done["totals"])


STEPS = 2048 + 25  # ZMEM_FILES_STEPS, and the names of one file


def deep_files():
    """Files in a deep directory: each of its names is read: a run looks at few of them."""
    count = 1000
    with tmpfs() as at:
        place = os.path.join(at, *("directory %d" % i for i in range(22)))
        os.makedirs(place)
        for i in range(count):
            fill("%s/%05d" % (place, i), 1)
        done = run("-v", "--json", "-f", re.escape(place))
        files = validate_json.parse(done.stdout)["files"]
        result(sorted(file["path"] for file in files) == ["%s/%05d" % (place, i) for i in range(count)],
               "1,000 files in a deep directory: each once", "%d files" % len(files))
        steps = re.search(rb"visits of at most (\d+) steps", done.stderr)
        result(steps and STEPS // 2 < int(steps.group(1)) <= STEPS, "in runs of few steps", done.stderr)


def churn():
    """Files that come and go while the lists are read; a quiet file is always there, once."""
    stop = threading.Event()

    def make(at):
        i = 0
        while not stop.is_set():
            path = "%s/churn%d" % (at, i % 50)
            fill(path, 1)
            os.unlink("%s/churn%d" % (at, (i + 25) % 50)) if i > 50 else None
            i += 1

    with tmpfs() as at:
        fill(at + "/" + NAME + "-quiet", 21)
        worker = threading.Thread(target=make, args=(at,))
        worker.start()
        try:
            seen = [listed("/" + NAME + "-quiet") for _ in range(TRIES)]
        finally:
            stop.set()
            worker.join()
        good = sum(len(files) == 1 and files[0]["resident_bytes"] == 21 * PAGE for files in seen)
        result(good == TRIES, "under churn: the quiet file once and to the page", "%d of %d" % (good, TRIES))


def starts():
    """When each process has started, by its number."""
    times = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open("/proc/%s/stat" % pid, "rb") as file:
            times[int(pid)] = file.read().rsplit(b")", 1)[1].split()[19]
    return times


def churn_of_mappings():
    """memfds that are mapped, unmapped and closed, and file systems that come and go, while files and those that hold
    them are read."""
    stop = threading.Event()
    before = starts()

    def make_memfds():
        while not stop.is_set():
            fd = os.memfd_create(NAME + "-churn")
            os.ftruncate(fd, 4 * PAGE)
            for _ in range(4):
                with mmap.mmap(fd, 4 * PAGE) as memory:
                    memory[0] = 1
            os.close(fd)

    def make_mounts():
        while not stop.is_set():
            with tmpfs() as at:
                fill(at + "/file", 1)

    fd = os.memfd_create(NAME + "-quiet")
    os.write(fd, b"q" * (3 * PAGE))
    workers = [threading.Thread(target=make) for make in (make_memfds, make_mounts)]
    for worker in workers:
        worker.start()
    try:
        with mmap.mmap(fd, PAGE):
            seen = [document("-o", "+holders") for _ in range(TRIES)]
    finally:
        stop.set()
        for worker in workers:
            worker.join()
        os.close(fd)
    mine = [[file for file in data["files"] if file["name"] == "memfd:%s-quiet" % NAME] for data in seen]
    good = sum(len(files) == 1 and files[0]["resident_bytes"] == 3 * PAGE and os.getpid() in files[0]["holders"]
               for files in mine)
    result(good == TRIES, "under churn of mappings: the quiet memfd, and what holds it", "%d of %d" % (good, TRIES))
    others = [file for data in seen for file in data["files"] if file["name"] == "memfd:%s-churn" % NAME]
    # The children of this process that run mount and umount hold its files until they exec.
    pids = {pid for file in others + sum(mine, []) for pid in file["holders"]} - {os.getpid()}
    # Their numbers come again.
    now = starts()
    others = [pid for pid in pids if pid in before and now.get(pid) == before[pid]]
    result(not others, "under churn of mappings: no process but this one and its children", others)


@contextlib.contextmanager
def beside(code, *fds):
    """A process that runs the code, which prints a line when it is ready."""
    with subprocess.Popen([sys.executable, "-c", "import mmap, os, signal\n" + code], stdout=subprocess.PIPE,
                          pass_fds=fds) as child:
        try:
            child.stdout.readline()
            yield child.pid
        finally:
            child.kill()


MAPS = """
maps = []
for _ in range(%d):
    fd = os.memfd_create("%s")
    os.write(fd, bytes(mmap.PAGESIZE))
    maps.append(mmap.mmap(fd, 0))
    os.close(fd)
print(flush=True)
"""

MAKES = """
print(flush=True)
opened = []
while True:
    opened.append(os.memfd_create("%s"))
    os.write(opened[-1], b"x")
    if len(opened) > 100:
        os.close(opened.pop(0))
"""


def files_used_again():
    """Files that are gone when their holders are read. Beside them is a process that maps other files, and one to the
    files the kernel gives their memory."""
    with beside(MAPS % (64, NAME + "-other") + "signal.pause()") as maps, beside(MAKES % (NAME + "-own")) as opens, \
            beside(MAKES % (NAME + "-gone")) as makes:
        files = [file for _ in range(TRIES) for file in document("-f", NAME + "-(gone|other)", "-o", "+holders")["files"]]
    gone = [file["holders"] for file in files if file["name"].endswith("-gone") and makes not in file["holders"]]
    result(len(gone) > TRIES, "files that are gone are read", len(gone))
    result(not any(maps in pids for pids in gone), "no holder: a process that maps the file read before",
           "%d of %d" % (sum(maps in pids for pids in gone), len(gone)))
    result(not any(opens in pids for pids in gone), "no holder: a process with a file that has the memory of the file",
           "%d of %d" % (sum(opens in pids for pids in gone), len(gone)))


FORKS = """
while True:
    pid = os.fork()
    if not pid:
        os._exit(0)
    os.write(%d, b"%%d\\n" %% pid)
    os.waitpid(pid, 0)
"""


def mm_used_again():
    """Children that map files, beside other short processes: the kernel gives their memory to them. Each read of an
    iterator takes 5 ms more, so that many end meanwhile."""
    # LeakSanitizer does not work below strace.
    if not need("strace plain", "short processes"):
        return
    slow = ("strace", "-qq", "-o", "/dev/null", "-e", "trace=read", "-e", "inject=read:delay_exit=5000", PROGRAM, "files")
    others = [subprocess.Popen(["sh", "-c", "while :; do (:); done"]) for _ in range(2)]
    try:
        with tempfile.TemporaryFile() as log, \
                beside(MAPS % (20, NAME + "-mapped") + FORKS % log.fileno(), log.fileno()) as parent:
            holders = set()
            for _ in range(TRIES):
                done = subprocess.run((*slow, "--json", "-f", NAME + "-mapped", "-o", "+holders"), capture_output=True,
                                      timeout=LIMIT, check=True)
                holders.update(pid for file in validate_json.parse(done.stdout)["files"] for pid in file["holders"])
            # The numbers of all children so far, and some more, are in the log.
            size = os.fstat(log.fileno()).st_size
            wait_until(lambda: os.fstat(log.fileno()).st_size > size + 32)
            children = set(map(int, os.pread(log.fileno(), 1 << 24, 0).split()))
    finally:
        for other in others:
            other.kill()
            other.wait()
    result(parent in holders, "short processes: the parent that maps the files", holders)
    result(holders <= {parent} | children, "short processes: no holder but it and its children",
           holders - {parent} - children)


def accounts():
    """All shared memory is Shmem; the page cache is Cached + Buffers - Shmem. The kernel keeps up to
    125 pages for each CPU apart (vm_stat_threshold), and other programs work meanwhile."""
    for what in ("shmem", "cache"):
        gaps = []

        def right(what=what, gaps=gaps):
            totals = document("-n", "1")["totals"]
            gaps.append(abs(totals[what + "_bytes"] - totals[what + "_listed_bytes"]))
            return gaps[-1] <= SLACK
        result(wait_until(right), "%s: the sum is the kernel's" % what, gaps[-TRIES:])
        print("# %s: difference: %d" % (what, gaps[-1]))


def system():
    """The same sums in `system`; shared memory that no process maps, by kind, there and in the metrics."""
    found = []

    def right():
        found[:] = system_sums()
        return all(good for good, *_ in found)
    wait_until(right)
    for one in found:
        result(*one)


def system_sums():
    """(whether it is right, what, the values) of each."""
    found = []
    fd = os.memfd_create(NAME)
    with tmpfs() as at:
        done = subprocess.run((PROGRAM, "system", "--json"), capture_output=True, timeout=LIMIT, check=True)
        before = validate_json.parse(done.stdout)["files"]
        os.write(fd, b"s" * (900 * PAGE))
        fill(at + "/file", 700)
        done = subprocess.run((PROGRAM, "system", "--json"), capture_output=True, timeout=LIMIT, check=True)
        data = validate_json.parse(done.stdout)
        after = data["files"]
        found.append((abs(after["shmem_residual_bytes"]) <= SLACK, "system: shared memory is Shmem", after))
        for kind, pages in (("memfd", 900), ("tmpfs", 700)):
            grew = after["shmem_unmapped_bytes"][kind] - before["shmem_unmapped_bytes"][kind]
            found.append((abs(grew - pages * PAGE) <= 16 * PAGE, "system: what no process maps, " + kind, grew))
        text = subprocess.run((PROGRAM, "-F", "prometheus"), capture_output=True, timeout=LIMIT, check=True).stdout.decode()
        value = int(re.search(r'^zmem_shmem_unmapped_bytes\{kind="memfd"\} (\d+)$', text, re.M).group(1))
        found.append((abs(value - after["shmem_unmapped_bytes"]["memfd"]) <= 16 * PAGE, "metrics: what no process maps",
                      value))
        with mmap.mmap(fd, 900 * PAGE):
            done = subprocess.run((PROGRAM, "system", "--json"), capture_output=True, timeout=LIMIT, check=True)
            mapped = validate_json.parse(done.stdout)["files"]["shmem_unmapped_bytes"]["memfd"]
            found.append((abs(mapped - before["shmem_unmapped_bytes"]["memfd"]) <= 16 * PAGE, "system: a mapped memfd",
                          mapped))
    os.close(fd)
    return found


if need("counters mount", "files"):
    run_checks((of_tmpfs, of_other_namespace, of_hidden, of_memfd, of_sysv,
                of_ramfs, of_shared_anonymous, of_disk, of_overlay, of_loop, of_hugetlbfs, of_holders, of_hidden_holders,
                of_cgroups, many_files, deep_files, churn, churn_of_mappings, files_used_again, mm_used_again, accounts,
                system))
sys.exit(exit_code())
