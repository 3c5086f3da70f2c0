// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes two digits at a time: this halves the divisions, and most output is numbers. */
#include "base/decimal.h"

#include <string.h>

static const char pair[] = "00010203040506070809"
			   "10111213141516171819"
			   "20212223242526272829"
			   "30313233343536373839"
			   "40414243444546474849"
			   "50515253545556575859"
			   "60616263646566676869"
			   "70717273747576777879"
			   "80818283848586878889"
			   "90919293949596979899";

static size_t digits_of(uint64_t v)
{
	size_t n = 1;

	for (; v >= 10000; v /= 10000)
		n += 4;
	return n + (v >= 10) + (v >= 100) + (v >= 1000);
}

size_t decimal_put(char *to, uint64_t v)
{
	size_t len = digits_of(v);
	char *p = to + len;

	for (; v >= 100; v /= 100)
		memcpy(p -= 2, pair + v % 100 * 2, 2);
	if (v >= 10)
		memcpy(p - 2, pair + v * 2, 2);
	else
		p[-1] = (char)('0' + v);
	return len;
}
