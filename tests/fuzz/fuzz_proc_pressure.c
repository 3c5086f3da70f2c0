// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* /proc/pressure/memory: parsed values, printed and parsed again, are the same. */
#include <errno.h>
#include <inttypes.h>

#include "fuzz.h"
#include "model/system.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct memory_pressure untouched = {false, 7, 7, 7, 7};
	struct memory_pressure p = untouched, again = {};
	char text[256];
	size_t len;

	if (memory_pressure_parse((const char *)data, size, &p) < 0) {
		FUZZ_CHECK(!p.known && p.some_avg10 == 7 && p.full_avg10 == 7 &&
			   p.some_total_us == 7 && p.full_total_us == 7);
		return 0;
	}
	FUZZ_CHECK(p.known && size && data[size - 1] == '\n');
	len = (size_t)sprintf(text,
			      "some avg10=%u.%02u avg60=0.00 avg300=0.00 total=%" PRIu64 "\n"
			      "full avg10=%u.%02u avg60=0.00 avg300=0.00 total=%" PRIu64 "\n",
			      p.some_avg10 / 100, p.some_avg10 % 100, p.some_total_us,
			      p.full_avg10 / 100, p.full_avg10 % 100, p.full_total_us);
	FUZZ_CHECK(memory_pressure_parse(text, len, &again) == 0);
	FUZZ_CHECK(p.some_avg10 == again.some_avg10 && p.full_avg10 == again.full_avg10 &&
		   p.some_total_us == again.some_total_us &&
		   p.full_total_us == again.full_total_us);
	/* A cut text is refused. */
	FUZZ_CHECK(memory_pressure_parse(text, len - 1, &again) == -EINVAL);
	return 0;
}
