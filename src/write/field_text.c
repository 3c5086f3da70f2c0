// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes the value of a field by its type: in JSON, in CSV, and as a cell of a table. */
#include "write/field_text.h"

#include <inttypes.h>

#include "write/format.h"

static const char *word_of(bool yes)
{
	return yes ? "true" : "false";
}

/* ---- JSON ---- */

static size_t limit_of(struct text_limit max, bool brief)
{
	uint16_t limit = brief ? max.brief : max.usual;

	return limit ? limit : SIZE_MAX;
}

/* Begins a key that stands beside that of a text: KEY_suffix. */
static void json_key_beside(struct json_writer *w, const struct field *f, const char *suffix)
{
	/* ,"KEY_suffix": of ,"KEY": */
	if (w->comma)
		strbuf_putc(w->out, ',');
	strbuf_put(w->out, f->json_text + 1, f->json_len - 3);
	strbuf_puts(w->out, suffix);
	strbuf_puts(w->out, "\":");
	w->comma = false;
}

static void json_put_truncated(struct json_writer *w, const struct field *f, bool cut)
{
	json_key_beside(w, f, "_truncated");
	json_put_bool(w, cut);
}

static void json_text_field(struct json_writer *w, const struct field *f, struct value v,
			    bool brief)
{
	unsigned flags = json_put_string_max(w, v.known ? v.text : NULL, limit_of(f->max, brief));
	bool cut = v.cut || flags & JSON_CUT, last = f->flags & FIELD_CUT_LAST;
	bool says = f->flags & FIELD_CUT_BOOL || (cut && f->flags & FIELD_CUT_TRUE);

	if (says && !last)
		json_put_truncated(w, f, cut);
	if (f->flags & FIELD_HEX && flags & JSON_REPAIRED) {
		json_key_beside(w, f, "_hex");
		json_put_hex(w, v.text, limit_of(f->max_hex, brief));
	}
	if (says && last)
		json_put_truncated(w, f, cut);
}

static void json_put_rows(struct json_writer *w, const struct field *f, struct value v,
			  const void *of)
{
	const char *row = v.row;

	json_begin(w, '[');
	for (size_t i = 0; i < v.count; i++, row += f->row_size) {
		if (f->shown && !f->shown(row, of))
			continue;
		if (f->flags & FIELD_LINES)
			json_newline(w);
		json_begin(w, '{');
		json_all(w, f->fields, row, of, false);
		json_end(w, '}');
	}
	if (f->flags & FIELD_END_LINE)
		json_end_lines(w, ']');
	else
		json_end(w, ']');
}

static void json_put_address(struct json_writer *w, uint64_t address)
{
	char buf[FORMAT_MAX + 1];

	buf[format_address(buf, address)] = '\0';
	json_put_string(w, buf);
}

static void json_put_words(struct json_writer *w, const char *const *words, uint64_t bits)
{
	json_begin(w, '[');
	for (; *words; words++, bits >>= 1) {
		if (bits & 1)
			json_put_string(w, *words);
	}
	json_end(w, ']');
}

static void json_put_numbers(struct json_writer *w, const struct field *f, struct value v,
			     bool brief)
{
	json_begin(w, '[');
	for (uint32_t i = 0; i < v.count && i < limit_of(f->max, brief); i++)
		json_put_i64(w, value_number(f, v, i));
	json_end(w, ']');
}

/* Writes a value of any type but text, object and rows. */
static void json_put_value(struct json_writer *w, const struct field *f, struct value v, bool brief)
{
	if (!v.known) {
		json_put_null(w);
		return;
	}
	switch (f->type) {
	case FIELD_BYTES:
		json_put_u64(w, v.bytes);
		break;
	case FIELD_ADDRESS:
		json_put_address(w, v.bytes);
		break;
	case FIELD_NUMBER:
		json_put_u64(w, (uint64_t)v.number);
		break;
	case FIELD_NUMBERS:
		json_put_numbers(w, f, v, brief);
		break;
	case FIELD_PERCENT:
		json_put_hundredths(w, (uint64_t)(v.percent * 100 + 0.5));
		break;
	case FIELD_BOOL:
		json_put_bool(w, v.yes);
		break;
	case FIELD_WORDS:
		json_put_words(w, f->words, (uint64_t)v.number);
		break;
	default:
		json_put_i64(w, v.number);
	}
}

void json_field(struct json_writer *w, const struct field *f, struct value v, bool brief)
{
	if (!v.known && f->flags & FIELD_OPTIONAL)
		return;
	json_key(w, field_json_key(f));
	if (f->type == FIELD_TEXT)
		json_text_field(w, f, v, brief);
	else
		json_put_value(w, f, v, brief);
}

static void json_field_of(struct json_writer *w, const struct field *f, const void *row,
			  const void *of, bool brief)
{
	struct value v = field_value(f, row, of);

	if (f->type == FIELD_ROWS && v.known && (!brief || f->max.brief)) {
		json_key(w, field_json_key(f));
		json_put_rows(w, f, v, of);
	} else if (f->type == FIELD_OBJECT && v.known) {
		json_key(w, field_json_key(f));
		json_begin(w, '{');
		json_all(w, f->fields, v.row, of, brief);
		json_end(w, '}');
	} else {
		v.known = v.known && f->type != FIELD_ROWS;
		json_field(w, f, v, brief);
	}
}

void json_fields(struct json_writer *w, const struct field_list *list, const void *row,
		 const void *of, bool brief)
{
	for (size_t i = 0; i < list->count; i++)
		json_field_of(w, list->item[i], row, of, brief);
}

void json_all(struct json_writer *w, const struct fields *all, const void *row, const void *of,
	      bool brief)
{
	for (size_t i = 0; i < all->count; i++)
		json_field_of(w, all->item[i], row, of, brief);
}

void json_lines(struct json_writer *w, const struct fields *all, const void *row, const void *of)
{
	for (size_t i = 0; i < all->count; i++) {
		json_newline(w);
		json_field_of(w, all->item[i], row, of, false);
	}
}

/* ---- CSV ---- */

/* Spaces separate the numbers: commas separate fields. A list without numbers is "". */
static void csv_put_numbers(struct strbuf *out, const struct field *f, struct value v,
			    char separator)
{
	if (!v.count)
		csv_put_text(out, "", separator);
	for (uint32_t i = 0; i < v.count; i++)
		strbuf_printf(out, "%s%" PRId32, i ? " " : "", value_number(f, v, i));
}

void csv_put_value(struct strbuf *out, const struct field *f, struct value v, char separator)
{
	char buf[FORMAT_MAX];

	if (!v.known)
		return;
	switch (f->type) {
	case FIELD_BYTES:
		if (v.bytes <= JSON_INTEGER_MAX)
			strbuf_putu(out, v.bytes);
		break;
	case FIELD_ADDRESS:
		strbuf_put(out, buf, format_address(buf, v.bytes));
		break;
	case FIELD_NUMBER:
		strbuf_putu(out, (uint64_t)v.number);
		break;
	case FIELD_NUMBERS:
		csv_put_numbers(out, f, v, separator);
		break;
	case FIELD_PERCENT:
		strbuf_put(out, buf, format_percent(buf, v.percent));
		break;
	case FIELD_TEXT:
		csv_put_text(out, v.text, separator);
		break;
	case FIELD_BOOL:
		strbuf_puts(out, word_of(v.yes));
		break;
	default:
		strbuf_puti(out, v.number);
	}
}

void csv_put_head(struct strbuf *out, const struct field_list *list, char separator)
{
	for (size_t i = 0; i < list->count; i++) {
		strbuf_printf(out, "%.*s", FIELD_JSON(list->item[i]));
		strbuf_putc(out, i + 1 < list->count ? separator : '\n');
	}
}

void csv_put_fields(struct strbuf *out, const struct field_list *list, const void *row,
		    const void *of, char separator)
{
	for (size_t i = 0; i < list->count; i++) {
		csv_put_value(out, list->item[i], field_value(list->item[i], row, of), separator);
		strbuf_putc(out, i + 1 < list->count ? separator : '\n');
	}
}

/* ---- cells ---- */

enum cell_type cell_type_of(const struct field *f)
{
	static const enum cell_type type[] = {
		[FIELD_BYTES] = CELL_BYTES,	[FIELD_AMOUNT] = CELL_COUNT,
		[FIELD_NUMBER] = CELL_COUNT,	[FIELD_ADDRESS] = CELL_ADDRESS,
		[FIELD_PERCENT] = CELL_PERCENT, [FIELD_TIME] = CELL_TIME,
		[FIELD_CHANGE] = CELL_CHANGE,	[FIELD_GROWTH] = CELL_GROWTH,
		[FIELD_RATIO] = CELL_RATIO,	[FIELD_TEXT] = CELL_TEXT,
		[FIELD_BOOL] = CELL_TEXT,	[FIELD_NUMBERS] = CELL_TEXT,
	};

	return type[f->type];
}

struct grid_column *grid_add(struct grid *g, const struct field *f)
{
	struct grid_column *c = &g->column[g->columns++];
	const enum cell_type type = cell_type_of(f);

	*c = (struct grid_column){
		.heading = f->heading,
		.type = type,
		.left = type == CELL_TEXT || type == CELL_ADDRESS,
		.summed = f->flags & FIELD_SUMS,
	};
	return c;
}

struct cell cell_of_value(const struct field *f, struct value v)
{
	switch (f->type) {
	case FIELD_BYTES:
		return cell_bytes(v.known, v.bytes);
	case FIELD_PERCENT:
		return cell_percent(v.known, v.percent);
	case FIELD_TEXT:
		return cell_text(v.known ? v.text : NULL);
	case FIELD_BOOL:
		return cell_text(v.known ? word_of(v.yes) : NULL);
	default:
		return cell_number(cell_type_of(f), v.known, v.number);
	}
}
