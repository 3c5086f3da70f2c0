// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Makes the parts of a snapshot's counters or of a census. */
#include "model/overview.h"

#include "base/array.h"
#include "model/account.h"

const char *overview_part_name(enum overview_part part)
{
	static const char *const name[OVERVIEW_PARTS] = {
		[OVERVIEW_PROCESSES] = "processes",
		[OVERVIEW_SHMEM] = "shmem",
		[OVERVIEW_HUGE] = "huge",
		[OVERVIEW_KERNEL] = "kernel",
		[OVERVIEW_COMPRESSED] = "compressed",
		[OVERVIEW_BALLOON] = "balloon",
		[OVERVIEW_RESERVED] = "reserved",
		[OVERVIEW_OTHER] = "other",
		[OVERVIEW_CACHE] = "cache",
		[OVERVIEW_FREE] = "free",
	};

	return name[part];
}

/* The PSS of all processes, bytes. */
struct mapped {
	int64_t anon, file, shmem;
};

/* If more of RAM is mapped by processes that we do not see, the sum of PSS is not that of all. */
#define UNSEEN_PART 64

/* From what the machine's counters leave of it (struct machine_balance). */
static bool find_mapped(const struct snapshot *s, int64_t total, struct mapped *ret)
{
	const struct meminfo *m = &s->system.meminfo;
	const struct machine_balance *b = &s->balance;
	int64_t most = total / UNSEEN_PART;

	if (!b->residual_known || !b->shmem_unmapped_known || b->anon_residual > most ||
	    b->mapped_residual > most)
		return false;
	ret->anon = (int64_t)m->value[MEMINFO_ANON] - b->anon_residual;
	ret->shmem = (int64_t)(m->value[MEMINFO_SHMEM] - b->shmem_unmapped);
	ret->file = (int64_t)m->value[MEMINFO_MAPPED] - b->mapped_residual - ret->shmem;
	return true;
}

static int64_t part_of(const struct account *a, enum account_part part)
{
	return account_has(a, part) ? a->value[part] : 0;
}

/* Returns the sum, or -1: it is not known. */
static int64_t from_counters(const struct snapshot *s, int64_t part[OVERVIEW_PARTS])
{
	struct account a;

	account_split(&s->system, &a);
	if (!account_has(&a, ACCOUNT_UNACCOUNTED))
		return -1;
	part[OVERVIEW_PROCESSES] = part_of(&a, ACCOUNT_ANON);
	part[OVERVIEW_SHMEM] = part_of(&a, ACCOUNT_SHMEM);
	part[OVERVIEW_HUGE] = part_of(&a, ACCOUNT_HUGETLB);
	part[OVERVIEW_COMPRESSED] = part_of(&a, ACCOUNT_COMPRESSED_SWAP);
	part[OVERVIEW_KERNEL] = part_of(&a, ACCOUNT_KERNEL) - part[OVERVIEW_COMPRESSED];
	part[OVERVIEW_CACHE] = part_of(&a, ACCOUNT_CACHE);
	part[OVERVIEW_FREE] = part_of(&a, ACCOUNT_FREE);
	return part_of(&a, ACCOUNT_TOTAL);
}

static int64_t from_census(const struct ram *ram, int64_t part[OVERVIEW_PARTS])
{
	/* What is in none of these is the rest. */
	static const struct {
		enum ram_class class;
		enum overview_part part;
	} in[] = {
		{RAM_FREE, OVERVIEW_FREE},
		{RAM_ANON, OVERVIEW_PROCESSES},
		{RAM_PAGE_CACHE, OVERVIEW_CACHE},
		{RAM_SHMEM, OVERVIEW_SHMEM},
		{RAM_SLAB, OVERVIEW_KERNEL},
		{RAM_LARGE_KMALLOC, OVERVIEW_KERNEL},
		{RAM_PAGE_TABLES, OVERVIEW_KERNEL},
		{RAM_KERNEL_STACKS, OVERVIEW_KERNEL},
		{RAM_VMALLOC, OVERVIEW_KERNEL},
		{RAM_PERCPU, OVERVIEW_KERNEL},
		{RAM_HUGETLB, OVERVIEW_HUGE},
		{RAM_ZRAM_ZSWAP, OVERVIEW_COMPRESSED},
		{RAM_BALLOON, OVERVIEW_BALLOON},
		{RAM_RESERVED, OVERVIEW_RESERVED},
		/* Processes map them, so that they are in PSS. */
		{RAM_DRIVER_MAPPED, OVERVIEW_CACHE},
	};

	for (size_t i = 0; i < ARRAY_SIZE(in); i++)
		part[in[i].part] += ram->figure[in[i].class].known
					    ? (int64_t)ram->figure[in[i].class].bytes
					    : 0;
	return (int64_t)ram->frames;
}

/* Moves what processes map to their part. */
static void move_mapped(const struct mapped *mapped, int64_t part[OVERVIEW_PARTS])
{
	part[OVERVIEW_PROCESSES] = mapped->anon + mapped->file + mapped->shmem;
	part[OVERVIEW_SHMEM] -= mapped->shmem;
	part[OVERVIEW_CACHE] -= mapped->file;
}

/* Counters are not read at one moment, so a part may come out below 0: others have less then. */
static void settle(int64_t total, int64_t part[OVERVIEW_PARTS])
{
	int64_t rest = total;

	for (int i = 0; i < OVERVIEW_PARTS; i++) {
		if (part[i] < 0)
			part[i] = 0;
		rest -= part[i];
	}
	part[OVERVIEW_OTHER] += rest;
	for (int i = OVERVIEW_PARTS - 1; i >= 0 && part[OVERVIEW_OTHER] < 0; i--) {
		int64_t take = part[i] < -part[OVERVIEW_OTHER] ? part[i] : -part[OVERVIEW_OTHER];

		if (i == OVERVIEW_OTHER)
			continue;
		part[i] -= take;
		part[OVERVIEW_OTHER] += take;
	}
}

static void sort(struct overview *o)
{
	for (int i = 0; i < OVERVIEW_PARTS; i++) {
		size_t at = o->parts;

		if (!o->bytes[i])
			continue;
		for (; at && o->bytes[i] > o->bytes[o->order[at - 1]]; at--)
			o->order[at] = o->order[at - 1];
		o->order[at] = (enum overview_part)i;
		o->parts++;
	}
}

static void set_available(const struct meminfo *m, struct overview *o)
{
	uint64_t available = m->value[MEMINFO_AVAILABLE];

	o->free = o->known ? o->bytes[OVERVIEW_FREE] : m->value[MEMINFO_FREE];
	if (!meminfo_has(m, MEMINFO_AVAILABLE) || available > o->total || o->free > o->total ||
	    !(o->known || meminfo_has(m, MEMINFO_FREE)))
		return;
	o->available_known = true;
	/* Less is available than free where the kernel keeps more than it can free. */
	o->freeable = available > o->free ? available - o->free : 0;
	o->used = o->total - o->free - o->freeable;
}

void overview_make(const struct snapshot *s, const struct ram *ram, struct overview *ret)
{
	int64_t part[OVERVIEW_PARTS] = {}, total;
	struct mapped mapped;

	*ret = (struct overview){.counted = ram_is_counted(ram) && ram->known};
	total = ret->counted ? from_census(ram, part) : from_counters(s, part);
	ret->known = total >= 0;
	ret->total = ret->known ? (uint64_t)total : s->system.meminfo.value[MEMINFO_TOTAL];
	if (!ret->known) {
		set_available(&s->system.meminfo, ret);
		return;
	}
	ret->split = find_mapped(s, total, &mapped);
	if (ret->split)
		move_mapped(&mapped, part);
	settle(total, part);
	for (int i = 0; i < OVERVIEW_PARTS; i++)
		ret->bytes[i] = (uint64_t)part[i];
	sort(ret);
	set_available(&s->system.meminfo, ret);
}
