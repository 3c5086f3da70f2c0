/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fills struct zmem_record from a task_struct.
 *
 * It takes no lock and no reference beyond the iterator's own on the task. What it reads can change
 * or be freed meanwhile: loads cannot fault, and a raced read is detected and repeated
 * (read_memory). It has no state, so any number of readers may run at once.
 */
#ifndef ZMEM_TASK_READ_BPF_H
#define ZMEM_TASK_READ_BPF_H

#include "zmem/record.h"
#include "mm.bpf.h"
#include "near_limit.bpf.h"
#include "threads.bpf.h"
#include "pid_view.bpf.h"

/* include/linux/sched.h: constants that BTF does not contain. */
#define PF_FORKNOEXEC 0x00000040
#define PF_KTHREAD    0x00200000

/*
 * Fills the members that every kind of record has. Returns 0 for a process that was just reaped. A
 * global function, so it has its own frame within the 512 bytes of stack.
 */
own_frame_function int read_identity(__u64 task_addr, struct zmem_record *r)
{
	const struct task_struct *task = kcast(struct task_struct, task_addr);
	const struct pid_view view = reader_view();
	const struct signal_struct *signal = kget(task, signal);
	const struct task_struct *parent = kget(kget(task, real_parent), group_leader);
	const struct cred *cred = kget(task, real_cred);
	__u64 *comm;

	if (!r)
		return 0;
	comm = (__u64 *)r->comm;
	r->version = ZMEM_RECORD_VERSION;
	r->pid = pid_number(kget(task, thread_pid), &view);
	if (!r->pid)
		return 0;
	r->ppid = pid_number(kget(parent, thread_pid), &view);
	r->uid = kget(cred, euid.val);
	r->threads = kget(signal, nr_threads);
	/*
	 * Rounded down to ticks: a finer start time would reveal how long the start of a process
	 * took.
	 */
	r->start_boottime_ns = kget(task, start_boottime) / NS_PER_TICK * NS_PER_TICK;
	ktext(comm, task->comm, ZMEM_COMM_LEN / 8);
	text_terminate(comm, ZMEM_COMM_LEN / 8);
	r->oom_score_adj = kget(signal, oom_score_adj);
	return 1;
}

/* ---- memory ---- */

/*
 * True if /proc/PID/exe ends with " (deleted)", as d_unlinked() (include/linux/dcache.h): the file
 * was unlinked, or another one was renamed over it (__d_move(), fs/dcache.c). A memfd is the root
 * of its own tree, and was never in a directory.
 */
static __always_inline bool is_unlinked(const struct dentry *dentry)
{
	return has_member(struct dentry, d_hash.pprev) && !kaddr(dentry, d_hash.pprev) &&
	       kaddr(dentry, d_parent) != (__u64)dentry;
}

/* Returns ZMEM_VALID_EXE or 0. */
static __always_inline __u32 read_exe(__u64 mm_addr, struct zmem_record *r)
{
	const struct mm_struct *mm = kcast(struct mm_struct, mm_addr);
	const struct dentry *dentry;
	const struct file *file;
	__u64 *words, name;

	if (!has_member(struct mm_struct, exe_file) || !has_member(struct file, f_path) ||
	    !has_member(struct dentry, d_name))
		return 0;
	file = kget(mm, exe_file);
	if (!file)
		return 0;
	dentry = kget(file, f_path.dentry);
	if (!dentry)
		return 0;
	name = kaddr(dentry, d_name.name);
	if (!name)
		return 0;
	r->exe_len = kget(dentry, d_name.len);
	r->flags &= ~ZMEM_EXE_DELETED;
	if (is_unlinked(dentry))
		r->flags |= ZMEM_EXE_DELETED;
	words = (__u64 *)r->exe;
	ktext(words, name, ZMEM_EXE_LEN / 8);
	text_terminate(words, ZMEM_EXE_LEN / 8);
	read_barrier(words);
	if (kaddr(mm, exe_file) == (__u64)file)
		return ZMEM_VALID_EXE;
	/* prctl() replaced the file meanwhile: the name may belong to another process. */
	r->exe_len = 0;
	r->flags &= ~ZMEM_EXE_DELETED;
	__builtin_memset(r->exe, 0, sizeof(r->exe));
	return 0;
}

/* The flags for that many users of the mm beside the threads of the process. */
static __always_inline __u32 other_users_flags(__u32 others)
{
	if (!OLD_LAYOUTS || !bpf_core_field_exists(struct task_struct___pre62, rss_stat.count))
		return 0;
	return (others < ZMEM_OTHER_USERS_MOST ? others : ZMEM_OTHER_USERS_MOST)
	       << ZMEM_OTHER_USERS_SHIFT;
}

/* Reads everything of the mm. */
static __always_inline void read_mm(__u64 mm_addr, struct zmem_record *r)
{
	const struct mm_struct *mm = kcast(struct mm_struct, mm_addr);
	__s32 others;

	r->valid = read_rss(mm_addr, (struct rss_pages *)r->rss);
	if (has_member(struct mm_struct, total_vm) && has_member(struct mm_struct, locked_vm)) {
		r->total_vm = kget(mm, total_vm);
		r->locked_vm = kget(mm, locked_vm);
		r->valid |= ZMEM_VALID_VM;
	}
	if (has_member(struct mm_struct, pinned_vm)) {
		r->pinned_vm = kget(mm, pinned_vm.counter);
		r->valid |= ZMEM_VALID_PINNED;
	}
	if (has_member(struct mm_struct, pgtables_bytes)) {
		r->pgtables_bytes = kget(mm, pgtables_bytes.counter);
		r->valid |= ZMEM_VALID_PGTABLE;
	}
	if (bpf_core_field_exists(struct mm_struct, hugetlb_usage)) {
		r->hugetlb_pages = kget(mm, hugetlb_usage.counter);
		r->valid |= ZMEM_VALID_HUGETLB;
	}
	if (has_member(struct mm_struct, map_count)) {
		r->map_count = (__u32)kget(mm, map_count);
		r->valid |= ZMEM_VALID_MAPS;
	}
	if (has_member(struct mm_struct, hiwater_rss)) {
		r->hiwater_rss = kget(mm, hiwater_rss);
		r->valid |= ZMEM_VALID_PEAK;
	}
	if (has_member(struct mm_struct, write_protect_seq)) {
		r->write_protect_seq = kget(mm, write_protect_seq.sequence);
		if (counts_merged())
			r->ksm_pages = kget(mm, ksm_merging_pages);
		else if (mm_is_mergeable(mm_addr))
			r->flags |= ZMEM_MERGEABLE;
		r->valid |= ZMEM_VALID_SHARING;
	}
	/*
	 * execve() counts the new program's arguments as anonymous memory of the caller's mm, which
	 * does not map them (acct_arg_size(), fs/exec.c). Another user of this mm may be in
	 * execve(), such as a child that a thread waits for in vfork().
	 */
	others = kget(mm, mm_users.counter) -
		 ((__s32)r->threads - !!(r->flags & ZMEM_LEADER_EXITED));
	if (others > 0)
		r->flags |= ZMEM_IN_FLUX | other_users_flags(others);
	r->valid |= read_exe(mm_addr, r);
}

/*
 * The values may belong to another process: none of them leaves the kernel. The first member's
 * address is aligned: with that of a char, clang 23 calls memset(), which BPF does not have.
 */
static __always_inline void clear_memory(struct zmem_record *r)
{
	r->valid = 0;
	__builtin_memset(&r->mm_id, 0, sizeof(*r) - ZMEM_RECORD_SHORT);
}

/*
 * Reads the mm of the task. No reference is held: exit_mm() clears task->mm before it drops the
 * reference, and exec replaces it and increments self_exec_id. If both are the same before and
 * after, the values belong to this process; if not, returns 0. A global function: the verifier
 * checks it once and not once for each try.
 */
own_frame_function int read_try(__u64 task_addr, struct zmem_record *r)
{
	const struct task_struct *task = kcast(struct task_struct, task_addr);
	__u64 exec_id = kget(task, self_exec_id);
	__u64 mm = kaddr(task, mm);

	if (!r || !mm)
		return 0;
	read_barrier(&r->mm_id);
	read_mm(mm, r);
	if (add_thread_deltas(task_addr, (struct rss_pages *)r->rss_delta))
		r->flags |= ZMEM_CUT_THREADS;
	for (int i = 0; i < READ_TRIES && !(r->valid & ZMEM_VALID_FAULTS); i++)
		r->valid |= (__u32)walk_threads(task_addr, 0, r);
	read_barrier(&r->mm_id);
	if (kaddr(task, mm) != mm || kget(task, self_exec_id) != exec_id) {
		clear_memory(r);
		return 0;
	}
	r->mm_id = mm_identity(mm, exec_id);
	/* An exited leader is in no cgroup, but its threads are. */
	if (bpf_core_field_exists(struct task_struct, cgroups)) {
		r->cgroup_key = kaddr(task, cgroups);
		r->valid |= ZMEM_VALID_CGROUP;
		read_near_limit(task, r->cgroup_key, r);
	}
	return 1;
}

/* Returns false if the process has no memory any more. */
static __always_inline bool read_memory(__u64 leader, struct zmem_record *r)
{
	for (int i = 0; i < READ_TRIES; i++) {
		__u64 task = leader;

		if (!kaddr(kcast(struct task_struct, leader), mm)) {
			task = find_mm_thread(leader, 0);
			if (!task)
				return false;
			r->flags |= ZMEM_LEADER_EXITED;
		}
		if (read_try(task, r))
			return true;
	}
	r->flags |= ZMEM_RACED;
	return true;
}

/*
 * Fills r from `leader`, a thread group leader. Returns false if there is nothing to report. mm_id
 * and cgroup_key are still addresses: call scramble_addresses() before r leaves the kernel.
 */
static __always_inline bool read_task(__u64 leader, struct zmem_record *r)
{
	const struct task_struct *task = kcast(struct task_struct, leader);
	__u32 flags = kget(task, flags);

	if (!read_identity(leader, r))
		return false;
	if (flags & PF_KTHREAD) {
		r->kind = ZMEM_KTHREAD;
		r->size = ZMEM_RECORD_SHORT;
		return true;
	}
	if (!read_memory(leader, r)) {
		r->kind = ZMEM_ZOMBIE;
		r->size = ZMEM_RECORD_SHORT;
		return true;
	}
	r->kind = ZMEM_PROCESS;
	r->size = sizeof(*r);
	if (flags & PF_FORKNOEXEC)
		r->flags |= ZMEM_FORKED;
	return true;
}

static __always_inline void scramble_addresses(struct zmem_record *r)
{
	r->mm_id = scramble_word(r->mm_id, 0, 1);
	r->cgroup_key = scramble_word(r->cgroup_key, 0, 1);
}

#endif
