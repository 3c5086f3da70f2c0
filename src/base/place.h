/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a path leads, found once: a directory that is held open, and a name in it. What is done
 * relative to that directory cannot be led elsewhere by a process that exchanges names.
 *
 * Refused with a reason:
 *   - a symbolic link, anywhere in the path, that belongs neither to us nor to root;
 *   - a link with several names (hard links) in a directory that others can write to;
 *   - in a sticky directory, what belongs neither to us nor to the owner of the directory, or has
 *     several names;
 *   - a FIFO that belongs neither to us nor to root.
 */
#ifndef ZMEM_BASE_PLACE_H
#define ZMEM_BASE_PLACE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

struct place {
	int dir;		 /* O_PATH */
	char name[NAME_MAX + 1]; /* in dir; no slash in it */
	int entry;		 /* O_PATH: what has the name, no symbolic link; -1: nothing */
	bool by_proc;		 /* the name is a link of /proc to a file that a process has open */
	struct stat st;		 /* of entry */
	struct stat dir_st;	 /* of dir */
	const char *refusal;	 /* of a place that was refused, and what to do; else NULL */
};

/*
 * Returns 0 or a negative errno (-EPERM and a refusal). Takes no memory. place_done() in either
 * case.
 */
int place_find(struct place *p, const char *path);
/*
 * Opens the entry to append to it, and never waits. Returns a descriptor or a negative errno:
 * -EAGAIN if it is a FIFO without a reader, -ESTALE if the name is of another file meanwhile,
 * -EPERM and a refusal if it has several names and others can write to the directory.
 */
int place_append(struct place *p);
void place_done(struct place *p);

#endif
