// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads whole files, and replaces a file atomically: readers see the old or the new contents. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/place.h"

#define NAMES_TRIED 100
/* Attempts to open a name that other processes keep giving to other files. */
#define OPENS_TRIED 100
#define READER_NS   20000000
#define NEW_FILE    (O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC)

ssize_t file_read_fd(int fd, char *buf, size_t cap)
{
	size_t len = 0;

	if (!cap)
		return -EINVAL;
	while (len < cap - 1) {
		ssize_t n = read(fd, buf + len, cap - 1 - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	buf[len] = '\0';
	return (ssize_t)len;
}

ssize_t file_read(int dirfd, const char *path, char *buf, size_t cap)
{
	cleanup_close int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return file_read_fd(fd, buf, cap);
}

int file_write_fd(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -EIO;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

/* The umask can only be read by setting it: no other thread may create files meanwhile. */
static mode_t current_umask(void)
{
	mode_t mask = umask(077);

	umask(mask);
	return mask;
}

/* A user without access to the old file must not get access to the new one. */
static int set_access(const struct file_atomic *f, const struct stat *old)
{
	mode_t mode = old ? old->st_mode & 0777 : 0666 & ~current_umask();
	bool stays_ours = old && f->sticky && old->st_uid != geteuid();

	if (f->private)
		return fchmod(f->fd, 0600) < 0 ? -errno : 0;
	/* If the group cannot be kept, the new group gets no more than other users have. */
	if (old && (stays_ours || fchown(f->fd, -1, old->st_gid) < 0))
		mode &= ~(mode_t)070 | (mode & 07) << 3;
	if (fchmod(f->fd, mode) < 0)
		return -errno;
	/* Without the right to change the owner, the file stays ours. */
	if (old && !stays_ours)
		(void)!fchown(f->fd, old->st_uid, -1);
	return 0;
}

/* A random name, independent of the base name, which may already have the maximum length. */
static char *random_name(unsigned number)
{
	unsigned random = 0;
	char *name;

	/* Without randomness the loop still finds a free name. */
	(void)!getrandom(&random, sizeof(random), GRND_NONBLOCK);
	return asprintf(&name, ".zmem-%08x", random + number) < 0 ? NULL : name;
}

/* Opens a temporary file with a name, which stays behind if the process is killed. */
static int open_named(struct file_atomic *f, const struct stat *old)
{
	for (unsigned i = 0; i < NAMES_TRIED; i++) {
		cleanup_free char *temp = random_name(i);

		if (!temp)
			return -ENOMEM;
		f->fd = openat(f->dir, temp, O_RDWR | NEW_FILE, 0600);
		if (f->fd >= 0) {
			f->temp = TAKE_PTR(temp);
			return set_access(f, old);
		}
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

/*
 * Opens a temporary file without a name if the file system supports it. Any other error also occurs
 * in open_named().
 */
static int open_beside(struct file_atomic *f, const struct stat *old)
{
	f->beside = true;
	f->fd = openat(f->dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	return f->fd < 0 ? open_named(f, old) : set_access(f, old);
}

static int open_place(struct file_atomic *f, struct place *p)
{
	bool exists = p->entry >= 0;

	f->dir = TAKE_FD(p->dir);
	strcpy(f->name, p->name);
	f->sticky = p->dir_st.st_mode & S_ISVTX;
	return open_beside(f, exists ? &p->st : NULL);
}

static int try_open(struct file_atomic *f, const char *path)
{
	cleanup(place_done) struct place p;
	int r = place_find(&p, path);

	if (r == 0 && (p.entry < 0 || (S_ISREG(p.st.st_mode) && !p.by_proc)))
		return open_place(f, &p);
	/* Appends: behind a link of /proc there may be a regular file that has contents. */
	if (r == 0)
		r = place_append(&p);
	f->refusal = p.refusal;
	if (r < 0)
		return r;
	f->fd = r;
	f->dir = TAKE_FD(p.dir);
	strcpy(f->name, p.name);
	return 0;
}

static int open_atomic(struct file_atomic *f, const char *path, bool private)
{
	const struct timespec pause = {.tv_nsec = READER_NS};
	int r = -ESTALE;

	*f = (struct file_atomic){.fd = -1, .dir = -1, .private = private};
	for (int i = 0; (r == -ESTALE && i < OPENS_TRIED) || r == -EAGAIN; i++) {
		if (r == -EAGAIN)
			nanosleep(&pause, NULL);
		r = try_open(f, path);
	}
	if (r < 0)
		file_atomic_close(f);
	return r == -ESTALE ? -EBUSY : r;
}

int file_atomic_open(struct file_atomic *f, const char *path)
{
	return open_atomic(f, path, false);
}

int file_atomic_open_private(struct file_atomic *f, const char *path)
{
	return open_atomic(f, path, true);
}

static int try_append(const char *path, const char **ret_refusal)
{
	cleanup(place_done) struct place p;
	int r = place_find(&p, path);

	if (r == 0 && p.entry >= 0) {
		r = place_append(&p);
	} else if (r == 0) {
		r = openat(p.dir, p.name, O_WRONLY | O_APPEND | NEW_FILE, 0666);
		r = r >= 0 ? r : errno == EEXIST ? -ESTALE : -errno;
	}
	*ret_refusal = p.refusal;
	return r;
}

int file_append_open(const char *path, const char **ret_refusal)
{
	int r = -ESTALE;

	for (int i = 0; r == -ESTALE && i < OPENS_TRIED; i++)
		r = try_append(path, ret_refusal);
	return r == -ESTALE ? -EBUSY : r;
}

static int link_to(const struct file_atomic *f, const char *name)
{
	char self[32];

	/* The first way needs CAP_DAC_READ_SEARCH before Linux 6.10; the second way needs /proc. */
	if (linkat(f->fd, "", f->dir, name, AT_EMPTY_PATH) == 0)
		return 0;
	if (errno == EEXIST)
		return -EEXIST;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", f->fd);
	return linkat(AT_FDCWD, self, f->dir, name, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

static int link_beside(struct file_atomic *f)
{
	int r = -EEXIST;

	for (unsigned i = 0; r == -EEXIST && i < NAMES_TRIED; i++) {
		cleanup_free char *temp = random_name(i);

		r = temp ? link_to(f, temp) : -ENOMEM;
		if (r == 0)
			f->temp = TAKE_PTR(temp);
	}
	return r;
}

/* Copies the unnamed file to a named one, if it cannot be linked. */
static int copy_beside(struct file_atomic *f)
{
	cleanup_close int from = TAKE_FD(f->fd);
	char buf[16384];
	struct stat st;
	off_t at = 0;
	int r;

	if (fstat(from, &st) < 0)
		return -errno;
	r = open_named(f, &st);
	while (r == 0) {
		ssize_t n = pread(from, buf, sizeof(buf), at);

		if (n == 0)
			return fsync(f->fd) < 0 ? -errno : 0;
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			r = file_write_fd(f->fd, buf, (size_t)n);
		at += n > 0 ? n : 0;
	}
	return r;
}

int file_atomic_sync(struct file_atomic *f)
{
	return f->beside && fsync(f->fd) < 0 ? -errno : 0;
}

/*
 * A new file is linked to its name directly. An old file can only be replaced by a rename, which
 * needs a temporary name.
 */
static int commit_beside(struct file_atomic *f)
{
	int r;

	r = file_atomic_sync(f);
	if (r < 0)
		return r;
	if (!f->temp) {
		r = link_to(f, f->name);
		if (r == 0)
			return 0;
		if (r == -EEXIST)
			r = link_beside(f);
		if (r < 0)
			r = copy_beside(f);
	}
	if (r < 0)
		return r;
	if (renameat(f->dir, f->temp, f->dir, f->name) < 0)
		return -errno;
	free(TAKE_PTR(f->temp));
	return 0;
}

static int commit(struct file_atomic *f)
{
	if (f->beside)
		return commit_beside(f);
	/* Some file systems report a failed write only at close. */
	return close(TAKE_FD(f->fd)) < 0 ? -errno : 0;
}

int file_atomic_commit(struct file_atomic *f)
{
	int r = commit(f);

	file_atomic_close(f);
	return r;
}

void file_atomic_close(struct file_atomic *f)
{
	const char *refusal = f->refusal;

	/* A zeroed struct was never opened: its fd 0 is not ours. */
	if (*f->name) {
		if (f->fd >= 0)
			close(f->fd);
		if (f->temp)
			unlinkat(f->dir, f->temp, 0);
		close(f->dir);
		free(f->temp);
	}
	*f = (struct file_atomic){.fd = -1, .dir = -1, .refusal = refusal};
}
