/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers and lists out of text, all or nothing. */
#ifndef ZMEM_BASE_PARSE_H
#define ZMEM_BASE_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A decimal number without sign that fills the text. Returns 0, -EINVAL, or -ERANGE above `max`;
 * *ret is untouched on failure.
 */
int parse_u64(const char *s, size_t len, uint64_t max, uint64_t *ret);

/*
 * A size that fills the text: a whole number of bytes, or of what a letter behind it says (K M G T,
 * 1024 each; "KiB", "KB", "k" are the same). Returns 0, -EINVAL, or -ERANGE above UINT64_MAX.
 */
int parse_size(const char *s, size_t len, uint64_t *ret);

/*
 * Walks a list of items separated by commas or blanks: returns the next one and its length, NULL at
 * the end; *pos starts at the text and moves on. Empty items are skipped.
 */
const char *parse_item(const char **pos, size_t *ret_len);

/* Whether one of the items is that. */
bool parse_has_item(const char *items, const char *item);

/*
 * Whether the text is that word, which is in small or in capital letters; upper and lower case are
 * one. Of ASCII alone: a Turkish locale would take "PID" and "pid" for different words.
 */
bool parse_same_word(const char *word, const char *s, size_t len);

/*
 * Scans a decimal number at *pos, after blanks and before end, and moves *pos behind it. False if
 * there is none or it does not fit.
 */
bool scan_u64(const char **pos, const char *end, uint64_t *ret);

/* A kernel CPU list ("0-3,5"). Calls fn for each. Returns how many there are, or -EINVAL. */
int parse_cpu_list(const char *s, size_t len, void (*fn)(void *arg, unsigned cpu), void *arg);

#endif
