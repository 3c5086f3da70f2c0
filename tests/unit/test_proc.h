/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by the tests of src/proc: fixtures, and damage to them that is the same every run. */
#ifndef TEST_PROC_H
#define TEST_PROC_H

#include "unit.h"

#include "base/file.h"

#define FIXTURES      TESTS_DIR "/fixtures"
#define MUTATIONS     20000
#define MUTATION_SEED 0x9e3779b97f4a7c15u

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

static inline uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/*
 * Makes one change at a random place; returns the new length. `text` has room for twice `len` and
 * 64.
 */
static inline size_t mutate_once(char *text, size_t len, uint64_t *seed)
{
	static const char odd[] = "\n:0915 \t()\\k/B.-,+\r_\0\xff";
	size_t at = random_next(seed) % (len + 1);
	size_t span = random_next(seed) % 24;

	if (span > len - at)
		span = len - at;
	switch (random_next(seed) % 6) {
	case 0:
		if (at < len)
			text[at] = odd[random_next(seed) % (sizeof(odd) - 1)];
		return len;
	case 1:
		if (at < len)
			text[at] = (char)random_next(seed);
		return len;
	case 2:
		memmove(text + at, text + at + span, len - at - span);
		return len - span;
	case 3: /* duplicated */
		memmove(text + at + span, text + at, len - at);
		return len + span;
	case 4: /* digits inserted */
		memmove(text + at + span, text + at, len - at);
		for (size_t i = 0; i < span; i++)
			text[at + i] = (char)('0' + random_next(seed) % 10);
		return len + span;
	default: /* cut off, but not always early */
		return random_next(seed) % 4 ? len : at;
	}
}

/* Calls check with MUTATIONS corrupted versions of the fixture. */
static inline void mutate_fixture(const char *name, void (*check)(const char *text, size_t len))
{
	size_t len, n;
	cleanup_free char *valid = fixture(name, &len);
	cleanup_free char *work = malloc(2 * len + 64);
	uint64_t seed = MUTATION_SEED;

	assert_non_null(work);
	for (int i = 0; i < MUTATIONS; i++) {
		char *text;

		memcpy(work, valid, len);
		n = len;
		for (uint64_t left = 1 + random_next(&seed) % 4; left; left--)
			if (n + 24 <= 2 * len)
				n = mutate_once(work, n, &seed);
		text = exact_copy(work, n);
		check(text, n);
		free(text);
	}
}

/*
 * Counts the lines "key:" whose kB are `bytes`, with strtoull() and without code of src/proc.
 */
static inline int lines_saying(const char *text, size_t len, const char *key, uint64_t bytes)
{
	size_t key_len = strlen(key);
	int count = 0;

	for (const char *line = text, *end = text + len; line < end;) {
		const char *stop = line;
		char value[128] = "";
		size_t n;

		while (stop < end && *stop != '\n')
			stop++;
		n = (size_t)(stop - line);
		if (n > key_len && memcmp(line, key, key_len) == 0 && line[key_len] == ':') {
			n -= key_len + 1;
			memcpy(value, line + key_len + 1, n < 127 ? n : 127);
			if (!strchr(value, '-') && strtoull(value, NULL, 10) * 1024 == bytes)
				count++;
		}
		line = stop + 1;
	}
	return count;
}

#endif
