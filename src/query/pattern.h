/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * POSIX extended regular expressions, as regcomp() of glibc takes them in the C locale: a character
 * is a byte, newlines are ordinary, and \w \W \s \S \b \B \< \> \` \' are known. A match is yes or
 * no. The cost is bounded: memory by the parts of an expression, time by a budget of steps.
 * Back-references are refused, since nothing bounds the time that they take.
 */
#ifndef ZMEM_QUERY_PATTERN_H
#define ZMEM_QUERY_PATTERN_H

#include <stdint.h>

#define PATTERN_PARTS_MAX 10000	   /* bytes, classes and repeats, each as often as it is repeated */
#define PATTERN_DEPTH_MAX 250	   /* of parentheses */
#define PATTERN_STEPS_MAX 50000000 /* of all matches since pattern_begin(): parts looked at */

#define PATTERN_EXPENSIVE "it takes too many steps (shorten it, or repeat less)"

struct pattern;

/*
 * Returns 0, -ENOMEM, or -EINVAL for an expression that is wrong or too large: *ret_why is a static
 * text that says why. pattern_free() accepts NULL.
 */
int pattern_compile(const char *text, struct pattern **ret, const char **ret_why);
void pattern_free(struct pattern *p);

/* Restores the budget: to be called for each run over the processes. */
void pattern_begin(struct pattern *p);
/* Returns 1 if it matches anywhere in the text, 0 if not, -E2BIG when the budget is spent. */
int pattern_match(struct pattern *p, const char *text);
/* Steps since pattern_begin(). */
uint64_t pattern_steps(const struct pattern *p);

#endif
