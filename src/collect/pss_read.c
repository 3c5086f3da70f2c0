// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Chooses the processes of which smaps_rollup is read, and checks what came from the kernel by it;
 * src/enrich reads it.
 */
#include "collect/pss_read.h"

#include <errno.h>
#include <sys/random.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "check/compare_run.h"
#include "source/swap_source.h"

#define EXACT_ROUNDS 6

struct batch {
	struct process **item;	  /* room for all rows */
	struct process **recheck; /* values and counters do not agree; likewise */
	size_t recheck_count;
};

/* smaps_rollup of the rows, in memory of the arena. Returns 0 or a negative errno. */
static int read_results(struct collector *c, struct arena *arena, bool check_start,
			struct process **row, size_t count, struct pool_result **ret)
{
	*ret = arena_zalloc(arena, count + 1, sizeof(**ret));
	return *ret ? pool_read(c->pool, POOL_ROLLUP, check_start, row, count, *ret) : -ENOMEM;
}

static int read_batch(struct collector *c, struct batch *b, size_t count)
{
	struct cross_check *check = &c->snapshot.collection.cross_check;
	cleanup(arena_release) struct arena_mark mark = arena_mark(&c->snapshot.scratch);
	struct pool_result *result;
	/* With BPF confirm() checks which processes they are. */
	int r = read_results(c, mark.arena, source_origin(c->source) != FROM_BPF, b->item, count,
			     &result);

	if (r < 0)
		return r;
	for (size_t i = 0; i < count; i++) {
		struct process *p = b->item[i];

		rollup_apply(p, &result[i]);
		if (p->pss_status != PSS_OK || p->counters_source != FROM_BPF)
			continue;
		check->checked++;
		if (compare_agrees(p, p, &result[i].counters))
			check->same++;
		else
			b->recheck[b->recheck_count++] = p;
	}
	return 0;
}

static int read_all(struct collector *c, struct batch *b)
{
	size_t count = 0;

	for (size_t i = 0; i < c->rows.matched.count; i++) {
		if (c->rows.matched.item[i]->pss_status == PSS_SKIPPED)
			b->item[count++] = c->rows.matched.item[i];
	}
	return read_batch(c, b, count);
}

/*
 * The first rounds read only the rows that must be read. If they do not suffice, many rows are
 * alike; then each round reads twice as many rows as the one before, so that there are few rounds.
 */
static int read_top(struct collector *c, const struct order *order, struct batch *b, size_t top)
{
	struct rows *rows = &c->rows.processes;
	size_t ask = top, count;
	int r = rows_of(rows, c->rows.matched.item, c->rows.matched.count);

	for (int round = 1; r == 0; round++) {
		count = order_unread(order, &c->snapshot, rows, top, b->item);
		if (!count)
			return 0;
		if (round > EXACT_ROUNDS) {
			ask = ask * 2 < rows->count ? ask * 2 : rows->count;
			count = order_unread(order, &c->snapshot, rows, ask, b->item);
		}
		r = read_batch(c, b, count);
	}
	return r;
}

/* Without swap slots BPF cannot count the processes that share a swap entry; smaps_rollup can. */
static bool lacks_swap_pss(const struct process *p)
{
	return p->pss_source == PSS_FROM_KERNEL && !process_has(p, COUNTER_SWAP_PSS);
}

/* The swapped pages of shared memory that a private mapping has: smaps_rollup alone has them. */
static bool lacks_swap_shmem(const struct collector *c, const struct process *p)
{
	return p->pss_source == PSS_FROM_KERNEL && c->swap_shmem_known &&
	       !process_has(p, COUNTER_SWAP_SHMEM);
}

/*
 * A large process is read if nothing else has the value. Else it is left without one: it moved
 * while its slots were read, or swap was switched on after the start.
 */
static bool may_read(const struct collector *c, const struct process *p)
{
	return lacks_swap_shmem(c, p) ||
	       (lacks_swap_pss(p) &&
		(rollup_is_cheap(p) || c->no_slots || (c->swap && swap_source_refusal(c->swap))));
}

/* A process keeps its values if its smaps_rollup cannot be read. */
static int read_shared_swap(struct collector *c, struct batch *b)
{
	cleanup(arena_release) struct arena_mark mark = arena_mark(&c->snapshot.scratch);
	struct pool_result *result;
	size_t count = 0;
	int r;

	for (size_t i = 0; i < c->rows.matched.count; i++) {
		struct process *p = c->rows.matched.item[i];

		if (may_read(c, p))
			b->item[count++] = p;
	}
	r = read_results(c, mark.arena, true, b->item, count, &result);
	for (size_t i = 0; r == 0 && i < count; i++) {
		if (result[i].status == PSS_OK)
			rollup_apply(b->item[i], &result[i]);
	}
	return r;
}

/* Without smaps_rollup, a process with an inconsistent walk has no PSS. */
static void set_unread_status(struct collector *c)
{
	bool refused = source_pss_refusal(c->source);

	for (size_t i = 0; i < c->rows.matched.count; i++) {
		struct process *p = c->rows.matched.item[i];

		if (p->kind == PROCESS_USER && p->pss_status == PSS_SKIPPED)
			p->pss_status = refused || p->pages_unknown ? PSS_UNSUPPORTED : PSS_RACED;
	}
}

/* ---- checks of swap slots ---- */

/*
 * The layout of swap slots is known by the kernel's types, their meaning is not. In each snapshot
 * some small processes are compared; if one differs that did not move meanwhile, nothing of swap
 * slots is used from then on. A process moves, too, if others that share its slots begin and end,
 * as the children of a shell do: its SWAP_PSS changes, and its SWAP does not. One that has the same
 * values in that many rounds stands still.
 */
#define SLOTS_CHECKED 3
#define SLOTS_ROUNDS  16

/* Chooses rows, from a random one on. Returns how many. */
static size_t choose_slots(const struct collector *c, struct process **ret)
{
	const struct process_list *processes = &c->rows.matched;
	uint32_t start = 0;
	size_t count = 0;

	if (getrandom(&start, sizeof(start), GRND_NONBLOCK) != sizeof(start))
		start = 0;
	for (size_t i = 0; i < processes->count && count < SLOTS_CHECKED; i++) {
		struct process *p = processes->item[(start + i) % processes->count];

		if (p->swap_slots && rollup_is_cheap(p))
			ret[count++] = p;
	}
	return count;
}

/* If the SWAP of a process changed meanwhile, the process tells nothing. */
static bool slots_differ(const struct process *p, const struct pool_result *result)
{
	const struct smaps_rollup *f = &result->counters;

	return result->status == PSS_OK && rollup_has(f, SMAPS_SWAP_PSS) &&
	       rollup_has(f, SMAPS_SWAP) && f->value[SMAPS_SWAP] == p->value[COUNTER_SWAP] &&
	       f->value[SMAPS_SWAP_PSS] / 1024 != p->value[COUNTER_SWAP_PSS] / 1024;
}

/* Keeps the rows that differ from their smaps_rollup. */
static int compare_slots(struct collector *c, struct process **row, size_t *count)
{
	cleanup(arena_release) struct arena_mark mark = arena_mark(&c->snapshot.scratch);
	struct pool_result *result;
	size_t left = 0;
	int r = read_results(c, mark.arena, true, row, *count, &result);

	for (size_t i = 0; r == 0 && i < *count; i++) {
		if (slots_differ(row[i], &result[i]))
			row[left++] = row[i];
	}
	*count = left;
	return r;
}

static bool same_swap(const struct process *a, const struct process *b)
{
	return a->value[COUNTER_SWAP] == b->value[COUNTER_SWAP] &&
	       a->value[COUNTER_SWAP_PSS] == b->value[COUNTER_SWAP_PSS];
}

/* Reads the swap slots of the rows again. Keeps those that stand still, of the new reading. */
static int read_slots_again(struct collector *c, struct snapshot *again, struct process **row,
			    size_t *count)
{
	int r = source_collect_some(c->source, row, *count, again);
	size_t left = 0;

	if (r == 0)
		r = swap_source_read(c->swap, false, again);
	for (size_t i = 0; r == 0 && i < *count; i++) {
		struct process *p = snapshot_find_again(again, row[i]);

		if (p && p->swap_slots && same_swap(p, row[i]))
			row[left++] = p;
	}
	*count = left;
	/* A swap device was switched on or off. */
	return r == -EAGAIN ? 0 : r;
}

/* Drops what came from swap slots, and reads no more of them. */
static void distrust_slots(struct collector *c)
{
	for (size_t i = 0; i < c->snapshot.count; i++) {
		struct process *p = &c->snapshot.process[i];

		p->have &= ~COUNTERS_OF_SWAP_COSTS;
		if (p->swap_slots)
			p->have &= ~COUNTER_BIT(COUNTER_SWAP_PSS);
		p->swap_slots = false;
		process_derive(p);
	}
	c->snapshot.system.swap_cache = (struct swap_cache){};
	c->snapshot.system.files.swap_ram_known = false;
	swap_source_close(c->swap);
	c->swap = NULL;
	c->no_slots = true;
}

/* Compares SWAP_PSS from swap slots with smaps_rollup; if it differs, drops what came from them. */
static int check_slots(struct collector *c)
{
	struct process *row[SLOTS_CHECKED];
	size_t count;
	int r = 0;

	if (!c->swap)
		return 0;
	count = choose_slots(c, row);
	for (unsigned round = 0; r == 0 && count; round++) {
		r = compare_slots(c, row, &count);
		if (r == 0 && count && round + 1 == SLOTS_ROUNDS) {
			distrust_slots(c);
			c->notices |= COLLECT_NOTICE_SLOTS;
			return 0;
		}
		if (r == 0 && count)
			r = read_slots_again(c, &c->again[round % 2], row, &count);
	}
	return r;
}

/* ---- reading, and checking what was read ---- */

/* Reads the rows; the batch, in memory of the snapshot, has those to be read again. */
static int read_rows(struct collector *c, const struct query *q, struct batch *b)
{
	size_t top = query_certain(q), room = c->rows.matched.count + 1;
	struct arena *a = &c->snapshot.scratch;
	int r;

	b->item = arena_zalloc(a, room, sizeof(*b->item));
	b->recheck = arena_zalloc(a, room, sizeof(*b->recheck));
	if (!b->item || !b->recheck)
		return -ENOMEM;
	c->snapshot.collection.cross_check.done = c->snapshot.counters_source == FROM_BPF;
	r = c->check.verify ? check_slots(c) : 0;
	if (c->spec.pss == PSS_KERNEL) {
		set_unread_status(c);
		return r;
	}
	if (r == 0)
		r = read_shared_swap(c, b);
	if (r == 0)
		r = top ? read_top(c, &q->order, b, top) : read_all(c, b);
	return r;
}

/* Drops the values that may be those of another process with the same pid. */
static void drop_values(struct process *p, enum pss_status status)
{
	for (int i = 0; i < COUNTERS_OF_PROCESS; i++) {
		if (counter_table[i].origin != ORIGIN_KERNEL)
			p->have &= ~COUNTER_BIT(i);
	}
	p->pss_source = PSS_FROM_NOTHING;
	p->pss_status = status;
	process_derive(p);
}

/*
 * After checks that differed (pss_wrong): drops all PSS of the kernel, in this snapshot and from
 * now on. Then smaps_rollup is read.
 */
static int drop_kernel_pss(struct collector *c)
{
	char reason[128];

	snprintf(reason, sizeof(reason),
		 "PSS from page tables differed from smaps_rollup in %zu spot check%s",
		 c->check.pss_wrong, c->check.pss_wrong == 1 ? "" : "s");
	for (size_t i = 0; i < c->snapshot.count; i++) {
		struct process *p = &c->snapshot.process[i];

		if (p->pss_source == PSS_FROM_KERNEL)
			drop_values(p, PSS_SKIPPED);
	}
	/* The walk of swap slots has the same layout. */
	if (c->swap)
		distrust_slots(c);
	return source_distrust_pss(c->source, reason);
}

/* True if smaps_rollup of the process was tried. */
static bool was_read(const struct process *p)
{
	return p->kind == PROCESS_USER && p->pss_source != PSS_FROM_KERNEL &&
	       p->pss_status != PSS_SKIPPED;
}

/*
 * Reads again which processes exist. A process that BPF sees before and after its /proc/PID was
 * read was the same all the time: pids are reused, and this check opens no file. Drops the values
 * of other processes. A process that lives and is not in /proc is denied (hidepid).
 */
static int confirm(struct collector *c)
{
	struct process **row =
		arena_zalloc(&c->snapshot.scratch, c->rows.matched.count + 1, sizeof(*row));
	struct snapshot *after = &c->again[1];
	size_t count = 0;
	int r;

	if (!row)
		return -ENOMEM;
	for (size_t i = 0; i < c->rows.matched.count; i++) {
		if (was_read(c->rows.matched.item[i]))
			row[count++] = c->rows.matched.item[i];
	}
	if (!count)
		return 0;
	r = source_collect_some(c->source, row, count, after);
	for (size_t i = 0; r == 0 && i < count; i++) {
		struct process *p = row[i];
		const struct process *again = snapshot_find_again(after, p);
		bool there = again && again->kind == PROCESS_USER;

		/* This process grows while it reads. */
		if (there && p->pid == c->self) {
			verify_copy_counters(p, again);
			process_derive(p);
		}
		if (p->pss_status == PSS_OK && !there)
			drop_values(p, PSS_GONE);
		else if (p->pss_status == PSS_GONE && there)
			p->pss_status = PSS_DENIED;
	}
	return r;
}

/* Why PSS does not come from the kernel although it could have. */
static const char *pss_fallback_reason(const struct collector *c)
{
	if (c->spec.pss == PSS_AUTO || (c->spec.pss == PSS_KERNEL && source_pss_lost(c->source)))
		return source_pss_refusal(c->source);
	return NULL;
}

void pss_note_source(struct collector *c)
{
	c->snapshot.pss_fallback_reason = pss_fallback_reason(c);
	if (c->snapshot.pss_fallback_reason && source_pss_lost(c->source))
		c->notices |= COLLECT_NOTICE_PSS_LOST;
}

/* smaps_rollup of all rows that need it. */
static int read_rollups(struct collector *c, const struct query *q, uint64_t *since)
{
	struct batch b = {};
	int r = read_rows(c, q, &b);

	collector_phase_end(c, COLLECT_PHASE_VERIFY, since);
	if (r == 0 && source_origin(c->source) == FROM_BPF)
		r = confirm(c);
	return r < 0 ? r : verify_rollups(&c->check, b.recheck, b.recheck_count);
}

/*
 * Reads smaps_rollup in place of PSS from the kernel, which was wrong. The checks that found that
 * are reported.
 */
static int replace_pss(struct collector *c, const struct query *q, uint64_t *since)
{
	const struct cross_check found = c->snapshot.collection.cross_check;
	int r = drop_kernel_pss(c);

	if (r == 0)
		r = read_rollups(c, q, since);
	c->snapshot.collection.cross_check = found;
	pss_note_source(c);
	return r;
}

/* What the programs depend on, of the values that are read anyway, and whether KSM runs. */
static struct check_world world_of(const struct collector *c)
{
	const struct meminfo *m = &c->snapshot.system.meminfo;
	struct check_world world = {.ram = m->value[MEMINFO_TOTAL],
				    .swap = m->value[MEMINFO_SWAP_TOTAL]};
	uint64_t used;

	world.swaps = meminfo_swap_used(m, &used) && used;
	file_number(-1, "/sys/kernel/mm/ksm/run", "", &world.ksm);
	return world;
}

#define CHECK_EVERY 10

/* True if not each snapshot is compared. */
static bool checks_seldom(const struct collector *c)
{
	return c->spec.continuous && c->spec.seldom;
}

/* Leaves the comparison out where one of the last snapshots stands for it. */
static void decide_check(struct collector *c)
{
	const struct check_world now = world_of(c), *then = &c->checked_in;

	if (c->checked.checked && !c->checked.different &&
	    c->checked.snapshots_ago + 1 < CHECK_EVERY && now.ram == then->ram &&
	    now.swap == then->swap && now.ksm == then->ksm && now.swaps == then->swaps)
		c->check.verify = 0;
	else
		c->checked_in = now;
}

/* Keeps the comparison of this snapshot, or shows the last one. */
static void keep_check(struct collector *c)
{
	struct cross_check *check = &c->snapshot.collection.cross_check;

	if (c->check.verify) {
		c->checked = *check;
		return;
	}
	c->checked.snapshots_ago++;
	/* What smaps_rollup was read for anyway is compared in each snapshot. */
	if (check->done && !check->checked)
		*check = c->checked;
}

int pss_read(struct collector *c, const struct query *q, uint64_t *since)
{
	/* Scratch memory is needed until all processes are read. */
	struct arena_mark mark = arena_mark(&c->snapshot.scratch);
	int r;

	if (c->spec.pss == PSS_NONE)
		return 0;
	if (checks_seldom(c))
		decide_check(c);
	r = read_rollups(c, q, since);
	if (r == 0)
		r = verify_kernel(&c->check);
	if (c->check.unreadable)
		c->notices |= COLLECT_NOTICE_UNREADABLE;
	if (r == 0 && c->check.pss_wrong)
		r = replace_pss(c, q, since);
	if (r == 0 && checks_seldom(c))
		keep_check(c);
	arena_release(&mark);
	collector_phase_end(c, COLLECT_PHASE_NAMES, since);
	return r;
}
