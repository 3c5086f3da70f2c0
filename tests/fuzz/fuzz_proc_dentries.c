// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* /proc/sys/fs/dentry-state: the fifth number of the text, of entries of 192 bytes. */
#include <inttypes.h>

#include "fuzz.h"
#include "model/system.h"

#define DENTRY 192

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dentries d = {false, 7}, again = {};
	char text[64];
	int len, r = dentries_parse((const char *)data, size, &d);

	if (r < 0) {
		FUZZ_CHECK(!d.known && d.negative == 7);
		return 0;
	}
	/* The value is in the text, possibly with leading zeros. */
	len = sprintf(text, "%" PRIu64, d.negative / DENTRY);
	FUZZ_CHECK(d.known && d.negative % DENTRY == 0 && memmem(data, size, text, (size_t)len));
	len = sprintf(text, "0\t0\t45\t0\t%" PRIu64 "\t0\n", d.negative / DENTRY);
	FUZZ_CHECK(dentries_parse(text, (size_t)len, &again) == 0);
	FUZZ_CHECK(again.known && again.negative == d.negative);
	return 0;
}
