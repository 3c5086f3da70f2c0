// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "source/visits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "load/bpf_diagnose.h"
#include "source/iterator.h"
#include "source/source_internal.h"

/* Passes over all processes; in each, a process is walked for less than a millisecond. */
#define PASSES_MAX (1024 * 1024)

int visits_follow_layout(struct visits *v)
{
	struct zmem_layout layout = {};
	int r = v->from ? source_layout(v->from, &layout) : 0;

	if (r < 0)
		return r;
	layout.page_bits = (uint32_t)__builtin_ctz(v->page_size);
	memcpy((char *)v->handle.answers + v->kind->layout_offset, &layout, sizeof(layout));
	return 0;
}

static int set_up(struct visits *v)
{
	int r = visits_follow_layout(v);

	if (r < 0)
		return r;
	v->link_fd = iterator_link(v->handle.fd[BPF_ITER], NULL);
	if (v->link_fd < 0)
		return v->link_fd;
	return v->kind->set_up ? v->kind->set_up(v) : 0;
}

int visits_open(struct visits *v, const struct visit_kind *kind, const struct source *from,
		uint32_t pages, struct diag *diag)
{
	const struct bpf_sizes sizes = {.pages = pages};
	struct zmem_layout layout;
	int r = from ? source_layout(from, &layout) : 0;

	v->link_fd = -1;
	if (r < 0) {
		diag_add(diag, kind->subject, r, NULL, "%s", kind->needs);
		return r;
	}
	v->kind = kind;
	v->from = from;
	v->page_size = (uint32_t)sysconf(_SC_PAGESIZE);
	r = bpf_load_noted(kind->subject, kind->object, LOADER_LIGHT, &sizes, diag, &v->handle);
	if (r < 0)
		return r;
	r = set_up(v);
	if (r < 0)
		bpf_diagnose_note(diag, kind->subject, "setting it up", r, NULL);
	return r;
}

void visits_close(struct visits *v)
{
	close_fd(&v->link_fd);
	bpf_handle_close(&v->handle);
	free(v->walk);
}

/* ---- walks ---- */

/* Has the next pass visit the process, from the cursor on; `first`: its walk begins. */
static int want_visit(struct visits *v, const struct walk *w, uint64_t cursor, bool first)
{
	const __s32 pid = w->pid;
	struct zmem_visit_want value = {};

	if (!first && bpf_map_lookup_elem(v->handle.fd[BPF_WANTED], &pid, &value) < 0)
		return -errno;
	value.cursor = cursor;
	return bpf_map_update_elem(v->handle.fd[BPF_WANTED], &pid, &value, 0);
}

static int end_walk(struct visits *v, struct walk *w, bool whole)
{
	const __s32 pid = w->pid;
	int r = bpf_map_delete_elem(v->handle.fd[BPF_WANTED], &pid);

	w->done = true;
	w->whole = whole;
	v->pending--;
	return r == -ENOENT ? 0 : r;
}

/* Begins the walk of a process anew, or gives it up. */
static int repeat_walk(struct visits *v, struct walk *w)
{
	if (++w->tries >= v->kind->tries)
		return end_walk(v, w, false);
	w->visited = false;
	memset(w + 1, 0, v->kind->walk_size - sizeof(*w));
	return want_visit(v, w, 0, true);
}

static bool has_lower_pid(const void *item, const void *pid)
{
	const struct walk *w = item;

	return w->pid < *(const __s32 *)pid;
}

/* Receives one visit to a process that is wanted. */
static int receive_record(void *arg, const void *record)
{
	struct visits *v = arg;
	const struct zmem_visit *visit = record;
	size_t i = count_before(v->walk, v->count, v->kind->walk_size, has_lower_pid, &visit->pid);
	struct walk *w = visits_walk(v, i);
	int r;

	if (i == v->count || w->pid != visit->pid || w->done)
		return 0;
	if (w->process && w->process->start_ns != visit->start_boottime_ns)
		return end_walk(v, w, false);
	if (visit->flags & (ZMEM_WALK_MOVED | ZMEM_WALK_UNKNOWN))
		return repeat_walk(v, w);
	r = v->kind->add(v, w, record);
	if (r < 0)
		return r;
	w->visited = true;
	if (visit->cursor)
		return want_visit(v, w, visit->cursor, false);
	return v->kind->adds_up(v, w) ? end_walk(v, w, true) : repeat_walk(v, w);
}

int visits_run(struct visits *v)
{
	ssize_t met = 1;

	/* Where a pass meets none of the wanted processes, they have ended. */
	for (int i = 0; met > 0 && v->pending && i < PASSES_MAX; i++) {
		cleanup_close int fd = bpf_iter_create(v->link_fd);

		met = fd < 0 ? fd : iterator_read(fd, v->kind->record_size, receive_record, v);
	}
	for (size_t i = 0; i < v->count; i++) {
		struct walk *w = visits_walk(v, i);

		if (!w->done)
			end_walk(v, w, false);
	}
	return met < 0 ? (int)met : 0;
}

int visits_begin(struct visits *v, size_t most)
{
	free(v->walk);
	v->count = v->pending = 0;
	v->walk = calloc(most + 1, v->kind->walk_size);
	return v->walk ? 0 : -ENOMEM;
}

int visits_add(struct visits *v, pid_t pid, struct process *process)
{
	struct walk *w = visits_walk(v, v->count++);
	int r;

	w->pid = pid;
	w->process = process;
	v->pending++;
	r = want_visit(v, w, 0, true);
	/* More than the map has room for. */
	return r == -E2BIG ? end_walk(v, w, false) : r;
}
