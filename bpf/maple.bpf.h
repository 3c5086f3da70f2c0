/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the VMAs of an mm in its maple tree (6.1 and later). Layout of nodes:
 * include/linux/maple_tree.h.
 *
 * Before it is included are defined: MAPLE_WALK, a struct with `next`, `entry`, `max`, `slot` and
 * `done`, of which all but the first begin as 0; maple_root(w), the root of the tree;
 * maple_vma(w, vma, last) for each VMA, which ends before last + 1; and maple_torn(w), for a broken
 * tree.
 */
#ifndef ZMEM_MAPLE_BPF_H
#define ZMEM_MAPLE_BPF_H

#define MAPLE_TYPE(entry) ((entry) >> 3 & 15)
#define MAPLE_NODE(entry) ((entry) & ~0xffULL)
/* ma_is_leaf() (lib/maple_tree.c). */
#define MAPLE_IS_LEAF(entry) (MAPLE_TYPE(entry) < MAPLE_ENUM(maple_range_64))
#define MAPLE_ENUM(name)     ((__u64)bpf_core_enum_value(enum maple_type, name))
/* Words of a node: its parent, the pivots, and one slot more than pivots. */
#define MAPLE_ARANGE_PIVOTS 9
#define MAPLE_RANGE_PIVOTS  15

static __always_inline __u64 maple_word(__u64 entry, __u64 index)
{
	return kread64(MAPLE_NODE(entry) + index * sizeof(__u64));
}

struct descent {
	__u64 entry, next, pivots;
	__u64 slot; /* in: 0; out: the first slot with a pivot of at least `next` */
};

static long descend_pivot(__u32 index, struct descent *d)
{
	__u64 pivot = maple_word(d->entry, 1 + index);

	/* A zero ends the used pivots; the last slot reaches to the end of the node. */
	if ((index && !pivot) || pivot >= d->next)
		return 1;
	d->slot = index + 1;
	return 0;
}

/* Goes one node down in the maple tree, towards w->next. */
static __always_inline void descend(MAPLE_WALK *w)
{
	struct descent d = {};
	__u64 pivot;

	d.entry = w->entry;
	d.next = w->next;
	d.pivots = MAPLE_TYPE(d.entry) == MAPLE_ENUM(maple_arange_64) ? MAPLE_ARANGE_PIVOTS
								      : MAPLE_RANGE_PIVOTS;
	kloop((__u32)d.pivots, descend_pivot, &d);
	pivot = maple_word(d.entry, 1 + d.slot);
	if (d.slot < d.pivots && pivot && pivot < w->max)
		w->max = pivot;
	w->entry = maple_word(d.entry, 1 + d.pivots + d.slot);
	w->slot = 0;
}

/* Reads the next slot of the leaf, a VMA or a gap. After the last slot the descent starts anew. */
static __always_inline void next_slot(MAPLE_WALK *w)
{
	__u64 i, last, vma;

	i = w->slot++;
	last = i < MAPLE_RANGE_PIVOTS ? maple_word(w->entry, 1 + i) : w->max;
	if (i >= MAPLE_RANGE_PIVOTS || (i && !last) || last >= w->max) {
		last = w->max;
		w->slot = 0;
	}
	if (last >= w->next) {
		vma = maple_word(w->entry, 1 + MAPLE_RANGE_PIVOTS + i);
		if (vma)
			maple_vma(w, vma, last);
		w->next = last + 1;
		if (!w->next)
			w->done = 1;
	}
	if (!w->slot)
		w->entry = 0;
}

/* A step among the VMAs. Returns 1 if it cannot go on. */
static __always_inline int maple_step(MAPLE_WALK *w)
{
	if (!w->entry) {
		w->entry = maple_root(w);
		w->max = ~0ULL;
		/*
		 * A root that is not a node (xa_is_node()): there is at most one VMA.
		 */
		if ((w->entry & 3) != 2)
			w->entry = 0;
	}
	if (!(w->entry >> 63)) {
		maple_torn(w);
		return 1;
	}
	if (MAPLE_IS_LEAF(w->entry))
		next_slot(w);
	else
		descend(w);
	return 0;
}

#endif
