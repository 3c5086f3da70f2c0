// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Counts page frames by what they are, from the array of struct page, and names the memory cgroups
 * that they are charged to.
 *
 * It takes no lock and no reference. A frame that changes meanwhile is counted once, as what it was
 * or what it became: the walk only goes forward, and the size of a block decides how far. A size
 * that cannot be right (a block begins at a multiple of its size) is not believed.
 *
 * What a frame is, in this order (include/linux/page-flags.h, mm_types.h):
 *   - A tail of a compound page is what its head is.
 *   - A type, in the place of the count of mappings.
 *   - Flags: reserved, bad.
 *   - `mapping`: anonymous memory, page cache, or a movable page of the kernel.
 *   - Without references and marks it is free on a list of a CPU, or a later page of a block that
 * is no compound page: then it is what the block is.
 *   - The mark of page pools; mappings without a file; else a page of the kernel.
 */
#include "vmlinux.h"
#include "flavors.h"
#include "census.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "kfuncs.h"
#include "zmem/census.h"
#include "kread.bpf.h"
#include "compound.bpf.h"
#include "cgroup_path.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define BPF_F_MMAPABLE	1024

#define MAPPING_ANON	1
#define MAPPING_MOVABLE 2 /* until 6.16; with MAPPING_ANON: merged by KSM */

/* include/linux/memcontrol.h */
#define MEMCG_DATA_KMEM 2
#define MEMCG_DATA_MASK 7ULL

/* include/linux/cgroup-defs.h */
#define CSS_ONLINE 2

/*
 * net/core/page_pool.c, include/linux/poison.h: 0x40 above CONFIG_ILLEGAL_POINTER_VALUE, which is
 * the same on x86-64 and arm64. In between, since 6.16, is an index; the lowest two bits are of
 * others.
 */
#define IS_POOLED(magic) ((magic) >> 48 == 0xdead && ((magic)&0x7c) == 0x40)

/* A folio has 2^30 frames at most; a larger order is torn. */
#define ORDER_MOST 18
/* MAX_PAGE_ORDER of each page size (arch/arm64/Kconfig: 11 with pages of 16 KiB) */
#define ORDER_FREE 11

#ifdef ZMEM_OLD
#undef ZMEM_CENSUS_STEPS
#define ZMEM_CENSUS_STEPS ZMEM_CENSUS_STEPS_OLD
#endif

#define PAGE(member) koffset(struct page___census, member)

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct zmem_census);
} census SEC(".maps");

static __always_inline struct zmem_census *census_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&census, &zero);
}

#define flag_of(flags, name)                                                                       \
	(bpf_core_enum_value_exists(enum pageflags___census, name) &&                              \
	 ((flags) >> bpf_core_enum_value(enum pageflags___census, name) & 1))

/* ---- blocks ---- */

/* How many frames of a compound page are mapped. */
static __always_inline __u64 mapped_frames(__u64 head, __u64 all)
{
	__u64 pages;

	if (has_compound_maps())
		return compound_entire(head) > 0 || kread_raw(__u64, head + FOLIO_MAPPING) ? all
											   : 0;
	if (folio_entire(head) > 0 || !found_member(folio, _nr_pages_mapped))
		return all;
	pages = pages_mapped(head);
	if (pages)
		return pages < all ? pages : all;
	/* Without CONFIG_PAGE_MAPCOUNT there is only the sum over all pages. */
	return has_folio_maps() && folio_maps(head) > 0 ? all : 0;
}

/* ---- types ---- */

#define TYPE_IS(type, name)                                                                        \
	(bpf_core_enum_value_exists(enum pagetype, name) &&                                        \
	 (type) == (__u32)bpf_core_enum_value(enum pagetype, name))

/* Until 6.11: the bits of a type, which are those that are cleared below 0xf0000000. */
static __always_inline __u32 type_bits(__u32 type)
{
	return (type & 0xf0000000) == 0xf0000000 ? ~type >> 7 & ((1 << ZMEM_CENSUS_TYPES) - 1) : 0;
}

/* The kind of a frame with a type; ZMEM_FRAMES: it has none. */
static __always_inline __u32 typed_kind(__u32 word, __u32 *ret_bits)
{
	__u32 type = word >> 24;

	*ret_bits = 0;
	if (!bpf_core_enum_value_exists(enum pagetype, PGTY_buddy)) {
		*ret_bits = type_bits(word);
		if (*ret_bits & 1 << ZMEM_CENSUS_BUDDY)
			return ZMEM_FRAME_BUDDY;
		return *ret_bits ? ZMEM_FRAME_TYPED : ZMEM_FRAMES;
	}
	if (type < 0xf0 || type == 0xff)
		return ZMEM_FRAMES;
	if (TYPE_IS(type, PGTY_buddy))
		return ZMEM_FRAME_BUDDY;
	if (TYPE_IS(type, PGTY_slab))
		return ZMEM_FRAME_SLAB;
	if (TYPE_IS(type, PGTY_table))
		return ZMEM_FRAME_TABLE;
	if (TYPE_IS(type, PGTY_hugetlb))
		return ZMEM_FRAME_HUGETLB;
	if (TYPE_IS(type, PGTY_zsmalloc))
		return ZMEM_FRAME_ZSMALLOC;
	if (TYPE_IS(type, PGTY_large_kmalloc))
		return ZMEM_FRAME_LARGE_KMALLOC;
	if (TYPE_IS(type, PGTY_offline))
		return ZMEM_FRAME_OFFLINE;
	if (TYPE_IS(type, PGTY_unaccepted))
		return ZMEM_FRAME_UNACCEPTED;
	if (TYPE_IS(type, PGTY_netpp))
		return ZMEM_FRAME_RING;
	return ZMEM_FRAME_TYPED;
}

/* Until 6.8 a huge page of hugetlb has no type. */
static __always_inline bool is_old_hugetlb(__u64 head)
{
	__u64 second = head + PAGE_STRUCT_SIZE, dtor;

	if (bpf_core_enum_value_exists(enum pagetype, PGTY_buddy))
		return false;
	if (bpf_core_enum_value_exists(enum pageflags___census, PG_hugetlb___census))
		return flag_of(kread_raw(__u64, second), PG_hugetlb___census);
	if (!bpf_core_enum_value_exists(enum compound_dtor_id, HUGETLB_PAGE_DTOR))
		return false;
	if (OLD_LAYOUTS && bpf_core_field_exists(struct page___census, compound_dtor))
		dtor = second + PAGE(compound_dtor);
	else if (found_member(folio, _folio_dtor))
		dtor = head + member_offset(folio, _folio_dtor);
	else
		return false;
	return (kread_raw(__u64, dtor & ~7ULL) >> (dtor & 7) * 8 & 0xff) ==
	       bpf_core_enum_value(enum compound_dtor_id, HUGETLB_PAGE_DTOR);
}

/* ---- a frame ---- */

/* A block: one frame, a compound page, or a free block. */
struct block {
	__u64 page; /* its first struct page, of which the next members are */
	__u64 flags, info, mapping, index, private, charged;
	__u32 maps, references;
	__u64 count, mapped; /* frames */
	__u32 kind;	     /* enum zmem_frame; ZMEM_FRAMES: the same as the block before it */
	__u32 order;	     /* of a compound page */
	__u32 bits;	     /* type_bits() */
};

static __always_inline void read_page(struct zmem_census *c, struct block *b)
{
	const volatile void *words = kblock(c->word, b->page, sizeof(c->word));

	b->flags = kblock_word(words, PAGE_FLAGS);
	b->info = kblock_word(words, PAGE_INFO);
	b->maps = kblock_word32(words, PAGE_MAPCOUNT);
	b->references = kblock_word32(words, PAGE(_refcount));
	b->mapping = b->private = b->index = b->charged = 0;
	/* A hole: each read is a page fault there. */
	if (!(b->flags | b->info | b->maps | b->references))
		return;
	b->mapping = kblock_word(words, FOLIO_MAPPING);
	b->private = kblock_word(words, PAGE(private));
	b->index = kblock_word(words, PAGE(private) - sizeof(__u64));
	if (bpf_core_field_exists(struct page___census, memcg_data))
		b->charged = kblock_word(words, PAGE(memcg_data));
	else if (bpf_core_field_exists(struct page___census, mem_cgroup))
		b->charged = kblock_word(words, PAGE(mem_cgroup));
}

/* With five levels of page tables they begin with ff11 (Documentation/arch/x86/x86_64/mm.rst). */
static __always_inline bool is_kernel_address(__u64 addr)
{
	return addr >> 56 == 0xff && !(addr & 7);
}

/*
 * True if `next` of the node of a list at `node` leads to another node, which points back. A page
 * that was never in a list leads to itself.
 */
static __always_inline bool is_linked(__u64 node, __u64 next)
{
	return next != node && is_kernel_address(next) &&
	       kread_raw(__u64, next + sizeof(__u64)) == node;
}

/*
 * True if the page is of a chunk of per-CPU memory, because a word of it leads to the chunk
 * (pcpu_set_page_chunk(), mm/percpu-internal.h), which is always in a list. The first chunk, made
 * at boot, has reserved pages.
 */
static __always_inline bool leads_to_chunk(__u64 chunk)
{
	__u64 list = chunk + koffset(struct pcpu_chunk, list);

	return bpf_core_field_exists(struct pcpu_chunk, list) && is_kernel_address(chunk) &&
	       is_linked(list, kread_raw(__u64, list));
}

/* True if a user of a memory cgroup is charged, and not the kernel on behalf of one. */
static __always_inline bool is_charged_to_user(const struct block *b)
{
	return bpf_core_field_exists(struct page___census, memcg_data) && b->charged &&
	       !(b->charged & MEMCG_DATA_MASK);
}

/* The kind of a page that has no type. */
static __always_inline __u32 plain_kind(struct block *b)
{
	bool backed = b->flags >> bpf_core_enum_value(enum pageflags, PG_swapbacked) & 1;
	bool cached = backed && flag_of(b->flags, PG_swapcache___census);

	if (!b->flags && !b->maps && !b->references)
		return ZMEM_FRAME_HOLE;
	if (flag_of(b->flags, PG_reserved___census))
		return ZMEM_FRAME_RESERVED;
	if (flag_of(b->flags, PG_hwpoison___census))
		return ZMEM_FRAME_POISONED;
	if (flag_of(b->flags, PG_slab___census))
		return ZMEM_FRAME_SLAB;
	if (b->order && is_old_hugetlb(b->page))
		return b->references ? ZMEM_FRAME_HUGETLB : ZMEM_FRAME_HUGETLB_FREE;
	b->mapped = b->order ? mapped_frames(b->page, b->count) : (__s32)b->maps >= 0;
	if ((b->mapping & 3) == MAPPING_MOVABLE)
		return ZMEM_FRAME_MOVABLE;
	if (b->mapping & MAPPING_ANON)
		return cached ? ZMEM_FRAME_ANON_CACHED : ZMEM_FRAME_ANON;
	if (b->mapping)
		return backed ? ZMEM_FRAME_SHMEM : ZMEM_FRAME_FILE;
	if (!b->references)
		return b->order || is_linked(b->page + PAGE_INFO, b->info) ? ZMEM_FRAME_LISTED
									   : ZMEM_FRAMES;
	if (cached)
		return ZMEM_FRAME_SWAP_CACHE;
	if (bpf_core_field_exists(struct page___census, pp_magic) && IS_POOLED(b->info))
		return ZMEM_FRAME_RING;
	if (b->mapped)
		return ZMEM_FRAME_MAPPED;
	if (is_charged_to_user(b))
		return ZMEM_FRAME_TRUNCATED;
	/* In older kernels it is `index`, the word before `private`. */
	return !b->order && (leads_to_chunk(b->private) || leads_to_chunk(b->index))
		       ? ZMEM_FRAME_PERCPU
		       : ZMEM_FRAME_KERNEL;
}

/* What the frames of a block are that nothing maps; ZMEM_FRAMES: that makes no difference. */
static __always_inline __u32 unmapped_kind(__u32 kind)
{
	switch (kind) {
	case ZMEM_FRAME_ANON:
		return ZMEM_FRAME_ANON_UNMAPPED;
	case ZMEM_FRAME_ANON_CACHED:
		return ZMEM_FRAME_SWAP_CACHE;
	case ZMEM_FRAME_FILE:
		return ZMEM_FRAME_FILE_UNMAPPED;
	case ZMEM_FRAME_SHMEM:
		return ZMEM_FRAME_SHMEM_UNMAPPED;
	default:
		return ZMEM_FRAMES;
	}
}

/* Finds the block at frame `pfn`, and how many of its frames are at and behind `pfn`. */
static __always_inline void find_block(struct zmem_census *c, __u64 pfn, struct block *b)
{
	__u64 page = c->vmemmap + pfn * PAGE_STRUCT_SIZE, all, before;

	*b = (struct block){.page = page, .count = 1};
	read_page(c, b);
	if (b->info & 1) {
		b->page = tail_head(page, b->info);
		read_page(c, b);
	}
	if (b->flags >> bpf_core_enum_value(enum pageflags, PG_head) & 1)
		b->order = compound_order(b->page);
	b->kind = typed_kind(b->maps, &b->bits);
	if (b->kind == ZMEM_FRAME_BUDDY && b->page == page)
		b->order = (__u32)b->private;
	all = b->order <= ORDER_MOST ? 1ULL << b->order : 1;
	before = (page - b->page) / PAGE_STRUCT_SIZE;
	/* A block begins at a multiple of its size. Else it is torn. */
	if (before >= all || ((pfn - before) & (all - 1)))
		all = 1, before = 0, b->order = 0;
	b->count = all;
	if (b->kind == ZMEM_FRAME_HUGETLB && !b->references)
		b->kind = ZMEM_FRAME_HUGETLB_FREE;
	if (b->kind == ZMEM_FRAMES)
		b->kind = plain_kind(b);
	b->count = all - before;
	/* What is absent has no struct pages: reads give 0. */
	if (b->kind == ZMEM_FRAME_HOLE)
		b->count = ZMEM_CENSUS_ABSENT - (pfn & (ZMEM_CENSUS_ABSENT - 1));
	if (b->count > c->end - pfn)
		b->count = c->end - pfn;
	if (b->mapped > b->count)
		b->mapped = b->count;
}

/* ---- owners ---- */

/* Adds the frames of c->owner to the table. */
static __noinline int flush_owner(struct zmem_census *c)
{
	__u64 at, *to;

	if (!c)
		return 0;
	at = c->owner * 0x9e3779b97f4a7c15ULL >> (64 - ZMEM_CENSUS_OWNER_BITS);
	to = c->others;
	for (__u32 i = 0; i < ZMEM_CENSUS_PROBES; i++) {
		struct zmem_census_owner *o = &c->owners[(at + i) & (ZMEM_CENSUS_OWNERS - 1)];

		if (o->key && o->key != c->owner)
			continue;
		o->key = c->owner;
		to = o->frames;
		break;
	}
	for (__u32 i = 0; i < ZMEM_CHARGES; i++) {
		to[i] += c->owned[i];
		c->owned[i] = 0;
	}
	if (c->files) {
		to[ZMEM_CHARGE_FILE_AT] = c->file_at;
		to[ZMEM_CHARGE_OWNER_AT] = c->file_owner;
	}
	return 0;
}

/* Returns the place of the file in wanted[], or ZMEM_CENSUS_FILES. */
static __noinline int find_file(struct zmem_census *c, __u64 mapping)
{
	__u64 place = ZMEM_CENSUS_FILE_PLACE(mapping);

	for (__u32 i = 0; c && i < ZMEM_CENSUS_PROBES; i++) {
		__u32 at = (place + i) & (ZMEM_CENSUS_FILES - 1);

		if (c->wanted[at] == mapping)
			return at;
	}
	return ZMEM_CENSUS_FILES;
}

static __always_inline __u32 charge_of(const struct block *b)
{
	switch (b->kind) {
	case ZMEM_FRAME_ANON:
	case ZMEM_FRAME_ANON_CACHED:
		return ZMEM_CHARGE_ANON;
	case ZMEM_FRAME_FILE:
	case ZMEM_FRAME_TRUNCATED:
		return ZMEM_CHARGE_FILE;
	case ZMEM_FRAME_SHMEM:
	case ZMEM_FRAME_SWAP_CACHE:
		return ZMEM_CHARGE_SHMEM;
	case ZMEM_FRAME_SLAB: /* it is charged by object */
	case ZMEM_FRAME_BUDDY:
	case ZMEM_FRAME_LISTED:
	case ZMEM_FRAME_HOLE:
	case ZMEM_FRAME_RESERVED:
	case ZMEM_FRAME_HUGETLB:
	case ZMEM_FRAME_HUGETLB_FREE:
		return ZMEM_CHARGES;
	default:
		return ZMEM_CHARGE_KERNEL;
	}
}

static __always_inline void charge(struct zmem_census *c, const struct block *b)
{
	__u64 owner = b->charged & ~MEMCG_DATA_MASK;
	__u32 kind = charge_of(b);

	if (!owner || kind >= ZMEM_CHARGES)
		return;
	if (kind == ZMEM_CHARGE_KERNEL)
		c->charged += b->count;
	if (owner != c->owner) {
		if (c->owner)
			flush_owner(c);
		c->owner = owner;
	}
	c->owned[kind] += b->count;
}

/* Frames of a file that is asked for. Also those that no memory cgroup is charged with. */
static __always_inline void charge_file(struct zmem_census *c, const struct block *b)
{
	__u64 owner = b->charged & ~MEMCG_DATA_MASK, key;
	__u32 at;

	if (b->kind != ZMEM_FRAME_FILE && b->kind != ZMEM_FRAME_SHMEM)
		return;
	at = find_file(c, b->mapping);
	if (at >= ZMEM_CENSUS_FILES)
		return;
	/* Two pairs with one key of 64 bits do not happen. */
	key = (owner ^ b->mapping * 0x9e3779b97f4a7c15ULL) | 1;
	if (key != c->owner) {
		if (c->owner)
			flush_owner(c);
		c->owner = key;
		c->file_at = at;
		c->file_owner = owner;
	}
	c->owned[ZMEM_CHARGE_FILE] += b->count;
}

/* ---- page pools ---- */

static __always_inline __u64 pool_of(__u64 page)
{
	if (bpf_core_field_exists(struct netmem_desc, pp))
		return kread_raw(__u64, page + koffset(struct netmem_desc, pp));
	if (bpf_core_field_exists(struct page___census, pp))
		return kread_raw(__u64, page + PAGE(pp));
	return 0;
}

static __noinline int count_pool(struct zmem_census *c, __u64 key, __u64 frames)
{
	__u64 at = key * 0x9e3779b97f4a7c15ULL >> 32;

	if (!c || !key)
		return 0;
	for (__u32 i = 0; i < ZMEM_CENSUS_PROBES; i++) {
		struct zmem_census_pool *p = &c->pools[(at + i) & (ZMEM_CENSUS_POOLS - 1)];

		if (p->key && p->key != key)
			continue;
		p->key = key;
		p->frames += frames;
		break;
	}
	return 0;
}

/* ---- the walk ---- */

static __always_inline void count(struct zmem_census *c, const struct block *b)
{
	__u32 kind = b->kind, unmapped = unmapped_kind(kind);
	__u64 n = b->count;

	if (kind == ZMEM_FRAMES)
		kind = c->last;
	else
		c->last = kind;
	if (kind == ZMEM_FRAME_KERNEL)
		c->blocks[b->order < ZMEM_CENSUS_ORDERS ? b->order : ZMEM_CENSUS_ORDERS - 1] += n;
	if (unmapped < ZMEM_FRAMES) {
		if (kind == ZMEM_FRAME_ANON && b->mapped)
			unmapped = ZMEM_FRAME_ANON_REST;
		c->frames[unmapped] += n - b->mapped;
		n = b->mapped;
	}
	if (kind < ZMEM_FRAMES)
		c->frames[kind] += n;
	for (__u32 i = 0; i < ZMEM_CENSUS_TYPES && b->bits; i++)
		c->types[i] += b->bits >> i & 1 ? b->count : 0;
}

/* True if the frame is in a free block that begins before it: only its first page is marked. */
static __always_inline bool is_inside_free(struct zmem_census *c, __u64 pfn)
{
	__u64 inside = 0;

	for (__u32 order = 1; order <= ORDER_FREE; order++) {
		__u64 page = c->vmemmap + (pfn >> order << order) * PAGE_STRUCT_SIZE;
		__u32 bits;

		inside |= typed_kind(kread_raw(__u32, page + PAGE_MAPCOUNT), &bits) ==
				  ZMEM_FRAME_BUDDY &&
			  kread_raw(__u64, page + PAGE(private)) >= order;
	}
	return inside;
}

/* Goes to the next piece. Returns false at the end. */
static __always_inline bool next_piece(struct zmem_census *c)
{
	__u32 at = c->at;

	if (at >= c->pieces || at >= ZMEM_CENSUS_PIECES)
		return false;
	c->pfn = c->piece[at][0];
	c->end = c->piece[at][1];
	c->at = at + 1;
	c->last = is_inside_free(c, c->pfn) ? ZMEM_FRAME_BUDDY : ZMEM_FRAME_KERNEL;
	return true;
}

/* A global function: it is verified once, and not at each turn of a loop. */
__noinline int visit_frame(__u32 turn)
{
	struct zmem_census *c = census_get();
	struct block b;

	if (!c)
		return 1;
	/* Reads of a hole take as long as hundreds of frames. */
	if (((turn & 255) == 255 || c->last == ZMEM_FRAME_HOLE) && bpf_ktime_get_ns() > c->until)
		return 1;
	if (c->pfn >= c->end)
		return !next_piece(c);
	find_block(c, c->pfn, &b);
	count(c, &b);
	if (b.kind == ZMEM_FRAME_RING)
		count_pool(c, pool_of(b.page), b.count);
	if (c->files)
		charge_file(c, &b);
	else
		charge(c, &b);
	c->pfn += b.count;
	c->steps++;
	return 0;
}

/*
 * What a turn of a loop returns: 0 or 1. The verifier does not know that of a global function, and
 * clang does, from version 19 on: it would leave out the comparison.
 */
static __always_inline long turn_result(int result)
{
	barrier_var(result);
	return result != 0;
}

static long turn_frame(__u32 turn, void *unused)
{
	return turn_result(visit_frame(turn));
}

/* User space runs it. */
SEC("raw_tp/count_frames")
int count_frames(void *ctx)
{
	struct zmem_census *c = census_get();

	if (!c)
		return 0;
	c->marks =
		bpf_core_enum_value_exists(enum pagetype, PGTY_buddy) * ZMEM_MARKS_TYPES |
		bpf_core_enum_value_exists(enum pagetype, PGTY_zsmalloc) * ZMEM_MARKS_ZSMALLOC |
		bpf_core_enum_value_exists(enum pagetype, PGTY_large_kmalloc) * ZMEM_MARKS_KMALLOC |
		bpf_core_field_exists(struct pcpu_chunk, list) * ZMEM_MARKS_PERCPU;
	c->until = bpf_ktime_get_ns() + ZMEM_CENSUS_NS;
	kloop(ZMEM_CENSUS_STEPS, turn_frame, NULL);
	c->done = c->pfn >= c->end && c->at >= c->pieces;
	if (c->done && c->owner) {
		flush_owner(c);
		c->owner = 0;
	}
	return 0;
}

/* ---- names ---- */

static __always_inline __u64 css_subsys(__u64 css)
{
	return kread64(css + koffset(struct cgroup_subsys_state___census, ss));
}

/* The mem_cgroup that an owner is, or belongs to; 0: it is neither, or its memory was freed. */
static __always_inline __u64 memcg_of(__u64 key)
{
	__u64 css_set =
		kread64((__u64)bpf_get_current_task() + koffset(struct task_struct, cgroups));
	__u64 subsys = css_subsys(memory_css(css_set)), css = koffset(struct mem_cgroup, css);

	if (!subsys)
		return 0;
	if (css_subsys(key + css) == subsys)
		return key;
	if (!bpf_core_field_exists(struct obj_cgroup, memcg))
		return 0;
	key = kread64(key + koffset(struct obj_cgroup, memcg));
	return key && css_subsys(key + css) == subsys ? key : 0;
}

_Static_assert(sizeof(struct path_walk) == sizeof(((struct zmem_census *)0)->walk), "room");

/* A global function, as visit_frame(). */
__noinline int write_name(__u32 turn)
{
	struct zmem_census *c = census_get();
	struct path_walk *w;
	__u32 at;
	__u64 word;

	if (!c)
		return 1;
	w = (struct path_walk *)c->walk;
	at = w->path.words;
	if (at >= ZMEM_OOM_PATH_WORDS || !path_next(w) || !path_word(w, &word))
		return 1;
	c->names[at] = word;
	return 0;
}

static long turn_name(__u32 turn, void *unused)
{
	return turn_result(write_name(turn));
}

/* User space runs it: it names the owner c->key. */
SEC("raw_tp/name_owner")
int name_owner(void *ctx)
{
	struct zmem_census *c = census_get();
	struct path_walk *w;
	__u64 cgroup;

	if (!c)
		return 0;
	w = (struct path_walk *)c->walk;
	*w = (struct path_walk){};
	c->memcg = c->id = c->deleted = 0;
	c->path = (struct zmem_oom_path){};
	if (!bpf_core_enum_value_exists(enum cgroup_subsys_id, memory_cgrp_id))
		return 0;
	c->memcg = memcg_of(c->key);
	if (!c->memcg)
		return 0;
	cgroup = kread64(c->memcg + koffset(struct mem_cgroup, css) +
			 koffset(struct cgroup_subsys_state___census, cgroup));
	c->deleted = !(kread32(cgroup + koffset(struct cgroup___census, self) +
			       koffset(struct cgroup_subsys_state___census, flags)) &
		       CSS_ONLINE);
	w->node = w->memory = kread64(cgroup + koffset(struct cgroup, kn));
	c->id = kread64(w->node + koffset(struct kernfs_node___census, id));
	kloop(PATH_STEPS, turn_name, NULL);
	c->path = w->path;
	return 0;
}

/* User space runs it: it names the device of the page pool c->key. */
SEC("raw_tp/name_pool")
int name_pool(void *ctx)
{
	struct zmem_census *c = census_get();
	__u64 name = 0;

	if (!c)
		return 0;
	if (bpf_core_field_exists(struct page_pool, slow.netdev)) {
		__u64 device = kread64(c->key + koffset(struct page_pool, slow.netdev));

		name = device ? device + koffset(struct net_device, name) : 0;
	}
	if (!name && bpf_core_field_exists(struct page_pool, p.dev)) {
		__u64 device = kread64(c->key + koffset(struct page_pool, p.dev));

		name = device ? kread64(device + koffset(struct device, kobj.name)) : 0;
	}
	if (name)
		ktext((__u64 *)c->device, name, ZMEM_DEVICE_NAME / 8);
	else
		c->device[0] = 0;
	text_terminate((__u64 *)c->device, ZMEM_DEVICE_NAME / 8);
	return 0;
}
