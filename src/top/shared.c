// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The row at the cursor, what identifies it across snapshots, and messages. */
#include "top/shared.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/hash.h"
#include "query/group.h"

unsigned show_message(struct shared *v, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(v->message, sizeof(v->message), fmt, args);
	va_end(args);
	return 0;
}

bool shared_last_line(const struct shared *v)
{
	return v->height >= 6 || v->prompt.kind || *v->message;
}

const struct row *listing_row(const struct listing *l)
{
	return l->cursor->at < l->count ? &l->item[l->cursor->at] : NULL;
}

struct process *listing_process(const struct listing *l)
{
	const struct row *row = listing_row(l);

	return row ? row->process : NULL;
}

/* Groups with the same hash are one row for the cursor until the next tick. */
struct row_id listing_id(const struct listing *l, const struct process *p)
{
	if (p->pid)
		return (struct row_id){(uint64_t)p->pid, p->start_ns};
	return (struct row_id){0, l->r->group ? group_hash(HASH_START, l->r->group, p) : 0};
}

const char *listing_text(const struct listing *l, const struct process *p)
{
	const char *name = NULL;

	/* In a tree the branches are part of the name. */
	if (p->pid && p->kind == PROCESS_SUM)
		p = snapshot_find(l->r->snapshot, p->pid);
	if (p && p->pid)
		name = p->name;
	else if (p && l->r->group)
		name = l->r->group->group(p);
	return name ? name : "-";
}

void listing_hold(struct listing *l)
{
	const struct process *p = listing_process(l);
	struct row_id id;

	if (!p)
		return;
	id = listing_id(l, p);
	if (!row_id_same(id, l->cursor->id))
		history_clear(&l->history);
	l->cursor->id = id;
	l->cursor->held = true;
}
