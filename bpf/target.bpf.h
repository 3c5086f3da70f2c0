/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Exact changes of the resident counters of chosen address spaces, the targets.
 *
 * tp_btf/rss_stat fires after a counter has changed, and carries no difference. A counter is a
 * count and a part per CPU, which is added to the count when it is large, so that
 *   change = (part of this CPU now - at the last event here) + (count now - at the last event).
 * Both differences telescope: what one event misses is in a later one, or in a visit at the end.
 * A part of 0 is what adding it to the count leaves: only then the count is looked at, so that the
 * CPU that changed it takes the difference.
 *
 * Before it is included are defined: WATCH(settings), WATCH(target) and WATCH(cpu), the types of
 * the maps, and WATCH_TARGETS, their most; WATCH_PROCESS, a type that begins with the time when the
 * process was started, and WATCH_PROCESSES.
 */
#ifndef ZMEM_TARGET_BPF_H
#define ZMEM_TARGET_BPF_H

#ifndef ZMEM_PROBE_READS
#include "kfuncs.h"
#endif
#include "zmem/setup.h"
#include "kread.bpf.h"
#include "number.bpf.h"
#ifndef ZMEM_PROBE_READS
#include "percpu.bpf.h"
#endif
#define ZMEM_STORED_VIEW
#include "pid_view.bpf.h"

/* include/uapi/linux/bpf.h */
#define MAP_ANY 0

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, WATCH(settings));
} settings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WATCH_TARGETS);
	__type(key, __u32);
	__type(value, WATCH(target));
} targets SEC(".maps");

/* The number of the target of an address space. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WATCH_TARGETS);
	__type(key, __u64);
	__type(value, __u32);
} by_mm SEC(".maps");

/* Entry cpu * settings.targets + target; user space sets max_entries. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, WATCH(cpu));
} on_cpu SEC(".maps");

/* By tgid. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WATCH_PROCESSES);
	__type(key, __u32);
	__type(value, WATCH_PROCESS);
} processes SEC(".maps");

static __always_inline WATCH(settings) * get_settings(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&settings, &zero);
}

static __always_inline WATCH(target) * find_target(__u64 mm, __u32 *ret_number)
{
	const __u32 *number = bpf_map_lookup_elem(&by_mm, &mm);

	if (!number)
		return NULL;
	*ret_number = *number;
	return bpf_map_lookup_elem(&targets, ret_number);
}

static __always_inline WATCH(cpu) * find_cpu(const WATCH(settings) * s, __u32 cpu, __u32 number)
{
	__u32 at = cpu * s->targets + number;

	return number < s->targets ? bpf_map_lookup_elem(&on_cpu, &at) : NULL;
}

static __always_inline __u64 leader_of(__u64 task)
{
	return kaddr(kcast(struct task_struct, task), group_leader);
}

/* The process, if it is one of ours; `leader` is that of its threads. */
static __always_inline WATCH_PROCESS *find_process(__u64 leader)
{
	const struct task_struct *task = kcast(struct task_struct, leader);
	__u32 tgid = kget(task, tgid);
	WATCH_PROCESS *p = bpf_map_lookup_elem(&processes, &tgid);

	return p && p->start == kget(task, start_boottime) ? p : NULL;
}

static __always_inline __u32 users_of(__u64 mm)
{
	return kget(kcast(struct mm_struct, mm), mm_users.counter);
}

/* ---- a counter ---- */

static __always_inline __s64 update_part(__s32 *last, __s32 now, __u32 member)
{
	return now - (__s32)__sync_lock_test_and_set(&last[bounded(member)], now);
}

#ifdef ZMEM_PROBE_READS

static __always_inline __s64 read_count(__u64 mm, __u32 member)
{
	return (__s64)kread64(mm + koffset(struct mm_struct___pre62, rss_stat.count) + member * 8);
}

#else

static __always_inline __u64 counter_of(__u64 mm, __u32 member)
{
	/* Another type of rss_stat lacks the count: the object does not load. */
	return mm + koffset(struct mm_struct, rss_stat[0].count) -
	       koffset(struct percpu_counter, count) +
	       member * (__u64)bpf_core_type_size(struct percpu_counter);
}

static __always_inline __s64 read_count(__u64 mm, __u32 member)
{
	return (__s64)kread64(counter_of(mm, member) + koffset(struct percpu_counter, count));
}

static __always_inline __s32 read_part(const WATCH(target) * t, __u64 offset, __u32 member)
{
	__u64 parts = t->counters[bounded(member)];

	return parts && offset ? (__s32)kread32(parts + offset) : 0;
}

#endif

static __always_inline __s64 update_count(WATCH(target) * t, __u64 mm, __u32 member)
{
	__s64 count = read_count(mm, member);

	return count - (__s64)__sync_lock_test_and_set(&t->last_count[bounded(member)], count);
}

#ifndef ZMEM_PROBE_READS
/* The change that an event tells of. *ret_folded: the part of this CPU became 0. */
static __always_inline __s64 consume_change(const WATCH(settings) * s, WATCH(target) * t,
					    __u32 number, __u64 mm, __u32 member, bool *ret_folded)
{
	__u32 cpu = bpf_get_smp_processor_id();
	const __u64 *offset = bpf_map_lookup_elem(&cpu_offset, &cpu);
	WATCH(cpu) *c = find_cpu(s, cpu, number);
	__s32 now = 0;
	__s64 pages = 0;

	if (offset && c) {
		now = read_part(t, *offset, member);
		pages = update_part(c->last, now, member);
	}
	*ret_folded = !now;
	return now ? pages : pages + update_count(t, mm, member);
}
#endif

/* The parts of all CPUs. */
struct reading {
	WATCH(target) * t;
	const WATCH(settings) * s;
	__s64 pages[ZMEM_RSS_COUNT]; /* changes that no event took */
	__s64 sum[ZMEM_RSS_COUNT];
	__u32 number;
	bool keep; /* these changes are left to events */
};

#ifndef ZMEM_PROBE_READS
static long read_cpu(__u32 cpu, struct reading *r)
{
	const __u64 *offset = bpf_map_lookup_elem(&cpu_offset, &cpu);
	WATCH(cpu) *c = find_cpu(r->s, cpu, r->number);

	if (!offset || !c)
		return 1;
	for (int i = 0; i < ZMEM_RSS_COUNT; i++) {
		__s32 now = read_part(r->t, *offset, i);

		r->sum[i] += now;
		if (!r->keep)
			r->pages[i] += update_part(c->last, now, i);
	}
	return 0;
}
#endif

/* ---- targets ---- */

struct claim {
	__u64 mm;
	__u32 number;
};

static long claim_target(__u32 index, struct claim *c)
{
	WATCH(target) *t = bpf_map_lookup_elem(&targets, &index);

	if (!t)
		return 1;
	if (t->mm || __sync_val_compare_and_swap(&t->mm, 0, c->mm))
		return 0;
	c->number = index;
	return 1;
}

/* Takes a free number for an address space; NULL and WATCH_TARGETS if there is none. */
static __always_inline WATCH(target) * claim(const WATCH(settings) * s, __u64 mm, __u32 *ret_number)
{
	struct claim c = {.mm = mm, .number = WATCH_TARGETS};
	WATCH(target) * t;

	bpf_loop(s->targets, claim_target, &c, 0);
	*ret_number = c.number;
	t = bpf_map_lookup_elem(&targets, &c.number);
#ifndef ZMEM_PROBE_READS
	for (int i = 0; t && i < ZMEM_RSS_COUNT; i++) {
		t->counters[i] = 0;
		if (bpf_core_field_exists(struct percpu_counter, counters))
			t->counters[i] = kread64(counter_of(mm, i) +
						 koffset(struct percpu_counter, counters));
	}
#endif
	return t;
}

#endif
