// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The document zmem.snapshot, as specified in src/dist/documents.txt, with
 * the parts that other documents share (json.h). A new key raises the minor version, a renamed or
 * removed key raises the major version. Values that were not measured are null. Each top-level key
 * and each process has its own line, for head, grep and diff; there is no other white space.
 */
#include "report/json.h"

#include <limits.h>
#include <stdio.h>

#include "fields/ended_fields.h"
#include "fields/result_fields.h"
#include "report/findings.h"
#include "report/head.h"
#include "report/report.h"
#include "write/field_text.h"
#include "write/format.h"

void json_document_end(struct json_writer *w)
{
	json_end_lines(w, '}');
	strbuf_putc(w->out, '\n');
}

static void put_timestamp(struct json_writer *w, int64_t time_ms)
{
	char time[FORMAT_MAX + 1];

	time[format_time(time, time_ms, TIME_JSON)] = '\0';
	json_string(w, "timestamp", time);
}

static void put_boot_id(struct json_writer *w, const struct host_info *h)
{
	json_string(w, "boot_id", *h->boot_id ? h->boot_id : NULL);
}

void json_ndjson_schema(struct json_writer *w, const struct snapshot *s)
{
	json_string(w, "schema", "zmem.ndjson");
	json_string(w, "schema_version", "2.4");
	put_timestamp(w, s->time_ms);
	put_boot_id(w, &s->host);
}

static void put_host(struct json_writer *w, const struct host_info *h)
{
	json_object(w, "host");
	json_string(w, "name", h->name);
	put_boot_id(w, h);
	json_string(w, "kernel_release", h->kernel_release);
	json_string(w, "arch", h->arch);
	json_u64(w, "page_size_bytes", h->page_size);
	json_u64(w, "cpus", h->cpus);
	json_end(w, '}');
}

void json_document_begin(struct json_writer *w, const char *schema, const char *version,
			 const struct snapshot *s)
{
	json_begin(w, '{');
	json_newline(w);
	json_string(w, "schema", schema);
	json_newline(w);
	json_string(w, "schema_version", version);
	json_newline(w);
	json_object(w, "tool");
	json_string(w, "name", "zmem-bpf");
	json_string(w, "version", ZMEM_VERSION);
	json_end(w, '}');
	json_newline(w);
	put_timestamp(w, s->time_ms);
	json_newline(w);
	json_i64(w, "timestamp_ms", s->time_ms);
	json_newline(w);
	put_host(w, &s->host);
}

void json_source(struct json_writer *w, const struct result *r, size_t max)
{
	const char *pss = pss_source_name(r->pss);

	json_object(w, "source");
	json_string(w, "counters", origin_name(r->snapshot->counters_source));
	json_string(w, "pss", pss ? pss : "none");
	json_string_max(w, "fallback_reason", r->snapshot->fallback_reason, max);
	json_string_max(w, "pss_fallback_reason", r->snapshot->pss_fallback_reason, max);
	json_string_max(w, "selection", r->snapshot->selection, max);
	json_bool(w, "pinned", r->snapshot->pinned);
	json_string(w, "waits", waits_source_name(r->snapshot->system.waits));
	json_end(w, '}');
}

void json_head(struct json_writer *w, const struct head *h)
{
	struct head_all all;

	head_find(h, &all);
	json_object(w, "head");
	json_all(w, &head_fields, &all, NULL, false);
	json_end(w, '}');
}

void json_measured(struct json_writer *w, const struct result *r)
{
	json_newline(w);
	json_source(w, r, SIZE_MAX);
	json_newline(w);
	json_object(w, "collection");
	json_all(w, &collection_fields, &r->snapshot->collection, NULL, false);
	json_end(w, '}');
}

void json_snapshot(struct json_writer *w, const struct result *r)
{
	json_measured(w, r);
	json_newline(w);
	json_object(w, "system");
	json_all(w, &system_values, r->snapshot, NULL, false);
	json_all(w, &system_ram, r->snapshot, NULL, false);
	if (r->snapshot->system.ended)
		json_all(w, &ended_fields, r->snapshot->system.ended, NULL, false);
	json_end(w, '}');
}

/* ---- processes, groups and sums ---- */

void json_sums(struct json_writer *w, const char *key, const struct totals *t)
{
	json_key_name(w, key);
	json_begin(w, '{');
	for (size_t i = 0; i < process_counters.count; i++) {
		const struct field *f = process_counters.item[i];

		json_field(w, f, totals_value(f, NULL, t), false);
	}
	json_all(w, &totals_fields, t, NULL, false);
	json_end(w, '}');
}

/* The first `len` bytes of the path of the row's cgroup; 0: null. */
static void put_cgroup(struct json_writer *w, struct json_key key, const struct process *p,
		       size_t len, bool brief)
{
	const struct field *cgroup = process_field("cgroup");
	char path[PATH_MAX];

	if (len)
		snprintf(path, sizeof(path), "%.*s", (int)len, p->cgroup);
	json_key(w, key);
	json_put_string_max(w, len ? path : NULL, brief ? cgroup->max.brief : cgroup->max.usual);
}

/* The cgroup above with these memory counters, if they are not the group's own. */
static size_t above_of(const struct process *p)
{
	return p->cgroup ? p->memcg_above : 0;
}

/* The cgroup with the nearest limit. */
static size_t limit_of(const struct process *p)
{
	uint64_t up = p->cgroup && process_has(p, COUNTER_LIMIT_UP)
			      ? process_value(p, COUNTER_LIMIT_UP)
			      : UINT64_MAX;
	size_t len = up == UINT64_MAX ? 0 : strlen(p->cgroup);

	for (; len > 1 && up; up--) {
		while (p->cgroup[--len] != '/')
			;
		len += !len; /* the root */
	}
	return len;
}

/* The name of a group under one key, whatever rows are grouped by. */
static const struct field field_group = {
	.json_text = JSON_KEY_TEXT("group"),
	.json_len = JSON_KEY_LEN("group"),
	.type = FIELD_TEXT,
	.flags = FIELD_CUT_BOOL | FIELD_HEX,
	.max = {1024, 512},
	.max_hex = {256, 64},
};

void json_row(struct json_writer *w, const struct result *r, const struct field_list *list,
	      const struct row *row, bool brief)
{
	static const struct json_key mem = {JSON_KEY_TEXT("mem_cgroup"),
					    JSON_KEY_LEN("mem_cgroup")},
				     limit = {JSON_KEY_TEXT("limit_cgroup"),
					      JSON_KEY_LEN("limit_cgroup")};
	const struct process *p = row->process;

	if (r->group)
		json_field(w, &field_group, value_text(r->group->group(p)), brief);
	json_fields(w, list, row, r->snapshot, brief);
	if (!group_is_memcg(r->group))
		return;
	put_cgroup(w, mem, p, above_of(p), brief);
	put_cgroup(w, limit, p, limit_of(p), brief);
	json_string(w, "mem_current_reason",
		    snapshot_is_kill(r->snapshot) ? NO_CHARGE_AT_KILL : NULL);
}

/* ---- the document ---- */

void render_json(struct strbuf *out, const struct result *r)
{
	struct json_writer writer = {.out = out}, *w = &writer;
	struct field_list list;
	struct head head;

	process_list_json(&list, r->group, r->app);
	head_begin(&head, r->snapshot, r->snapshot->system.ram, NULL);
	json_document_begin(w, "zmem.snapshot", "2.4", r->snapshot);
	json_snapshot(w, r);
	json_newline(w);
	json_head(w, &head);
	json_found(w, r->snapshot, r, r->hints ? FINDING_HINT : FINDING_WARNING);
	json_newline(w);
	json_sums(w, "totals", &r->totals);
	json_newline(w);
	if (r->group) {
		json_string(w, "group_by", r->group->key);
		json_newline(w);
	}
	json_u64(w, "rows_not_written", r->others_count);
	json_newline(w);
	json_key_name(w, r->group ? "groups" : "processes");
	json_begin(w, '[');
	for (size_t i = 0; i < r->row_count; i++) {
		json_begin_line(w, '{');
		json_row(w, r, &list, &r->rows[i], false);
		json_end(w, '}');
	}
	json_end_lines(w, ']');
	json_document_end(w);
}
