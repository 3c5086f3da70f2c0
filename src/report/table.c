// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The table of processes or groups: makes the cell of each column for rows and sums. In a series of
 * snapshots, a line before the table has the time and what happened since the base of the deltas.
 */
#include "report/table.h"

#include <stdio.h>

#include "fields/result_fields.h"
#include "query/delta_tracker.h"
#include "report/summary.h"
#include "write/field_text.h"
#include "write/say.h"

#define TEXT_WIDE 32 /* maximum width of a text that is not in the last column */

/* A row with more of the mappings that the kernel allows than this is marked. */
#define MAPS_PERCENT 80
/* ps_mem and lsof write it so. */
#define DELETED_MARK " (deleted)"
/* In a recording, at the moment of an OOM kill. */
#define KILLED_MARK " (killed)"

static struct cell cell_change(const struct table *t, const struct field *c, bool known, int64_t by)
{
	if (known)
		by = delta_rate(by, t->r->snapshot->change_us);
	return cell_number(cell_type_of(c), known, by);
}

static bool is_near_limit(const struct table *t, uint64_t maps)
{
	uint64_t limit = t->r->snapshot->system.max_map_count;

	return limit && maps > limit / 100 * MAPS_PERCENT + limit % 100 * MAPS_PERCENT / 100;
}

/* A counter or a share, of a row or of a sum. */
static struct cell cell_of_counter(const struct table *t, const struct field *f, struct value v,
				   counter_mask partial)
{
	struct cell cell = cell_of_value(f, v);

	/* Values alone are read by scripts, which get a note on stderr. */
	cell.at_least =
		partial & COUNTER_BIT(f->counter) && (t->style->header || !t->style->only_total);
	return cell;
}

/* A user without a name is shown by number, as ps does. */
static struct cell cell_of_user(const struct table *t, const struct field *f,
				const struct process *p)
{
	if (t->style->numeric || !f->group(p))
		return cell_number(CELL_COUNT, p->uid != UID_NONE, p->uid);
	return cell_text(f->group(p));
}

/* The mark behind the name; NULL: there is none. */
static const char *mark_of(const struct table *t, const struct process *p)
{
	if (t->r->killed && p->pid == t->r->killed && p->kind != PROCESS_SUM)
		return KILLED_MARK;
	return p->exe == EXE_DELETED ? DELETED_MARK : NULL;
}

static bool is_yellow(const struct table *t, const struct field *f, const struct row *r,
		      struct value v)
{
	/* The process swaps, or waits for memory. */
	if (f->counter == COUNTER_SWAP || f->counter == COUNTER_SWAP_PSS)
		return r->swaps && field_is_counter(f);
	/* What happens to a cgroup now. */
	if (f->counter == COUNTER_REFAULTS_S || f->counter == COUNTER_RECLAIMED_S ||
	    f->counter == COUNTER_LIMIT_HITS_S || f->counter == COUNTER_HIGH_HITS_S)
		return v.known && v.number > 0;
	if (!(f->flags & FIELD_SINCE) || f->counter >= 0 || !v.known || v.number <= 0)
		return false;
	if (strcmp(f->key, "swapin") == 0 || strcmp(f->key, "wait") == 0)
		return true;
	return strcmp(f->key, "grown_h") == 0 &&
	       row_grows_steadily(r, t->r->snapshot->host.page_size);
}

#define NEAR_PERCENT 95

/* A cgroup is at its limit, or a process at that of its mappings. */
static bool is_red(const struct table *t, const struct field *f, const struct row *r,
		   struct value v)
{
	if (!v.known)
		return false;
	if (strcmp(f->key, "strain") == 0)
		return strcmp(v.text, "thrashes") == 0 || strcmp(v.text, "throttled") == 0;
	if (strcmp(f->key, "%nearest") == 0)
		return v.percent >= NEAR_PERCENT;
	return f->counter == COUNTER_MAPS && field_is_counter(f) &&
	       r->process->kind != PROCESS_SUM && is_near_limit(t, (uint64_t)v.number);
}

/* The color of a cell of a row: red is at its limit, yellow changes now. No other place sets it. */
static enum line_attr attr_of(const struct table *t, const struct field *f, const struct row *r,
			      struct value v, enum line_attr plain)
{
	if (is_red(t, f, r, v))
		return ATTR_RED;
	return is_yellow(t, f, r, v) ? ATTR_YELLOW : plain;
}

static struct cell cell_of_plain(struct table *t, const struct field *f, const struct row *r,
				 struct value v)
{
	const struct process *p = r->process;
	const char *mark;

	if (field_is_counter(f))
		return cell_of_counter(t, f, v, r->partial);
	if (f->flags & FIELD_SINCE && f->counter >= 0)
		return cell_change(t, f, v.known, v.number);
	if (f->flags & FIELD_SINCE && r->started)
		return cell_text("new");
	if (f->flags & FIELD_SINCE && strcmp(f->key, "grew") == 0)
		return cell_of(r->grew_ticks, r->ticks);
	if (f->needs & NEEDS_USER && !(f->flags & FIELD_JOINED))
		return cell_of_user(t, f, p);
	mark = v.known && f->needs & NEEDS_PROGRAM && !(f->flags & FIELD_JOINED) ? mark_of(t, p)
										 : NULL;
	if (mark) {
		snprintf(t->marked_name, sizeof(t->marked_name), "%.*s%s",
			 (int)(sizeof(t->marked_name) - strlen(mark) - 1), v.text, mark);
		v.text = t->marked_name;
	}
	return cell_of_value(f, v);
}

static struct cell cell_of_row(struct table *t, const struct field *f, const struct row *r)
{
	struct value v = field_value(f, r, t->r->snapshot);
	struct cell cell = cell_of_plain(t, f, r, v);

	cell.attr = attr_of(t, f, r, v, cell.attr);
	return cell;
}

static struct cell cell_of_sum(const struct table *t, const struct field *f, bool total)
{
	const struct totals *sum = total ? &t->r->totals : &t->r->others;
	const struct delta *delta = t->r->delta;
	int64_t bytes = 0;
	bool known;

	if (field_is_counter(f))
		return cell_of_counter(t, f, totals_value(f, t->r->snapshot, sum), sum->partial);
	/* Only the total has deltas: it also covers processes that have ended. */
	known = total && delta && delta->known &&
		delta_of_totals((enum counter)f->counter, sum, &delta->before, &bytes);
	return cell_change(t, f, known, bytes);
}

static void fill(void *arg, size_t row, size_t first, size_t end, struct cell *ret)
{
	struct table *t = arg;
	const struct field *const *column = t->style->columns->item;

	for (size_t i = first; i < end; i++)
		*ret++ = row < t->row_count ? cell_of_row(t, column[i], &t->rows[row])
					    : cell_of_sum(t, column[i], row == GRID_TOTAL);
}

static void put_summary(void *arg, struct line *l)
{
	(void)arg;
	line_printf(l, "total");
}

static void put_notes(void *arg, struct strbuf *out)
{
	const struct table *t = arg;

	summary_print(out, t->r, t->style);
	summary_print_ended(out, t->r, t->style);
	summary_print_notes(out, t->r, t->style);
	if (t->style->recorded) {
		struct line line = {.out = out};

		line_printf(&line, "recorded ");
		cell_put(&line, cell_number(CELL_TIME, true, t->r->snapshot->time_ms), false);
		line_end(&line);
	}
}

static void add_column(struct table *t, const struct field *f, bool asked)
{
	struct grid_column *c = grid_add(&t->grid, f);

	c->middle = !(f->needs & NEEDS_CMDLINE);
	c->marked = f == t->marked;
	c->asked = asked;
	c->at_least = field_is_counter(f) && f->type != FIELD_PERCENT &&
		      t->r->totals.partial & COUNTER_BIT(f->counter);
	c->max = t->style->wide ? 0 : TEXT_WIDE;
}

void table_place(struct table *t)
{
	const struct field_list *list = t->style->columns;

	t->grid.style = t->style;
	t->grid.source =
		(struct grid_source){.fill = fill,
				     .summary = put_summary,
				     .notes = put_notes,
				     .arg = t,
				     .rows = t->row_count,
				     .others = t->style->only_total ? 0 : t->r->others_count,
				     .no_total = t->r->memcgs};
	t->grid.unknown = ATTR_DIM;
	t->grid.columns = 0;
	for (size_t i = 0; i < list->count; i++) {
		add_column(t, list->item[i], list->asked[i]);
		t->grid.source.no_total &= !(list->item[i]->flags & FIELD_SUMS);
	}
	grid_place(&t->grid);
}

void render_table(struct strbuf *out, const struct result *r, const struct table_style *style)
{
	struct table t = {.r = r,
			  .style = style,
			  .rows = r->rows,
			  .row_count = r->row_count,
			  .marked = style->sorted};

	table_place(&t);
	grid_print(out, &t.grid);
}

/* ---- the line before the table of a tick ---- */

void render_tick(struct strbuf *out, const struct result *r, const struct table_style *style)
{
	struct line line = {.out = out, .color = style->color, .attr = ATTR_BOLD};

	cell_put(&line, cell_number(CELL_TIME, true, r->snapshot->time_ms), false);
	if (r->delta)
		say_first(&line, &(struct said){.sentences = &tick_said, .row = r});
	line_end(&line);
}
