// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Knows kcmp's order. Sorting by it brings those with one mm together in n log n questions. */
#include <errno.h>
#include <linux/kcmp.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "source/mm_sharing.h"

int mm_sharing_add(struct mm_sharing *s, pid_t pid, const struct proc_stat *stat)
{
	struct mm_sharing_entry *entry =
		grow_items(s->entry, s->count, &s->capacity, 256, sizeof(*entry));

	if (!entry)
		return -ENOMEM;
	s->entry = entry;
	s->entry[s->count++] = (struct mm_sharing_entry){pid, stat->start_stack, stat->vsize};
	return 0;
}

static int compare_layout(const void *pa, const void *pb)
{
	const struct mm_sharing_entry *a = pa, *b = pb;

	if (a->start_stack != b->start_stack)
		return a->start_stack < b->start_stack ? -1 : 1;
	if (a->vsize != b->vsize)
		return a->vsize < b->vsize ? -1 : 1;
	return (a->pid > b->pid) - (a->pid < b->pid);
}

/* 0 for one mm, else an order that lasts while both live; by pid where kcmp does not answer. */
static int compare_mm(const void *pa, const void *pb)
{
	const struct mm_sharing_entry *a = pa, *b = pb;
	long r = syscall(SYS_kcmp, a->pid, b->pid, KCMP_VM, 0, 0);

	if (r == 0)
		return 0;
	if (r == 1)
		return -1;
	if (r == 2)
		return 1;
	return (a->pid > b->pid) - (a->pid < b->pid);
}

static int compare_processes(const void *pa, const void *pb)
{
	const struct process *a = pa, *b = pb;

	return (a->pid > b->pid) - (a->pid < b->pid);
}

static void set_key(struct snapshot *snapshot, pid_t pid, pid_t key)
{
	struct process *p = snapshot_find(snapshot, pid);

	if (p)
		p->mm_key = (uint64_t)key;
}

void mm_sharing_resolve(struct mm_sharing *s, struct snapshot *snapshot)
{
	struct mm_sharing_entry *e = s->entry;
	size_t end;

	if (!s->count)
		return;
	qsort(snapshot->process, snapshot->count, sizeof(*snapshot->process), compare_processes);
	qsort(e, s->count, sizeof(*e), compare_layout);
	for (size_t i = 0; i < s->count; i = end) {
		pid_t key = 0;

		end = i + 1;
		while (end < s->count && e[end].start_stack == e[i].start_stack &&
		       e[end].vsize == e[i].vsize)
			end++;
		/* A layout of 0 is one we may not see: kcmp would be refused, too. */
		if (end - i > 1 && e[i].start_stack)
			qsort(e + i, end - i, sizeof(*e), compare_mm);
		for (size_t k = i; k < end; k++) {
			/* Whose layout is withheld may share its mm with anybody. */
			snapshot->collection.shared_mm_unknown |= !e[k].start_stack;
			if (k == i || !e[k].start_stack || compare_mm(&e[k - 1], &e[k]) != 0)
				key = e[k].pid;
			set_key(snapshot, e[k].pid, key);
		}
	}
}

void mm_sharing_done(struct mm_sharing *s)
{
	free(s->entry);
	*s = (struct mm_sharing){};
}
