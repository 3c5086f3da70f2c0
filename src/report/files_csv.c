// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Cached files as CSV: the keys of zmem.files, by the rules of write/csv.c. */
#include "fields/file_fields.h"
#include "report/report.h"
#include "write/field_text.h"

void render_files_csv(struct strbuf *out, const struct files_report *r,
		      const struct table_style *style)
{
	struct field_list list;
	struct file_texts texts = {};

	file_list_csv(&list, r, style->only_total);
	if (style->header)
		csv_put_head(out, &list, style_separator(style));
	if (style->only_total)
		csv_put_fields(out, &list, r, NULL, style_separator(style));
	for (size_t i = 0; !style->only_total && i < r->row_count; i++)
		csv_put_fields(out, &list, &r->rows[i], &texts, style_separator(style));
}
