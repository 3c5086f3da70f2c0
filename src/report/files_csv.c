// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Cached files as CSV: the keys of zmem.files, by the rules of write/csv.c. */
#include "report/report.h"
#include "write/csv.h"

static void put_field(struct strbuf *out, const char *text)
{
	if (text)
		csv_put_text(out, text);
	strbuf_putc(out, ',');
}

static void put_sums(struct strbuf *out, const struct file_sums *s)
{
	strbuf_putu(out, s->resident);
	strbuf_putc(out, ',');
	strbuf_putu(out, s->swapped);
	strbuf_putc(out, ',');
	if (!s->swap_ram_unknown)
		strbuf_putu(out, s->swap_ram);
	strbuf_putc(out, ',');
	if (!s->size_unknown)
		strbuf_putu(out, s->size);
}

static const char *word(bool v)
{
	return v ? "true" : "false";
}

/* Numbers of processes, with spaces between: a field without a comma. */
static void put_holders(struct strbuf *out, const struct cached_file *f)
{
	strbuf_putc(out, ',');
	if (f->holders_known && !f->holder_count)
		strbuf_puts(out, "\"\"");
	for (uint32_t i = 0; f->holders_known && i < f->holder_count; i++)
		strbuf_printf(out, "%s%d", i ? " " : "", (int)f->holder[i].pid);
}

static void put_file(struct strbuf *out, const struct files_report *r, const struct cached_file *f)
{
	const struct file_sums sums = file_sums_of(f);

	put_field(out, f->name);
	put_field(out, f->fs);
	put_field(out, file_kind_name(f->kind));
	strbuf_printf(out, "%u:%u,", FILE_MAJOR(f->device), FILE_MINOR(f->device));
	strbuf_putu(out, f->inode);
	strbuf_putc(out, ',');
	put_sums(out, &sums);
	strbuf_printf(out, ",%s,%s,%s,%s,", word(f->mapped),
		      f->account == FILE_IN_CACHE ? word(f->dirty) : "", word(f->deleted),
		      word(f->hidden));
	put_field(out, f->path);
	if (f->mount)
		csv_put_text(out, f->mount);
	if (r->holders)
		put_holders(out, f);
}

static void put_total(struct strbuf *out, const struct files_report *r, bool header)
{
	if (header)
		strbuf_puts(out, "files,resident_bytes,swapped_bytes,swap_ram_bytes,size_bytes\n");
	strbuf_putu(out, r->total.files);
	strbuf_putc(out, ',');
	put_sums(out, &r->total);
	strbuf_putc(out, '\n');
}

void render_files_csv(struct strbuf *out, const struct files_report *r,
		      const struct table_style *style)
{
	if (style->only_total) {
		put_total(out, r, style->header);
		return;
	}
	if (style->header && r->group)
		strbuf_puts(out,
			    "group,files,resident_bytes,swapped_bytes,swap_ram_bytes,size_bytes\n");
	else if (style->header)
		strbuf_printf(
			out,
			"name,fs,kind,device,inode,resident_bytes,swapped_bytes,swap_ram_bytes,size_bytes,"
			"mapped,dirty,deleted,hidden,path,mount%s\n",
			r->holders ? ",holders" : "");
	for (size_t i = 0; i < r->row_count; i++) {
		const struct cached_file *f = r->rows[i];
		const struct file_sums sums = file_sums_of(f);

		if (r->group) {
			put_field(out, f->name);
			strbuf_printf(out, "%u,", f->files);
			put_sums(out, &sums);
		} else {
			put_file(out, r, f);
		}
		strbuf_putc(out, '\n');
	}
}
