// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Trees: each process once, below its parent. */
#include "unit.h"

#include "base/strbuf.h"
#include "query/group.h"
#include "query/tree.h"
#include "rows_machine.h"

/* "pid:procs:pss name" of each row. */
static void assert_tree(struct machine *m, uint64_t min, const char *want)
{
	cleanup(strbuf_done) struct strbuf b = {};
	struct sums t = {0};

	assert_int_equal(tree_rows(&m->order, min, NULL, &m->snapshot, &m->list, &t), 0);
	for (size_t i = 0; i < t.rows.count; i++) {
		const struct process *p = t.rows.item[i].process;

		strbuf_printf(&b, "%d:%u:", p->pid, t.rows.item[i].procs);
		if (process_has(p, COUNTER_PSS))
			strbuf_putu(&b, p->value[COUNTER_PSS]);
		strbuf_printf(&b, " %s\n", p->name);
	}
	assert_string_equal(strbuf_str(&b), want);
	sums_done(&t);
}

TEST(tree)
{
	cleanup(machine_done) struct machine m = machine_of(7);

	for (pid_t pid = 2; pid <= 7; pid++)
		at(&m, pid)->ppid = pid < 5 ? 1 : pid == 7 ? 99 : 3;
	process_set(at(&m, 4), COUNTER_PSS, 15);
	assert_tree(&m, 0,
		    "1:6:65 a\n"
		    "3:3:30 ├─ a\n"
		    "5:1:10 │  ├─ a\n"
		    "6:1:10 │  └─ a\n"
		    "4:1:15 ├─ a\n"
		    "2:1:10 └─ a\n"
		    "7:1:10 a\n");
	/* Small subtrees are hidden and stay in the sums above. */
	assert_tree(&m, 15,
		    "1:6:65 a\n"
		    "3:3:30 ├─ a\n"
		    "4:1:15 └─ a\n");
	/* The rows themselves are unchanged. */
	assert_string_equal(at(&m, 3)->name, "a");
	assert_int_equal(at(&m, 3)->value[COUNTER_PSS], 10);
}

/* A folded row keeps its sum, and has the number of processes below it before its name. */
TEST(tree_folds)
{
	cleanup(strbuf_done) struct strbuf b = {};
	struct folds folds = {0};
	struct sums t = {0};
	struct process other;
	cleanup(machine_done) struct machine m = machine_of(6);

	for (pid_t pid = 2; pid <= 6; pid++)
		at(&m, pid)->ppid = pid < 4 ? 1 : 3;
	assert_int_equal(folds_add(&folds, at(&m, 3)), 0);
	assert_int_equal(folds_add(&folds, at(&m, 3)), 0);
	/* A row without rows below it has no mark. */
	assert_int_equal(folds_add(&folds, at(&m, 2)), 0);
	assert_int_equal(folds.count, 2);
	assert_int_equal(tree_rows(&m.order, 0, &folds, &m.snapshot, &m.list, &t), 0);
	for (size_t i = 0; i < t.rows.count; i++)
		strbuf_printf(&b, "%d:%u:%s\n", t.rows.item[i].process->pid, t.rows.item[i].procs,
			      t.rows.item[i].process->name);
	assert_string_equal(strbuf_str(&b), "1:6:a\n3:4:├─ [+3] a\n2:1:└─ a\n");
	/* Another process with the pid is another row, and processes that ended are forgotten. */
	other = *at(&m, 3);
	other.start_ns++;
	assert_false(folds_has(&folds, &other));
	at(&m, 3)->start_ns++;
	folds_prune(&folds, &m.snapshot);
	assert_int_equal(folds.count, 1);
	folds_remove(&folds, at(&m, 3));
	folds_remove(&folds, at(&m, 2));
	assert_int_equal(folds.count, 0);
	for (pid_t pid = 6; pid >= 1; pid--)
		assert_int_equal(folds_add(&folds, at(&m, pid)), 0);
	for (pid_t pid = 1; pid <= 6; pid++)
		assert_true(folds_has(&folds, at(&m, pid)) && folds.item[pid - 1].pid == pid);
	folds_done(&folds);
	sums_done(&t);
}

/* The children of a filtered process are shown below its parent. */
TEST(tree_gaps)
{
	cleanup(machine_done) struct machine m = machine_of(4), small = machine_of(3);

	for (pid_t pid = 2; pid <= 4; pid++)
		at(&m, pid)->ppid = pid - 1;
	m.list.item[1] = m.list.item[3];
	m.list.item[2] = NULL;
	m.list.count = 2;
	assert_tree(&m, 0, "1:2:20 a\n4:1:10 └─ a\n");
	/* A process that may be large is below one that is known to be small. */
	at(&small, 2)->ppid = 1;
	at(&small, 3)->ppid = 2;
	at(&small, 3)->have &= ~COUNTER_BIT(COUNTER_PSS);
	assert_tree(&small, 50, "3:1: a\n");
}

/* No machine has a cycle of parents, but a recording may: each process is shown once. */
TEST(tree_circle)
{
	cleanup(machine_done) struct machine m = machine_of(3);

	at(&m, 1)->ppid = 2;
	at(&m, 2)->ppid = 1;
	at(&m, 3)->ppid = 3;
	assert_tree(&m, 0, "1:2:20 a\n2:1:10 └─ a\n3:1:10 a\n");
}

/* Each level is sorted by itself, and its rows have the sums of those below. */
TEST(levels)
{
	cleanup(machine_done) struct machine m = machine_of(5);
	cleanup(strbuf_done) struct strbuf b = {};
	const struct field *key[] = {column("user"), column("unit"), column("name")};
	struct group_keys keys = {};
	struct sums t = {0};

	group_keys_set(&keys, key, 3);
	for (pid_t pid = 1; pid <= 5; pid++) {
		at(&m, pid)->uid = pid < 4 ? 0 : 1000;
		at(&m, pid)->user = pid < 4 ? "root" : "web";
	}
	at(&m, 2)->name = "b";
	at(&m, 2)->unit = at(&m, 3)->unit = "u";
	process_set(at(&m, 5), COUNTER_PSS, 50);
	assert_int_equal(group_tree_rows(&keys.joined, &m.order, 0, &m.snapshot, &m.list, &t), 0);
	for (size_t i = 0; i < t.rows.count; i++)
		strbuf_printf(&b, "%u:%u %s\n", t.rows.item[i].procs,
			      (unsigned)t.rows.item[i].process->value[COUNTER_PSS],
			      t.rows.item[i].process->joined);
	assert_string_equal(strbuf_str(&b), "2:60 web\n"
					    "2:60 └─ -\n"
					    "2:60    └─ a\n"
					    "3:30 root\n"
					    "2:20 ├─ u\n"
					    "1:10 │  ├─ a\n"
					    "1:10 │  └─ b\n"
					    "1:10 └─ -\n"
					    "1:10    └─ a\n");
	/* Each row has a hash of its own, and the processes that it is the sum of. */
	for (size_t i = 0; i < t.rows.count; i++) {
		const struct process *row = t.rows.item[i].process;
		struct group_id id;
		unsigned members = 0;

		assert_int_equal(group_id_of(&keys.joined, row, &id), 0);
		for (pid_t pid = 1; pid <= 5; pid++)
			members += group_has(&id, at(&m, pid));
		assert_int_equal(members, t.rows.item[i].procs);
		group_id_done(&id);
		for (size_t k = 0; k < i; k++)
			assert_true(group_hash(1, &keys.joined, row) !=
				    group_hash(1, &keys.joined, t.rows.item[k].process));
	}
	sums_done(&t);
}

TEST(tree_deep)
{
	const size_t count = 20000;
	cleanup(machine_done) struct machine m = machine_of(count);
	struct sums t = {0};

	for (size_t i = 1; i < count; i++)
		m.snapshot.process[i].ppid = (pid_t)i;
	assert_int_equal(tree_rows(&m.order, 0, NULL, &m.snapshot, &m.list, &t), 0);
	assert_int_equal(t.rows.count, count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(t.rows.item[i].procs, count - i);
		assert_true(strlen(t.rows.item[i].process->name) < 65 * 6);
	}
	sums_done(&t);
}
