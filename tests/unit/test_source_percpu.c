// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * bpf/percpu.bpf.h on memory of the test, for layouts that the kernels under test lack: missing
 * per-CPU parts (no pointer, no member), gaps in the CPU numbers, negative sums.
 */
#include "unit.h"

#include <linux/bpf.h>

#include "zmem/record.h"
#include "zmem/setup.h"

/* ---- replacements for the kernel and kread.bpf.h ---- */

/* Longer than the part that is read, as in the kernel. */
struct percpu_counter {
	long long pad[2];
	long long count;
	long long more[3];
	int *counters;
};

/* The map's own struct stands for it: its last member is the per-CPU base. */
struct bpf_array {
	uint64_t pad[3];
	uint64_t pptrs[1];
};

#define CPUS 64

static bool has_counters; /* the kernel's struct has the member */
static uint64_t table[CPUS];
static unsigned table_size;
static uint64_t slot[CPUS]; /* the anchor's, of each CPU; 0: no such CPU */

#define SEC(name)
#define __uint(name, val)	    int(*name)[val]
#define __type(name, val)	    val *name
#define kcast(type, addr)	    ((const type *)(uintptr_t)(addr))
#define kget(p, member)		    ((p)->member)
#define koffset(type, member)	    offsetof(type, member)
#define bpf_core_type_size(type)    sizeof(type)
#define bpf_core_field_exists(t, m) has_counters
#define kread_raw(type, addr)	    (*(const type *)(uintptr_t)(addr))
#define zmem_kread_works()	    true

static uint64_t kread64(uint64_t addr)
{
	uint64_t v;

	memcpy(&v, (const void *)(uintptr_t)addr, sizeof(v));
	return v;
}

static void *lookup(uint32_t index)
{
	return index < table_size ? &table[index] : NULL;
}

static void *lookup_percpu(uint32_t cpu)
{
	return cpu < CPUS && slot[cpu] ? (void *)(uintptr_t)slot[cpu] : NULL;
}

#define bpf_map_lookup_elem(map, key)		  lookup(*(key))
#define bpf_map_lookup_percpu_elem(map, key, cpu) ((void)(key), lookup_percpu(cpu))
#define bpf_loop(count, fn, arg, flags)                                                            \
	do {                                                                                       \
		for (uint32_t i_ = 0; i_ < (count) && !fn(i_, arg); i_++)                          \
			;                                                                          \
	} while (0)

#include "../../bpf/percpu.bpf.h"

/* ---- a machine ---- */

#define BASE 0x1000

/* The parts of CPU c of the four counters are part[c]. */
static int part[CPUS][ZMEM_RSS_COUNT];
static struct percpu_counter counters[ZMEM_RSS_COUNT];

/* Makes these CPUs possible. */
static void machine(const unsigned *cpu, unsigned count)
{
	const uint64_t base = BASE;

	memset(part, 0, sizeof(part));
	memset(slot, 0, sizeof(slot));
	memset(counters, 0, sizeof(counters));
	memcpy((char *)&cpu_anchor + offsetof(struct bpf_array, pptrs), &base, sizeof(base));
	has_counters = true;
	table_size = count;
	for (unsigned i = 0; i < count; i++)
		slot[cpu[i]] = BASE + cpu[i] * sizeof(part[0]);
	for (unsigned i = 0; i < count; i++) {
		struct zmem_cpu_setup args = {.index = i, .cpu = cpu[i]};

		assert_int_equal(cpu_offset_setup(&args), 0);
	}
	for (int i = 0; i < ZMEM_RSS_COUNT; i++)
		counters[i].counters = &part[0][i];
}

static void check(__s64 first, __s64 second, __s64 third, __s64 fourth)
{
	__s64 want[ZMEM_RSS_COUNT] = {first, second, third, fourth}, pages[ZMEM_RSS_COUNT];

	percpu_sum_rss((uintptr_t)counters, pages);
	for (int i = 0; i < ZMEM_RSS_COUNT; i++)
		assert_int_equal(pages[i], want[i]);
}

TEST(all_parts)
{
	static const unsigned cpu[] = {0, 1, 2, 3};

	machine(cpu, 4);
	for (int i = 0; i < ZMEM_RSS_COUNT; i++) {
		counters[i].count = 1000 * (i + 1);
		for (int c = 0; c < 4; c++)
			part[c][i] = c * 10 - 7;
		part[4][i] = 1 << 20; /* belongs to no CPU */
	}
	check(1032, 2032, 3032, 4032); /* 60 - 28 are of the CPUs */
}

/* With gaps in the numbers, only parts of possible CPUs are added. */
TEST(sparse)
{
	static const unsigned cpu[] = {0, 5, 63};
	struct zmem_cpu_setup none = {.index = 1, .cpu = 7}, beyond = {.index = 3, .cpu = 5};

	machine(cpu, 3);
	for (int c = 0; c < CPUS; c++)
		part[c][0] = c == 0 || c == 5 || c == 63 ? c + 1 : 1000;
	check(1 + 6 + 64, 0, 0, 0);
	/* A CPU that the kernel lacks, and an index past the table. */
	assert_int_equal(cpu_offset_setup(&none), 2);
	assert_int_equal(cpu_offset_setup(&beyond), 1);
}

/* No per-CPU parts: one CPU, or a kernel that gives single-threaded processes none. */
TEST(no_parts)
{
	static const unsigned cpu[] = {0, 1};

	machine(cpu, 2);
	for (int i = 0; i < ZMEM_RSS_COUNT; i++) {
		counters[i].count = 5 + i;
		counters[i].counters = NULL;
	}
	check(5, 6, 7, 8);
	/* Without the member, the bytes in its place are not read. */
	has_counters = false;
	for (int i = 0; i < ZMEM_RSS_COUNT; i++)
		counters[i].counters = (int *)8;
	check(5, 6, 7, 8);
}

/* A sum read while counts move between CPUs may be negative: the result is 0, not 2^64. */
TEST(negative)
{
	static const unsigned cpu[] = {0, 1};

	machine(cpu, 2);
	counters[0].count = 10;
	part[0][0] = -30;
	counters[1].count = -5;
	part[1][1] = 6;
	part[0][2] = INT32_MAX;
	part[1][2] = INT32_MAX;
	check(0, 1, 2ll * INT32_MAX, 0);
}
