// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Parses mountinfo, and finds the mount of a path. */
#include "proc/mounts.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"
#include "proc/keyed.h"

#define MAJOR_MAX 0xfff
#define MINOR_MAX 0xfffff
#define TEXT_MAX  (16 << 20)

/* Unescapes a path into the arena. Returns NULL if the text is no path, or without memory. */
static const char *store_path(struct mounts *m, struct text_part field)
{
	char *path = part_begins(field, "/") ? arena_alloc(&m->arena, field.len + 1) : NULL;

	return path && octal_decode(field, path, field.len + 1) ? path : NULL;
}

static const char *store_part(struct mounts *m, struct text_part field)
{
	return field.len ? arena_strndup(&m->arena, field.s, field.len) : NULL;
}

static bool parse_device(struct text_part field, uint32_t *ret)
{
	struct text_part major = part_split(&field, ':');
	uint64_t high, low;

	if (parse_u64(major.s, major.len, MAJOR_MAX, &high) < 0 ||
	    parse_u64(field.s, field.len, MINOR_MAX, &low) < 0)
		return false;
	*ret = (uint32_t)(high << 20 | low);
	return true;
}

static int compare_mounts(const void *pa, const void *pb)
{
	const struct mount *a = pa, *b = pb;
	int r = ORDER_OF(a->device, b->device);

	return r ? r : ORDER_OF(a->order, b->order);
}

/* ---- which mounts are hidden ---- */

#define LEVELS_MAX 64 /* of mounts on mounts; deeper ones are called hidden */

/* A mount on another one, at the first `len` bytes of a path. */
struct child {
	uint64_t parent;
	const char *path;
	size_t len;
};

/* By parent, then by the path against the point. */
static int compare_child(const void *key, const void *item)
{
	const struct child *child = key;
	const struct mount *mount = *(const struct mount *const *)item;
	int r = ORDER_OF(child->parent, mount->parent);

	if (r == 0)
		r = strncmp(child->path, mount->point, child->len);
	return r ? r : -(mount->point[child->len] != '\0');
}

static int compare_children(const void *pa, const void *pb)
{
	const struct mount *a = *(const struct mount *const *)pa;
	const struct child child = {a->parent, a->point, strlen(a->point)};

	return compare_child(&child, pb);
}

static bool has_child(const struct mounts *m, uint64_t parent, const char *path, size_t len)
{
	const struct child child = {parent, path, len};

	return bsearch(&child, m->child, m->children, sizeof(*m->child), compare_child);
}

/* Whether a mount on this one is at the path or above it; `above`: only above. */
static bool is_covered(const struct mounts *m, const struct mount *mount, const char *path,
		       bool above)
{
	size_t len = strlen(path);

	if (has_child(m, mount->id, "/", 1) && (!above || len > 1))
		return true;
	for (size_t i = 1; i < len; i++) {
		if (path[i] == '/' && has_child(m, mount->id, path, i))
			return true;
	}
	return !above && len > 1 && has_child(m, mount->id, path, len);
}

static int compare_ids(const void *pa, const void *pb)
{
	const struct mount *const *a = pa, *const *b = pb;

	return ORDER_OF((*a)->id, (*b)->id);
}

static const struct mount *find_id(const struct mount *const *by_id, size_t count, uint64_t id)
{
	const struct mount wanted = {.id = id}, *key = &wanted;
	const struct mount *const *found = bsearch(&key, by_id, count, sizeof(*by_id), compare_ids);

	return found ? *found : NULL;
}

/* Walks from each mount to the one that it is on, up to the root; its parent is not listed. */
static int find_hidden(struct mounts *m)
{
	cleanup_free const struct mount **by_id = calloc(m->count, sizeof(*by_id));

	m->child = calloc(m->count, sizeof(*m->child));
	if (!by_id || !m->child)
		return -ENOMEM;
	for (size_t i = 0; i < m->count; i++) {
		by_id[i] = &m->mount[i];
		/* The first of all mounts is on itself, and hides nothing. */
		if (m->mount[i].parent != m->mount[i].id)
			m->child[m->children++] = &m->mount[i];
	}
	qsort(by_id, m->count, sizeof(*by_id), compare_ids);
	qsort(m->child, m->children, sizeof(*m->child), compare_children);
	for (size_t i = 0; i < m->count; i++) {
		struct mount *mount = &m->mount[i];
		const struct mount *at = mount, *on = find_id(by_id, m->count, at->parent);
		int level = 0;

		for (; on && on != at && level < LEVELS_MAX && !mount->hidden; level++) {
			mount->hidden = is_covered(m, on, at->point, true);
			at = on;
			on = find_id(by_id, m->count, at->parent);
		}
		mount->hidden |= level == LEVELS_MAX;
	}
	return 0;
}

/* "32 31 0:29 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory" */
int mounts_parse(const char *text, size_t len, struct mounts *m)
{
	struct text_part rest = {text, len};

	while (rest.len && m->count < MOUNTS_MAX) {
		struct text_part line = part_split(&rest, '\n'), id, parent, device, root, point;
		struct mount *mount;

		if (!array_room(&m->mount, m->count, &m->capacity, 64))
			return -ENOMEM;
		mount = m->mount + m->count;
		*mount = (struct mount){};
		id = part_split(&line, ' ');
		parent = part_split(&line, ' ');
		device = part_split(&line, ' ');
		root = part_split(&line, ' ');
		point = part_split(&line, ' ');
		/* Options, and optional fields until a dash. */
		while (line.len && !part_is(part_split(&line, ' '), "-"))
			;
		if (!line.len || !parse_device(device, &mount->device) ||
		    parse_u64(id.s, id.len, INT32_MAX, &mount->id) < 0 ||
		    parse_u64(parent.s, parent.len, INT32_MAX, &mount->parent) < 0)
			continue;
		mount->type = store_part(m, part_split(&line, ' '));
		mount->root = store_path(m, root);
		mount->point = store_path(m, point);
		mount->order = (uint32_t)m->count;
		m->count += mount->root && mount->point && mount->type;
	}
	if (!m->count)
		return 0;
	qsort(m->mount, m->count, sizeof(*m->mount), compare_mounts);
	return find_hidden(m);
}

int mounts_read(int dirfd, const char *path, struct mounts *m)
{
	cleanup_free char *text = malloc(TEXT_MAX);
	ssize_t len = text ? file_read(dirfd, path, text, TEXT_MAX) : -ENOMEM;

	return len < 0 ? (int)len : mounts_parse(text, (size_t)len, m);
}

const char *mount_below(const struct mount *mount, const char *path)
{
	return strcmp(mount->root, "/") == 0 ? path : path + strlen(mount->root);
}

static bool is_below(const struct mount *mount, const char *path)
{
	size_t len = strlen(mount->root);

	if (strcmp(mount->root, "/") == 0)
		return true;
	return strncmp(path, mount->root, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

/* Whether the path leads to the file through this mount, and not to one of another mount. */
static bool is_visible(const struct mounts *m, const struct mount *mount, const char *path)
{
	const char *below = mount_below(mount, path);
	size_t point = strcmp(mount->point, "/") == 0 ? 0 : strlen(mount->point);
	char whole[PATH_MAX];

	if (mount->hidden)
		return false;
	/* A path is at most that long, and one that is longer cannot be opened. */
	if (point + strlen(below) >= sizeof(whole))
		return true;
	memcpy(whole, mount->point, point);
	strcpy(whole + point, strcmp(below, "/") == 0 && point ? "" : below);
	return !is_covered(m, mount, *whole ? whole : "/", false);
}

static bool is_device_below(const void *item, const void *key)
{
	const struct mount *mount = item;
	const uint32_t *device = key;

	return mount->device < *device;
}

const struct mount *mounts_find(const struct mounts *m, uint32_t device, const char *path,
				bool *ret_hidden)
{
	const struct mount *best = NULL;
	size_t first =
		count_before(m->mount, m->count, sizeof(*m->mount), is_device_below, &device);
	bool best_visible = false;

	for (size_t i = first; i < m->count && m->mount[i].device == device; i++) {
		const struct mount *mount = &m->mount[i];
		bool visible;

		if (!is_below(mount, path) ||
		    (best_visible && strlen(mount->root) < strlen(best->root)))
			continue;
		visible = is_visible(m, mount, path);
		if (visible < best_visible)
			continue;
		if (!best || visible > best_visible || strlen(mount->root) >= strlen(best->root))
			best = mount;
		best_visible = visible;
	}
	*ret_hidden = best && !best_visible;
	return best;
}

void mounts_done(struct mounts *m)
{
	free(m->mount);
	free(m->child);
	arena_done(&m->arena);
	*m = (struct mounts){};
}
