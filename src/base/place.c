// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Resolves a path one component at a time, so that the link that is followed is the link that was
 * checked. The kernel's own checks (fs.protected_symlinks and others) can be switched off and apply
 * only to sticky directories.
 */
#include "base/place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"

/* As many as the kernel follows (MAXSYMLINKS, include/linux/namei.h). */
#define LINKS_MAX     40

#define PROC_ROOT_INO 1 /* fs/proc/internal.h */

static bool is_ours_or_roots(const struct stat *st)
{
	return st->st_uid == geteuid() || st->st_uid == 0;
}

static bool others_write(const struct stat *dir)
{
	return !is_ours_or_roots(dir) || dir->st_mode & (S_IWGRP | S_IWOTH);
}

static const char *link_refusal(const struct stat *dir, const struct stat *link)
{
	if (!is_ours_or_roots(link))
		return "a symbolic link in the path belongs to another user (give the path without "
		       "the link)";
	if (link->st_nlink > 1 && others_write(dir))
		return "a symbolic link in the path has several names, in a directory that others "
		       "can write to (give the path without the link)";
	return NULL;
}

static const char *entry_refusal(const struct place *p)
{
	bool sticky = p->dir_st.st_mode & S_ISVTX;

	if (p->entry < 0 || p->by_proc)
		return NULL;
	if (sticky && p->st.st_uid != geteuid() && p->st.st_uid != p->dir_st.st_uid)
		return "it belongs to another user, in a directory that others can write to "
		       "(remove it, or choose another directory)";
	if (sticky && p->st.st_nlink > 1)
		return "it has several names (hard links), in a directory that others can write to "
		       "(remove it, or choose another directory)";
	if (S_ISFIFO(p->st.st_mode) && !is_ours_or_roots(&p->st))
		return "the FIFO belongs to another user (choose one of your own)";
	return NULL;
}

static int refuse(struct place *p, const char *refusal)
{
	p->refusal = refusal;
	return refusal ? -EPERM : 0;
}

/* ---- the walk ---- */

struct walk {
	struct place *place;
	char text[2 * PATH_MAX]; /* the rest of the path */
	char *rest;		 /* in text: the part not resolved yet */
	unsigned links;
};

/* The first component of a path, and what follows it. */
struct component {
	char *name;
	char *tail;
	bool slash; /* a slash follows: the name must be a directory */
};

static struct component next_component(char *rest)
{
	struct component c = {.name = rest + strspn(rest, "/")};
	size_t len = strcspn(c.name, "/");

	c.slash = c.name[len];
	c.tail = c.name + len + strspn(c.name + len, "/");
	c.name[len] = '\0';
	return c;
}

/* Enters a directory, or stops at the last component. Owns the descriptor. Returns 1 at the end. */
static int enter_component(struct walk *w, const struct component *c, int fd, const struct stat *st)
{
	struct place *p = w->place;

	if (S_ISDIR(st->st_mode) && *c->tail) {
		close(p->dir);
		p->dir = fd;
		w->rest = c->tail;
		return 0;
	}
	if (S_ISDIR(st->st_mode) || c->slash) {
		close(fd);
		return S_ISDIR(st->st_mode) ? -EISDIR : -ENOTDIR;
	}
	p->entry = fd;
	p->st = *st;
	return 1;
}

/* A link of /proc need not lead to its text: the kernel follows it. */
static int follow_proc(struct walk *w, const struct component *c)
{
	cleanup_close int fd = openat(w->place->dir, c->name, O_PATH | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	w->place->by_proc = !S_ISDIR(st.st_mode);
	return enter_component(w, c, TAKE_FD(fd), &st);
}

static int follow_text(struct walk *w, const struct component *c, int link)
{
	char text[sizeof(w->text)];
	ssize_t len = readlinkat(link, "", text, PATH_MAX);
	int more;

	if (len < 0)
		return -errno;
	if (len == 0 || len == PATH_MAX)
		return len ? -ENAMETOOLONG : -ENOENT;
	if (text[0] == '/') {
		int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

		if (root < 0)
			return -errno;
		close(w->place->dir);
		w->place->dir = root;
	}
	more = snprintf(text + len, sizeof(text) - (size_t)len, "%s%s", c->slash ? "/" : "",
			c->tail);
	if ((size_t)(len + more) >= sizeof(text))
		return -ENAMETOOLONG;
	w->rest = strcpy(w->text, text);
	return 0;
}

static int follow(struct walk *w, const struct component *c, int link, const struct stat *st)
{
	struct place *p = w->place;
	struct statfs fs;
	struct stat dir;
	int r;

	if (fstatfs(link, &fs) < 0 || fstat(p->dir, &dir) < 0)
		return -errno;
	/* Links in /proc itself (self, mounts) belong to the kernel. */
	r = fs.f_type == PROC_SUPER_MAGIC && dir.st_ino == PROC_ROOT_INO
		    ? 0
		    : refuse(p, link_refusal(&dir, st));
	if (r < 0)
		return r;
	if (w->links++ == LINKS_MAX)
		return -ELOOP;
	return fs.f_type == PROC_SUPER_MAGIC ? follow_proc(w, c) : follow_text(w, c, link);
}

static int open_component(int dir, const struct component *c)
{
	/* O_DIRECTORY triggers an automount. */
	int fd =
		c->slash ? openat(dir, c->name, O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC) : -1;

	if (!c->slash || (fd < 0 && errno == ENOTDIR))
		fd = openat(dir, c->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Returns 1 at the end of the path, 0 before it, or a negative errno. */
static int step(struct walk *w)
{
	struct place *p = w->place;
	struct component c = next_component(w->rest);
	cleanup_close int fd = -1;
	struct stat st;

	if (!*c.name)
		return -EISDIR;
	fd = open_component(p->dir, &c);
	if (fd < 0 && !(fd == -ENOENT && !c.slash))
		return fd;
	if (fd >= 0 && fstat(fd, &st) < 0)
		return -errno;
	if (fd >= 0 && S_ISLNK(st.st_mode)) {
		int r = follow(w, &c, fd, &st);

		/*
		 * A link of /proc to an open file: the link name is kept, to reopen the file by it.
		 */
		if (r != 1)
			return r;
	} else if (fd >= 0) {
		int r = enter_component(w, &c, TAKE_FD(fd), &st);

		if (r != 1)
			return r;
	}
	if (strlen(c.name) >= sizeof(p->name))
		return -ENAMETOOLONG;
	strcpy(p->name, c.name);
	return 1;
}

int place_find(struct place *p, const char *path)
{
	struct walk w = {.place = p};
	size_t len = strlen(path);
	int r = 0;

	*p = (struct place){.dir = -1, .entry = -1};
	if (!len || len >= PATH_MAX)
		return len ? -ENAMETOOLONG : -ENOENT;
	w.rest = strcpy(w.text, path);
	p->dir = open(*path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (p->dir < 0)
		return -errno;
	while (r == 0)
		r = step(&w);
	if (r < 0)
		return r;
	return fstat(p->dir, &p->dir_st) < 0 ? -errno : refuse(p, entry_refusal(p));
}

int place_append(struct place *p)
{
	/* O_NONBLOCK: waits neither for a reader nor for the end of a lease. */
	cleanup_close int fd = -1;
	struct stat st;

	if (!p->by_proc && p->st.st_nlink > 1 && others_write(&p->dir_st))
		return refuse(p, "it has several names (hard links), in a directory that others "
				 "can write to (choose another directory)");
	fd = openat(p->dir, p->name,
		    O_WRONLY | O_APPEND | O_NOCTTY | O_NONBLOCK | O_CLOEXEC |
			    (p->by_proc ? 0 : O_NOFOLLOW));
	if (fd < 0 && errno == ENXIO && S_ISFIFO(p->st.st_mode) && !p->by_proc)
		return -EAGAIN;
	if (fd < 0 && (errno == ENOENT || errno == ELOOP))
		return -ESTALE;
	if (fd < 0)
		return errno == EAGAIN ? -EBUSY : -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	/* The entry is held open, so its inode number is not reused. */
	if (st.st_dev != p->st.st_dev || st.st_ino != p->st.st_ino)
		return -ESTALE;
	return fcntl(fd, F_SETFL, O_APPEND) < 0 ? -errno : TAKE_FD(fd);
}

void place_done(struct place *p)
{
	if (p->dir >= 0)
		close(p->dir);
	if (p->entry >= 0)
		close(p->entry);
	p->dir = p->entry = -1;
}
