// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Makes and removes the pin; root's side of it. All is made in a directory that only root can enter
 * and then renamed, so that readers see what is whole, and a new pin takes the place of an old one
 * without a moment without.
 */
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "source/pin_place.h"
#include "source/source.h"

#define WHAT	 "pin"
#define ASK_ROOT "be root: it takes CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN"
#define DRAFT	 "new"

static const char *const names[] = {PIN_PSS, PIN_COUNTERS, PIN_WHY};

static int failed(struct diag *diag, const char *step, int error)
{
	const char *todo =
		error == -EPERM || error == -EACCES ? ASK_ROOT : file_exhausted_todo(error);

	diag_add(diag, WHAT, error, todo, "%s: %s", step, strerror(-error));
	return error;
}

static bool is_bpffs(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && (unsigned long)fs.f_type == BPF_FS_MAGIC;
}

/*
 * Opens the place and locks it, for one at a time. Who waited finds another place there if it was
 * mounted or removed meanwhile: then once more. Returns a descriptor or a negative errno.
 */
static int place_lock(bool make)
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

/* Whether a file system of another kind is mounted there. */
static bool is_taken(int fd)
{
	struct stat here, parent;

	return !is_bpffs(fd) && fstat(fd, &here) == 0 && fstatat(fd, "..", &parent, 0) == 0 &&
	       here.st_dev != parent.st_dev;
}

/* The place, locked, with a bpffs on it. Returns a descriptor or a negative errno. */
static int place_make(struct diag *diag)
{
	for (;;) {
		cleanup_close int fd = place_lock(true);

		if (fd < 0)
			return failed(diag, "making " PIN_PLACE, fd);
		if (is_bpffs(fd))
			return TAKE_FD(fd);
		if (is_taken(fd)) {
			diag_add(diag, WHAT, -EBUSY, "unmount it",
				 "something else is mounted at " PIN_PLACE);
			return -EBUSY;
		}
		if (mount("zmem-bpf", PIN_PLACE, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC,
			  "mode=0700") < 0)
			return failed(diag, "mounting a bpffs at " PIN_PLACE, -errno);
	}
}

/* Names with dots are the kernel's, such as maps.debug (kernel/bpf/inode.c, bpf_lookup()). */
static bool is_ours(const char *name)
{
	return !strchr(name, '.');
}

static int open_entry(int dirfd, const char *name)
{
	return openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
}

/*
 * A member that holds a link open could open it anew through /proc/self/fd, for ever. Root may, so
 * that it can empty a directory without CAP_DAC_OVERRIDE.
 */
static void forbid(int fd)
{
	if (fd >= 0)
		fchmod(fd, 0700);
}

/* Removes a directory of links, or whatever else root has put there. */
static int remove_entry(int dirfd, const char *name)
{
	cleanup_closedir DIR *dir = NULL;
	const struct dirent *e;
	cleanup_close int entry = open_entry(dirfd, name);
	int fd;

	forbid(entry);
	if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
		return 0;
	fd = entry < 0 ? -1 : openat(entry, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	while (dir && (e = readdir(dir))) {
		if (is_ours(e->d_name))
			remove_entry(fd, e->d_name);
	}
	return unlinkat(dirfd, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}

/* All, or all but what is pinned. */
static int remove_all(int place, bool keep)
{
	int fd = openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
	cleanup_closedir DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	while (r == 0 && dir && (e = readdir(dir))) {
		if (is_ours(e->d_name) && !(keep && (strcmp(e->d_name, PIN_VERSION) == 0 ||
						     strcmp(e->d_name, PIN_NEWEST) == 0)))
			r = remove_entry(place, e->d_name);
	}
	return dir ? r : -errno;
}

/* What may be read by the group, and changed by nobody. */
static int chown_entry(int dirfd, const char *name, gid_t group, mode_t mode)
{
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
	return r < 0 ? r : chown_entry(draft, name, group, 0440);
}

/* The draft takes the place of what is there. */
static int publish(int place, int draft, gid_t group)
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
			forbid(old);
	}
	return r < 0 ? r : chown_entry(place, PIN_VERSION, group, 0750);
}

static int name_newest(int place)
{
	int r = remove_entry(place, DRAFT);

	if (r < 0)
		return r;
	if (symlinkat(PIN_VERSION, place, DRAFT) < 0 ||
	    renameat(place, DRAFT, place, PIN_NEWEST) < 0)
		return -errno;
	return 0;
}

struct bpf_handle {
	struct source *counters;
	struct source *pss; /* counters, too */
};

static void unload(struct bpf_handle *l)
{
	source_close(l->counters);
	source_close(l->pss);
}

/* Loads as for reading here. */
static int load(struct bpf_handle *l, const struct procfs *proc, struct diag *diag)
{
	struct source_request request = {.choice = SOURCE_BPF, .pin = PIN_NOT, .pss = true};
	int r = source_open(&request, proc, diag, &l->pss);

	request.pss = false;
	return r < 0 ? r : source_open(&request, proc, diag, &l->counters);
}

static int fill_draft(int place, const struct bpf_handle *l, gid_t group)
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
		r = pin_link(draft, l->pss, PIN_PSS, group);
	else if (r == 0 && symlinkat(refusal, draft, PIN_WHY) < 0)
		r = -errno;
	if (r == 0)
		r = chown_entry(place, DRAFT, group, 0750);
	return r < 0 ? r : publish(place, draft, group);
}

int pin_make(gid_t group, const struct procfs *proc, struct diag *diag, char **ret_refusal)
{
	cleanup(unload) struct bpf_handle loaded = {};
	cleanup_close int place = -1;
	int r = load(&loaded, proc, diag);

	if (r < 0)
		return r;
	if (source_pss_refusal(loaded.pss)) {
		*ret_refusal = strdup(source_pss_refusal(loaded.pss));
		if (!*ret_refusal)
			return failed(diag, "pinning at " PIN_PLACE, -ENOMEM);
	}
	place = place_make(diag);
	if (place < 0)
		return place;
	r = fill_draft(place, &loaded, group);
	if (r == 0)
		r = name_newest(place);
	if (r == 0)
		r = remove_all(place, true);
	if (r == 0)
		r = chown_entry(place, ".", group, 0710);
	return r < 0 ? failed(diag, "pinning at " PIN_PLACE, r) : 0;
}

/* Takes the bpffs away that is there. */
static int unmount(int place)
{
	int r = fchmod(place, 0700) < 0 ? -errno : remove_all(place, false);

	/* Whoever looks at it just now has it open. */
	if (r == 0 && umount2(PIN_PLACE, MNT_DETACH | UMOUNT_NOFOLLOW) < 0)
		r = -errno;
	return r;
}

/*
 * What is mounted, and then the directory under it, each of them locked, so that nobody mounts
 * meanwhile. Whoever mounted twice gets rid of both.
 */
int pin_remove(struct diag *diag)
{
	for (;;) {
		cleanup_close int place = place_lock(false);
		bool mounted = place >= 0 && is_bpffs(place);
		int r;

		if (place == -ENOENT)
			return -ENOENT;
		if (place < 0)
			return failed(diag, "opening " PIN_PLACE, place);
		if (is_taken(place)) {
			diag_add(diag, WHAT, -EBUSY, "umount it: it is somebody else's",
				 "what is mounted at " PIN_PLACE " is no pin");
			return -EBUSY;
		}
		if (mounted)
			r = unmount(place);
		else
			r = rmdir(PIN_PLACE) < 0 ? -errno : 0;
		if (r < 0)
			return failed(diag, "removing the pin", r);
		if (!mounted)
			return 0;
	}
}
