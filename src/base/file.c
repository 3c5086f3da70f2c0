// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Whole files. Knows how to read one to its end and how to replace one without ever showing half of
 * it; refuses to know what is in them.
 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"

/* As many as the kernel follows (MAXSYMLINKS, include/linux/namei.h). */
#define LINKS_MAX   40

#define NAMES_TRIED 100

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

/* The length of what precedes the base name, its slash included. */
static int dir_len(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (int)(slash - path) + 1 : 0;
}

/* Links of /proc (what /dev/stdout leads to) open a file that their text need not name. */
static bool is_magic_link(const char *path)
{
	cleanup_close int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct statfs fs;

	return fd >= 0 && fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

/*
 * The name at the end of a chain of links, which may dangle: that name is the one to replace, or
 * the link would be. Returns 1 and *ret_path, 0 if there is no such name, or a negative errno.
 */
static int resolve(const char *path, char **ret_path)
{
	cleanup_free char *name = strdup(path);
	char target[PATH_MAX];

	for (int links = 0; name && links <= LINKS_MAX; links++) {
		cleanup_free char *link = TAKE_PTR(name);
		ssize_t len = readlink(link, target, sizeof(target));

		if (len < 0 && errno != EINVAL && errno != ENOENT)
			return -errno;
		if (len < 0) {
			*ret_path = TAKE_PTR(link);
			return 1;
		}
		if (len == sizeof(target))
			return -ENAMETOOLONG;
		if (is_magic_link(link))
			return 0;
		if (asprintf(&name, "%.*s%.*s", target[0] == '/' ? 0 : dir_len(link), link,
			     (int)len, target) < 0)
			name = NULL;
	}
	return name ? -ELOOP : -ENOMEM;
}

static int open_direct(struct file_atomic *f, const char *path)
{
	cleanup_free char *name = strdup(path);
	/* Appended: through a link of /proc it may be a regular file that holds something. */
	cleanup_close int fd = open(path, O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (!name)
		return -ENOMEM;
	*f = (struct file_atomic){.fd = TAKE_FD(fd), .path = TAKE_PTR(name)};
	return 0;
}

/* Can only be asked by setting it: no other thread may create files meanwhile. */
static mode_t current_umask(void)
{
	mode_t mask = umask(077);

	umask(mask);
	return mask;
}

/* Who could not read the old file must not be able to read the new one. */
static int set_access(int fd, bool private, const struct stat *old)
{
	mode_t mode = old ? old->st_mode & 0777 : 0666 & ~current_umask();

	/* Nor is it given to whoever had the old one. */
	if (private)
		return fchmod(fd, 0600) < 0 ? -errno : 0;
	/* Another group gets what everybody has. */
	if (old && fchown(fd, -1, old->st_gid) < 0)
		mode &= ~(mode_t)070 | (mode & 07) << 3;
	if (fchmod(fd, mode) < 0)
		return -errno;
	/* Whoever may not give files away keeps it. */
	if (old)
		(void)!fchown(fd, old->st_uid, -1);
	return 0;
}

/* With a name, which stays behind if we are killed. */
static int open_named(struct file_atomic *f, const struct stat *old)
{
	int r;

	/* Not made of the base name, which may be as long as names get. */
	if (asprintf(&f->temp, "%.*s.zmem-XXXXXX", dir_len(f->path), f->path) < 0) {
		f->temp = NULL;
		return -ENOMEM;
	}
	f->fd = mkostemp(f->temp, O_CLOEXEC);
	if (f->fd < 0) {
		r = -errno;
		free(TAKE_PTR(f->temp));
		return r;
	}
	return set_access(f->fd, f->private, old);
}

/* Without a name, where the file system can. If not: what else is wrong, open_named() meets too. */
static int open_beside(struct file_atomic *f, const struct stat *old)
{
	cleanup_free char *dir = NULL;

	if (asprintf(&dir, "%.*s.", dir_len(f->path), f->path) < 0) {
		dir = NULL;
		return -ENOMEM;
	}
	f->beside = true;
	f->fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	return f->fd < 0 ? open_named(f, old) : set_access(f->fd, f->private, old);
}

static int open_atomic(struct file_atomic *f, const char *path, bool private)
{
	bool exists;
	struct stat st;
	int r;

	*f = (struct file_atomic){.fd = -1, .private = private};
	if (!*path)
		return -ENOENT;
	exists = stat(path, &st) == 0;
	if (!exists && errno != ENOENT)
		return -errno;
	if (exists && !S_ISREG(st.st_mode))
		return open_direct(f, path);
	r = resolve(path, &f->path);
	if (r < 0)
		return r;
	if (r == 0)
		return open_direct(f, path);
	r = open_beside(f, exists ? &st : NULL);
	if (r < 0)
		file_atomic_close(f);
	return r;
}

int file_atomic_open(struct file_atomic *f, const char *path)
{
	return open_atomic(f, path, false);
}

int file_atomic_open_private(struct file_atomic *f, const char *path)
{
	return open_atomic(f, path, true);
}

static int link_to(int fd, const char *name)
{
	char self[32];

	/* Needs CAP_DAC_READ_SEARCH before Linux 6.10; the other way needs /proc. */
	if (linkat(fd, "", AT_FDCWD, name, AT_EMPTY_PATH) == 0)
		return 0;
	if (errno == EEXIST)
		return -EEXIST;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

static int link_beside(struct file_atomic *f)
{
	int r = -EEXIST;

	for (unsigned i = 0; r == -EEXIST && i < NAMES_TRIED; i++) {
		cleanup_free char *temp = NULL;
		unsigned random = 0;

		/* Without randomness we still find a free one. */
		(void)!getrandom(&random, sizeof(random), GRND_NONBLOCK);
		if (asprintf(&temp, "%.*s.zmem-%08x", dir_len(f->path), f->path, random + i) < 0) {
			temp = NULL;
			return -ENOMEM;
		}
		r = link_to(f->fd, temp);
		if (r == 0)
			f->temp = TAKE_PTR(temp);
	}
	return r;
}

/* For want of a way to give what we wrote a name. */
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

/* A new file gets its name at once. An old one can only be replaced by one that has a name. */
static int commit_beside(struct file_atomic *f)
{
	int r;

	r = file_atomic_sync(f);
	if (r < 0)
		return r;
	if (!f->temp) {
		r = link_to(f->fd, f->path);
		if (r == 0)
			return 0;
		if (r == -EEXIST)
			r = link_beside(f);
		if (r < 0)
			r = copy_beside(f);
	}
	if (r < 0)
		return r;
	if (rename(f->temp, f->path) < 0)
		return -errno;
	free(TAKE_PTR(f->temp));
	return 0;
}

static int commit(struct file_atomic *f)
{
	if (f->beside)
		return commit_beside(f);
	/* Some file systems report a failed write only here. */
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
	/* A zeroed one was never opened: its fd 0 is not ours. */
	if (!f->path)
		return;
	if (f->fd >= 0)
		close(f->fd);
	if (f->temp)
		unlink(f->temp);
	free(f->temp);
	free(f->path);
	*f = (struct file_atomic){.fd = -1};
}
