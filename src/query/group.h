/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Groups of processes: what identifies a group, and the rows that are made of processes. Pure. */
#ifndef ZMEM_QUERY_GROUP_H
#define ZMEM_QUERY_GROUP_H

#include <stdbool.h>
#include <sys/types.h>

#include "fields/process_fields.h"
#include "query/sums.h"

/* A group of processes that have the value of a column in common. */
struct group_id {
	const struct field *key; /* NULL: any process */
	const char *text;	 /* NULL: they have none (no unit, no container); owned */
	uid_t uid;		 /* instead of the text if the column is the user */
	/* Of several columns: how many its rows have in common, and where each text ends. */
	size_t keys;
	uint32_t end[GROUP_KEYS_MAX];
};

/* The id of the group of a row. Returns 0 or -ENOMEM; group_id_done() in any case. */
int group_id_of(const struct field *key, const struct process *p, struct group_id *ret);
void group_id_done(struct group_id *group);
/* For a row of a tree of groups: how many keys its processes have in common. */
static inline size_t group_keys_of(const struct field *key, const struct process *p)
{
	return p->group_keys ? p->group_keys : group_key_count(key);
}

/* Continues a hash with the keys of a group, each by itself: two groups may have one text. */
uint64_t group_hash(uint64_t hash, const struct field *key, const struct process *p);
/*
 * Sets p->joined of processes that are not yet grouped, if the key is of several columns, and the
 * number of a user without a name as its name. The texts are in the arena. Returns 0 or -ENOMEM.
 */
int group_join(const struct field *key, const struct process_list *processes, struct arena *text);
bool group_has(const struct group_id *group, const struct process *p);
/*
 * Makes a row for each value of the column, NULL being a value; sorts the rows by it. An address
 * space counts once, in the group of the process that carries it (mm_owner). A group has the names
 * that all its processes have; a unit, a container or a cgroup has the path of its cgroup, if it is
 * one cgroup. Strings belong to the processes and to the sums. Returns 0 or -ENOMEM.
 */
int group_rows(const struct field *key, struct process_list *processes, struct sums *groups);

/*
 * Sets the number of the group of each process, from 1 on, and sorts the processes by it. NULL:
 * each is a group of its own.
 */
void group_number(const struct field *key, struct process_list *processes, uint32_t *ret);

/* The same, with room for `more` rows behind them. */
int group_rows_and_room(const struct field *key, struct process_list *processes, size_t more,
			struct sums *groups);

/* The value of one key, a dash for none. The text is in the arena. NULL: no memory. */
const char *group_value(const struct field *key, size_t i, struct arena *text,
			const struct process *p);

/* Sorts processes so that those of a group stand together, by the first key first. */
void group_sort(const struct field *key, struct process_list *processes);
/* The end of the processes from `i` on that have the first `keys` keys in common. */
size_t group_end(const struct field *key, size_t keys, const struct process_list *processes,
		 size_t i);
/*
 * Makes the row of processes that have the first `keys` keys in common, of an item of the sums.
 * Returns 0 or -ENOMEM.
 */
int group_row(const struct field *key, size_t keys, struct sums *g, struct process *const *rows,
	      size_t count, struct row *row);

#endif
