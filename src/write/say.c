// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Sentences of the fields of a row.
 *
 * A part is looked at twice: is_known() asks whether all its values are known, put_part() writes
 * it. Parts in brackets within it, and rows in braces, ask for themselves.
 */
#include "write/say.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "write/field_text.h"
#include "write/format.h"
#include "write/text.h"

/* Where values come from. */
struct source_row {
	const struct fields *fields, *also;
	const void *row, *of;
};

struct sayer {
	struct line *l;
	struct source_row from;
	enum said_sizes sizes;
	bool one;  /* the last number is 1 */
	char last; /* of what was written, if it was a text of the sentence */
};

/* What is in braces. */
struct key {
	const char *name;
	size_t len;
	char test;	  /* '?', '!' or 0 */
	char mark;	  /* '~', '+' or 0 */
	unsigned most;	  /* columns of a text, or rows; 0: any */
	const char *rows; /* the text of each row, which ends with '}'; NULL: it is no array */
	char separator;	  /* between them */
};

/* The end of a text up to '}', or up to "||" or ']', outside of what is nested in it. */
static const char *nested_end(const char *at, bool part)
{
	int depth = 0;

	for (; *at; at++) {
		bool ends = part ? *at == ']' || (at[0] == '|' && at[1] == '|') : *at == '}';

		if (!depth && ends)
			break;
		depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
	}
	return at;
}

/* Reads from behind '{'. Returns the end, behind '}'. */
static const char *read_key(const char *at, struct key *ret)
{
	const char *end = nested_end(at, false);

	*ret = (struct key){};
	if (*at == '?' || *at == '!')
		ret->test = *at++;
	ret->name = at;
	ret->len = strcspn(at, "|~+*:;}");
	at += ret->len;
	if (*at == '~' || *at == '+')
		ret->mark = *at++;
	if (*at == '|' || *at == '*')
		ret->most = (unsigned)strtoul(at + 1, (char **)&at, 10);
	if (*at == ':' || *at == ';') {
		ret->separator = *at == ';' ? ';' : ',';
		ret->rows = at + 1 + strspn(at + 1, " ");
	}
	return *end ? end + 1 : end;
}

/* "s", "es" or "was/were": a word that depends on the number before it. */
static bool is_word(const struct key *k)
{
	return memchr(k->name, '/', k->len) || (k->len == 1 && *k->name == 's') ||
	       (k->len == 2 && memcmp(k->name, "es", 2) == 0);
}

static const struct field *find_field(const struct fields *all, const char *name, size_t len)
{
	for (size_t i = 0; all && i < all->count; i++) {
		const struct field *f = all->item[i];

		if ((size_t)f->json_len - 4 == len && memcmp(f->json_text + 2, name, len) == 0)
			return f;
	}
	return NULL;
}

/* Finds a field, also of an object: then *from becomes that row, NULL if it is not known. */
static const struct field *find_key(struct source_row *from, const char *name, size_t len,
				    bool look)
{
	const char *dot = memchr(name, '.', len);
	const size_t first = dot ? (size_t)(dot - name) : len;
	const struct field *f = find_field(from->also, name, first);

	f = f ? f : find_field(from->fields, name, first);
	if (!dot || !f || f->type != FIELD_OBJECT)
		return dot ? NULL : f;
	if (look && from->row)
		from->row = field_value(f, from->row, from->of).row;
	from->fields = f->fields;
	from->also = NULL;
	return find_key(from, dot + 1, len - first - 1, look);
}

static struct value value_of(const struct source_row *from, const struct key *k,
			     const struct field **ret)
{
	struct source_row of = *from;
	const struct field *f = find_key(&of, k->name, k->len, true);
	struct value v = of.row ? field_value(f, of.row, of.of) : (struct value){};
	const bool many = f->type == FIELD_ROWS || f->type == FIELD_NUMBERS;
	bool yes;

	*ret = f;
	if (many)
		yes = v.count;
	else if (f->type == FIELD_BOOL)
		yes = v.yes;
	else if (f->type == FIELD_TEXT)
		yes = v.text && *v.text;
	else
		yes = f->type == FIELD_WORDS ? v.number != 0 : v.number > 0;
	if (k->test)
		v.known = v.known && yes == (k->test == '?');
	else if (k->mark == '+' || many)
		v.known = v.known && yes;
	return v;
}

static bool is_known(const struct source_row *from, const char *at, const char *end)
{
	const struct field *f;
	struct key k;

	while (at < end) {
		if (*at == '[') {
			while (*at && *at != ']')
				at = nested_end(at + 1, true);
			at += *at == ']';
		} else if (*at == '{') {
			at = read_key(at + 1, &k);
			if (!is_word(&k) && k.mark != '~' && !value_of(from, &k, &f).known)
				return false;
		} else {
			at++;
		}
	}
	return true;
}

/* ---- writing ---- */

static void put_text(struct sayer *s, const char *text, size_t len)
{
	size_t end = len;

	if (!len)
		return;
	/* Blanks at the end of a line are not written. */
	while (end && text[end - 1] == ' ')
		end--;
	line_text_part(s->l, text, end, false);
	line_blanks(s->l, (unsigned)(len - end));
	if (end)
		s->last = text[end - 1];
}

static void put_word(struct sayer *s, const struct key *k)
{
	const char *slash = memchr(k->name, '/', k->len);

	if (slash && s->one)
		put_text(s, k->name, (size_t)(slash - k->name));
	else if (slash)
		put_text(s, slash + 1, k->len - (size_t)(slash - k->name) - 1);
	else if (!s->one)
		put_text(s, k->name, k->len);
}

/* Nanoseconds in the unit of time that the key ends with; 0: it is no span of time. */
static uint64_t unit_of(const struct field *f)
{
	static const struct {
		const char *end;
		uint64_t ns;
	} unit[] = {{"_ns", 1}, {"_us", 1000}, {"_ms", 1000000}, {"seconds", 1000000000}};
	const size_t len = (size_t)f->json_len - 4;

	for (size_t i = 0; f->type == FIELD_AMOUNT && i < ARRAY_SIZE(unit); i++) {
		size_t n = strlen(unit[i].end);

		if (len >= n && memcmp(f->json_text + 2 + len - n, unit[i].end, n) == 0)
			return unit[i].ns;
	}
	return 0;
}

static void put_words(struct sayer *s, const char *const *words, uint64_t bits)
{
	bool any = false;

	for (; *words; words++, bits >>= 1) {
		if (!(bits & 1))
			continue;
		put_text(s, ", ", any ? 2 : 0);
		put_text(s, *words, strlen(*words));
		any = true;
	}
}

/* The first columns of a time, or of the time of day. */
static void put_time(struct sayer *s, int64_t ms, unsigned columns)
{
	const size_t day = strlen("2026-11-22 "), from = columns < day ? day : 0;
	char buf[FORMAT_MAX];

	if (format_time(buf, ms, TIME_TABLE) >= from + columns)
		line_ascii(s->l, buf + from, columns);
}

static void put_value(struct sayer *s, const struct key *k, const struct field *f, struct value v)
{
	const uint64_t unit = unit_of(f);
	char buf[FORMAT_MAX];

	s->last = 0;
	if (!v.known) {
		put_text(s, "not known", strlen("not known"));
	} else if (f->type == FIELD_TEXT && k->most && f->flags & FIELD_PATH) {
		line_text_middle(s->l, v.text, k->most);
	} else if (f->type == FIELD_TEXT) {
		line_text(s->l, v.text, k->most);
	} else if (f->type == FIELD_TIME && k->most) {
		put_time(s, v.number, k->most);
	} else if (f->type == FIELD_WORDS) {
		put_words(s, f->words, (uint64_t)v.number);
	} else if (f->type == FIELD_NUMBERS) {
		for (uint32_t i = 0; i < v.count; i++)
			line_printf(s->l, "%s%d", i ? ", " : "", value_number(f, v, i));
	} else if (f->type == FIELD_BYTES && s->sizes == SIZES_SHORT) {
		line_ascii(s->l, buf, format_short(buf, v.bytes));
	} else if (f->type == FIELD_CHANGE && s->sizes == SIZES_KB) {
		line_ascii(s->l, buf, format_kb(buf, v.number));
	} else if (unit) {
		line_ascii(s->l, buf, format_span(buf, (double)v.number * (double)unit / 1e9));
	} else {
		cell_put(s->l, cell_of_value(f, v), s->sizes == SIZES_EXACT);
		s->one = v.number == 1;
	}
}

static void put_part(struct sayer *s, const char *at, const char *end);

static void put_rows(struct sayer *s, const struct key *k, const struct field *f, struct value v)
{
	const char *end = nested_end(k->rows, false), *row = v.row;
	uint32_t said = 0, left = 0;

	for (uint32_t i = 0; i < v.count; i++, row += f->row_size) {
		struct sayer each = {.l = s->l, .sizes = s->sizes, .one = s->one};

		each.from = (struct source_row){f->fields, NULL, row, s->from.of};
		if ((f->shown && !f->shown(row, s->from.of)) || !is_known(&each.from, k->rows, end))
			continue;
		if (k->most && said == k->most) {
			left++;
			continue;
		}
		put_text(s, (char[]){k->separator, ' '}, said++ ? 2 : 0);
		put_part(&each, k->rows, end);
	}
	if (left)
		line_printf(s->l, ", %u more", left);
	s->last = 0;
}

/* From behind '{'. Returns the end. */
static const char *put_key(struct sayer *s, const char *at)
{
	const struct field *f;
	struct value v;
	struct key k;

	at = read_key(at, &k);
	if (is_word(&k)) {
		put_word(s, &k);
		return at;
	}
	v = value_of(&s->from, &k, &f);
	if (k.test)
		s->one = v.number == 1;
	else if (k.rows)
		put_rows(s, &k, f, v);
	else
		put_value(s, &k, f, v);
	return at;
}

/* From behind '['. Returns the end, behind ']'. */
static const char *put_first(struct sayer *s, const char *at)
{
	bool done = false;

	for (;; at += 2) {
		const char *end = nested_end(at, true);

		if (!done && is_known(&s->from, at, end)) {
			/* Of ", ", the blank is written behind a colon, and nothing behind '('. */
			if (strchr(":(", s->last) && s->last && (*at == ',' || *at == ';'))
				at += s->last == '(' ? 2 : 1;
			put_part(s, at, end);
			done = true;
		}
		at = end;
		if (*at != '|')
			return *at ? at + 1 : at;
	}
}

static void put_part(struct sayer *s, const char *at, const char *end)
{
	while (at < end) {
		size_t len = strcspn(at, "{[");

		len = len < (size_t)(end - at) ? len : (size_t)(end - at);
		put_text(s, at, len);
		at += len;
		if (at < end)
			at = *at == '{' ? put_key(s, at + 1) : put_first(s, at + 1);
	}
}

bool say_sentence(struct line *l, const struct said *said, const char *text)
{
	struct sayer s = {.l = l, .sizes = said->sizes};
	const char *end = text + strlen(text);

	s.from = (struct source_row){said->sentences->fields, said->sentences->also, said->row,
				     said->of};
	if (!is_known(&s.from, text, end))
		return false;
	put_part(&s, text, end);
	return true;
}

bool say_first(struct line *l, const struct said *s)
{
	return say_sentence(l, s, s->sentences->text[0]);
}

void say_lines(struct line *l, const struct said *s)
{
	for (const char *const *text = s->sentences->text; *text; text++) {
		if (say_sentence(l, s, *text))
			line_end(l);
	}
}

void say_all(struct strbuf *out, const struct said *s, unsigned indent, unsigned width)
{
	for (const char *const *text = s->sentences->text; *text; text++) {
		const size_t start = out->len;
		struct line l = {.out = out};
		cleanup(strbuf_done) struct strbuf wide = {};

		if (!say_sentence(&l, s, *text))
			continue;
		/* Where it is: most fit, and need no memory of their own. */
		if (strbuf_error(out) || text_fold(out->data + start, out->len - start,
						   width - indent) == out->len - start) {
			strbuf_putc(out, '\n');
			continue;
		}
		strbuf_put(&wide, out->data + start, out->len - start);
		strbuf_take_error(out, &wide);
		out->len = start;
		text_put_folded(out, strbuf_str(&wide), indent, width);
	}
}

/* ---- faults, for a test ---- */

static const char *part_fault(const struct source_row *from, const char *at, const char *end)
{
	int depth = 0;

	while (at < end) {
		struct source_row of = *from;
		const struct field *f;
		struct key k;

		depth += (*at == '[') - (*at == ']');
		if (depth < 0)
			return "a bracket is closed and was not opened";
		if (*at == '}')
			return "a brace is closed and was not opened";
		if (*at != '{') {
			at++;
			continue;
		}
		if (!*nested_end(at + 1, false))
			return "a brace is not closed";
		at = read_key(at + 1, &k);
		if (is_word(&k))
			continue;
		f = find_key(&of, k.name, k.len, false);
		/* Truth and rows have no text of their own. */
		if (!f || (k.rows && f->type != FIELD_ROWS) ||
		    (!k.rows && !k.test && (f->type == FIELD_ROWS || f->type == FIELD_BOOL)))
			return k.name;
		if (k.rows) {
			struct source_row rows = {.fields = f->fields};
			const char *fault = part_fault(&rows, k.rows, nested_end(k.rows, false));

			if (fault)
				return fault;
		}
	}
	return depth ? "a bracket is not closed" : NULL;
}

const char *say_fault(const struct sentences *s, const char *text)
{
	const struct source_row from = {.fields = s->fields, .also = s->also};

	return part_fault(&from, text, text + strlen(text));
}
