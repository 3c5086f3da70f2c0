#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the program says if this kernel's BTF, which libbpf reads, lacks a member, or tells of another layout. Light
skeletons use the BTF inside the kernel, so only ways that load by libbpf are looked at."""
# needs: bpf mount

import re
import struct
import subprocess
import sys
import tempfile

import paths  # noqa: F401
import btf
from outcome import PROGRAM, exit_code, result, run_checks

KERNEL = "/sys/kernel/btf/vmlinux"


def run_with(types, *args):
    """Runs the program where the kernel's BTF is `types`. Returns all that it prints, as one line."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(types)
        file.flush()
        script = 'mount --bind "$1" "$2" && shift 2 && exec "$@"'
        command = ["unshare", "-m", "sh", "-c", script, "-", file.name, KERNEL, PROGRAM, *args]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
        return " ".join(done.stdout.decode(errors="replace").split())


def row_of(text, way):
    """ok or no, and the text, of a row of doctor -v."""
    found = re.search(r"%s (ok|no) (.*?)(?= bpf| proc (ok|no)|$)" % re.escape(way), text)
    return "%s %s" % found.groups()[:2] if found else "no row: " + text[-300:]


def without(kernel, *names):
    return kernel.renamed([at for name in names for at in kernel.places(tuple(name.split(".")))], "not_there")


def expect(text, way, pattern, name):
    row = row_of(text, way)
    result(re.match(pattern, row), name, row)


def check_plain(kernel):
    text = run_with(kernel.data, "doctor", "-v")
    for way in "bpf with pages (libbpf)", "bpf (libbpf)":
        expect(text, way, "ok opened", "as it is: " + way)


def check_member(kernel):
    text = run_with(without(kernel, "mm_struct.pgd"), "doctor", "-v")
    expect(text, "bpf with pages (libbpf)", r"no this kernel lacks mm_struct\.pgd, which the program reads", "mm_struct.pgd is named")
    expect(text, "bpf with pages (old kernels)", r"no this kernel lacks mm_struct\.pgd", "mm_struct.pgd is named for the largest log")
    expect(text, "bpf (libbpf)", "ok opened", "without mm_struct.pgd: counters are read")
    text = run_with(without(kernel, "task_struct.tasks"), "doctor")
    result("OOM kills no this kernel lacks task_struct.tasks" in text, "doctor: OOM kills: the member is named", text[-900:])
    text = run_with(without(kernel, "mm_struct.exec_vm"), "grow", "1")
    result("this kernel lacks mm_struct.exec_vm, which" in text, "grow: the member is named", text)


def check_ksm(kernel):
    text = run_with(without(kernel, "mm_struct.ksm_merging_pages", "ksm_rmap_item"), "doctor", "-v")
    expect(text, "bpf with pages (libbpf)", "ok opened", "without CONFIG_KSM: PSS from page tables")


def check_counters(kernel):
    """Another type, and counters that are elsewhere: no wrong number leaves the program."""
    text = run_with(without(kernel, "percpu_counter"), "doctor", "-v")
    expect(text, "bpf (libbpf)", "no the program does not know how this kernel counts", "another type of counters: it is refused")
    expect(text, "bpf with pages (libbpf)", "no the program does not know how", "another type of counters, with pages: it is refused")
    (place,) = kernel.places(("mm_struct", "rss_stat"))
    (size,) = [kernel.head(n)[2] for n in kernel.structs("percpu_counter")]
    moved = bytearray(kernel.data)
    struct.pack_into("<I", moved, place + 8, struct.unpack_from("<I", moved, place + 8)[0] + 8 * size)
    text = run_with(moved, "doctor", "-v")
    pattern = r"no the counters of this kernel are not understood: zmem-bpf has \d+ resident pages by BPF, and \d+ by /proc"
    expect(text, "bpf (libbpf)", pattern, "counters that are elsewhere: it is refused")
    expect(text, "bpf with pages (libbpf)", pattern, "counters that are elsewhere, with pages: it is refused")


if __name__ == "__main__":
    with open(KERNEL, "rb") as BTF:
        run_checks((check_plain, check_member, check_ksm, check_counters), btf.Btf(BTF.read()))
    sys.exit(exit_code())
