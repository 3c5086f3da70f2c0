// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The document zmem.system, as specified in src/dist/documents.txt. Values
 * that were not measured are null. Each top-level key and each device has its own line.
 */
#include "report/findings.h"
#include "report/head.h"
#include "report/json.h"
#include "report/report.h"
#include "write/field_text.h"

void render_system_json(struct strbuf *out, const struct system_report *r)
{
	struct json_writer writer = {.out = out}, *w = &writer;
	struct head head;

	head_begin(&head, r->snapshot, r->ram, NULL);
	head.kills_today = r->kills_today;
	json_document_begin(w, "zmem.system", "2.6", r->snapshot);
	json_measured(w, r->balance);
	json_newline(w);
	json_head(w, &head);
	json_found(w, r->snapshot, NULL, FINDING_HINT);
	json_newline(w);
	json_sums(w, "totals", &r->balance->totals);
	json_lines(w, &system_document, r, NULL);
	json_document_end(w);
}
