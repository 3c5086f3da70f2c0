// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Splits RAM into classes, by its frames or by the kernel's counters. */
#include "model/ram.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "model/snapshot.h"

#define MIB ((uint64_t)1 << 20)
/* More than any machine has: sums of counters fit into numbers of JSON. */
#define COUNTER_MAX ((uint64_t)1 << 53)

const struct ram_class_info ram_class_table[RAM_FIGURES] = {
	[RAM_FREE] = {"free", "free", "MemFree + lists of CPUs",
		      "pages that nothing uses, also those on lists of CPUs"},
	[RAM_ANON] = {"anon", "anonymous", "AnonPages", "anonymous memory that processes map"},
	[RAM_ANON_UNMAPPED] = {"anon_unmapped", "unmapped anonymous", NULL,
			       "memory that was of a process and that none maps now: swap cache, "
			       "pages in I/O, pages that are being freed"},
	[RAM_PAGE_CACHE] = {"page_cache", "page cache", "Cached + Buffers - Shmem",
			    "pages of files and block devices, mapped by processes or not"},
	[RAM_SHMEM] = {"shmem", "shared memory/tmpfs", "Shmem",
		       "shared memory and files of tmpfs, mapped or not"},
	[RAM_SLAB] = {"slab", "slab", "Slab - large kmalloc",
		      "small objects of the kernel, such as inodes and dentries"},
	[RAM_LARGE_KMALLOC] = {"large_kmalloc", "large kmalloc", NULL,
			       "allocations by kmalloc() of more than two pages"},
	[RAM_PAGE_TABLES] = {"page_tables", "page tables", "PageTables + SecPageTables",
			     "page tables of processes, of the kernel, of KVM and of IOMMUs"},
	[RAM_KERNEL_STACKS] = {"kernel_stacks", "kernel stacks", "KernelStack",
			       "a stack of the kernel for each thread"},
	[RAM_VMALLOC] = {"vmalloc", "vmalloc", "VmallocUsed - KernelStack",
			 "allocations by vmalloc(), without kernel stacks"},
	[RAM_PERCPU] = {"percpu", "per-CPU memory", "Percpu",
			"variables of the kernel with a copy for each CPU"},
	[RAM_HUGETLB] = {"hugetlb", "huge pages (hugetlb)", "Hugetlb",
			 "the pools of huge pages, in use or free"},
	[RAM_ZRAM_ZSWAP] = {"zram_zswap", "zram/zswap", "mm_stat + Zswap",
			    "swap that is compressed and kept in RAM"},
	[RAM_NET_RINGS] = {"net_rings", "network rings", NULL,
			   "buffers into which network cards receive (page pools)"},
	[RAM_BALLOON] = {"balloon", "balloon", NULL,
			 "pages that this virtual machine gave back to its host"},
	[RAM_DRIVER_MAPPED] = {"driver_mapped", "mapped by drivers", NULL,
			       "pages of drivers and of BPF that processes map"},
	[RAM_GPU] = {"gpu", "GPU", "GPUActive + GPUReclaim",
		     "memory of the machine that drivers of GPUs use"},
	[RAM_RESERVED] = {"reserved", "reserved at boot", "present - MemTotal",
			  "the image of the kernel, the array of struct page, firmware, bad RAM"},
	[RAM_DESCRIPTORS] = {"descriptors", "pipes and rings", NULL,
			     "pages of pipes, and of rings for packets and events that are not "
			     "mapped, which processes hold by descriptors"},
	[RAM_UNNAMED] = {"unnamed_kernel", "unnamed kernel pages", NULL,
			 "pages of the kernel that have no mark and no counter, mostly of drivers"},
	[RAM_SOCKETS] =
		{"sockets", "TCP/UDP sockets", "TCP, UDP, FRAG; not unix",
		 "buffers of TCP and UDP: in slab, large kmalloc and unnamed kernel pages. Those "
		 "of unix sockets have no counter"},
	[RAM_CGROUP_KERNEL] =
		{"cgroup_kernel", "charged to cgroups", NULL,
		 "pages of the kernel that are charged to memory cgroups, without slab"},
};

const char *ram_counter_name(const struct ram *ram, enum ram_class class)
{
	if (class == RAM_SLAB && !ram->figure[RAM_LARGE_KMALLOC].known)
		return "Slab";
	return ram_class_table[class].counter;
}

const char *ram_method_name(enum ram_method method)
{
	static const char *const name[] = {
		[RAM_COUNTERS] = "counters", [RAM_EXACT] = "exact", [RAM_SAMPLE] = "sample"};

	return name[method];
}

void ram_add_part_of(struct ram *ram, enum ram_class class, const struct ram_part *part)
{
	struct ram_figure *f = &ram->figure[class];

	if (ram->parts == RAM_PARTS_MAX || (f->parts && f->part + f->parts != ram->parts))
		return;
	if (!f->parts)
		f->part = (uint16_t)ram->parts;
	ram->part[ram->parts++] = *part;
	f->parts++;
}

void ram_add_part(struct ram *ram, enum ram_class class, const char *name, uint64_t bytes)
{
	struct ram_part part = {.bytes = bytes};

	snprintf(part.name, sizeof(part.name), "%s", name);
	ram_add_part_of(ram, class, &part);
}

static uint64_t known_bytes(const struct ram *ram, enum ram_class class)
{
	return ram->figure[class].known ? ram->figure[class].bytes : 0;
}

bool ram_is_outside(const struct ram *ram, enum ram_class class, uint64_t total)
{
	uint64_t outside = ram->frames > total ? ram->frames - total : 0;

	if (class != RAM_BALLOON)
		return class == RAM_RESERVED;
	/* Nearer to both than to what was reserved alone. */
	return !total || outside >= known_bytes(ram, RAM_RESERVED) + known_bytes(ram, class) / 2;
}

uint64_t ram_outside(const struct ram *ram, uint64_t total)
{
	uint64_t sum = 0;

	for (int i = 0; i < RAM_CLASSES; i++)
		if (ram_is_outside(ram, (enum ram_class)i, total))
			sum += known_bytes(ram, (enum ram_class)i);
	return sum < ram->frames ? sum : ram->frames;
}

bool ram_in_tables(const struct ram *ram, enum ram_class class, uint64_t *ret)
{
	const struct ram_figure *f = &ram->figure[class];
	bool found = !f->bytes;
	uint64_t bytes = 0;

	for (unsigned i = 0; i < f->parts; i++) {
		const struct ram_part *part = &ram->part[f->part + i];
		bool in = strcmp(part->name, RAM_IN_TABLES) == 0;

		found |= in || strcmp(part->name, RAM_IN_NO_TABLE) == 0;
		bytes += in ? part->bytes : 0;
	}
	if (!f->known || !found)
		return false;
	*ret = bytes;
	return true;
}

static void number_figures(struct ram *ram)
{
	for (int i = 0; i < RAM_FIGURES; i++)
		ram->figure[i].class = (enum ram_class)i;
}

/* ---- counters ---- */

struct split {
	const struct ram_sources *from;
	struct ram *ram;
	uint64_t unmarked; /* bytes of frames without a mark that are not yet in a class */
};

/* A reading of a counter, or of a sum or difference of several. */
struct reading {
	bool known;
	uint64_t bytes;
};

static struct reading counter(const struct meminfo *m, enum meminfo_counter f)
{
	return (struct reading){meminfo_has(m, f) && m->value[f] < COUNTER_MAX, m->value[f]};
}

/* 0 if `less` is more. What is not known of `less` is not subtracted. */
static struct reading reading_less(struct reading v, struct reading less)
{
	if (less.known)
		v.bytes = v.bytes > less.bytes ? v.bytes - less.bytes : 0;
	return v;
}

/* What is not known of `more` is not added. */
static struct reading reading_more(struct reading v, struct reading more)
{
	if (more.known)
		v.bytes += more.bytes;
	return v;
}

static struct reading slab_counter(const struct meminfo *m)
{
	return reading_more(counter(m, MEMINFO_SLAB_UNRECLAIMABLE),
			    counter(m, MEMINFO_SLAB_RECLAIMABLE));
}

static struct reading zswap_and_zram(const struct system_info *system, const struct meminfo *m)
{
	struct reading v = counter(m, MEMINFO_ZSWAP_POOL);

	for (size_t i = 0; i < system->zram_count; i++)
		v = reading_more((struct reading){true, v.known ? v.bytes : 0},
				 (struct reading){system->zram[i].stat.used < COUNTER_MAX,
						  system->zram[i].stat.used});
	return v;
}

/* Either of the two, if any is known. */
static struct reading gpu(const struct meminfo *m)
{
	struct reading active = counter(m, MEMINFO_GPU_ACTIVE);

	return active.known ? reading_more(active, counter(m, MEMINFO_GPU_RECLAIM))
			    : counter(m, MEMINFO_GPU_RECLAIM);
}

static struct reading class_counter(const struct split *s, const struct meminfo *m,
				    enum ram_class class)
{
	const struct zones *z = s->from->zones;
	const uint64_t page = s->from->page_size;
	struct reading v;

	switch (class) {
	case RAM_FREE:
		v = counter(m, MEMINFO_FREE);
		v.bytes += z->count ? z->listed * page : s->from->system->free.listed;
		return v;
	case RAM_ANON:
		return counter(m, MEMINFO_ANON);
	case RAM_PAGE_CACHE:
		v = reading_less(counter(m, MEMINFO_CACHED), counter(m, MEMINFO_SHMEM));
		return reading_more(v, counter(m, MEMINFO_BUFFERS));
	case RAM_SHMEM:
		return counter(m, MEMINFO_SHMEM);
	case RAM_SLAB:
		return slab_counter(m);
	case RAM_PAGE_TABLES:
		return reading_more(counter(m, MEMINFO_PAGE_TABLES),
				    counter(m, MEMINFO_SEC_PAGE_TABLES));
	case RAM_KERNEL_STACKS:
		return counter(m, MEMINFO_KERNEL_STACK);
	case RAM_VMALLOC:
		return reading_less(counter(m, MEMINFO_VMALLOC_USED),
				    counter(m, MEMINFO_KERNEL_STACK));
	case RAM_PERCPU:
		return counter(m, MEMINFO_PERCPU);
	case RAM_HUGETLB:
		return counter(m, MEMINFO_HUGETLB);
	case RAM_ZRAM_ZSWAP:
		return zswap_and_zram(s->from->system, m);
	case RAM_GPU:
		return gpu(m);
	case RAM_RESERVED:
		v = reading_less((struct reading){z->count && !z->cut, zones_present(z) * page},
				 counter(m, MEMINFO_TOTAL));
		if (!ram_is_outside(s->ram, RAM_BALLOON, m->value[MEMINFO_TOTAL]))
			return v;
		return reading_less(v, (struct reading){s->ram->figure[RAM_BALLOON].known,
							s->ram->figure[RAM_BALLOON].bytes});
	case RAM_SOCKETS:
		return (struct reading){s->from->system->sockets.known,
					s->from->system->sockets.bytes};
	default:
		return (struct reading){};
	}
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Sets the counter of a class. Returns how much it moved between its two readings. */
static uint64_t set_counter(struct split *s, enum ram_class class)
{
	struct ram_figure *f = &s->ram->figure[class];
	struct reading before = class_counter(s, &s->from->system->meminfo, class),
		       after = class_counter(s, s->from->after, class);

	/* A class of two marks has one counter. */
	if (class == RAM_SLAB) {
		const struct ram_figure *large = &s->ram->figure[RAM_LARGE_KMALLOC];

		before = reading_less(before, (struct reading){large->known, large->bytes});
		after = reading_less(after, (struct reading){large->known, large->bytes});
	}
	f->has_counter = before.known && after.known;
	if (!f->has_counter)
		return 0;
	f->counter = distance(f->bytes, after.bytes) <= distance(f->bytes, before.bytes)
			     ? after.bytes
			     : before.bytes;
	return distance(before.bytes, after.bytes);
}

/* Moves bytes of frames without a mark to a class, as many as its counter says and there are. */
static uint64_t move_unmarked(struct split *s, enum ram_class class, struct reading v)
{
	struct ram_figure *f = &s->ram->figure[class];
	uint64_t bytes = v.bytes < s->unmarked ? v.bytes : s->unmarked;

	if (!v.known)
		return 0;
	s->unmarked -= bytes;
	if (bytes < v.bytes)
		f->reason = "less than its counter: no more pages were left";
	f->exists = f->known = true;
	f->bytes += bytes;
	return bytes;
}

/* What processes hold by descriptors: never more than there is without a mark. */
static void name_descriptors(struct split *s)
{
	struct ram_figure *f = &s->ram->figure[RAM_DESCRIPTORS];

	move_unmarked(s, RAM_DESCRIPTORS,
		      (struct reading){s->from->descriptors_known, s->from->descriptors});
	if (f->known && f->bytes < s->from->descriptors)
		f->reason = "less than processes hold: no more pages were left";
	if (s->from->descriptors_reason)
		f->reason = s->from->descriptors_reason;
}

/* ---- from the counters alone ---- */

static void set_from_counter(struct split *s, enum ram_class class)
{
	struct ram_figure *f = &s->ram->figure[class];
	struct reading v = class_counter(s, s->from->after, class);

	f->exists = class != RAM_GPU || v.known;
	f->known = f->has_counter = v.known;
	f->bytes = f->counter = v.known ? v.bytes : 0;
}

void ram_from_counters(const struct ram_sources *from, const char *reason, struct ram *ret)
{
	struct split s = {from, ret, 0};
	struct reading total = counter(from->after, MEMINFO_TOTAL);
	bool whole = total.known;
	uint64_t sum = 0;

	*ret = (struct ram){.method = RAM_COUNTERS};
	number_figures(ret);
	snprintf(ret->reason, sizeof(ret->reason), "%s", reason);
	for (int i = 0; i < RAM_FIGURES; i++)
		set_from_counter(&s, (enum ram_class)i);
	/* It is a part of what the counters leave. */
	ret->figure[RAM_DESCRIPTORS] =
		(struct ram_figure){.class = RAM_DESCRIPTORS, .reason = from->descriptors_reason};
	for (int i = 0; i < RAM_CLASSES; i++) {
		struct ram_figure *f = &ret->figure[i];

		if (!f->known && i != RAM_DESCRIPTORS)
			f->reason = ram_class_table[i].counter ? "the kernel does not tell"
							       : "it has no counter";
		sum += f->known ? f->bytes : 0;
	}
	ret->figure[RAM_CGROUP_KERNEL].reason = "it has no counter";
	if (!ret->figure[RAM_SOCKETS].known)
		ret->figure[RAM_SOCKETS].reason = "the kernel does not tell";
	/* An unknown class would seem unnamed. */
	whole &= ret->figure[RAM_FREE].known && ret->figure[RAM_ANON].known &&
		 ret->figure[RAM_PAGE_CACHE].known;
	if (!total.known)
		return;
	ret->known = true;
	ret->frames = total.bytes +
		      (ret->figure[RAM_RESERVED].known ? ret->figure[RAM_RESERVED].bytes : 0);
	if (!whole) {
		ret->figure[RAM_UNNAMED].reason = "other classes are not known";
		return;
	}
	/* Counters lag, so their sum may be more. */
	s.unmarked = ret->frames > sum ? ret->frames - sum : 0;
	name_descriptors(&s);
	ret->figure[RAM_UNNAMED] = (struct ram_figure){
		.class = RAM_UNNAMED, .exists = true, .known = true, .bytes = s.unmarked};
}

/* ---- from a census ---- */

/* True if both are equal but for what changed meanwhile, and for what CPUs hold back. */
static bool agrees(const struct split *s, const struct ram_figure *f, uint64_t moved)
{
	uint64_t slack = 2 * moved + f->bytes / 32 + MIB + (f->sampled ? 2 * f->error : 0) +
			 2 * (uint64_t)CPU_DRIFT * s->from->cpus * s->from->page_size;

	return !f->has_counter || distance(f->bytes, f->counter) <= slack;
}

static void refuse(struct split *s, enum ram_class class)
{
	const struct ram_figure *f = &s->ram->figure[class];
	char reason[RAM_REASON];

	snprintf(reason, sizeof(reason),
		 "the frames contradict the counters: %s has %" PRIu64 " MiB, %s says %" PRIu64
		 " MiB",
		 ram_class_table[class].key, f->bytes / MIB, ram_class_table[class].counter,
		 f->counter / MIB);
	memcpy(s->ram->reason, reason, sizeof(reason));
}

/* Frames in bytes, and their error. */
struct scaled {
	uint64_t kind[ZMEM_FRAMES], error[ZMEM_FRAMES];
	uint64_t block[ZMEM_CENSUS_ORDERS], type[ZMEM_CENSUS_TYPES];
	uint64_t charged, charged_error;
	uint64_t unused; /* frames that the kernel did not set up yet */
};

static void set(struct split *s, enum ram_class class, uint64_t bytes, uint64_t error)
{
	struct ram_figure *f = &s->ram->figure[class];

	f->exists = f->known = true;
	f->bytes = bytes;
	f->error = error;
	f->sampled = s->ram->method == RAM_SAMPLE;
}

static void add_part(struct split *s, enum ram_class class, const char *name, uint64_t bytes)
{
	if (bytes)
		ram_add_part(s->ram, class, name, bytes);
}

static uint64_t span_frames(const struct zones *z)
{
	struct frame_span span[ZONES_MAX];
	bool mixed;
	size_t count = zones_spans(z, span, &mixed);
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += span[i].end - span[i].first;
	return sum;
}

static double share_of(uint64_t part, uint64_t whole, uint64_t all)
{
	return whole ? (double)part / (double)whole * (double)all : 0;
}

/*
 * Frames of a sample as frames of the machine. Holes and reserved frames are known: the sample
 * stands for the rest.
 */
static bool scale_sample(const struct census *c, const struct ram_sources *from, struct scaled *ret)
{
	const uint64_t *kind = c->all.kind;
	struct reading total = counter(from->after, MEMINFO_TOTAL);
	uint64_t managed = 0, looked = 0, offline = kind[ZMEM_FRAME_OFFLINE], all;

	for (size_t i = 0; i < from->zones->count; i++)
		managed += from->zones->zone[i].managed * from->page_size;
	for (int i = ZMEM_FRAME_POISONED; i < ZMEM_FRAMES; i++)
		looked += kind[i];
	if (!looked || !managed || !total.known || looked == offline)
		return false;
	/* A kernel that sets frames up when they are needed does not call them managed before. */
	ret->unused = total.bytes > managed ? total.bytes - managed : 0;
	/* A balloon's frames are not managed either. */
	all = managed + (uint64_t)share_of(offline, looked - offline, managed);
	for (int i = ZMEM_FRAME_POISONED; i < ZMEM_FRAMES; i++) {
		ret->kind[i] = (uint64_t)share_of(kind[i], looked, all);
		ret->error[i] = (uint64_t)share_of(c->error.kind[i], looked, all);
	}
	for (int i = 0; i < ZMEM_CENSUS_ORDERS; i++)
		ret->block[i] = (uint64_t)share_of(c->all.block[i], looked, all);
	for (int i = 0; i < ZMEM_CENSUS_TYPES; i++)
		ret->type[i] = (uint64_t)share_of(c->all.type[i], looked, all);
	ret->charged = (uint64_t)share_of(c->all.charged, looked, all);
	ret->charged_error = (uint64_t)share_of(c->error.charged, looked, all);
	all += ret->unused;
	ret->kind[ZMEM_FRAME_RESERVED] = zones_present(from->zones) * from->page_size;
	if (ret->kind[ZMEM_FRAME_RESERVED] < all)
		return false;
	ret->kind[ZMEM_FRAME_RESERVED] -= all;
	return true;
}

/*
 * Holes between pieces of RAM look reserved or have no struct page. The zones show how large they
 * are.
 */
static bool scale_exact(const struct census *c, const struct ram_sources *from, struct scaled *ret)
{
	const uint64_t page = from->page_size, spanned = span_frames(from->zones),
		       present = zones_present(from->zones);
	struct reading total = counter(from->after, MEMINFO_TOTAL);
	uint64_t sum = 0, managed = 0, absent, reserved;

	for (size_t i = 0; i < from->zones->count; i++)
		managed += from->zones->zone[i].managed;
	for (int i = 0; i < ZMEM_FRAMES; i++) {
		sum += c->all.kind[i];
		ret->kind[i] = c->all.kind[i] * page;
	}
	for (int i = 0; i < ZMEM_CENSUS_ORDERS; i++)
		ret->block[i] = c->all.block[i] * page;
	for (int i = 0; i < ZMEM_CENSUS_TYPES; i++)
		ret->type[i] = c->all.type[i] * page;
	ret->charged = c->all.charged * page;
	absent = c->all.kind[ZMEM_FRAME_HOLE] + c->all.kind[ZMEM_FRAME_RESERVED];
	if (sum != spanned || present > spanned || absent < spanned - present || !total.known)
		return false;
	reserved = (absent - (spanned - present)) * page;
	ret->unused = 0;
	/* As above. The frames without a struct page that are RAM are those that are not set up. */
	if (total.bytes > managed * page && total.bytes < present * page) {
		uint64_t boot = present * page - total.bytes, hole = ret->kind[ZMEM_FRAME_HOLE];

		ret->unused = reserved > boot ? reserved - boot : 0;
		if (ret->unused > hole)
			ret->unused = hole;
	}
	ret->kind[ZMEM_FRAME_RESERVED] = reserved - ret->unused;
	return true;
}

/* True if the frames of that bit are what the counter says. */
static bool bit_is(const struct split *s, uint64_t bytes, struct reading v)
{
	struct ram_figure f = {.bytes = bytes, .has_counter = true, .counter = v.bytes};

	return v.known && v.bytes && bytes && agrees(s, &f, 0);
}

/*
 * Until 6.11 the bits of types moved, and BTF does not have them: a bit is that of the counter that
 * it agrees with. Bit 0 never moved (PG_buddy), nor did bit 1 (PG_offline).
 */
static int find_type(const struct split *s, const struct scaled *v, struct reading counter,
		     uint32_t *taken)
{
	int best = -1;

	for (int i = 2; i < ZMEM_CENSUS_TYPES; i++)
		if (!(*taken >> i & 1) && bit_is(s, v->type[i], counter) &&
		    (best < 0 ||
		     distance(v->type[i], counter.bytes) < distance(v->type[best], counter.bytes)))
			best = i;
	if (best >= 0)
		*taken |= 1u << best;
	return best;
}

static void find_types(struct split *s, const struct scaled *v)
{
	const struct meminfo *m = s->from->after;
	struct ram_types *t = &s->ram->types;
	uint32_t taken = 0;

	t->table = find_type(s, v, counter(m, MEMINFO_PAGE_TABLES), &taken);
	/* These had flags before they had types. */
	t->slab = v->kind[ZMEM_FRAME_SLAB] ? -1 : find_type(s, v, slab_counter(m), &taken);
	t->hugetlb = v->kind[ZMEM_FRAME_HUGETLB] + v->kind[ZMEM_FRAME_HUGETLB_FREE]
			     ? -1
			     : find_type(s, v, counter(m, MEMINFO_HUGETLB), &taken);
}

static void move_type(struct scaled *v, int bit, enum zmem_frame to)
{
	uint64_t *typed = &v->kind[ZMEM_FRAME_TYPED], bytes = bit >= 0 ? v->type[bit] : 0;

	bytes = bytes < *typed ? bytes : *typed;
	*typed -= bytes;
	v->kind[to] += bytes;
}

static void name_types(const struct ram_types *t, struct scaled *v)
{
	move_type(v, 1, ZMEM_FRAME_OFFLINE);
	move_type(v, t->table, ZMEM_FRAME_TABLE);
	move_type(v, t->slab, ZMEM_FRAME_SLAB);
	move_type(v, t->hugetlb, ZMEM_FRAME_HUGETLB);
}

/* Frames with a mark: the class that they are in, and what part of it they are; NULL: none. */
static const struct {
	enum ram_class class;
	enum zmem_frame frame;
	const char *part;
} marks[] = {
	{RAM_ANON, ZMEM_FRAME_ANON},
	{RAM_ANON, ZMEM_FRAME_ANON_CACHED, "also in the swap cache"},
	{RAM_ANON_UNMAPPED, ZMEM_FRAME_SWAP_CACHE, "swap cache"},
	{RAM_ANON_UNMAPPED, ZMEM_FRAME_ANON_REST, "rest of huge pages"},
	{RAM_ANON_UNMAPPED, ZMEM_FRAME_ANON_UNMAPPED, "in I/O or being freed"},
	{RAM_ANON_UNMAPPED, ZMEM_FRAME_TRUNCATED, "removed from its file"},
	{RAM_PAGE_CACHE, ZMEM_FRAME_FILE, RAM_IN_TABLES},
	{RAM_PAGE_CACHE, ZMEM_FRAME_FILE_UNMAPPED, RAM_IN_NO_TABLE},
	{RAM_SHMEM, ZMEM_FRAME_SHMEM, RAM_IN_TABLES},
	{RAM_SHMEM, ZMEM_FRAME_SHMEM_UNMAPPED, RAM_IN_NO_TABLE},
	{RAM_HUGETLB, ZMEM_FRAME_HUGETLB, "in use"},
	{RAM_HUGETLB, ZMEM_FRAME_HUGETLB_FREE, "free"},
	{RAM_SLAB, ZMEM_FRAME_SLAB},
	{RAM_LARGE_KMALLOC, ZMEM_FRAME_LARGE_KMALLOC},
	{RAM_PAGE_TABLES, ZMEM_FRAME_TABLE},
	{RAM_PERCPU, ZMEM_FRAME_PERCPU},
	{RAM_NET_RINGS, ZMEM_FRAME_RING},
	{RAM_BALLOON, ZMEM_FRAME_OFFLINE},
	{RAM_DRIVER_MAPPED, ZMEM_FRAME_MAPPED},
	{RAM_RESERVED, ZMEM_FRAME_RESERVED},
	{RAM_RESERVED, ZMEM_FRAME_POISONED, "bad RAM"},
};

static void set_free(struct split *s, const struct scaled *v)
{
	const uint64_t *k = v->kind;

	set(s, RAM_FREE,
	    k[ZMEM_FRAME_BUDDY] + k[ZMEM_FRAME_LISTED] + k[ZMEM_FRAME_UNACCEPTED] + v->unused,
	    v->error[ZMEM_FRAME_BUDDY] + v->error[ZMEM_FRAME_LISTED]);
	add_part(s, RAM_FREE, "on lists of CPUs", k[ZMEM_FRAME_LISTED]);
	add_part(s, RAM_FREE, "not yet set up", v->unused);
	add_part(s, RAM_FREE, "not yet accepted", k[ZMEM_FRAME_UNACCEPTED]);
}

/* Frames with a mark; the others are s->unmarked. */
static void set_marked(struct split *s, const struct census *c, const struct scaled *v)
{
	const uint64_t *k = v->kind, *e = v->error;

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		const struct ram_figure *f = &s->ram->figure[marks[i].class];
		enum zmem_frame frame = marks[i].frame;

		if (frame == ZMEM_FRAME_PERCPU && !c->percpu_marked)
			continue;
		set(s, marks[i].class, f->bytes + k[frame], f->error + e[frame]);
		if (marks[i].part)
			add_part(s, marks[i].class, marks[i].part, k[frame]);
	}
	set(s, RAM_ZRAM_ZSWAP,
	    k[ZMEM_FRAME_ZSMALLOC] + (c->zsmalloc_marked ? 0 : k[ZMEM_FRAME_MOVABLE]),
	    e[ZMEM_FRAME_ZSMALLOC] + e[ZMEM_FRAME_MOVABLE]);
	set(s, RAM_CGROUP_KERNEL, v->charged, v->charged_error);
	s->unmarked = k[ZMEM_FRAME_KERNEL] + k[ZMEM_FRAME_TYPED] +
		      (c->zsmalloc_marked ? k[ZMEM_FRAME_MOVABLE] : 0);
}

/* What has a counter and no mark. */
static void name_unmarked(struct split *s, const struct census *c)
{
	const struct meminfo *m = s->from->after;
	const struct ram_figure *zram = &s->ram->figure[RAM_ZRAM_ZSWAP];
	struct reading secondary = counter(m, MEMINFO_SEC_PAGE_TABLES);
	/* Nothing says which pages are mapped: as many as can be. */
	const uint64_t mappable = s->from->vmalloc_mappable,
		       mapped = s->ram->figure[RAM_DRIVER_MAPPED].bytes;
	static const enum ram_class classes[] = {RAM_KERNEL_STACKS, RAM_VMALLOC, RAM_PERCPU,
						 RAM_GPU};

	for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
		enum ram_class class = classes[i];
		struct ram_figure *f = &s->ram->figure[class];
		struct reading v = class_counter(s, m, class);

		if (f->known)
			continue;
		f->exists = class != RAM_GPU;
		f->reason = v.known || !f->exists ? NULL : "the kernel does not tell";
		if (class == RAM_VMALLOC)
			v = reading_less(
				v, (struct reading){true, mappable < mapped ? mappable : mapped});
		move_unmarked(s, class, v);
	}
	if (secondary.known && secondary.bytes)
		add_part(s, RAM_PAGE_TABLES, "of KVM and IOMMUs",
			 move_unmarked(s, RAM_PAGE_TABLES, secondary));
	/* zbud and z3fold have no marks, and zsmalloc's first pages had none. */
	if (!c->zsmalloc_marked)
		move_unmarked(s, RAM_ZRAM_ZSWAP,
			      reading_less(class_counter(s, m, RAM_ZRAM_ZSWAP),
					   (struct reading){true, zram->bytes}));
	if (!c->kmalloc_marked)
		move_unmarked(s, RAM_LARGE_KMALLOC,
			      reading_less(slab_counter(m),
					   (struct reading){true, s->ram->figure[RAM_SLAB].bytes}));
	/* What counters say comes first: this is of another moment. */
	name_descriptors(s);
}

static void name_blocks(struct split *s, const struct scaled *v)
{
	const struct meminfo *m = s->from->after;
	struct reading other = reading_less(counter(m, MEMINFO_KERNEL_RECLAIMABLE),
					    counter(m, MEMINFO_SLAB_RECLAIMABLE));

	set(s, RAM_UNNAMED, s->unmarked, v->error[ZMEM_FRAME_KERNEL] + v->error[ZMEM_FRAME_TYPED]);
	if (other.known)
		add_part(s, RAM_UNNAMED, "reclaimable", other.bytes);
	for (int i = 1; i < ZMEM_CENSUS_ORDERS; i++) {
		uint64_t kib = (uint64_t)s->from->page_size << i >> 10;
		char name[RAM_NAME];

		snprintf(name, sizeof(name), "blocks of %" PRIu64 " %s%s",
			 kib < 1024 ? kib : kib / 1024, kib < 1024 ? "KiB" : "MiB",
			 i == ZMEM_CENSUS_ORDERS - 1 ? " and more" : "");
		/* Rings that were named are such blocks, too. */
		if (v->block[i] <= s->unmarked)
			add_part(s, RAM_UNNAMED, name, v->block[i]);
	}
}

/* Zram and zswap by device. */
static void name_pools(struct split *s)
{
	const struct system_info *system = s->from->system;
	struct reading zswap = counter(s->from->after, MEMINFO_ZSWAP_POOL);

	for (size_t i = 0; i < system->zram_count; i++)
		add_part(s, RAM_ZRAM_ZSWAP, system->zram[i].name, system->zram[i].stat.used);
	if (zswap.known)
		add_part(s, RAM_ZRAM_ZSWAP, "zswap", zswap.bytes);
}

bool ram_from_census(const struct census *c, const struct ram_sources *from, struct ram *ret)
{
	/* Classes with a mark: they prove that the frames were understood. */
	static const enum ram_class proofs[] = {RAM_FREE,   RAM_ANON, RAM_PAGE_CACHE,
						RAM_SHMEM,  RAM_SLAB, RAM_PAGE_TABLES,
						RAM_HUGETLB};
	struct split s = {from, ret, 0};
	struct scaled v = {};

	*ret = (struct ram){.method = c->sampled ? RAM_SAMPLE : RAM_EXACT,
			    .known = true,
			    .frames = zones_present(from->zones) * from->page_size,
			    .duration_us = c->duration_us};
	number_figures(ret);
	if (!(c->sampled ? scale_sample(c, from, &v) : scale_exact(c, from, &v))) {
		snprintf(ret->reason, sizeof(ret->reason),
			 "the frames do not add up to those of the zones");
		return false;
	}
	ret->unused = v.unused;
	if (c->old_types) {
		find_types(&s, &v);
		name_types(&ret->types, &v);
	}
	set_free(&s, &v);
	set_marked(&s, c, &v);
	name_unmarked(&s, c);
	name_pools(&s);
	name_blocks(&s, &v);
	set_from_counter(&s, RAM_SOCKETS);
	if (!ret->figure[RAM_SOCKETS].known)
		ret->figure[RAM_SOCKETS].reason = "the kernel does not tell";
	for (int i = 0; i < RAM_CLASSES; i++) {
		uint64_t moved = set_counter(&s, (enum ram_class)i);

		for (size_t p = 0; p < ARRAY_SIZE(proofs); p++)
			if (proofs[p] == (enum ram_class)i && !agrees(&s, &ret->figure[i], moved)) {
				refuse(&s, (enum ram_class)i);
				return false;
			}
	}
	return true;
}

void ram_from_node(const struct census *c, const struct census_node *node,
		   const struct ram_sources *from, const struct ram *ram, struct ram_node *ret)
{
	const uint64_t page = from->page_size;
	struct ram *sum = &(struct ram){.method = RAM_EXACT};
	struct split s = {from, sum, 0};
	struct scaled v = {};
	uint64_t present = 0, looked = 0, holes;

	for (size_t i = 0; i < from->zones->count; i++)
		if (from->zones->zone[i].node == node->node)
			present += from->zones->zone[i].present * page;
	for (int i = 0; i < ZMEM_FRAMES; i++) {
		v.kind[i] = node->frames.kind[i] * page;
		looked += v.kind[i];
	}
	for (int i = 0; i < ZMEM_CENSUS_TYPES; i++)
		v.type[i] = node->frames.type[i] * page;
	if (c->old_types)
		name_types(&ram->types, &v);
	/* See scale_exact(). */
	holes = looked > present ? looked - present : 0;
	v.unused = v.kind[ZMEM_FRAME_HOLE] > holes ? v.kind[ZMEM_FRAME_HOLE] - holes : 0;
	v.unused = v.unused < ram->unused ? v.unused : ram->unused;
	v.kind[ZMEM_FRAME_RESERVED] += v.kind[ZMEM_FRAME_HOLE] - v.unused;
	v.kind[ZMEM_FRAME_RESERVED] -=
		holes < v.kind[ZMEM_FRAME_RESERVED] ? holes : v.kind[ZMEM_FRAME_RESERVED];
	set_free(&s, &v);
	set_marked(&s, c, &v);
	set(&s, RAM_UNNAMED, s.unmarked, 0);
	*ret = (struct ram_node){.node = node->node, .frames = present};
	for (int i = 0; i < RAM_CLASSES; i++)
		if (sum->figure[i].known)
			ret->class[ret->classes++] =
				(struct ram_node_class){(enum ram_class)i, sum->figure[i].bytes};
}
