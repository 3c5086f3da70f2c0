// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which rows --verify compares with smaps_rollup. */
#include "unit.h"

#include "check/compare_run.h"

#define SELF  12
#define LARGE 14
#define COUNT 6

struct fixture {
	struct procfs proc;
	struct diag diag;
	struct source *source;
	struct process process[COUNT];
};

static void begin(struct fixture *f)
{
	assert_int_equal(procfs_open(&f->proc, "/proc"), 0);
	assert_int_equal(source_open(&(struct source_request){.choice = SOURCE_PROC}, &f->proc,
				     &f->diag, &f->source),
			 0);
	/* Pids 10 to 15; the last one has PSS from smaps_rollup. */
	for (int i = 0; i < COUNT; i++) {
		struct process *p = &f->process[i];

		p->pid = 10 + i;
		p->pss_source = i == COUNT - 1 ? PSS_FROM_ROLLUP : PSS_FROM_KERNEL;
		process_set(p, COUNTER_RSS, p->pid == LARGE ? 9 << 20 : 1 << 20);
		process_set(p, COUNTER_SWAP, 0);
	}
}

static void end(struct fixture *f)
{
	source_close(f->source);
	diag_clear(&f->diag);
	procfs_close(&f->proc);
}

FIXTURE(begin, end)

/* Returns a bit for each chosen process; `want` of them are chosen. */
static unsigned choose(struct fixture *f, int verify, size_t want)
{
	struct process *item[COUNT], *chosen[COUNT];
	struct process_list rows = {item, COUNT, 0};
	const struct check check = {
		.rows = &rows, .source = f->source, .self = SELF, .verify = verify};
	unsigned pids = 0;

	for (int i = 0; i < COUNT; i++)
		item[i] = &f->process[i];
	assert_int_equal(verify_choose(&check, chosen), want);
	for (size_t i = 0; i < want; i++) {
		assert_false(pids & 1U << (chosen[i]->pid - 10));
		pids |= 1U << (chosen[i]->pid - 10);
	}
	return pids;
}

/* 10, 11 and 13: neither the own process, nor a large one, nor one without PSS from the kernel. */
FIXTURE_TEST(small_ones)
{
	assert_int_equal(choose(f, 0, 0), 0);
	assert_int_equal(choose(f, 3, 3), 0x0b);
	assert_int_equal(choose(f, 5, 3), 0x0b);
}

/* Over time each is chosen. */
FIXTURE_TEST(random_ones)
{
	unsigned chosen = 0;

	for (int i = 0; i < 1000 && chosen != 0x0b; i++)
		chosen |= choose(f, 1, 1);
	assert_int_equal(chosen, 0x0b);
}
