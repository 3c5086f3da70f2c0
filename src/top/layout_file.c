// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The file with the layout of top. The environment names it, so it is used only if neither another
 * user wrote it nor another user can change or replace it: with sudo, $HOME may be another user's.
 */
#include "top/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"

#define DIRECTORY "zmem-bpf"
#define NAME	  "top"

static bool is_absolute(const char *path)
{
	return path && *path == '/';
}

void layout_file_find(struct layout_file *f, const char *config, const char *home)
{
	int len = -1;

	*f->path = *f->home = '\0';
	if (is_absolute(config)) {
		len = snprintf(f->base, sizeof(f->base), "%s", config);
	} else if (is_absolute(home)) {
		snprintf(f->home, sizeof(f->home), "%s", home);
		len = snprintf(f->base, sizeof(f->base), "%s/.config", home);
	}
	if (len < 0 || (size_t)len + sizeof("/" DIRECTORY "/" NAME) > sizeof(f->path))
		return;
	memcpy(f->path, f->base, (size_t)len);
	memcpy(f->path + len, "/" DIRECTORY "/" NAME, sizeof("/" DIRECTORY "/" NAME));
}

/* NULL: only we and root can write to it. */
static const char *refusal_of(int fd, bool file)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return "it cannot be examined";
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return file ? "it belongs to another user"
			    : "its directory belongs to another user";
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return file ? "other users can write to it"
			    : "other users can write to its directory";
	return NULL;
}

static int open_directory(int at, const char *path)
{
	int fd = openat(at, path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static const char *refused_file(int fd)
{
	struct stat st;

	if (fstat(fd, &st) == 0 && !S_ISREG(st.st_mode))
		return "it is not a regular file";
	if (fstat(fd, &st) == 0 && st.st_size > LAYOUT_MAX)
		return "it is too large";
	return refusal_of(fd, true);
}

static int read_all(int fd, struct strbuf *ret, const char **ret_why)
{
	char text[LAYOUT_MAX + 2];
	/* It may grow meanwhile. */
	ssize_t len = file_read_fd(fd, text, sizeof(text));

	if (len < 0)
		return (int)len;
	if (len > LAYOUT_MAX) {
		*ret_why = "it is too large";
		return -EFBIG;
	}
	strbuf_put(ret, text, (size_t)len);
	return strbuf_error(ret);
}

int layout_file_read(const struct layout_file *f, struct strbuf *ret, const char **ret_why)
{
	cleanup_close int base = *f->path ? open_directory(AT_FDCWD, f->base) : -ENOENT;
	cleanup_close int dir = base < 0 ? base : open_directory(base, DIRECTORY);
	cleanup_close int fd = -1;
	const char *why;

	*ret_why = NULL;
	/* What is not there needs no safe directory. */
	if (dir < 0)
		return dir == -ENOTDIR || dir == -EACCES ? -ENOENT : dir;
	fd = openat(dir, NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 && errno == ELOOP)
		*ret_why = "it is a symbolic link";
	if (fd < 0)
		return -errno;
	why = refusal_of(base, false);
	why = why ? why : refusal_of(dir, false);
	why = why ? why : refused_file(fd);
	if (why) {
		*ret_why = why;
		return -EPERM;
	}
	return read_all(fd, ret, ret_why);
}

/* Opens a directory that only we can change; `make`: makes it if it is missing. */
static int safe_directory(int at, const char *path, bool make, const char **ret_why)
{
	int fd = open_directory(at, path);

	if (fd == -ENOENT && make && mkdirat(at, path, 0700) == 0)
		fd = open_directory(at, path);
	if (fd < 0)
		return fd;
	*ret_why = refusal_of(fd, false);
	if (!*ret_why)
		return fd;
	close(fd);
	return -EPERM;
}

/* An old file is replaced only if it could have been read. */
static int check_old(int dir, const char **ret_why)
{
	cleanup_close int fd =
		openat(dir, NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 && errno == ELOOP)
		*ret_why = "it is a symbolic link";
	if (fd < 0)
		return -errno;
	*ret_why = refused_file(fd);
	return *ret_why ? -EPERM : 0;
}

static bool same_directory(int a, int b)
{
	struct stat one, two;

	return fstat(a, &one) == 0 && fstat(b, &two) == 0 && one.st_dev == two.st_dev &&
	       one.st_ino == two.st_ino;
}

int layout_file_write(const struct layout_file *f, const struct strbuf *text, const char **ret_why)
{
	cleanup(file_atomic_close) struct file_atomic file = {.fd = -1, .dir = -1};
	cleanup_close int home = -1, base = -1, dir = -1;
	int r;

	*ret_why = NULL;
	if (!*f->path)
		return -ENOENT;
	/* Nothing is made in a home directory of another user. */
	if (*f->home && (home = safe_directory(AT_FDCWD, f->home, false, ret_why)) < 0)
		return home;
	base = safe_directory(AT_FDCWD, f->base, true, ret_why);
	if (base < 0)
		return base;
	dir = safe_directory(base, DIRECTORY, true, ret_why);
	if (dir < 0)
		return dir;
	r = check_old(dir, ret_why);
	if (r == 0)
		r = file_atomic_open_private(&file, f->path);
	/* Another user may have exchanged a directory above. */
	if (r == 0 && !same_directory(file.dir, dir))
		r = -EBUSY;
	if (r == 0)
		r = file_write_fd(file.fd, text->data, text->len);
	if (r == 0)
		r = file_atomic_commit(&file);
	if (file.refusal)
		*ret_why = file.refusal;
	return r;
}
