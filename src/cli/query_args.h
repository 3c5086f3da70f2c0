/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes a query of the options, with messages that name the option that is wrong. */
#ifndef ZMEM_CLI_QUERY_ARGS_H
#define ZMEM_CLI_QUERY_ARGS_H

#include "cli/options.h"
#include "enrich/enrich.h"
#include "query/query_parse.h"

/*
 * Sets one word of the query. `users` is for QUERY_USER; a user that does not exist is said and
 * sets *exit_code. Returns 0, or an exit code after a message; then the query is as it was.
 */
int query_args_set(struct query *q, enum query_word word, const char *text,
		   struct user_table *users, int *exit_code);
/* The filters; `pids` in place of o->pids. Likewise. */
int query_args_filter(struct query *q, const struct options *o, const char *pids,
		      struct user_table *users, int *exit_code);
/* All of it, and the columns that are shown. `pss`: what is measured. Likewise. */
int query_args_read(struct query *q, struct column_list *columns, const struct options *o,
		    enum pss_choice pss, struct user_table *users, int *exit_code);
/* What rows of the format need beyond their columns: enum column_needs. */
unsigned query_args_format_needs(const struct options *o, const struct column *group);
/* What a page (-F html) groups by at first; NULL: nothing, or it is another format. */
const struct column *query_args_page_group(const struct options *o);

#endif
