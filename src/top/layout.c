// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The layout of top as text, and as settings of the view. Pure. */
#include "top/layout.h"

#include <string.h>

#include "base/array.h"
#include "base/parse.h"

#define LINE_MAX_BYTES 2048
#define INTERVAL_LEAST 100
#define INTERVAL_MOST  86400000

/* ---- parsing ---- */

static bool parse_columns(struct layout *l, const char *value, bool groups)
{
	struct field_list list;
	const char *bad;
	size_t len;

	process_list_usual(&list, groups ? process_field("cgroup") : NULL);
	if (column_list_parse(&list, value, &bad, &len) < 0 || !list.count ||
	    (!groups && process_list_misplaced(&list, NULL)))
		return false;
	l->columns[groups] = list;
	l->have |= groups ? LAYOUT_GROUP_COLUMNS : LAYOUT_COLUMNS;
	return true;
}

static bool parse_sort(struct layout *l, const char *value)
{
	struct field_list list = {};
	const char *bad;
	size_t len;

	if (column_list_parse_keys(&list, value, &bad, &len) < 0 || !list.count)
		return false;
	l->sort = list;
	l->have |= LAYOUT_SORT;
	return true;
}

static bool parse_group(struct layout *l, const char *value)
{
	const struct field *c = process_field(value);

	if (!c || !group_possible(c))
		return false;
	l->group = c;
	l->tree = false;
	l->have |= LAYOUT_ROWS;
	return true;
}

static bool parse_interval(struct layout *l, const char *value)
{
	uint64_t seconds;
	unsigned thousandths;
	size_t len = strlen(value);

	if (parse_thousandths(value, len, &seconds, &thousandths) != (int)len ||
	    seconds > INTERVAL_MOST / 1000)
		return false;
	seconds = seconds * 1000 + thousandths;
	if (seconds < INTERVAL_LEAST || seconds > INTERVAL_MOST)
		return false;
	l->interval_ms = (unsigned)seconds;
	l->have |= LAYOUT_INTERVAL;
	return true;
}

/* A word without a value. */
static bool parse_flag(struct layout *l, const char *word)
{
	if (strcmp(word, "reverse") == 0) {
		l->reverse = true;
		l->have |= LAYOUT_REVERSE;
		return true;
	}
	if (strcmp(word, "tree") == 0) {
		l->tree = true;
		l->group = NULL;
		l->have |= LAYOUT_ROWS;
		return true;
	}
	return false;
}

static bool parse_line(struct layout *l, struct text_part line)
{
	char word[LINE_MAX_BYTES], *value;

	while (line.len && memchr(" \t\r", line.s[line.len - 1], 3))
		line.len--;
	if (!line.len || *line.s == '#')
		return true;
	if (line.len >= sizeof(word) || memchr(line.s, '\0', line.len))
		return false;
	memcpy(word, line.s, line.len);
	word[line.len] = '\0';
	value = word + strcspn(word, " \t");
	if (!*value)
		return parse_flag(l, word);
	*value++ = '\0';
	value += strspn(value, " \t");
	if (strcmp(word, "columns") == 0)
		return parse_columns(l, value, false);
	if (strcmp(word, "group-columns") == 0)
		return parse_columns(l, value, true);
	if (strcmp(word, "sort") == 0)
		return parse_sort(l, value);
	if (strcmp(word, "group-by") == 0)
		return parse_group(l, value);
	return strcmp(word, "interval") == 0 && parse_interval(l, value);
}

unsigned layout_parse(const char *text, size_t len, struct layout *ret)
{
	struct text_part rest = {text, len};
	struct layout l = {};
	unsigned bad = 0;

	while (rest.len)
		bad += !parse_line(&l, part_split(&rest, '\n'));
	*ret = l;
	return bad;
}

/* ---- writing ---- */

static void write_list(struct strbuf *out, const char *word, const struct field_list *list)
{
	strbuf_printf(out, "%s ", word);
	for (size_t i = 0; i < list->count; i++)
		strbuf_printf(out, "%s%s", i ? "," : "", list->item[i]->key);
	strbuf_putc(out, '\n');
}

/* Without zeros at the end. */
static void write_interval(struct strbuf *out, unsigned ms)
{
	unsigned part = ms % 1000;

	strbuf_printf(out, "interval %u", ms / 1000);
	if (part)
		strbuf_printf(out, ".%u", part / 100);
	if (part % 100)
		strbuf_printf(out, "%u", part / 10 % 10);
	if (part % 10)
		strbuf_printf(out, "%u", part % 10);
	strbuf_putc(out, '\n');
}

void layout_write(const struct layout *l, struct strbuf *out)
{
	strbuf_printf(out, "# The layout of zmem-bpf top, written when top ends. "
			   "Without this file, top begins as usual.\n");
	if (l->have & LAYOUT_COLUMNS)
		write_list(out, "columns", &l->columns[0]);
	if (l->have & LAYOUT_GROUP_COLUMNS)
		write_list(out, "group-columns", &l->columns[1]);
	if (l->have & LAYOUT_SORT)
		write_list(out, "sort", &l->sort);
	if (l->have & LAYOUT_REVERSE && l->reverse)
		strbuf_printf(out, "reverse\n");
	if (l->have & LAYOUT_ROWS && l->group)
		strbuf_printf(out, "group-by %s\n", l->group->key);
	if (l->have & LAYOUT_ROWS && l->tree)
		strbuf_printf(out, "tree\n");
	if (l->have & LAYOUT_INTERVAL)
		write_interval(out, l->interval_ms);
}

/* ---- settings ---- */

void layout_apply(const struct layout *l, unsigned given, struct view_settings *set)
{
	unsigned use = l->have & ~given;

	if (use & LAYOUT_ROWS) {
		set->group = l->group;
		set->tree = l->tree;
		if (set->group)
			process_list_usual(&set->columns[1], set->group);
	}
	if (use & LAYOUT_COLUMNS) {
		set->columns[0] = l->columns[0];
		set->chosen[0] = true;
	}
	/* Columns of memory cgroups would be empty in other groups. */
	if (use & LAYOUT_GROUP_COLUMNS && set->group &&
	    !process_list_misplaced(&l->columns[1], set->group)) {
		set->columns[1] = l->columns[1];
		set->chosen[1] = true;
	}
	if (use & LAYOUT_SORT && !process_list_misplaced(&l->sort, set->group))
		set->order.keys = l->sort;
	if (use & LAYOUT_REVERSE)
		set->order.reverse = l->reverse;
	if (use & LAYOUT_INTERVAL)
		set->interval_ms = l->interval_ms;
}

static bool same_list(const struct field_list *a, const struct field_list *b)
{
	return a->count == b->count && memcmp(a->item, b->item, a->count * sizeof(*a->item)) == 0;
}

bool layout_update(struct layout *l, const struct view_settings *begun,
		   const struct view_settings *now)
{
	unsigned changed = 0;

	for (int i = 0; i < 2; i++) {
		if (!now->chosen[i] || same_list(&begun->columns[i], &now->columns[i]))
			continue;
		l->columns[i] = now->columns[i];
		changed |= i ? LAYOUT_GROUP_COLUMNS : LAYOUT_COLUMNS;
	}
	if (!same_list(&begun->order.keys, &now->order.keys)) {
		l->sort = now->order.keys;
		changed |= LAYOUT_SORT;
	}
	if (begun->order.reverse != now->order.reverse) {
		l->reverse = now->order.reverse;
		changed |= LAYOUT_REVERSE;
	}
	if (begun->group != now->group || begun->tree != now->tree) {
		l->group = now->group;
		l->tree = now->tree;
		changed |= LAYOUT_ROWS;
	}
	if (begun->interval_ms != now->interval_ms) {
		l->interval_ms = now->interval_ms;
		changed |= LAYOUT_INTERVAL;
	}
	l->have |= changed;
	return changed;
}
