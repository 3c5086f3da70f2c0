// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What grows and what swaps, from one snapshot of serve to the next. */
#include "sample.h"
#include "unit.h"

#include "findings/findings.h"
#include "serve/finder.h"

#define STEP_MS 10000

/* A process that holds so much, and has read so many pages from swap, at that time. */
static void make(struct sample *s, int64_t ms, uint64_t rss, uint64_t swapins)
{
	struct process *p;

	sample_init(s);
	p = sample_add(s, 4711, 1000, "alice", "leaky");
	sample_counters(p, rss, 0);
	sample_pss(p, PSS_FROM_KERNEL);
	process_set(p, COUNTER_SWAPINS, swapins);
	sample_finish(s, 1);
	s->snapshot.time_ms += ms;
	s->snapshot.system.pressure = (struct memory_pressure){.known = true, .some_avg10 = 500};
	s->snapshot.system.rates = (struct machine_rates){.known = true, .swapped_in = 4 * MIB};
}

static const struct finding *find(const struct finder *f, enum finding_key key)
{
	for (size_t i = 0; i < f->found.count; i++) {
		if (f->found.item[i].key == key)
			return &f->found.item[i];
	}
	return NULL;
}

/* Snapshots that are a second apart do not hide what grows every three seconds. */
TEST(grows)
{
	cleanup(finder_done) struct finder f = {};
	const struct finding *found = NULL;
	struct sample s;

	finder_init(&f, 1);
	for (int64_t ms = 0; ms <= 6 * 60 * 1000; ms += 1000) {
		make(&s, ms, 100 * MIB + (uint64_t)ms / 3000 * 6 * MIB, 0);
		finder_update(&f, &s.snapshot);
		found = find(&f, FINDING_GROWS);
		if (ms < 5 * 60 * 1000)
			assert_null(found);
	}
	assert_non_null(found);
	assert_int_equal(found->pid, 4711);
	assert_string_equal(found->name, "leaky");
	assert_int_equal(found->span_ms, 6 * 60 * 1000);
	/* 2 MiB in a second; three quarters of the RSS are anonymous and shared memory. */
	assert_in_range(found->bytes, 5 * GIB, 6 * GIB);
}

TEST(same_size)
{
	cleanup(finder_done) struct finder f = {};
	struct sample s;

	finder_init(&f, 1);
	for (int64_t ms = 0; ms <= 6 * 60 * 1000; ms += STEP_MS) {
		make(&s, ms, 100 * MIB, 0);
		finder_update(&f, &s.snapshot);
	}
	assert_null(find(&f, FINDING_GROWS));
	assert_true(f.found.known >> FINDING_GROWS & 1);
}

/* It is named from the second snapshot on, also if the clock was set back in between. */
TEST(swaps)
{
	cleanup(finder_done) struct finder f = {};
	const struct finding *found;
	struct sample s;

	finder_init(&f, 1);
	make(&s, 0, 100 * MIB, 1000);
	finder_update(&f, &s.snapshot);
	found = find(&f, FINDING_SWAPPING);
	assert_non_null(found);
	assert_null(found->name);
	make(&s, STEP_MS, 100 * MIB, 2000);
	finder_update(&f, &s.snapshot);
	found = find(&f, FINDING_SWAPPING);
	assert_string_equal(found->name, "leaky");
	assert_int_equal(found->count, 100);
	make(&s, -3600000, 100 * MIB, 3000);
	finder_update(&f, &s.snapshot);
	assert_null(find(&f, FINDING_SWAPPING)->name);
	make(&s, -3600000 + STEP_MS, 100 * MIB, 3500);
	finder_update(&f, &s.snapshot);
	assert_int_equal(find(&f, FINDING_SWAPPING)->count, 50);
}

/* What was found before is not looked for again among other rows. */
TEST(found)
{
	cleanup(finder_done) struct finder f = {};
	struct findings again;
	struct sample s;

	finder_init(&f, 1);
	make(&s, 0, 100 * MIB, 1000);
	finder_update(&f, &s.snapshot);
	make(&s, STEP_MS, 100 * MIB, 2000);
	finder_update(&f, &s.snapshot);
	s.result.found = &f.found;
	findings_find(&s.snapshot, &s.result, &again);
	assert_int_equal(again.count, f.found.count);
	assert_string_equal(again.item[0].name, "leaky");
	s.result.found = NULL;
	findings_find(&s.snapshot, &s.result, &again);
	assert_null(again.item[0].name);
}
