// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads files, and the holders of one of them, for the view of top. */
#include "top/files.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/trim.h"
#include "enrich/enrich.h"
#include "query/pattern.h"

/* ---- opening ---- */

void top_files_open(struct top_files *t)
{
	cleanup(diag_clear) struct diag diag = {}, other = {};
	int r;

	*t = TOP_FILES_CLOSED;
	if (getauxval(AT_SECURE)) {
		snprintf(t->why, sizeof(t->why), "names of files are private (run as root)");
		return;
	}
	r = procfs_open(&t->proc, "/proc");
	if (r == 0)
		r = files_source_open(&diag, &t->source);
	if (r < 0) {
		diag_text(t->why, sizeof(t->why), diag_newest(&diag), r);
		return;
	}
	r = holders_source_open(&other, &t->holders);
	if (r < 0)
		diag_text(t->holders_why, sizeof(t->holders_why), diag_newest(&other), r);
}

/* Frees the files, which may be many. */
static void forget(struct top_files *t, struct view *v)
{
	if (v)
		v->files.report = NULL;
	files_result_done(&t->result);
	t->result = (struct files_result){};
	file_set_done(&t->set);
	memory_trim();
	t->read = false;
	t->due_us = 0;
}

void top_files_close(struct top_files *t)
{
	forget(t, NULL);
	files_source_close(t->source);
	holders_source_close(t->holders);
	pattern_free(t->pattern);
	if (t->proc.fd >= 0)
		procfs_close(&t->proc);
	snapshot_done(&t->snapshot);
	*t = TOP_FILES_CLOSED;
}

/* ---- reading ---- */

/* A filter that is not valid causes a message, and the view gets back the one that is in force. */
static void set_filter(struct top_files *t, struct view *v)
{
	char *filter = v->files.set.filter;
	struct pattern *pattern = NULL;
	const char *why = "out of memory";
	int r = 0;

	if (strcmp(filter, t->filter) == 0)
		return;
	if (*filter)
		r = pattern_compile(filter, &pattern, &why);
	if (r < 0) {
		show_message(&v->shared, "%s: %s", filter, why);
		memcpy(filter, t->filter, sizeof(t->filter));
		return;
	}
	pattern_free(t->pattern);
	t->pattern = pattern;
	memcpy(t->filter, filter, sizeof(t->filter));
}

static int run_query(struct top_files *t, const struct file_settings *set)
{
	struct files_query query = {
		.filter = t->pattern,
		.group = set->group,
		.within = set->within,
		.within_name = set->within_name,
		.reverse = set->reverse,
		.shown = SIZE_MAX,
	};

	if (set->sort)
		query.keys = (struct field_list){.item = {set->sort}, .count = 1};
	files_result_done(&t->result);
	t->result = (struct files_result){};
	t->report = (struct files_report){.snapshot = &t->snapshot,
					  .group = file_group_name(set->group),
					  .columns = &t->columns};
	file_list_usual(&t->columns, t->report.group);
	return files_run(&t->set, &query, &t->result, &t->report);
}

void top_files_rows(struct top_files *t, struct view *v)
{
	int r;

	if (!t->read)
		return;
	set_filter(t, v);
	r = run_query(t, &v->files.set);
	if (r == -E2BIG) {
		show_message(&v->shared, "%s: " PATTERN_EXPENSIVE, t->filter);
		*v->files.set.filter = '\0';
		set_filter(t, v);
		r = run_query(t, &v->files.set);
	}
	if (r < 0)
		snprintf(t->failed, sizeof(t->failed), "%s", strerror(-r));
	files_set(&v->files, r < 0 ? NULL : &t->report, r < 0 ? t->failed : NULL);
}

static void read_files(struct top_files *t, struct view *v)
{
	uint64_t start = clock_us(CLOCK_MONOTONIC), now;
	int r;

	v->files.report = NULL;
	r = files_source_read(t->source, &t->proc, &t->set);
	t->read = r == 0;
	if (r == 0)
		machine_read(&t->proc, &t->snapshot.host, &t->snapshot.system);
	now = clock_us(CLOCK_MONOTONIC);
	v->files.time_ms = (int64_t)(clock_ns(CLOCK_REALTIME) / 1000000);
	v->files.read_us = now - start;
	v->files.every_us = files_source_pause_us(t->source);
	t->due_us = now + v->files.every_us;
	if (r == 0) {
		top_files_rows(t, v);
		return;
	}
	snprintf(t->failed, sizeof(t->failed), "%s",
		 r == -ENOTSUP ? "this kernel's lists of files are not understood" : strerror(-r));
	files_set(&v->files, NULL, t->failed);
}

void top_files_read(struct top_files *t, struct view *v, bool now)
{
	if (!view_in_front(v, PANE_FILES)) {
		/* The menus and the holders lead back to the files. */
		if (t->read && !view_has(v, PANE_FILES))
			forget(t, v);
		return;
	}
	if (!t->source)
		files_set(&v->files, NULL, t->why);
	else if (now || (!v->shared.set.paused && clock_us(CLOCK_MONOTONIC) >= t->due_us))
		read_files(t, v);
}

/* ---- holders ---- */

void top_files_holders(struct top_files *t, struct proc_pool *pool, struct view *v)
{
	const struct cached_file *row = files_row(&v->files);
	struct cached_file *file;
	int r;

	if (!row || v->files.report->group)
		return;
	if (!t->holders) {
		show_message(&v->shared, "the holders of files cannot be read: %s", t->holders_why);
		return;
	}
	file = &t->set.file[row - t->set.file];
	file->wanted = true;
	r = holders_source_read(t->holders, &t->set);
	file->wanted = false;
	if (r == 0 && pool)
		r = enrich_holders(pool, &t->set, &file, 1, UINT32_MAX);
	if (r == 0)
		r = view_set_holders(v, file);
	if (r < 0)
		show_message(&v->shared, "reading the holders of the file: %s", strerror(-r));
}
