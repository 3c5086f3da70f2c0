/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which cached files are shown: filter, groups, order, sums. Pure. */
#ifndef ZMEM_QUERY_FILES_H
#define ZMEM_QUERY_FILES_H

#include "fields/file_fields.h"
#include "query/pattern.h"

struct files_query {
	struct pattern *filter; /* of the name that is shown; NULL: all */
	enum file_group group;
	enum file_group within; /* of it only the files of the group `within_name` */
	const char *within_name;
	/* Columns. None: shared memory of 1 MiB or more first, then all else, by size. */
	struct field_list keys;
	bool reverse;
	uint64_t min; /* bytes of the first key, if it is a size or a count */
	size_t shown; /* rows at most */
};

/* Owns the rows of a report; the set owns their names. */
struct files_result {
	const struct cached_file **row;
	struct cached_file *groups; /* NULL unless rows are groups */
};

void files_result_done(struct files_result *r);
/*
 * Fills in the rows and sums of the report. Returns 0, -ENOMEM, or -E2BIG if the filter takes too
 * many steps.
 */
int files_run(struct file_set *set, const struct files_query *q, struct files_result *ret,
	      struct files_report *report);

#endif
