/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A growing list of processes, which point into a snapshot. */
#ifndef ZMEM_MODEL_PROCESS_LIST_H
#define ZMEM_MODEL_PROCESS_LIST_H

#include <stddef.h>

#include "model/snapshot.h"

struct process_list {
	struct process **item;
	size_t count;
	size_t capacity; /* of its own items, which are used again; 0: items are borrowed */
};

/* Forgets the items and makes room for `count`. Returns 0 or -ENOMEM. */
int process_list_reserve(struct process_list *processes, size_t count);
void process_list_done(struct process_list *processes);

#endif
