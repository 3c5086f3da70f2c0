// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Names that were read of processes which are still there. A process is the same by pid and start,
 * has not exec'ed if its address space is the one it was (a new one is made before the old one is
 * given up), and is in the same cgroups if their number is. What none of that tells is found out
 * when names are read again, in time. Strings move from one arena to the other with each turn, so
 * that what has ended takes no memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "enrich/enrich.h"

#define NAME_CACHE_MAX 32768 /* beyond, names are read as if nothing had been kept */
#define AGE_MS	       60000 /* whoever writes its own arguments, or renames a cgroup of v1 */

struct kept {
	pid_t pid;
	uint64_t start_ns, mm_key, cgroup_key;
	char comm[16];
	int64_t read_ms;
	const char *name; /* NULL: the record's */
	bool program_known, controlled;
	uint16_t unit_path, container_path;
	const char *cgroup, *unit, *container;
};

struct name_cache {
	struct kept *item; /* by pid */
	size_t count, capacity;
	struct arena text[2]; /* [0]: of the items */
	/* Neighbours have much in common: the last string that was copied, and its copy. */
	const char *last[4], *copy[4];
};

struct name_cache *name_cache_new(void)
{
	return calloc(1, sizeof(struct name_cache));
}

void name_cache_free(struct name_cache *k)
{
	if (!k)
		return;
	arena_done(&k->text[0]);
	arena_done(&k->text[1]);
	free(k->item);
	free(k);
}

static bool may_keep(const struct process *p)
{
	return p->kind == PROCESS_USER && p->counters_source == FROM_BPF && p->mm_key;
}

static void apply_entry(const struct kept *k, int64_t now_ms, struct process *p)
{
	if (!may_keep(p) || k->start_ns != p->start_ns || k->mm_key != p->mm_key ||
	    now_ms - k->read_ms > AGE_MS || now_ms < k->read_ms)
		return;
	p->names_ms = k->read_ms;
	if (strcmp(k->comm, p->comm) == 0 && k->name) {
		p->name = k->name;
		p->name_cut = false;
		p->program_known = k->program_known;
	}
	if (!k->cgroup || !p->cgroup_key || k->cgroup_key != p->cgroup_key)
		return;
	p->cgroup = k->cgroup;
	p->unit = k->unit;
	p->container = k->container;
	p->unit_path = k->unit_path;
	p->container_path = k->container_path;
	p->controlled = k->controlled;
}

void name_cache_apply(const struct name_cache *k, struct snapshot *s, int64_t now_ms)
{
	size_t i = 0;

	for (size_t n = 0; n < s->count; n++) {
		struct process *p = &s->process[n];

		while (i < k->count && k->item[i].pid < p->pid)
			i++;
		if (i < k->count && k->item[i].pid == p->pid)
			apply_entry(&k->item[i], now_ms, p);
	}
}

static const char *copy_text(struct name_cache *k, int what, const char *text)
{
	if (!text)
		return NULL;
	if (k->last[what] == text)
		return k->copy[what];
	k->last[what] = text;
	k->copy[what] = arena_strndup(&k->text[1], text, strlen(text));
	return k->copy[what];
}

/* False without memory for it. */
static bool keep_entry(struct name_cache *k, const struct snapshot *s, const struct process *p,
		       struct kept *ret)
{
	*ret = (struct kept){
		.pid = p->pid,
		.start_ns = p->start_ns,
		.mm_key = p->mm_key,
		.cgroup_key = p->cgroup_key,
		.read_ms = p->names_ms ? p->names_ms : s->time_ms,
		.name = copy_text(k, 0, p->name),
		.program_known = p->program_known,
		.controlled = p->controlled,
		.unit_path = p->unit_path,
		.container_path = p->container_path,
		.cgroup = copy_text(k, 1, p->cgroup),
		.unit = copy_text(k, 2, p->unit),
		.container = copy_text(k, 3, p->container),
	};
	memcpy(ret->comm, p->comm, sizeof(ret->comm));
	return (ret->name || !p->name) && (ret->cgroup || !p->cgroup) && (ret->unit || !p->unit) &&
	       (ret->container || !p->container);
}

static int make_room(struct name_cache *k, size_t count)
{
	size_t capacity = count + count / 4 + 1;
	struct kept *item;

	if (count <= k->capacity)
		return 0;
	item = reallocarray(k->item, capacity, sizeof(*item));
	if (!item)
		return -ENOMEM;
	k->item = item;
	k->capacity = capacity;
	return 0;
}

int name_cache_update(struct name_cache *k, const struct snapshot *s)
{
	size_t count = s->count < NAME_CACHE_MAX ? s->count : NAME_CACHE_MAX;
	struct arena old = k->text[0];
	int r = make_room(k, count);

	k->count = 0;
	memset(k->last, 0, sizeof(k->last));
	/* Processes may point to what was kept before, so it stays until the next turn. */
	arena_clear(&k->text[1]);
	for (size_t n = 0; r == 0 && n < s->count && k->count < count; n++) {
		const struct process *p = &s->process[n];

		if (!may_keep(p) || p->name_cut || (!p->program_known && !p->cgroup))
			continue;
		if (!keep_entry(k, s, p, &k->item[k->count]))
			r = -ENOMEM;
		else
			k->count++;
	}
	k->text[0] = k->text[1];
	k->text[1] = old;
	return r;
}
