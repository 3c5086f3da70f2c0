/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where file systems are mounted: /proc/PID/mountinfo (show_mountinfo(), fs/proc_namespace.c). */
#ifndef ZMEM_PROC_MOUNTS_H
#define ZMEM_PROC_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

#define MOUNTS_MAX 65536

struct mount {
	uint32_t device;   /* the kernel's dev_t: 20 bits of minor number */
	uint32_t order;	   /* in the file */
	const char *root;  /* the directory of the file system that is mounted */
	const char *point; /* where */
	const char *type;  /* of the file system: "ext4" */
	uint64_t id;	   /* of the mount, as in /proc/PID/fdinfo/ */
	uint64_t parent;   /* the id of the mount that it is on */
	bool hidden;	   /* another mount is on a directory above it */
};

/* Sorted by device. Zeroed memory is an empty list. */
struct mounts {
	struct mount *mount;
	size_t count, capacity;
	const struct mount **child; /* all that are on another one, by parent and point */
	size_t children;
	struct arena arena;
};

/*
 * Reads the mounts of the whole file into an empty list; lines that are not understood are skipped.
 * Returns 0 or -ENOMEM.
 */
int mounts_parse(const char *text, size_t len, struct mounts *m);
/* The same for a file under dirfd. Returns 0 or a negative errno. */
int mounts_read(int dirfd, const char *path, struct mounts *m);
/*
 * The mount through which a path of the file system can be seen: the one with the longest root, of
 * these the last one. One that is hidden, or has another mount on this path, is taken only if there
 * is no other: then *ret_hidden is true, and the whole path leads elsewhere or nowhere. NULL: none.
 */
const struct mount *mounts_find(const struct mounts *m, uint32_t device, const char *path,
				bool *ret_hidden);
/* The part of the path below the mount: "" or "/…". */
const char *mount_below(const struct mount *mount, const char *path);
void mounts_done(struct mounts *m);

#endif
