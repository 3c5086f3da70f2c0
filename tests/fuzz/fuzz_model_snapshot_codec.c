// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The snapshot codec with random bytes, for whole snapshots and for differences to another: a
 * decoded snapshot, encoded and decoded again, is the same.
 */
#include <errno.h>

#include "fuzz.h"
#include "model/snapshot_codec.h"
#include "../support/random_snapshot.h"

static void check_round(const struct snapshot *s, const struct snapshot *reference)
{
	struct strbuf out = {};
	struct snapshot again = {};

	FUZZ_CHECK(snapshot_encode(s, reference, &out) == 0);
	FUZZ_CHECK(snapshot_decode(out.data, out.len, reference, NULL, &again) == 0);
	FUZZ_CHECK(same_snapshot(s, &again));
	snapshot_done(&again);
	strbuf_done(&out);
}

/* Fixed, because the corpus has differences to it. */
static const struct snapshot *reference_snapshot(void)
{
	static struct snapshot s;
	struct random r = {1};

	if (!s.count)
		random_snapshot(&r, &s, 5);
	return &s;
}

#define MEMORY_MOST (16u << 20)

static void check(const uint8_t *data, size_t size, const struct snapshot *reference)
{
	struct codec_memory memory = {.most = MEMORY_MOST};
	struct snapshot s = {};
	int r = snapshot_decode(data, size, reference, &memory, &s);

	FUZZ_CHECK(memory.used <= memory.most);
	if (r < 0) {
		FUZZ_CHECK(r == -EBADMSG || r == -ENOTSUP);
		FUZZ_CHECK(s.count == 0 && s.memcg_count == 0);
	} else {
		FUZZ_CHECK(s.count <= size + (reference ? reference->count : 0));
		check_round(&s, NULL);
		check_round(&s, reference_snapshot());
	}
	snapshot_done(&s);
}

const unsigned fuzz_changes = 300;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check(data, size, NULL);
	check(data, size, reference_snapshot());
	return 0;
}
