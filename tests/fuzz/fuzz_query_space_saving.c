// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Space-Saving against exact sums: the input is a byte for the number of slots, then keys and
 * weights. */
#include "fuzz.h"
#include "../support/space_saving_has.h"

const unsigned fuzz_changes = 20000;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	double exact[256] = {}, sum = 0, slack = 0;
	struct space_saving h;
	uint8_t slots;

	fuzz_take(&data, &size, &slots, 1);
	FUZZ_CHECK(space_saving_init(&h, 1 + slots % 32) == 0);
	while (size) {
		uint8_t key, weight;

		fuzz_take(&data, &size, &key, 1);
		fuzz_take(&data, &size, &weight, 1);
		if (key == 255) {
			double keep = weight / 255.0;

			space_saving_fade(&h, keep);
			for (int i = 0; i < 256; i++)
				exact[i] *= keep;
			sum *= keep;
			slack = slack * keep + 1;
			continue;
		}
		space_saving_add(&h, key, weight);
		exact[key] += weight;
		sum += weight;
	}
	FUZZ_CHECK(h.count <= h.size);
	FUZZ_CHECK(space_saving_error(&h) <= sum / (double)h.size + slack + 1e-6);
	for (int i = 0; i < 256; i++) {
		if (space_saving_has(&h, (uint64_t)i))
			FUZZ_CHECK(space_saving_least(&h, (uint64_t)i) <= exact[i] + slack + 1e-6);
		else
			FUZZ_CHECK(exact[i] <= space_saving_error(&h) + slack + 1e-6);
	}
	for (size_t i = 0; i < h.count; i++)
		FUZZ_CHECK(exact[h.slot[i].key] <= h.slot[i].weight + slack + 1e-6);
	space_saving_done(&h);
	return 0;
}
