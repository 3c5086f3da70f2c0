/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared by the tests of src/proc. Texts that are damaged at random: tests/fuzz/fuzz_proc_*.c, on
 * changes of the same fixtures.
 */
#ifndef TEST_PROC_H
#define TEST_PROC_H

#include "unit.h"

#include "base/file.h"

#define FIXTURES TESTS_DIR "/fixtures"
#define KB(n)	 ((uint64_t)(n)*1024)
#define BIT(i)	 (1u << (i))

/* A copy that ends at the end of its memory, so that a sanitizer detects every read behind it. */
static inline char *exact_copy(const char *text, size_t len)
{
	char *copy = malloc(len ? len : 1);

	assert_non_null(copy);
	memcpy(copy, text, len);
	return copy;
}

/* Reads tests/fixtures/proc/NAME; the caller frees. */
static inline char *fixture(const char *name, size_t *ret_len)
{
	char path[4096], text[65536];
	ssize_t n;

	snprintf(path, sizeof(path), "%s/proc/%s", FIXTURES, name);
	n = file_read(AT_FDCWD, path, text, sizeof(text));
	if (n < 0)
		fail_msg("%s: %s", path, strerror((int)-n));
	*ret_len = (size_t)n;
	return exact_copy(text, (size_t)n);
}

/* The length of the text without the lines of these keys, as an older kernel writes it. */
static inline size_t without_keys(char *text, size_t len, const char *keys)
{
	size_t kept = 0, line;

	for (size_t at = 0; at < len; at += line) {
		const char *end = memchr(text + at, '\n', len - at);
		const char *colon = memchr(text + at, ':', len - at);
		char key[64];

		assert_true(end && colon);
		line = (size_t)(end + 1 - text) - at;
		snprintf(key, sizeof(key), " %.*s ", (int)(colon - text - at), text + at);
		if (strstr(keys, key))
			continue;
		memmove(text + kept, text + at, line);
		kept += line;
	}
	return kept;
}

/* The length of the text up to the end of `last`. */
static inline size_t length_through(const char *text, size_t len, const char *last)
{
	const char *at = memmem(text, len, last, strlen(last));

	assert_non_null(at);
	return (size_t)(at - text) + strlen(last);
}

/* The counters of `want` have these kB, the others are 0. */
static inline void assert_kib(uint32_t have, const uint64_t *value, uint32_t want,
			      const uint64_t *kib, unsigned count)
{
	assert_int_equal(have, want);
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(value[i], want & BIT(i) ? kib[i] * 1024 : 0);
}

#endif
