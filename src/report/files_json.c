// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The document zmem.files, version 1.1, as specified in src/dist/documents.txt. Each
 * top-level key, file and group has its own line. And the lines of -F ndjson, which have the same
 * keys: src/dist/documents.txt.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "report/json.h"
#include "report/report.h"

/* The most that is written of a file: bytes of names, encoded and in hex, and holders. */
struct limits {
	size_t encoded, hex;
	uint32_t holders;
};

static const struct limits limits_document = {4096, 4096, UINT32_MAX};
/* With these a line of NDJSON is shorter than LINE_MAX_BYTES. */
static const struct limits limits_short = {512, 200, 64};

#define LINE_MAX_BYTES 4095 /* with its newline */

/* The keys of a text are literals. `cut`: its beginning is missing already. */
#define put_text(w, key, text, max, cut)                                                           \
	do {                                                                                       \
		unsigned flags_ = json_string_max(w, key, text, (max)->encoded);                   \
		if (text)                                                                          \
			json_hex_if(w, key "_hex", flags_, text, (max)->hex);                      \
		if ((cut) || (flags_ & JSON_CUT))                                                  \
			json_bool(w, key "_truncated", true);                                      \
	} while (0)

static void put_sums(struct json_writer *w, const struct file_sums *s)
{
	json_u64(w, "files", s->files);
	json_u64(w, "resident_bytes", s->resident);
	json_u64(w, "swapped_bytes", s->swapped);
	json_known(w, "swap_ram_bytes", !s->swap_ram_unknown, s->swap_ram);
	json_known(w, "size_bytes", !s->size_unknown, s->size);
}

static void put_totals(struct json_writer *w, const struct files_report *r)
{
	const struct file_sums *listed = r->account;
	uint64_t kernel[FILE_ACCOUNTS] = {};
	bool known[FILE_ACCOUNTS];

	for (int i = 0; i < FILE_ACCOUNTS; i++)
		known[i] = files_kernel_sum(&r->snapshot->system.meminfo, (enum file_account)i,
					    &kernel[i]);
	json_object(w, "totals");
	put_sums(w, &r->total);
	json_known(w, "shmem_bytes", known[FILE_IN_SHMEM], kernel[FILE_IN_SHMEM]);
	json_u64(w, "shmem_listed_bytes", listed[FILE_IN_SHMEM].resident);
	json_u64(w, "shmem_swapped_bytes", listed[FILE_IN_SHMEM].swapped);
	json_known(w, "cache_bytes", known[FILE_IN_CACHE], kernel[FILE_IN_CACHE]);
	json_u64(w, "cache_listed_bytes", listed[FILE_IN_CACHE].resident);
	json_known(w, "hugetlb_pool_bytes", known[FILE_IN_HUGETLB], kernel[FILE_IN_HUGETLB]);
	json_u64(w, "hugetlb_listed_bytes", listed[FILE_IN_HUGETLB].resident);
	json_end(w, '}');
}

static void put_collection(struct json_writer *w, const struct files_report *r)
{
	json_object(w, "collection");
	json_key_name(w, "complete");
	if (r->unlisted && !r->unsure)
		json_put_null(w);
	else
		json_put_bool(w, !r->unsure);
	json_u64(w, "file_systems", r->systems);
	json_u64(w, "unsure", r->unsure);
	json_array(w, "not_listed");
	for (int i = 0, n = 0; i < FILE_UNLISTED; i++) {
		if (r->unlisted >> i & 1)
			strbuf_printf(w->out, "%s\"%s\"", n++ ? "," : "",
				      file_unlisted_name((enum file_unlisted)i));
	}
	json_end(w, ']');
	json_end(w, '}');
}

static void put_holders(struct json_writer *w, const struct files_report *r,
			const struct cached_file *f, const struct limits *max)
{
	if (!r->holders)
		return;
	if (!f->holders_known) {
		json_null(w, "holders");
		json_null(w, "holders_count");
		return;
	}
	json_array(w, "holders");
	for (uint32_t i = 0; i < f->holder_count && i < max->holders; i++) {
		if (i)
			strbuf_putc(w->out, ',');
		strbuf_puti(w->out, f->holder[i].pid);
	}
	json_end(w, ']');
	json_u64(w, "holders_count", f->holder_count);
}

static void put_file(struct json_writer *w, const struct files_report *r,
		     const struct cached_file *f, const struct limits *max)
{
	char device[24];

	snprintf(device, sizeof(device), "%u:%u", FILE_MAJOR(f->device), FILE_MINOR(f->device));
	put_text(w, "name", f->name, max, false);
	json_string(w, "fs", f->fs);
	json_string(w, "kind", file_kind_name(f->kind));
	json_string(w, "device", device);
	json_u64(w, "inode", f->inode);
	json_u64(w, "resident_bytes", f->resident);
	json_u64(w, "swapped_bytes", f->swapped);
	json_known(w, "swap_ram_bytes", !f->swap_ram_unknown, f->swap_ram);
	json_known(w, "size_bytes", !f->size_unknown, f->size);
	json_bool(w, "mapped", f->mapped);
	json_key_name(w, "dirty");
	if (f->account == FILE_IN_CACHE)
		json_put_bool(w, f->dirty);
	else
		json_put_null(w);
	json_bool(w, "deleted", f->deleted);
	json_bool(w, "hidden", f->hidden);
	put_text(w, "path", f->path, max, f->path_cut);
	put_text(w, "mount", f->mount, max, false);
	put_holders(w, r, f, max);
}

static void put_row(struct json_writer *w, const struct files_report *r,
		    const struct cached_file *f, const struct limits *max)
{
	const struct file_sums sums = file_sums_of(f);

	if (!r->group) {
		put_file(w, r, f, max);
		return;
	}
	put_text(w, "group", f->name, max, false);
	put_sums(w, &sums);
}

static void put_document(struct json_writer *w, const struct files_report *r)
{
	json_document_begin(w, "zmem.files", "1.1", r->snapshot);
	json_newline(w);
	put_collection(w, r);
	json_newline(w);
	put_totals(w, r);
	json_newline(w);
	if (r->group) {
		json_string(w, "group_by", r->group);
		json_newline(w);
	}
	json_key_name(w, r->group ? "groups" : "files");
	json_begin(w, '[');
	for (size_t i = 0; i < r->row_count; i++) {
		json_begin_line(w, '{');
		put_row(w, r, r->rows[i], &limits_document);
		json_end(w, '}');
	}
	json_end_lines(w, ']');
	json_document_end(w);
}

void render_files_json(struct strbuf *out, const struct files_report *r)
{
	struct json_writer w = {.out = out};

	put_document(&w, r);
}

void render_files_page_json(struct strbuf *out, const struct files_report *r)
{
	struct json_writer w = {.out = out, .html = true};

	put_document(&w, r);
}

/* ---- NDJSON ---- */

static void begin_line(struct json_writer *w, const char *type, const struct snapshot *s)
{
	json_begin(w, '{');
	json_string(w, "type", type);
	json_i64(w, "timestamp_ms", s->time_ms);
	json_string_max(w, "host", s->host.name, 64);
}

static void end_line(struct json_writer *w)
{
	json_end(w, '}');
	strbuf_putc(w->out, '\n');
}

static void make_row(struct strbuf *line, const struct files_report *r, const struct cached_file *f,
		     const struct limits *max)
{
	struct json_writer w = {.out = line};

	strbuf_clear(line);
	begin_line(&w, r->group ? "file_group" : "file", r->snapshot);
	put_row(&w, r, f, max);
	end_line(&w);
}

void render_files_ndjson(struct strbuf *out, const struct files_report *r)
{
	cleanup(strbuf_done) struct strbuf line = {};
	struct json_writer writer = {.out = out}, *w = &writer;

	for (size_t i = 0; i < r->row_count && !strbuf_error(out); i++) {
		make_row(&line, r, r->rows[i], &limits_document);
		if (line.len > LINE_MAX_BYTES)
			make_row(&line, r, r->rows[i], &limits_short);
		if (strbuf_error(&line))
			out->error = strbuf_error(&line);
		strbuf_put(out, line.data, line.len);
	}
	begin_line(w, "files", r->snapshot);
	json_ndjson_schema(w, r->snapshot);
	if (r->group)
		json_string(w, "group_by", r->group);
	put_collection(w, r);
	put_totals(w, r);
	json_u64(w, "rows_not_written", r->others_count);
	end_line(w);
}
