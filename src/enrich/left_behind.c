// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Counts threads that hang, and knows nothing of what they do. */
#include "enrich/left_behind.h"

#include <sys/resource.h>

/* A thread with two files each. */
#define LEFT_MAX	64
#define LEFT_OF_ONE_UID 16

void left_init(struct left_behind *l)
{
	struct rlimit files;

	*l = (struct left_behind){.max = LEFT_MAX};
	/* Half of the files at most. */
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur / 4 < LEFT_MAX)
		l->max = files.rlim_cur / 4;
}

void left_add(struct left_behind *l, struct left_job *job)
{
	job->next = l->first;
	l->first = job;
	l->count++;
}

void left_remove(struct left_behind *l, const struct left_job *job)
{
	struct left_job **at = &l->first;

	while (*at != job)
		at = &(*at)->next;
	*at = job->next;
	l->count--;
}

bool left_skips(const struct left_behind *l, const struct process *p, enum pool_file file,
		bool alone)
{
	size_t of_uid = 0;

	for (const struct left_job *j = l->first; j; j = j->next) {
		if (j->pid == p->pid && (alone || (j->start_ns == p->start_ns && j->file == file)))
			return true;
		of_uid += j->uid == p->uid;
	}
	return of_uid >= LEFT_OF_ONE_UID;
}
