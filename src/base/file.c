// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reads whole files, resolves paths safely, and replaces a file atomically: readers see the old or
 * the new contents.
 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/parse.h"

/* The kernel follows as many (MAXSYMLINKS, include/linux/namei.h). */
#define LINKS_MAX     40
#define PROC_ROOT_INO 1 /* fs/proc/internal.h */
#define NAMES_TRIED   100
/* Attempts to open a name that other processes keep giving to other files. */
#define OPENS_TRIED 100
#define READER_NS   20000000
#define NEW_FILE    (O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC)

/* Reads until the buffer is full or the file ends; `at` NULL: from where the descriptor is. */
static ssize_t read_whole(int fd, const uint64_t *at, char *buf, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = at ? pread(fd, buf + done, len - done, (off_t)(*at + done))
			       : read(fd, buf + done, len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

ssize_t file_read_fd(int fd, char *buf, size_t cap)
{
	ssize_t len = cap ? read_whole(fd, NULL, buf, cap - 1) : -EINVAL;

	if (len >= 0)
		buf[len] = '\0';
	return len;
}

ssize_t file_read_at(int fd, uint64_t at, void *buf, size_t len)
{
	return read_whole(fd, &at, buf, len);
}

ssize_t file_read(int dirfd, const char *path, char *buf, size_t cap)
{
	cleanup_close int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return file_read_fd(fd, buf, cap);
}

bool file_number(int dirfd, const char *path, const char *name, uint64_t *ret)
{
	char text[32768];

	return file_read(dirfd, path, text, sizeof(text)) > 0 && line_number(text, name, ret);
}

DIR *dir_open(int dirfd, const char *path)
{
	cleanup_close int fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (dir)
		TAKE_FD(fd); /* closedir() closes it */
	return dir;
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

/* ---- paths ---- */

/*
 * A path is resolved one component at a time, so that the link that is followed is the link that
 * was checked. The kernel's own checks (fs.protected_symlinks and others) can be switched off and
 * apply only to sticky directories.
 */

static bool is_ours_or_roots(const struct stat *st)
{
	return st->st_uid == geteuid() || st->st_uid == 0;
}

static bool others_write(const struct stat *dir)
{
	return !is_ours_or_roots(dir) || dir->st_mode & (S_IWGRP | S_IWOTH);
}

/*
 * True for /dev/stdout and the like, which the owner of /dev made. In a user namespace, the root of
 * the machine has the same number as other users from outside.
 */
static bool is_of_dev(const struct stat *dir, const struct stat *link)
{
	struct stat dev;

	return link->st_uid == dir->st_uid && !(dir->st_mode & (S_IWGRP | S_IWOTH)) &&
	       stat("/dev", &dev) == 0 && dev.st_dev == dir->st_dev && dev.st_ino == dir->st_ino;
}

static const char *link_refusal(const struct stat *dir, const struct stat *link)
{
	if (!is_ours_or_roots(link) && !is_of_dev(dir, link))
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

	if (S_ISDIR(st->st_mode)) {
		close(p->dir);
		p->dir = fd;
		w->rest = c->tail;
		return *c->tail ? 0 : -EISDIR;
	}
	if (c->slash) {
		close(fd);
		return -ENOTDIR;
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
	if (fd >= 0) {
		int r = S_ISLNK(st.st_mode) ? follow(w, &c, fd, &st)
					    : enter_component(w, &c, TAKE_FD(fd), &st);

		/* 1 of a link of /proc to an open file: its name is kept, to reopen the file. */
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

/*
 * Opens the entry for appending, without waiting. Returns a descriptor or a negative errno: -EAGAIN
 * for a FIFO without a reader, -ESTALE if another file has the name meanwhile, -EPERM and a refusal
 * if it has several names and others can write to the directory.
 */
static int place_append(struct place *p)
{
	cleanup_close int fd = -1;
	struct stat st;

	if (!p->by_proc && p->st.st_nlink > 1 && others_write(&p->dir_st))
		return refuse(p, "it has several names (hard links), in a directory that others "
				 "can write to (choose another directory)");
	/* O_NONBLOCK: waits neither for a reader nor for the end of a lease. */
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
	close_fd(&p->dir);
	close_fd(&p->entry);
}

/* ---- replacing and appending ---- */

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

int file_atomic_open(struct file_atomic *f, const char *path, bool private)
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
	uint64_t at = 0;
	int r;

	if (fstat(from, &st) < 0)
		return -errno;
	r = open_named(f, &st);
	while (r == 0) {
		ssize_t n = file_read_at(from, at, buf, sizeof(buf));

		if (n < 0)
			return (int)n;
		if (n == 0)
			return fsync(f->fd) < 0 ? -errno : 0;
		r = file_write_fd(f->fd, buf, (size_t)n);
		at += (size_t)n;
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
	int r = file_atomic_sync(f);

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
