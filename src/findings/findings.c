// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "findings/findings.h"

#include <string.h>

#include "base/array.h"
#include "model/memcg.h"
#include "model/ram.h"

struct search {
	const struct snapshot *s;
	const struct system_info *system;
	const struct meminfo *m;
	const struct result *rows; /* NULL: none */
	uint64_t total;		   /* all RAM, bytes */
	struct findings *to;
};

static void know(struct search *x, enum finding_key key)
{
	x->to->known |= UINT64_C(1) << key;
}

static bool comes_before(const struct finding *a, const struct finding *b)
{
	if (a->level != b->level)
		return a->level < b->level;
	/* What has no size, such as kills, is not small. */
	if (a->bytes_known != b->bytes_known)
		return !a->bytes_known;
	return a->bytes > b->bytes;
}

/* Keeps those that come first. */
static void add(struct search *x, struct finding f)
{
	struct findings *to = x->to;
	size_t at = to->count;

	to->subjects[f.key][f.level]++;
	while (at && comes_before(&f, &to->item[at - 1]))
		at--;
	if (at == FINDINGS_MAX)
		return;
	to->count += to->count < FINDINGS_MAX;
	memmove(&to->item[at + 1], &to->item[at], (to->count - at - 1) * sizeof(f));
	to->item[at] = f;
}

/* A value of meminfo; 0: it has none. */
static uint64_t value_of(const struct search *x, enum meminfo_counter c)
{
	return meminfo_has(x->m, c) ? x->m->value[c] : 0;
}

static bool is_part(const struct search *x, uint64_t bytes, unsigned part)
{
	return bytes && bytes >= x->total / part;
}

static uint64_t percent_of(uint64_t whole, unsigned percent)
{
	return whole / 100 * percent + whole % 100 * percent / 100;
}

/* Of a process without a name, as in tables, "-". */
static const char *name_of(const struct process *p)
{
	const char *name = p->name ? p->name : p->comm;

	return *name ? name : "-";
}

/* ---- cgroups ---- */

static const struct memcg *memcg_above(const struct snapshot *s, const struct memcg *m)
{
	struct text_part path = part_of(m->path);

	/* In a container it may have a limit. */
	if (path.len <= 1)
		return NULL;
	while (path.len && path.s[path.len - 1] != '/')
		path.len--;
	path.len -= path.len > 1;
	return path.len ? memcg_find(s->memcg, s->memcg_count, path) : NULL;
}

/* A limit is the lowest of those above it: whether it is the cgroup's own. */
static bool is_own(bool known, uint64_t limit, bool above_known, uint64_t above)
{
	return known && limit && !(above_known && above <= limit);
}

struct held {
	const struct memcg *m;
	enum memcg_strain strain;
	struct charges charges;
	uint64_t limit, high; /* its own; 0: none */
	uint64_t memsw; /* likewise of memory and swap (cgroup v1), of which `charged` are used */
	uint64_t charged;
};

static uint64_t left_of(uint64_t limit, uint64_t used)
{
	return limit > used ? limit - used : 0;
}

/* Whether its limit of memory and swap has less room than that of memory. */
static bool memsw_is_nearer(const struct held *h)
{
	return h->memsw &&
	       !(h->limit && left_of(h->limit, h->m->current) <= left_of(h->memsw, h->charged));
}

static struct held look_at_memcg(const struct search *x, const struct memcg *m)
{
	const struct memcg *above = memcg_above(x->s, m);
	struct held h = {.m = m};
	uint32_t degree;

	if (is_own(m->limit_known, m->limit, above && above->limit_known, above ? above->limit : 0))
		h.limit = m->limit;
	if (memcg_has(m, COUNTER_MEM_HIGH) &&
	    is_own(true, memcg_detail(m, COUNTER_MEM_HIGH),
		   above && memcg_has(above, COUNTER_MEM_HIGH),
		   above ? memcg_detail(above, COUNTER_MEM_HIGH) : 0))
		h.high = memcg_detail(m, COUNTER_MEM_HIGH);
	/* A limit above all RAM is none. */
	if (h.limit > x->total)
		h.limit = 0;
	if (!memcg_memsw(m, above, &h.memsw, &h.charged) ||
	    h.memsw > x->total + x->system->meminfo.value[MEMINFO_SWAP_TOTAL])
		h.memsw = h.charged = 0;
	memcg_charges(m, &h.charges);
	h.strain = memcg_strain(&h.charges, x->s->host.page_size, &degree);
	return h;
}

static struct finding of_memcg(const struct search *x, const struct held *h, enum finding_key key,
			       enum finding_level level, uint64_t limit)
{
	struct finding f = {.key = key,
			    .level = level,
			    .bytes_known = true,
			    .bytes = h->m->current,
			    .of = limit,
			    .waited_known = charges_have(&h->charges, COUNTER_PSI_SOME_10)};

	f.cgroup = h->m->path;
	f.kind = cgroup_owner(x->s, f.cgroup, &f.name);
	if (f.waited_known)
		f.waited = (uint32_t)charge_value(&h->charges, COUNTER_PSI_SOME_10);
	if (h->strain == STRAIN_THRASHES)
		f.in = charge_value(&h->charges, COUNTER_REFAULTS_S) * x->s->host.page_size;
	return f;
}

/* Of its limit of memory, or of that of memory and swap. */
static struct finding of_limit(const struct search *x, const struct held *h, enum finding_key key,
			       enum finding_level level, bool memsw)
{
	struct finding f = of_memcg(x, h, key, level, memsw ? h->memsw : h->limit);

	f.memsw = memsw;
	if (memsw)
		f.bytes = h->charged;
	return f;
}

static void find_at_limit(struct search *x, const struct held *h)
{
	const struct memcg *m = h->m;
	const bool at_memsw = memsw_is_nearer(h) && h->charged >= h->memsw - h->memsw / 8;
	const bool at_limit = h->limit && m->current >= h->limit - h->limit / 8;

	/* A cgroup counts how often those below it were above theirs, too. */
	const bool at_high = h->high && m->current >= h->high - h->high / 64;

	if (h->strain == STRAIN_THROTTLED && at_high)
		add(x, of_memcg(x, h, FINDING_CGROUP_HIGH, FINDING_CRITICAL, h->high));
	else if ((h->strain == STRAIN_THRASHES || h->strain == STRAIN_WAITS) &&
		 (at_limit || at_memsw) && m->max_known && m->max)
		add(x, of_limit(x, h, FINDING_CGROUP_LIMIT, FINDING_CRITICAL, at_memsw));
}

static void find_full_memcg(struct search *x, const struct held *h)
{
	const struct memcg *m = h->m;
	const bool memsw = memsw_is_nearer(h);
	struct finding f;
	uint64_t kept;

	if (!memcg_has(m, COUNTER_MEM_ANON) || !memcg_has(m, COUNTER_MEM_SHMEM) ||
	    (!h->limit && !memsw))
		return;
	kept = memcg_detail(m, COUNTER_MEM_ANON) + memcg_detail(m, COUNTER_MEM_SHMEM);
	/* What is swapped out cannot leave this limit either. */
	if (memsw && memcg_has(m, COUNTER_MEM_SWAP))
		kept += memcg_detail(m, COUNTER_MEM_SWAP);
	if (kept < percent_of(memsw ? h->memsw : h->limit, 95))
		return;
	f = of_limit(x, h, FINDING_CGROUP_FULL, FINDING_WARNING, memsw);
	f.bytes = kept;
	add(x, f);
}

/* Without cgroups: whether the kernel's side looked at those of all processes, and none is near. */
static bool none_is_near(const struct snapshot *s)
{
	size_t users = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct process *p = &s->process[i];

		if (p->kind != PROCESS_USER)
			continue;
		if (!p->limit_known || p->near_limit)
			return false;
		users++;
	}
	return users;
}

static void find_memcgs(struct search *x)
{
	const struct snapshot *s = x->s;
	bool strain_known = true;

	/* A recording of some processes has their cgroups alone. */
	if (s->selection || (!s->memcg_count && !none_is_near(s)))
		return;
	know(x, FINDING_CGROUP_FULL);
	for (size_t i = 0; i < s->memcg_count; i++) {
		struct held h;
		uint32_t before;

		if (!memcg_is_near(&s->memcg[i]))
			continue;
		h = look_at_memcg(x, &s->memcg[i]);
		strain_known &= h.strain != STRAIN_UNKNOWN;
		before = x->to->subjects[FINDING_CGROUP_LIMIT][FINDING_CRITICAL] +
			 x->to->subjects[FINDING_CGROUP_HIGH][FINDING_CRITICAL];
		find_at_limit(x, &h);
		/* One sentence for one cgroup. */
		if (before == x->to->subjects[FINDING_CGROUP_LIMIT][FINDING_CRITICAL] +
				      x->to->subjects[FINDING_CGROUP_HIGH][FINDING_CRITICAL])
			find_full_memcg(x, &h);
	}
	/* What was found is known, although another cgroup may have more. */
	if (strain_known || x->to->subjects[FINDING_CGROUP_LIMIT][FINDING_CRITICAL])
		know(x, FINDING_CGROUP_LIMIT);
	if (strain_known || x->to->subjects[FINDING_CGROUP_HIGH][FINDING_CRITICAL])
		know(x, FINDING_CGROUP_HIGH);
}

/* ---- the machine ---- */

static bool waits(const struct search *x, uint32_t least)
{
	return x->system->pressure.known && x->system->pressure.some_avg10 >= least;
}

static void set_waited(const struct search *x, struct finding *f)
{
	f->waited_known = x->system->pressure.known;
	f->waited = x->system->pressure.some_avg10;
}

/* Without rates: whether tasks hardly wait, so that memory is neither read back nor swapped in. */
static bool is_at_ease(const struct search *x)
{
	return x->system->pressure.known && !waits(x, 100);
}

/* In a second, a part of RAM; a slow disk reads no more than so many bytes. */
#define READ_BACK_LEAST 4096
#define READ_BACK_MOST	(32 << 20)

/* Without PSI, tasks are known to wait by a sixteenth of RAM that is read back. */
static void find_thrashing(struct search *x)
{
	const struct machine_rates *r = &x->system->rates;
	struct finding f = {.key = FINDING_THRASHING,
			    .level = FINDING_CRITICAL,
			    .bytes_known = true,
			    .bytes = x->total,
			    .in = r->refaulted};

	if (!r->known && !is_at_ease(x))
		return;
	know(x, FINDING_THRASHING);
	if (!r->scanned ||
	    (!is_part(x, r->refaulted, READ_BACK_LEAST) && r->refaulted < READ_BACK_MOST))
		return;
	set_waited(x, &f);
	if (x->system->pressure.known ? waits(x, 1000) : is_part(x, r->refaulted, 16))
		add(x, f);
}

/* The row of the process that reads most from swap. NULL: it is not known. */
static const struct row *find_swapper(const struct search *x)
{
	const struct row *most = NULL;

	for (size_t i = 0; x->rows && i < x->rows->row_count; i++) {
		const struct row *row = &x->rows->rows[i];

		if (row->process->kind == PROCESS_USER && row->swapin_known && row->swapin &&
		    (!most || row->swapin > most->swapin))
			most = row;
	}
	return most;
}

#define SWAPS_LEAST (1 << 20) /* bytes a second */

static void find_swapping(struct search *x)
{
	const struct machine_rates *r = &x->system->rates;
	struct finding f = {.key = FINDING_SWAPPING,
			    .level = FINDING_WARNING,
			    .in = r->swapped_in,
			    .out = r->swapped_out};
	const struct row *most;

	if (!r->known && !is_at_ease(x))
		return;
	know(x, FINDING_SWAPPING);
	if (r->swapped_in < SWAPS_LEAST || is_at_ease(x))
		return;
	/* A cgroup that swaps at its own limit was named. */
	if (!r->scanned && (x->to->subjects[FINDING_CGROUP_LIMIT][FINDING_CRITICAL] ||
			    x->to->subjects[FINDING_CGROUP_HIGH][FINDING_CRITICAL]))
		return;
	f.bytes_known = meminfo_swap_used(x->m, &f.bytes);
	most = find_swapper(x);
	if (most) {
		f.count = most->swapin;
		f.name = name_of(most->process);
		f.pid = most->process->pid;
	}
	add(x, f);
}

/* Five percent, which is much of a large machine. */
#define AVAILABLE_MOST (UINT64_C(2) << 30)

static uint64_t available_least(const struct search *x)
{
	const uint64_t part = percent_of(x->total, 5);

	return part < AVAILABLE_MOST ? part : AVAILABLE_MOST;
}

static void find_ram_full(struct search *x)
{
	const uint64_t available = value_of(x, MEMINFO_AVAILABLE);
	const uint64_t swap_free = value_of(x, MEMINFO_SWAP_FREE);
	const uint64_t least = available_least(x);

	if (!meminfo_has(x->m, MEMINFO_AVAILABLE))
		return;
	know(x, FINDING_RAM_FULL);
	if (available < least)
		add(x, (struct finding){.key = FINDING_RAM_FULL,
					.level = available + swap_free < least ? FINDING_CRITICAL
									       : FINDING_WARNING,
					.bytes_known = true,
					.bytes = x->total - available,
					.left = available,
					.of = x->total,
					.out = swap_free});
}

static void find_swap_full(struct search *x)
{
	const uint64_t total = value_of(x, MEMINFO_SWAP_TOTAL),
		       free = value_of(x, MEMINFO_SWAP_FREE);
	const uint64_t available = value_of(x, MEMINFO_AVAILABLE);
	/* What was swapped long ago, and stays there, does no harm. */
	const bool needed =
		waits(x, 100) || (x->system->rates.known && x->system->rates.swapped_out);
	enum finding_level level = available < available_least(x)	? FINDING_CRITICAL
				   : needed && available < x->total / 4 ? FINDING_WARNING
									: FINDING_HINT;
	uint64_t used;

	if (!meminfo_swap_used(x->m, &used) || !meminfo_has(x->m, MEMINFO_AVAILABLE))
		return;
	know(x, FINDING_SWAP_FULL);
	if (total && free < total / 10)
		add(x, (struct finding){.key = FINDING_SWAP_FULL,
					.level = level,
					.bytes_known = true,
					.bytes = used,
					.left = free,
					.of = total});
}

/* NULL: the device is no swap. */
static const struct swap_device *swap_of(const struct search *x, const struct zram_device *zram)
{
	for (size_t i = 0; i < x->system->swap_count; i++) {
		const struct swap_device *d = &x->system->swap[i];

		if (strncmp(d->name, "/dev/", 5) == 0 && strcmp(d->name + 5, zram->name) == 0)
			return d;
	}
	return NULL;
}

static void find_zram(struct search *x)
{
	const struct system_info *s = x->system;

	know(x, FINDING_ZRAM_FULL);
	know(x, FINDING_ZRAM_POOR);
	for (size_t i = 0; i < s->zram_count; i++) {
		const struct zram_device *d = &s->zram[i];
		const struct swap_device *swap = swap_of(x, d);
		/* Swap counts its slots, some of which may not be written yet. */
		const uint64_t stored = swap ? swap->used : d->stat.stored;
		const uint64_t size = swap ? swap->size : d->size;

		/* A single swap device that is full is told as such. */
		if (size && stored >= percent_of(size, 95) && (!swap || s->swap_count > 1))
			add(x, (struct finding){.key = FINDING_ZRAM_FULL,
						.level = FINDING_WARNING,
						.name = d->name,
						.bytes_known = true,
						.bytes = stored,
						.of = size});
		if (d->stat.used >= d->stat.stored / 4 * 3 && is_part(x, d->stat.stored, 64))
			add(x,
			    (struct finding){.key = FINDING_ZRAM_POOR,
					     .level = is_part(x, d->stat.used, 20) ? FINDING_WARNING
										   : FINDING_HINT,
					     .name = d->name,
					     .bytes_known = true,
					     .bytes = d->stat.used,
					     .of = d->stat.stored});
	}
}

static void find_kills(struct search *x)
{
	const struct recent_kills *k = &x->system->recent_kills;
	struct finding f = {.key = FINDING_OOM_KILLS,
			    .level = FINDING_CRITICAL,
			    .count = k->count,
			    .others = k->recorded ? k->unrecorded : 0,
			    .last_ms = k->last_ms,
			    .recorded = k->recorded,
			    .name = *k->name ? k->name : NULL,
			    .cgroup = *k->cgroup ? k->cgroup : NULL};

	if (!k->known)
		return;
	know(x, FINDING_OOM_KILLS);
	if (k->since_ms && x->s->time_ms > k->since_ms)
		f.span_ms = (uint64_t)(x->s->time_ms - k->since_ms) / 1000 * 1000;
	if (k->count)
		add(x, f);
}

#define GROWS_MS    (5 * 60 * 1000)
#define HOURS_LEAST 24 /* in which it would take what is available */

static void find_growing(struct search *x)
{
	const uint64_t available = value_of(x, MEMINFO_AVAILABLE);
	const struct result *r = x->rows;
	int64_t bytes;

	if (!r || !r->delta || !r->delta->known || r->group || !available)
		return;
	know(x, FINDING_GROWS);
	for (size_t i = 0; i < r->row_count; i++) {
		const struct row *row = &r->rows[i];

		if (row->process->kind != PROCESS_USER || row->watched_ms < GROWS_MS ||
		    !row_grows_steadily(row, x->s->host.page_size) || !row_growth(row, &bytes) ||
		    bytes <= 0 || (uint64_t)bytes < available / HOURS_LEAST)
			continue;
		add(x, (struct finding){.key = FINDING_GROWS,
					.level = FINDING_WARNING,
					.name = name_of(row->process),
					.pid = row->process->pid,
					.bytes_known = true,
					.bytes = (uint64_t)bytes,
					.left = available,
					.span_ms = row->watched_ms / 1000 * 1000});
	}
}

/* ---- where memory is that no process shows ---- */

/* Buffers of graphics are used by a device. */
static uint64_t unmapped_files(const struct machine_files *files)
{
	uint64_t sum = 0;

	for (int kind = 0; kind < FILE_KINDS; kind++)
		sum += kind == FILE_DRM || !file_kind_is_shmem((enum file_kind)kind)
			       ? 0
			       : files->unmapped[kind];
	return sum;
}

/* Where most of it is. NULL: in no single place, or it is not known. */
static const char *most_of_shmem(const struct search *x, uint64_t bytes)
{
	const struct tmpfs_use *tmpfs = &x->system->tmpfs;
	const struct shared_files *files = x->system->shared;
	const struct shared_file *most = NULL;

	if (tmpfs->known)
		return tmpfs->largest_bytes > bytes / 2 ? tmpfs->largest : NULL;
	for (uint32_t i = 0; files && i < files->count; i++) {
		const struct shared_file *file = &files->file[i];

		/* A larger one is mapped. */
		if (file->kind != FILE_DRM && file->resident <= bytes &&
		    (!most || file->resident > most->resident))
			most = file;
	}
	return most && most->resident > bytes / 2 ? most->name : NULL;
}

/*
 * Files that no process maps, where the files were listed. Else pages in no page table: a process
 * may map their file and not have touched them, such as a database its buffers. Those of tmpfs
 * stay until they are deleted.
 */
static void find_shmem(struct search *x)
{
	const struct machine_balance *b = &x->s->balance;
	const struct tmpfs_use *tmpfs = &x->system->tmpfs;
	const bool exact = x->system->files.shmem_known;
	const uint64_t bytes = exact ? unmapped_files(&x->system->files) : b->shmem_not_in_pss;
	const bool files = exact || (tmpfs->known && is_part(x, tmpfs->bytes, 10));

	if (!exact && !b->shmem_not_in_pss_known)
		return;
	know(x, FINDING_SHMEM_UNMAPPED);
	if (is_part(x, bytes, 10))
		add(x, (struct finding){.key = FINDING_SHMEM_UNMAPPED,
					.level = files ? FINDING_WARNING : FINDING_HINT,
					.exact = exact,
					.file = most_of_shmem(x, bytes),
					.bytes_known = true,
					.bytes = bytes});
}

/* Caches of the kernel with a shrinker, which are the large ones: SLAB_RECLAIM_ACCOUNT. */
static bool is_freeable(const char *cache)
{
	static const char inodes[] = "inode_cache";
	const size_t len = strlen(cache), end = sizeof(inodes) - 1;

	return strcmp(cache, "dentry") == 0 || strcmp(cache, "buffer_head") == 0 ||
	       strcmp(cache, "radix_tree_node") == 0 || strcmp(cache, "xfs_inode") == 0 ||
	       (len >= end && strcmp(cache + len - end, inodes) == 0);
}

/* The largest part of these bytes of a class; NULL: none is most of it. */
static const char *most_of(const struct ram *ram, enum ram_class class, uint64_t bytes,
			   bool freeable)
{
	const struct ram_figure *f = &ram->figure[class];
	const struct ram_part *most = NULL;

	for (unsigned i = 0; i < f->parts; i++) {
		const struct ram_part *part = &ram->part[f->part + i];

		if (class == RAM_SLAB && is_freeable(part->name) != freeable)
			continue;
		if (part->bytes <= bytes && (!most || part->bytes > most->bytes))
			most = part;
	}
	return most && most->bytes > bytes / 2 ? most->name : NULL;
}

static void find_kernel(struct search *x)
{
	static const struct {
		enum meminfo_counter counter;
		const char *kind;
		enum ram_class class; /* that has its parts */
		bool freeable;
	} all[] = {
		{MEMINFO_SLAB_UNRECLAIMABLE, "slab", RAM_SLAB, false},
		{MEMINFO_SLAB_RECLAIMABLE, "slab that can be freed", RAM_SLAB, true},
		{MEMINFO_PAGE_TABLES, "page tables", RAM_PAGE_TABLES, false},
		{MEMINFO_KERNEL_STACK, "kernel stacks", RAM_KERNEL_STACKS, false},
		{MEMINFO_VMALLOC_USED, "vmalloc", RAM_VMALLOC, false},
		{MEMINFO_PERCPU, "per-CPU memory", RAM_PERCPU, false},
	};

	/* Every kernel has this one, and some lack others. */
	if (meminfo_has(x->m, MEMINFO_SLAB_UNRECLAIMABLE))
		know(x, FINDING_KERNEL_MEMORY);
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		const uint64_t bytes = value_of(x, all[i].counter);
		struct finding f = {.key = FINDING_KERNEL_MEMORY,
				    .level = all[i].freeable ? FINDING_HINT : FINDING_WARNING,
				    .kind = all[i].kind,
				    .bytes_known = true,
				    .bytes = bytes};

		if (!is_part(x, bytes, 10))
			continue;
		if (all[i].freeable && x->system->dentries.known)
			f.out = x->system->dentries.negative;
		if (x->system->ram)
			f.name = most_of(x->system->ram, all[i].class, bytes, all[i].freeable);
		add(x, f);
	}
}

#define DELETED_LEAST (64 << 20)

static void find_deleted(struct search *x)
{
	const struct ram *ram = x->system->ram;

	if (!ram || !ram->deleted_known)
		return;
	know(x, FINDING_CGROUPS_DELETED);
	if (ram->deleted_cgroups && ram->deleted_bytes >= DELETED_LEAST)
		add(x,
		    (struct finding){.key = FINDING_CGROUPS_DELETED,
				     .level = is_part(x, ram->deleted_bytes, 20) ? FINDING_WARNING
										 : FINDING_HINT,
				     .count = ram->deleted_cgroups,
				     .bytes_known = true,
				     .bytes = ram->deleted_bytes});
}

static void find_hugetlb(struct search *x)
{
	const uint64_t unused = x->system->hugetlb_unused;
	const bool short_of = value_of(x, MEMINFO_AVAILABLE) < x->total / 10;

	/* How much of it is unused is read only where there is much. */
	if (!x->system->hugetlb_unused_known &&
	    (!meminfo_has(x->m, MEMINFO_HUGETLB) || is_part(x, value_of(x, MEMINFO_HUGETLB), 10)))
		return;
	know(x, FINDING_HUGETLB_UNUSED);
	if (is_part(x, unused, 10))
		add(x, (struct finding){.key = FINDING_HUGETLB_UNUSED,
					.level = short_of ? FINDING_WARNING : FINDING_HINT,
					.bytes_known = true,
					.bytes = unused});
}

static void find_thp(struct search *x)
{
	const struct partly_mapped *p = &x->system->partly_mapped;

	if (!p->known)
		return;
	know(x, FINDING_THP_PARTLY);
	if (is_part(x, p->bytes, 20))
		add(x, (struct finding){.key = FINDING_THP_PARTLY,
					.level = FINDING_HINT,
					.bytes_known = true,
					.bytes = p->bytes});
}

static void find_locked(struct search *x)
{
	const uint64_t bytes = value_of(x, MEMINFO_UNEVICTABLE);

	if (!meminfo_has(x->m, MEMINFO_UNEVICTABLE))
		return;
	know(x, FINDING_LOCKED);
	if (is_part(x, bytes, 4))
		add(x, (struct finding){.key = FINDING_LOCKED,
					.level = FINDING_HINT,
					.bytes_known = true,
					.bytes = bytes});
}

/* ---- nodes ---- */

/* Less in swap, or less memory on a node, is not worth a line. */
#define SWAP_LEAST (16 << 20)
#define AWAY_LEAST (16 << 20)

/* Swap in use while a node has room: what is bound to another node cannot go there. */
static void find_full_node(struct search *x)
{
	const struct machine_nodes *all = &x->system->nodes;
	const struct node_memory *full = NULL, *roomy = NULL;
	const bool swaps = x->system->rates.known && x->system->rates.swapped_out;
	uint64_t used;

	if (!all->count)
		return;
	know(x, FINDING_NODE_FULL);
	if (!meminfo_swap_used(x->m, &used) || used < SWAP_LEAST)
		return;
	for (uint32_t i = 0; i < all->count; i++) {
		const struct node_memory *n = &all->node[i];

		if (n->free >= n->total / 8 && (!roomy || n->free > roomy->free))
			roomy = n;
		else if (n->free < n->total / 32 || n->free < 2 * n->high)
			full = n;
	}
	if (full && roomy)
		add(x, (struct finding){.key = FINDING_NODE_FULL,
					.level = swaps ? FINDING_WARNING : FINDING_HINT,
					.bytes_known = true,
					.bytes = used,
					.full = full,
					.roomy = roomy});
}

static uint64_t away_of(const struct process *p, uint64_t *ret_all)
{
	uint64_t away = 0;

	*ret_all = 0;
	for (uint32_t i = 0; p->nodes && p->cpu_nodes && i < p->nodes->count; i++) {
		const struct node_share *n = &p->nodes->node[i];

		*ret_all += n->pss;
		away += p->cpu_nodes >> n->node & 1 ? 0 : n->pss;
	}
	return away;
}

/* Processes with most of their memory on nodes other than those of their CPUs: one line of all. */
static void find_away(struct search *x)
{
	struct finding f = {
		.key = FINDING_NODE_AWAY, .level = FINDING_WARNING, .bytes_known = true};
	const struct process *most = NULL;

	for (size_t i = 0; i < x->s->count; i++) {
		const struct process *p = &x->s->process[i];
		uint64_t all, away = away_of(p, &all);

		if (p->nodes && p->cpu_nodes)
			know(x, FINDING_NODE_AWAY);
		if (away < AWAY_LEAST || away <= all / 2)
			continue;
		f.others++;
		if (away <= f.bytes)
			continue;
		most = p;
		f.bytes = away;
		f.of = all;
	}
	if (!most)
		return;
	f.others--;
	f.name = name_of(most);
	f.pid = most->pid;
	for (int n = 0; n < NODES_MAX; n++)
		if (most->cpu_nodes >> n & 1)
			f.node[f.nodes++] = n;
	add(x, f);
}

/* ---- limits of the kernel ---- */

static void find_maps(struct search *x)
{
	const uint64_t limit = x->system->max_map_count;

	for (size_t i = 0; limit && i < x->s->count; i++) {
		const struct process *p = &x->s->process[i];
		uint64_t maps;

		if (p->kind != PROCESS_USER || !p->mm_owner || !process_has(p, COUNTER_MAPS))
			continue;
		know(x, FINDING_MAPS_LIMIT);
		maps = process_value(p, COUNTER_MAPS);
		if (maps < percent_of(limit, 80))
			continue;
		add(x, (struct finding){.key = FINDING_MAPS_LIMIT,
					.level = maps < percent_of(limit, 95) ? FINDING_WARNING
									      : FINDING_CRITICAL,
					.name = name_of(p),
					.pid = p->pid,
					.count = maps,
					.others = limit});
	}
}

static void find_commit(struct search *x)
{
	const uint64_t limit = value_of(x, MEMINFO_COMMIT_LIMIT);
	const uint64_t committed = value_of(x, MEMINFO_COMMITTED);

	if (!limit || !meminfo_has(x->m, MEMINFO_COMMITTED))
		return;
	know(x, FINDING_COMMIT_LIMIT);
	if (x->system->overcommit_strict && committed >= percent_of(limit, 90))
		add(x,
		    (struct finding){.key = FINDING_COMMIT_LIMIT,
				     .level = committed < percent_of(limit, 98) ? FINDING_WARNING
										: FINDING_CRITICAL,
				     .bytes_known = true,
				     .bytes = committed,
				     .of = limit});
}

void findings_find(const struct snapshot *s, const struct result *rows, struct findings *ret)
{
	static void (*const find[])(struct search * x) = {
		find_memcgs,	find_thrashing, find_ram_full, find_kills, find_swapping,
		find_swap_full, find_zram,	find_growing,  find_shmem, find_kernel,
		find_deleted,	find_full_node, find_away,     find_maps,  find_commit,
		find_hugetlb,	find_thp,	find_locked,
	};
	struct search x = {.s = s,
			   .system = &s->system,
			   .m = &s->system.meminfo,
			   .rows = rows,
			   .total = s->system.meminfo.value[MEMINFO_TOTAL],
			   .to = ret};

	if (rows && rows->found) {
		*ret = *rows->found;
		return;
	}
	*ret = (struct findings){};
	if (!meminfo_has(x.m, MEMINFO_TOTAL))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(find); i++)
		find[i](&x);
}
