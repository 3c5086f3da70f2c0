/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fields of processes and of sums of them. Each counter is one of them. */
#ifndef ZMEM_FIELDS_PROCESS_FIELDS_H
#define ZMEM_FIELDS_PROCESS_FIELDS_H

#include "fields/field.h"
#include "fields/row.h"

/* What a field needs beyond the counters. Only what is needed gets read. */
enum process_needs {
	NEEDS_USER = 1 << 0,
	NEEDS_CGROUP = 1 << 1,
	NEEDS_CMDLINE = 1 << 2,
	NEEDS_PROGRAM = 1 << 3, /* program names, if the name of the executable is not enough */
	NEEDS_MEMCG = 1 << 4,	/* only for groups */
	NEEDS_MEMCG_DETAIL = 1 << 5, /* likewise: more than charge and limit */
	NEEDS_CHARGES = NEEDS_MEMCG | NEEDS_MEMCG_DETAIL,
	NEEDS_SWAP_SHMEM = 1 << 6, /* the holders of files, while swap is in use */
	NEEDS_SWAP_COSTS = 1 << 7, /* swap slots, likewise */
	NEEDS_SWAPINS = 1 << 8,	   /* delay accounting, or programs that count */
	NEEDS_FREED = 1 << 9,	   /* what becomes free with each row */
	NEEDS_APP = 1 << 10,	   /* what people call a program */
	/* Pages one by one (source/pages_source.h): */
	NEEDS_NODES = 1 << 11,
	NEEDS_LAZYFREE = 1 << 12,
	NEEDS_HUGETLB = 1 << 13, /* while there are hugetlb pages */
	NEEDS_GPU = 1 << 14,	 /* files of GPUs */
	NEEDS_THP_REST = 1 << 15,
	NEEDS_WAITS = 1 << 16,	/* as NEEDS_SWAPINS */
	NEEDS_KERNEL = 1 << 17, /* what descriptors hold */
};

/* Rows are struct row, of a struct snapshot. */
extern const struct fields process_fields;

/* The fields of a process that are counters. */
extern const struct fields process_counters;

/* The field of that key, which fields_find() explains. */
const struct field *process_field(const char *key);

#define GROUP_KEYS_MAX 4

/* Groups by several columns: together they are a column, which has the values of all. */
struct group_keys {
	struct field joined;
	const struct field *key[GROUP_KEYS_MAX];
	size_t count;
	bool numeric;	  /* users by number */
	char text[64];	  /* "user,name" */
	char heading[64]; /* "USER / NAME" */
};

#define GROUP_JOINT " / " /* between the values */

/* Up to GROUP_KEYS_MAX columns that make groups. The struct stays where it is from then on. */
void group_keys_set(struct group_keys *keys, const struct field *const *key, size_t count);

/* The columns that a group has in common: the field itself, if it is not of several. */
size_t group_key_count(const struct field *group);
const struct field *group_key(const struct field *group, size_t i);
/* The text of a key without what the keys before it say: "web-0" of "prod/web-0". May be NULL. */
const char *group_key_text(const struct field *group, size_t i, const struct process *p);
/* True if groups are memory cgroups, which have counters of their own. */
static inline bool group_is_memcg(const struct field *group)
{
	return group && group->part != PART_NONE;
}

/* A counter of swap, or a share of one. */
bool process_field_of_swap(const struct field *f);

/* A counter, or a share of it, of totals. */
struct value totals_value(const struct field *f, const struct snapshot *s, const struct totals *t);

/*
 * The counters of a table: the usual ones; those of top, also with the growth in an hour and the
 * peak; with swap and the parts of RSS (--long); with growth and with changes (watch).
 */
extern const struct fields columns_usual, columns_live, columns_long, columns_grow, columns_watch;
/*
 * The columns of a table: what identifies a row, the first counters, the charge and the limit of
 * cgroups, more counters, what fills the cgroups, the name. A narrow terminal shows the first of
 * them. `group`: what rows are grouped by, NULL for processes.
 */
void process_list_columns(struct field_list *list, const struct fields *counters,
			  const struct field *group);
/* The columns of cgroups by how near their limit is. */
void process_list_cgroups(struct field_list *list);
/* The columns of CSV, in the order of zmem.snapshot, which also has command lines. */
void process_list_whole(struct field_list *list, const struct field *group);
/* Appends a column for each key of a group, which makes groups by the text it has; none for NULL.
 */
void process_list_keys(struct field_list *list, const struct field *group);
/* The fields of a row in JSON; of a group without its name. `app`: with the column of that name. */
void process_list_json(struct field_list *list, const struct field *group, bool app);
/*
 * Returns a field of memcgs if the rows are not cgroups: processes (`group` NULL), or groups by
 * another field. Such a column would be empty. NULL: there is none.
 */
const struct field *process_list_misplaced(const struct field_list *list,
					   const struct field *group);

#endif
