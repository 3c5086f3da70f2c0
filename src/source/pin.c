// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Makes and removes the pin, as root. The pin is made in a directory that only root can enter and
 * then renamed: readers see complete pins only, and a new pin replaces an old one without a gap.
 */
#include "source/pin.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "privilege/privilege.h"
#include "source/source.h"
#include "zmem/setup.h"

#define SUBJECT	 "pin"
#define ASK_ROOT "be root: it takes CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN"
#define DRAFT	 "new"

static const char *const names[] = {PIN_PSS, PIN_COUNTERS, PIN_WHY, PIN_RAM, PIN_MAKER};

/* What a group may do with the place, with a directory of links, and with a link. */
#define PLACE_MODE 0710
#define LINKS_MODE 0750
#define LINK_MODE  0440

static int add_failure(struct diag *diag, const char *step, int error)
{
	const char *hint =
		error == -EPERM || error == -EACCES ? ASK_ROOT : file_exhausted_hint(error);

	diag_add(diag, SUBJECT, error, hint, "%s: %s", step, strerror(-error));
	return error;
}

static bool is_bpffs(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && (unsigned long)fs.f_type == BPF_FS_MAGIC;
}

/*
 * Opens the place and locks it. Tries again if the place was mounted or removed while this waited
 * for the lock. Returns a descriptor or a negative errno.
 */
static int lock_place(bool make)
{
	for (;;) {
		struct stat locked, now;
		cleanup_close int fd = -1;

		if (make && mkdir(PIN_PLACE, 0700) < 0 && errno != EEXIST)
			return -errno;
		fd = open(PIN_PLACE, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 && errno == ENOENT && make)
			continue;
		if (fd < 0 || flock(fd, LOCK_EX) < 0 || fstat(fd, &locked) < 0)
			return -errno;
		if (stat(PIN_PLACE, &now) == 0 && now.st_dev == locked.st_dev &&
		    now.st_ino == locked.st_ino)
			return TAKE_FD(fd);
		if (!make)
			return -ENOENT;
	}
}

/* True if a file system of another kind is mounted there. */
static bool is_foreign_mount(int fd)
{
	struct stat here, parent;

	return !is_bpffs(fd) && fstat(fd, &here) == 0 && fstatat(fd, "..", &parent, 0) == 0 &&
	       here.st_dev != parent.st_dev;
}

/* The place, locked, with a bpffs on it. Returns a descriptor or a negative errno. */
static int make_place(struct diag *diag)
{
	for (;;) {
		cleanup_close int fd = lock_place(true);

		if (fd < 0)
			return add_failure(diag, "making " PIN_PLACE, fd);
		if (is_bpffs(fd))
			return TAKE_FD(fd);
		if (is_foreign_mount(fd)) {
			diag_add(diag, SUBJECT, -EBUSY, "unmount it",
				 "another file system is mounted at " PIN_PLACE);
			return -EBUSY;
		}
		if (mount("zmem-bpf", PIN_PLACE, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC,
			  "mode=0700") < 0)
			return add_failure(diag, "mounting a bpffs at " PIN_PLACE, -errno);
	}
}

/* Names with dots belong to the kernel, such as maps.debug (kernel/bpf/inode.c, bpf_lookup()). */
static bool is_ours(const char *name)
{
	return !strchr(name, '.');
}

static int open_entry(int dirfd, const char *name)
{
	return openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
}

/*
 * Removes the access of members: a member that has a link open could reopen it through
 * /proc/self/fd after its removal. Root keeps access, to empty a directory without
 * CAP_DAC_OVERRIDE.
 */
static void revoke_access(int fd)
{
	if (fd >= 0)
		fchmod(fd, 0700);
}

/* Removes a directory of links, or any other entry. */
static int remove_entry(int parent, const char *name)
{
	cleanup_closedir DIR *dir = NULL;
	const struct dirent *e;
	cleanup_close int entry = open_entry(parent, name);

	revoke_access(entry);
	if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
		return 0;
	dir = dir_open(entry, ".");
	while (dir && (e = readdir(dir))) {
		if (is_ours(e->d_name))
			remove_entry(dirfd(dir), e->d_name);
	}
	return unlinkat(parent, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}

/* Removes all entries; with keep_pin all except the pin. */
static int remove_all(int place, bool keep_pin)
{
	cleanup_closedir DIR *dir = dir_open(place, ".");
	const struct dirent *e;
	int r = 0;

	while (r == 0 && dir && (e = readdir(dir))) {
		if (is_ours(e->d_name) && !(keep_pin && (strcmp(e->d_name, PIN_VERSION) == 0 ||
							 strcmp(e->d_name, PIN_NEWEST) == 0)))
			r = remove_entry(place, e->d_name);
	}
	return dir ? r : -errno;
}

/* Lets the group read an entry that only root can change. A pin for root has no group. */
static int set_group(int dirfd, const char *name, gid_t group, mode_t mode)
{
	if (group == PIN_FOR_ROOT) {
		mode = mode == LINK_MODE ? 0600 : 0700;
		group = 0;
	}
	if (fchownat(dirfd, name, 0, group, 0) < 0 || fchmodat(dirfd, name, mode, 0) < 0)
		return -errno;
	return 0;
}

static int pin_link(int draft, const struct source *source, const char *name, gid_t group)
{
	char path[64];
	int r;

	snprintf(path, sizeof(path), PIN_PLACE "/" DRAFT "/%s", name);
	r = bpf_obj_pin(source_link(source), path);
	return r < 0 ? r : set_group(draft, name, group, LINK_MODE);
}

/* Replaces the current pin with the draft. */
static int replace_pin(int place, int draft, gid_t group)
{
	cleanup_close int there =
		openat(place, PIN_VERSION, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int r = 0;

	if (there < 0)
		return renameat(place, DRAFT, place, PIN_VERSION) < 0 ? -errno : 0;
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(names); i++) {
		cleanup_close int old = open_entry(there, names[i]);

		if (renameat(draft, names[i], there, names[i]) < 0)
			r = errno == ENOENT ? remove_entry(there, names[i]) : -errno;
		if (r == 0)
			revoke_access(old);
	}
	return r < 0 ? r : set_group(place, PIN_VERSION, group, LINKS_MODE);
}

static int link_newest(int place)
{
	int r = remove_entry(place, DRAFT);

	if (r < 0)
		return r;
	if (symlinkat(PIN_VERSION, place, DRAFT) < 0 ||
	    renameat(place, DRAFT, place, PIN_NEWEST) < 0)
		return -errno;
	return 0;
}

struct pin_sources {
	struct source *counters;
	struct source *pss; /* has counters, too */
};

static void close_sources(struct pin_sources *l)
{
	source_close(l->counters);
	source_close(l->pss);
}

static int open_sources(struct pin_sources *l, const struct procfs *proc, struct diag *diag)
{
	struct source_request request = {.choice = SOURCE_BPF, .pin = PIN_NOT, .pss = true};
	int r = source_open(&request, proc, diag, &l->pss);

	request.pss = false;
	if (r == 0)
		r = source_open(&request, proc, diag, &l->counters);
	/* The hints name what loading needs. Pinning needs another capability. */
	for (int i = 0;
	     r < 0 && !privilege_loads() && i < diag->count && privilege_is_first_namespace(); i++)
		diag->note[i].hint = ASK_ROOT;
	return r;
}

/* Pins the walk of pages, with where RAM ended when it was calibrated. */
static int pin_pages(int draft, const struct source *source, gid_t group)
{
	struct zmem_layout layout;
	int r = source_layout(source, &layout);
	char end[32];

	snprintf(end, sizeof(end), "%llu", r < 0 ? 0ULL : (unsigned long long)layout.pfn_end);
	if (r == 0 && symlinkat(end, draft, PIN_RAM) < 0)
		r = -errno;
	return r < 0 ? r : pin_link(draft, source, PIN_PSS, group);
}

/* Without /proc there is no link, and root does not use the pin. */
static int link_maker(int draft)
{
	char maker[PIN_MAKER_MAX];

	if (pin_maker(maker) < 0)
		return 0;
	return symlinkat(maker, draft, PIN_MAKER) < 0 ? -errno : 0;
}

static int fill_draft(int place, const struct pin_sources *l, gid_t group)
{
	const char *refusal = source_pss_refusal(l->pss);
	cleanup_close int draft = -1;
	int r = remove_entry(place, DRAFT);

	if (r == 0 && mkdirat(place, DRAFT, 0700) < 0)
		r = -errno;
	if (r == 0)
		draft = openat(place, DRAFT, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (r < 0 || draft < 0)
		return r < 0 ? r : -errno;
	r = pin_link(draft, l->counters, PIN_COUNTERS, group);
	if (r == 0 && !refusal)
		r = pin_pages(draft, l->pss, group);
	else if (r == 0 && symlinkat(refusal, draft, PIN_WHY) < 0)
		r = -errno;
	if (r == 0)
		r = link_maker(draft);
	if (r == 0)
		r = set_group(place, DRAFT, group, LINKS_MODE);
	return r < 0 ? r : replace_pin(place, draft, group);
}

int pin_make(gid_t group, const struct procfs *proc, struct diag *diag, char **ret_refusal)
{
	cleanup(close_sources) struct pin_sources loaded = {};
	cleanup_close int place = -1;
	int r = open_sources(&loaded, proc, diag);

	if (r < 0)
		return r;
	if (source_pss_refusal(loaded.pss)) {
		*ret_refusal = strdup(source_pss_refusal(loaded.pss));
		if (!*ret_refusal)
			return add_failure(diag, "pinning at " PIN_PLACE, -ENOMEM);
	}
	place = make_place(diag);
	if (place < 0)
		return place;
	r = fill_draft(place, &loaded, group);
	if (r == 0)
		r = link_newest(place);
	if (r == 0)
		r = remove_all(place, true);
	if (r == 0)
		r = set_group(place, ".", group, PLACE_MODE);
	return r < 0 ? add_failure(diag, "pinning at " PIN_PLACE, r) : 0;
}

/* Empties and unmounts the bpffs. */
static int unmount_place(int place)
{
	int r = fchmod(place, 0700) < 0 ? -errno : remove_all(place, false);

	/* A reader may have it open. */
	if (r == 0 && umount2(PIN_PLACE, MNT_DETACH | UMOUNT_NOFOLLOW) < 0)
		r = -errno;
	return r;
}

/*
 * Removes each bpffs that is mounted there, and then the directory. Each is locked, so that no pin
 * is made meanwhile.
 */
int pin_remove(struct diag *diag)
{
	for (;;) {
		cleanup_close int place = lock_place(false);
		bool mounted = place >= 0 && is_bpffs(place);
		int r;

		if (place == -ENOENT)
			return -ENOENT;
		if (place < 0)
			return add_failure(diag, "opening " PIN_PLACE, place);
		if (is_foreign_mount(place)) {
			diag_add(diag, SUBJECT, -EBUSY, "unmount it: another program mounted it",
				 "the mount at " PIN_PLACE " is not a pin");
			return -EBUSY;
		}
		if (mounted)
			r = unmount_place(place);
		else
			r = rmdir(PIN_PLACE) < 0 ? -errno : 0;
		if (r < 0)
			return add_failure(diag, "removing the pin", r);
		if (!mounted)
			return 0;
	}
}
