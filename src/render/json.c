// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The document zmem.snapshot, version 1.3, as specified in src/dist/zmem.snapshot.schema.json. A
 * new key raises the minor version, a renamed or removed key the major one. Values that were not
 * measured are null. Each top-level key and each process has its own line, for head, grep and diff;
 * there is no other white space.
 */
#include "render/render.h"

#include "render/json_common.h"
#include "render/json_process.h"

void render_json(struct strbuf *out, const struct result *r)
{
	struct json_writer writer = {.out = out}, *w = &writer;

	json_document_begin(w, "zmem.snapshot", "1.3", r->snapshot);
	json_snapshot(w, r);
	json_newline(w);
	json_sums(w, "totals", &r->totals);
	json_newline(w);
	if (r->group) {
		json_string(w, "group_by", r->group->key);
		json_newline(w);
	}
	json_key_name(w, r->group ? "groups" : "processes");
	json_begin(w, '[');
	for (size_t i = 0; i < r->row_count; i++) {
		json_begin_line(w, '{');
		json_row(w, r, r->rows[i], &json_limits_usual);
		json_end(w, '}');
	}
	json_end_lines(w, ']');
	json_document_end(w);
}
