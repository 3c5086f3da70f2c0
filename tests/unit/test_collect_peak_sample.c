// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which processes of samples are descendants of a command. */
#include "unit.h"

#include "collect/peak_sample.h"

#define KIB 1024

struct fixture {
	struct peak_tree tree;
	struct snapshot snapshot;
	struct peak_bytes sum;
	uint32_t live;
};

static struct process *put(struct fixture *f, pid_t pid, pid_t ppid, uint64_t start_ns,
			   uint64_t rss)
{
	struct process *p = snapshot_add(&f->snapshot);

	assert_non_null(p);
	p->pid = pid;
	p->ppid = ppid;
	p->start_ns = start_ns;
	process_set(p, COUNTER_RSS_ANON, rss);
	process_set(p, COUNTER_RSS_FILE, 4 * KIB);
	process_set(p, COUNTER_RSS_SHMEM, 0);
	return p;
}

static void sample(struct fixture *f)
{
	assert_int_equal(peak_tree_update(&f->tree, &f->snapshot, &f->sum, &f->live), 0);
	snapshot_clear(&f->snapshot);
}

static void done(struct fixture *f)
{
	peak_tree_done(&f->tree);
	snapshot_done(&f->snapshot);
}

TEST(descendants)
{
	struct fixture f = {};

	assert_int_equal(peak_tree_add(&f.tree, 100), 0);
	/* A grandchild before its parent, and processes of others. */
	put(&f, 20, 101, 3, 300 * KIB);
	put(&f, 50, 1, 1, 9000 * KIB);
	put(&f, 100, 50, 1, 100 * KIB);
	put(&f, 101, 100, 2, 200 * KIB);
	sample(&f);
	assert_int_equal(f.tree.count, 3);
	assert_int_equal(f.live, 3);
	assert_int_equal(f.sum.anon, 600 * KIB);
	assert_int_equal(f.sum.rss, 612 * KIB);
	assert_false(peak_tree_ended(&f.tree));

	/* Its parent has ended: it is init's child, and still one of them, and so are its own. */
	put(&f, 20, 1, 3, 400 * KIB);
	put(&f, 21, 20, 5, 50 * KIB);
	put(&f, 100, 50, 1, 100 * KIB)->kind = PROCESS_ZOMBIE;
	sample(&f);
	assert_int_equal(f.tree.count, 4);
	assert_int_equal(f.live, 2);
	assert_int_equal(f.sum.anon, 450 * KIB);
	assert_true(peak_tree_ended(&f.tree));
	assert_int_equal(f.tree.member[0].row.most, 104 * KIB);
	done(&f);
}

/* A number that is given again is another process. */
TEST(numbers_again)
{
	struct fixture f = {};

	assert_int_equal(peak_tree_add(&f.tree, 100), 0);
	put(&f, 100, 50, 1, 100 * KIB);
	put(&f, 101, 100, 2, 200 * KIB);
	sample(&f);
	put(&f, 100, 50, 1, 100 * KIB);
	put(&f, 101, 50, 9, 800 * KIB);
	put(&f, 102, 101, 10, 800 * KIB);
	sample(&f);
	assert_int_equal(f.tree.count, 2);
	assert_int_equal(f.sum.anon, 100 * KIB);
	/* As a child of ours it is a second one. */
	put(&f, 100, 50, 1, 100 * KIB);
	put(&f, 101, 100, 20, 300 * KIB);
	sample(&f);
	assert_int_equal(f.tree.count, 3);
	assert_int_equal(f.sum.anon, 400 * KIB);
	done(&f);
}

/* Before the first sample nothing is known: it has not ended. */
TEST(gone)
{
	struct fixture f = {};

	assert_int_equal(peak_tree_add(&f.tree, 100), 0);
	put(&f, 1, 0, 1, KIB);
	sample(&f);
	assert_true(peak_tree_ended(&f.tree));
	assert_int_equal(f.sum.rss, 0);
	done(&f);
}
