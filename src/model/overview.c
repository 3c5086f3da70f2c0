// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Makes the parts of a snapshot's counters or of a census. */
#include "model/overview.h"

#include "base/array.h"
#include "model/account.h"

const char *overview_part_name(enum overview_part part)
{
	static const char *const name[OVERVIEW_PARTS] = {
		[OVERVIEW_PROCESSES] = "processes", [OVERVIEW_REST] = "processes_rest",
		[OVERVIEW_SHMEM] = "shmem",	    [OVERVIEW_HUGE] = "huge",
		[OVERVIEW_KERNEL] = "kernel",	    [OVERVIEW_COMPRESSED] = "compressed",
		[OVERVIEW_OTHER] = "other",	    [OVERVIEW_CACHE] = "cache",
		[OVERVIEW_FREE] = "free",
	};

	return name[part];
}

const char *overview_part_title(const struct overview *o, enum overview_part part)
{
	/* The second one is said where PSS is not known; NULL: the same. */
	static const char *const title[OVERVIEW_PARTS][2] = {
		[OVERVIEW_PROCESSES] = {"processes (PSS)", "anonymous memory"},
		[OVERVIEW_REST] = {"processes (rest)"},
		[OVERVIEW_SHMEM] = {"shmem not in PSS", "shmem/tmpfs"},
		[OVERVIEW_HUGE] = {"huge pages"},
		[OVERVIEW_KERNEL] = {"kernel"},
		[OVERVIEW_COMPRESSED] = {"zram/zswap"},
		[OVERVIEW_OTHER] = {"drivers/unnamed"},
		[OVERVIEW_CACHE] = {"cache not in PSS", "page cache"},
		[OVERVIEW_FREE] = {"free"},
	};

	return title[part][!o->split && title[part][1]];
}

size_t overview_holders(const struct snapshot *s, enum counter c, size_t ret[OVERVIEW_HOLDERS])
{
	size_t count = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct process *p = &s->process[i];
		size_t at = count;

		if (p->kind != PROCESS_USER || !p->mm_owner || !process_has(p, c) || !p->value[c])
			continue;
		for (; at && s->process[ret[at - 1]].value[c] < p->value[c]; at--)
			if (at < OVERVIEW_HOLDERS)
				ret[at] = ret[at - 1];
		if (at < OVERVIEW_HOLDERS)
			ret[at] = i;
		count += count < OVERVIEW_HOLDERS;
	}
	return count;
}

/* Memory of processes by its kind, bytes. */
struct mapped {
	int64_t anon, file, shmem;
};

static bool is_absurd(int64_t residual, int64_t total)
{
	return residual > total || residual < -total;
}

/* The sum of PSS, from what the machine's counters leave of it (struct machine_balance). */
static bool find_pss(const struct snapshot *s, int64_t total, struct mapped *ret)
{
	const struct meminfo *m = &s->system.meminfo;
	const struct machine_balance *b = &s->balance;

	if (!b->residual_known || !b->shmem_not_in_pss_known ||
	    is_absurd(b->anon_residual, total) || is_absurd(b->mapped_residual, total))
		return false;
	ret->anon = (int64_t)m->value[MEMINFO_ANON] - b->anon_residual;
	ret->shmem = (int64_t)(m->value[MEMINFO_SHMEM] - b->shmem_not_in_pss);
	ret->file = (int64_t)m->value[MEMINFO_MAPPED] - b->mapped_residual - ret->shmem;
	return true;
}

#define MIB ((int64_t)1 << 20)

/*
 * The counters of the machine and the sum of PSS mostly differ by less than this. NR_ANON_MAPPED
 * and NR_FILE_MAPPED are kept per CPU and node (node_page_state(), mm/vmstat.c).
 */
static int64_t noise(const struct snapshot *s)
{
	return MIB + (int64_t)CPU_DRIFT * s->host.cpus * s->host.page_size;
}

/* What processes map and no PSS has. */
static void find_rest(const struct snapshot *s, const struct ram *ram, const struct mapped *pss,
		      struct mapped *ret)
{
	const struct machine_balance *b = &s->balance;
	uint64_t file, shmem, drivers;

	*ret = (struct mapped){.anon = b->anon_residual > noise(s) ? b->anon_residual : 0};
	if (b->mapped_residual <= noise(s))
		return;
	if (!ram || !ram_in_tables(ram, RAM_PAGE_CACHE, &file) ||
	    !ram_in_tables(ram, RAM_SHMEM, &shmem))
		return;
	drivers = ram->figure[RAM_DRIVER_MAPPED].known ? ram->figure[RAM_DRIVER_MAPPED].bytes : 0;
	ret->file = (int64_t)(file + drivers) - pss->file;
	ret->shmem = (int64_t)shmem - pss->shmem;
	if (ret->file < 0)
		ret->file = 0;
	if (ret->shmem < 0)
		ret->shmem = 0;
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

static int64_t from_census(const struct snapshot *s, const struct ram *ram,
			   int64_t part[OVERVIEW_PARTS])
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
		{RAM_DESCRIPTORS, OVERVIEW_KERNEL},
		{RAM_HUGETLB, OVERVIEW_HUGE},
		{RAM_ZRAM_ZSWAP, OVERVIEW_COMPRESSED},
		/* Processes map them, so that they are in PSS. */
		{RAM_DRIVER_MAPPED, OVERVIEW_CACHE},
	};

	for (size_t i = 0; i < ARRAY_SIZE(in); i++)
		part[in[i].part] += ram->figure[in[i].class].known
					    ? (int64_t)ram->figure[in[i].class].bytes
					    : 0;
	return meminfo_has(&s->system.meminfo, MEMINFO_TOTAL)
		       ? (int64_t)s->system.meminfo.value[MEMINFO_TOTAL]
		       : (int64_t)(ram->frames - ram_outside(ram, 0));
}

/* Moves what processes map to their parts. */
static void move_mapped(const struct mapped *pss, const struct mapped *rest,
			int64_t part[OVERVIEW_PARTS])
{
	part[OVERVIEW_PROCESSES] = pss->anon + pss->file + pss->shmem;
	part[OVERVIEW_REST] = rest->anon + rest->file + rest->shmem;
	part[OVERVIEW_SHMEM] -= pss->shmem + rest->shmem;
	part[OVERVIEW_CACHE] -= pss->file + rest->file;
}

/* Counters are not read at one moment, so a part may come out below 0: others have less then. */
static void move_negative_parts(int64_t total, int64_t part[OVERVIEW_PARTS])
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

void overview_make(const struct snapshot *s, const struct ram *ram, struct overview *ret)
{
	int64_t part[OVERVIEW_PARTS] = {}, total;
	struct mapped pss, rest;

	*ret = (struct overview){.counted = ram_is_counted(ram) && ram->known};
	total = ret->counted ? from_census(s, ram, part) : from_counters(s, part);
	ret->known = total >= 0;
	ret->total = ret->known ? (uint64_t)total : s->system.meminfo.value[MEMINFO_TOTAL];
	ret->sums_known = account_sums(&s->system, &ret->sums);
	if (!ret->known)
		return;
	ret->split = find_pss(s, total, &pss);
	if (ret->split) {
		find_rest(s, ret->counted ? ram : NULL, &pss, &rest);
		move_mapped(&pss, &rest, part);
	}
	move_negative_parts(total, part);
	for (int i = 0; i < OVERVIEW_PARTS; i++)
		ret->bytes[i] = (uint64_t)part[i];
	sort(ret);
}
