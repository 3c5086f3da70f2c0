/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared by all fuzz targets: the entry that libFuzzer or replay.c calls, and FUZZ_CHECK(), which
 * ends the program if a property does not hold. Each input is in memory of exactly its size, so
 * that a sanitizer detects a read past its end.
 */
#ifndef ZMEM_TESTS_FUZZ_H
#define ZMEM_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A target may define it: replay.c also runs the target on so many changes of each input. */
extern const unsigned fuzz_changes __attribute__((weak));

#define FUZZ_CHECK(holds) ((holds) ? (void)0 : fuzz_broken(__FILE__, __LINE__, #holds))

/* Reports the property that failed. */
__attribute__((weak)) char fuzz_property[300];

__attribute__((noreturn)) static inline void fuzz_broken(const char *file, int line,
							 const char *property)
{
	snprintf(fuzz_property, sizeof(fuzz_property), "%s:%d: does not hold: %s", file, line,
		 property);
	dprintf(STDERR_FILENO, "%s\n", fuzz_property);
	abort();
}

/* A part of the input, possibly empty. */
static inline void fuzz_check_part(const char *part, size_t len, const char *text, size_t size)
{
	if (!part) {
		FUZZ_CHECK(len == 0);
		return;
	}
	FUZZ_CHECK(part >= text && part <= text + size && len <= (size_t)(text + size - part));
}

/* The input as a string; it ends where it has a NUL. To be freed. */
static inline char *fuzz_string(const uint8_t *data, size_t size)
{
	char *s = malloc(size + 1);

	FUZZ_CHECK(s);
	if (size)
		memcpy(s, data, size);
	s[size] = '\0';
	return s;
}

/* Consumes `len` bytes of the input; missing bytes are 0. */
static inline void fuzz_take(const uint8_t **data, size_t *size, void *ret, size_t len)
{
	size_t n = *size < len ? *size : len;

	memset(ret, 0, len);
	if (n)
		memcpy(ret, *data, n);
	*data += n;
	*size -= n;
}

#endif
