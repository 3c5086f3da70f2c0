// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The document zmem.compare, as specified in src/dist/documents.txt. Each
 * top-level key and each cell has its own line.
 */
#include "fields/compare_fields.h"
#include "report/json.h"
#include "report/report.h"
#include "write/field_text.h"

void render_compare_json(struct strbuf *out, const struct compare_report *r)
{
	struct json_writer w = {.out = out};

	json_document_begin(&w, "zmem.compare", "1.0", r->snapshot);
	json_lines(&w, &compare_document, r, r);
	json_document_end(&w);
}
