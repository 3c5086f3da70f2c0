/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fields of changes between two snapshots. Rows are struct group_change. */
#ifndef ZMEM_FIELDS_CHANGE_FIELDS_H
#define ZMEM_FIELDS_CHANGE_FIELDS_H

#include "fields/field.h"
#include "fields/process_fields.h"
#include "fields/sentence.h"

/* In JSON. */
extern const struct fields change_process_fields, change_group_fields;
/* The same for the sum of all rows. */
extern const struct fields change_total_fields;

/* The RAM of the machine: the row is struct ram_changes. */
extern const struct fields change_machine_fields;
/* The rows of it: struct ram_change. */
extern const struct fields change_ram_fields;

/* For sentences: the large changes of struct ram_changes, and the time between. */
extern const struct fields ram_changes_fields;
extern const struct sentences ram_changes_said;

/* What is said of two snapshots above and below their changes. */
struct changes_said {
	const char *what; /* is compared */
	int64_t from_ms, to_ms;
	size_t small;	    /* changes that are left out, below this: */
	uint64_t page_size; /* bytes */
};
extern const struct sentences changes_head, changes_small;
/* About the sum of all rows, struct group_change. */
extern const struct sentences changes_missing;

/* The name of a row in a table and in CSV. `group`: what rows are grouped by, NULL: processes. */
struct field change_name_field(const struct field *group);
/* The keys of groups by several columns, each a column of its own; count 0: of all other rows. */
struct change_keys {
	struct field key[GROUP_KEYS_MAX];
	struct field_list list; /* of the fields above: the struct stays where it is */
};

void change_keys_set(struct change_keys *keys, const struct field *group);
/* The columns of the table and of CSV, with the name at the end; CSV has the keys in its place. */
void change_list_table(struct field_list *list, const struct field *name, bool groups);
void change_list_csv(struct field_list *list, const struct field *name, bool groups,
		     const struct change_keys *keys);

#endif
