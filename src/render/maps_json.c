// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The document zmem.maps, version 1.0; src/dist/zmem.maps.schema.json says the same for machines.
 * One top-level key, one process and one mapping or file a line.
 */
#include <inttypes.h>
#include <stdio.h>

#include "render/json_head.h"
#include "zmem/render.h"

/* Of a name, before and in hexadecimal. */
#define NAME_MAX_BYTES 4096

static void put_figures(struct json_writer *w, const struct map_figures *f)
{
	static const struct json_key key[MAPS_FIGURES] = {
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

	for (int i = 0; i < MAPS_FIGURES; i++) {
		json_key(w, key[i]);
		json_known(w, map_has(f, i), f->value[i]);
	}
}

static void put_name(struct json_writer *w, const char *name, bool cut)
{
	unsigned flags;

	JSON_KEY(w, "name");
	flags = json_string_max(w, name, NAME_MAX_BYTES);
	if (cut || flags & JSON_CUT) {
		JSON_KEY(w, "name_truncated");
		json_bool(w, true);
	}
	if (flags & JSON_REPAIRED) {
		JSON_KEY(w, "name_hex");
		json_hex(w, name, NAME_MAX_BYTES);
	}
}

static void put_collection(struct json_writer *w, const struct maps_report *r)
{
	size_t ok = maps_report_count(r, PSS_OK), skipped = maps_report_count(r, PSS_SKIPPED);
	size_t gone = maps_report_count(r, PSS_GONE);
	size_t kernel = maps_report_count(r, PSS_KERNEL_THREAD);

	json_newline(w);
	JSON_KEY(w, "collection");
	json_begin(w, '{');
	JSON_KEY(w, "complete");
	json_bool(w, ok + skipped + gone + kernel == r->process_count);
	JSON_KEY(w, "processes");
	json_u64(w, r->process_count);
	JSON_KEY(w, "read");
	json_u64(w, ok);
	JSON_KEY(w, "shared_mm");
	json_u64(w, skipped);
	JSON_KEY(w, "gone");
	json_u64(w, gone);
	JSON_KEY(w, "denied");
	json_u64(w, maps_report_count(r, PSS_DENIED));
	JSON_KEY(w, "timeout");
	json_u64(w, maps_report_count(r, PSS_TIMEOUT));
	JSON_KEY(w, "kernel_threads");
	json_u64(w, kernel);
	JSON_KEY(w, "unsupported");
	json_u64(w, maps_report_count(r, PSS_UNSUPPORTED));
	json_end(w, '}');
}

static void put_totals(struct json_writer *w, const struct maps_report *r)
{
	json_newline(w);
	JSON_KEY(w, "totals");
	json_begin(w, '{');
	JSON_KEY(w, "mappings");
	json_u64(w, r->mappings);
	put_figures(w, &r->total);
	json_end(w, '}');
}

static void put_process(struct json_writer *w, const struct maps_process *p)
{
	bool read = p->status == PSS_OK;

	json_newline(w);
	json_begin(w, '{');
	JSON_KEY(w, "pid");
	json_i64(w, p->process->pid);
	put_name(w, p->process->name ? p->process->name : p->process->comm, false);
	JSON_KEY(w, "status");
	json_string(w, pss_status_name(p->status));
	JSON_KEY(w, "mm_owner");
	json_bool(w, p->process->mm_owner);
	JSON_KEY(w, "total_source");
	json_string(w, !read ? NULL : p->total_exact ? "smaps_rollup" : "smaps");
	JSON_KEY(w, "mappings");
	json_known(w, read, p->mappings);
	put_figures(w, &p->total);
	json_end(w, '}');
}

static void put_address(struct json_writer *w, uint64_t address)
{
	char text[24];

	/* A string: beyond 2^53 some of them are. */
	snprintf(text, sizeof(text), "%08" PRIx64, address);
	json_string(w, text);
}

static void put_row(struct json_writer *w, const struct mapping *m, bool by_file)
{
	json_newline(w);
	json_begin(w, '{');
	if (by_file) {
		JSON_KEY(w, "processes");
		json_u64(w, m->processes);
		JSON_KEY(w, "mappings");
		json_u64(w, m->mappings);
	} else {
		JSON_KEY(w, "pid");
		json_i64(w, m->pid);
		JSON_KEY(w, "start");
		put_address(w, m->start);
		JSON_KEY(w, "end");
		put_address(w, m->end);
		JSON_KEY(w, "perm");
		json_string(w, m->perm);
	}
	put_name(w, m->name, m->name_cut);
	put_figures(w, &m->figures);
	json_end(w, '}');
}

void render_maps_json(struct strbuf *out, const struct maps_report *r)
{
	struct json_writer writer = {.out = out}, *w = &writer;

	json_begin(w, '{');
	json_head(w, "zmem.maps", "1.0", r->snapshot->time_ms);
	json_host(w, &r->snapshot->host);
	put_collection(w, r);
	put_totals(w, r);
	json_newline(w);
	JSON_KEY(w, "processes");
	json_begin(w, '[');
	for (size_t i = 0; i < r->process_count; i++)
		put_process(w, &r->process[i]);
	strbuf_putc(out, '\n');
	json_end(w, ']');
	json_newline(w);
	if (r->by_file)
		JSON_KEY(w, "files");
	else
		JSON_KEY(w, "mappings");
	json_begin(w, '[');
	for (size_t i = 0; i < r->row_count; i++)
		put_row(w, r->rows[i], r->by_file);
	strbuf_putc(out, '\n');
	json_end(w, ']');
	strbuf_putc(out, '\n');
	json_end(w, '}');
	strbuf_putc(out, '\n');
}
