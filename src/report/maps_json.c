// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The document zmem.maps, version 1.1, as specified in src/dist/documents.txt. Each
 * top-level key, process, mapping, file and group has its own line.
 */
#include <inttypes.h>
#include <stdio.h>

#include "report/json.h"
#include "report/report.h"

/* Bytes of a name: encoded, and as the source of the hex form. */
#define NAME_MAX_BYTES 4096
/* Bytes of an address as text. */
#define ADDRESS_MAX 24

static void put_counters(struct json_writer *w, const struct map_counters *f)
{
	static const struct json_key key[MAPS_COUNTERS] = {
		[MAPS_SIZE] = JSON_KEY_OF("size_bytes"),
		[MAPS_RSS] = JSON_KEY_OF("rss_bytes"),
		[MAPS_PSS] = JSON_KEY_OF("pss_bytes"),
		[MAPS_PRIVATE] = JSON_KEY_OF("private_bytes"),
		[MAPS_SHARED] = JSON_KEY_OF("shared_bytes"),
		[MAPS_SWAP] = JSON_KEY_OF("swap_bytes"),
		[MAPS_SWAP_PSS] = JSON_KEY_OF("swap_pss_bytes"),
		[MAPS_LOCKED] = JSON_KEY_OF("locked_bytes"),
		[MAPS_THP] = JSON_KEY_OF("thp_bytes"),
		[MAPS_HUGETLB] = JSON_KEY_OF("hugetlb_bytes"),
	};

	for (int i = 0; i < MAPS_COUNTERS; i++) {
		json_key(w, key[i]);
		json_put_known(w, map_has(f, i), f->value[i]);
	}
}

static void put_name(struct json_writer *w, const char *name, bool cut)
{
	unsigned flags = json_string_max(w, "name", name, NAME_MAX_BYTES);

	if (cut || flags & JSON_CUT)
		json_bool(w, "name_truncated", true);
	json_hex_if(w, "name_hex", flags, name, NAME_MAX_BYTES);
}

static void put_collection(struct json_writer *w, const struct maps_report *r)
{
	size_t ok = maps_report_count(r, PSS_OK), skipped = maps_report_count(r, PSS_SKIPPED);
	size_t gone = maps_report_count(r, PSS_GONE);
	size_t kernel = maps_report_count(r, PSS_KERNEL_THREAD);

	json_newline(w);
	json_object(w, "collection");
	json_bool(w, "complete", ok + skipped + gone + kernel == r->process_count);
	json_u64(w, "processes", r->process_count);
	json_u64(w, "read", ok);
	json_u64(w, "shared_mm", skipped);
	json_u64(w, "gone", gone);
	json_u64(w, "denied", maps_report_count(r, PSS_DENIED));
	json_u64(w, "timeout", maps_report_count(r, PSS_TIMEOUT));
	json_u64(w, "kernel_threads", kernel);
	json_u64(w, "unsupported", maps_report_count(r, PSS_UNSUPPORTED));
	json_end(w, '}');
}

static void put_totals(struct json_writer *w, const struct maps_report *r)
{
	json_newline(w);
	json_object(w, "totals");
	json_u64(w, "mappings", r->mappings);
	put_counters(w, &r->total);
	json_end(w, '}');
}

static void put_process(struct json_writer *w, const struct maps_process *p)
{
	bool read = p->status == PSS_OK;

	json_begin_line(w, '{');
	json_i64(w, "pid", p->process->pid);
	put_name(w, p->process->name ? p->process->name : p->process->comm, false);
	json_string(w, "status", pss_status_name(p->status));
	json_bool(w, "mm_owner", p->process->mm_owner);
	json_string(w, "total_source", !read ? NULL : p->total_exact ? "smaps_rollup" : "smaps");
	json_known(w, "mappings", read, p->mappings);
	put_counters(w, &p->total);
	json_end(w, '}');
}

/* Addresses are strings, because some exceed JSON_INTEGER_MAX. */
static const char *address_text(char buf[ADDRESS_MAX], uint64_t address)
{
	snprintf(buf, ADDRESS_MAX, "%08" PRIx64, address);
	return buf;
}

static void put_group(struct json_writer *w, const struct mapping *m)
{
	unsigned flags = json_string_max(w, "group", m->group, NAME_MAX_BYTES);

	json_bool(w, "group_truncated", flags & JSON_CUT);
	json_hex_if(w, "group_hex", flags, m->group, NAME_MAX_BYTES);
	json_string(w, "kind", m->name);
}

static void put_row(struct json_writer *w, const struct mapping *m, enum map_rows rows)
{
	char start[ADDRESS_MAX], end[ADDRESS_MAX];

	json_begin_line(w, '{');
	if (rows == MAP_ROWS_KINDS)
		put_group(w, m);
	if (rows != MAP_ROWS_EACH) {
		json_u64(w, "processes", m->processes);
		json_u64(w, "mappings", m->mappings);
	} else {
		json_i64(w, "pid", m->pid);
		json_string(w, "start", address_text(start, m->start));
		json_string(w, "end", address_text(end, m->end));
		json_string(w, "perm", m->perm);
	}
	if (rows != MAP_ROWS_KINDS)
		put_name(w, m->name, m->name_cut);
	put_counters(w, &m->counters);
	json_end(w, '}');
}

void render_maps_json(struct strbuf *out, const struct maps_report *r)
{
	static const char *const key[] = {[MAP_ROWS_EACH] = "mappings",
					  [MAP_ROWS_FILES] = "files",
					  [MAP_ROWS_KINDS] = "groups"};
	struct json_writer writer = {.out = out}, *w = &writer;

	json_document_begin(w, "zmem.maps", "1.1", r->snapshot);
	put_collection(w, r);
	put_totals(w, r);
	json_newline(w);
	json_array(w, "processes");
	for (size_t i = 0; i < r->process_count; i++)
		put_process(w, &r->process[i]);
	json_end_lines(w, ']');
	json_newline(w);
	if (r->group) {
		json_string(w, "group_by", r->group->key);
		json_newline(w);
	}
	json_key_name(w, key[r->kind]);
	json_begin(w, '[');
	for (size_t i = 0; i < r->row_count; i++)
		put_row(w, r->rows[i], r->kind);
	json_end_lines(w, ']');
	json_document_end(w);
}
