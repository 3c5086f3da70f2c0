// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The document zmem.snapshot, version 1.1; src/dist/zmem.snapshot.schema.json says the same for
 * machines. Adding a key is a minor version, renaming or removing one a major. What was not
 * measured is null. One top-level key a line and one process a line, so that head, grep and diff
 * are of use; no other white space.
 */
#include "zmem/render.h"

#include "render/json_head.h"
#include "render/json_process.h"
#include "render/json_snapshot.h"
#include "render/json_writer.h"

static void put_process(struct json_writer *w, const struct process *p, uint64_t boot_ms)
{
	json_newline(w);
	json_begin(w, '{');
	json_process_keys(w, p, boot_ms, &json_limits_usual);
	json_end(w, '}');
}

void render_json(struct strbuf *out, const struct result *r)
{
	struct json_writer writer = {.out = out}, *w = &writer;
	const struct snapshot *s = r->snapshot;

	json_begin(w, '{');
	json_head(w, "zmem.snapshot", "1.1", s->time_ms);
	json_host(w, &s->host);
	json_newline(w);
	json_source(w, r, SIZE_MAX);
	json_newline(w);
	json_collection(w, &s->collection);
	json_newline(w);
	json_system(w, r, true);
	json_newline(w);
	json_totals(w, &r->totals);
	json_newline(w);
	JSON_KEY(w, "processes");
	json_begin(w, '[');
	for (size_t i = 0; i < r->row_count; i++)
		put_process(w, r->rows[i], s->host.boot_ms);
	strbuf_putc(out, '\n');
	json_end(w, ']');
	strbuf_putc(out, '\n');
	json_end(w, '}');
	strbuf_putc(out, '\n');
}
