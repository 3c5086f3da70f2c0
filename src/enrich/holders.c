// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Names of the programs that hold files. The kernel side knows comm alone. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "enrich/enrich.h"

static uint32_t named(const struct cached_file *f, uint32_t most)
{
	return f->holder_count < most ? f->holder_count : most;
}

/* Each process once, in the order of pids, with comm as its name until the executable is read. */
static int list_processes(const struct cached_file *const *files, size_t count, uint32_t most,
			  struct snapshot *s)
{
	size_t all = 0, kept = 0;

	for (size_t i = 0; i < count; i++)
		all += named(files[i], most);
	s->process = calloc(all + 1, sizeof(*s->process));
	if (!s->process)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		for (uint32_t k = 0; k < named(files[i], most); k++) {
			const struct file_holder *h = &files[i]->holder[k];
			struct process *p = &s->process[s->count++];

			*p = (struct process){
				.pid = h->pid, .start_ns = h->start_ns, .name_cut = true};
			memcpy(p->comm, h->comm, sizeof(p->comm));
		}
	}
	qsort(s->process, s->count, sizeof(*s->process), compare_leading_pid);
	for (size_t i = 0; i < s->count; i++) {
		if (!kept || s->process[i].pid != s->process[kept - 1].pid)
			s->process[kept++] = s->process[i];
	}
	s->count = kept;
	for (size_t i = 0; i < s->count; i++)
		s->process[i].name = s->process[i].comm;
	return 0;
}

static int read_names(struct proc_pool *pool, struct snapshot *s)
{
	cleanup(process_list_done) struct process_list all = {};
	int r = process_list_reserve(&all, s->count);

	for (size_t i = 0; r == 0 && i < s->count; i++)
		all.item[all.count++] = &s->process[i];
	if (r == 0)
		r = enrich_names(pool, s);
	return r < 0 ? r : enrich_programs(pool, s, &all);
}

static int name_holders(struct file_set *set, struct cached_file *f, uint32_t most,
			const struct snapshot *s)
{
	struct file_holder *holder = arena_alloc(&set->arena, f->holder_count * sizeof(*holder));

	if (!holder)
		return -ENOMEM;
	memcpy(holder, f->holder, f->holder_count * sizeof(*holder));
	for (uint32_t k = 0; k < named(f, most); k++) {
		const struct process *p = bsearch(&holder[k].pid, s->process, s->count, sizeof(*p),
						  compare_leading_pid);

		holder[k].name = p ? arena_strndup(&set->arena, p->name, strlen(p->name)) : NULL;
		if (p && !holder[k].name)
			return -ENOMEM;
	}
	f->holder = holder;
	return 0;
}

int enrich_holders(struct proc_pool *pool, struct file_set *set, struct cached_file *const *files,
		   size_t count, uint32_t most)
{
	cleanup(snapshot_done) struct snapshot s = {};
	int r = list_processes((const struct cached_file *const *)files, count, most, &s);

	if (r == 0)
		r = read_names(pool, &s);
	for (size_t i = 0; r == 0 && i < count; i++) {
		if (files[i]->holder_count)
			r = name_holders(set, files[i], most, &s);
	}
	return r;
}
