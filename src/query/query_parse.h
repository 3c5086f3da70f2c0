/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes a query of words: the one parser for the command line, URLs and the prompt of top. It
 * prints no message; the caller puts the name of its option or parameter before the error's text.
 */
#ifndef ZMEM_QUERY_PARSE_H
#define ZMEM_QUERY_PARSE_H

#include "query/query.h"

/* What is wrong with a word. */
struct query_error {
	const char *item; /* the wrong part of the text; NULL: the text as a whole */
	size_t item_len;
	const char *why; /* a static text */
};

/* How the names of users become numbers. */
struct query_users {
	/* Finds the user of this name or number. Returns 0, or -ENOENT if there is none. */
	int (*find)(void *arg, const char *name, size_t len, uid_t *ret_uid);
	/* Called for each that is not found. NULL: not called. */
	void (*missing)(void *arg, const char *name, size_t len);
	void *arg;
};

/* What processes can be grouped by. */
#define KEY_WORDS   "name, app, cmdline, user, unit, container, pod, namespace, cgroup"
#define GROUP_WORDS "none, " KEY_WORDS

/*
 * Finds the columns that groups are made by: words with commas between them. Returns how many,
 * -EINVAL with *ret_error if a word makes no groups, or there are too many. "none" is 0 columns.
 */
int query_read_keys(const char *words, const struct field *ret[GROUP_KEYS_MAX],
		    struct query_error *ret_error);
/* The key of --group-by that a word of other tools means, or the word itself. */
const char *query_group_key(const char *word);
/*
 * Sets the word of the query to the text; an empty text removes a filter. `users` is needed for
 * QUERY_USER alone. Returns 0, -EINVAL with *ret_error, -ENOENT with *ret_error if none of the
 * users exists, or -ENOMEM. On failure the query is unchanged.
 */
int query_set(struct query *q, enum query_word word, const char *text,
	      const struct query_users *users, struct query_error *ret_error);
/*
 * Whether the order fits the rows: columns of memory cgroups need groups. Returns 0, or -EINVAL
 * with *ret_error. Call it when all words are set.
 */
int query_check(const struct query *q, struct query_error *ret_error);

#endif
