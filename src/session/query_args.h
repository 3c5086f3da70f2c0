/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Translates options to a query (which rows to show, and how). Messages name the wrong option. */
#ifndef ZMEM_SESSION_QUERY_ARGS_H
#define ZMEM_SESSION_QUERY_ARGS_H

#include "collect/collector.h"
#include "query/query_parse.h"
#include "session/options.h"

/*
 * Sets one word of the query. `c` finds users, for QUERY_USER; a user that does not exist is
 * reported and sets *exit_code. Returns 0, or an exit code after a message, with the query
 * unchanged.
 */
int query_args_set(struct query *q, const struct options *o, enum query_word word, const char *text,
		   struct collector *c, int *exit_code);
/* Sets only the filters of the query. Parameters and return value as above. */
int query_args_filter(struct query *q, const struct options *o, struct collector *c,
		      int *exit_code);
/* Sets all words and the columns. `pss`: how PSS is measured. Returns as above. */
int query_args_read(struct query *q, struct field_list *columns, const struct options *o,
		    enum pss_choice pss, struct collector *c, int *exit_code);
/* Whether --cgroup has a path that can match none: one that does not begin with a slash. */
bool query_args_cgroup_lacks_slash(const struct options *o);
/* Writes "no process matches", with the filters, as text of `size` bytes at most. */
void query_args_nothing(const struct options *o, char *ret, size_t size);
/*
 * Writes the filters, such as "--user root", without the pattern of --filter, which may hold
 * secrets. False: there are none.
 */
bool query_args_selection(const struct options *o, char *ret, size_t size);
/* enum process_needs of the columns and the order that are asked for: formats have others, too. */
unsigned query_args_named(const struct query *q, const struct options *o);

/* The column that the page of -F html groups by at first; NULL: none, or another format. */
const struct field *query_args_page_group(const struct options *o);

#endif
