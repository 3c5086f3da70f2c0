// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Names of processes that still exist. A process is the same if its pid and start time are; it did
 * not call exec if its mm is the same (exec makes the new mm before it frees the old one); it is in
 * the same cgroups if their key is the same. Other changes show when names expire. Each update
 * copies the strings to the other arena, so ended processes take no memory.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "enrich/enrich.h"

#define NAME_CACHE_MAX 32768 /* names of further processes are read each time */
#define AGE_MS	       60000 /* a process may change its arguments; cgroups of v1 can be renamed */

/* The strings of a process that are kept. */
#define TEXT(member) offsetof(struct process, member)
static const size_t texts[] = {TEXT(name),	   TEXT(app), /* the others are of its cgroups */
			       TEXT(cgroup),	   TEXT(unit), TEXT(container),
			       TEXT(container_id), TEXT(pod),  TEXT(namespace)};
#define PROGRAM_TEXTS 2

struct name_entry {
	pid_t pid;
	uint64_t start_ns, mm_key, cgroup_key;
	char comm[16];
	int64_t read_ms;
	const char *text[ARRAY_SIZE(texts)];
	bool program_known, controlled, has_cgroup;
	enum container_status container_status;
	uint16_t unit_path, container_path, pod_path;
};

struct name_cache {
	struct name_entry *item; /* by pid */
	size_t count, capacity;
	struct arena text[2]; /* [0]: the strings of the items */
	/* The last string copied, and its copy: neighbours often share strings. */
	const char *last[ARRAY_SIZE(texts)], *copy[ARRAY_SIZE(texts)];
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

static bool is_cacheable(const struct process *p)
{
	return p->kind == PROCESS_USER && p->counters_source == FROM_BPF && p->mm_key;
}

static const char **text_of(struct process *p, size_t what)
{
	return (const char **)((char *)p + texts[what]);
}

static void apply_entry(const struct name_entry *e, int64_t now_ms, struct process *p)
{
	if (!is_cacheable(p) || e->start_ns != p->start_ns || e->mm_key != p->mm_key ||
	    now_ms - e->read_ms > AGE_MS || now_ms < e->read_ms)
		return;
	p->names_ms = e->read_ms;
	if (strcmp(e->comm, p->comm) == 0 && e->text[0]) {
		p->exe_name = p->name;
		for (size_t i = 0; i < PROGRAM_TEXTS; i++)
			*text_of(p, i) = e->text[i];
		p->name_cut = false;
		p->program_known = e->program_known;
	}
	if (!e->has_cgroup || !p->cgroup_key || e->cgroup_key != p->cgroup_key)
		return;
	for (size_t i = PROGRAM_TEXTS; i < ARRAY_SIZE(texts); i++)
		*text_of(p, i) = e->text[i];
	p->container_status = e->container_status;
	p->pod_path = e->pod_path;
	p->unit_path = e->unit_path;
	p->container_path = e->container_path;
	p->controlled = e->controlled;
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

static const char *copy_text(struct name_cache *k, size_t what, const char *text)
{
	if (k->last[what] == text)
		return k->copy[what];
	k->last[what] = text;
	k->copy[what] = arena_strndup(&k->text[1], text, strlen(text));
	return k->copy[what];
}

/* False without memory. */
static bool make_entry(struct name_cache *k, const struct snapshot *s, struct process *p,
		       struct name_entry *ret)
{
	*ret = (struct name_entry){
		.pid = p->pid,
		.start_ns = p->start_ns,
		.mm_key = p->mm_key,
		.cgroup_key = p->cgroup_key,
		.read_ms = p->names_ms ? p->names_ms : s->time_ms,
		.program_known = p->program_known,
		.controlled = p->controlled,
		.has_cgroup = p->cgroup,
		.unit_path = p->unit_path,
		.container_path = p->container_path,
		.pod_path = p->pod_path,
		/* A name may come later: the kubelet makes its links after the start. */
		.container_status = p->container_status > CONTAINER_NAMED ? CONTAINER_UNREAD
									  : p->container_status,
	};
	memcpy(ret->comm, p->comm, sizeof(ret->comm));
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		const char *text = *text_of(p, i);

		ret->text[i] = text ? copy_text(k, i, text) : NULL;
		if (text && !ret->text[i])
			return false;
	}
	return true;
}

static int make_room(struct name_cache *k, size_t count)
{
	size_t capacity = count + count / 4 + 1;
	struct name_entry *item;

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
	/* Processes may point to the previous strings, which stay until the next update. */
	arena_clear(&k->text[1]);
	for (size_t n = 0; r == 0 && n < s->count && k->count < count; n++) {
		struct process *p = &s->process[n];

		if (!is_cacheable(p) || p->name_cut || (!p->program_known && !p->cgroup))
			continue;
		if (!make_entry(k, s, p, &k->item[k->count]))
			r = -ENOMEM;
		else
			k->count++;
	}
	k->text[0] = k->text[1];
	k->text[1] = old;
	return r;
}
