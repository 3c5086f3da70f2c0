// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Splits MemTotal into parts. A part that the kernel does not tell is absent. */
#include "model/account.h"

#include "base/array.h"

/* More than any machine has: sums of counters fit into an int64_t, and into numbers of JSON. */
#define COUNTER_MAX ((uint64_t)1 << 53)

struct split {
	const struct meminfo *m;
	struct account *a;
};

static void set(struct account *a, enum account_part part, int64_t value)
{
	a->value[part] = value;
	a->have |= UINT32_C(1) << part;
}

static bool counter(const struct split *s, enum meminfo_counter f, int64_t *ret)
{
	if (!meminfo_has(s->m, f) || s->m->value[f] >= COUNTER_MAX)
		return false;
	*ret = (int64_t)s->m->value[f];
	return true;
}

/* A value minus `less`, 0 if `less` is larger. */
static bool counter_less(const struct split *s, enum meminfo_counter f, enum meminfo_counter less,
			 int64_t *ret)
{
	int64_t v, l;

	if (!counter(s, f, &v))
		return false;
	if (counter(s, less, &l))
		v = v > l ? v - l : 0;
	*ret = v;
	return true;
}

static void copy(struct split *s, enum account_part part, enum meminfo_counter f)
{
	int64_t v;

	if (counter(s, f, &v))
		set(s->a, part, v);
}

/* Sets a part to the sum of the known parts from `first` to `last`, if any is known. */
static void sum(struct account *a, enum account_part part, int first, int last)
{
	int64_t v = 0;
	bool any = false;

	for (int i = first; i <= last; i++) {
		any |= account_has(a, (enum account_part)i);
		v += account_has(a, (enum account_part)i) ? a->value[i] : 0;
	}
	if (any)
		set(a, part, v);
}

static void compressed_swap(struct split *s, const struct system_info *system)
{
	int64_t v = 0, pool;
	bool known = counter(s, MEMINFO_ZSWAP_POOL, &pool);

	if (known)
		v += pool;
	for (size_t i = 0; i < system->zram_count; i++) {
		if (system->zram[i].stat.used >= COUNTER_MAX)
			continue;
		v += (int64_t)system->zram[i].stat.used;
		known = true;
	}
	if (known)
		set(s->a, ACCOUNT_COMPRESSED_SWAP, v);
}

static void other(struct split *s)
{
	static const enum meminfo_counter counters[] = {MEMINFO_BOUNCE, MEMINFO_WRITEBACK_TMP,
							MEMINFO_HARDWARE_CORRUPTED};
	int64_t v = 0, more;
	bool known = counter_less(s, MEMINFO_KERNEL_RECLAIMABLE, MEMINFO_SLAB_RECLAIMABLE, &v);

	for (size_t i = 0; i < ARRAY_SIZE(counters); i++) {
		if (!counter(s, counters[i], &more))
			continue;
		v += more;
		known = true;
	}
	if (known)
		set(s->a, ACCOUNT_OTHER, v);
}

static void kernel(struct split *s, const struct system_info *system)
{
	int64_t v;

	copy(s, ACCOUNT_SLAB_RECLAIMABLE, MEMINFO_SLAB_RECLAIMABLE);
	copy(s, ACCOUNT_SLAB_UNRECLAIMABLE, MEMINFO_SLAB_UNRECLAIMABLE);
	copy(s, ACCOUNT_PAGE_TABLES, MEMINFO_PAGE_TABLES);
	copy(s, ACCOUNT_SEC_PAGE_TABLES, MEMINFO_SEC_PAGE_TABLES);
	copy(s, ACCOUNT_STACKS, MEMINFO_KERNEL_STACK);
	if (counter_less(s, MEMINFO_VMALLOC_USED, MEMINFO_KERNEL_STACK, &v))
		set(s->a, ACCOUNT_VMALLOC, v);
	copy(s, ACCOUNT_PERCPU, MEMINFO_PERCPU);
	compressed_swap(s, system);
	copy(s, ACCOUNT_GPU_ACTIVE, MEMINFO_GPU_ACTIVE);
	copy(s, ACCOUNT_GPU_RECLAIM, MEMINFO_GPU_RECLAIM);
	other(s);
	sum(s->a, ACCOUNT_KERNEL, ACCOUNT_KERNEL + 1, ACCOUNT_OTHER);
}

/* Free pages on lists of CPUs. The two files are not read at one moment: no more than there is. */
static uint64_t listed(const struct system_info *system)
{
	const struct meminfo *m = &system->meminfo;
	uint64_t total = m->value[MEMINFO_TOTAL], free = m->value[MEMINFO_FREE];

	if (!system->free.known || !meminfo_has(m, MEMINFO_TOTAL) || free > total)
		return 0;
	return system->free.listed < total - free ? system->free.listed : total - free;
}

static void free_frames(struct split *s, const struct system_info *system)
{
	int64_t v;

	if (counter(s, MEMINFO_FREE, &v))
		set(s->a, ACCOUNT_FREE, v + (int64_t)listed(system));
}

static void cache(struct split *s)
{
	int64_t cached, buffers = 0;

	if (!counter_less(s, MEMINFO_CACHED, MEMINFO_SHMEM, &cached))
		return;
	counter(s, MEMINFO_BUFFERS, &buffers);
	set(s->a, ACCOUNT_CACHE, cached + buffers);
}

/* Set only if every part that can be large is known: an unknown part would seem unaccounted. */
static void unaccounted(struct account *a)
{
	static const enum account_part parts[] = {ACCOUNT_KERNEL, ACCOUNT_USER, ACCOUNT_CACHE,
						  ACCOUNT_HUGETLB, ACCOUNT_FREE};
	const uint32_t needed = 1u << ACCOUNT_TOTAL | 1u << ACCOUNT_KERNEL | 1u << ACCOUNT_ANON |
				1u << ACCOUNT_CACHE | 1u << ACCOUNT_FREE;
	int64_t left = a->value[ACCOUNT_TOTAL];

	if ((a->have & needed) != needed)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		left -= account_has(a, parts[i]) ? a->value[parts[i]] : 0;
	set(a, ACCOUNT_UNACCOUNTED, left);
}

void account_split(const struct system_info *system, struct account *ret)
{
	struct account a = {0};
	struct split s = {&system->meminfo, &a};

	copy(&s, ACCOUNT_TOTAL, MEMINFO_TOTAL);
	kernel(&s, system);
	copy(&s, ACCOUNT_ANON, MEMINFO_ANON);
	copy(&s, ACCOUNT_SHMEM, MEMINFO_SHMEM);
	sum(&a, ACCOUNT_USER, ACCOUNT_ANON, ACCOUNT_SHMEM);
	cache(&s);
	copy(&s, ACCOUNT_HUGETLB, MEMINFO_HUGETLB);
	free_frames(&s, system);
	unaccounted(&a);
	*ret = a;
}

bool account_sums(const struct system_info *system, struct account_sums *ret)
{
	const struct meminfo *m = &system->meminfo;
	uint64_t total = m->value[MEMINFO_TOTAL], available = m->value[MEMINFO_AVAILABLE],
		 mem_free = m->value[MEMINFO_FREE], free, freeable;

	if (!meminfo_has(m, MEMINFO_TOTAL) || !meminfo_has(m, MEMINFO_AVAILABLE) ||
	    !meminfo_has(m, MEMINFO_FREE) || mem_free > total || available > total)
		return false;
	free = mem_free + listed(system);
	/* The kernel cuts MemAvailable at 0: then nothing is known of the reserve. */
	if (available && system->free.known && system->free.reserve <= total)
		available += system->free.reserve;
	freeable = available > mem_free ? available - mem_free : 0;
	if (freeable > total - free)
		freeable = total - free;
	*ret = (struct account_sums){total - free - freeable, freeable, free};
	return true;
}

bool account_ratio(uint64_t larger, uint64_t smaller, uint64_t *ret_percent)
{
	uint64_t v;

	if (!smaller || __builtin_mul_overflow(larger, 100, &v))
		return false;
	*ret_percent = v / smaller;
	return true;
}
