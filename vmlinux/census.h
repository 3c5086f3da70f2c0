/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel types of page frames that bpf/census.bpf.c reads, by the rules of vmlinux.h. */
#ifndef ZMEM_VMLINUX_CENSUS_H
#define ZMEM_VMLINUX_CENSUS_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* Since 6.12; the byte at the top of page_type. The values are the running kernel's. */
enum pagetype {
	PGTY_buddy,
	PGTY_offline,
	PGTY_table,
	PGTY_hugetlb,
	PGTY_slab,
	PGTY_zsmalloc,
	PGTY_unaccepted,
	PGTY_large_kmalloc,
	PGTY_netpp,
};

enum pageflags___census {
	PG_reserved___census,
	PG_swapcache___census,
	PG_hwpoison___census, /* with CONFIG_MEMORY_FAILURE */
	PG_slab___census,     /* until 6.9 */
	PG_hugetlb___census,  /* 6.6 to 6.8, in the flags of the second page */
};

/* Until 6.5. */
enum compound_dtor_id {
	HUGETLB_PAGE_DTOR,
};

struct page___census {
	unsigned long private;
	atomic_t _refcount;
	unsigned long memcg_data;      /* since 5.11, with CONFIG_MEMCG */
	struct mem_cgroup *mem_cgroup; /* until 5.10 */
	unsigned long pp_magic;	       /* since 5.14, with CONFIG_PAGE_POOL; it moved in 7.x */
	struct page_pool *pp;
	unsigned char compound_dtor;
	unsigned int compound_nr;
};

/* Since 6.16 with these members, which are those of struct page before. */
struct netmem_desc {
	struct page_pool *pp;
};

struct net_device {
	char name[16];
};

struct page_pool_params_slow {
	struct net_device *netdev;
};

struct kobject {
	const char *name;
};

struct device {
	struct kobject kobj;
};

struct page_pool_params_fast {
	struct device *dev;
};

struct page_pool {
	struct page_pool_params_fast p;	   /* until 6.6 of another type */
	struct page_pool_params_slow slow; /* since 6.7 */
};

struct pcpu_chunk {
	struct list_head list;
};

struct cgroup_subsys;

struct cgroup_subsys_state___census {
	struct cgroup *cgroup;
	struct cgroup_subsys *ss;
	unsigned int flags;
};

struct cgroup___census {
	struct cgroup_subsys_state___census self;
};

struct mem_cgroup {
	struct cgroup_subsys_state___census css;
};

/* Since 5.9. */
struct obj_cgroup {
	struct mem_cgroup *memcg;
};

struct kernfs_node___census {
	__u64 id;
};

#pragma clang attribute pop

#endif
