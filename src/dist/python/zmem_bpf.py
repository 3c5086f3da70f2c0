# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Memory of every process, PSS included, without root.

    import zmem_bpf
    for p in zmem_bpf.snapshot():
        print(p["pid"], p["pss_bytes"], p["name"])

snapshot() reads the pin of zmem-bpf (zmem-bpf-pin(8)), which takes no privilege beyond its group;
without a pin it runs the program. Keys are those of zmem-bpf-json(5). From the pin, kernel threads
and zombies are in the list, too, there are the keys that records have, and start_ns (since boot) is
the start. None is a value that was not measured. Records grow by the rules in zmem/record.h: newer records are read, too.
"""

import collections
import ctypes
import errno
import json
import os
import stat
import struct
import subprocess

__all__ = ["Error", "parse", "read_pin", "run", "snapshot"]

VERSION = 3
PLACE = "/run/zmem-bpf/%d/" % VERSION
_HEAD = struct.Struct("=HBBIiiIIQ16siI")
_REST = struct.Struct("=QQ4q4qQQQQQIIQQQQ64s")
_PAGES = struct.Struct("=4qQ4Q4QQQII")
_ASK = 0x7A6D656D2D627066
_READ = {"x86_64": 0, "aarch64": 63}
_VISITS_MAX = 512
_PAGE = os.sysconf("SC_PAGESIZE")
_PROCESS, _KTHREAD, _ZOMBIE = 1, 2, 3
(_RSS, _VM, _PINNED, _PGTABLE, _HUGETLB, _EXE, _CGROUP, _SHARING, _PAGES_BIT, _MAPS, _PEAK,
 _FAULTS) = (1 << i for i in range(12))
_CUT_THREADS, _EXCLUSIVE, _WALK_OFF, _WALK_MOVED = 1 << 3, 1 << 0, 1 << 3, 1 << 2
_FILE, _ANON, _SWAP, _SHMEM = range(4)

Walk = collections.namedtuple("Walk", "rss cursor seen pss unique huge flags")


class Error(Exception):
    """There is no pin and no program, or what they gave is not understood."""


class Record:
    """One record. `pages` is None if it has none."""

    def __init__(self, head, rest, pages):
        (self.size, _, self.kind, self.valid, self.pid, self.ppid, self.uid, self.threads, self.start, self.comm,
         self.oom_score_adj, self.flags) = head
        self.rest, self.pages = rest, pages

    @property
    def rss(self):
        return self.rest[2:6]

    def whole(self):
        """True if the walk saw all pages, and no counter changed meanwhile."""
        w, wanted = self.pages, _RSS | _SHARING | _PAGES_BIT
        if w is None or self.valid & wanted != wanted or w.flags & ~_EXCLUSIVE or w.cursor:
            return False
        kinds = (_FILE, _SHMEM) if w.flags & _EXCLUSIVE else (_FILE, _SHMEM, _ANON, _SWAP)
        return (self.rss[_FILE] == w.seen[_FILE] and self.rss[_SHMEM] == w.seen[_SHMEM] and
                self.rss[_ANON] >= w.seen[_ANON] and all(self.rss[k] == w.rss[k] for k in kinds))


def parse(data):
    """Yields a Record for each record in the bytes; Error if they are none."""
    at, first = 0, _HEAD.size + _REST.size
    while at < len(data):
        if len(data) - at < _HEAD.size:
            raise Error("a record is cut")
        head = _HEAD.unpack_from(data, at)
        size, version, kind, valid = head[:4]
        pages = _PAGES.size if kind == _PROCESS and valid & _PAGES_BIT else 0
        least = first + pages if kind == _PROCESS else _HEAD.size
        if version != VERSION or size % 8 or size < least:
            raise Error("a record of version %d and %d bytes is not understood" % (version, size))
        if size > len(data) - at:
            raise Error("a record is cut")
        rest = walk = None
        if kind == _PROCESS:
            rest = _REST.unpack_from(data, at + _HEAD.size)
        if pages:
            # Members that are not known lie before the pages, which come last.
            w = _PAGES.unpack_from(data, at + size - pages)
            walk = Walk(w[:4], w[4], w[5:9], w[9:13], w[13], w[14], w[15])
        yield Record(head, rest, walk)
        at += size


def _open(path):
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    st = os.fstat(fd)
    if stat.S_ISREG(st.st_mode) and st.st_uid == 0 and not st.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return fd
    os.close(fd)
    raise PermissionError(errno.EPERM, "other users than root can change the pin", path)


def _read(path):
    fd, data = _open(path), bytearray()
    try:
        while True:
            try:
                more = os.read(fd, 1 << 18)
            except BlockingIOError:
                continue
            if not more:
                return bytes(data)
            data += more
    finally:
        os.close(fd)


def _visit(path, pid, cursor):
    """Continues the walk of a process at its cursor, or begins it again. None: it is gone."""
    number = _READ.get(os.uname().machine)
    if number is None:
        return None
    call, buf, fd = ctypes.CDLL(None, use_errno=True).syscall, ctypes.create_string_buffer(4096), _open(path)
    call.restype = ctypes.c_long
    # The kernel would look for a second record in a larger buffer; that of a newer program is longer.
    data, want = b"", _HEAD.size + _REST.size + _PAGES.size
    try:
        for _ in range(100):
            n = call(ctypes.c_long(number), ctypes.c_int(fd), buf, ctypes.c_size_t(want - len(data)),
                     ctypes.c_ulong(_ASK), ctypes.c_ulong((pid & 0xFFFFFFFF) << 32), ctypes.c_ulong(cursor))
            if n < 0 and ctypes.get_errno() in (errno.EAGAIN, errno.EINTR):
                continue
            if n <= 0:
                return None
            data += buf.raw[:n]
            if len(data) >= _HEAD.size:
                want = max(_HEAD.unpack_from(data)[0], _HEAD.size)
                if len(data) >= want or want > len(buf):
                    break
    finally:
        os.close(fd)
    return next(parse(data[:want]), None)


def _add(to, more):
    """The sum of a walk and of its continuation."""
    a, b = to.pages, more.pages
    kinds = (_FILE, _SHMEM) if b.flags & _EXCLUSIVE else (_FILE, _SHMEM, _ANON, _SWAP)
    flags = a.flags | b.flags
    if any(to.rss[k] != more.rss[k] for k in kinds):
        flags |= _WALK_MOVED
    more.pages = Walk(b.rss, b.cursor, tuple(x + y for x, y in zip(a.seen, b.seen)),
                      tuple(x + y for x, y in zip(a.pss, b.pss)), a.unique + b.unique, a.huge + b.huge, flags)
    return more


def _complete(path, r):
    """Visits a process until all of its pages are seen; a process that changes is begun again twice."""
    again = 0
    for _ in range(_VISITS_MAX):
        if r.pages is None or r.pages.flags & _WALK_OFF or r.whole():
            break
        cursor = r.pages.cursor
        again += not cursor
        if again > 2:
            break
        more = _visit(path, r.pid, cursor)
        if more is None or more.kind != _PROCESS or more.pages is None or more.start != r.start:
            break
        r = _add(r, more) if cursor and more.rest[0] == r.rest[0] else more
    return r


def _text(data):
    return data.split(b"\0", 1)[0].decode("utf-8", "replace")


_KEYS = ("swap_bytes", "uss_bytes", "pss_bytes", "pss_anon_bytes", "pss_file_bytes", "pss_shmem_bytes", "rss_bytes",
         "rss_anon_bytes", "rss_file_bytes", "rss_shmem_bytes", "vsize_bytes", "locked_bytes", "pinned_bytes",
         "pgtables_bytes", "hugetlb_bytes", "thp_bytes", "maps", "majflt")


def _process(r):
    p = {"pid": r.pid, "ppid": r.ppid, "uid": r.uid, "comm": _text(r.comm), "threads": r.threads,
         "oom_score_adj": r.oom_score_adj, "start_ns": r.start, "pss_source": None}
    p["name"] = p["comm"]
    p.update(dict.fromkeys(_KEYS))
    p["pss_status"] = {_KTHREAD: "kernel_thread", _ZOMBIE: "gone"}.get(r.kind, "raced" if r.pages else "skipped")
    if r.kind != _PROCESS:
        return p
    rest = r.rest
    if r.valid & _EXE and rest[16]:
        p["name"] = _text(rest[21])
    if r.valid & _RSS and not r.flags & _CUT_THREADS:
        pages = [max(a + b, 0) * _PAGE for a, b in zip(rest[2:6], rest[6:10])]
        p.update(rss_file_bytes=pages[_FILE], rss_anon_bytes=pages[_ANON], rss_shmem_bytes=pages[_SHMEM],
                 rss_bytes=pages[_FILE] + pages[_ANON] + pages[_SHMEM], swap_bytes=pages[_SWAP])
    for bit, key, value, unit in ((_VM, "vsize_bytes", 10, _PAGE), (_VM, "locked_bytes", 11, _PAGE),
                                  (_PINNED, "pinned_bytes", 12, _PAGE), (_PGTABLE, "pgtables_bytes", 13, 1),
                                  (_HUGETLB, "hugetlb_bytes", 14, _PAGE), (_MAPS, "maps", 18, 1),
                                  (_FAULTS, "majflt", 20, 1)):
        if r.valid & bit:
            p[key] = rest[value] * unit
    if p["rss_bytes"] is not None and r.whole():
        w = r.pages
        # An anonymous page that the walk did not have to see is private.
        private = (r.rss[_ANON] - w.seen[_ANON]) * _PAGE
        anon = w.pss[_ANON] + (private << 12)
        p.update(pss_bytes=(anon + w.pss[_FILE] + w.pss[_SHMEM]) >> 12, pss_anon_bytes=anon >> 12,
                 pss_file_bytes=w.pss[_FILE] >> 12, pss_shmem_bytes=w.pss[_SHMEM] >> 12,
                 uss_bytes=w.unique * _PAGE + private, thp_bytes=w.huge * _PAGE, pss_source="kernel", pss_status="ok")
    return p


def read_pin(place=PLACE):
    """The processes, from the pin. OSError if there is no pin of this version, or it is not for us."""
    path = place + "pss"
    try:
        data = _read(path)
    except FileNotFoundError:
        path = place + "counters"
        data = _read(path)
    return [_process(_complete(path, r)) for r in parse(data)]


def run(program="zmem-bpf", *options):
    """The processes, from a run of the program."""
    try:
        done = subprocess.run((program, "-J", *options), stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    except OSError as error:
        raise Error("%s: %s" % (program, error.strerror)) from error
    if done.returncode:
        raise Error(done.stderr.decode("utf-8", "replace").strip())
    return json.loads(done.stdout)["processes"]


def snapshot(pin=None, program="zmem-bpf"):
    """The processes of this machine, a dictionary each. pin: True, only from the pin; False, only by a
    run of the program; None, from the pin if there is one that we may read."""
    if pin is False:
        return run(program)
    try:
        return read_pin()
    except (OSError, Error) as error:
        if pin:
            raise Error("the pin: %s" % error) from error
    return run(program)
