// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Names of containers, from files that the kubelet and container engines keep. Nothing is asked of
 * an engine. An id names one container of one owner: everybody can give a cgroup any name, also the
 * id of another container. The owner is who could make the cgroup, and only files of the owner's
 * engines name it. Regular files of bounded size are read, and no FIFO or device.
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
#include "enrich/cgroup_mounts.h"
#include "enrich/enrich.h"
#include "proc/cgroup.h"
#include "proc/container.h"

#define FILE_MAX	((off_t)1 << 20)  /* of one container */
#define STORE_MAX	((off_t)16 << 20) /* of all containers of an engine: 2 KiB each */
#define DIR_ENTRIES_MAX 100000

/* Whose a container is. */
struct owner {
	uid_t uid; /* 0: the system */
	/* No engine of the owner's on this machine made it: it lies in a container, or is gone. */
	bool foreign;
};

/* A container without a name so far. */
struct nameless {
	struct owner owner;
	bool searched; /* of the first one of an owner: the owner's engines were searched */
	const char *id;
	const char *cgroup;
	size_t pod_path;
	/* In memory of the snapshot. */
	const char *space, *pod, *name;
	enum container_status status; /* why there is no name */
};

/* A row, and its container. */
struct unread {
	struct process *process;
	struct owner owner;
	struct nameless *container;
};

/* Both are by owner and id; foreign ones are last. */
struct containers {
	struct unread *row;
	size_t rows;
	struct nameless *item;
	size_t items;
};

struct container_search {
	int root;
	struct snapshot *snapshot;
	uid_t uid;	       /* the containers of this owner */
	struct nameless *item; /* by id */
	size_t count, left;    /* `left` have no name yet */
	int error;	       /* without files or memory */
};

/* ---- whose a container is ---- */

/* "/user.slice/user-1000.slice/…", also from within a cgroup namespace. */
static uid_t user_of(const char *cgroup)
{
	struct text_part rest = part_of(cgroup), slice;
	static const char before[] = "user-", after[] = ".slice";
	uint64_t uid;

	part_split(&rest, '/');
	do
		slice = part_split(&rest, '/');
	while (part_is(slice, ".."));
	if (!part_is(slice, "user.slice"))
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

/* The path of the cgroup in which the container's was made. */
static struct text_part parent_of(const struct process *p)
{
	size_t len = strlen(p->cgroup);

	if (p->container_path && p->container_path < len)
		len = p->container_path;
	while (len && p->cgroup[len - 1] != '/')
		len--;
	/* Without the slash, but of the root. */
	return (struct text_part){p->cgroup, len > 1 ? len - 1 : len};
}

/*
 * Finds who owns the directory of a cgroup. Returns 1, 0 if no mount shows it, or a negative errno.
 */
static int directory_owner(const struct cgroup_mounts *h, const char *path, uid_t *ret)
{
	struct stat st;
	int r = 0;

	for (size_t i = 0; i < h->mounts; i++) {
		const char *below = cgroup_below(h->mount[i].root, path);

		if (!below)
			continue;
		if (fstatat(h->mount[i].fd, below, &st, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) == 0) {
			*ret = st.st_uid;
			return 1;
		}
		r = -errno;
	}
	return r;
}

/*
 * An engine makes the cgroup of a container in one of its own, and then may give it to the user
 * that is root in the container: the parent has the owner. Where it is not visible, and in v1,
 * where users own no cgroup, the path tells what lies in the slice of a user.
 */
static int find_owner(const struct cgroup_mounts *h, struct arena *arena, const struct process *p,
		      struct owner *ret)
{
	struct text_part parent = parent_of(p);
	char *path = arena_strndup(arena, parent.s, parent.len);
	uid_t user = user_of(p->cgroup), uid = 0;
	int r;

	if (!path)
		return -ENOMEM;
	r = p->controlled ? directory_owner(h, path, &uid) : 0;
	if (file_exhausted(r))
		return r;
	*ret = (struct owner){.uid = uid		? uid
				     : user == UID_NONE ? 0
							: user,
			      .foreign = r < 0 || cgroup_in_container(parent)};
	return 0;
}

static int compare_cgroup(const void *pa, const void *pb)
{
	const struct unread *a = pa, *b = pb;

	return strcmp(a->process->cgroup, b->process->cgroup);
}

static bool same_parent(const struct process *a, const struct process *b)
{
	return a->controlled == b->controlled && part_same(parent_of(a), parent_of(b));
}

/* Containers of one engine lie in few cgroups: each of these is looked at once. */
static int find_owners(const struct procfs *proc, struct arena *arena, struct unread *row,
		       size_t count)
{
	cleanup(cgroup_mounts_close) struct cgroup_mounts h = {};
	int r = cgroup_mounts_open(proc, arena, &h);

	qsort(row, count, sizeof(*row), compare_cgroup);
	for (size_t i = 0; r == 0 && i < count; i++) {
		if (i && same_parent(row[i - 1].process, row[i].process))
			row[i].owner = row[i - 1].owner;
		else
			r = find_owner(&h, arena, row[i].process, &row[i].owner);
	}
	return r;
}

/* ---- the containers of the rows ---- */

static bool is_unread(const struct process *p)
{
	return p->container_status == CONTAINER_UNREAD && p->container_id && p->cgroup;
}

static int compare_owner(const struct owner *a, const struct owner *b)
{
	if (a->foreign != b->foreign)
		return a->foreign ? 1 : -1;
	return (a->uid > b->uid) - (a->uid < b->uid);
}

static int compare_container(const void *pa, const void *pb)
{
	const struct unread *a = pa, *b = pb;
	int r = compare_owner(&a->owner, &b->owner);

	return r ? r : strcmp(a->process->container_id, b->process->container_id);
}

/* Returns 0 or a negative errno. */
static int find_containers(const struct procfs *proc, const struct rows *rows, struct arena *arena,
			   struct containers *all)
{
	size_t count = 0;
	int r;

	for (size_t i = 0; i < rows->count; i++)
		count += is_unread(rows->item[i]);
	if (!count)
		return 0;
	all->row = arena_zalloc(arena, count, sizeof(*all->row));
	all->item = arena_zalloc(arena, count, sizeof(*all->item));
	if (!all->row || !all->item)
		return -ENOMEM;
	for (size_t i = 0; i < rows->count; i++) {
		if (is_unread(rows->item[i]))
			all->row[all->rows++].process = rows->item[i];
	}
	r = find_owners(proc, arena, all->row, count);
	if (r < 0)
		return r;
	qsort(all->row, count, sizeof(*all->row), compare_container);
	for (size_t i = 0; i < count; i++) {
		struct unread *row = &all->row[i];
		const struct process *p = row->process;

		if (!i || compare_container(&row[-1], row) != 0)
			all->item[all->items++] = (struct nameless){.owner = row->owner,
								    .id = p->container_id,
								    .cgroup = p->cgroup,
								    .pod_path = p->pod_path,
								    .status = CONTAINER_UNNAMED};
		row->container = &all->item[all->items - 1];
	}
	return 0;
}

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
	const char *copy = arena_strndup(&c->snapshot->arena, part.s, part.len);

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
static void set_name(struct container_search *c, struct nameless *n,
		     const struct container_name *found)
{
	const struct container_name alone = {.name = found->name}, *name = c->uid ? &alone : found;

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

		if (n->status == CONTAINER_NAMED)
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

	if (n)
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

/* The storage of a user lies on a local disk, and is read only while a container of it runs. */
static void search_user(struct container_search *c, const char *home)
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

/* Chooses the containers of an owner, from item `first` on. */
static void choose_owner(struct container_search *c, const struct containers *all, size_t first)
{
	size_t end = first;

	while (end < all->items &&
	       compare_owner(&all->item[first].owner, &all->item[end].owner) == 0)
		end++;
	c->uid = all->item[first].owner.uid;
	c->item = all->item + first;
	c->count = c->left = end - first;
}

/* The first container of an owner, or all->items. */
static size_t find_owned(const struct containers *all, uid_t uid)
{
	const struct owner owner = {.uid = uid};
	size_t low = 0, high = all->items;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_owner(&all->item[middle].owner, &owner) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < all->items && compare_owner(&all->item[low].owner, &owner) == 0 ? low
										     : all->items;
}

/*
 * Users have their homes in passwd, which is read once: a user of a user namespace can make cgroups
 * of thousands of owners.
 */
static void search_users(struct container_search *c, const struct containers *all, size_t first)
{
	int fd = openat(c->root, "etc/passwd", O_RDONLY | O_CLOEXEC);
	cleanup_fclose FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	const struct passwd *pw;

	if (fd < 0) {
		int error = -errno;

		for (size_t i = first; i < all->items && !all->item[i].owner.foreign; i++)
			set_reason(c, &all->item[i], error);
		return;
	}
	if (!file) {
		c->error = -ENOMEM;
		close(fd);
		return;
	}
	while (!c->error && (pw = fgetpwent(file))) {
		size_t at = pw->pw_uid ? find_owned(all, pw->pw_uid) : all->items;

		if (at == all->items || all->item[at].searched)
			continue;
		all->item[at].searched = true;
		choose_owner(c, all, at);
		search_user(c, pw->pw_dir);
	}
}

/* The system is the first owner. */
static void search_owners(struct container_search *c, const struct containers *all)
{
	size_t users = 0;

	if (all->item[0].owner.uid == 0 && !all->item[0].owner.foreign) {
		choose_owner(c, all, 0);
		search_system(c);
		users = c->count;
	}
	if (users < all->items && !all->item[users].owner.foreign && !c->error)
		search_users(c, all, users);
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

/* The name, or the beginning of the id, and whose it is. */
static const char *own_name(struct arena *arena, const struct nameless *n)
{
	struct text_part id = {n->id, CONTAINER_ID_SHOWN};
	char text[CGROUP_NAME_MAX], uid[16];
	struct cgroup_managers managers = {};
	size_t len;

	if (n->owner.uid) {
		len = (size_t)snprintf(uid, sizeof(uid), "%u", n->owner.uid);
		managers.inner = managers.outer = (struct cgroup_manager){MANAGER_USER, {uid, len}};
	}
	len = cgroup_name(n->name ? part_of(n->name) : id, &managers, text, sizeof(text));
	return arena_strndup(arena, text, len);
}

/* Puts the namespace and the pod before the names. */
static int complete_name(struct arena *arena, struct nameless *n)
{
	n->name = own_name(arena, n);
	if (!n->name)
		return -ENOMEM;
	if (!n->pod)
		return 0;
	n->pod = join(arena, n->space, n->pod);
	n->name = n->pod ? join(arena, n->pod, n->name) : NULL;
	return n->name ? 0 : -ENOMEM;
}

int enrich_containers(const struct procfs *proc, const char *root, struct snapshot *s,
		      struct rows *rows)
{
	cleanup(arena_release) struct arena_mark mark = arena_mark(&s->scratch);
	struct container_search c = {.snapshot = s};
	cleanup_close int fd = -1;
	struct containers all = {};
	int r = find_containers(proc, rows, mark.arena, &all);

	if (r < 0 || !all.rows)
		return r;
	fd = c.root = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return file_exhausted(-errno) ? -errno : 0;
	search_owners(&c, &all);
	r = c.error;
	for (size_t i = 0; r == 0 && i < all.items; i++)
		r = complete_name(&s->arena, &all.item[i]);
	for (size_t i = 0; r == 0 && i < all.rows; i++) {
		struct process *p = all.row[i].process;
		const struct nameless *n = all.row[i].container;

		p->container = n->name;
		p->pod = n->pod;
		p->space = n->space;
		p->container_status = n->status;
	}
	return r;
}
