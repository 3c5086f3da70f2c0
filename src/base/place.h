/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Resolves a path once, to a directory that is held open and a name in it. Operations relative to
 * that directory cannot be redirected by a process that exchanges names.
 *
 * Refused with a reason:
 *   - a symbolic link, anywhere in the path, that belongs neither to us nor to root;
 *   - a link with several names (hard links) in a directory that others can write to;
 *   - in a sticky directory, a file that belongs neither to us nor to the owner of the directory,
 *     or that has several names;
 *   - a FIFO that belongs neither to us nor to root.
 */
#ifndef ZMEM_BASE_PLACE_H
#define ZMEM_BASE_PLACE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

struct place {
	int dir;		 /* O_PATH */
	char name[NAME_MAX + 1]; /* in dir; without a slash */
	int entry;		 /* O_PATH: the file, not a symbolic link; -1: it does not exist */
	bool by_proc;		 /* the name is a link of /proc to an open file of a process */
	struct stat st;		 /* of entry */
	struct stat dir_st;	 /* of dir */
	const char *refusal;	 /* the reason of a refusal and what to do; else NULL */
};

/*
 * Returns 0 or a negative errno (-EPERM and a refusal). Allocates no memory. Call place_done() in
 * either case.
 */
int place_find(struct place *p, const char *path);
/*
 * Opens the entry for appending, without waiting. Returns a descriptor or a negative errno: -EAGAIN
 * for a FIFO without a reader, -ESTALE if another file has the name meanwhile, -EPERM and a refusal
 * if it has several names and others can write to the directory.
 */
int place_append(struct place *p);
void place_done(struct place *p);

#endif
