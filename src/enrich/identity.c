// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Names that only /proc has: cgroups, command lines, executables with long names. Reads what it is
 * asked for and nothing twice: identity is dearer than the counters.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "enrich/open_process.h"
#include "zmem/cgroup.h"
#include "zmem/enrich.h"

#define CMDLINE_READ 4096 /* JSON shows 1,024 encoded bytes of it, tables what fits */

static const char *keep(struct snapshot *s, struct text_part part)
{
	return part.s ? arena_strndup(&s->arena, part.s, part.len) : NULL;
}

static bool read_cgroup(const struct procfs *proc, struct snapshot *s, struct process *p)
{
	cleanup_close int fd = open_process(proc, p);
	struct proc_cgroup cgroup;
	char text[8192];
	ssize_t len;

	if (fd < 0)
		return false;
	len = file_read(fd, "cgroup", text, sizeof(text));
	if (len <= 0 || proc_cgroup_parse(text, (size_t)len, &cgroup) < 0)
		return false;
	p->cgroup = keep(s, cgroup.path);
	p->unit = keep(s, cgroup.unit);
	p->container = keep(s, cgroup.container);
	return true;
}

static int compare_key(const void *pa, const void *pb)
{
	const struct process *a = *(struct process *const *)pa, *b = *(struct process *const *)pb;

	return (a->cgroup_key > b->cgroup_key) - (a->cgroup_key < b->cgroup_key);
}

void enrich_cgroups(const struct procfs *proc, struct snapshot *s, struct rows *rows)
{
	cleanup_free struct process **sorted = calloc(rows->count + 1, sizeof(*sorted));
	const struct process *known = NULL;

	if (!sorted)
		return;
	memcpy(sorted, rows->item, rows->count * sizeof(*sorted));
	qsort(sorted, rows->count, sizeof(*sorted), compare_key);
	for (size_t i = 0; i < rows->count; i++) {
		struct process *p = sorted[i];

		if (known && p->cgroup_key && known->cgroup_key == p->cgroup_key) {
			p->cgroup = known->cgroup;
			p->unit = known->unit;
			p->container = known->container;
		} else if (read_cgroup(proc, s, p)) {
			known = p;
		}
	}
}

static void read_cmdline(const struct procfs *proc, struct snapshot *s, struct process *p)
{
	cleanup_close int fd = open_process(proc, p);
	char text[CMDLINE_READ + 1];
	ssize_t len;

	if (fd < 0)
		return;
	len = file_read(fd, "cmdline", text, sizeof(text));
	if (len < 0)
		return;
	p->cmdline_truncated = len == CMDLINE_READ;
	while (len > 0 && text[len - 1] == '\0')
		len--;
	for (ssize_t i = 0; i < len; i++) {
		if (text[i] == '\0')
			text[i] = ' ';
	}
	p->cmdline = arena_strndup(&s->arena, text, (size_t)len);
}

void enrich_cmdlines(const struct procfs *proc, struct snapshot *s, struct rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		if (!rows->item[i]->cmdline)
			read_cmdline(proc, s, rows->item[i]);
	}
}

void enrich_names(const struct procfs *proc, struct snapshot *s)
{
	for (size_t i = 0; i < s->count; i++) {
		struct process *p = &s->process[i];
		cleanup_close int fd = -1;
		char name[NAME_MAX + 1];
		const char *copy;
		ssize_t len;

		if (!p->name_cut)
			continue;
		fd = open_process(proc, p);
		len = fd < 0 ? -1 : procfs_exe_name(fd, name, sizeof(name));
		copy = len > 0 ? arena_strndup(&s->arena, name, (size_t)len) : NULL;
		if (copy) {
			p->name = copy;
			p->name_cut = false;
		}
	}
}
