/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Computes exact sums of per-CPU counters.
 *
 * percpu_counter.count alone may be off by (batch − 1) · CPUs. The rest is in one s32 per CPU, at
 * `counters` + the offset of that CPU. The offsets are found without symbols: struct bpf_array
 * holds the per-CPU base pointer of a one-slot per-CPU map of our own, and
 * bpf_map_lookup_percpu_elem() returns the address of its slot on each CPU. The difference is the
 * offset, which is the same for every per-CPU object.
 *
 * User space runs cpu_offset_setup once for every possible CPU before the first read. (The kernel
 * folds the counters of dead CPUs into count, and impossible CPUs have no valid offset.) Afterwards
 * the table is only read.
 */
#ifndef ZMEM_PERCPU_BPF_H
#define ZMEM_PERCPU_BPF_H

#include "zmem/record.h"
#include "zmem/setup.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} cpu_anchor SEC(".maps");

#define CPUS_MAX 8192 /* the largest NR_CPUS */

/* The offset of each possible CPU; user space sets max_entries. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} cpu_offset SEC(".maps");

/*
 * Fills one entry of cpu_offset. Returns 0; 1 for a bad index or an unknown layout; 2 if the kernel
 * has no such CPU.
 */
SEC("syscall")
int cpu_offset_setup(struct zmem_cpu_setup *args)
{
	__u32 zero = 0, index = args->index;
	volatile __u64 *entry = bpf_map_lookup_elem(&cpu_offset, &index);
	__u64 slot, base;

	if (!entry || !zmem_kread_works())
		return 1;
	/* Storing and reloading turns the pointers that the verifier tracks into numbers. */
	*entry = (__u64)bpf_map_lookup_percpu_elem(&cpu_anchor, &zero, args->cpu);
	slot = *entry;
	*entry = (__u64)&cpu_anchor;
	base = kread64(*entry + koffset(struct bpf_array, pptrs));
	if (!slot || !base)
		return 2;
	*entry = slot - base;
	return 0;
}

struct percpu_sum {
	__u64 counters[ZMEM_RSS_COUNT]; /* per-CPU pointers, 0 if there are none */
	__s64 *sum;
};

static long percpu_sum_cpu(__u32 index, struct percpu_sum *s)
{
	const __u64 *offset = bpf_map_lookup_elem(&cpu_offset, &index);

	if (!offset)
		return 1;
	for (int i = 0; i < ZMEM_RSS_COUNT; i++)
		s->sum[i] += (__s32)kread_raw(__u32, s->counters[i] + *offset);
	return 0;
}

/* Sums each counter of the array of four struct percpu_counter at `addr`; a sum below 0 is 0. */
static __always_inline void percpu_sum_rss(__u64 addr, __s64 *ret_pages)
{
	struct percpu_sum s = {.sum = ret_pages};

	for (int i = 0; i < ZMEM_RSS_COUNT; i++) {
		const struct percpu_counter *counter =
			kcast(struct percpu_counter,
			      addr + i * (__u64)bpf_core_type_size(struct percpu_counter));

		ret_pages[i] = kget(counter, count);
		s.counters[i] = 0;
		if (bpf_core_field_exists(struct percpu_counter, counters))
			s.counters[i] = (__u64)kget(counter, counters);
	}
	/* The kernel allocates the four together (percpu_counter_init_many): all or none exist. */
	if (s.counters[0])
		bpf_loop(CPUS_MAX, percpu_sum_cpu, &s, 0); /* until the table ends */
	for (int i = 0; i < ZMEM_RSS_COUNT; i++)
		ret_pages[i] = ret_pages[i] < 0 ? 0 : ret_pages[i];
}

#endif
