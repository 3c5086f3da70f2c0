// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Names that only /proc has: cgroups, command lines, programs, executables with long names. Reading
 * names is more expensive than reading counters, so nothing is read twice.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "enrich/enrich.h"
#include "enrich/pool_file.h"
#include "model/program.h"
#include "proc/cgroup.h"

/* Rows that are read together, and their results. The memory is scratch. */
struct reading {
	struct arena *scratch;
	struct process **row;
	size_t count;
	struct pool_result *result;
	size_t results;
};

static void free_texts(struct reading *r)
{
	for (size_t i = 0; i < r->results; i++)
		free(r->result[i].text);
	r->results = 0;
}

static int reading_start(struct reading *r, struct arena *scratch, size_t room)
{
	r->scratch = scratch;
	r->row = arena_zalloc(scratch, room + 1, sizeof(*r->row));
	return r->row ? 0 : -ENOMEM;
}

/* Each process is identified at once by its start time: rows and texts are few. */
static int reading_run(struct reading *r, struct proc_pool *pool, enum pool_file file)
{
	free_texts(r);
	if (!r->count)
		return 0;
	r->result = arena_zalloc(r->scratch, r->count, sizeof(*r->result));
	if (!r->result)
		return -ENOMEM;
	r->results = r->count;
	return pool_read(pool, file, true, r->row, r->count, r->result);
}

/* Copies a part, which may be absent. */
static int store_text(struct snapshot *s, struct text_part part, const char **ret)
{
	*ret = part.s ? arena_strndup(&s->arena, part.s, part.len) : NULL;
	return *ret || !part.s ? 0 : -ENOMEM;
}

/* The name of a unit or container, which may be absent, with its managers. */
static int store_name(struct snapshot *s, struct text_part name,
		      const struct cgroup_managers *managers, const char **ret)
{
	char text[CGROUP_NAME_MAX];
	size_t len = name.s ? cgroup_name(name, managers, text, sizeof(text)) : 0;

	return store_text(s, (struct text_part){len ? text : NULL, len}, ret);
}

/* A container with an id is the beginning of the id, until enrich_containers() names it. */
static int store_container(struct snapshot *s, const struct proc_cgroup *cgroup, const char **ret)
{
	struct text_part container = cgroup->container;
	char name[256];
	size_t len;

	if (!container.s || cgroup->container_id.s)
		return store_text(s, container, ret);
	len = cgroup_unescape(container, name, sizeof(name));
	if (len)
		container = (struct text_part){name, len};
	return store_name(s, container, &cgroup->container_managers, ret);
}

/* A pod that has its name in the path, which is put before that of the container, as in files. */
static int store_pod(struct snapshot *s, const struct proc_cgroup *cgroup, struct process *p)
{
	const struct text_part pod = cgroup->pod;
	char name[256];

	if (!pod.s || !p->container)
		return 0;
	if (store_name(s, pod, &cgroup->container_managers, &p->pod) < 0)
		return -ENOMEM;
	snprintf(name, sizeof(name), "%.*s", (int)pod.len, pod.s);
	p->container = arena_join(&s->arena, name, "/", p->container);
	return p->container ? 0 : -ENOMEM;
}

static int set_cgroup(struct snapshot *s, struct process *p, const char *text, size_t len)
{
	struct proc_cgroup cgroup;

	if (proc_cgroup_parse(text, len, &cgroup) < 0)
		return 0;
	if (store_text(s, cgroup.path, &p->cgroup) < 0 ||
	    store_name(s, cgroup.unit, &cgroup.unit_managers, &p->unit) < 0 ||
	    store_container(s, &cgroup, &p->container) < 0 ||
	    store_text(s, cgroup.container_id, &p->container_id) < 0 ||
	    store_pod(s, &cgroup, p) < 0)
		return -ENOMEM;
	if (p->container_id)
		p->container_status = CONTAINER_UNREAD;
	p->pod_path = (uint16_t)cgroup.pod_path;
	p->unit_path = (uint16_t)cgroup.unit_path;
	p->container_path = (uint16_t)cgroup.container_path;
	p->controlled = cgroup.controlled && cgroup.path.len <= UINT16_MAX;
	return 0;
}

int enrich_cgroup_path(struct snapshot *s, struct process *p, const char *path)
{
	char line[sizeof("1:memory:") + PATH_MAX];
	int len = snprintf(line, sizeof(line), "1:memory:%s\n", path);

	return len < 0 || (size_t)len >= sizeof(line) ? 0 : set_cgroup(s, p, line, (size_t)len);
}

static int compare_key(const void *pa, const void *pb, void *arg)
{
	const struct process *a = *(struct process *const *)pa, *b = *(struct process *const *)pb;

	(void)arg;
	if (a->cgroup_key != b->cgroup_key)
		return ORDER_OF(a->cgroup_key, b->cgroup_key);
	/* The oldest process is the least likely to end before it is read. */
	if (a->start_ns != b->start_ns)
		return ORDER_OF(a->start_ns, b->start_ns);
	return ORDER_OF(a, b);
}

/* The end of the run of rows from i with the same cgroups. Key 0 is equal to no other. */
static size_t run_end(struct process *const *sorted, size_t count, size_t i)
{
	size_t end = i + 1;

	while (sorted[i]->cgroup_key && end < count &&
	       sorted[end]->cgroup_key == sorted[i]->cgroup_key)
		end++;
	return end;
}

/* Copies known cgroups to the other rows of their run. */
static void copy_known(struct process *const *sorted, size_t count)
{
	for (size_t i = 0, end; i < count; i = end) {
		const struct process *known = NULL;

		end = run_end(sorted, count, i);
		for (size_t k = i; k < end && !known; k++)
			known = sorted[k]->cgroup ? sorted[k] : NULL;
		for (size_t k = i; known && k < end; k++)
			process_copy_cgroup(sorted[k], known);
	}
}

/* Chooses row `tries` of each run with unknown cgroups. */
static void choose_rows(struct process *const *sorted, size_t count, size_t tries,
			struct reading *r)
{
	r->count = 0;
	for (size_t i = 0, end; i < count; i = end) {
		end = run_end(sorted, count, i);
		if (!sorted[i]->cgroup && i + tries < end)
			r->row[r->count++] = sorted[i + tries];
	}
}

/* Copies each result to its run. The results are in the order of choose_rows(). */
static int copy_results(struct snapshot *s, struct process *const *sorted, size_t count,
			size_t tries, struct reading *r)
{
	size_t k = 0;

	for (size_t i = 0, end; i < count; i = end) {
		struct pool_result *result;
		struct process *p = sorted[i];

		end = run_end(sorted, count, i);
		if (p->cgroup || i + tries >= end)
			continue;
		result = &r->result[k++];
		if (result->status == PSS_OK && set_cgroup(s, p, result->text, result->len) < 0)
			return -ENOMEM;
		free(TAKE_PTR(result->text));
		for (size_t m = i + 1; m < end; m++)
			process_copy_cgroup(sorted[m], p);
	}
	return 0;
}

static bool all_known(const struct process_list *processes)
{
	size_t i = 0;

	while (i < processes->count && processes->item[i]->cgroup)
		i++;
	return i == processes->count;
}

/* How many rows of a run are tried, since a process may end or be stuck. */
#define CGROUP_TRIES 3

int enrich_cgroups(struct proc_pool *pool, struct snapshot *s, struct process_list *processes)
{
	cleanup(arena_release) struct arena_mark mark = arena_mark(&s->scratch);
	cleanup(free_texts) struct reading r = {};
	struct process **sorted;
	int err;

	if (all_known(processes))
		return 0;
	err = reading_start(&r, mark.arena, processes->count);
	sorted = arena_zalloc(mark.arena, processes->count, sizeof(*sorted));
	if (err < 0 || !sorted)
		return -ENOMEM;
	memcpy(sorted, processes->item, processes->count * sizeof(*sorted));
	sort_items(sorted, processes->count, sizeof(*sorted), compare_key, NULL);
	copy_known(sorted, processes->count);
	for (size_t tries = 0; tries < CGROUP_TRIES && err == 0; tries++) {
		choose_rows(sorted, processes->count, tries, &r);
		err = reading_run(&r, pool, POOL_CGROUP);
		if (err == 0)
			err = copy_results(s, sorted, processes->count, tries, &r);
	}
	return err;
}

/* ---- programs and command lines: one file ---- */

static bool needs_cmdline(const struct process *p)
{
	return p->kind == PROCESS_USER && p->name && program_needs_cmdline(p->name, p->comm);
}

static int set_program(struct snapshot *s, struct process *p, struct text_part name)
{
	if (!part_is(name, p->name)) {
		const char *copy = arena_strndup(&s->arena, name.s, name.len);

		if (!copy)
			return -ENOMEM;
		p->exe_name = p->name;
		p->name = copy;
	}
	p->program_known = true;
	return 0;
}

/* For a process without a readable command line. */
static int set_program_bare(struct snapshot *s, struct process *p)
{
	return set_program(s, p, program_name(p->name, p->comm, NULL, 0));
}

int enrich_programs(struct proc_pool *pool, struct snapshot *s, struct process_list *processes)
{
	cleanup(arena_release) struct arena_mark mark = arena_mark(&s->scratch);
	cleanup(free_texts) struct reading r = {};
	int err = reading_start(&r, mark.arena, processes->count);

	for (size_t i = 0; err == 0 && i < processes->count; i++) {
		struct process *p = processes->item[i];

		if (p->program_known || !p->name || p->kind == PROCESS_SUM)
			continue;
		if (needs_cmdline(p))
			r.row[r.count++] = p;
		else
			err = set_program_bare(s, p);
	}
	if (err == 0)
		err = reading_run(&r, pool, POOL_PROGRAM);
	for (size_t i = 0; err == 0 && i < r.count; i++) {
		const struct pool_result *result = &r.result[i];

		err = result->status == PSS_OK
			      ? set_program(s, r.row[i],
					    (struct text_part){result->text, result->len})
			      : set_program_bare(s, r.row[i]);
	}
	return err;
}

/* Copies a command line with spaces between its words. Returns its length. */
static size_t join_words(const char *cmdline, size_t len, char *ret)
{
	while (len && !cmdline[len - 1])
		len--;
	for (size_t i = 0; i < len; i++)
		ret[i] = cmdline[i] ? cmdline[i] : ' ';
	return len;
}

static bool app_in_cmdline(const struct process *p)
{
	return p->kind == PROCESS_USER && p->name &&
	       app_needs_cmdline(p->exe_name ? p->exe_name : p->name, p->comm);
}

/* Returns 1 and sets the app if a rule matches, 0 if none does, or a negative errno. */
static int set_app_by_rule(struct app_rules *rules, struct snapshot *s, struct process *p,
			   const char *cmdline, size_t len)
{
	cleanup_free char *words = NULL;
	const char *text[] = {p->name, p->exe_name, NULL}, *name;
	int r;

	if (!rules || p->kind != PROCESS_USER)
		return 0;
	words = malloc(len + 1);
	if (!words)
		return -ENOMEM;
	len = join_words(cmdline, len, words);
	words[len] = '\0';
	text[2] = len ? words : NULL;
	r = app_rules_match(rules, text, ARRAY_SIZE(text), &name);
	if (r <= 0)
		return r;
	p->app = arena_strndup(&s->arena, name, strlen(name));
	return p->app ? 1 : -ENOMEM;
}

/* `text` NULL: the command line could not be read, or is not needed. */
static int set_app(struct app_rules *rules, struct snapshot *s, struct process *p, const char *text,
		   size_t len)
{
	char app[APP_MAX + 1];
	size_t app_len;
	int r;

	if (!p->program_known &&
	    set_program(s, p, pool_program_name(p, text, needs_cmdline(p) ? len : 0)) < 0)
		return -ENOMEM;
	r = set_app_by_rule(rules, s, p, text, len);
	if (r)
		return r < 0 ? r : 0;
	app_len = pool_app(p, text, len, app);
	p->app = strcmp(app, p->name) == 0 ? p->name : arena_strndup(&s->arena, app, app_len);
	return p->app ? 0 : -ENOMEM;
}

/* Command lines of Java are long, so few of them are in memory at the same time. */
#define APPS_AT_ONCE 128

/* Reads and drops the next command lines. */
static int read_apps(struct proc_pool *pool, struct app_rules *rules, struct snapshot *s,
		     struct reading *r)
{
	int err = reading_run(r, pool, POOL_APP);

	for (size_t i = 0; err == 0 && i < r->count; i++) {
		const struct pool_result *result = &r->result[i];
		bool read = result->status == PSS_OK;

		err = set_app(rules, s, r->row[i], read ? result->text : NULL,
			      read ? result->len : 0);
	}
	r->count = 0;
	return err;
}

int enrich_apps(struct proc_pool *pool, struct app_rules *rules, struct snapshot *s,
		struct process_list *processes)
{
	cleanup(arena_release) struct arena_mark mark = arena_mark(&s->scratch);
	cleanup(free_texts) struct reading r = {};
	int err = reading_start(&r, mark.arena, APPS_AT_ONCE);

	if (rules)
		app_rules_begin(rules);
	for (size_t i = 0; err == 0 && i < processes->count; i++) {
		struct process *p = processes->item[i];

		if (p->app || !p->name || p->kind == PROCESS_SUM)
			continue;
		if (app_in_cmdline(p) || (rules && p->kind == PROCESS_USER))
			r.row[r.count++] = p;
		else
			err = set_app(rules, s, p, NULL, 0);
		if (err == 0 && r.count == APPS_AT_ONCE)
			err = read_apps(pool, rules, s, &r);
	}
	return err ? err : read_apps(pool, rules, s, &r);
}

static int set_cmdline(struct snapshot *s, struct process *p, struct pool_result *result)
{
	char *text = result->text;
	size_t len = result->len;

	if (!p->program_known && needs_cmdline(p) &&
	    set_program(s, p, pool_program_name(p, text, len)) < 0)
		return -ENOMEM;
	p->cmdline_truncated = len == POOL_CMDLINE_MAX;
	len = join_words(text, len, text);
	p->cmdline = arena_strndup(&s->arena, text, len);
	return p->cmdline ? 0 : -ENOMEM;
}

int enrich_cmdlines(struct proc_pool *pool, struct snapshot *s, struct process_list *processes)
{
	cleanup(arena_release) struct arena_mark mark = arena_mark(&s->scratch);
	cleanup(free_texts) struct reading r = {};
	int err = reading_start(&r, mark.arena, processes->count);

	for (size_t i = 0; err == 0 && i < processes->count; i++) {
		if (!processes->item[i]->cmdline)
			r.row[r.count++] = processes->item[i];
	}
	if (err == 0)
		err = reading_run(&r, pool, POOL_CMDLINE);
	for (size_t i = 0; err == 0 && i < r.count; i++) {
		if (r.result[i].status == PSS_OK)
			err = set_cmdline(s, r.row[i], &r.result[i]);
	}
	return err;
}

int enrich_names(struct proc_pool *pool, struct snapshot *s)
{
	cleanup(arena_release) struct arena_mark mark = arena_mark(&s->scratch);
	cleanup(free_texts) struct reading r = {};
	int err = reading_start(&r, mark.arena, s->count);

	for (size_t i = 0; err == 0 && i < s->count; i++) {
		if (s->process[i].name_cut)
			r.row[r.count++] = &s->process[i];
	}
	if (err == 0)
		err = reading_run(&r, pool, POOL_EXE);
	for (size_t i = 0; err == 0 && i < r.count; i++) {
		const char *name;

		if (r.result[i].status != PSS_OK)
			continue;
		name = arena_strndup(&s->arena, r.result[i].text, r.result[i].len);
		if (!name)
			return -ENOMEM;
		r.row[i]->name = name;
		r.row[i]->name_cut = false;
	}
	return err;
}
