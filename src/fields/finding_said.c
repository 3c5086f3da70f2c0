// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The sentences of findings come from model/finding.def. */
#include "fields/finding_said.h"

#include "fields/define.h"

#define ROW const struct node_memory *r = row
SAID(node, NUMBER, value_signed(true, r->node));
SAID(free, BYTES, value_bytes(true, r->free));
SAID(total, BYTES, value_bytes(true, r->total));
static FIELDS(nodes, &field_node, &field_free, &field_total);

#undef ROW
#define ROW const struct finding *r = row
SAID(kind, TEXT, value_text(r->kind));
SAID(name, TEXT, value_text(r->name), .flags = FIELD_PATH);
SAID(of, BYTES, value_bytes(true, r->of));
SAID(left, BYTES, value_bytes(true, r->left));
SAID(in, BYTES, value_bytes(true, r->in));
SAID(out, BYTES, value_bytes(true, r->out));
SAID(count, AMOUNT, value_unsigned(true, r->count));
SAID(others, AMOUNT, value_unsigned(true, r->others));
SAID(waited, RATIO, value_signed(r->waited_known, r->waited));
SAID(span_ms, AMOUNT, value_unsigned(r->span_ms, r->span_ms));
SAID(last_ms, TIME, value_signed(r->last_ms, r->last_ms));
FLAG(recorded, r->recorded);
FLAG(exact, r->exact);
FLAG(memsw, r->memsw);
SAID(full, OBJECT, value_row(r->full), .fields = &nodes);
SAID(roomy, OBJECT, value_row(r->roomy), .fields = &nodes);
SAID(runs_on, NUMBERS, value_rows(true, r->node, r->nodes), .row_size = sizeof(int32_t));
SAID(runs_on_count, AMOUNT, value_unsigned(true, r->nodes));
static FIELDS(said, &field_kind, &field_name, &field_of, &field_left, &field_in, &field_out,
	      &field_count, &field_others, &field_waited, &field_span_ms, &field_last_ms,
	      &field_recorded, &field_exact, &field_memsw, &field_full, &field_roomy,
	      &field_runs_on, &field_runs_on_count);

/* ---- in JSON ---- */

#define NAME_BYTES .max = {1024}, .max_hex = {1024}, .flags = FIELD_HEX | FIELD_PATH

JSON_KNOWN(key, "key", TEXT, value_text(finding_key_name(r->key)),
	   "what is wrong: a key of zmem-bpf-findings(7)");
JSON_KNOWN(level, "level", TEXT, value_text(finding_level_name(r->level)), "how urgent it is");
JSON_FIELD(pid, "pid", NUMBER, value_signed(r->pid, r->pid), "the process that it is about");
JSON_FIELD(cgroup, "cgroup", TEXT, value_text(r->cgroup), "the path of the cgroup that it is about",
	   NAME_BYTES);
JSON_FIELD(file, "file", TEXT, value_text(r->file), "the file that it is about", NAME_BYTES);
JSON_FIELD(bytes, "bytes", BYTES, value_bytes(r->bytes_known, r->bytes),
	   "how much memory it is about");
FIELDS(finding_fields, &field_key, &field_level, &field_pid, &field_cgroup, &field_file,
       &field_bytes);

static const char *const text[] = {
#define ZMEM_FINDING(id, key, levels, title, text, ...) text,
#include "model/finding.def"
#undef ZMEM_FINDING
	NULL,
};
static const char *const run[] = {
#define ZMEM_FINDING(id, key, levels, title, text, run, ...) run,
#include "model/finding.def"
#undef ZMEM_FINDING
	NULL,
};

const struct sentences finding_said = {.fields = &finding_fields, .also = &said, .text = text};
const struct sentences finding_run = {.fields = &finding_fields, .also = &said, .text = run};

const char *finding_title(enum finding_key key)
{
	static const char *const title[] = {
#define ZMEM_FINDING(id, key, levels, title, ...) title,
#include "model/finding.def"
#undef ZMEM_FINDING
	};

	return title[key];
}
