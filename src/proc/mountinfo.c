// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Knows where /proc/PID/mountinfo has the cgroup file systems (show_mountinfo(),
 * fs/proc_namespace.c) and how their roots relate to the paths in /proc/PID/cgroup. Refuses to open
 * any of it.
 */
#include <string.h>

#include "proc/octal.h"
#include "proc/cgroup.h"

/* False if it has no room, is no path, or has a NUL. */
static bool copy_path(struct text_part field, char *buf, size_t cap)
{
	size_t n = 0;

	for (size_t i = 0; i < field.len; n++) {
		char c;

		i += octal_byte(field.s + i, field.len - i, &c);
		if (c == '\0' || n + 1 >= cap)
			return false;
		buf[n] = c;
	}
	buf[n] = '\0';
	return *buf == '/';
}

/* "32 31 0:29 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory" */
static bool parse_line(struct text_part line, struct cgroup_mount *ret)
{
	struct text_part root, point, kind, field;

	for (int i = 0; i < 3; i++)
		part_split(&line, ' ');
	root = part_split(&line, ' ');
	point = part_split(&line, ' ');
	do {
		field = part_split(&line, ' ');
	} while (line.len && !part_is(field, "-"));
	kind = part_split(&line, ' ');
	part_split(&line, ' ');
	ret->v2 = part_is(kind, "cgroup2");
	if (!ret->v2 && !(part_is(kind, "cgroup") &&
			  part_lists(part_split(&line, ' '), ',', part_of("memory"))))
		return false;
	return copy_path(root, ret->root, sizeof(ret->root)) &&
	       copy_path(point, ret->point, sizeof(ret->point));
}

bool cgroup_mount_next(const char **pos, const char *end, struct cgroup_mount *ret)
{
	const char *newline;

	while (*pos < end && (newline = memchr(*pos, '\n', (size_t)(end - *pos)))) {
		struct text_part line = {*pos, (size_t)(newline - *pos)};

		*pos = newline + 1;
		if (parse_line(line, ret))
			return true;
	}
	return false;
}

const char *cgroup_below(const char *root, const char *path)
{
	size_t len = strlen(root);

	if (*path != '/')
		return NULL;
	/* "/" is before every path, "/a" before "/a" and "/a/b", and not before "/ab". */
	while (len && root[len - 1] == '/')
		len--;
	if (strncmp(path, root, len) != 0 || (path[len] && path[len] != '/'))
		return NULL;
	path += len;
	while (*path == '/')
		path++;
	for (const char *part = path; *part; part += strspn(part, "/")) {
		size_t n = strcspn(part, "/");

		if (n == 2 && memcmp(part, "..", 2) == 0)
			return NULL;
		part += n;
	}
	return path;
}
