// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Counts pages one by one: by node, lazily freed ones, hugetlb pages, and the rest of huge pages
 * that are mapped in part. It finds pages as the walk for PSS does (page_walk.bpf.h), and looks at
 * all of them, also at those that no other process can have.
 *
 * It is loaded when one of these is asked for. No lock and no reference is taken: user space
 * compares the pages found with the counters of the process.
 */
#define ZMEM_EACH_PAGE
#include "vmlinux.h"
#include "flavors.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "kfuncs.h"
#include "zmem/pages.h"
#include "kread.bpf.h"
#include "user_regs.bpf.h"
#include "percpu.bpf.h"
#include "mm.bpf.h"
#include "pid_view.bpf.h"
#include "walk_state.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct zmem_pages_visit);
} pages SEC(".maps");

static __always_inline struct zmem_pages_visit *pages_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&pages, &zero);
}

/* ---- what page_walk.bpf.h asks for ---- */

/* The key of a page: its kind in two bits, whether it is lazily freed, its node. */
#define KEY_BITS       8
#define KEY_LAZY       4
#define KEY_NODE_SHIFT 3
#define KEY_NODE_MASK  31
#define KEY_NODE(key)  ((__u32)((key) >> KEY_NODE_SHIFT) & KEY_NODE_MASK)

/* Whether the folio is lazily freed, if its entry is not dirty. No branch: see page_kind(). */
static __always_inline __u32 key_lazy(__u64 anon, __u64 flags)
{
	__u64 no = flags >> bpf_core_enum_value(enum pageflags, PG_swapbacked) |
		   flags >> bpf_core_enum_value(enum pageflags___dirty, PG_dirty___dirty);

	return (anon & ~no & 1) * KEY_LAZY;
}

/* The frame that is looked for. */
struct span_search {
	__u64 pfn, first, count, node;
};

static long find_span(__u32 turn, struct span_search *search)
{
	struct zmem_pages_visit *v = pages_get();
	const struct zmem_node_span *span;

	if (!v || turn >= v->spans)
		return 1;
	span = &v->span[turn & (ZMEM_NODE_SPANS - 1)];
	if (search->pfn - span->first >= span->end - span->first)
		return 0;
	search->first = span->first;
	search->count = span->end - span->first;
	search->node = span->node;
	return 1;
}

/* The frame is not in the span of the last one. A frame of no span has no node. */
__noinline int change_span(struct page_walk *w, __u64 pfn)
{
	struct span_search search = {.pfn = pfn, .first = pfn, .count = 1, .node = KEY_NODE_MASK};

	if (!w)
		return 0;
	bpf_loop(ZMEM_NODE_SPANS, find_span, &search, 0);
	w->span_first = search.first;
	w->span_count = search.count;
	w->span_key = (search.node & KEY_NODE_MASK) << KEY_NODE_SHIFT;
	return 0;
}

/* Adds the node to the key, and clears KEY_LAZY if the entry is dirty. */
static __always_inline __u64 each_key(struct page_walk *w, __u64 key, __u64 entry, __u64 pfn)
{
	if (pfn - w->span_first >= w->span_count)
		change_span(w, pfn);
	if (entry_is_dirty(entry))
		key &= ~(__u64)KEY_LAZY;
	return key | w->span_key;
}

static __always_inline void add_pages(struct zmem_pages_sum *sum, __u64 key, __u64 count,
				      __u64 share)
{
	__u32 node = KEY_NODE(key);

	if (key & KEY_LAZY)
		sum->lazy += count;
	if (node >= ZMEM_NODES) {
		sum->strays += count;
		return;
	}
	node &= ZMEM_NODES - 1;
	sum->pages[node] += count;
	sum->share[node] += share;
}

/* The sum of the VMA that is walked. */
static __always_inline struct zmem_pages_sum *vma_sum(struct zmem_pages_visit *v)
{
	return &v->vma[(v->vmas - 1) & (ZMEM_PAGES_VMAS - 1)].sum;
}

__noinline int add_run(__u64 key, __u64 count, __u64 share)
{
	struct zmem_pages_visit *v = pages_get();

	if (!v)
		return 0;
	add_pages(&v->record.sum, key, count, share);
	if (v->asked & ZMEM_PAGES_BY_VMA)
		add_pages(vma_sum(v), key, count, share);
	return 0;
}

#define count_each(w, key, count, part) add_run(key, count, (__u64)(part) * (count))

#define keep_huge_entry(entry)		(w->huge_entry = (entry)&ENTRY_DIRTY)
#define huge_entry_bits()		w->huge_entry

/* There is no room for the sums of another VMA. */
static __always_inline bool each_is_full(void)
{
	struct zmem_pages_visit *v = pages_get();

	return v && (v->asked & ZMEM_PAGES_BY_VMA) && v->vmas >= ZMEM_PAGES_VMAS;
}

int count_run(walk_ref walk, __u64 key, __u64 count);
static __always_inline bool each_vma(struct page_walk *w, __u64 start, __u64 flags, __u64 anon_vma);
static __always_inline int walk_hugetlb(struct page_walk *w);

#define WANT struct zmem_visit_want
#include "visit.bpf.h"

/* Whether the VMA has to be walked. */
static __always_inline bool each_vma(struct page_walk *w, __u64 start, __u64 flags, __u64 anon_vma)
{
	struct zmem_pages_visit *v = pages_get();

	if (!v)
		return false;
	w->hugetlb = !!(flags & VM_HUGETLB);
	if (w->hugetlb) {
		if (!(v->asked & ZMEM_PAGES_HUGETLB))
			return false;
	} else if (!(v->asked & ZMEM_PAGES_NODES) &&
		   !(v->asked & (ZMEM_PAGES_LAZY | ZMEM_PAGES_REST) && anon_vma)) {
		return false;
	}
	if (v->asked & ZMEM_PAGES_BY_VMA) {
		/* The pages of the run belong to the VMA before. */
		count_run(w, w->run, w->run_count);
		w->run_count = 0;
		v->vmas++;
		v->vma[(v->vmas - 1) & (ZMEM_PAGES_VMAS - 1)].start = start;
		__builtin_memset(vma_sum(v), 0, sizeof(struct zmem_pages_sum));
	}
	return true;
}

/* ---- the rest of huge pages ---- */

/* Sets what is known of the folio with this head. */
static __always_inline void read_rest(struct page_walk *w, __u64 head)
{
	__u64 all = 1ULL << (compound_order(head) & 31), mapped;

	mapped = folio_entire(head) > 0 ? all : pages_mapped(head);
	w->rest_head = head;
	w->rest_mapped = mapped < all ? mapped : all;
	w->rest = mapped < all ? all - mapped : 0;
}

/* Adds a page of an anonymous folio that is mapped by itself. */
__noinline int add_rest(struct page_walk *w, __u64 page, __u64 maps)
{
	struct zmem_pages_visit *v = pages_get();
	__u64 info, head, share;

	if (!v || !w || !maps)
		return 0;
	info = kread_raw(__u64, page + PAGE_INFO);
	head = info & 1 ? tail_head(page, info) : page;
	if (head == page &&
	    !(kread_raw(__u64, page + PAGE_FLAGS) >> bpf_core_enum_value(enum pageflags, PG_head) &
	      1))
		return 0;
	if (head != w->rest_head)
		read_rest(w, head);
	if (!w->rest_mapped) {
		v->record.sum.rest_unknown++;
		if (v->asked & ZMEM_PAGES_BY_VMA)
			vma_sum(v)->rest_unknown++;
		return 0;
	}
	share = (w->rest << ((page_bits(w) + ZMEM_PSS_SHIFT) & 63)) / (w->rest_mapped * maps);
	v->record.sum.rest += share;
	if (v->asked & ZMEM_PAGES_BY_VMA)
		vma_sum(v)->rest += share;
	return 0;
}

static __always_inline void meet_page(walk_ref walk, __u64 page, __u64 key, __u64 count)
{
	struct zmem_pages_visit *v = pages_get();

	if (v && v->asked & ZMEM_PAGES_REST && count == 1 && KEY_KIND(key) == ZMEM_RSS_ANON)
		add_rest(walk_get(walk), page, KEY_MAPS(key));
}

/* ---- hugetlb ---- */

/*
 * How many processes have the table at that frame: processes that map the same part of a file of
 * hugetlb pages share the tables of it (huge_pmd_share(), mm/hugetlb.c), and a page counts one
 * mapping for all of them.
 */
static __always_inline __u32 table_sharers(const struct page_walk *w, __u64 pfn)
{
	__u64 page = page_at(w, pfn);
	__u32 count;

	if (bpf_core_field_exists(struct ptdesc, pt_share_count))
		return kread32(page + koffset(struct ptdesc, pt_share_count)) + 1;
	count = kread32(page + koffset(struct page___old, _refcount));
	return count ? count : 1;
}

/* Adds the share of a hugetlb page, or of the part of it that one entry maps. */
static __always_inline void add_hugetlb(struct page_walk *w, __u64 pfn, __u32 shift, __u64 sharers)
{
	struct zmem_pages_visit *v = pages_get();
	__u64 head = page_head(page_at(w, pfn)), share = 1ULL << ((shift + ZMEM_PSS_SHIFT) & 63);
	__u32 maps = kread32(head + member_offset(folio, _entire_mapcount)) + 1;
	__u64 divisor = maps * sharers;

	if (!v)
		return;
	if (!maps || maps >> 31 || !divisor || sharers >> 24) {
		w->pages.flags |= ZMEM_WALK_UNKNOWN;
		return;
	}
	share /= divisor;
	v->record.sum.hugetlb += share;
	if (v->asked & ZMEM_PAGES_BY_VMA)
		vma_sum(v)->hugetlb += share;
}

/* Counts the hugetlb page at w->addr, if there is one. */
__noinline int walk_hugetlb_page(struct page_walk *w)
{
	__u64 table, entry, shift, phys, last = 0;

	if (!w)
		return 0;
	table = w->pgd;
	shift = w->at.top_shift;
	for (int level = 0; level < 5; level++) {
		entry = kread64(table + (table_index(w, w->addr, shift) << 3));
		if (shift <= page_bits(w) || !entry_is_table(entry))
			break;
		phys = entry_phys(w, entry);
		if (phys >> page_bits(w) >= w->at.pfn_end)
			break;
		last = phys;
		table = w->at.direct + phys;
		shift -= table_bits(w);
	}
	w->pages.work += 4;
	if (entry & (ENTRY_PRESENT | ENTRY_PROTNONE) &&
	    (shift <= page_bits(w) || entry_is_huge(entry))) {
		phys = entry_phys(w, entry) >> (shift & 63) << (shift & 63);
		if (phys >> page_bits(w) >= w->at.pfn_end)
			w->pages.flags |= ZMEM_WALK_UNKNOWN;
		else
			add_hugetlb(w, phys >> page_bits(w), shift,
				    shift == pmd_bits(w) ? table_sharers(w, last >> page_bits(w))
							 : 1);
	}
	w->addr = ((w->addr >> (shift & 63)) + 1) << (shift & 63);
	if (w->addr > w->end)
		w->addr = w->end;
	return 0;
}

static __always_inline int walk_hugetlb(struct page_walk *w)
{
	return walk_hugetlb_page(w);
}

/* ---- processes ---- */

/* A global function, for its own stack frame. */
__noinline int read_counters(__u64 mm, struct rss_pages *ret)
{
	return ret ? read_rss(mm, ret) : 0;
}

static __always_inline void before_walk(struct page_walk *w, __u64 leader, WANT *want)
{
	struct zmem_pages_visit *v = pages_get();

	if (!v)
		return;
	v->vmas = 0;
	read_counters(w->mm, (struct rss_pages *)v->record.before);
}

static __always_inline void after_walk(struct page_walk *w, __u64 leader, WANT *want)
{
	struct zmem_pages_visit *v = pages_get();

	if (!v)
		return;
	read_counters(w->mm, (struct rss_pages *)v->record.after);
	__builtin_memcpy(v->record.seen, w->pages.seen, sizeof(v->record.seen));
}

SEC("iter/task")
int walk_each(struct bpf_iter__task *ctx)
{
	struct zmem_pages_visit *v = pages_get();

	return v ? write_visit(ctx, &v->at, &v->record.visit, sizeof(v->record)) : 0;
}
