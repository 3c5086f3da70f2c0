#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""zmem-bpf system: the census of page frames beside memory of which the truth is known. A state takes 30 to 60 MiB; the
class where it belongs must grow by as much, no other class of the kernel by a quarter of it, and all of it must go with the
state. Other tests change the machine meanwhile: what is wrong is measured again."""
# needs: counters python-jsonschema
# alone: it compares the whole machine, and rings of other tests (8 MiB of vmalloc each) come and go

import collections
import contextlib
import ctypes
import errno
import fcntl
import glob
import mmap
import os
import resource
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time

import paths  # noqa: F401
import oom
from outcome import MEMORY_CGROUPS, O, POOL, PROGRAM, cgroup_removed, exit_code, huge_pages, need, result, run_checks, wait_until, write
import validate_json

PAGE, MIB, HUGE = mmap.PAGESIZE, 1 << 20, 2 << 20
SIZE = 40 * MIB
# What other processes, per-CPU lists of slabs and the program itself change between two censuses. That a class is what
# its counter says is held to half of it.
SLACK = 4 * MIB
TRIES, LIMIT = 7, 60
# All of these are in Mapped.
MAPPED = (("page_cache", "in page tables"), ("shmem", "in page tables"), "driver_mapped")
# What programs change all the time is compared with its counter alone.
NOISY = {"anon", "page_cache", "mapped"}
# Classes that they seldom change.
QUIET = {"anon_unmapped", "large_kmalloc", "vmalloc", "percpu", "hugetlb", "zram_zswap", "net_rings", "balloon",
         "driver_mapped", "reserved", "descriptors", "unnamed_kernel"}
PRIVATE = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
HUGETLB = 0x40000
MADV_HUGEPAGE, MADV_NOHUGEPAGE = 14, 15
NAME = "zmem-census-%d" % os.getpid()
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long
censuses = []


def rings():
    """Bytes of the BPF rings that programs have mapped, such as 32 MiB of grow in another test: a page of the producer,
    and the data twice. A helper process has them at the same addresses as its parent."""
    found = set()
    for path in glob.glob("/proc/[0-9]*/maps"):
        with contextlib.suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
            found |= {line.split()[0] for line in file if "bpf-map" in line and line.split()[1].startswith("r--")}
    ranges = [[int(part, 16) for part in text.split("-")] for text in found]
    return sum((end - start - PAGE) // 2 for start, end in ranges)


class Census:
    def __init__(self, *args):
        done = subprocess.run((PROGRAM, "system", "--json", *args), capture_output=True, timeout=LIMIT, check=False)
        if done.returncode:
            raise RuntimeError("exit code %d: %s" % (done.returncode, done.stderr.decode()[:300]))
        self.document = validate_json.parse(done.stdout)
        self.ram = self.document["ram"]
        self.bytes, self.counter = collections.Counter(), {}
        for row in self.ram["classes"] + self.ram["of_which"]:
            self.bytes[row["class"]] = row["bytes"] or 0
            self.counter[row["class"]] = row["counter_bytes"]
            for part in row["parts"]:
                self.bytes[row["class"], part["name"]] = part["bytes"]
        self.bytes["mapped"] = sum(self.bytes[key] for key in MAPPED)
        self.bytes["driver_mapped"] -= rings()
        self.counter["mapped"] = self.document["across"]["mapped_bytes"]
        censuses.append(self)

    def difference(self, name):
        return self.bytes[name] - self.counter[name] if self.counter[name] is not None else 0

    def since(self, before):
        change = {key: self.bytes[key] - before.bytes[key] for key in self.bytes.keys() | before.bytes.keys()}
        return {key: value for key, value in change.items() if abs(value) >= MIB // 4}


def judge(step, want, before, now):
    """{what: (by how much it is wrong, what is allowed)}."""
    change = {key: now.bytes[key] - before.bytes[key] for key in now.bytes.keys() | before.bytes.keys()}
    found = {(step, key): (change.get(key, 0) - size, SLACK) for key, size in want.items() if key not in NOISY}
    return found | {(step, "beside", key): (change[key], SIZE // 4) for key in QUIET.difference(want)}


def grows(name, state, want, agree=True):
    """`state` is a context manager that makes the state. It may yield [(function, want)]: it is called, and from the
    beginning on this grows. Good is one try without a fault; or the median of many, for others move both ways, and the
    nearest to the counter, which is not read at the same time."""
    tries = []
    for _ in range(TRIES):
        before, found = Census(), {}
        with state() as steps:
            for number, (step, wanted) in enumerate([(lambda: None, want), *(steps or ())]):
                step()
                now = Census()
                found |= judge(number, wanted, before, now)
                found |= {(number, "counter", key): (now.difference(key), SLACK // 2) for key in wanted
                          if agree and isinstance(key, str)}
        for _ in range(3):
            left = judge("left", dict.fromkeys(want, 0), before, Census())
            if all(abs(value) <= allowed for value, allowed in left.values()):
                break
            time.sleep(0.2)  # a process: the kernel frees some of it later
        tries.append(found | left)
        if all(abs(value) <= allowed for value, allowed in tries[-1].values()):
            tries = tries[-1:]
            break
    wrong = {}
    for what, (_, allowed) in tries[-1].items():
        values = [one[what][0] for one in tries]
        value = min(values, key=abs) if "counter" in what else statistics.median(values)
        if abs(value) > allowed:
            wrong[what] = value
    result(not wrong, name, wrong)


def address(area):
    return ctypes.addressof(ctypes.c_char.from_buffer(area))


def advise(area, start, size, advice):
    if LIBC.madvise(ctypes.c_void_p(address(area) + start), ctypes.c_size_t(size), advice):
        raise OSError(ctypes.get_errno(), "madvise")


def anonymous(size=SIZE, advice=MADV_NOHUGEPAGE):
    """Each page is another one, in small or huge pages."""
    area = mmap.mmap(-1, size, PRIVATE)
    advise(area, 0, size, advice)
    for at in range(0, size, PAGE):
        area[at] = 1 + at // PAGE % 255
    return area


# ---- pages of users ----


def of_hugetlb():
    @contextlib.contextmanager
    def state():
        with huge_pages(SIZE // HUGE), contextlib.ExitStack() as stack:
            def use():
                area = stack.enter_context(mmap.mmap(-1, SIZE // 2, PRIVATE | HUGETLB))
                for at in range(0, SIZE // 2, HUGE):
                    area[at] = 1

            yield [(use, {"hugetlb": SIZE, ("hugetlb", "in use"): SIZE // 2, ("hugetlb", "free"): SIZE // 2})]

    if not os.path.exists(POOL):
        print("note this kernel has no hugetlb")
        return
    if not need("hugetlb", "huge pages of hugetlb"):
        return
    grows("huge pages of hugetlb", state, {"hugetlb": SIZE, ("hugetlb", "free"): SIZE})


# ---- pages that the kernel holds for users ----


def in_pipes(advice):
    """Pages of anonymous memory given to pipes, and then unmapped."""
    @contextlib.contextmanager
    def state():
        with contextlib.ExitStack() as stack, anonymous(advice=advice) as area:
            for at in range(0, SIZE, MIB):
                part = (ctypes.c_size_t * 2)(address(area) + at, MIB)
                if LIBC.vmsplice(large_pipe(stack), part, 1, 8) != MIB:  # SPLICE_F_GIFT
                    raise OSError(ctypes.get_errno(), "vmsplice")
            area.close()
            yield
    return state


def large_pipe(stack):
    """One of 1 MiB, which every user may have: its writing end."""
    fds = os.pipe()
    for fd in fds:
        stack.callback(os.close, fd)
    fcntl.fcntl(fds[1], 1031, MIB)  # F_SETPIPE_SZ
    return fds[1]


def of_pipes():
    grows("pages in a pipe that no process maps", in_pipes(MADV_NOHUGEPAGE), {"anon_unmapped": SIZE})
    grows("huge pages in a pipe that no process maps", in_pipes(MADV_HUGEPAGE), {"anon_unmapped": SIZE})


def of_io_uring():
    @contextlib.contextmanager
    def state():
        ring = LIBC.syscall(425, 8, ctypes.create_string_buffer(120))  # io_uring_setup
        if ring < 0:
            raise OSError(ctypes.get_errno(), "io_uring_setup")
        try:
            with anonymous() as area:
                part = (ctypes.c_size_t * 2)(address(area), SIZE)
                if LIBC.syscall(427, ring, 0, part, 1) < 0:  # IORING_REGISTER_BUFFERS
                    raise OSError(ctypes.get_errno(), "io_uring_register")
            yield
        finally:
            os.close(ring)

    try:
        grows("buffers of io_uring that no process maps", state, {"anon_unmapped": SIZE})
    except OSError as error:
        if error.errno not in (errno.ENOSYS, errno.EPERM):
            raise
        print("note this kernel has no io_uring")


# ---- pages of the kernel ----


def of_packet_ring():
    block = MIB

    @contextlib.contextmanager
    def state():
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as ring, contextlib.ExitStack() as stack:
            ring.setsockopt(263, 10, 2)  # PACKET_VERSION, TPACKET_V3
            ring.setsockopt(263, 5, struct.pack("7I", block, SIZE // block, 2048, SIZE // 2048, 0, 0, 0))
            yield [(lambda: stack.enter_context(mmap.mmap(ring.fileno(), SIZE)), {"driver_mapped": SIZE})]

    if not need("packet", "a packet ring"):
        return
    grows("a packet ring", state, {"descriptors": SIZE})


@contextlib.contextmanager
def array_of_bpf(size, flags=0):
    """Its descriptor."""
    number = {"x86_64": 321}.get(os.uname().machine, 280)
    fd = LIBC.syscall(number, 0, struct.pack("5I100x", 2, 4, PAGE, size // PAGE, flags), 120)
    if fd < 0:
        raise OSError(ctypes.get_errno(), "BPF_MAP_CREATE")
    try:
        yield fd
    finally:
        os.close(fd)


def of_vmalloc():
    """An array of BPF, which processes can map with BPF_F_MMAPABLE."""
    def state(flags):
        @contextlib.contextmanager
        def make():
            with array_of_bpf(SIZE, flags) as fd, contextlib.ExitStack() as stack:
                yield [(lambda: stack.enter_context(mmap.mmap(fd, SIZE)), {"driver_mapped": SIZE})] if flags else ()
        return make

    grows("vmalloc", state(0), {"vmalloc": SIZE, ("vmalloc", "array_map_alloc"): SIZE}, agree=False)
    grows("vmalloc that a process maps", state(1 << 10), {"vmalloc": SIZE}, agree=False)


def of_large_kmalloc():
    """The array of the 256 buffers of a pipe, 40 bytes each: a block of 16 KiB."""
    count = SIZE // (16 << 10)

    @contextlib.contextmanager
    def state():
        with contextlib.ExitStack() as stack:
            for _ in range(count):
                large_pipe(stack)
            yield

    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(limit[0], 2 * count + 100), max(limit[1], 2 * count + 100)))
    grows("large kmalloc", state, {"large_kmalloc": SIZE})


def of_kernel_stacks():
    count = 2000
    kib = 16

    @contextlib.contextmanager
    def state():
        end = threading.Event()
        threading.stack_size(64 << 10)
        threads = [threading.Thread(target=end.wait) for _ in range(count)]
        try:
            for thread in threads:
                thread.start()
            yield
        finally:
            end.set()
            for thread in threads:
                thread.join()

    grows("kernel stacks of 2,000 threads", state, {"kernel_stacks": count * kib << 10})


def of_sockets():
    """What no process has read: at least its size, and all of it in pages of the kernel."""
    # A CPU adds what it counted when it is above 1 MiB (SK_MEMORY_PCPU_RESERVE of include/net/proto_memory.h).
    held = 2 * os.cpu_count() * MIB
    for what, fill_sockets in (("TCP", fill_tcp), ("UDP", fill_udp)):
        for _ in range(TRIES):
            before = Census()
            with contextlib.ExitStack() as stack:
                sent = fill_sockets(stack)
                change = Census().since(before)
            kernel = sum(change.get(key, 0) for key in ("slab", "large_kmalloc", "unnamed_kernel"))
            good = sent - held <= change.get("sockets", 0) <= 2 * sent and sent - SLACK <= kernel <= 2 * sent
            good = good and wait_until(lambda: Census().since(before).get("sockets", 0) <= held, 2)
            if good:
                break
        result(good and sent >= SIZE // 2, "%s: %d MiB that no process has read" % (what, sent // MIB), (sent, kernel, change))


def fill_tcp(stack):
    sent = 0
    with socket.create_server(("127.0.0.1", 0)) as server:
        while sent < SIZE:
            sender = stack.enter_context(socket.create_connection(server.getsockname()))
            stack.enter_context(server.accept()[0])
            sender.settimeout(0.2)
            with contextlib.suppress(TimeoutError):
                for _ in range(16):
                    sent += sender.send(bytes(MIB // 4))
    return sent


def fill_udp(stack):
    receiver = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    sender = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    receiver.setsockopt(socket.SOL_SOCKET, 33, 2 * SIZE)  # SO_RCVBUFFORCE
    receiver.bind(("127.0.0.1", 0))
    return sum(sender.sendto(bytes(60000), receiver.getsockname()) for _ in range(SIZE // 60000))


def of_network_rings():
    """Packets that a veth has received into its page pool, unread."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support", "veth_ring.py")

    @contextlib.contextmanager
    def state():
        with subprocess.Popen((sys.executable, script, str(SIZE)), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as child:
            for line in ("READY", "SENT"):
                if child.stdout.readline() != line + "\n":
                    raise RuntimeError("veth_ring.py ended")
                if line == "READY":
                    print(file=child.stdin, flush=True)
            yield
            child.stdin.close()

    if not need("mount", "the ring of a network card"):
        return
    grows("the ring of a network card", state, {"net_rings": SIZE, ("net_rings", "ring1"): SIZE})


@contextlib.contextmanager
def zram():
    at = "/sys/class/zram-control/"
    with open(at + "hot_add", encoding="ascii") as file:
        number = file.read().strip()
    try:
        write("/sys/block/zram%s/disksize" % number, str(SIZE))
        yield "/dev/zram" + number
    finally:
        write("/sys/block/zram%s/reset" % number, "1")
        write(at + "hot_remove", number)


def of_zram():
    """Data that cannot be compressed takes as much as it is; that of a device which is no swap is the same."""
    if not os.path.exists("/sys/class/zram-control"):
        print("note this kernel has no zram")
        return

    @contextlib.contextmanager
    def state():
        with zram() as device, mmap.mmap(-1, MIB) as part:
            fd = os.open(device, os.O_WRONLY | os.O_DIRECT)
            try:
                for _ in range(SIZE // MIB):
                    part[:] = os.urandom(MIB)
                    os.write(fd, part)
            finally:
                os.close(fd)
            yield

    grows("zram", state, {"zram_zswap": SIZE})


# ---- cgroups ----


@contextlib.contextmanager
def deleted_cgroups(name, count, size):
    """As many memory cgroups that were removed and still have page cache of files."""
    with tempfile.TemporaryDirectory(dir=O) as at:
        for number in range(count):
            cgroup = "%s/%s-%d" % (MEMORY_CGROUPS, name, number)
            os.mkdir(cgroup)
            try:
                subprocess.run(["sh", "-c", 'echo 0 >"$1/cgroup.procs" && exec head -c "$2" /dev/zero >"$3"', "-", cgroup,
                                str(size), "%s/%d" % (at, number)], check=True)
            finally:
                wait_until(lambda: cgroup_removed(cgroup))
        os.sync()
        yield


def of_deleted_cgroups():
    """Some pages of the file system itself may stay with them."""
    if not need("cgroups", "deleted cgroups"):
        return
    for count, size in ((1, 50 * MIB), (100, 256 << 10)):
        for turn in range(TRIES):
            name = "%s-%d-%d" % (NAME, count, turn)

            def rows(census):
                return [row for row in census.document["cgroups"] if name in (row["cgroup"] or "")]

            with deleted_cgroups(name, count, size):
                census = Census("--by", "cgroup")
            found = rows(census)
            good = len(found) == count and all(row["deleted"] and size <= row["page_cache_bytes"] <= size + MIB // 16
                                               for row in found)
            left = rows(Census("--by", "cgroup"))
            gone = all(row["bytes"] <= MIB // 16 for row in left)
            if good and gone:
                break
        result(good, "%d deleted cgroups with page cache" % count, (len(found), found[:3]))
        result(gone, "%d deleted cgroups: nothing is left of it" % count, left)
        ram, deleted = census.ram, [row for row in census.document["cgroups"] if row["deleted"]]
        result(ram["deleted_cgroups"] == len(deleted) >= count and
               ram["deleted_cgroup_bytes"] == sum(row["bytes"] for row in deleted) >= count * size,
               "%d deleted cgroups: their sum" % count, (ram["deleted_cgroups"], len(deleted), ram["deleted_cgroup_bytes"]))


# ---- in a recording ----


def of_a_kill():
    """What held more RAM than before, although no process has it: incidents and diff name its class."""
    if not need("cgroups", "a class that grew before a kill"):
        return
    with tempfile.TemporaryDirectory() as directory, oom.Group("zmem-census") as group:
        kept, own = directory + "/kept", directory + "/own"
        program = oom.eater(directory, "eats-%d" % os.getpid())

        def vmalloc():
            """What the last census of the recording has; None: there is none yet."""
            ram = (oom.document("system", "--replay", kept) or {"ram": None})["ram"]
            if not ram or ram["method"] == "counters":
                return None
            return next(row["bytes"] for row in ram["classes"] if row["class"] == "vmalloc")

        recorder = subprocess.Popen((PROGRAM, "record", "--keep", "1h", kept, "-i", "1", "--stall", "0", "-q"))
        try:
            before = wait_until(vmalloc, LIMIT)
            with array_of_bpf(128 * MIB):
                result(wait_until(lambda: vmalloc() > before + 120 * MIB, LIMIT), "a class grew: a census has it", (before, vmalloc()))
                pid = group.kill(program)
                # The census of the kill is taken behind it.
                result(wait_until(lambda: oom.events_of(kept, [pid]), LIMIT), "a class grew: the kill is recorded", pid)
                last = oom.document("--replay", kept)["timestamp_ms"]
                wait_until(lambda: oom.document("--replay", kept)["timestamp_ms"] > last)
        finally:
            recorder.terminate()
            recorder.wait()
        subprocess.run((oom.EDIT, "own", kept, own, os.path.basename(program)[:15], str(pid)), check=True)
        for name, ram in (("incidents", oom.document("incidents", own)["events"][0]["ram"]),
                          ("diff", oom.document("diff", own, "--to", "event:1")["ram"])):
            row = next((row for row in ram if row["class"] == "vmalloc"), {"change_bytes": 0})
            result(120 * MIB < row["change_bytes"] < 192 * MIB and row["after_bytes"] - row["before_bytes"] == row["change_bytes"],
                   "a class grew: " + name, ram)


# ---- all of them ----


def sums():
    """Of each census that was taken."""
    inexact = [c.ram["reason"] for c in censuses if c.ram["method"] != "exact"]
    wrong = [c.ram for c in censuses if sum(row["bytes"] or 0 for row in c.ram["classes"]) != c.ram["frames_bytes"]]
    result(not inexact, "%d censuses are exact" % len(censuses), inexact[:3])
    result(not wrong, "%d censuses add up to all frames" % len(censuses), wrong[:1])
    result(len({c.ram["frames_bytes"] for c in censuses}) == 1, "the frames stay as many")
    by_node = Census("--by", "node")
    nodes = by_node.document["nodes"]
    result(sum(node["frames_bytes"] for node in nodes) == by_node.ram["frames_bytes"] and
           all(sum(row["bytes"] for row in node["classes"]) == node["frames_bytes"] for node in nodes),
           "nodes add up to all frames", nodes)
    # "percpu" is without its first chunk; "vmalloc" is without what processes map.
    off = {name: statistics.median(abs(c.difference(name)) for c in censuses) for name in censuses[0].counter if name != "mapped"}
    bad = {name: value for name, value in off.items() if value > (2 * SLACK if name in ("percpu", "vmalloc") else SLACK)}
    result(not bad, "each class is near its counter", off)


signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # it gives back what it made
run_checks((of_hugetlb, of_pipes, of_io_uring, of_packet_ring, of_vmalloc, of_large_kmalloc, of_kernel_stacks, of_sockets, of_network_rings, of_zram, of_deleted_cgroups, of_a_kill, sums))
sys.exit(exit_code())
