#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Removes each type, member and value that our BPF objects read from a copy of this kernel's BTF, one at a time, and
what an option of the kernel's configuration removes at once, and loads each object that reads it by libbpf. An object
that does not load names what is missing. Writes O/members.txt: what is missing, and the objects that do not load."""
# needs: bpf

import concurrent.futures
import ctypes
import functools
import glob
import os
import re
import struct
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import btf  # noqa: E402
from outcome import O, exit_code, result  # noqa: E402

KERNEL = "/sys/kernel/btf/vmlinux"
LOG_SIZE = (16 << 20) - 1

# What a kernel lacks with the option off, or with the other layout. Each object has to load without it, but for those
# that follow: what reads swap is loaded where swap is in use, what counts growth has nothing to count, and what reads
# OOM kills on kernels before 6.2 needs memory cgroups: the compiler takes memory_cgrp_id out of the branch that asks for it.
OPTIONS = {
    "CONFIG_KSM": "mm_struct.ksm_merging_pages ksm_rmap_item rmap_item",
    "CONFIG_SMP": "percpu_counter.counters",
    "CONFIG_HUGETLB_PAGE": "mm_struct.hugetlb_usage",
    "CONFIG_MEMCG": "cgroup_subsys_id.memory_cgrp_id mem_cgroup obj_cgroup page.memcg_data - oom_kill_old",
    "CONFIG_CGROUPS": "task_struct.cgroups css_set cgroup cgroup_root cgroup_subsys_state cgroup_namespace cgroup_subsys_id"
    " mem_cgroup obj_cgroup page.memcg_data - oom_kill_old oom_kill_probe",
    "CONFIG_PAGE_POOL": "page.pp_magic page.pp page_pool page_pool_params_fast page_pool_params_slow",
    "CONFIG_NET": "page.pp_magic page.pp page_pool page_pool_params_fast page_pool_params_slow netmem_desc net_device",
    "CONFIG_MEMORY_FAILURE": "pageflags.PG_hwpoison",
    "CONFIG_SHMEM": "shmem_inode_info",
    "CONFIG_SWAP": "swap_info_struct swap_cluster_info swap_table - swap",
    "CONFIG_TASK_DELAY_ACCT": "task_delay_info task_struct.delays",
    "CONFIG_ZRAM": "zram zram_table_entry zram_attr zram_pageflags",
    "CONFIG_ZSWAP": "zswap_entry",
    "CONFIG_EPOLL": "eventpoll epitem eppoll_entry",
    "CONFIG_SYSVIPC": "shm_file_data shmid_kernel kern_ipc_perm",
    "CONFIG_UNIX": "unix_skb_parms scm_fp_list",
    "CONFIG_IO_URING": "io_ring_ctx io_mapped_region io_rings io_uring_sqe io_uring_cqe io_rsrc_node io_rsrc_data io_file_table io_uring_task task_struct.io_uring",
    "CONFIG_PACKET": "packet_sock packet_ring_buffer",
    "CONFIG_XDP_SOCKETS": "xdp_sock xsk_queue xdp_ring xdp_umem xsk_buff_pool xdp_buff_xsk",
    "CONFIG_PERF_EVENTS": "perf_event perf_buffer - grow grow_probe peak peak_probe",
    "CONFIG_INOTIFY_USER": "inotify_inode_mark inotify_group_private_data fsnotify_group.inotify_data",
    "CONFIG_FSNOTIFY": "fsnotify_group fsnotify_mark_connector inotify_inode_mark inotify_group_private_data",
    "CONFIG_KVM": "kvm kvm_arch kvm_vm_stat kvm_mmu_page",
    "6.1, without counts of KVM": "kvm_arch.tdp_mmu_pages kvm_arch.n_used_mmu_pages kvm_vm_stat.mmu_shadow_pages kvm_vm_stat.pages_4k",
    "6.1, without vmalloc() for AF_XDP": "xsk_queue.ring_vmalloc_size",
    "rss_stat of another type": "percpu_counter - grow peak",
    "5.9": "mm_struct.write_protect_seq - task_pss task_pss_memos task_pss_probe task_pss_old swap task_counters oom_kill"
    " freed pages",
}

# What every kernel has that has the rest. Without it objects do not load, and the program goes on with another one, or
# with /proc, and says why. What is not in this list must not be needed by any object.
NEEDED = """
address_space * a_ops host i_mmap i_pages nrpages
anon_vma * num_children root
atomic64_t counter
atomic_t * counter
block_device * bd_disk
bpf_array * pptrs
bpf_iter__dmabuf * dmabuf meta
bpf_iter__task * meta task
bpf_iter__task_file * fd file meta task
bpf_iter_meta * seq
bpf_map * id map_flags map_type refcnt
bpf_prog * aux jited_len pages
bpf_prog_aux * refcnt
cgroup * kn root self
cgroup_subsys_id * memory_cgrp_id
cgroup_subsys_state * cgroup flags parent ss
cred * euid
css_set * dfl_cgrp subsys
dentry * d_hash d_lockref d_name d_parent d_sb d_u d_u.d_alias
device * kobj
dma_buf * file size
fdtable * fd max_fds
file * f_ep f_inode f_mapping f_path f_ref private_data
file_system_type * name
files_struct * fdt
folio * _entire_mapcount _flags_1 _mapcount lru mapping
fs_struct * pwd root
fsnotify_group * inotify_data
gendisk * private_data
hlist_bl_node pprev
idr idr_rt idr_rt.xa_head
inode * i_blocks i_data i_dentry i_generation i_ino i_mode i_nlink i_pipe i_private i_rdev i_sb i_sb_list i_size
inotify_group_private_data idr
io_mapped_region * flags nr_pages
io_ring_ctx ring_region
ipc_ids ipcs_idr max_idx
ipc_namespace * ids ns shm_rmid_forced
kern_ipc_perm mode
kernel_siginfo * si_code
kernfs_node * __parent id name
kobject name
kuid_t val
list_head next prev
lockref * count
maple_tree ma_root
maple_type * maple_arange_64 maple_range_64
mem_cgroup * css memsw swap
mm_struct * arg_end arg_start env_end env_start exe_file exec_vm hiwater_rss locked_vm map_count mm_mt mm_users mmap_lock
mm_struct pgd pgtables_bytes pinned_vm rss_stat start_stack total_vm write_protect_seq
mnt_namespace * ns
mount * mnt mnt_mounts mnt_next_for_sb mnt_ns
net_device * name
ns_common * __ns_ref
nsproxy * cgroup_ns count ipc_ns mnt_ns
oom_control memcg order
packet_ring_buffer * pg_vec_len pg_vec_order
packet_sock mapped rx_ring tx_ring
page * _refcount private
page_counter * max usage
pageflags * PG_dirty PG_head PG_swapbacked PG_swapcache
path dentry mnt
percpu_counter * count
perf_buffer * aux_nr_pages aux_pages data_pages nr_pages
perf_event rb
pid * level numbers
pipe_buffer * page
pipe_inode_info * bufs files head ring_size tail
plist_node node_list
posix_cputimer_base * nextevt
proto * obj_size
qstr len name
rb_node * __rb_parent_color rb_left rb_right
return_instance next stack
rw_semaphore count owner
scm_fp_list * count fp
seqcount sequence
shm_file_data file ns
shmem_inode_info vfs_inode
shmid_kernel * shm_file shm_perm
signal_struct * live maj_flt nr_threads oom_score_adj rlim stats_lock thread_head tty
sk_buff * cb next sk truesize
sk_buff_head * qlen
sock * __sk_common sk_backlog sk_backlog.rmem_alloc sk_protocol sk_receive_queue sk_wmem_alloc sk_wmem_queued
sock_common skc_family skc_prot skc_state
socket * sk
super_block * s_dev s_inodes s_list s_magic s_mounts s_op s_root s_type
swap_cluster_info * table
swap_info_struct * bdev cluster_info flags inuse_pages list max pages prio swap_file swap_map type
task_delay_info swapin_count
task_struct * cgroups comm exit_state files flags fs group_leader maj_flt mm nsproxy pid real_cred real_parent self_exec_id
task_struct signal stack start_boottime tasks tgid thread thread_info thread_node thread_pid vfork_done
thread_info flags
thread_struct fsbase
unix_skb_parms fp
upid * nr ns
uprobe_task * return_instances
vfsmount mnt_sb
vm_area_struct * anon_vma anon_vma_chain shared shared.rb vm_end vm_file vm_flags vm_mm vm_ops vm_pgoff vm_start
vm_unmapped_area_info * length
xa_node * count marks shift slots
xarray * xa_head
xdp_sock cq_tmp fq_tmp pool rx tx umem
xdp_umem * npgs
xsk_buff_pool * cq fq heads_cnt
xsk_queue * nentries
zram disk disksize table
zram_pageflags * ZRAM_SAME
"""


class OpenOpts(ctypes.Structure):
    """struct bpf_object_open_opts of libbpf 1.0 and later."""

    _fields_ = [
        ("size", ctypes.c_size_t),
        ("object_name", ctypes.c_char_p),
        ("relaxed_maps", ctypes.c_bool),
        ("pin_root_path", ctypes.c_char_p),
        ("unused", ctypes.c_uint32),
        ("kconfig", ctypes.c_char_p),
        ("btf_custom_path", ctypes.c_char_p),
        ("log", ctypes.c_void_p),
        ("log_size", ctypes.c_size_t),
        ("log_level", ctypes.c_uint32),
    ]


@functools.lru_cache
def kernel_members():
    """struct zmem_members, as src/load/kernel_members.c fills it in: at the place of a member 1 and its offset in bytes,
    or 1 and the value of an enumerator, or 0 if the kernel lacks it."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../include/zmem/members.h"), encoding="utf-8") as file:
        text = file.read()
    kernel, names = read_kernel(), re.findall(r"\bM\((\w+), (\w+)\)", text)
    (room,) = re.findall(r"bytes\[(\d+)\]", text)
    return bytes(int(room)) + struct.pack("<%dI" % len(names), *(1 + kernel.offset(*n) for n in names))


def libbpf():
    lib = ctypes.CDLL("libbpf.so.1")
    lib.bpf_object__find_map_by_name.restype = ctypes.c_void_p
    lib.bpf_object__find_map_by_name.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    lib.bpf_map__set_initial_value.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
    lib.bpf_object__open_file.restype = ctypes.c_void_p
    lib.bpf_object__open_file.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
    lib.bpf_object__load.argtypes = lib.bpf_object__close.argtypes = [ctypes.c_void_p]
    lib.bpf_object__next_program.restype = ctypes.c_void_p
    lib.bpf_object__next_program.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    lib.bpf_program__section_name.restype = ctypes.c_char_p
    lib.bpf_program__section_name.argtypes = [ctypes.c_void_p]
    lib.bpf_program__set_autoload.argtypes = [ctypes.c_void_p, ctypes.c_bool]
    lib.libbpf_set_print(None)
    return lib


def without_functions(lib, handle):
    """Some machines refuse all programs on functions (fentry, fexit): the program does without them."""
    at = lib.bpf_object__next_program(handle, None)
    while at:
        if lib.bpf_program__section_name(at).startswith((b"fentry/", b"fexit/")):
            lib.bpf_program__set_autoload(at, False)
        at = lib.bpf_object__next_program(handle, at)


def load(path, types):
    """Loads an object by the BTF in the file `types`. Returns None, or the log."""
    lib, log = libbpf(), ctypes.create_string_buffer(LOG_SIZE)
    opts = OpenOpts(ctypes.sizeof(OpenOpts), btf_custom_path=types.encode(), log=ctypes.addressof(log), log_size=LOG_SIZE)
    handle = lib.bpf_object__open_file(path.encode(), ctypes.byref(opts))
    without_functions(lib, handle)
    found = lib.bpf_object__find_map_by_name(handle, b".rodata.members")
    if found:
        values = kernel_members()
        lib.bpf_map__set_initial_value(found, values, len(values))
    error = lib.bpf_object__load(handle)
    lib.bpf_object__close(handle)
    return log.value.decode(errors="replace") or os.strerror(-error) if error else None


def load_without(kernel, names, objects):
    """{object: log} of those that do not load without the names, and whether the kernel had one of them."""
    places = [at for name in names for at in kernel.places(tuple(name.split(".")))]
    with tempfile.NamedTemporaryFile() as copy:
        copy.write(kernel.renamed(places, "not_there"))
        copy.flush()
        logs = {o: load(path_of(o), copy.name) for o in objects}
    return {o: log for o, log in logs.items() if log is not None}, bool(places)


def path_of(name):
    return "%s/bpf/%s.bpf.o" % (O, name)


def read_kernel():
    with open(KERNEL, "rb") as file:
        return btf.Btf(file.read())


def try_one(job):
    global kernel_types
    if "kernel_types" not in globals():
        kernel_types = read_kernel()
    return job, load_without(kernel_types, *job)


def needed():
    names = set()
    for line in NEEDED.split("\n"):
        owner, *members = line.split() or [""]
        names |= {owner if m == "*" else owner + "." + m for m in members}
    return names


def jobs_of(objects):
    """What is missing in each job, and the objects that read it."""
    readers = {}
    for name in objects:
        for path in btf.wanted_by(path_of(name)):
            readers.setdefault(".".join(path), []).append(name)
    for what in OPTIONS.values():
        names, _, spared = what.partition(" - ")
        yield names.split(), sorted({o for n in names.split() for o in readers.get(n, ())} - set(spared.split()))
    for name, users in sorted(readers.items()):
        yield [name], users


def judge(failed, allowed, title):
    """What the log has to say is in src/load/bpf_diagnose.c."""
    silent = {o: log[-300:] for o, log in failed.items() if not re.search(r"CO-RE relocation <\w+> \[\d+\] \w+ \w", log)}
    if allowed:
        result(not silent, "without %s: %d objects do not load, and say what is missing" % (title, len(failed)), silent)
    else:
        result(not failed, "without %s: all objects load" % title, {o: log[-300:] for o, log in failed.items()})


def main():
    all_objects = sorted(os.path.basename(p)[: -len(".bpf.o")] for p in glob.glob(path_of("*")))
    unfit = {o: why for o in all_objects if (why := load(path_of(o), KERNEL)) is not None}
    objects = [o for o in all_objects if o not in unfit]
    print("note objects that this kernel does not load at all:", *(unfit or ["none"]))
    result("task_pss" in objects and "grow" in objects, "objects of the newest kernels load", list(unfit))
    jobs, allowed, rows = list(jobs_of(objects)), needed(), []
    with concurrent.futures.ProcessPoolExecutor() as pool:
        for (names, users), (failed, was_there) in pool.map(try_one, jobs):
            options = [o for o, what in OPTIONS.items() if what.partition(" - ")[0].split() == names]
            title = options[0] if options and len(rows) < len(OPTIONS) else names[0]
            rows.append("%s\t%s\n" % (title, " ".join(failed) or ("-" if was_there else "(this kernel lacks it)")))
            judge(failed, title in allowed, title)
    with open(O + "/members.txt", "w", encoding="ascii") as file:
        file.writelines(rows)
    print("note %d of %d are needed by an object (%s/members.txt)" % (sum("\t-" not in r for r in rows), len(rows), O))


if __name__ == "__main__":
    main()
    sys.exit(exit_code())
