// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Sources of kind pin. Each reading opens the path anew: it uses a new pin at once, and fails
 * without one. A run of root holds the link instead, and does not see what replaces the pin. A pin
 * is trusted only if root alone could have made it.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"
#include "source/pin.h"
#include "source/reader.h"
#include "source/source_internal.h"

#define REFUSAL_MAX    256
#define OPEN_DIRECTORY (O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

struct pin_state {
	struct readers readers; /* the first member: readers_collect() */
	const char *link;
	int held; /* a descriptor of the link (pin_source_hold()), or -1 */
	const struct procfs *proc;
	uint64_t ram_end;	/* when the pin was made; 0: it does not say */
	bool pages;		/* the pin has PIN_PSS, and its values were not wrong */
	char text[REFUSAL_MAX]; /* without pages: why */
};

static bool is_stat_of_root(const struct stat *st)
{
	return st->st_uid == 0 && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* True if root owns it and no other user can write it. */
static bool is_owned_by_root(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && is_stat_of_root(&st);
}

/* Returns a descriptor of the place if it is a bpffs, or a negative errno. */
static int open_place(void)
{
	cleanup_close int fd = open(PIN_PLACE, OPEN_DIRECTORY);
	struct statfs fs;
	struct stat above;

	if (fd < 0 || fstatfs(fd, &fs) < 0)
		return -errno;
	if ((unsigned long)fs.f_type != BPF_FS_MAGIC)
		return -ENOENT;
	if (!is_owned_by_root(fd))
		return -EPERM;
	if (fstatat(fd, "..", &above, 0) < 0)
		return -errno;
	/* In a sticky directory no other user can rename it. */
	if (above.st_mode & S_ISVTX)
		above.st_mode &= ~(mode_t)(S_IWGRP | S_IWOTH);
	return is_stat_of_root(&above) ? TAKE_FD(fd) : -EPERM;
}

/* Returns a descriptor of the directory of our version, or a negative errno. */
static int open_version(void)
{
	cleanup_close int place = open_place(), fd = -1;

	if (place < 0)
		return place;
	fd = openat(place, PIN_VERSION, OPEN_DIRECTORY);
	if (fd < 0)
		return -errno;
	return is_owned_by_root(fd) ? TAKE_FD(fd) : -EPERM;
}

static bool is_file(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

/* Returns an iterator; -EBADMSG if another kind of object is pinned. */
static int open_link(const char *name)
{
	cleanup_close int version = open_version(), fd = -1;

	if (version < 0)
		return version;
	/* Twice, because a link that is being replaced is inaccessible (pin.c). */
	for (int i = 0; i < 2 && fd < 0; i++)
		fd = openat(version, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	/* EIO: a program, a map, or another link (kernel/bpf/inode.c, bpffs_obj_open()). */
	if (fd < 0)
		return errno == EIO || errno == ELOOP ? -EBADMSG : -errno;
	if (!is_owned_by_root(fd))
		return -EPERM;
	return is_file(fd) ? TAKE_FD(fd) : -EBADMSG;
}

/* ---- why the pin is not used ---- */

/* The version of the newest pin, 0 if there is none. */
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

static void add_denied(struct diag *diag, const char *subject)
{
	char group[64] = "?";
	struct stat st;

	if (stat(PIN_PLACE, &st) == 0)
		pin_group_name(st.st_gid, group, sizeof(group));
	diag_add(diag, subject, -EACCES, "join it, or be root",
		 "the pin at " PIN_PLACE " is for members of group %s: Permission denied", group);
}

static int add_note(struct diag *diag, const char *subject, int error)
{
	unsigned version = error == -ENOENT ? newest_version() : 0;

	/* Root without CAP_DAC_OVERRIDE cannot open what belongs to another user. */
	if (error == -EACCES && geteuid() == 0)
		error = -EPERM;
	/* To other users a pin for root is as good as none. */
	if (error == -EACCES && pin_is_for_root()) {
		diag_add(diag, subject, -ENOENT, "as root: zmem-bpf pin GROUP",
			 "the pin at " PIN_PLACE " is for root alone");
		return -ENOENT;
	}
	/* With our version another link is missing, not the pin. */
	if (version && version != ZMEM_RECORD_VERSION) {
		error = -ESTALE;
		diag_add(diag, subject, error, "make it again: zmem-bpf pin [GROUP]",
			 "the pin at " PIN_PLACE
			 " is of record version %u, this program reads " PIN_VERSION,
			 version);
	} else if (error == -ENOENT) {
		diag_add(diag, subject, error, "as root: zmem-bpf pin [GROUP]",
			 "there is no pin at " PIN_PLACE);
	} else if (error == -EACCES) {
		add_denied(diag, subject);
	} else if (error == -EPERM) {
		diag_add(diag, subject, error, "as root: zmem-bpf pin --remove",
			 "the pin at " PIN_PLACE
			 " is not used: other users than root can change it");
	} else if (error == -EBADMSG) {
		diag_add(diag, subject, error, "as root: zmem-bpf pin --remove, then pin again",
			 "the object pinned at " PIN_PLACE " is not zmem-bpf's: it has no records");
	} else {
		diag_add(diag, subject, error, file_exhausted_hint(error),
			 "opening the pin at " PIN_PLACE ": %s", strerror(-error));
	}
	return error;
}

/* ---- the source ---- */

/* `buf` has REFUSAL_MAX bytes. Without such a link its text is "". */
static void read_text(const char *name, char *buf)
{
	cleanup_close int version = open_version();
	ssize_t len = version < 0 ? -1 : readlinkat(version, name, buf, REFUSAL_MAX - 1);

	buf[len > 0 ? len : 0] = '\0';
}

bool pin_source_is_ours(void)
{
	char text[REFUSAL_MAX], maker[PIN_MAKER_MAX];

	read_text(PIN_MAKER, text);
	return pin_maker(maker) == 0 && strcmp(text, maker) == 0;
}

/* Programs of before RAM was added do not know its pages. Where the pin has no PSS, tells why. */
static void look_at_ram(void *state)
{
	struct pin_state *p = state;
	char text[REFUSAL_MAX];

	p->readers.asks = p->pages;
	readers_look_at_ram(&p->readers, p->proc);
	if (!p->pages)
		return;
	if (p->held < 0) {
		p->ram_end = 0;
		read_text(PIN_RAM, text);
		parse_u64(text, strlen(text), UINT64_MAX, &p->ram_end);
	}
	if (!p->ram_end)
		p->readers.pss_refusal =
			"an older zmem-bpf made the pin, and did not store where RAM ended: make it "
			"again (zmem-bpf pin [GROUP])";
	else if (p->ram_end < p->readers.pfn_end)
		p->readers.pss_refusal = "RAM was added after the pin was made: make it again "
					 "(zmem-bpf pin [GROUP])";
	else
		p->readers.pss_refusal = NULL;
	p->readers.asks = !p->readers.pss_refusal;
	p->link = p->readers.pss_refusal ? PIN_COUNTERS : PIN_PSS;
}

static int open_iterator(const void *state)
{
	const struct pin_state *p = state;
	int fd = p->held < 0 ? open_link(p->link) : bpf_iter_create(p->held);

	return fd == -ENOENT || fd == -EACCES ? -ESTALE : fd;
}

static int pin_open(const struct source_variant *variant, const struct procfs *proc,
		    const struct memo_plan *memos, struct diag *diag, void **ret_state)
{
	cleanup_close int fd = open_link(variant->pinned);
	cleanup_free struct pin_state *p = NULL;
	int r = fd < 0 ? fd : reader_try(fd);

	(void)memos; /* sessions share the program, never a memo */
	if (r < 0)
		return add_note(diag, variant->name, r);
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->link = variant->pinned;
	p->held = -1;
	p->proc = proc;
	p->pages = variant->pages;
	p->readers = (struct readers){.open = open_iterator, .follow_ram = look_at_ram, .state = p};
	if (!p->pages) {
		read_text(PIN_WHY, p->text);
		p->readers.pss_refusal = p->text[0] ? p->text : "the pin has only counters";
	}
	look_at_ram(p);
	*ret_state = TAKE_PTR(p);
	return 0;
}

/* Iterators of a held link are of the pin that was checked, even after it is replaced. */
int pin_source_hold(void *state)
{
	struct pin_state *p = state;
	char path[64];

	snprintf(path, sizeof(path), PIN_PLACE "/" PIN_VERSION "/%s", p->link);
	p->held = bpf_obj_get(path);
	return p->held == -ENOENT ? -ESTALE : 0;
}

static void pin_distrust(void *state)
{
	struct pin_state *p = state;

	close_fd(&p->held);
	p->pages = p->readers.asks = false;
	p->link = PIN_COUNTERS;
}

static void pin_close(void *state)
{
	struct pin_state *p = state;

	close_fd(&p->held);
	readers_done(&p->readers);
	free(p);
}

const struct source_kind source_kind_pin = {
	.origin = FROM_BPF,
	.open = pin_open,
	.collect = readers_collect,
	.revisit = readers_revisit,
	.pss_refusal = readers_pss_refusal,
	.distrust = pin_distrust,
	.close = pin_close,
};
