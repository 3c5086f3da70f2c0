/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whole files, read and written. */
#ifndef ZMEM_BASE_FILE_H
#define ZMEM_BASE_FILE_H

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* True for errors that are our own want of files or memory, and say nothing about a file. */
static inline bool file_exhausted(int error)
{
	return error == -EMFILE || error == -ENFILE || error == -ENOMEM;
}

/* What the user can do about it, NULL for other errors. */
static inline const char *file_exhausted_todo(int error)
{
	if (error == -EMFILE)
		return "ulimit -n 256";
	if (error == -ENFILE)
		return "sysctl fs.file-max";
	return error == -ENOMEM ? "memory.max, ulimit -v, ulimit -d" : NULL;
}

/*
 * Reads a file under dirfd (or an absolute path) into buf, up to cap - 1 bytes, and terminates it.
 * Returns its length or a negative errno.
 */
ssize_t file_read(int dirfd, const char *path, char *buf, size_t cap);
/* Likewise from an open file. */
ssize_t file_read_fd(int fd, char *buf, size_t cap);
/* Writes everything, whatever interrupts. Returns 0 or a negative errno. */
int file_write_fd(int fd, const void *data, size_t len);

/*
 * A file that appears whole or not at all: written beside its name, synced, renamed; without a name
 * until then, where the file system can, so that nothing stays behind whatever ends us. The mode of
 * an old file is kept, and its owner if we may; in a sticky directory no file is given to another
 * user. What is not a regular file (a pipe, a device) is written to directly; for the reader of a
 * FIFO it waits. The path is looked up once, by the rules of base/place.h.
 */
struct file_atomic {
	int fd;
	int dir;		 /* O_PATH: the directory */
	char name[NAME_MAX + 1]; /* in it; "": never opened */
	char *temp;		 /* its name meanwhile, NULL: it has none */
	bool beside;		 /* false: written directly */
	bool private;		 /* no other user may read it, whatever was there before */
	bool sticky;		 /* the directory is */
	const char *refusal;	 /* after -EPERM: why, and what to do; or NULL */
};

int file_atomic_open(struct file_atomic *f, const char *path);
/* It is ours and its mode is 0600, whatever the old file was. */
int file_atomic_open_private(struct file_atomic *f, const char *path);
/* Does what may take long of a commit: what was written is on the disk, still without its name. */
int file_atomic_sync(struct file_atomic *f);
/* Syncs and renames. Returns 0, or a negative errno and the old file is as it was. */
int file_atomic_commit(struct file_atomic *f);
/* Throws away what was not committed. Harmless after commit. */
void file_atomic_close(struct file_atomic *f);

/*
 * Opens a file to append to it, or makes it, by the same rules. Returns a descriptor or a negative
 * errno: -EAGAIN if it is a FIFO without a reader. *ret_refusal: as above.
 */
int file_append_open(const char *path, const char **ret_refusal);

#endif
