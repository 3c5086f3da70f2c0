// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Page table walks: pages_consistent(), pages_add(), and the decoded values. */
#include "unit.h"

#include "decode_records.h"

#define PAGE	 4096ull
#define PART(n)	 ((PAGE << ZMEM_PSS_SHIFT) / (n))
#define WHOLE(n) ((n)*PART(1))

static const struct decode_limits limits = {.page_size = PAGE, .ram_bytes = 1ull << 40};

/*
 * 100 pages of files, 60 of them shared by 3; 50 anonymous, of which 10 were looked at, 4 of those
 * shared by 2; 8 of shared memory, shared by 4; 5 swapped out.
 */
static struct zmem_pss_record sample(void)
{
	struct zmem_pss_record r = {
		.record = {.size = sizeof(r),
			   .version = ZMEM_RECORD_VERSION,
			   .kind = ZMEM_PROCESS,
			   .valid = ZMEM_VALID_RSS | ZMEM_VALID_SHARING | ZMEM_VALID_PAGES,
			   .pid = 42,
			   .start_boottime_ns = 1000,
			   .mm_id = 99,
			   .flags = ZMEM_FORKED,
			   .write_protect_seq = 2},
		.pages = {.unique = 46, .huge = 512},
	};
	const long long rss[] = {[ZMEM_RSS_FILE] = 100,
				 [ZMEM_RSS_ANON] = 50,
				 [ZMEM_RSS_SWAP] = 5,
				 [ZMEM_RSS_SHMEM] = 8};

	for (int i = 0; i < ZMEM_RSS_COUNT; i++)
		r.record.rss[i] = r.pages.rss[i] = rss[i];
	r.pages.seen[ZMEM_RSS_FILE] = 100;
	r.pages.seen[ZMEM_RSS_ANON] = 10;
	r.pages.seen[ZMEM_RSS_SHMEM] = 8;
	r.pages.pss[ZMEM_RSS_FILE] = WHOLE(40) + 60 * PART(3);
	r.pages.pss[ZMEM_RSS_ANON] = WHOLE(6) + 4 * PART(2);
	r.pages.pss[ZMEM_RSS_SHMEM] = 8 * PART(4);
	return r;
}

static struct process decoded(const struct zmem_pss_record *r)
{
	cleanup(snapshot_done) struct snapshot s = {};

	assert_int_equal(decode_records(r, sizeof(*r), &limits, &s), sizeof(*r));
	return s.process[0];
}

TEST(counters)
{
	struct zmem_pss_record r = sample();
	struct process p = decoded(&r);

	assert_int_equal(p.pss_status, PSS_OK);
	assert_int_equal(p.pss_source, PSS_FROM_KERNEL);
	/* 40 pages not inspected, 6 inspected and private, 4 shared by 2. */
	assert_int_equal(p.value[COUNTER_PSS_ANON], 48 * PAGE);
	assert_int_equal(p.value[COUNTER_PSS_FILE], (WHOLE(40) + 60 * PART(3)) >> ZMEM_PSS_SHIFT);
	assert_int_equal(p.value[COUNTER_PSS_SHMEM], 2 * PAGE);
	assert_int_equal(p.value[COUNTER_PSS], (WHOLE(90) + 60 * PART(3)) >> ZMEM_PSS_SHIFT);
	assert_int_equal(p.value[COUNTER_USS], 86 * PAGE);
	assert_int_equal(p.value[COUNTER_THP], 512 * PAGE);
	/* No swap entry was seen where pages may be shared: all are private. */
	assert_int_equal(p.value[COUNTER_SWAP_PSS], 5 * PAGE);
}

TEST(shared_swap_is_unknown)
{
	struct zmem_pss_record r = sample();
	struct process p;

	r.pages.seen[ZMEM_RSS_SWAP] = 1;
	p = decoded(&r);
	assert_int_equal(p.pss_status, PSS_OK);
	assert_true(process_has(&p, COUNTER_PSS));
	assert_false(process_has(&p, COUNTER_SWAP_PSS));
	assert_int_equal(process_status(&p, VALUE_SWAP_PSS), PSS_UNSUPPORTED);
}

/* PSS is unknown and all other values stay. */
static void assert_unknown(const struct zmem_pss_record *r)
{
	struct process p = decoded(r);

	assert_int_equal(p.pss_status, PSS_SKIPPED);
	assert_int_equal(p.pss_source, PSS_FROM_NOTHING);
	assert_false(process_has(&p, COUNTER_PSS));
	assert_false(process_has(&p, COUNTER_USS));
	assert_false(process_has(&p, COUNTER_SWAP_PSS));
	assert_true(process_has(&p, COUNTER_RSS_ANON));
}

static void assert_not_consistent(const struct zmem_pss_record *r)
{
	assert_false(pages_consistent(r));
	assert_unknown(r);
}

/* Of the sample after this change, one sum does not equal its counter, or the walk is not whole. */
#define NOT_CONSISTENT(change)                                                                     \
	do {                                                                                       \
		struct zmem_pss_record r = sample();                                               \
		change;                                                                            \
		assert_not_consistent(&r);                                                         \
	} while (0)

TEST(not_consistent)
{
	for (int i = 0; i < ZMEM_RSS_COUNT; i++) {
		NOT_CONSISTENT(r.pages.rss[i]++); /* moved meanwhile */
		if (i != ZMEM_RSS_SWAP)		  /* more than exist */
			NOT_CONSISTENT(r.pages.seen[i] += i == ZMEM_RSS_ANON ? 41 : 1);
	}
	/* An unknown flag is refused, too. */
	for (int bit = 0; bit < 32; bit++) {
		if (1u << bit != ZMEM_WALK_EXCLUSIVE)
			NOT_CONSISTENT(r.pages.flags |= 1u << bit);
	}
	NOT_CONSISTENT(r.pages.cursor = 0x1000);
	NOT_CONSISTENT(r.record.valid &= ~ZMEM_VALID_SHARING);
	NOT_CONSISTENT(r.pages.seen[ZMEM_RSS_FILE]--);
	NOT_CONSISTENT(r.pages.seen[ZMEM_RSS_ANON] = ~0ull); /* signed, below the counter */
}

/* A share larger than its pages, and overflow of 64 bits, although the walk adds up. */
TEST(absurd)
{
	static const uint64_t absurd[] = {WHOLE(101), 1ull << 53, 1ull << 63, ~0ull};
	static const enum zmem_rss kind[] = {ZMEM_RSS_FILE, ZMEM_RSS_ANON, ZMEM_RSS_SHMEM};
	struct zmem_pss_record r;
	struct process p;

	for (size_t i = 0; i < ARRAY_SIZE(absurd) * ARRAY_SIZE(kind); i++) {
		r = sample();
		r.pages.pss[kind[i % ARRAY_SIZE(kind)]] = absurd[i / ARRAY_SIZE(kind)];
		assert_true(decoded(&r).pages_unknown);
		assert_unknown(&r);
	}
	r = sample();
	r.pages.huge = ~0ull / PAGE;
	p = decoded(&r);
	assert_true(process_has(&p, COUNTER_PSS));
	assert_false(process_has(&p, COUNTER_THP));
	/* The largest values, and one more. */
	r = sample();
	r.pages.pss[ZMEM_RSS_FILE] = WHOLE(100) + 1;
	assert_unknown(&r);
	r.pages.pss[ZMEM_RSS_FILE]--;
	assert_int_equal(decoded(&r).pss_source, PSS_FROM_KERNEL);
	r.pages.unique = 119;
	assert_unknown(&r);
	r.pages.unique--;
	assert_int_equal(decoded(&r).pss_source, PSS_FROM_KERNEL);
	r = sample();
	r.record.rss[ZMEM_RSS_FILE] = r.pages.rss[ZMEM_RSS_FILE] = 1ll << 62;
	r.record.rss[ZMEM_RSS_SHMEM] = r.pages.rss[ZMEM_RSS_SHMEM] = 1ll << 62;
	r.pages.seen[ZMEM_RSS_FILE] = r.pages.seen[ZMEM_RSS_SHMEM] = 1ull << 62;
	assert_false(pages_consistent(&r) || pages_within_tolerance(&r));
	assert_int_equal(decoded(&r).pss_source, PSS_FROM_NOTHING);
}

/* Unshareable anonymous memory may change while pages of files are inspected. */
TEST(exclusive_may_move)
{
	struct zmem_pss_record r = sample();

	r.pages.flags = ZMEM_WALK_EXCLUSIVE;
	r.pages.rss[ZMEM_RSS_ANON] += 1000;
	r.pages.rss[ZMEM_RSS_SWAP] -= 5;
	assert_true(pages_consistent(&r));
	assert_int_equal(decoded(&r).value[COUNTER_PSS_ANON], 48 * PAGE);
	r.pages.rss[ZMEM_RSS_FILE]++;
	assert_false(pages_consistent(&r));
}

/* A large busy process: accepted only when the reader gave up, and only if close. */
TEST(close)
{
	const uint64_t large = 1 << 20;
	struct zmem_pss_record r = sample();
	struct process p;

	r.record.rss[ZMEM_RSS_ANON] = r.pages.rss[ZMEM_RSS_ANON] = large;
	r.pages.seen[ZMEM_RSS_ANON] = large + 16;
	r.pages.pss[ZMEM_RSS_ANON] = WHOLE(large + 16);
	r.pages.rss[ZMEM_RSS_ANON] += 1000;
	assert_not_consistent(&r);
	assert_true(pages_within_tolerance(&r));
	r.pages.flags |= ZMEM_WALK_DRIFTED | ZMEM_WALK_ACCEPTED;
	assert_int_equal(decoded(&r).pss_source, PSS_FROM_KERNEL);
	assert_int_equal(decoded(&r).value[COUNTER_PSS_ANON], (large + 16) * PAGE);
	r.pages.seen[ZMEM_RSS_ANON] += large / 8;
	assert_false(pages_within_tolerance(&r));
	r.pages.seen[ZMEM_RSS_ANON] -= large / 8;
	r.pages.rss[ZMEM_RSS_ANON] += 1000;
	assert_not_consistent(&r);
	/* For a small process smaps_rollup is fast. */
	NOT_CONSISTENT(r.pages.flags |= ZMEM_WALK_ACCEPTED; r.pages.rss[ZMEM_RSS_ANON]++);
	/* An inconsistent walk is never close. */
	NOT_CONSISTENT(r.pages.flags |= ZMEM_WALK_ACCEPTED | ZMEM_WALK_UNKNOWN;
		       r.record.rss[ZMEM_RSS_ANON] = r.pages.rss[ZMEM_RSS_ANON] = large);
	/* A changing counter may be just below 0: then no page was left out. */
	r = sample();
	r.record.rss[ZMEM_RSS_ANON] = -3;
	r.pages.rss[ZMEM_RSS_ANON] = 2;
	r.pages.seen[ZMEM_RSS_ANON] = r.pages.pss[ZMEM_RSS_ANON] = 0;
	r.record.rss[ZMEM_RSS_FILE] = r.pages.rss[ZMEM_RSS_FILE] = large;
	r.pages.seen[ZMEM_RSS_FILE] = large;
	r.pages.flags |= ZMEM_WALK_DRIFTED | ZMEM_WALK_ACCEPTED;
	p = decoded(&r);
	assert_int_equal(p.pss_source, PSS_FROM_KERNEL);
	assert_int_equal(p.value[COUNTER_PSS_ANON], 0);
	assert_int_equal(p.value[COUNTER_USS], 46 * PAGE);
}

TEST(odd_is_told)
{
	struct zmem_pss_record r = sample();

	assert_false(decoded(&r).pages_unknown);
	r.pages.flags = ZMEM_WALK_UNKNOWN;
	assert_true(decoded(&r).pages_unknown);
}

/*
 * Until 6.1 threads hold back part of the counters: before the walk it is apart, afterwards it is
 * part of the counters read again.
 */
TEST(held_back)
{
	static const enum counter shares[] = {COUNTER_PSS,	 COUNTER_PSS_ANON, COUNTER_PSS_FILE,
					      COUNTER_PSS_SHMEM, COUNTER_SWAP_PSS, COUNTER_USS};
	struct zmem_pss_record whole = sample(), r = sample(), later = sample();
	struct process want = decoded(&whole), p;

	r.record.rss[ZMEM_RSS_FILE] -= 64;
	r.record.rss_delta[ZMEM_RSS_FILE] = 64;
	r.record.rss[ZMEM_RSS_ANON] = -3;
	r.record.rss_delta[ZMEM_RSS_ANON] = 53;
	r.record.rss[ZMEM_RSS_SWAP] += 2;
	r.record.rss_delta[ZMEM_RSS_SWAP] = -2;
	assert_true(pages_consistent(&r));
	p = decoded(&r);
	assert_int_equal(p.pss_source, PSS_FROM_KERNEL);
	for (size_t i = 0; i < ARRAY_SIZE(shares); i++)
		assert_int_equal(p.value[shares[i]], want.value[shares[i]]);
	/* A thread gave its part to the mm between two visits: nothing has moved. */
	later.pages.cursor = 0;
	memset(later.pages.seen, 0, sizeof(later.pages.seen));
	memset(later.pages.pss, 0, sizeof(later.pages.pss));
	pages_add(&r, &later);
	assert_true(pages_consistent(&r));
	/* One page that no CPU holds back. */
	r.record.rss_delta[ZMEM_RSS_FILE]--;
	assert_false(pages_consistent(&r));
	assert_int_equal(decoded(&r).pss_source, PSS_FROM_NOTHING);
}

static enum pss_source shared(const struct zmem_pss_record *r, const struct held_back *others,
			      struct process *p)
{
	record_decode_shared(r, others, &limits, p);
	return p->pss_source;
}

/* Threads of another process with the mm hold back a part as well. */
TEST(held_back_elsewhere)
{
	struct zmem_pss_record whole = sample(), r = sample();
	struct held_back others = {.pages = {[ZMEM_RSS_FILE] = 5, [ZMEM_RSS_ANON] = -2},
				   .users = 3};
	const struct held_back none = {.users = 3};
	struct process want = decoded(&whole), p;

	/* Nothing confirms such a walk, even if it adds up. */
	whole.record.flags |= 1U << ZMEM_OTHER_USERS_SHIFT;
	assert_false(pages_consistent(&whole));
	assert_int_equal(decoded(&whole).pss_source, PSS_FROM_NOTHING);
	r.record.flags |= 3U << ZMEM_OTHER_USERS_SHIFT;
	r.record.rss[ZMEM_RSS_FILE] -= 5;
	r.pages.rss[ZMEM_RSS_FILE] -= 5;
	r.record.rss[ZMEM_RSS_ANON] += 2;
	r.pages.rss[ZMEM_RSS_ANON] += 2;
	p = decoded(&r);
	assert_int_equal(p.pss_source, PSS_FROM_NOTHING);
	assert_int_equal(shared(&r, &none, &p), PSS_FROM_NOTHING);
	/* Of another mm. */
	p.mm_key++;
	assert_int_equal(shared(&r, &others, &p), PSS_FROM_NOTHING);
	p.mm_key--;
	/* One user that is not known, in another pid namespace. */
	others.users--;
	assert_int_equal(shared(&r, &others, &p), PSS_FROM_NOTHING);
	others.users++;
	assert_int_equal(shared(&r, &others, &p), PSS_FROM_KERNEL);
	assert_int_equal(p.value[COUNTER_PSS], want.value[COUNTER_PSS]);
	assert_int_equal(p.value[COUNTER_USS], want.value[COUNTER_USS]);
}

/* A walk in two visits equals the walk in one. */
TEST(add)
{
	struct zmem_pss_record whole = sample(), sum = sample(), part = sample();
	struct process p, want = decoded(&whole);

	sum.pages.cursor = 0x7000;
	sum.pages.seen[ZMEM_RSS_FILE] = 40;
	sum.pages.pss[ZMEM_RSS_FILE] = WHOLE(40);
	sum.pages.unique = 40;
	sum.pages.huge = 0;
	part.pages.seen[ZMEM_RSS_FILE] = 60;
	part.pages.pss[ZMEM_RSS_FILE] = 60 * PART(3);
	part.pages.unique = 6;
	part.pages.seen[ZMEM_RSS_ANON] = part.pages.pss[ZMEM_RSS_ANON] = 0;
	part.pages.seen[ZMEM_RSS_SHMEM] = part.pages.pss[ZMEM_RSS_SHMEM] = 0;
	assert_false(pages_consistent(&sum));
	pages_add(&sum, &part);
	assert_true(pages_consistent(&sum));
	p = decoded(&sum);
	assert_memory_equal(p.value, want.value, sizeof(p.value));
}

/* A visit of another process, mm or time invalidates the sum. */
TEST(add_of_another)
{
	for (int i = 0; i < 5; i++) {
		struct zmem_pss_record sum = sample(), part = sample();

		memset(part.pages.seen, 0, sizeof(part.pages.seen));
		part.record.mm_id += i == 0;
		part.record.start_boottime_ns += i == 1;
		part.record.write_protect_seq += i == 2;
		part.pages.flags ^= i == 3 ? ZMEM_WALK_EXCLUSIVE : 0;
		part.record.rss[ZMEM_RSS_ANON] += i == 4;
		pages_add(&sum, &part);
		assert_false(pages_consistent(&sum));
	}
}
