/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads and writes whole files, appends to files and replaces them atomically. Paths that users
 * give are resolved such that no other user can redirect them.
 */
#ifndef ZMEM_BASE_FILE_H
#define ZMEM_BASE_FILE_H

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* True for errors that mean a lack of descriptors or memory and say nothing about the file. */
static inline bool file_exhausted(int error)
{
	return error == -EMFILE || error == -ENFILE || error == -ENOMEM;
}

/*
 * What to raise after such an error: commands and limits, for a message. NULL for other errors. 256
 * descriptors are many more than any command needs.
 */
static inline const char *file_exhausted_hint(int error)
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
/*
 * The number behind a name at the beginning of a line of such a file; "": in its first line. False
 * if it cannot be read.
 */
bool file_number(int dirfd, const char *path, const char *name, uint64_t *ret);
/* Reads an open file, as file_read() does. */
ssize_t file_read_fd(int fd, char *buf, size_t cap);
/*
 * Reads `len` bytes at an offset, fewer at the end of the file. Returns their number or a negative
 * errno.
 */
ssize_t file_read_at(int fd, uint64_t at, void *buf, size_t len);
/* Opens a directory under dirfd to list it. NULL on failure, and errno says why. */
DIR *dir_open(int dirfd, const char *path);
/* Writes all bytes and retries after interrupts. Returns 0 or a negative errno. */
int file_write_fd(int fd, const void *data, size_t len);

/* ---- paths ---- */

/*
 * A path, resolved once to a directory that is held open and a name in it. Operations relative to
 * that directory cannot be redirected by a process that exchanges names.
 *
 * Refused with a reason:
 *   - a symbolic link, anywhere in the path, that belongs neither to us nor to root;
 *   - a link with several names (hard links) in a directory that others can write to;
 *   - in a sticky directory, a file that belongs neither to us nor to the owner of the directory,
 *     or that has several names;
 *   - a FIFO that belongs neither to us nor to root.
 */
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
 * Returns 0 or a negative errno: -EPERM and a refusal; -EISDIR if the path is a directory, which
 * `dir` then is. It sets all of *p and allocates no memory. Call place_done() in either case. Where
 * place_find() may not be reached, *p begins with dir and entry -1.
 */
int place_find(struct place *p, const char *path);
void place_done(struct place *p);

/* ---- replacing and appending ---- */

/*
 * A file that is replaced atomically: the new contents are written to a temporary file beside it,
 * synced and renamed. Where the file system supports it the temporary file has no name, so nothing
 * stays behind if the process is killed. The new file keeps the mode of the old file and, if
 * permitted, its owner; in a sticky directory no file is given to another user. A target that is
 * not a regular file (a pipe, a device) is written directly; opening a FIFO waits for a reader. The
 * path is resolved once, by the rules of struct place.
 */
struct file_atomic {
	int fd;
	int dir;		 /* O_PATH: the directory */
	char name[NAME_MAX + 1]; /* in dir; "": never opened */
	char *temp;		 /* temporary name, NULL: none */
	bool beside;		 /* written to a temporary file; false: written directly */
	bool private;		 /* no other user may read it, whatever mode the old file had */
	bool sticky;		 /* dir is a sticky directory */
	const char *refusal;	 /* after -EPERM: the reason and what to do; or NULL */
};

/* `private`: the new file is ours with mode 0600, whatever the old file had. */
int file_atomic_open(struct file_atomic *f, const char *path, bool private);
/* Does the slow part of a commit: syncs the contents, which have no name yet. */
int file_atomic_sync(struct file_atomic *f);
/* Syncs and renames. Returns 0, or a negative errno, and then the old file is unchanged. */
int file_atomic_commit(struct file_atomic *f);
/* Discards what was not committed. Does nothing after a commit. */
void file_atomic_close(struct file_atomic *f);

/*
 * Opens or creates a file for appending, by the same rules. Returns a descriptor or a negative
 * errno: -EAGAIN for a FIFO without a reader. *ret_refusal: as `refusal` above.
 */
int file_append_open(const char *path, const char **ret_refusal);

#endif
