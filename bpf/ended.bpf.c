// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Keeps the peak of each process that ends, when its last thread exits and its memory is still
 * there. Processes of one name in one cgroup are summed, so that thousands of them take one entry.
 *
 * The peak is the higher one of what the kernel noted before it unmapped or reclaimed pages
 * (mm->hiwater_rss) and of the counters now. signal->maxrss is no use: it has the peak of the
 * programs before an exec as well, and that of the parent after vfork().
 *
 * do_exit() (kernel/exit.c) calls taskstats_exit() and, since Linux 6.16, the tracepoint
 * sched_process_exit, both with the task and whether the thread is the last one of its process.
 * Before 6.16 the tracepoint came after the memory was gone, and lacked the second argument: such a
 * kernel refuses its program.
 */
#include "vmlinux.h"
#include "flavors.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#ifndef ZMEM_PROBE_READS
#include "kfuncs.h"
#endif
#include "zmem/ended.h"
#include "zmem/setup.h"
#include "kread.bpf.h"
#ifndef ZMEM_OLD
#include "percpu.bpf.h"
#endif
#define ZMEM_STORED_VIEW
#include "pid_view.bpf.h"
#include "mm.bpf.h"

/* Programs with one attach point do not interrupt each other on a CPU. */
enum path_use {
	PATH_OF_ENDED,
	PATH_USES,
};
#include "cgroup_names.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct zmem_ended_settings);
} settings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, ZMEM_ENDED_SUMS);
	__type(key, struct zmem_ended_key);
	__type(value, struct zmem_ended_sum);
} sums SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, ZMEM_ENDED_PATHS);
	__type(key, struct zmem_ended_path_key);
	__type(value, struct zmem_ended_path);
} paths SEC(".maps");

/* Of each turn: processes with a low peak, and those for which there was no room. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, ZMEM_ENDED_TURNS);
	__type(key, __u32);
	__type(value, struct zmem_ended_sum);
} rest SEC(".maps");

struct ended_scratch {
	__u64 task;
	struct rss_pages pages;
	struct zmem_ended_path path;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ended_scratch);
} scratch SEC(".maps");

/* Stores the path of a css_set under the key. Global: verified once. */
__noinline int store_path(__u64 css_set, __u64 cgroup, __u64 turn)
{
	const struct zmem_ended_path_key key = {cgroup, turn};
	__u32 zero = 0, use = PATH_OF_ENDED;
	struct path_scratch *p = bpf_map_lookup_elem(&path_scratch, &use);
	struct ended_scratch *s = bpf_map_lookup_elem(&scratch, &zero);

	if (!p || !s || bpf_map_lookup_elem(&paths, &key))
		return 0;
	p->words = 0;
	p->walk.path = (struct zmem_oom_path){};
	read_path(css_set, PATH_OF_ENDED);
	s->path.path = p->walk.path;
	__builtin_memcpy(s->path.names, p->names, sizeof(s->path.names));
	bpf_map_update_elem(&paths, &key, &s->path, 0);
	return 0;
}

static __always_inline void raise(__u64 *most, __u64 value)
{
#ifdef ZMEM_OLD
	/* These kernels may lack a compare-and-swap. If two CPUs are here at once, one value
	 * counts.
	 */
	if (value > *(volatile __u64 *)most)
		*(volatile __u64 *)most = value;
#else
	for (int i = 0; i < 8; i++) {
		__u64 before = *(volatile __u64 *)most;

		if (value <= before || __sync_val_compare_and_swap(most, before, value) == before)
			return;
	}
#endif
}

static __always_inline void add_to(struct zmem_ended_sum *sum, __u64 peak)
{
	__sync_fetch_and_add(&sum->count, 1);
	raise(&sum->peak, peak);
}

/* The sum of the key, which is made if there is room; NULL: there is none. */
static __always_inline struct zmem_ended_sum *find_sum(const struct zmem_ended_key *key)
{
	const struct zmem_ended_sum none = {};
	struct zmem_ended_sum *sum = bpf_map_lookup_elem(&sums, key);

	if (sum)
		return sum;
	/* Another CPU may make it at the same time: BPF_NOEXIST. */
	bpf_map_update_elem(&sums, key, &none, 1);
	return bpf_map_lookup_elem(&sums, key);
}

/* Adds a process. Global: verified once. */
__noinline int add_ended(__u64 task_addr, __u64 peak)
{
	const struct task_struct *task = kcast(struct task_struct, task_addr);
	__u32 zero = 0, turn;
	const struct zmem_ended_settings *set = bpf_map_lookup_elem(&settings, &zero);
	struct zmem_ended_key key = {};
	struct zmem_ended_sum *sum;
	__u64 css_set = 0;

	if (!set)
		return 0;
	turn = set->turn & 1;
	if (peak >= set->least) {
		if (bpf_core_field_exists(struct task_struct, cgroups))
			css_set = kaddr(task, cgroups);
		key.cgroup = css_set ? cgroup_number(css_set) : 0;
		key.turn = turn;
		ktext(key.comm, kaddr(task, group_leader) + koffset(struct task_struct, comm), 2);
		text_terminate(key.comm, 2);
		sum = find_sum(&key);
		if (sum) {
			if (key.cgroup)
				store_path(css_set, key.cgroup, turn);
			add_to(sum, peak);
			return 0;
		}
	}
	sum = bpf_map_lookup_elem(&rest, &turn);
	if (sum)
		add_to(sum, peak);
	return 0;
}

/* The highest resident set of the mm, pages. 0: not known. */
static __always_inline __u64 peak_of(__u64 mm, struct rss_pages *pages)
{
	__u64 peak, now;

	__builtin_memset(pages, 0, sizeof(*pages));
	if (!read_rss(mm, pages))
		return 0;
	now = pages->count[ZMEM_RSS_FILE] + pages->count[ZMEM_RSS_ANON] +
	      pages->count[ZMEM_RSS_SHMEM];
	peak = kget(kcast(struct mm_struct, mm), hiwater_rss);
	return (__s64)now > 0 && now > peak ? now : peak;
}

static __always_inline int note_exit(__u64 *ctx)
{
	const struct pid_view view = reader_view();
	const struct task_struct *task, *leader;
	struct ended_scratch *s;
	__u64 mm, peak;
	__u32 zero = 0;

	/* The C type of the argument is bool or int. */
	if (!(__u8)ctx[1])
		return 0;
	s = bpf_map_lookup_elem(&scratch, &zero);
	if (!s)
		return 0;
	/* Storing and reloading turns a pointer that the verifier tracks into a number. */
	*(volatile __u64 *)&s->task = ctx[0];
	task = kcast(struct task_struct, *(volatile __u64 *)&s->task);
	mm = kaddr(task, mm);
	/* A kernel thread; or after vfork() the memory is that of the parent. */
	if (!mm || kaddr(task, vfork_done))
		return 0;
	leader = kget(task, group_leader);
	if (!pid_number(kget(leader, thread_pid), &view))
		return 0;
	peak = peak_of(mm, &s->pages);
	return peak ? add_ended((__u64)task, peak) : 0;
}

SEC("tp_btf/sched_process_exit")
int ended_tracepoint(__u64 *ctx)
{
	return note_exit(ctx);
}

SEC("fentry/taskstats_exit")
int ended_taskstats(__u64 *ctx)
{
	return note_exit(ctx);
}

/* Stores the namespaces of the caller, which name processes and cgroups. */
SEC("raw_tp")
int ended_setup(void *ctx)
{
	__u32 zero = 0;
	struct pid_view *view = bpf_map_lookup_elem(&stored_view, &zero);

	if (!view || !zmem_kread_works())
		return 1;
	*view = current_view();
	store_path(current_root(), 0, ZMEM_ENDED_TURNS);
	return 0;
}
