// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Parses mountinfo, and finds the mount of a path. */
#include "proc/mounts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/parse.h"
#include "proc/keyed.h"

#define MAJOR_MAX 0xfff
#define MINOR_MAX 0xfffff

/* Unescapes a path into the arena. Returns NULL if it is none, or without memory. */
static const char *store_path(struct mounts *m, struct text_part field)
{
	char *path = arena_strndup(&m->arena, field.s, field.len);
	size_t n = 0;

	if (!path || !field.len || *field.s != '/')
		return NULL;
	for (size_t i = 0; i < field.len; n++) {
		char c;

		i += octal_byte(field.s + i, field.len - i, &c);
		if (c == '\0')
			return NULL;
		path[n] = c;
	}
	path[n] = '\0';
	return path;
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
	int r = (a->device > b->device) - (a->device < b->device);

	return r ? r : (a->order > b->order) - (a->order < b->order);
}

/* "32 31 0:29 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory" */
int mounts_parse(const char *text, size_t len, struct mounts *m)
{
	struct text_part rest = {text, len};

	while (rest.len && m->count < MOUNTS_MAX) {
		struct text_part line = part_split(&rest, '\n'), id, device, root, point;
		struct mount *mount =
			grow_items(m->mount, m->count, &m->capacity, 64, sizeof(*mount));

		if (!mount)
			return -ENOMEM;
		m->mount = mount;
		mount += m->count;
		id = part_split(&line, ' ');
		part_split(&line, ' ');
		device = part_split(&line, ' ');
		root = part_split(&line, ' ');
		point = part_split(&line, ' ');
		/* Options, and optional fields until a dash. */
		while (line.len && !part_is(part_split(&line, ' '), "-"))
			;
		if (!line.len || !parse_device(device, &mount->device) ||
		    parse_u64(id.s, id.len, INT32_MAX, &mount->id) < 0)
			continue;
		mount->type = store_part(m, part_split(&line, ' '));
		mount->root = store_path(m, root);
		mount->point = store_path(m, point);
		mount->order = (uint32_t)m->count;
		m->count += mount->root && mount->point && mount->type;
	}
	if (m->count)
		qsort(m->mount, m->count, sizeof(*m->mount), compare_mounts);
	return 0;
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

const struct mount *mounts_find(const struct mounts *m, uint32_t device, const char *path)
{
	const struct mount *best = NULL;
	size_t first = 0, end = m->count;

	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (m->mount[middle].device < device)
			first = middle + 1;
		else
			end = middle;
	}
	for (size_t i = first; i < m->count && m->mount[i].device == device; i++) {
		const struct mount *mount = &m->mount[i];

		if (!is_below(mount, path))
			continue;
		if (!best || strlen(mount->root) >= strlen(best->root))
			best = mount;
	}
	return best;
}

void mounts_done(struct mounts *m)
{
	free(m->mount);
	arena_done(&m->arena);
	*m = (struct mounts){};
}
