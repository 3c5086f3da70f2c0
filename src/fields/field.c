// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finds fields by their names, reads lists of them, and compares values. */
#include "fields/field.h"

#include <errno.h>
#include <string.h>

#include "base/parse.h"

int field_compare_text(const struct field *f, const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return field_text_weight(f, *a) - field_text_weight(f, *b);
}

int field_compare(const struct field *f, struct value a, struct value b)
{
	int r;

	if (!a.known || !b.known)
		return b.known - a.known;
	switch (f->type) {
	case FIELD_TEXT:
		return field_compare_text(f, a.text, b.text);
	case FIELD_BYTES:
	case FIELD_ADDRESS:
		r = (a.bytes > b.bytes) - (a.bytes < b.bytes);
		break;
	case FIELD_PERCENT:
		r = (a.percent > b.percent) - (a.percent < b.percent);
		break;
	case FIELD_BOOL:
		r = a.yes - b.yes;
		break;
	default:
		r = (a.number > b.number) - (a.number < b.number);
	}
	return field_sorts_descending(f) ? -r : r;
}

static const struct field *find_key(const struct fields *all, const char *key, size_t len)
{
	for (size_t i = 0; i < all->count; i++) {
		if (all->item[i]->key && parse_same_word(all->item[i]->key, key, len))
			return all->item[i];
	}
	return NULL;
}

/* The heading of a table, such as %RAM or PSI_SOME, where it is not the key. "+RSS" adds a column.
 */
static const struct field *find_heading(const struct fields *all, const char *heading, size_t len)
{
	const struct field *found = NULL;

	for (size_t i = 0; i < all->since; i++) {
		if (!all->item[i]->heading || !parse_same_word(all->item[i]->heading, heading, len))
			continue;
		if (found)
			return NULL;
		found = all->item[i];
	}
	return found;
}

const struct field *fields_find(const struct fields *all, const char *key, size_t len)
{
	const struct field *found = find_key(all, key, len);

	for (const struct field_alias *a = all->alias; !found && a && a->name; a++) {
		if (parse_same_word(a->name, key, len))
			found = find_key(all, a->key, strlen(a->key));
	}
	return found ? found : find_heading(all, key, len);
}

const struct field *fields_nearest(const struct fields *all, const char *key, size_t len)
{
	const struct field *nearest = NULL;
	unsigned least = 0;

	for (size_t i = 0; i < all->since; i++) {
		if (all->item[i]->key && parse_is_nearer(all->item[i]->key, key, len, &least))
			nearest = all->item[i];
	}
	return nearest;
}

/* ---- lists ---- */

bool field_list_has(const struct field_list *list, const struct field *f)
{
	for (size_t i = 0; i < list->count; i++) {
		if (list->item[i] == f)
			return true;
	}
	return false;
}

void field_list_insert(struct field_list *list, size_t at, const struct field *f)
{
	if (field_list_has(list, f))
		return;
	memmove(list->item + at + 1, list->item + at, (list->count - at) * sizeof(*list->item));
	memmove(list->asked + at + 1, list->asked + at, list->count - at);
	list->item[at] = f;
	list->asked[at] = false;
	list->count++;
}

void field_list_append(struct field_list *list, const struct field *const *fields, size_t count)
{
	memcpy(list->item + list->count, fields, count * sizeof(*fields));
	memset(list->asked + list->count, 0, count);
	list->count += count;
}

/*
 * The place of a field that is added: before the last one if that is a text, which has no maximum
 * width. Texts on request, such as command lines, are too long to stand before others.
 */
static size_t place_of(const struct field_list *list, const struct field *f)
{
	size_t last = list->count - 1;

	if (!list->count || list->item[last]->type != FIELD_TEXT)
		return list->count;
	return f->type == FIELD_TEXT && f->flags & FIELD_ASKED ? list->count : last;
}

static int parse_list(struct field_list *list, const struct fields *all, const char *spec,
		      bool keys, struct field_error *ret_bad)
{
	const char *pos = spec, *item = spec + strspn(spec, " \t");
	bool adds = *item == '+';
	struct field_list l = adds ? *list : (struct field_list){};
	size_t len = 0;

	while ((item = parse_item(&pos, &len))) {
		size_t plus = adds && *item == '+';
		size_t sign = keys && *item == '-' ? 1 : plus;
		const struct field *f = fields_find(all, item + sign, len - sign);

		if (f && ((sign > plus && !field_sorts_descending(f)) ||
			  (keys && f->flags & FIELD_EXTRA)))
			f = NULL;
		/* Adding a field that the list already has does nothing. */
		if (f && adds && field_list_has(&l, f))
			continue;
		if (!f || l.count == FIELDS_MAX) {
			*ret_bad = (struct field_error){item, len};
			return -EINVAL;
		}
		if (adds) {
			size_t place = place_of(&l, f);

			field_list_insert(&l, place, f);
			l.asked[place] = true;
		} else {
			l.item[l.count++] = f;
		}
	}
	if (!l.count) {
		*ret_bad = (struct field_error){spec, strlen(spec)};
		return -EINVAL;
	}
	*list = l;
	return 0;
}

int field_list_parse(struct field_list *list, const struct fields *all, const char *spec,
		     struct field_error *ret_bad)
{
	return parse_list(list, all, spec, false, ret_bad);
}

int field_list_parse_keys(struct field_list *list, const struct fields *all, const char *spec,
			  struct field_error *ret_bad)
{
	return parse_list(list, all, spec, true, ret_bad);
}

bool field_list_changes(const struct field_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		if (list->item[i]->flags & FIELD_SINCE)
			return true;
	}
	return false;
}

unsigned field_list_needs(const struct field_list *list)
{
	unsigned needs = 0;

	for (size_t i = 0; i < list->count; i++)
		needs |= list->item[i]->needs;
	return needs;
}
