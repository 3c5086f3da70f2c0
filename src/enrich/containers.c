// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Names of containers, from files that the kubelet and container engines keep. Nothing is asked of
 * an engine. An id names one container; what the files of a user say counts only for containers in
 * the slice of that user. Regular files of bounded size are read, and no FIFO or device.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "enrich/enrich.h"
#include "proc/cgroup.h"
#include "proc/container.h"

#define FILE_MAX	((off_t)1 << 20)  /* of one container */
#define STORE_MAX	((off_t)16 << 20) /* of all containers of an engine: 2 KiB each */
#define DIR_ENTRIES_MAX 100000

/* A container without a name so far. */
struct nameless {
	const char *id;
	const char *cgroup;
	size_t pod_path;
	uid_t uid;	/* of the user in whose slice it is; UID_NONE: none */
	bool completed; /* the names have those of the pod before them */
	/* In memory of the snapshot. */
	const char *space, *pod, *name;
	enum container_status status; /* why there is no name */
};

struct container_search {
	int root;
	struct snapshot *snapshot;
	struct nameless *item; /* by id */
	size_t count, left;    /* `left` have no name yet */
	uid_t uid;	       /* only containers of this user; UID_NONE: any */
	int error;	       /* without files or memory */
};

/* ---- the containers of the rows ---- */

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

/* "/user.slice/user-1000.slice/…" */
static uid_t user_of(const char *cgroup)
{
	struct text_part rest = part_of(cgroup), slice;
	static const char before[] = "user-", after[] = ".slice";
	uint64_t uid;

	part_split(&rest, '/');
	if (!part_is(part_split(&rest, '/'), "user.slice"))
		return UID_NONE;
	slice = part_split(&rest, '/');
	if (!part_begins(slice, before) || slice.len < sizeof(before) + sizeof(after) - 1)
		return UID_NONE;
	slice = part_behind(slice, sizeof(before) - 1);
	slice.len -= sizeof(after) - 1;
	if (strncmp(slice.s + slice.len, after, sizeof(after) - 1) != 0 ||
	    parse_u64(slice.s, slice.len, UID_NONE - 1, &uid) < 0)
		return UID_NONE;
	return (uid_t)uid;
}

static bool is_unread(const struct process *p)
{
	return p->container_status == CONTAINER_UNREAD && p->container_id && p->cgroup;
}

static int collect_nameless(struct container_search *c, const struct rows *rows,
			    struct arena *arena)
{
	size_t count = 0, kept = 0;

	for (size_t i = 0; i < rows->count; i++)
		count += is_unread(rows->item[i]);
	if (!count)
		return 0;
	c->item = arena_zalloc(arena, count, sizeof(*c->item));
	if (!c->item)
		return -ENOMEM;
	for (size_t i = 0; i < rows->count; i++) {
		const struct process *p = rows->item[i];

		if (is_unread(p))
			c->item[c->count++] = (struct nameless){.id = p->container_id,
								.cgroup = p->cgroup,
								.pod_path = p->pod_path,
								.uid = user_of(p->cgroup),
								.status = CONTAINER_UNNAMED};
	}
	qsort(c->item, count, sizeof(*c->item), compare_id);
	for (size_t i = 0; i < count; i++) {
		if (!i || strcmp(c->item[i].id, c->item[kept - 1].id) != 0)
			c->item[kept++] = c->item[i];
	}
	c->count = c->left = kept;
	return 0;
}

/* ---- what a file says ---- */

static const char *store_part(struct container_search *c, struct text_part part)
{
	const char *copy = arena_strndup(&c->snapshot->arena, part.s, part.len);

	if (!copy)
		c->error = -ENOMEM;
	return copy;
}

static bool differs(const char *known, struct text_part part)
{
	return known && part.s && !part_is(part, known);
}

/* Two files that differ about an id name nothing. */
static void set_name(struct container_search *c, struct nameless *n,
		     const struct container_name *name)
{
	if (n->status == CONTAINER_INVALID || c->error)
		return;
	if (differs(n->space, name->space) || differs(n->pod, name->pod) ||
	    differs(n->name, name->name)) {
		c->left -= n->status != CONTAINER_NAMED;
		n->status = CONTAINER_INVALID;
		n->space = n->pod = n->name = NULL;
		return;
	}
	if (!n->pod && name->pod.s) {
		n->space = store_part(c, name->space);
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
		if (c->uid == UID_NONE || c->item[i].uid == c->uid)
			set_reason(c, &c->item[i], error);
}

static bool is_open(const struct container_search *c, const struct nameless *n)
{
	return n->status != CONTAINER_NAMED && (c->uid == UID_NONE || n->uid == c->uid);
}

/* ---- files ---- */

/*
 * Opens a path below dirfd. In a user's directory no component is a link and the file belongs to
 * the user, so that it leads to nothing that the user could not read.
 */
static int open_below(const struct container_search *c, int dirfd, const char *path)
{
	cleanup_close int dir = c->uid == UID_NONE ? -1 : fcntl(dirfd, F_DUPFD_CLOEXEC, 0);
	char name[NAME_MAX + 1];
	const char *slash;
	int fd;

	if (c->uid != UID_NONE && dir < 0)
		return -errno;
	while (c->uid != UID_NONE && (slash = strchr(path, '/'))) {
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
	if (!S_ISREG(st.st_mode) || (c->uid != UID_NONE && st.st_uid != c->uid))
		return -EINVAL;
	if (st.st_size > max)
		return -EFBIG;
	text = malloc((size_t)st.st_size + 2);
	if (!text)
		return -ENOMEM;
	len = file_read_fd(fd, text, (size_t)st.st_size + 2);
	/* It grew meanwhile: the engine replaces its files, so that is none of its own. */
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
	int fd = openat(c->root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_closedir DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (fd < 0) {
		if (errno != ENOENT && errno != ENOTDIR)
			set_reasons(c, -errno);
		return;
	}
	if (!dir) {
		c->error = -ENOMEM;
		close(fd);
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
		set_name(c, n, &name);
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
			set_name(c, n, &name);
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

		if (!is_open(c, n))
			continue;
		snprintf(path, sizeof(path), file->path, n->id);
		len = read_below(c, dirfd, path, FILE_MAX, &text);
		if (len < 0)
			set_reason(c, n, (int)len);
		else if (file->parse(text, (size_t)len, &name) < 0)
			set_reason(c, n, -EINVAL);
		else
			set_name(c, n, &name);
	}
}

static void use_store(void *arg, struct text_part id, const struct container_name *name)
{
	struct container_search *c = arg;
	struct nameless *n = find_nameless(c, id);

	if (n && (c->uid == UID_NONE || n->uid == c->uid))
		set_name(c, n, name);
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

static void search_system(struct container_search *c)
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

/* The home directory in passwd. Returns an fd or a negative errno. */
static int open_home(const struct container_search *c, uid_t uid)
{
	int passwd = openat(c->root, "etc/passwd", O_RDONLY | O_CLOEXEC), fd;
	cleanup_fclose FILE *file = passwd < 0 ? NULL : fdopen(passwd, "r");
	const struct passwd *pw;

	if (!file) {
		if (passwd >= 0)
			close(passwd);
		return passwd < 0 ? -errno : -ENOMEM;
	}
	while ((pw = fgetpwent(file)))
		if (pw->pw_uid == uid)
			break;
	if (!pw || *pw->pw_dir != '/' || !pw->pw_dir[1])
		return -ENOENT;
	fd = openat(c->root, pw->pw_dir + 1, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* The storage of a user lies on a local disk, and is read only while a container of it runs. */
static void search_user(struct container_search *c, uid_t uid)
{
	static const struct engine_file docker = {
		".local/share/docker/containers/%s/config.v2.json", container_docker_parse};
	cleanup_close int home = open_home(c, uid);

	c->uid = uid;
	if (home < 0) {
		set_reasons(c, home);
	} else {
		read_store(c, home, ".local/share/containers/storage");
		if (c->left && !c->error)
			read_each(c, home, &docker);
	}
	c->uid = UID_NONE;
}

static void search_users(struct container_search *c)
{
	for (size_t i = 0; i < c->count && c->left && !c->error; i++) {
		uid_t uid = c->item[i].uid;
		bool before = false;

		for (size_t k = 0; k < i && !before; k++)
			before = c->item[k].uid == uid;
		if (uid != UID_NONE && !before && c->item[i].status != CONTAINER_NAMED)
			search_user(c, uid);
	}
}

/* ---- rows ---- */

static const char *join(struct arena *arena, const char *a, const char *b)
{
	size_t first = strlen(a), second = strlen(b);
	char *s = arena_alloc(arena, first + second + 2);

	if (!s)
		return NULL;
	memcpy(s, a, first);
	s[first] = '/';
	memcpy(s + first + 1, b, second + 1);
	return s;
}

/* Puts the namespace and the pod before the names; the beginning of the id is a name, too. */
static int complete_name(struct arena *arena, struct nameless *n, const char *shown)
{
	if (n->completed)
		return 0;
	n->completed = true;
	if (!n->name)
		n->name = shown;
	if (!n->pod)
		return 0;
	n->pod = join(arena, n->space, n->pod);
	n->name = n->pod ? join(arena, n->pod, n->name) : NULL;
	return n->name ? 0 : -ENOMEM;
}

static int name_containers(struct container_search *c, struct rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		struct process *p = rows->item[i];
		struct nameless *n;

		if (!is_unread(p))
			continue;
		n = find_nameless(c, part_of(p->container_id));
		if (complete_name(&c->snapshot->arena, n, p->container) < 0)
			return -ENOMEM;
		p->container = n->name;
		p->pod = n->pod;
		p->space = n->space;
		p->container_status = n->status;
	}
	return 0;
}

int enrich_containers(const char *root, struct snapshot *s, struct rows *rows)
{
	cleanup(arena_release) struct arena_mark mark = arena_mark(&s->scratch);
	struct container_search c = {.snapshot = s, .uid = UID_NONE};
	cleanup_close int fd = -1;
	int r = collect_nameless(&c, rows, mark.arena);

	if (r < 0 || !c.count)
		return r;
	fd = c.root = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return file_exhausted(-errno) ? -errno : 0;
	search_system(&c);
	if (c.left && !c.error)
		search_users(&c);
	return c.error ? c.error : name_containers(&c, rows);
}
