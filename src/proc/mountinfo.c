// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Knows where /proc/PID/mountinfo has the cgroup file systems (show_mountinfo(),
 * fs/proc_namespace.c) and how their roots relate to the paths in /proc/PID/cgroup. Refuses to open
 * any of it.
 */
#include <string.h>

#include "zmem/cgroup.h"

/* The part up to the next blank; what is behind it stays in *rest. */
static struct text_part next_field(struct text_part *rest)
{
	const char *at = memchr(rest->s, ' ', rest->len);
	struct text_part field = {rest->s, at ? (size_t)(at - rest->s) : rest->len};
	size_t taken = at ? field.len + 1 : field.len;

	rest->s += taken;
	rest->len -= taken;
	return field;
}

static bool field_is(struct text_part field, const char *s)
{
	return field.len == strlen(s) && memcmp(field.s, s, field.len) == 0;
}

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/* Blanks, newlines and backslashes are \ooo. False if it has no room, is no path, or has a NUL. */
static bool copy_path(struct text_part field, char *buf, size_t cap)
{
	size_t n = 0;

	for (size_t i = 0; i < field.len; n++) {
		const char *s = field.s + i;
		char c = *s;

		i++;
		if (c == '\\' && field.len - i >= 3 && s[1] <= '3' && is_octal(s[1]) &&
		    is_octal(s[2]) && is_octal(s[3])) {
			c = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 + (s[3] - '0'));
			i += 3;
		}
		if (c == '\0' || n + 1 >= cap)
			return false;
		buf[n] = c;
	}
	buf[n] = '\0';
	return *buf == '/';
}

static bool has_option(struct text_part options, const char *name)
{
	size_t len = strlen(name);

	while (options.len) {
		const char *comma = memchr(options.s, ',', options.len);
		size_t n = comma ? (size_t)(comma - options.s) : options.len;

		if (n == len && memcmp(options.s, name, len) == 0)
			return true;
		n += comma != NULL;
		options.s += n;
		options.len -= n;
	}
	return false;
}

/* "32 31 0:29 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory" */
static bool parse_line(struct text_part line, struct cgroup_mount *ret)
{
	struct text_part root, point, kind, field;

	for (int i = 0; i < 3; i++)
		next_field(&line);
	root = next_field(&line);
	point = next_field(&line);
	do {
		field = next_field(&line);
	} while (line.len && !field_is(field, "-"));
	kind = next_field(&line);
	next_field(&line);
	ret->v2 = field_is(kind, "cgroup2");
	if (!ret->v2 && !(field_is(kind, "cgroup") && has_option(next_field(&line), "memory")))
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
