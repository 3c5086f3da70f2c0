/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files with pages in RAM or in swap: shared memory, tmpfs and the page cache. It does no I/O. */
#ifndef ZMEM_MODEL_FILES_H
#define ZMEM_MODEL_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/snapshot.h"

/* Which sum of the kernel the pages of a file are in. They are shown in this order. */
enum file_account {
	FILE_IN_SHMEM,	 /* Shmem, which is a part of Cached */
	FILE_IN_HUGETLB, /* Hugetlb alone */
	FILE_IN_CACHE,	 /* Cached or Buffers, and not Shmem */
	FILE_ACCOUNTS,
};

struct cached_file {
	enum file_kind kind;
	enum file_account account;
	bool mapped;			  /* some process maps it */
	bool dirty;			  /* a page waits to be written; only FILE_IN_CACHE */
	bool deleted;			  /* it has no name in a directory any more */
	bool path_cut;			  /* the path is too long: its beginning is missing */
	bool segment;			  /* of shmget(): `inode` is its shmid */
	bool dest;			  /* a segment that was removed, and is still attached */
	bool hidden;			  /* its path leads elsewhere: something is mounted there */
	bool size_unknown;		  /* FILE_SIZE_MAX or more */
	uint64_t resident, swapped, size; /* bytes */
	uint64_t unevictable; /* bytes in RAM that the kernel can neither free nor swap */
	uint64_t swap_ram;    /* what its pages in swap take in RAM, compressed */
	bool swap_ram_unknown;
	uint64_t inode;
	uint32_t generation; /* of the inode: numbers of inodes come again */
	uint32_t device;     /* the kernel's dev_t: 20 bits of minor number */
	uint32_t system;     /* the number of the file system in the walk */
	uint32_t files;	     /* how many files a row sums; 1 if it is not a sum */
	uint64_t mapping;    /* by which the source finds it again */
	uint64_t owner;	     /* by which census_source_owner() finds its cgroup; 0: not known */
	bool wanted;	     /* its holders are to be read */
	bool holders_known;
	bool holders_hidden; /* besides, an address space of no process that is seen maps it */
	uint32_t holder_count;
	const struct file_holder *holder; /* in the order of pids */
	/* The memory cgroups that its pages in RAM are charged to, largest first. */
	bool charges_known;
	uint32_t charge_count;
	const struct file_charge *charge;
	const char *charged; /* file_charges_text() of them; NULL: not read, or none */
	const char *fs;	     /* the type of the file system: "tmpfs" */
	const char *name;    /* without directories; NULL: not known */
	const char *path;    /* below the mount point, else inside the file system; NULL: none */
	const char *mount;   /* our mount point; NULL: none here, or the file has no path */
	const char *label;   /* in place of a path that does not begin at our root; NULL: none */
};

/* The kernel's own files have 2^63 - 1 for "no end" (btrfs), which no sum and no JSON can hold. */
#define FILE_SIZE_MAX (UINT64_C(1) << 53)

/* A process that has a file open or maps it. */
struct file_holder {
	pid_t pid;
	char comm[16];	   /* terminated; any bytes */
	uint64_t start_ns; /* since the boot */
	const char *name;  /* of its program; NULL: not read, or comm alone is known */
};

#define FILE_HOLDERS_SHOWN 3 /* in a table, unless it is wide */

/* What users call the holder; if that was not read, its comm. */
static inline const char *file_holder_name(const struct file_holder *h)
{
	return h->name ? h->name : h->comm;
}

/* What a memory cgroup is charged of a file. */
struct file_charge {
	const char *cgroup; /* from the root of the hierarchy; NULL: none, or not known */
	bool deleted;	    /* its directory was removed */
	uint64_t bytes;
	size_t row; /* of the report, while charges are sorted */
};

#define FILE_MAJOR(device) ((device) >> 20)
#define FILE_MINOR(device) ((device)&0xfffff)

/* Files with pages that are on no list of inodes (alloc_anon_inode(), fs/libfs.c). */
enum file_unlisted {
	FILE_UNLISTED_AIO,	   /* rings of io_setup(), fs/aio.c */
	FILE_UNLISTED_SECRETMEM,   /* mm/secretmem.c */
	FILE_UNLISTED_GUEST_MEMFD, /* virt/kvm/guest_memfd.c */
	FILE_UNLISTED,
};

/* "secretmem", by enum file_unlisted; the last one is NULL. */
extern const char *const file_unlisted_words[];

/* Zeroed memory is an empty set. */
struct file_set {
	struct cached_file *file;
	size_t count, capacity;
	uint32_t systems;  /* file systems that were visited */
	uint32_t unsure;   /* of these: lists that changed at every try */
	uint32_t unlisted; /* a bit for each kind that the machine may have */
	struct arena arena;
};

/* Whether pages of the file can wait to be written: not those of memory that no device has. */
bool file_is_written(const struct cached_file *f);

void file_set_done(struct file_set *s);
void file_set_clear(struct file_set *s);
/* Returns the new file, all 0, or NULL without memory. */
struct cached_file *file_set_add(struct file_set *s);

/*
 * The name that is shown: the path, else the name, else the inode, in `buf`. Of a segment the name,
 * which has its key, and the shmid.
 */
#define FILE_LABEL_MAX 48
const char *file_label(const struct cached_file *f, char buf[FILE_LABEL_MAX]);
#define FILE_STATE_MAX 48
/* "mapped,dirty,deleted,dest,unevictable,hidden", in `buf`. */
const char *file_state(const struct cached_file *f, char buf[FILE_STATE_MAX]);

/* Of a file of which the holders were read: "ok", "hidden", or "mappings" if there are too many. */
const char *file_holders_status(const struct cached_file *f);

/* ---- rows ---- */

/* In the order of enum file_group. */
#define FILE_GROUP_WORDS "fs, mount, kind, dir"

enum file_group {
	FILE_GROUP_NONE,
	FILE_GROUP_FS,
	FILE_GROUP_MOUNT,
	FILE_GROUP_KIND,
	FILE_GROUP_DIR,
	FILE_GROUPS,
};

/* "mount"; NULL of FILE_GROUP_NONE. */
const char *file_group_name(enum file_group group);

/* Adds a row to a sum; zeroed memory is an empty sum. Only amounts of a sum have a meaning. */
void file_add(struct cached_file *sum, const struct cached_file *f);

struct field_list;

/* The result of a command. */
struct files_report {
	const struct snapshot *snapshot;  /* host, time and meminfo alone */
	const char *group;		  /* the key of groups, NULL: rows are files */
	bool holders, cgroups;		  /* they were read */
	const struct field_list *columns; /* of the table */
	bool columns_chosen;		  /* none may be left out on a narrow terminal */
	const struct cached_file *const *rows;
	size_t row_count;
	size_t others_count;		  /* rows that are not shown */
	struct cached_file total, others; /* sums */
	/* For all files of the machine, also those that the filters hide. */
	struct cached_file account[FILE_ACCOUNTS];
	uint32_t systems, unsure, unlisted;
};

/*
 * What the kernel counts: of hugetlb pages the whole pool. False: not in meminfo.
 */
bool files_kernel_sum(const struct meminfo *m, enum file_account account, uint64_t *ret);

#endif
