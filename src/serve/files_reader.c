// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads the files of the machine and makes the document of the largest. */
#include "serve/files_reader.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/trim.h"
#include "enrich/enrich.h"
#include "query/files.h"
#include "report/report.h"

int files_reader_open(struct files_reader *r, struct diag *diag)
{
	int err = procfs_open(&r->proc, "/proc");

	return err < 0 ? err : files_source_open(diag, &r->source);
}

void files_reader_close(struct files_reader *r)
{
	files_source_close(r->source);
	procfs_close(&r->proc);
	snapshot_done(&r->snapshot);
	strbuf_done(&r->document);
}

static int make_document(struct files_reader *r, struct file_set *set)
{
	const struct files_query query = {.shown = FILES_READER_ROWS};
	cleanup(files_result_done) struct files_result result = {};
	cleanup(strbuf_done) struct strbuf text = {}, copy = {};
	struct files_report report = {.snapshot = &r->snapshot};
	int err = files_run(set, &query, &result, &report);

	if (err < 0)
		return err;
	render_files_page_json(&text, &report);
	if (strbuf_error(&text))
		return strbuf_error(&text);
	/* A copy, without the room that was left while it grew. */
	strbuf_put(&copy, text.data, text.len);
	if (strbuf_error(&copy))
		return strbuf_error(&copy);
	strbuf_done(&r->document);
	r->document = copy;
	copy = (struct strbuf){};
	return 0;
}

/* All files of the machine may be many: their memory is given back. */
static void forget(struct file_set *set)
{
	file_set_done(set);
	memory_trim();
}

int files_reader_read(struct files_reader *r, uint64_t age_us, struct swap_source *swap)
{
	cleanup(forget) struct file_set set = {};
	uint64_t now = clock_us(CLOCK_MONOTONIC);
	int err;

	if (r->taken_us && (now - r->taken_us <= age_us || now < r->due_us))
		return 0;
	/* The last reading failed. */
	if (now < r->due_us)
		return -EAGAIN;
	err = files_source_read(r->source, &r->proc, &set);
	r->due_us = clock_us(CLOCK_MONOTONIC) + files_source_pause_us(r->source);
	if (err < 0)
		return err;
	machine_read(&r->proc, &r->snapshot.host, &r->snapshot.system);
	r->snapshot.time_ms = (int64_t)(clock_ns(CLOCK_REALTIME) / 1000000);
	if (swap && swap_source_begin(swap, &r->snapshot.system) == 0)
		swap_source_files(swap, &set);
	err = make_document(r, &set);
	if (err < 0)
		return err;
	r->taken_us = now;
	return 1;
}
