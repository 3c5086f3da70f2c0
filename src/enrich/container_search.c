// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads regular files of bounded size, and no FIFO or device. */
#include "enrich/container_search.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "proc/cgroup.h"

#define FILE_MAX	((off_t)1 << 20)  /* of one container */
#define STORE_MAX	((off_t)16 << 20) /* of all containers of an engine: 2 KiB each */
#define DIR_ENTRIES_MAX 100000

static int compare_id(const void *a, const void *b)
{
	return strcmp(((const struct nameless *)a)->id, ((const struct nameless *)b)->id);
}

static struct nameless *find_nameless(const struct container_search *c, struct text_part id)
{
	char text[CONTAINER_ID_LEN + 1] = "";
	const struct nameless wanted = {.id = text};

	if (id.len != CONTAINER_ID_LEN)
		return NULL;
	memcpy(text, id.s, id.len);
	return bsearch(&wanted, c->item, c->count, sizeof(*c->item), compare_id);
}

/* ---- what a file says ---- */

static const char *store_part(struct container_search *c, struct text_part part)
{
	const char *copy = arena_strndup(c->arena, part.s, part.len);

	if (!copy)
		c->error = -ENOMEM;
	return copy;
}

static bool differs(const char *known, struct text_part part)
{
	return known && part.s && !part_is(part, known);
}

/*
 * Two files that differ about an id name nothing. Pods are root's: a user could give a container
 * the name that cri-dockerd gives to one in a pod.
 */
void container_set_name(struct container_search *c, struct nameless *n,
			const struct container_name *found)
{
	const struct container_name alone = {.name = found->name}, *name = c->uid ? &alone : found;

	if (n->status == CONTAINER_INVALID || c->error)
		return;
	if (differs(n->namespace, name->namespace) || differs(n->pod, name->pod) ||
	    differs(n->name, name->name)) {
		c->left -= n->status != CONTAINER_NAMED;
		n->status = CONTAINER_INVALID;
		n->namespace = n->pod = n->name = NULL;
		return;
	}
	if (!n->pod && name->pod.s) {
		n->namespace = store_part(c, name->namespace);
		n->pod = store_part(c, name->pod);
	}
	if (!n->name && name->name.s) {
		n->name = store_part(c, name->name);
		n->status = CONTAINER_NAMED;
		c->left--;
	}
}

/* Notes why a file said nothing; the first reason stays. */
static void set_reason(struct container_search *c, struct nameless *n, int error)
{
	if (file_exhausted(error))
		c->error = error;
	else if (n->status != CONTAINER_UNNAMED)
		return;
	else if (error == -EACCES || error == -EPERM)
		n->status = CONTAINER_DENIED;
	else if (error == -EFBIG)
		n->status = CONTAINER_LARGE;
	else if (error == -EINVAL || error == -ELOOP || error == -E2BIG)
		n->status = CONTAINER_INVALID;
}

/* A reason for all containers that the file could have named. */
static void set_reasons(struct container_search *c, int error)
{
	for (size_t i = 0; i < c->count; i++)
		set_reason(c, &c->item[i], error);
}

/* ---- files ---- */

/*
 * Opens a path below dirfd. In a user's directory no component is a link and the file belongs to
 * the user, so that it leads to nothing that the user could not read.
 */
static int open_below(const struct container_search *c, int dirfd, const char *path)
{
	cleanup_close int dir = c->uid ? fcntl(dirfd, F_DUPFD_CLOEXEC, 0) : -1;
	char name[NAME_MAX + 1];
	const char *slash;
	int fd;

	if (c->uid && dir < 0)
		return -errno;
	while (c->uid && (slash = strchr(path, '/'))) {
		size_t len = (size_t)(slash - path);

		if (len >= sizeof(name))
			return -ENAMETOOLONG;
		memcpy(name, path, len);
		name[len] = '\0';
		fd = openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			return -errno;
		close(dir);
		dir = fd;
		path = slash + 1;
	}
	fd = openat(dir < 0 ? dirfd : dir, path,
		    O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Reads a regular file of at most `max` bytes, to be freed. Returns its length or -errno. */
static ssize_t read_below(const struct container_search *c, int dirfd, const char *path, off_t max,
			  char **ret)
{
	cleanup_close int fd = open_below(c, dirfd, path);
	cleanup_free char *text = NULL;
	struct stat st;
	ssize_t len;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || (c->uid && st.st_uid != c->uid))
		return -EINVAL;
	if (st.st_size > max)
		return -EFBIG;
	text = malloc((size_t)st.st_size + 2);
	if (!text)
		return -ENOMEM;
	len = file_read_fd(fd, text, (size_t)st.st_size + 2);
	/* The file grew meanwhile. Engines replace their files, so no engine wrote it. */
	if (len > st.st_size)
		return -EINVAL;
	if (len >= 0)
		*ret = TAKE_PTR(text);
	return len;
}

/* Calls fn for each name in a directory, which may be absent. */
static void each_name(struct container_search *c, const char *path,
		      void (*fn)(struct container_search *c, struct text_part name))
{
	cleanup_closedir DIR *dir = dir_open(c->root, path);
	const struct dirent *entry;

	if (!dir) {
		if (errno != ENOENT && errno != ENOTDIR)
			set_reasons(c, -errno);
		return;
	}
	for (size_t i = 0; !c->error && (entry = readdir(dir)); i++) {
		if (i == DIR_ENTRIES_MAX) {
			set_reasons(c, -EFBIG);
			return;
		}
		fn(c, part_of(entry->d_name));
	}
}

/* ---- the kubelet ---- */

static void use_log(struct container_search *c, struct text_part file)
{
	struct container_name name;
	struct text_part id;
	struct nameless *n;

	if (!container_log_parse(file, &name, &id))
		return;
	n = find_nameless(c, id);
	if (n)
		container_set_name(c, n, &name);
}

/* The uid in the name of a cgroup of systemd has '_' for '-'. */
static bool same_uid(struct text_part a, struct text_part b)
{
	if (a.len != b.len)
		return false;
	for (size_t i = 0; i < a.len; i++) {
		if ((a.s[i] == '_' ? '-' : a.s[i]) != (b.s[i] == '_' ? '-' : b.s[i]))
			return false;
	}
	return true;
}

static void use_pod(struct container_search *c, struct text_part dir)
{
	struct container_name name;
	struct text_part uid, of;

	if (!container_pod_parse(dir, &name, &uid))
		return;
	for (size_t i = 0; i < c->count; i++) {
		struct nameless *n = &c->item[i];
		struct text_part pod = {n->cgroup, n->pod_path};

		if (n->pod_path && cgroup_pod_uid(part_base(pod), &of) && same_uid(of, uid))
			container_set_name(c, n, &name);
	}
}

/* ---- engines ---- */

/* A file that an engine has for each container; %s is its id. */
struct engine_file {
	const char *path;
	int (*parse)(const char *text, size_t len, struct container_name *ret);
};

static void read_each(struct container_search *c, int dirfd, const struct engine_file *file)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < c->count && c->left && !c->error; i++) {
		struct nameless *n = &c->item[i];
		cleanup_free char *text = NULL;
		struct container_name name;
		ssize_t len;

		if (n->status == CONTAINER_NAMED)
			continue;
		snprintf(path, sizeof(path), file->path, n->id);
		len = read_below(c, dirfd, path, FILE_MAX, &text);
		if (len < 0)
			set_reason(c, n, (int)len);
		else if (file->parse(text, (size_t)len, &name) < 0)
			set_reason(c, n, -EINVAL);
		else
			container_set_name(c, n, &name);
	}
}

static void use_store(void *arg, struct text_part id, const struct container_name *name)
{
	struct container_search *c = arg;
	struct nameless *n = find_nameless(c, id);

	if (n)
		container_set_name(c, n, name);
}

static void read_store(struct container_search *c, int dirfd, const char *storage)
{
	static const char *const driver[] = {"overlay", "vfs", "btrfs", "zfs"};
	static const char *const kind[] = {"", "volatile-"};
	char path[PATH_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(driver) * ARRAY_SIZE(kind) && !c->error; i++) {
		cleanup_free char *text = NULL;
		ssize_t len;
		int r = 0;

		if (!c->left)
			return;
		snprintf(path, sizeof(path), "%s/%s-containers/%scontainers.json", storage,
			 driver[i / ARRAY_SIZE(kind)], kind[i % ARRAY_SIZE(kind)]);
		len = read_below(c, dirfd, path, STORE_MAX, &text);
		if (len >= 0)
			r = container_store_parse(text, (size_t)len, use_store, c);
		if (len < 0 || r < 0)
			set_reasons(c, len < 0 ? (int)len : r);
	}
}

void container_search_system(struct container_search *c)
{
	static const struct engine_file file[] = {
		{"var/lib/docker/containers/%s/config.v2.json", container_docker_parse},
		{"run/containerd/io.containerd.runtime.v2.task/k8s.io/%s/config.json",
		 container_bundle_parse},
		{"run/containerd/io.containerd.runtime.v2.task/default/%s/config.json",
		 container_bundle_parse},
	};

	each_name(c, "var/log/containers", use_log);
	each_name(c, "var/log/pods", use_pod);
	for (size_t i = 0; i < ARRAY_SIZE(file) && c->left && !c->error; i++)
		read_each(c, c->root, &file[i]);
	if (c->left && !c->error)
		read_store(c, c->root, "var/lib/containers/storage");
}

/* ---- users ---- */

void container_search_user(struct container_search *c, const char *home)
{
	static const struct engine_file docker = {
		".local/share/docker/containers/%s/config.v2.json", container_docker_parse};
	cleanup_close int fd = -1;

	/* A user whose home is the root has none. */
	if (*home != '/' || !home[1])
		return;
	fd = openat(c->root, home + 1, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		set_reasons(c, -errno);
		return;
	}
	read_store(c, fd, ".local/share/containers/storage");
	if (c->left && !c->error)
		read_each(c, fd, &docker);
}
