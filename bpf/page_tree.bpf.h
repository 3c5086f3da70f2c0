/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walks the swapped pages of a file of shared memory: value entries of its tree of pages
 * (lib/xarray.c). A program that includes it defines before:
 *
 *   tree_get()              the struct zmem_tree of the walk; NULL only to the verifier
 *   tree_pages(value, n)    is called with a value entry and the number of its pages in a row that
 *                           the walk covers, from the page that the entry's number belongs to
 */
#ifndef ZMEM_PAGE_TREE_BPF_H
#define ZMEM_PAGE_TREE_BPF_H

#include "zmem/files.h"

#define XA_SLOTS   64
#define XA_LEVELS  8
#define XA(member) koffset(struct xa_node, member)

/* Small kernels (CONFIG_BASE_SMALL) have nodes of 16 slots. */
static __always_inline bool tree_is_known(void)
{
	return bpf_core_field_size(struct xa_node, slots) == XA_SLOTS * sizeof(__u64);
}

/* True if the file is still there: the kernel uses the memory of an inode again. */
static __noinline bool tree_is_there(const struct zmem_tree *t)
{
	__u64 host;

	if (!t)
		return false;
	host = t->mapping - koffset(struct inode, i_data);
	return kread64(t->mapping + koffset(struct address_space___host, host)) == host &&
	       kread64(host + koffset(struct inode, i_ino)) == t->inode &&
	       kread32(host + koffset(struct inode, i_generation)) == t->generation;
}

static __always_inline bool xa_is_node(__u64 entry)
{
	return (entry & 3) == 2 && entry > 4096;
}

/* An entry of several slots is in the first of them; the others have that one's number. */
static __always_inline bool xa_is_sibling(__u64 entry)
{
	return (entry & 3) == 2 && entry < XA_SLOTS << 2;
}

static long tree_slot(__u32 slot, void *unused)
{
	struct zmem_tree *t = tree_get();
	__u64 entry, index;

	if (!t)
		return 1;
	entry = t->slot[slot & (XA_SLOTS - 1)];
	index = (t->index & ~(XA_SLOTS - 1ULL)) + slot;
	/* Siblings follow the entry that they belong to, with the next numbers of swap. */
	if (!xa_is_sibling(entry))
		t->value = entry & 1 ? entry : 0;
	else if (t->value)
		t->value += 2;
	if (t->value && index >= t->first && index <= t->last)
		tree_pages(t->value, 1);
	return 0;
}

/* Steps over one node without children, or over one entry of a node with children. */
static long tree_step(__u32 turn, void *unused)
{
	struct zmem_tree *t = tree_get();
	__u64 entry, node = 0, slot = 0, end, begin;
	__u32 shift = 0;

	if (!t || t->index > t->last)
		return 1;
	entry = kread64(t->mapping + koffset(struct address_space___files, i_pages.xa_head));
	for (int i = 0; i < XA_LEVELS && xa_is_node(entry); i++) {
		node = entry - 2;
		shift = kread32(node + XA(shift)) & 63;
		slot = t->index >> shift;
		/* Behind the last page that the tree has room for. */
		if (i == 0 && slot >= XA_SLOTS) {
			t->index = t->last + 1;
			return 1;
		}
		slot &= XA_SLOTS - 1;
		if (!shift)
			break;
		entry = kread64(node + XA(slots) + slot * 8);
	}
	if (node && !shift) {
		t->value = 0;
		bpf_probe_read_kernel(t->slot, sizeof(t->slot), (const void *)(node + XA(slots)));
		bpf_loop(XA_SLOTS, tree_slot, NULL, 0);
		t->index = (t->index | (XA_SLOTS - 1)) + 1;
		return 0;
	}
	begin = t->index;
	if (node && xa_is_sibling(entry)) {
		begin = ((t->index >> (shift & 63)) - slot + (entry >> 2 & (XA_SLOTS - 1)))
			<< (shift & 63);
		entry = kread64(node + XA(slots) + (entry >> 2 & (XA_SLOTS - 1)) * 8);
	} else {
		begin = begin >> (shift & 63) << (shift & 63);
	}
	end = node ? t->index | ((1ULL << (shift & 63)) - 1) : 0;
	if (end > t->last)
		end = t->last;
	if (entry & 1 && end >= t->index)
		tree_pages(entry + ((t->index - begin) << 1), end - t->index + 1);
	t->index = (node ? t->index | ((1ULL << (shift & 63)) - 1) : t->last) + 1;
	return 0;
}

#endif
