// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What is estimated of blocks (grow/heap_parts.h) beside programs of which all is known: a
 * simulated time, in which they allocate and free.
 */
#include "unit.h"

#include <math.h>

#include "grow/allocators.h"
#include "grow/heap_parts.h"
#include "zmem/grow.h"

#define MS  1000000ULL
#define S   1000000000ULL
#define RUN (60 * S)

/* A function that allocates blocks of 1,000 bytes, one each `every` ns, which live `life` ns. */
struct plan {
	uint64_t every, life; /* life 0: they are kept */
	double allocated, held, error;
};

struct run {
	struct heap_parts parts;
	uint64_t rate;	  /* calls in a second */
	uint64_t samples; /* in a second, with every part as fine as the first */
	double share;
};

/* Whether a time is in a part. */
static bool is_seen(const struct heap_parts *p, uint64_t time)
{
	for (size_t i = 0; i < p->count; i++) {
		if (time >= p->part[i].start && time < p->part[i].end)
			return true;
	}
	return false;
}

static uint64_t count_samples(const struct run *r, uint64_t now)
{
	double sum = 0;

	for (size_t i = 0; i < r->parts.count; i++) {
		const struct heap_part *p = &r->parts.part[i];

		sum += (double)((p->end ? p->end : now) - p->start) * (1 << p->finer);
	}
	return (uint64_t)(sum / 1e9 * (double)r->samples);
}

static struct heap_count count_at(const struct run *r, uint64_t now)
{
	return (struct heap_count){.calls = (uint64_t)((double)now / 1e9 * (double)r->rate),
				   .work = now / 2,
				   .time = now,
				   .samples = count_samples(r, now)};
}

/* Opens and closes parts through a run of a program that is no slower with probes. */
static void run(struct run *r)
{
	heap_parts_begin(&r->parts, 0);
	r->parts.random = 1;
	for (uint64_t now = 0; now < RUN; now += 4 * MS) {
		if (r->parts.leaves && now > r->parts.leaves)
			r->parts.leaves = 0;
		switch (heap_parts_turn(&r->parts, now, count_at(r, now))) {
		case HEAP_CLOSE:
			heap_parts_close(&r->parts, now, count_at(r, now));
			heap_parts_count(&r->parts, false, count_at(r, now));
			break;
		case HEAP_OPEN:
			heap_parts_count(&r->parts, true, count_at(r, now));
			heap_parts_open(&r->parts, now, count_at(r, now));
			break;
		case HEAP_WAIT:
			break;
		}
	}
	if (r->parts.open)
		heap_parts_close(&r->parts, RUN, count_at(r, RUN));
}

/* A free is seen if it is in a part; in a later one only `later` of them are known. */
static void estimate(const struct run *r, struct plan *plan, const struct heap_count *end)
{
	const struct heap_parts *p = &r->parts;
	struct heap_stack s = {};
	double share, error;

	for (uint64_t t = plan->every; t < RUN; t += plan->every) {
		uint64_t freed = t + plan->life;
		size_t i = 0;

		if (!is_seen(p, t))
			continue;
		while (t >= p->part[i].end)
			i++;
		heap_stack_add(&s, p, t, 1000, 1000);
		if (plan->life && freed < p->part[i].end) {
			heap_stack_freed(&s, p, t, freed, 1000);
			continue;
		}
		heap_stack_left(&s, p, t, p->part[i].end, 1000);
		if (plan->life && freed < RUN && is_seen(p, freed))
			heap_stack_late(&s, p, t, true, 1000);
	}
	share = heap_parts_share(p, end, 0, &error);
	heap_stack_sum(&s, p, share, error, &plan->allocated, &plan->held, &plan->error);
	plan->error = 2 * sqrt(plan->error);
}

TEST(ordinary_rate)
{
	struct run r = {.rate = 30000};

	run(&r);
	assert_true(heap_parts_whole(&r.parts));
	assert_int_equal(heap_parts_seen(&r.parts, RUN), RUN);
	heap_parts_done(&r.parts);
}

TEST(high_rate)
{
	struct run r = {.rate = 600000};
	struct heap_count end;
	double error, share;

	run(&r);
	end = count_at(&r, RUN);
	assert_false(heap_parts_whole(&r.parts));
	/* A tenth of the time, after the first second. */
	share = heap_parts_share(&r.parts, &end, 0, &error);
	assert_true(share > 0.05 && share < 0.2);
	assert_true(heap_parts_seen(&r.parts, RUN) < RUN / 4);
	heap_parts_done(&r.parts);
}

/* Parts with pauses have more samples, but never more than so many in a second of the run. */
TEST(samples)
{
	const uint64_t bytes = 512 * 1024;

	for (uint64_t samples = 10; samples <= 1000000; samples *= 10) {
		struct run r = {.rate = 600000, .samples = samples};
		const struct heap_part *last;
		double share, all;

		run(&r);
		last = &r.parts.part[r.parts.count - 1];
		share = (double)heap_parts_seen(&r.parts, RUN) / (double)RUN;
		all = (double)samples * share * (1 << last->finer);
		assert_int_equal(heap_parts_sample(&r.parts, 0, bytes), bytes);
		assert_int_equal(heap_parts_sample(&r.parts, last->start, bytes),
				 bytes >> last->finer);
		assert_true(!last->finer || all < 2 * HEAP_SAMPLES_MAX);
		assert_true(last->finer == HEAP_FINER_MAX || all > HEAP_SAMPLES_MAX / 4.0);
		heap_parts_done(&r.parts);
	}
}

TEST(kept_and_freed)
{
	struct run r = {.rate = 600000};
	struct plan kept = {.every = 100000}, brief = {.every = 100000, .life = 10 * MS};
	const double all = (double)RUN / 100000 * 1000;
	struct heap_count end;

	run(&r);
	end = count_at(&r, RUN);
	estimate(&r, &kept, &end);
	assert_true(fabs(kept.allocated - all) < 0.4 * all);
	assert_true(fabs(kept.held - all) <= kept.error);
	assert_true(kept.error < all);
	estimate(&r, &brief, &end);
	assert_true(fabs(brief.allocated - all) < 0.4 * all);
	/* What the end of a part leaves is not taken for what is kept. */
	assert_true(brief.held < 0.01 * all);
	heap_parts_done(&r.parts);
}

TEST(one_burst)
{
	struct run r = {.rate = 600000};
	struct heap_stack s = {};
	struct heap_count end;
	double share, error, allocated, held, variance;

	run(&r);
	end = count_at(&r, RUN);
	share = heap_parts_share(&r.parts, &end, 0, &error);
	/* In one part alone: there may have been others, or none. */
	heap_stack_add(&s, &r.parts, r.parts.part[3].start + 1, 1000, 1000);
	heap_stack_left(&s, &r.parts, r.parts.part[3].start + 1, r.parts.part[3].end, 1000);
	heap_stack_sum(&s, &r.parts, share, error, &allocated, &held, &variance);
	assert_true(held > 4000 && 2 * sqrt(variance) > held);
	heap_parts_done(&r.parts);
}

TEST(weights)
{
	/* All, and of small blocks about the mean distance. */
	assert_true(heap_weight(10, 1) == 10);
	assert_true(fabs(heap_weight(100, 524288) - 524288) < 100);
	assert_true(fabs(heap_weight(1 << 26, 524288) - (1 << 26)) < 1);
}

static uint32_t number_of(const char *name)
{
	uint32_t i = 0;

	while (strcmp(allocator_name(i), name) != 0)
		i++;
	return i;
}

TEST(places)
{
	const struct elf_facts facts = {.segments = 1, .segment = {{0x1000, 0x1000, 0x5000}}};
	struct found_function found[] = {
		{.i = number_of("malloc"), .vaddr = 0x5010, .size = 16},
		{.i = number_of("cfree"), .vaddr = 0x5020, .size = 16},
		{.i = number_of("free"), .vaddr = 0x5020, .size = 16, .code = {0x48, 0x85, 0xff}},
		{.i = number_of("calloc"), .vaddr = 0x5030, .size = 16},
		{.i = number_of("_Znwm"), .vaddr = 0x5040, .size = 16},
		{.i = number_of("realloc"), .vaddr = 0x9000, .size = 16},
	};
	const char *not_probed[ALLOCATOR_THROWS_MAX];
	struct probe_place place[PROBES_MAX];

	/* One name of each function, none of operator new, and none outside of the code. */
	assert_int_equal(allocator_places(&facts, found, ARRAY_SIZE(found), place), 4);
	assert_int_equal(place[0].offset, 0x1010);
	assert_int_equal(place[0].cookie, ZMEM_HEAP_SIZE);
#if defined(__x86_64__)
	assert_int_equal(place[1].offset, 0x1023);
#endif
	assert_int_equal(place[1].cookie, ZMEM_HEAP_FREE);
	assert_int_equal(place[2].cookie, ZMEM_HEAP_PRODUCT | ZMEM_HEAP_CALLS);
	assert_int_equal(allocator_not_probed(found, ARRAY_SIZE(found), not_probed), 0);
	/* An allocator with its own operator new, which throws: the return is not probed. */
	found[1].i = number_of("mi_malloc");
	found[1].vaddr = 0x5010;
	assert_int_equal(allocator_places(&facts, found, ARRAY_SIZE(found), place), 3);
	assert_int_equal(place[2].cookie, ZMEM_HEAP_PRODUCT);
	assert_int_equal(allocator_not_probed(found, ARRAY_SIZE(found), not_probed), 1);
	assert_string_equal(not_probed[0], "operator new(unsigned long)");
	assert_true(allocator_is_wrapper("libheaptrack_preload.so"));
	assert_false(allocator_is_wrapper("libc.so.6"));
}
