// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The document zmem.maps, as specified in src/dist/documents.txt. Each
 * top-level key, process, mapping, file and group has its own line.
 */
#include "fields/map_fields.h"
#include "report/json.h"
#include "report/report.h"
#include "write/field_text.h"

void render_maps_json(struct strbuf *out, const struct maps_report *r)
{
	struct json_writer w = {.out = out};

	json_document_begin(&w, "zmem.maps", "1.5", r->snapshot);
	json_lines(&w, map_document[r->kind], r, NULL);
	json_document_end(&w);
}
