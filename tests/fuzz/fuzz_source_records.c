// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The byte stream of an iterator: the input is the size of a read, then the stream. Reading in
 * parts gives the same as reading at once, bad records are refused, and visits of one process are
 * summed.
 */
#include <errno.h>

#include "base/cleanup.h"
#include "fuzz.h"
#include "../support/decode_records.h"

static const struct decode_limits limits = {.page_size = 4096, .ram_bytes = 1ull << 40};

/* As the reader drains an iterator, `step` bytes a read. Returns 0 or -EBADMSG. */
static long decode_parts(const uint8_t *data, size_t size, size_t step, struct snapshot *s)
{
	size_t used = 0, have = 0;

	while (have < size) {
		long n;

		have = size - have < step ? size : have + step;
		while ((n = record_size(data + used, have - used)) > 0) {
			struct zmem_pss_record record;

			record_copy(data + used, &record);
			FUZZ_CHECK(record_decode_one(&record, &limits, s) == 0);
			used += (size_t)n;
		}
		if (n < 0)
			return n;
	}
	return (long)used;
}

static bool same_process(const struct process *a, const struct process *b)
{
	struct process x = *a, y = *b;

	FUZZ_CHECK(!strcmp(a->name, b->name));
	x.name = y.name = NULL;
	return !memcmp(&x, &y, sizeof(x));
}

/* A counter with what threads hold back, as snapshot_finish() adds it. */
static uint64_t counted(const struct process *p, enum counter c, enum zmem_rss index)
{
	int64_t bytes = (int64_t)p->value[c] + (int64_t)p->rss_delta[index] * limits.page_size;

	return bytes > 0 ? (uint64_t)bytes : 0;
}

static void check_process(const struct process *p)
{
	uint64_t rss;

	FUZZ_CHECK(memchr(p->comm, '\0', sizeof(p->comm)) && p->name);
	FUZZ_CHECK(p->kind == PROCESS_USER || !p->have);
	FUZZ_CHECK((p->pss_status == PSS_OK) == process_has(p, COUNTER_PSS));
	FUZZ_CHECK((p->pss_source == PSS_FROM_KERNEL) == process_has(p, COUNTER_PSS));
	for (int c = 0; c < COUNTERS_OF_PROCESS; c++) {
		FUZZ_CHECK(process_has(p, c) || !p->value[c]);
		/* No absurd value is left, so sums stay sane, too. */
		FUZZ_CHECK(p->value[c] < 1ull << 62);
	}
	if (!process_has(p, COUNTER_RSS_ANON))
		return;
	for (int i = 0; i < 3; i++)
		FUZZ_CHECK(p->value[COUNTER_RSS_ANON + i] <= limits.ram_bytes);
	rss = counted(p, COUNTER_RSS_ANON, ZMEM_RSS_ANON) +
	      counted(p, COUNTER_RSS_FILE, ZMEM_RSS_FILE) +
	      counted(p, COUNTER_RSS_SHMEM, ZMEM_RSS_SHMEM);
	/* Besides the tolerance for large processes, and a kB for rounding. */
	if (process_has(p, COUNTER_PSS))
		FUZZ_CHECK(p->value[COUNTER_PSS] <= rss + rss / 256 + 1024 &&
			   p->value[COUNTER_USS] <= rss + rss / 256 &&
			   p->value[COUNTER_SWAP_PSS] <= counted(p, COUNTER_SWAP, ZMEM_RSS_SWAP));
}

/* Whole PSS records of the stream, as visits to one process. */
static void check_visits(const uint8_t *data, size_t size)
{
	struct zmem_pss_record sum, visit;
	bool first = true;
	long n;

	for (size_t at = 0; (n = record_size(data + at, size - at)) > 0; at += (size_t)n) {
		cleanup(snapshot_done) struct snapshot s = {};
		uint32_t flags;

		if (n != sizeof(visit))
			continue;
		record_copy(data + at, first ? &sum : &visit);
		if (!first) {
			flags = sum.pages.flags | visit.pages.flags;
			pages_add(&sum, &visit);
			FUZZ_CHECK((sum.pages.flags & flags) == flags);
			FUZZ_CHECK(sum.pages.cursor == visit.pages.cursor);
		}
		first = false;
		/* A consistent walk is close, unless the process is small. */
		if (pages_consistent(&sum) || pages_within_tolerance(&sum))
			FUZZ_CHECK(!sum.pages.cursor && !(sum.pages.flags & ZMEM_WALK_UNKNOWN));
		FUZZ_CHECK(record_decode_one(&sum, &limits, &s) == 0);
		check_process(&s.process[0]);
	}
}

const unsigned fuzz_changes = 1000;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup(snapshot_done) struct snapshot whole = {}, parts = {};
	size_t step = size ? (size_t)data[0] + 1 : 1;
	long used;

	if (size) {
		data++;
		size--;
	}
	used = decode_records(data, size, &limits, &whole);
	FUZZ_CHECK(used == -EBADMSG || (used >= 0 && (size_t)used <= size));
	FUZZ_CHECK(decode_parts(data, size, step, &parts) == used);
	FUZZ_CHECK(whole.count == parts.count);
	for (size_t i = 0; i < whole.count; i++) {
		check_process(&whole.process[i]);
		FUZZ_CHECK(same_process(&whole.process[i], &parts.process[i]));
	}
	check_visits(data, size);
	return 0;
}
