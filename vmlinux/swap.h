/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel types of swap that bpf/swap.bpf.c reads, by the rules of vmlinux.h. Those of zram and
 * zswap may be in a module, or missing.
 */
#ifndef ZMEM_VMLINUX_SWAP_H
#define ZMEM_VMLINUX_SWAP_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* Any memory is read as this (bpf/kread.bpf.h). */
struct posix_cputimer_base {
	__u64 nextevt;
};

struct plist_node {
	struct list_head node_list;
};

struct gendisk;

struct block_device {
	struct gendisk *bd_disk;
};

struct gendisk {
	struct block_device *part0;
	void *private_data;
};

/* Its size alone is used. */
struct swap_table {
	atomic_long_t entries[0];
};

struct swap_cluster_info {
	void *table;
	unsigned int *extend_table;
};

struct swap_info_struct {
	unsigned long flags;
	short prio;
	struct plist_node list;
	signed char type;
	unsigned int max;
	unsigned char *swap_map;
	unsigned long *zeromap;
	struct swap_cluster_info *cluster_info;
	unsigned int pages;
	atomic_long_t inuse_pages;
	struct block_device *bdev;
	struct file *swap_file;
};

/* A number, and no atomic, until 6.6. */
struct swap_info_struct___plain {
	unsigned int inuse_pages;
};

/* fs/eventpoll.c */

struct eppoll_entry {
	void *whead;
};

struct epitem {
	struct rb_node rbn;
	struct eppoll_entry *pwqlist;
};

struct eventpoll {
	struct rb_root_cached rbr;
};

enum pageflags___swap {
	PG_swapcache___swap,
};

/* ---- drivers/block/zram/zram_drv.h ---- */

struct zram_table_entry {
	unsigned long handle;
	unsigned long flags;
};

struct zram_attr___new {
	__u32 flags;
};

/* Since 7.2. */
struct zram_table_entry___new {
	struct zram_attr___new attr;
};

struct zram {
	struct zram_table_entry *table;
	struct gendisk *disk;
	__u64 disksize;
};

enum zram_pageflags {
	ZRAM_SAME,
	ZRAM_WB,
	ZRAM_HUGE,
};

/* ---- mm/zswap.c ---- */

struct zswap_entry {
	struct rb_node rbnode; /* until 6.8 */
	unsigned int length;
};

#pragma clang attribute pop

#endif
