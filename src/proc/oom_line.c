// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * "6,1234,45132464302,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,
 * mems_allowed=0,oom_memcg=/a,task_memcg=/a/b,task=python3,pid=25291,uid=0" and a newline. The
 * names of the cpuset, of the cgroups and of the task are any text that users chose, also one that
 * looks like another value: a value is known only if the marks around it are there once. The pid is
 * behind all names.
 */
#include "proc/oom_line.h"

#include <errno.h>
#include <string.h>

#include "base/parse.h"
#include "proc/keyed.h"

#define KERNEL_PRIORITIES 8 /* facility 0: higher ones were written by a process */

static const char limit_mark[] = ",oom_memcg=", cgroup_mark[] = ",task_memcg=",
		  task_mark[] = ",task=", pid_mark[] = ",pid=", uid_mark[] = ",uid=";

/* The text behind the only mark. False if there is none, or more than one. */
static bool find_mark(struct text_part text, const char *mark, struct text_part *ret)
{
	size_t len = strlen(mark);
	const char *at = memmem(text.s, text.len, mark, len);

	if (!at)
		return false;
	*ret = part_behind(text, (size_t)(at - text.s) + len);
	return !memmem(ret->s, ret->len, mark, len);
}

/*
 * Copies a path without the escapes of the log: "\xNN" stands for a backslash and for bytes that
 * are not printable (append_char() in kernel/printk/printk.c). A path that is too long is left out.
 */
static void copy_path(char ret[OOM_CGROUP_MAX], struct text_part path)
{
	char text[OOM_CGROUP_MAX];
	size_t len = 0;

	while (path.len) {
		char c = hex_next(&path);

		if (len == sizeof(text) - 1 || !c)
			return;
		text[len++] = c;
	}
	text[len] = '\0';
	if (*text == '/')
		memcpy(ret, text, len + 1);
}

/* Sets a path that lies between two marks, if it is known. */
static void set_path(char ret[OOM_CGROUP_MAX], struct text_part text, const char *from,
		     const char *to)
{
	struct text_part path, behind;

	if (!find_mark(text, from, &path) || !find_mark(text, to, &behind) || behind.s < path.s)
		return;
	path.len = (size_t)(behind.s - path.s) - strlen(to);
	copy_path(ret, path);
}

/* The place behind the last mark, NULL without one. A name before it may look like the mark. */
static const char *behind_last(struct text_part text, const char *mark)
{
	const char *end = text.s + text.len, *found = NULL, *at = text.s;

	while ((at = memmem(at, (size_t)(end - at), mark, strlen(mark)))) {
		at += strlen(mark);
		found = at;
	}
	return found;
}

/* The number behind the last ",pid=", which ends the line with ",uid=N". */
static int parse_pid(struct text_part text, int32_t *ret)
{
	const char *found = behind_last(text, pid_mark), *end = text.s + text.len;
	uint64_t pid, uid;

	if (!found || !scan_u64(&found, end, &pid) || pid > INT32_MAX)
		return -EINVAL;
	text = (struct text_part){found, (size_t)(end - found)};
	if (!part_cut_prefix(&text, uid_mark))
		return -EINVAL;
	/* The kernel writes a uid as an int. */
	part_cut_prefix(&text, "-");
	if (parse_u64(text.s, text.len, UINT32_MAX, &uid) < 0)
		return -EINVAL;
	*ret = (int32_t)pid;
	return 0;
}

/* The text of a record of the kernel behind its head. False: another process wrote it. */
static bool kernel_text(const char *text, size_t len, struct text_part *ret)
{
	const char *newline = memchr(text, '\n', len), *at = text;
	uint64_t priority;

	*ret = (struct text_part){text, newline ? (size_t)(newline - text) : len};
	if (!scan_u64(&at, text + ret->len, &priority) || priority >= KERNEL_PRIORITIES ||
	    !memchr(ret->s, ';', ret->len))
		return false;
	part_split(ret, ';');
	return true;
}

int oom_request_parse(const char *text, size_t len, struct oom_request *ret)
{
	static const char mark[] = " invoked oom-killer: gfp_mask=0x", order[] = "), order=";
	struct text_part rest;
	const char *found, *at, *end, *flags;
	uint64_t number;

	if (!kernel_text(text, len, &rest))
		return -ENOENT;
	end = rest.s + rest.len;
	found = behind_last(rest, mark);
	if (!found)
		return -ENOENT;
	flags = memchr(found, '(', (size_t)(end - found));
	at = flags ? memmem(flags, (size_t)(end - flags), order, strlen(order)) : NULL;
	if (!at || (size_t)(at - flags) > sizeof(ret->gfp))
		return -EINVAL;
	flags++;
	*ret = (struct oom_request){};
	memcpy(ret->gfp, flags, (size_t)(at - flags));
	at += strlen(order);
	if (!scan_u64(&at, end, &number) || number > UINT32_MAX)
		return -EINVAL;
	ret->order = (uint32_t)number;
	return 0;
}

int oom_line_parse(const char *text, size_t len, struct oom_line *ret)
{
	static const char mark[] = "oom-kill:constraint=CONSTRAINT_";
	struct text_part line, rest, part;

	if (!kernel_text(text, len, &line) || !part_begins(line, mark))
		return -ENOENT;
	*ret = (struct oom_line){};
	if (parse_pid(line, &ret->pid) < 0)
		return -EINVAL;
	rest = part_behind(line, strlen(mark));
	part = part_split(&rest, ',');
	if (!part.len || part.len >= sizeof(ret->constraint) || memchr(part.s, '\0', part.len))
		return -EINVAL;
	for (size_t i = 0; i < part.len; i++)
		ret->constraint[i] = to_lower(part.s[i]);
	/* For another limit the line has no cgroup, but the name of a cpuset may look like one. */
	if (strcmp(ret->constraint, "memcg") == 0)
		set_path(ret->cgroup, line, limit_mark, cgroup_mark);
	set_path(ret->task_cgroup, line, cgroup_mark, task_mark);
	return 0;
}

int oom_group_parse(const char *text, size_t len, char ret[OOM_CGROUP_MAX])
{
	static const char mark[] = "Memory cgroup stats for ";
	struct text_part line;

	if (!kernel_text(text, len, &line) || !part_cut_prefix(&line, mark) || !line.len ||
	    line.s[line.len - 1] != ':')
		return -ENOENT;
	line.len--;
	*ret = '\0';
	copy_path(ret, line);
	return 0;
}

bool oom_line_no_victim(const char *text, size_t len)
{
	struct text_part line;

	return kernel_text(text, len, &line) &&
	       part_begins(line, "Out of memory and no killable processes");
}
