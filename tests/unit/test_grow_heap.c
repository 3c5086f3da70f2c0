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
	struct function_names names = allocator_names();
	uint32_t i = 0;

	while (strcmp(names.name[i], name) != 0)
		i++;
	return i;
}

/* A function without instructions that are known. */
static struct found_function found_at(const char *name, uint64_t vaddr)
{
	return (struct found_function){
		.i = number_of(name), .vaddr = vaddr, .size = 16, .spot = {.word = {14, 13, 12}}};
}

/* The part of a cookie for words of pt_regs. */
static uint64_t words(uint64_t block, uint64_t bytes, uint64_t count)
{
	return block << 8 | bytes << 12 | count << 16;
}

#define STEPPED ZMEM_HEAP_STEPPED

static const struct elf_facts facts = {.segments = 1, .segment = {{0x1000, 0x1000, 0x5000}}};

TEST(places)
{
	struct found_function found[] = {
		found_at("malloc", 0x5010),    found_at("cfree", 0x5020),
		found_at("free", 0x5020),      found_at("calloc", 0x5030),
		found_at("_Znwm", 0x5040),     found_at("realloc", 0x9000),
		found_at("je_malloc", 0x5050),
	};
	const char *not_probed[ALLOCATOR_THROWS_MAX];
	struct probe_place place[PROBES_MAX];

	/* One name of each function, none of operator new, and none outside of the code. */
	assert_int_equal(allocator_places(&facts, found, ARRAY_SIZE(found), place), 3);
	assert_int_equal(place[0].offset, 0x1010);
	assert_int_equal(place[0].cookie, ZMEM_HEAP_SIZE | STEPPED | words(15, 14, 15));
	assert_int_equal(place[1].offset, 0x1020);
	assert_int_equal(place[1].cookie, ZMEM_HEAP_FREE | STEPPED | words(14, 15, 15));
	assert_int_equal(place[2].cookie,
			 ZMEM_HEAP_PRODUCT | ZMEM_HEAP_CALLS | STEPPED | words(15, 13, 14));
	assert_int_equal(allocator_not_probed(found, ARRAY_SIZE(found), not_probed), 0);
	/* An allocator with its own operator new, which throws: the return is not probed. */
	found[1] = found_at("tc_malloc", 0x5010);
	found[2] = found_at("tc_free", 0x5020);
	found[5] = found_at("tc_new", 0x5040);
	assert_int_equal(allocator_places(&facts, found, ARRAY_SIZE(found), place), 3);
	assert_int_equal(place[1].cookie, ZMEM_HEAP_PRODUCT | STEPPED | words(15, 13, 14));
	assert_int_equal(place[2].offset, 0x1020);
	assert_int_equal(allocator_not_probed(found, ARRAY_SIZE(found), not_probed), 1);
	assert_string_equal(not_probed[0], "operator new(unsigned long)");
	/* The first function of the C library may call the second one. */
	found[1] = found_at("__libc_malloc", 0x5060);
	found[2] = found_at("__libc_free", 0x5070);
	assert_int_equal(allocator_places(&facts, found, ARRAY_SIZE(found), place), 4);
	assert_int_equal(place[0].cookie & 31, ZMEM_HEAP_SIZE | ZMEM_HEAP_CALLS);
	assert_int_equal(place[2].offset, 0x1060);
	assert_int_equal(place[2].cookie & 31, ZMEM_HEAP_SIZE | ZMEM_HEAP_CALLS);
	assert_int_equal(place[3].cookie & 31, ZMEM_HEAP_FREE);
	assert_true(allocator_is_wrapper("libheaptrack_preload.so"));
	assert_false(allocator_is_wrapper("libc.so.6"));
}

/* Behind the beginning, if all arguments are there and the return can be probed. */
TEST(spots)
{
	struct found_function found[] = {found_at("reallocarray", 0x5010),
					 found_at("free", 0x5020)};
	struct probe_place place[PROBES_MAX];

	found[0].spot = (struct probe_spot){7, {3, 2, 1}, SPOT_EMULATED};
	found[1].spot = (struct probe_spot){9, {5, 15, 15}, SPOT_EMULATED | SPOT_MOVED};
	assert_int_equal(allocator_places(&facts, found, 2, place), 2);
	assert_int_equal(place[0].offset, 0x1029);
	assert_int_equal(place[0].cookie, ZMEM_HEAP_FREE | words(5, 15, 15));
	assert_int_equal(place[1].offset, 0x1017);
	assert_int_equal(place[1].cookie, ZMEM_HEAP_REALLOCS | ZMEM_HEAP_CALLS | words(3, 1, 2));
	found[0].spot.flags |= SPOT_MOVED;
	found[1].spot.word[0] = SPOT_LOST;
	assert_int_equal(allocator_places(&facts, found, 2, place), 2);
	assert_int_equal(place[0].offset, 0x1020);
	assert_int_equal(place[1].offset, 0x1010);
	assert_true(place[0].cookie & place[1].cookie & STEPPED);
	found[0].spot = (struct probe_spot){7, {3, SPOT_LOST, 1}, SPOT_EMULATED};
	assert_int_equal(allocator_places(&facts, found, 1, place), 1);
	assert_int_equal(place[0].offset, 0x1010);
}

static void expect_allocator(const char *const *name, size_t count, const char *allocator,
			     size_t places)
{
	struct probe_place place[PROBES_MAX];
	struct found_function found[8];
	struct allocator got;

	for (size_t i = 0; i < count; i++)
		found[i] = found_at(name[i], 0x5010 + i * 16);
	allocator_recognise(found, count, &got);
	assert_string_equal(got.name, allocator);
	assert_string_equal(got.version, "");
	assert_int_equal(allocator_has_text(&got), strncmp(allocator, "jemalloc", 8) == 0);
	assert_int_equal(allocator_places(&facts, found, count, place), places);
}

#define ALLOCATOR(allocator, places, ...)                                                          \
	expect_allocator((const char *const[]){__VA_ARGS__},                                       \
			 sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), allocator,   \
			 places)

TEST(recognised)
{
	struct found_function mimalloc[] = {found_at("mi_malloc", 0x5010),
					    found_at("mi_free", 0x5020),
					    found_at("mi_version", 0x5030)};
	static const struct {
		const char *code, *version;
	} versions[] = {
		{"\xb8\xd1\0\0\0\xc3", "2.0.9"},
		{"\xf3\x0f\x1e\xfa\xb8\xd4\0\0\0\xc3", "2.1.2"},
		{"\xb8\x99\x75\0\0\xc3", "3.1.5"},
		{"\x55\xb8\xd1\0\0\0\xc3", ""},
	};
	struct allocator got;

	ALLOCATOR("an allocator", 2, "malloc", "free");
	ALLOCATOR("glibc", 4, "malloc", "free", "__libc_calloc", "__libc_free");
	ALLOCATOR("musl", 2, "malloc", "free", "__dls3");
	ALLOCATOR("musl", 2, "malloc", "free", "__libc_malloc_impl");
	ALLOCATOR("jemalloc", 4, "malloc", "free", "mallocx", "dallocx");
	ALLOCATOR("jemalloc", 2, "_rjem_mallocx", "_rjem_sdallocx");
	ALLOCATOR("jemalloc and glibc", 5, "je_malloc", "je_free", "malloc", "free",
		  "__libc_calloc");
	ALLOCATOR("tcmalloc", 2, "tc_malloc", "tc_free");
	ALLOCATOR("CPython", 2, "PyObject_Malloc", "PyObject_Free");
	/* Other functions of such a name: what allocates only, or frees only, is no allocator. */
	ALLOCATOR("an allocator", 0, "mi_free", "mi_free_size");
	ALLOCATOR("an allocator", 0, "tc_malloc", "tc_calloc", "_ZdlPv");
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		memcpy(mimalloc[2].code, versions[i].code, i == 1 ? 10 : 7);
		allocator_recognise(mimalloc, ARRAY_SIZE(mimalloc), &got);
		assert_string_equal(got.name, "mimalloc");
		assert_string_equal(got.version, versions[i].version);
	}
}
