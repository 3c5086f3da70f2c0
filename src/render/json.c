// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The document zmem.snapshot, version 1.3; src/dist/zmem.snapshot.schema.json says the same for
 * machines. Adding a key is a minor version, renaming or removing one a major. What was not
 * measured is null. One top-level key a line and one process a line, so that head, grep and diff
 * are of use; no other white space.
 */
#include "zmem/render.h"

#include "render/json_head.h"
#include "render/json_process.h"
#include "render/json_snapshot.h"
#include "render/json_writer.h"

static void put_row(struct json_writer *w, const struct result *r, const struct process *p)
{
	json_newline(w);
	json_begin(w, '{');
	if (r->group)
		json_group_keys(w, r->group, p, &json_limits_usual);
	else
		json_process_keys(w, p, r->snapshot->host.boot_ms, &json_limits_usual);
	json_end(w, '}');
}

static void put_rows(struct json_writer *w, const struct result *r)
{
	if (r->group) {
		JSON_KEY(w, "group_by");
		json_string(w, r->group->key);
		json_newline(w);
		JSON_KEY(w, "groups");
	} else {
		JSON_KEY(w, "processes");
	}
	json_begin(w, '[');
	for (size_t i = 0; i < r->row_count; i++)
		put_row(w, r, r->rows[i]);
	strbuf_putc(w->out, '\n');
	json_end(w, ']');
}

void render_json(struct strbuf *out, const struct result *r)
{
	struct json_writer writer = {.out = out}, *w = &writer;
	const struct snapshot *s = r->snapshot;

	json_begin(w, '{');
	json_head(w, "zmem.snapshot", "1.3", s->time_ms);
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
	put_rows(w, r);
	strbuf_putc(out, '\n');
	json_end(w, '}');
	strbuf_putc(out, '\n');
}
