// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The order of rows, and which rows must be read until the first few are certain: values that were
 * not read have an upper bound. And the order of mappings.
 */
#include "query/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "fields/map_fields.h"

#define SIGN_BIT (1ULL << 63)

struct field_list order_keys(const struct field *f, bool pss)
{
	struct field_list keys = {.item = {f}, .count = 1};

	if (f->flags & FIELD_SINCE || process_field_of_swap(f))
		keys.item[keys.count++] = process_field(pss ? "pss" : "rss");
	return keys;
}

/* Where a row stands by one key, before its value is compared. */
enum place {
	PLACE_FIRST, /* unread, and without a bound: it may be the first */
	PLACE_VALUE,
	PLACE_LAST, /* not measured */
};

struct standing {
	enum place place;
	uint64_t rank;	  /* of PLACE_VALUE: the lower one comes first */
	const char *text; /* of texts with equal ranks, which are their beginnings */
};

struct sorting {
	const struct order *order;
	const struct snapshot *snapshot;
	bool estimate; /* an unread value stands by the best that it can be */
	bool ranked;   /* the rank of a row is all of its first key */
};

/* The expensive values of the process are absent, and can still be read. */
static bool is_unread(const struct process *p)
{
	return p->pss_status == PSS_SKIPPED && p->kind == PROCESS_USER;
}

/* The most that an expensive counter can be, UINT64_MAX if it has no bound. */
static uint64_t upper_bound(const struct process *p, enum counter c)
{
	counter_mask bound = counter_table[c].bound;
	uint64_t sum = 0;

	/* A counter that was not measured is no bound. */
	if (!bound || (p->have & bound) != bound)
		return UINT64_MAX;
	for (; bound; bound &= bound - 1) {
		if (__builtin_add_overflow(sum, p->value[__builtin_ctzll(bound)], &sum))
			return UINT64_MAX;
	}
	return sum;
}

/*
 * An expensive value that is absent stands by the most that it can be, so that a process that
 * cannot be read is not hidden at the end. If it has no bound, or if the smallest come first, a row
 * that can still be read stands first, and a row that cannot stands last.
 */
static void stand_by_counter(const struct sorting *cmp, enum counter c, const struct process *p,
			     struct standing *st)
{
	bool expensive, readable;

	st->place = PLACE_VALUE;
	if (process_has(p, c)) {
		st->rank = ~process_value(p, c);
		return;
	}
	expensive = counter_table[c].origin != ORIGIN_KERNEL &&
		    (p->kind == PROCESS_USER || p->kind == PROCESS_SUM);
	readable = cmp->estimate && is_unread(p);
	if (expensive && !cmp->order->reverse && upper_bound(p, c) != UINT64_MAX)
		st->rank = ~upper_bound(p, c);
	else if (expensive && readable)
		st->rank = cmp->order->reverse ? UINT64_MAX : 0;
	else
		st->place = PLACE_LAST;
}

/* A counter or a share of the same whole for all rows: in the order of the counter. */
static bool is_counter(const struct field *f)
{
	return field_is_counter(f) && !(f->flags & FIELD_OWN_WHOLE);
}

/* A text's first bytes, in the order of field_compare_text(). */
static uint64_t beginning_of(const struct field *f, const char *text)
{
	uint64_t word = 0;

	for (int i = 0; i < 8; i++)
		word = word << 8 | field_text_weight(f, *text ? *text++ : 0);
	return word;
}

static struct standing standing_of(const struct sorting *cmp, const struct field *key,
				   const struct row *r)
{
	const struct field *f = key->order ? key->order : key;
	bool unread = cmp->estimate && is_unread(r->process);
	struct standing st = {.place = PLACE_LAST};
	struct value v;

	if (f->counter == COUNTER_NODES) {
		v = field_value(f, r, cmp->snapshot);
		st.place = v.known ? PLACE_VALUE : PLACE_LAST;
		st.rank = v.known ? ~v.bytes : 0;
		return st;
	}
	if (is_counter(f)) {
		stand_by_counter(cmp, (enum counter)f->counter, r->process, &st);
		return st;
	}
	/* Nothing bounds a change. Words on how PSS was read are not known before. */
	if (unread && (f->flags & FIELD_READ ||
		       (f->flags & FIELD_SINCE &&
			(f->counter < 0 || counter_table[f->counter].origin != ORIGIN_KERNEL)))) {
		st.place = PLACE_FIRST;
		return st;
	}
	v = field_value(f, r, cmp->snapshot);
	if (!v.known)
		return st;
	st.place = PLACE_VALUE;
	if (f->type == FIELD_TEXT) {
		st.text = v.text;
		st.rank = beginning_of(f, v.text);
	} else if (f->type == FIELD_PERCENT) {
		st.rank = ~(uint64_t)(v.percent * 1000);
	} else {
		st.rank = (f->type == FIELD_BOOL ? v.yes : (uint64_t)v.number) ^ SIGN_BIT;
		st.rank = field_sorts_descending(f) ? ~st.rank : st.rank;
	}
	return st;
}

/*
 * A row's first key in one word. Of two rows with different ranks the lower one comes first; rows
 * with equal ranks are compared by their keys. The rank is computed once per row, and decides most
 * comparisons.
 */
static uint64_t rank_of(const struct sorting *cmp, const struct row *r)
{
	const struct field *c = cmp->order->keys.count ? cmp->order->keys.item[0] : NULL;
	struct standing st = c ? standing_of(cmp, c, r) : (struct standing){.place = PLACE_LAST};

	if (st.place != PLACE_VALUE)
		return st.place == PLACE_FIRST ? 0 : UINT64_MAX;
	return cmp->order->reverse ? ~st.rank : st.rank;
}

/* Compares rows with equal ranks. */
static int compare_keys(const struct sorting *cmp, const struct row *a, const struct row *b)
{
	const struct field_list *keys = &cmp->order->keys;
	/* The lowest and the highest rank may also be those of rows without a value. */
	size_t first = cmp->ranked && a->rank && a->rank != UINT64_MAX;

	for (size_t i = first; i < keys->count; i++) {
		const struct field *c = keys->item[i];
		struct standing x = standing_of(cmp, c, a), y = standing_of(cmp, c, b);
		int r;

		if (x.place != y.place)
			return x.place < y.place ? -1 : 1;
		if (x.place != PLACE_VALUE)
			continue;
		r = x.text ? field_compare_text(c, x.text, y.text) : ORDER_OF(x.rank, y.rank);
		if (r)
			return cmp->order->reverse ? -r : r;
	}
	return 0;
}

static int compare_rows(const void *pa, const void *pb, void *arg)
{
	const struct row *a = pa, *b = pb;
	const struct process *p = a->process, *q = b->process;
	int r = a->rank < b->rank ? -1 : a->rank > b->rank ? 1 : compare_keys(arg, a, b);

	if (r)
		return r;
	if (p->pid != q->pid)
		return p->pid < q->pid ? -1 : 1;
	/* Groups are stored in the order of the column that they have in common. */
	return (p > q) - (p < q);
}

static void sort_rows(const struct order *o, const struct snapshot *s, bool estimate,
		      struct rows *rows)
{
	struct sorting cmp = {
		.order = o,
		.snapshot = s,
		.estimate = estimate,
		.ranked = o->keys.count && o->keys.item[0]->type != FIELD_TEXT,
	};

	for (size_t i = 0; i < rows->count; i++)
		rows->item[i].rank = rank_of(&cmp, &rows->item[i]);
	sort_items(rows->item, rows->count, sizeof(*rows->item), compare_rows, &cmp);
}

void order_rows(const struct order *o, const struct snapshot *s, struct rows *rows)
{
	sort_rows(o, s, false, rows);
}

void order_at_least(const struct order *o, uint64_t min, struct rows *rows)
{
	const struct field *key = o->keys.count ? o->keys.item[0] : NULL;
	bool delta = key && key->type == FIELD_CHANGE;
	bool size = key && field_is_counter(key) && counter_table[key->counter].unit == UNIT_BYTES;
	enum counter c = size ? (enum counter)key->counter : COUNTER_PSS;
	size_t count = 0;

	for (size_t i = 0; i < rows->count; i++) {
		struct row row = rows->item[i];
		const struct process *p = row.process;
		int64_t by;

		if (delta ? !row_change(&row, (enum counter)key->counter, &by) || by >= (int64_t)min
			  : (process_has(p, c) ? process_value(p, c) : upper_bound(p, c)) >= min) {
			rows->item[i] = rows->item[count];
			rows->item[count++] = row;
		}
	}
	rows->count = count;
}

/*
 * Why the first `top` are exact once all of them are read:
 *
 * Let E(r) be the tuple of a row's keys with the estimates above and its pid, T(r) the tuple after
 * reading it (or failing to). For each key the estimate stands no later than the truth: an
 * expensive value is never above its bound, in reverse never below 0, and a row that cannot be read
 * stands by the same bound or last; all other keys are the same in both. So E(r) comes before T(r)
 * or equals it, lexicographically, too: at the first key where they differ, E is the earlier one.
 * For a read row E(r) = T(r).
 *
 * When the first `top` by E are all read, each of them, f, stands by T(f) = E(f) before E(r), hence
 * before T(r), of every row r behind it, read or not. No reading can bring any of those forward.
 * The same holds for what order_rows() makes of a row that stays unread: it stands by its bounds.
 *
 * This holds for values of one moment: that a process has outgrown its bound since is seen only if
 * the bound alone had it read.
 */
size_t order_unread(const struct order *o, const struct snapshot *s, struct rows *rows, size_t top,
		    struct process **ret_need)
{
	size_t need = 0;

	if (top > rows->count)
		top = rows->count;
	sort_rows(o, s, true, rows);
	for (size_t i = 0; i < top; i++) {
		if (is_unread(rows->item[i].process))
			ret_need[need++] = rows->item[i].process;
	}
	return need;
}

/* ---- mappings ---- */

static int compare_mapping(const struct field *const *by, size_t count, const void *a,
			   const void *b)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++)
		r = field_compare(by[i], field_value(by[i], a, NULL), field_value(by[i], b, NULL));
	return r;
}

static int compare_maps(const void *a, const void *b, void *arg)
{
	const struct order *o = arg;
	int r = compare_mapping(o->keys.item, o->keys.count, a, b);

	if (r)
		return o->reverse ? -r : r;
	/* Never 0 for two rows. */
	return compare_mapping(map_identity.item, map_identity.count, a, b);
}

void order_maps(const struct order *o, struct mapping **rows, size_t count)
{
	if (count)
		qsort_r(rows, count, sizeof(*rows), compare_maps, (void *)o);
}
