# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the values of zmem-bpf must be: counted again from /proc and cgroups, with recount.c for pages. Nothing here
comes from zmem-bpf."""

import contextlib
import ctypes
import glob
import os
import subprocess

from outcome import O, read

RECOUNT = O + "/recount"
PAGE = 4096
TMPFS_MAGIC = 0x01021994
LIBC = ctypes.CDLL(None)
# A counter of smaps: its key there, and in a mapping of zmem-bpf maps.
SMAPS = {"Size": "size", "Rss": "rss", "Pss": "pss", "Swap": "swap", "SwapPss": "swap_pss", "Locked": "locked"}


def pairs(text):
    """{key: bytes} of lines "Key: N kB"."""
    found = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) > 1 and words[0].endswith(":") and words[1].isdigit():
            found[words[0][:-1]] = int(words[1]) * (1024 if words[-1] == "kB" else 1)
    return found


def recounted(*args):
    done = subprocess.run((RECOUNT, *map(str, args)), capture_output=True, text=True, check=True)
    return [line.split() for line in done.stdout.splitlines()]


def frames():
    """{what a page frame is: bytes}."""
    return {name: int(size) for name, size in recounted("frames")}


def charges():
    """{inode of a memory cgroup: {key of JSON: bytes}} of the pages that it pays for, also if it was removed."""
    keys = ("anon_bytes", "shmem_bytes", "page_cache_bytes")
    return {int(inode): dict(zip(keys, map(int, sizes))) for inode, *sizes in recounted("cgroups")}


def lists_of_cpus():
    """Bytes of free pages on lists of CPUs, which no counter of meminfo has."""
    return sum(int(line.split()[1]) for line in read("/proc/zoneinfo").splitlines()
               if line.strip().startswith("count:")) * PAGE


def from_proc(pid):
    status = read("/proc/%d/status" % pid)
    sizes, rollup = pairs(status), pairs(read("/proc/%d/smaps_rollup" % pid))
    stat = read("/proc/%d/stat" % pid).rpartition(")")[2].split()
    words = dict(line.partition(":")[::2] for line in status.splitlines())
    exe = os.readlink("/proc/%d/exe" % pid)
    cgroup = next(line.split(":", 2)[2] for line in read("/proc/%d/cgroup" % pid).splitlines()
                  if line.split(":")[1] in ("memory", ""))
    return {
        "peak_bytes": sizes["VmHWM"], "vsize_bytes": sizes["VmSize"], "locked_bytes": sizes["VmLck"],
        "pinned_bytes": sizes["VmPin"], "pgtables_bytes": sizes["VmPTE"], "threads": int(words["Threads"]),
        "thp_bytes": rollup["AnonHugePages"] + rollup["ShmemPmdMapped"] + rollup.get("FilePmdMapped", 0),
        "comm": words["Name"].strip(), "ppid": int(words["PPid"]), "uid": int(words["Uid"].split()[1]),
        "majflt": int(stat[9]), "cgroup": cgroup,
        "maps": sum("[vsyscall]" not in line for line in read("/proc/%d/maps" % pid).splitlines()),
        # A memfd never had a name, but the kernel calls it deleted.
        "exe_deleted": exe.endswith(" (deleted)") and not exe.startswith("/memfd:"),
        "rollup": rollup,
    }


def level_of(pid):
    """How many pid namespaces a process is in."""
    return next(len(line.split()) - 1 for line in read("/proc/%d/status" % pid).splitlines()
                if line.startswith("NSpid:"))


def processes(pids):
    """{pid: {key of JSON: value}}; "held" and "rollup" are no keys of JSON. A process that has ended is left out."""
    found = {}
    for pid, *words in recounted(*pids):
        values = dict(zip(words[::2], map(int, words[1::2])))
        if "gone" in values:
            continue
        with contextlib.suppress(OSError, KeyError, StopIteration):
            row = from_proc(int(pid))
            held, _ = values.pop("held"), values.pop("ksm")
            row |= {key + "_bytes": value >> 12 if "pss" in key else value for key, value in values.items()}
            row["held"] = held >> 12
            # Of private memory alone, as smaps_rollup is without mapped files of a tmpfs.
            if row["rollup"]["Swap"] == row["swap_bytes"]:
                row["swap_pss_bytes"] = row["rollup"]["SwapPss"]
            # Whether a page was written since is in its entry, which pagemap does not show.
            row["lazyfree_bytes"] = row["rollup"]["LazyFree"]
            row["rss_bytes"] = sum(row["rss_%s_bytes" % kind] for kind in ("anon", "file", "shmem"))
            row["pss_bytes"] = sum(values["pss_" + kind] for kind in ("anon", "file", "shmem")) >> 12
            row["shared_bytes"] = row["pss_bytes"] - row["uss_bytes"]
            # Before 6.2 the kernel raises it with counters of which each thread keeps up to 64 pages to itself.
            row["peak_bytes"] = max(row["peak_bytes"], row["rss_bytes"])
            found[int(pid)] = row
    return found


def mappings(pid):
    """[(start, end, {key of JSON: value})] of /proc/PID/smaps."""
    found = []
    for line in read("/proc/%d/smaps" % pid).splitlines():
        first = line.split()[0]
        if not first.endswith(":"):
            start, end = first.split("-")
            found.append((start, end, {}, {"perm": line.split()[1]}))
        elif line.endswith(" kB"):
            found[-1][2][first[:-1]] = int(line.split()[1]) * 1024
    rows = []
    for start, end, values, names in found:
        row = {new + "_bytes": values[old] for old, new in SMAPS.items()}
        row["private_bytes"] = values["Private_Clean"] + values["Private_Dirty"]
        row["shared_bytes"] = values["Shared_Clean"] + values["Shared_Dirty"]
        row["thp_bytes"] = values["AnonHugePages"] + values["ShmemPmdMapped"] + values.get("FilePmdMapped", 0)
        row["lazyfree_bytes"] = values["LazyFree"]
        row["hugetlb_bytes"] = values["Shared_Hugetlb"] + values["Private_Hugetlb"]
        rows.append((start, end, row | names))
    return rows


def files_in_memory(pids):
    """{(device, inode): (bytes in RAM and swap, size, deleted, name)} of the files of tmpfs that these processes have
    open or mapped, or that are in their working directory."""
    found = {}
    for pid in pids:
        paths = []
        for directory in ("fd", "map_files", "cwd"):
            with contextlib.suppress(OSError):
                paths += ["/proc/%d/%s/%s" % (pid, directory, name)
                          for name in os.listdir("/proc/%d/%s" % (pid, directory))]
        for path in paths:
            with contextlib.suppress(OSError):
                name, at = os.readlink(path) if "/cwd/" not in path else path, os.stat(path)
                if is_tmpfs(path):
                    found["%d:%d" % (os.major(at.st_dev), os.minor(at.st_dev)), at.st_ino] = (
                        at.st_blocks * 512, at.st_size, at.st_nlink == 0, name)
    return found


def is_tmpfs(path):
    room = ctypes.create_string_buffer(256)
    return LIBC.statfs(path.encode(), room) == 0 and int.from_bytes(room.raw[:8], "little") == TMPFS_MAGIC


def unnamed_on_disk(pids, directory):
    """{inode: bytes} of deleted files there that these processes have open: their page cache goes with them."""
    device, found = os.stat(directory).st_dev, {}
    for pid in pids:
        with contextlib.suppress(OSError):
            for name in os.listdir("/proc/%d/fd" % pid):
                with contextlib.suppress(OSError):
                    at = os.stat("/proc/%d/fd/%s" % (pid, name))
                    if at.st_dev == device and not at.st_nlink:
                        found[at.st_ino] = (at.st_size + PAGE - 1) // PAGE * PAGE
    return found


def zram():
    """RAM of all zram devices that are swap: others have files."""
    swaps = [os.path.basename(line.split()[0]) for line in read("/proc/swaps").splitlines()[1:]]
    return sum(int(read(path).split()[2]) for path in glob.glob("/sys/block/zram*/mm_stat")
               if path.split("/")[3] in swaps)


def cgroup(path):
    """{key of JSON: value} of a memory cgroup."""
    stat = dict(line.split() for line in read(path + "/memory.stat").splitlines())
    if not os.path.exists(path + "/memory.usage_in_bytes"):
        return {"mem_current_bytes": int(read(path + "/memory.current")), "mem_anon_bytes": int(stat["anon"]),
                "mem_shmem_bytes": int(stat["shmem"]), "mem_file_bytes": int(stat["file"]) - int(stat["shmem"]),
                "mem_kernel_bytes": int(stat["kernel"]) if "kernel" in stat else None}  # since 5.18
    return {"mem_current_bytes": int(read(path + "/memory.usage_in_bytes")), "mem_anon_bytes": int(stat["total_rss"]),
            "mem_shmem_bytes": int(stat["total_shmem"]),
            "mem_file_bytes": int(stat["total_cache"]) - int(stat["total_shmem"]),
            "mem_kernel_bytes": int(read(path + "/memory.kmem.usage_in_bytes"))}
