/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parsed values against their text, and written back as a file of lines "Key:   number kB". */
#ifndef ZMEM_TESTS_PRINT_COUNTERS_H
#define ZMEM_TESTS_PRINT_COUNTERS_H

#include <inttypes.h>

#include "fuzz.h"

/* Whether a line "key:" says so many kB; without code of src/proc. */
static inline bool line_says(const uint8_t *data, size_t size, const char *key, uint64_t kib)
{
	size_t key_len = strlen(key);
	const char *end = (const char *)data + size, *stop;
	bool says = false;

	for (const char *line = (const char *)data; line < end && !says; line = stop + 1) {
		stop = memchr(line, '\n', (size_t)(end - line));
		stop = stop ? stop : end;
		if ((size_t)(stop - line) > key_len && line[key_len] == ':' &&
		    !memcmp(line, key, key_len)) {
			char *value =
				strndup(line + key_len + 1, (size_t)(stop - line) - key_len - 1);

			says = value[strspn(value, " \t")] != '-' &&
			       strtoull(value, NULL, 10) == kib;
			free(value);
		}
	}
	return says;
}

/* A value that `have` names is in the text, the others are 0. */
static inline void check_counters(const uint8_t *data, size_t size, const char *const *names,
				  unsigned count, uint32_t have, const uint64_t *value)
{
	for (unsigned i = 0; i < count; i++)
		FUZZ_CHECK(have >> i & 1 ? line_says(data, size, names[i], value[i] / 1024)
					 : value[i] == 0);
}

/* Appends the values that `have` names, and checks that they are whole kB. Returns the length. */
static inline size_t print_counters(char *text, size_t len, size_t cap, const char *const *names,
				    unsigned count, uint32_t have, const uint64_t *value)
{
	FUZZ_CHECK(count == 32 || !(have >> count));
	for (unsigned i = 0; i < count; i++) {
		if (!(have >> i & 1))
			continue;
		FUZZ_CHECK(value[i] % 1024 == 0 && value[i] < 1ull << 62);
		len += (size_t)snprintf(text + len, cap - len, "%s: %8" PRIu64 " kB\n", names[i],
					value[i] / 1024);
		FUZZ_CHECK(len < cap);
	}
	return len;
}

#endif
