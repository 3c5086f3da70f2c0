// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * "6,1234,45132464302,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,
 * mems_allowed=0,oom_memcg=/a,task_memcg=/a/b,task=python3,pid=25291,uid=0" and a newline. Names in
 * it may hold any text: the pid is taken from the end.
 */
#include "proc/oom_line.h"

#include <errno.h>
#include <string.h>

#include "base/parse.h"

#define KERNEL_PRIORITIES 8 /* facility 0: higher ones were written by a process */

/* Takes what lies between two marks. False if they are not there. */
static bool take_between(struct text_part *rest, const char *from, const char *to,
			 struct text_part *ret)
{
	const char *begin = memmem(rest->s, rest->len, from, strlen(from)), *end;

	if (!begin)
		return false;
	begin += strlen(from);
	*rest = part_behind(*rest, (size_t)(begin - rest->s));
	end = memmem(rest->s, rest->len, to, strlen(to));
	if (!end)
		return false;
	*ret = (struct text_part){rest->s, (size_t)(end - rest->s)};
	return true;
}

/* A path that is too long is left out. */
static void copy_part(char ret[OOM_CGROUP_MAX], struct text_part part)
{
	if (part.len < OOM_CGROUP_MAX)
		memcpy(ret, part.s, part.len);
}

/* The number behind the last ",pid=". */
static int parse_pid(struct text_part text, int32_t *ret)
{
	static const char mark[] = ",pid=";
	const char *found = NULL, *at, *end = text.s + text.len;
	uint64_t pid;

	for (at = text.s; (at = memmem(at, (size_t)(end - at), mark, strlen(mark))); at++)
		found = at;
	if (!found)
		return -EINVAL;
	found += strlen(mark);
	if (!scan_u64(&found, end, &pid) || pid > INT32_MAX)
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
	return scan_u64(&at, text + ret->len, &priority) && priority < KERNEL_PRIORITIES &&
	       memchr(ret->s, ';', ret->len) && (part_split(ret, ';'), true);
}

int oom_request_parse(const char *text, size_t len, struct oom_request *ret)
{
	static const char mark[] = " invoked oom-killer: gfp_mask=0x", order[] = "), order=";
	struct text_part rest;
	const char *found = NULL, *at, *end, *flags;
	uint64_t number;

	if (!kernel_text(text, len, &rest))
		return -ENOENT;
	end = rest.s + rest.len;
	/* The name before it may hold any text. */
	for (at = rest.s; (at = memmem(at, (size_t)(end - at), mark, strlen(mark))); at++)
		found = at + strlen(mark);
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
	struct text_part rest, part;

	if (!kernel_text(text, len, &rest) || !part_begins(rest, mark))
		return -ENOENT;
	*ret = (struct oom_line){};
	if (parse_pid(rest, &ret->pid) < 0)
		return -EINVAL;
	rest = part_behind(rest, strlen(mark));
	part = part_split(&rest, ',');
	if (!part.len || part.len >= sizeof(ret->constraint) || memchr(part.s, '\0', part.len))
		return -EINVAL;
	for (size_t i = 0; i < part.len; i++)
		ret->constraint[i] = to_lower(part.s[i]);
	if (take_between(&rest, ",oom_memcg=", ",task_memcg=", &part))
		copy_part(ret->cgroup, part);
	if (take_between(&rest, ",task_memcg=", ",task=", &part))
		copy_part(ret->task_cgroup, part);
	return 0;
}
