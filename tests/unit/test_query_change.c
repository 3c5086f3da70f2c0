// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Groups in two snapshots: what grew, began, ended; sums equal the change of the total. */
#include "unit.h"

#include "query/change.h"
#include "query/group.h"

#define COUNTERS (COUNTER_BIT(COUNTER_RSS_ANON) | COUNTER_BIT(COUNTER_SWAP))

static void add(struct snapshot *s, pid_t pid, const char *name, const char *unit, uint64_t anon,
		uint64_t swap)
{
	struct process *p = snapshot_add(s);

	p->pid = pid;
	p->name = name;
	p->unit = unit;
	p->mm_owner = true;
	process_set(p, COUNTER_RSS, anon);
	process_set(p, COUNTER_RSS_ANON, anon);
	process_set(p, COUNTER_SWAP, swap);
}

static void make(const struct snapshot *before, const struct snapshot *after, const char *key,
		 struct group_changes *ret)
{
	const struct change_side sides[] = {{before}, {after}};

	group_changes_done(ret);
	assert_int_equal(group_changes_make(&sides[0], &sides[1], key ? process_field(key) : NULL,
					    COUNTERS, ret),
			 0);
}

static void check(const struct group_change *c, const char *group, uint64_t before, uint64_t after)
{
	if (group)
		assert_string_equal(c->group, group);
	else
		assert_null(c->group);
	assert_int_equal(c->before, before);
	assert_int_equal(c->after, after);
}

TEST(groups)
{
	cleanup(snapshot_done) struct snapshot before = {}, after = {};
	cleanup(group_changes_done) struct group_changes g = {};
	int64_t sum = 0;

	add(&before, 1, "grew", "a", 100, 10);
	add(&before, 2, "grew", NULL, 50, 0);
	add(&before, 3, "ended", "b", 70, 0);
	add(&before, 4, "same", NULL, 5, 5);
	add(&after, 1, "grew", "a", 300, 20);
	add(&after, 2, "grew", NULL, 40, 0);
	add(&after, 4, "same", NULL, 4, 6);
	add(&after, 5, "began", "b", 60, 0);
	/* Another process carries its memory. */
	add(&after, 6, "began", NULL, 60, 0);
	after.process[4].mm_owner = false;
	after.process[4].mm_id = 5;
	make(&before, &after, "name", &g);
	assert_int_equal(g.count, 4);
	check(&g.item[0], "grew", 160, 360);
	assert_int_equal(g.item[0].procs_before, 2);
	assert_int_equal(g.item[0].procs_after, 2);
	check(&g.item[1], "began", 0, 60);
	check(&g.item[2], "same", 10, 10);
	check(&g.item[3], "ended", 70, 0);
	assert_int_equal(g.item[3].procs_after, 0);
	for (size_t i = 0; i < g.count; i++)
		sum += group_change_of(&g.item[i]);
	assert_int_equal(sum, 300 + 20 + 40 + 4 + 6 + 60 - (100 + 10 + 50 + 70 + 5 + 5));
	group_changes_by_size(&g);
	check(&g.item[0], "grew", 160, 360);
	check(&g.item[3], "ended", 70, 0);
	/* Groups by a text that some lack, and without a snapshot before. */
	make(NULL, &after, "unit", &g);
	assert_int_equal(g.count, 3);
	check(&g.item[0], "a", 0, 320);
	check(&g.item[1], "b", 0, 60);
	check(&g.item[2], NULL, 0, 50);
}

/* Rows of processes: a pid used again is another process, and so is any of another boot. */
TEST(processes)
{
	cleanup(snapshot_done) struct snapshot before = {}, after = {};
	cleanup(group_changes_done) struct group_changes g = {};

	add(&before, 1, "stays", NULL, 100, 10);
	add(&before, 2, "old", NULL, 50, 0);
	add(&after, 1, "stays", NULL, 90, 30);
	add(&after, 2, "new", NULL, 60, 0);
	/* From /proc the start is in whole ticks. */
	before.process[0].start_ns = 20000000;
	after.process[0].start_ns = 29999999;
	before.process[1].start_ns = 20000000;
	after.process[1].start_ns = 30000000;
	make(&before, &after, NULL, &g);
	assert_int_equal(g.count, 3);
	assert_string_equal(g.item[0].process->name, "new");
	assert_int_equal(group_change_state(&g.item[0]), CHANGE_BEGAN);
	assert_string_equal(g.item[1].process->name, "stays");
	assert_ptr_equal(g.item[1].process, &after.process[0]);
	assert_int_equal(group_change_state(&g.item[1]), CHANGE_GREW);
	check(&g.item[1], NULL, 110, 120);
	assert_string_equal(g.item[2].process->name, "old");
	assert_int_equal(group_change_state(&g.item[2]), CHANGE_ENDED);
	assert_int_equal(group_change_of(&g.total), 180 - 160);
	group_changes_by_amount(&g);
	/* +60, -50, +10; all if none is large. */
	assert_int_equal(group_changes_large(&g, 3, 61), 3);
	assert_int_equal(group_changes_large(&g, 3, 60), 1);
	assert_int_equal(group_changes_large(&g, 3, 11), 2);
	assert_int_equal(group_changes_large(&g, 3, 10), 3);
	assert_int_equal(group_changes_large(&g, 2, 10), 2);
	assert_int_equal(group_changes_large(&g, 0, 10), 0);
	assert_string_equal(g.item[1].process->name, "old");
	strcpy(before.host.boot_id, "another");
	make(&before, &after, NULL, &g);
	assert_int_equal(g.count, 4);
	assert_int_equal(group_change_of(&g.total), 180 - 160);
}

/* A value that is missing on one side is left out of the other, too: it is no growth. */
TEST(missing_before)
{
	cleanup(snapshot_done) struct snapshot before = {}, after = {};
	cleanup(group_changes_done) struct group_changes g = {};

	add(&before, 1, "x", NULL, 100, 10);
	add(&before, 2, "x", NULL, 100, 10);
	add(&after, 1, "x", NULL, 100, 10);
	add(&after, 2, "x", NULL, 100, 15);
	before.process[0].have &= ~COUNTER_BIT(COUNTER_SWAP);
	make(&before, &after, "name", &g);
	check(&g.item[0], "x", 110, 115);
	assert_int_equal(g.total.missing, 1);
	assert_int_equal(g.total.procs_before, 2);
	make(&before, &after, NULL, &g);
	assert_int_equal(g.count, 2);
	assert_int_equal(g.item[1].missing, 1);
	assert_int_equal(group_change_state(&g.item[1]), CHANGE_UNKNOWN);
	assert_false(group_change_has_before(&g.item[1]));
	assert_int_equal(group_change_of(&g.total), 5);
	/* It did not begin: it was there, and was not seen. */
	add(&after, 3, "unseen", NULL, 1000, 0);
	before.collection.not_seen_pid[0] = 3;
	make(&before, &after, "name", &g);
	assert_int_equal(g.total.missing, 2);
	assert_int_equal(group_change_of(&g.total), 5);
}

/*
 * At an OOM kill not all processes were read in time: those that are not there have not ended, nor
 * have they begun when they are read again; but one that started behind the kill has.
 */
TEST(cut)
{
	cleanup(snapshot_done) struct snapshot whole = {}, kill = {};
	cleanup(group_changes_done) struct group_changes g = {};

	add(&whole, 1, "qemu", NULL, 800, 23);
	add(&whole, 2, "sh", NULL, 100, 0);
	add(&whole, 3, "sh", NULL, 50, 0);
	add(&kill, 2, "sh", NULL, 110, 0);
	kill.collection.seen = 1;
	kill.time_ms = 3600000;
	assert_true(snapshot_is_cut(&kill));
	make(&whole, &kill, "name", &g);
	assert_int_equal(g.count, 2);
	check(&g.item[0], "sh", 100, 110);
	assert_int_equal(g.item[0].missing, 1);
	assert_int_equal(g.item[0].procs_before, 1);
	assert_int_equal(group_change_state(&g.item[1]), CHANGE_UNKNOWN);
	assert_false(group_change_has_before(&g.item[1]));
	assert_false(group_change_has_after(&g.item[1]));
	assert_int_equal(g.total.missing, 2);
	assert_int_equal(group_change_of(&g.total), 10);
	make(&kill, &whole, NULL, &g);
	assert_int_equal(g.count, 3);
	assert_int_equal(g.total.missing, 2);
	assert_int_equal(group_change_of(&g.total), -10);
	whole.process[0].start_ns = 3600001 * UINT64_C(1000000);
	make(&kill, &whole, NULL, &g);
	assert_int_equal(g.total.missing, 1);
	assert_int_equal(group_change_of(&g.total), 823 - 10);
	kill.collection.complete = true;
	make(&whole, &kill, NULL, &g);
	assert_int_equal(g.total.missing, 0);
	assert_int_equal(group_change_of(&g.total), 10 - 823 - 50);
}
