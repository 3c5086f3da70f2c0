// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The pin as a source: each time it is read its path is opened anew, so a new pin is used as soon
 * as it is there, and one that was taken away no longer. It is believed only if nobody but root
 * could have made it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"
#include "source/pin_place.h"
#include "source/reader.h"
#include "source/source.h"

#define OPEN_DIRECTORY (O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

struct pinned_state {
	const char *link;
	struct decode_limits limits;
	struct readers readers;
	char refusal[PIN_REFUSAL_MAX]; /* of the counters alone */
};

static bool is_roots(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_uid == 0 && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

/* A descriptor of the place if there is a bpffs, or a negative errno. */
static int open_place(void)
{
	cleanup_close int fd = open(PIN_PLACE, OPEN_DIRECTORY);
	struct statfs fs;

	if (fd < 0 || fstatfs(fd, &fs) < 0)
		return -errno;
	if ((unsigned long)fs.f_type != BPF_FS_MAGIC)
		return -ENOENT;
	return is_roots(fd) ? TAKE_FD(fd) : -EPERM;
}

/* That of the pins of our version. */
static int open_version(void)
{
	cleanup_close int place = open_place(), fd = -1;

	if (place < 0)
		return place;
	fd = openat(place, PIN_VERSION, OPEN_DIRECTORY);
	if (fd < 0)
		return -errno;
	return is_roots(fd) ? TAKE_FD(fd) : -EPERM;
}

static bool is_file(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

/* An iterator; -EBADMSG if it is something else that can be pinned. */
static int open_link(const char *name)
{
	cleanup_close int version = open_version(), fd = -1;

	if (version < 0)
		return version;
	/* Once more: a link that is replaced just now is forbidden (pin.c). */
	for (int i = 0; i < 2 && fd < 0; i++)
		fd = openat(version, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	/* EIO: a program, a map, or another link (kernel/bpf/inode.c, bpffs_obj_open()). */
	if (fd < 0)
		return errno == EIO || errno == ELOOP ? -EBADMSG : -errno;
	if (!is_roots(fd))
		return -EPERM;
	return is_file(fd) ? TAKE_FD(fd) : -EBADMSG;
}

/* ---- why it is not used, in words ---- */

/* The version of the pin, whoever made it, 0 if there is none. */
static unsigned newest_version(void)
{
	cleanup_close int place = open_place();
	uint64_t version = 0;
	char text[8];
	ssize_t len = place < 0 ? -1 : readlinkat(place, PIN_NEWEST, text, sizeof(text));

	if (len > 0)
		parse_u64(text, (size_t)len, UINT8_MAX, &version);
	return (unsigned)version;
}

static void note_denied(struct diag *diag, const char *what)
{
	char group[64] = "?";
	struct stat st;

	if (stat(PIN_PLACE, &st) == 0)
		pin_group_name(st.st_gid, group, sizeof(group));
	diag_add(diag, what, -EACCES, "join it, be root, or use --source proc",
		 "the pin at " PIN_PLACE " is for members of group %s: Permission denied", group);
}

static int note(struct diag *diag, const char *what, int error)
{
	unsigned version = error == -ENOENT ? newest_version() : 0;

	/* Other links of our version may be there. */
	if (version && version != ZMEM_RECORD_VERSION) {
		error = -ESTALE;
		diag_add(diag, what, error, "pin it again: zmem-bpf pin GROUP",
			 "the pin at " PIN_PLACE
			 " is of record version %u, this program reads " PIN_VERSION,
			 version);
	} else if (error == -ENOENT) {
		diag_add(diag, what, error, "as root: zmem-bpf pin GROUP",
			 "there is no pin at " PIN_PLACE);
	} else if (error == -EACCES) {
		note_denied(diag, what);
	} else if (error == -EPERM) {
		diag_add(diag, what, error, "as root: zmem-bpf unpin",
			 "what is at " PIN_PLACE " is not root's alone: it is not believed");
	} else if (error == -EBADMSG) {
		diag_add(diag, what, error, "as root: zmem-bpf unpin, then pin GROUP",
			 "what is pinned at " PIN_PLACE " is not zmem-bpf's: it shows no records");
	} else {
		diag_add(diag, what, error, file_exhausted_todo(error),
			 "opening the pin at " PIN_PLACE ": %s", strerror(-error));
	}
	return error;
}

/* ---- the source ---- */

static void read_refusal(struct pinned_state *p)
{
	cleanup_close int version = open_version();
	ssize_t len =
		version < 0 ? -1 : readlinkat(version, PIN_WHY, p->refusal, PIN_REFUSAL_MAX - 1);

	if (len <= 0)
		strcpy(p->refusal, "the pin has counters alone");
}

static int open_pinned(const char *link, const char *what, struct diag *diag, void **ret_state)
{
	cleanup_close int fd = open_link(link);
	cleanup_free struct pinned_state *p = NULL;
	int r = fd < 0 ? fd : reader_try(fd);

	if (r < 0)
		return note(diag, what, r);
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->link = link;
	p->limits = reader_limits();
	read_refusal(p);
	*ret_state = TAKE_PTR(p);
	return 0;
}

static int pinned_pss_open(const struct procfs *proc, struct diag *diag, void **ret_state)
{
	(void)proc;
	return open_pinned(PIN_PSS, source_pinned_pss.name, diag, ret_state);
}

static int pinned_open(const struct procfs *proc, struct diag *diag, void **ret_state)
{
	(void)proc;
	return open_pinned(PIN_COUNTERS, source_pinned.name, diag, ret_state);
}

static int iterate(const void *state)
{
	const struct pinned_state *p = state;
	int fd = open_link(p->link);

	return fd == -ENOENT || fd == -EACCES ? -ESTALE : fd;
}

static struct reader_from iterators(const struct pinned_state *p)
{
	return (struct reader_from){
		.open = iterate,
		.state = p,
		.asks = strcmp(p->link, PIN_PSS) == 0,
	};
}

static int pinned_collect(void *state, unsigned readers, struct snapshot *snapshot)
{
	struct pinned_state *p = state;
	const struct reader_target target = {&p->limits, snapshot};
	const struct reader_from from = iterators(p);

	return reader_collect(&from, readers, &p->readers, &target);
}

static int pinned_revisit(void *state, pid_t pid, struct snapshot *snapshot)
{
	struct pinned_state *p = state;
	const struct reader_target target = {&p->limits, snapshot};
	const struct reader_from from = iterators(p);

	return reader_visit(&from, pid, &target);
}

static const char *pinned_refusal(const void *state)
{
	const struct pinned_state *p = state;

	return p->refusal;
}

static void pinned_close(void *state)
{
	struct pinned_state *p = state;

	readers_done(&p->readers);
	free(p);
}

const struct source_ops source_pinned_pss = {
	.name = "bpf with pages, pinned",
	.origin = FROM_BPF,
	.pinned = true,
	.pss = true,
	.open = pinned_pss_open,
	.collect = pinned_collect,
	.revisit = pinned_revisit,
	.close = pinned_close,
};

/* Its program takes no questions: always all. */
const struct source_ops source_pinned = {
	.name = "bpf, pinned",
	.origin = FROM_BPF,
	.pinned = true,
	.open = pinned_open,
	.collect = pinned_collect,
	.pss_refusal = pinned_refusal,
	.close = pinned_close,
};
