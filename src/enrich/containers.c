// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Names of containers, from files that the kubelet and container engines keep. Nothing is asked of
 * an engine. An id names one container of one owner: everybody can give a cgroup any name, also the
 * id of another container. The owner is the user who could make it, and only files of the owner's
 * engines name it. Regular files of bounded size are read, and no FIFO or device.
 */
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "enrich/cgroup_mounts.h"
#include "enrich/container_user.h"
#include "enrich/enrich.h"
#include "proc/cgroup.h"

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

/* ---- the owner of a container ---- */

/* "/user.slice/user-1000.slice/…", also from within a cgroup namespace. */
static uid_t user_of(const char *cgroup)
{
	struct text_part rest = part_of(cgroup), slice;
	uint64_t uid;

	part_split(&rest, '/');
	do
		slice = part_split(&rest, '/');
	while (part_is(slice, ".."));
	if (!part_is(slice, "user.slice"))
		return UID_NONE;
	slice = part_split(&rest, '/');
	if (!part_cut_prefix(&slice, "user-") || !part_cut_suffix(&slice, ".slice") ||
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
 * Finds the owner of the directory of a cgroup. Returns 1, 0 if no mount shows it, or a negative
 * errno.
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
	if (!uid && user != UID_NONE)
		uid = user;
	*ret = (struct owner){.uid = uid, .foreign = r < 0 || cgroup_in_container(parent)};
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
	return ORDER_OF(a->uid, b->uid);
}

static int compare_container(const void *pa, const void *pb)
{
	const struct unread *a = pa, *b = pb;
	int r = compare_owner(&a->owner, &b->owner);

	return r ? r : strcmp(a->process->container_id, b->process->container_id);
}

/* Returns 0 or a negative errno. */
static int find_containers(const struct procfs *proc, const struct process_list *processes,
			   struct arena *arena, struct containers *all)
{
	size_t count = 0;
	int r;

	for (size_t i = 0; i < processes->count; i++)
		count += is_unread(processes->item[i]);
	if (!count)
		return 0;
	all->row = arena_zalloc(arena, count, sizeof(*all->row));
	all->item = arena_zalloc(arena, count, sizeof(*all->item));
	if (!all->row || !all->item)
		return -ENOMEM;
	for (size_t i = 0; i < processes->count; i++) {
		if (is_unread(processes->item[i]))
			all->row[all->rows++].process = processes->item[i];
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

static bool is_owner_below(const void *item, const void *key)
{
	const struct nameless *n = item;

	return compare_owner(&n->owner, key) < 0;
}

/* The first container of a user, or all->items. */
static size_t find_owned(const struct containers *all, uid_t uid)
{
	const struct owner owner = {.uid = uid};
	size_t at = count_before(all->item, all->items, sizeof(*all->item), is_owner_below, &owner);

	return at < all->items && compare_owner(&all->item[at].owner, &owner) == 0 ? at
										   : all->items;
}

/*
 * Users have their homes in passwd, which is read once: a user of a user namespace can make cgroups
 * of thousands of owners.
 */
static void search_users(struct container_reader *reader, struct container_search *c,
			 const struct containers *all, size_t first)
{
	int fd = openat(c->root, "etc/passwd", O_RDONLY | O_CLOEXEC);
	cleanup_fclose FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	const struct passwd *pw;

	if (fd < 0) {
		int error = -errno;

		for (size_t i = first; i < all->items && !all->item[i].owner.foreign; i++)
			all->item[i].status =
				error == -EACCES ? CONTAINER_DENIED : CONTAINER_UNNAMED;
		c->error = file_exhausted(error) ? error : 0;
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
		container_ask_user(reader, c, pw->pw_gid, pw->pw_dir);
	}
}

/* The system is the first owner. */
static void search_owners(struct container_reader *reader, struct container_search *c,
			  const struct containers *all)
{
	size_t users = 0;

	if (all->item[0].owner.uid == 0 && !all->item[0].owner.foreign) {
		choose_owner(c, all, 0);
		container_search_system(c);
		users = c->count;
	}
	if (users < all->items && !all->item[users].owner.foreign && !c->error)
		search_users(reader, c, all, users);
}

/* ---- rows ---- */

/* The name, or the beginning of the id, and its owner. */
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

/*
 * The uid of a pod of the system without a known name, as Kubernetes shows it: systemd has '_'
 * in names of slices where the uid has '-'.
 */
static int set_pod_uid(struct arena *arena, struct nameless *n)
{
	const struct text_part path = {n->cgroup, n->pod_path};
	struct text_part uid;
	char *copy;

	if (!n->pod_path || n->owner.uid || n->owner.foreign ||
	    !cgroup_pod_uid(part_base(path), &uid) || !uid.len)
		return 0;
	n->pod = copy = arena_strndup(arena, uid.s, uid.len);
	if (!copy)
		return -ENOMEM;
	for (char *at = copy; (at = strchr(at, '_')) != NULL;)
		*at = '-';
	return 0;
}

/* Puts the namespace and the pod before the names. */
static int complete_name(struct arena *arena, struct nameless *n)
{
	n->name = own_name(arena, n);
	if (!n->name)
		return -ENOMEM;
	if (!n->pod)
		return set_pod_uid(arena, n);
	n->pod = arena_join(arena, n->namespace, "/", n->pod);
	n->name = n->pod ? arena_join(arena, n->pod, "/", n->name) : NULL;
	return n->name ? 0 : -ENOMEM;
}

int enrich_containers(struct container_reader *reader, const struct procfs *proc, const char *root,
		      struct snapshot *s, struct process_list *processes)
{
	cleanup(arena_release) struct arena_mark mark = arena_mark(&s->scratch);
	struct container_search c = {.arena = &s->arena};
	cleanup_close int fd = -1;
	struct containers all = {};
	int r = find_containers(proc, processes, mark.arena, &all);

	if (r < 0 || !all.rows)
		return r;
	fd = c.root = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return file_exhausted(-errno) ? -errno : 0;
	container_reader_begin(reader);
	search_owners(reader, &c, &all);
	r = c.error;
	for (size_t i = 0; r == 0 && i < all.items; i++)
		r = complete_name(&s->arena, &all.item[i]);
	for (size_t i = 0; r == 0 && i < all.rows; i++) {
		struct process *p = all.row[i].process;
		const struct nameless *n = all.row[i].container;

		p->container = n->name;
		p->pod = n->pod;
		p->namespace = n->namespace;
		p->container_status = n->status;
	}
	return r;
}
