// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Identifies rows across snapshots, and holds the row at the cursor. */
#include "top/view.h"

/* FNV-1a. Groups with the same hash are one row for the cursor until the next tick. */
static uint64_t hash(const char *s)
{
	uint64_t h = 0xcbf29ce484222325;

	while (s && *s)
		h = (h ^ (unsigned char)*s++) * 0x100000001b3;
	return h;
}

struct row_id view_id(const struct view *v, const struct process *p)
{
	if (p->pid)
		return (struct row_id){p->pid, p->start_ns};
	return (struct row_id){0, v->r->group ? hash(v->r->group->text(p)) : 0};
}

bool view_same_id(struct row_id a, struct row_id b)
{
	return a.pid == b.pid && a.key == b.key;
}

struct process *view_row(const struct view *v)
{
	return v->cursor < v->count ? v->rows[v->cursor] : NULL;
}

void view_hold(struct view *v)
{
	struct process *p = view_row(v);
	struct row_id id;

	if (!p)
		return;
	id = view_id(v, p);
	if (!view_same_id(id, v->id))
		history_clear(&v->history);
	v->id = id;
	v->held = true;
}
