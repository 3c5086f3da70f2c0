/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parses numbers and lists. Text that is partly valid is refused. */
#ifndef ZMEM_BASE_PARSE_H
#define ZMEM_BASE_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Parses a decimal number without sign that fills the text. Returns 0, -EINVAL, or -ERANGE above
 * `max`; *ret is untouched on failure.
 */
int parse_u64(const char *s, size_t len, uint64_t max, uint64_t *ret);

/*
 * Parses a size that fills the text: a whole number with an optional unit (K M G T, powers of 1024;
 * "KiB", "KB" and "k" are the same). Returns 0, -EINVAL, or -ERANGE above UINT64_MAX.
 */
int parse_size(const char *s, size_t len, uint64_t *ret);

/*
 * Walks a list of items separated by commas or blanks: returns the next item and its length, NULL
 * at the end. *pos starts at the text and moves on. Empty items are skipped.
 */
const char *parse_item(const char **pos, size_t *ret_len);

/* True if the list contains the item. */
bool parse_has_item(const char *items, const char *item);

/*
 * True if the text equals the word, which is all lower or all upper case. Case is ignored for ASCII
 * alone: in a Turkish locale "PID" and "pid" would differ.
 */
bool parse_same_word(const char *word, const char *s, size_t len);

/*
 * Scans a decimal number at *pos, after blanks and before end, and moves *pos behind it. False if
 * there is none or it does not fit.
 */
bool scan_u64(const char **pos, const char *end, uint64_t *ret);

/*
 * Parses a CPU list of the kernel ("0-3,5") and calls fn for each CPU. Returns their number, or
 * -EINVAL.
 */
int parse_cpu_list(const char *s, size_t len, void (*fn)(void *arg, unsigned cpu), void *arg);

#endif
