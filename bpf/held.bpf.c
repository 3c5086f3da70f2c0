// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Finds what holds files of shared memory beside mappings (bpf/freed.bpf.c has those): descriptors,
 * programs that run (mm->exe_file), descriptors in the queues of unix sockets, files that are
 * registered with io_uring, System V segments, and mounts with all of their files.
 *
 * The kernel counts the references of each file, namespace and mount. The programs count those that
 * they meet, and to which group of processes they belong. If both are equal, all holders are known.
 * So no program looks at other holders: processes in other pid namespaces, loop devices, drivers.
 *
 * A tmpfs ends with its last mount, and a mount with its namespace, which tasks hold by sets of
 * namespaces. A segment ends with its IPC namespace, or with its last attach if it was removed.
 *
 * The programs take no lock. Probe reads cannot fault. If a list changes while it is read, the
 * counts differ.
 */
#define ZMEM_PROBE_READS
#include "vmlinux.h"
#include "flavors.h"
#include "inodes.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "kread.bpf.h"
#include "pid_view.bpf.h"
#include "percpu.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define BPF_F_NO_PREALLOC 1
#define BPF_F_MMAPABLE	  1024

#include "held_file.bpf.h"

/* include/linux/sched.h, include/linux/socket.h, include/linux/shm.h */
#define PF_KTHREAD 0x00200000
#define AF_UNIX	   1
#define TCP_LISTEN 10 /* include/net/tcp_states.h */
#define SHM_DEST   01000

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct zmem_held);
} answers SEC(".maps");

/* The kernel allocates 16 bytes for each possible entry at once. */
#define HASH(name, entries, key_type, value_type)                                                  \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_HASH);                                                   \
		__uint(map_flags, BPF_F_NO_PREALLOC);                                              \
		__uint(max_entries, entries);                                                      \
		__type(key, key_type);                                                             \
		__type(value, value_type);                                                         \
	} name SEC(".maps")

/* The processes of groups, by their number in the reader's namespace. */
HASH(wanted, 65536, __s32, struct zmem_held_want);
HASH(tables, 65536, __u64, struct zmem_held_table);
HASH(sets, 16384, __u64, struct zmem_held_set);
HASH(named, 16384, __u64, struct zmem_held_named);
HASH(mounted, 16384, __u64, struct zmem_held_mount);
HASH(segments, 16384, __u64, struct zmem_held_segment);
HASH(edges, 16384, __u64, struct zmem_held_edge);
/* Address spaces and pairs of directories (fs_struct) that were met, which tasks may share. */
HASH(once, 16384, __u64, __u64);

static __always_inline struct zmem_held *answers_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&answers, &zero);
}

__noinline int note_full(void)
{
	struct zmem_held *a = answers_get();

	if (a)
		a->full = 1;
	return 0;
}

static __always_inline void store_entry(void *map, __u64 key, const void *value)
{
	if (bpf_map_update_elem(map, &key, value, 0))
		note_full();
}

/* ---- processes ---- */

static __always_inline __u64 leader_of(__u64 task)
{
	return kread64(task + koffset(struct task_struct, group_leader));
}

static __always_inline __u64 program_of(__u64 task)
{
	__u64 mm = kread64(task + koffset(struct task_struct, mm));

	return mm ? kread64(mm + koffset(struct mm_struct, exe_file)) : 0;
}

/* The reader, and what helps it: its children of the same program. */
static __always_inline bool is_reader(__u64 leader)
{
	__u64 own = leader_of((__u64)bpf_get_current_task());

	return leader == own ||
	       (leader_of(kread64(leader + koffset(struct task_struct, real_parent))) == own &&
		inode_of(program_of(leader)) == inode_of(program_of(own)));
}

/* Finds the groups of a process. */
__noinline int find_groups(__u64 leader, struct zmem_held_want *ret)
{
	const struct pid_view view = reader_view();
	const struct zmem_held_want *want;
	__s32 pid;

	if (!ret)
		return 0;
	ret->group = ret->mm_group = ZMEM_HELD_MIXED;
	pid = pid_number(kget(kcast(struct task_struct, leader), thread_pid), &view);
	want = bpf_map_lookup_elem(&wanted, &pid);
	if (want)
		*ret = *want;
	if (is_reader(leader))
		ret->group = ret->mm_group = ZMEM_HELD_READER;
	return 0;
}

/* ---- namespaces ---- */

static __always_inline __s32 space_refs(__u64 space)
{
	__u64 count = bpf_core_field_exists(struct mnt_namespace, ns.__ns_ref)
			      ? koffset(struct mnt_namespace, ns.__ns_ref)
			      : koffset(struct mnt_namespace___count, ns.count);

	return space ? (__s32)kread32(space + count - koffset(struct mnt_namespace, ns)) : 0;
}

/* The struct ns_common of the namespace that `pointer` leads to; 0: there is none. */
static __always_inline __u64 space_at(__u64 pointer, __u32 offset)
{
	__u64 space = kread64(pointer);

	return space ? space + offset : 0;
}

/* Counts the set of namespaces of a task. */
__noinline int meet_set(__u64 task, __u32 group)
{
	__u64 set = kread64(task + koffset(struct task_struct, nsproxy));
	struct zmem_held_set *met, new = {};

	if (!set)
		return 0;
	met = bpf_map_lookup_elem(&sets, &set);
	if (!met) {
		new.space[ZMEM_SPACE_MOUNT] =
			space_at(set + koffset(struct nsproxy___mounts, mnt_ns),
				 koffset(struct mnt_namespace, ns));
		if (bpf_core_type_exists(struct shm_file_data))
			new.space[ZMEM_SPACE_IPC] =
				space_at(set + koffset(struct nsproxy___mounts, ipc_ns),
					 koffset(struct ipc_namespace, ns));
		for (int i = 0; i < ZMEM_SPACES; i++)
			new.space_refs[i] = space_refs(new.space[i]);
		new.refs = (__s32)kread32(set + koffset(struct nsproxy___mounts, count));
		new.group = ZMEM_HELD_NONE;
		store_entry(&sets, set, &new);
		met = bpf_map_lookup_elem(&sets, &set);
	}
	if (!met)
		return 0;
	if (group == ZMEM_HELD_READER) {
		met->own++;
		return 0;
	}
	met->group = join_group(met->group, group);
	met->met++;
	return 0;
}

/*
 * Notes a descriptor of a namespace. All of its descriptors have one reference together
 * (path_from_stashed(), fs/libfs.c).
 */
__noinline int meet_named(__u64 inode, __u32 group)
{
	__u64 space = kread64(inode + koffset(struct inode, i_private));
	struct zmem_held_named *met, new = {.space = space, .group = ZMEM_HELD_NONE};

	met = bpf_map_lookup_elem(&named, &space);
	if (!met) {
		store_entry(&named, space, &new);
		met = bpf_map_lookup_elem(&named, &space);
	}
	if (!met)
		return 0;
	if (group == ZMEM_HELD_READER)
		met->own = 1;
	else
		met->group = join_group(met->group, group);
	return 0;
}

/* ---- tasks ---- */

/*
 * Counts a directory of a task: it holds its mount. `place` has the address of the directory's
 * struct vfsmount. Returns 1 if the mount is of interest.
 */
__noinline int meet_place(__u64 place, __u32 group)
{
	__u64 super = kread64(kread64(place) + koffset(struct mount, mnt.mnt_sb) -
			      koffset(struct mount, mnt));
	struct zmem_held_mount *m = bpf_map_lookup_elem(&mounted, &super);

	if (!m)
		return 0;
	if (group == ZMEM_HELD_READER) {
		m->own++;
		return 1;
	}
	m->group = join_group(m->group, group);
	m->met++;
	return 1;
}

static __always_inline __u64 places_of(__u64 task)
{
	return kread64(task + koffset(struct task_struct___places, fs));
}

static __always_inline void meet_places(__u64 task, __u64 leader, __u32 group)
{
	__u64 places = places_of(task);

	if (!places || (task != leader && places == places_of(leader)) ||
	    bpf_map_lookup_elem(&once, &places))
		return;
	if (meet_place(places + koffset(struct fs_struct, root.mnt), group) |
	    meet_place(places + koffset(struct fs_struct, pwd.mnt), group))
		store_entry(&once, places, &places);
}

/* The program that the task runs, once for each address space. */
static __always_inline void meet_program(__u64 task, __u64 leader, __u32 group)
{
	__u64 mm = kread64(task + koffset(struct task_struct, mm)), file, inode;

	if (!mm || kread32(task + koffset(struct task_struct, flags)) & PF_KTHREAD ||
	    (task != leader && kread64(leader + koffset(struct task_struct, mm)) == mm))
		return;
	file = kread64(mm + koffset(struct mm_struct, exe_file));
	inode = inode_of(file);
	if (!inode || kind_of(file, inode) != ZMEM_HELD_SHMEM)
		return;
	if (bpf_map_lookup_elem(&once, &mm))
		return;
	store_entry(&once, mm, &file);
	if (meet_file(file, group, BY_MEMORY))
		note_full();
}

#define RINGS_MAX 16 /* IO_RINGFD_REG_MAX, include/linux/io_uring_types.h */

static __always_inline void meet_rings(__u64 task, __u32 group)
{
	__u64 rings = 0, file;

	if (bpf_core_field_exists(struct task_struct___places, io_uring) &&
	    bpf_core_field_exists(struct io_uring_task, registered_rings))
		rings = kread64(task + koffset(struct task_struct___places, io_uring));
	if (!rings)
		return;
	rings += koffset(struct io_uring_task, registered_rings);
	for (int i = 0; i < RINGS_MAX; i++) {
		file = kread64(rings + i * sizeof(__u64));
		if (file && meet_file(file, group, BY_MEMORY))
			note_full();
	}
}

/* Visits each thread: threads may differ in their namespaces and directories. */
SEC("iter/task")
int list_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct zmem_held_want want = {};
	__u64 own, leader;

	if (!task)
		return 0;
	own = kread_raw(__u64, &ctx->task);
	leader = kread_raw(__u64, &task->group_leader);
	find_groups(leader, &want);
	meet_set(own, want.group);
	meet_places(own, leader, want.group);
	meet_program(own, leader, want.mm_group);
	meet_rings(own, want.group);
	return 0;
}

/* ---- what carries files ---- */

/* The files that a carrier holds, one after the other. */
struct carried {
	__u64 carrier;
	__u64 head, buffer; /* of a socket: its queue, and where in it */
	/* While the queue of a connection that was not accepted is read: those of its listener. */
	__u64 listener_head, listener_buffer;
	__u64 list; /* of pointers to files */
	__u32 count, at;
	__u32 found;
	__u32 listens;
};

/* Records that the carrier holds the file. */
__noinline int add_edge(__u64 carrier, __u64 file)
{
	struct zmem_held_edge new = {.carrier = carrier, .file = file};
	struct zmem_held *a = answers_get();
	__u32 kind = kind_of(file, inode_of(file));
	__u64 key;

	if (!a || (kind != ZMEM_HELD_SHMEM && kind != ZMEM_HELD_SECRET))
		return 0;
	key = a->edges++;
	store_entry(&edges, key, &new);
	if (meet_file(file, ZMEM_HELD_NONE, BY_NOTHING))
		note_full();
	return 1;
}

static __always_inline __u64 queue_of(__u64 sock)
{
	return sock + koffset(struct sock, sk_receive_queue);
}

/*
 * unix_scm_to_skb() (net/unix/af_unix.c): a buffer has the files that were sent with it. A listener
 * has buffers of connections that were not accepted, each with a queue (unix_stream_connect()).
 */
static long next_in_flight(__u32 turn, struct carried *c)
{
	__u64 sent;

	if (c->at < c->count) {
		c->found += add_edge(c->carrier, kread64(c->list + c->at * sizeof(__u64)));
		c->at++;
		return 0;
	}
	c->buffer = kread64(c->buffer + koffset(struct sk_buff, next));
	if (!c->buffer || c->buffer == c->head) {
		c->head = c->listener_head;
		c->buffer = c->listener_buffer;
		c->listener_buffer = 0;
		return !c->buffer;
	}
	if (c->listens && !c->listener_buffer) {
		c->listener_head = c->head;
		c->listener_buffer = c->buffer;
		c->head = c->buffer = queue_of(kread64(c->buffer + koffset(struct sk_buff, sk)));
		return 0;
	}
	sent = kread64(c->buffer + koffset(struct sk_buff, cb) +
		       koffset(struct unix_skb_parms, fp));
	c->list = sent + koffset(struct scm_fp_list, fp);
	c->count = sent ? kread32(sent + koffset(struct scm_fp_list, count)) & 0xffff : 0;
	c->at = 0;
	return 0;
}

#define CARRIED_MAX 65536

/* Returns how many files are in the queue of a unix socket. */
__noinline int carried_by_socket(__u64 file)
{
	__u64 socket = kread64(file + koffset(struct file___files, private_data)), sock;
	struct carried c = {.carrier = file};

	/* CONFIG_UNIX */
	if (!bpf_core_type_exists(struct unix_skb_parms))
		return 0;
	sock = kread64(socket + koffset(struct socket, sk));
	if (!sock ||
	    (kread32(sock + koffset(struct sock, __sk_common.skc_family)) & 0xffff) != AF_UNIX)
		return 0;
	c.listens =
		(kread32(sock + koffset(struct sock, __sk_common.skc_state)) & 0xff) == TCP_LISTEN;
	c.head = c.buffer = queue_of(sock);
	bpf_loop(CARRIED_MAX, next_in_flight, &c, 0);
	return c.found;
}

/* A ring of another layout carries nothing that is known: its files have another reference. */
#define HAS_NODES                                                                                  \
	(bpf_core_field_exists(struct io_ring_ctx, file_table.data.nodes) &&                       \
	 bpf_core_field_exists(struct io_ring_ctx, file_table.data.nr) &&                          \
	 bpf_core_field_exists(struct io_rsrc_node, file_ptr))

static long next_registered(__u32 turn, struct carried *c)
{
	__u64 entry;

	if (turn >= c->count)
		return 1;
	if (HAS_NODES) {
		entry = kread64(c->list + turn * sizeof(__u64));
		if (entry)
			entry = kread64(entry + koffset(struct io_rsrc_node, file_ptr));
	} else {
		entry = kread64(c->list + turn * sizeof(__u64));
	}
	entry &= ~7ULL; /* FFS_MASK, io_uring/filetable.h */
	if (entry)
		c->found += add_edge(c->carrier, entry);
	return 0;
}

/* Returns how many files are registered with a ring (io_sqe_files_register()). */
__noinline int carried_by_ring(__u64 file)
{
	__u64 ring = kread64(file + koffset(struct file___files, private_data));
	struct carried c = {.carrier = file};

	if (HAS_NODES) {
		c.count = kread32(ring + koffset(struct io_ring_ctx, file_table.data.nr));
		c.list = kread64(ring + koffset(struct io_ring_ctx, file_table.data.nodes));
	} else if (bpf_core_field_exists(struct io_ring_ctx___array, file_table.files)) {
		c.count = kread32(ring + koffset(struct io_ring_ctx___array, nr_user_files));
		c.list = kread64(ring + koffset(struct io_ring_ctx___array, file_table.files));
	}
	if (c.list)
		bpf_loop(CARRIED_MAX, next_registered, &c, 0);
	return c.found;
}

/* False if the file carries nothing: then it is of no interest. */
static __always_inline bool carries(__u64 file, __u64 inode)
{
	__u64 magic = kread64(kread64(inode + koffset(struct inode, i_sb)) +
			      member_offset(super_block, s_magic));

	if (bpf_map_lookup_elem(&held, &file))
		return true;
	return (magic == MAGIC_SOCKFS ? carried_by_socket(file) : carried_by_ring(file)) != 0;
}

/* ---- descriptors ---- */

/*
 * Whether the descriptors of the task are counted: a table that tasks share is counted at the first
 * of them. Sets the group to that of all tasks of the table.
 */
__noinline int begins_table(__u64 task, __u64 table, __u32 *group)
{
	struct zmem_held_table *t, new = {.task = task};

	if (!group)
		return false;
	t = bpf_map_lookup_elem(&tables, &table);
	if (!t) {
		new.group = *group;
		store_entry(&tables, table, &new);
		return true;
	}
	if (t->task == task)
		return true;
	/* The references were counted as those of the other task. */
	if (t->group != *group)
		*group = ZMEM_HELD_MIXED;
	return false;
}

__noinline int meet_descriptor(__u64 task, __u64 file, __u64 inode, __u32 kind)
{
	struct zmem_held_want want = {};
	struct zmem_held_file *f;

	if (kind == ZMEM_HELD_CARRIER && !carries(file, inode))
		return 0;
	find_groups(leader_of(task), &want);
	if (kind == ZMEM_HELD_SPACE)
		return meet_named(inode, want.group);
	if (begins_table(task, kread64(task + koffset(struct task_struct___files, files)),
			 &want.group)) {
		if (meet_file(file, want.group, BY_DESCRIPTOR))
			note_full();
		return 0;
	}
	f = bpf_map_lookup_elem(&held, &file);
	if (f && want.group == ZMEM_HELD_MIXED)
		f->group = want.group;
	return 0;
}

SEC("iter/task_file")
int list_held(struct bpf_iter__task_file *ctx)
{
	__u64 file, inode;
	__u32 kind;

	if (!ctx->task || !ctx->file)
		return 0;
	/* Read as numbers, because the verifier tracks pointers. */
	file = kread_raw(__u64, &ctx->file);
	inode = inode_of(file);
	kind = kind_of(file, inode);
	if (kind != ZMEM_HELD_NOTHING && kind != ZMEM_HELD_MAPPED)
		meet_descriptor(kread_raw(__u64, &ctx->task), file, inode, kind);
	return 0;
}

/* ---- file systems ---- */

#define SUPERS_MAX 65536
#define MOUNTS_MAX 4096

/* Since 6.18 the mounts of a super block are in a chain; before, in a list. */
#define has_chain() bpf_core_field_exists(struct mount, mnt_next_for_sb)
#define MOUNT_NEXT                                                                                 \
	(has_chain() ? koffset(struct mount, mnt_next_for_sb)                                      \
		     : koffset(struct mount___list, mnt_instance))

/* The mounts of a super block. */
struct mounts {
	__u64 head; /* of the list; 0: there is none */
	__u64 at, space;
	__u64 counters; /* of the mount that is read, by CPU */
	__u64 below;	/* of its list of the mounts below it: the head, and where in it */
	__u64 child;
	__u32 refs; /* as the sum of the CPUs, modulo 2^32 */
	__u32 mixed, met, seen;
};

#define ONE_COUNT	 bpf_core_field_exists(struct mnt_pcp, mnt_count)
#define TWO_COUNTS	 bpf_core_field_exists(struct mnt_pcp___two, mnt_gets)
#define COUNT_OF_MACHINE bpf_core_field_exists(struct mount___alone, mnt_count)

static long add_on_cpu(__u32 index, struct mounts *m)
{
	const __u64 *offset = bpf_map_lookup_elem(&cpu_offset, &index);
	__u64 counters;

	if (!offset)
		return 1;
	counters = m->counters + *offset;
	if (ONE_COUNT)
		m->refs += kread32(counters + koffset(struct mnt_pcp, mnt_count));
	else if (TWO_COUNTS)
		m->refs += kread32(counters + koffset(struct mnt_pcp___two, mnt_gets)) -
			   kread32(counters + koffset(struct mnt_pcp___two, mnt_puts));
	return 0;
}

static long next_child(__u32 turn, struct mounts *m)
{
	m->child = kread64(m->child);
	if (!m->child || m->child == m->below)
		return 1;
	m->met++;
	return 0;
}

/*
 * Adds the references of a mount (mnt_get_count()), and those that its namespace and the mounts
 * below it have (mnt_set_mountpoint()). One that was unmounted while it is in use has no namespace.
 */
static __always_inline void add_references(struct mounts *m, __u64 mount)
{
	if (bpf_core_field_exists(struct mount, mnt_pcp)) {
		m->counters = kread64(mount + koffset(struct mount, mnt_pcp));
		bpf_loop(CPUS_MAX, add_on_cpu, m, 0);
	} else if (COUNT_OF_MACHINE) {
		m->refs += kread32(mount + koffset(struct mount___alone, mnt_count));
	}
	m->below = m->child = mount + koffset(struct mount, mnt_mounts);
	bpf_loop(MOUNTS_MAX, next_child, m, 0);
	m->met += m->space != 0;
}

/* The references, or more than there can be if the kernel counts in another way. */
static __always_inline __s64 references_of(const struct mounts *m)
{
	return ONE_COUNT || TWO_COUNTS || COUNT_OF_MACHINE ? (__s32)m->refs
							   : ZMEM_HELD_REFS_UNKNOWN;
}

static long next_mount(__u32 turn, struct mounts *m)
{
	__u64 space, mount;

	if (!m->at || m->at == m->head)
		return 1;
	mount = m->at - (has_chain() ? 0 : MOUNT_NEXT);
	space = kread64(mount + koffset(struct mount, mnt_ns));
	m->mixed |= turn && space != m->space;
	m->space = space;
	m->seen = 1;
	add_references(m, mount);
	m->at = kread64(m->at + (has_chain() ? MOUNT_NEXT : 0));
	return 0;
}

/*
 * Mounts in no namespace have NULL there, and those of the kernel alone an error: user space finds
 * no such namespace.
 */
__noinline int meet_super(__u64 super)
{
	struct zmem_held_mount new = {.group = ZMEM_HELD_NONE};
	struct mounts m = {};

	if (has_chain()) {
		m.at = kread64(super + member_offset(super_block, s_mounts));
	} else {
		m.head = super + member_offset(super_block, s_mounts);
		m.at = kread64(m.head);
	}
	bpf_loop(MOUNTS_MAX, next_mount, &m, 0);
	if (!m.seen || m.mixed || (m.at && m.at != m.head))
		return 0;
	new.space = m.space ? m.space + koffset(struct mnt_namespace, ns) : 0;
	new.device = kread32(super + member_offset(super_block, s_dev));
	new.refs = references_of(&m);
	new.met = m.met;
	store_entry(&mounted, super, &new);
	return 0;
}

struct supers {
	__u64 first, at;
};

/* The ring of super blocks has one element that is none: the head of the list. */
static long next_super(__u32 turn, struct supers *all)
{
	__u64 root = kread64(all->at + member_offset(super_block, s_root));

	if (root && kread64(root + koffset(struct dentry___files, d_sb)) == all->at &&
	    kread64(all->at + member_offset(super_block, s_magic)) == MAGIC_TMPFS)
		meet_super(all->at);
	all->at = kread64(all->at + member_offset(super_block, s_list)) -
		  member_offset(super_block, s_list);
	return all->at == all->first || all->at >> 56 != 0xff;
}

/* User space runs it. The walk begins at the super block that the program's own file is on. */
SEC("raw_tp/list_mounted")
int list_mounted(void *ctx)
{
	struct supers all = {};

	all.first = all.at = kread64(inode_of(program_of((__u64)bpf_get_current_task())) +
				     koffset(struct inode, i_sb));
	if (all.first)
		bpf_loop(SUPERS_MAX, next_super, &all, 0);
	return 0;
}

/* ---- segments ---- */

/* The segments of a namespace: a tree by number (struct idr). */
struct segments_walk {
	__u64 root;
	__u64 space;
	__u32 last;
	__u32 forced; /* segments end with their last attach (kernel.shm_rmid_forced) */
};

#define TREE_LEVELS  5
#define SEGMENTS_MAX (1 << 16)

__noinline int meet_segment(__u64 segment, __u64 space, __u32 forced)
{
	struct zmem_held_segment new = {.space = space, .ends = forced};

	/* CONFIG_SYSVIPC */
	if (!bpf_core_type_exists(struct shm_file_data))
		return 0;
	new.file = kread64(segment + koffset(struct shmid_kernel, shm_file));
	new.ends |=
		(kread32(segment + koffset(struct shmid_kernel, shm_perm.mode)) & SHM_DEST) != 0;
	if (kind_of(new.file, inode_of(new.file)) != ZMEM_HELD_SHMEM)
		return 0;
	store_entry(&segments, new.file, &new);
	if (meet_file(new.file, ZMEM_HELD_NONE, BY_NOTHING))
		note_full();
	return 0;
}

static long next_segment(__u32 index, struct segments_walk *w)
{
	__u64 entry = w->root, node;
	__u32 shift = 0;

	if (index > w->last)
		return 1;
	for (int i = 0; i < TREE_LEVELS && (entry & 3) == 2; i++) {
		node = entry - 2;
		shift = kread32(node + koffset(struct xa_node, shift)) & 0x3f;
		if (!i && index >> shift >= 64)
			return 1;
		entry = kread64(node + koffset(struct xa_node, slots) + (index >> shift & 63) * 8);
	}
	/* If the root is no node, it is the only segment, and has number 0. */
	if (entry && !(entry & 3) && (entry != w->root || !index))
		meet_segment(entry, w->space, w->forced);
	return 0;
}

/* Run by user space, for one IPC namespace. */
SEC("raw_tp/list_segments")
int list_segments(void *ctx)
{
	struct zmem_held *a = answers_get();
	struct segments_walk w = {};
	__u64 space;

	if (!a || !bpf_core_type_exists(struct shm_file_data))
		return 0;
	w.space = a->space;
	space = a->space - koffset(struct ipc_namespace, ns);
	/* IPC_SHM_IDS (ipc/util.h); CO-RE knows the size of the kernel's struct ipc_ids. */
	w.root = kread64(space + koffset(struct ipc_namespace, ids[2].ipcs_idr.idr_rt.xa_head));
	w.last = kread32(space + koffset(struct ipc_namespace, ids[2].max_idx));
	w.forced = kread32(space + koffset(struct ipc_namespace, shm_rmid_forced)) != 0;
	if (w.root && w.last < SEGMENTS_MAX)
		bpf_loop(SEGMENTS_MAX, next_segment, &w, 0);
	else if (w.root && w.last != (__u32)-1) /* ids with ipcmni_extend */
		a->full = 1;
	return 0;
}

/* ---- one file again ---- */

struct mappings {
	__u64 node, from;
	__u32 count;
};

/* Follows one edge of the tree of the VMAs that map a file (address_space.i_mmap). */
static long next_mapping(__u32 turn, struct mappings *m)
{
	__u64 left, right, next = 0;

	if (!m->node)
		return 1;
	left = kread64(m->node + koffset(struct rb_node, rb_left));
	right = kread64(m->node + koffset(struct rb_node, rb_right));
	if (m->from != right || !right) {
		if (m->from != left && left) {
			next = left;
		} else {
			m->count++;
			next = right;
		}
	}
	if (!next)
		next = kread64(m->node + koffset(struct rb_node___parent, __rb_parent_color)) &
		       ~3ULL;
	m->from = m->node;
	m->node = next;
	return 0;
}

#define MAPPINGS_MAX (1 << 20)

/* Run by user space, for a file with references that no holder explains. */
SEC("raw_tp/check_file")
int check_file(void *ctx)
{
	struct zmem_held *a = answers_get();
	struct mappings m = {};

	if (!a)
		return 0;
	a->refs = -1;
	if (inode_of(a->file) != a->inode)
		return 0;
	m.node = kread64(a->inode + koffset(struct inode, i_data.i_mmap));
	bpf_loop(MAPPINGS_MAX, next_mapping, &m, 0);
	a->maps = m.count;
	a->names = names_of(dentry_of(a->file));
	a->refs = references(a->file);
	return 0;
}
