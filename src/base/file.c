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
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"

/* As many as the kernel follows (MAXSYMLINKS, include/linux/namei.h). */
#define LINKS_MAX 40

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

static int open_beside(struct file_atomic *f, char *path)
{
	cleanup_free char *name = path;
	cleanup_free char *temp = NULL;
	cleanup_close int fd = -1;
	int r;

	/* Not made of the base name, which may be as long as names get. */
	if (asprintf(&temp, "%.*s.zmem-XXXXXX", dir_len(name), name) < 0) {
		temp = NULL;
		return -ENOMEM;
	}
	fd = mkostemp(temp, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fchmod(fd, 0666 & ~current_umask()) < 0) {
		r = -errno;
		unlink(temp);
		return r;
	}
	*f = (struct file_atomic){
		.fd = TAKE_FD(fd), .path = TAKE_PTR(name), .temp = TAKE_PTR(temp)};
	return 0;
}

int file_atomic_open(struct file_atomic *f, const char *path)
{
	char *name = NULL;
	struct stat st;
	int r;

	*f = (struct file_atomic){.fd = -1};
	if (!*path)
		return -ENOENT;
	if (stat(path, &st) == 0) {
		if (!S_ISREG(st.st_mode))
			return open_direct(f, path);
	} else if (errno != ENOENT) {
		return -errno;
	}
	r = resolve(path, &name);
	if (r < 0)
		return r;
	return r ? open_beside(f, name) : open_direct(f, path);
}

static int commit(struct file_atomic *f)
{
	if (f->temp && fsync(f->fd) < 0)
		return -errno;
	/* Some file systems report a failed write only here. */
	if (close(TAKE_FD(f->fd)) < 0)
		return -errno;
	if (!f->temp)
		return 0;
	if (rename(f->temp, f->path) < 0)
		return -errno;
	free(TAKE_PTR(f->temp));
	return 0;
}

int file_atomic_commit(struct file_atomic *f)
{
	int r = commit(f);

	file_atomic_done(f);
	return r;
}

void file_atomic_done(struct file_atomic *f)
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
