// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/peak_sample.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static struct peak_member *find(const struct peak_tree *t, pid_t pid, uint64_t start_ns)
{
	/* From the newest on: numbers are given again. */
	for (size_t i = t->count; i-- > 0;) {
		struct peak_member *m = &t->member[i];

		if (m->row.pid == pid && (!m->start_ns || m->start_ns == start_ns))
			return m;
	}
	return NULL;
}

/* A parent that has ended since has the number of its children's ppid no longer. */
static bool has_parent(const struct peak_tree *t, pid_t ppid)
{
	for (size_t i = t->count; ppid > 0 && i-- > 0;) {
		if (t->member[i].row.pid == ppid)
			return t->member[i].seen;
	}
	return false;
}

static struct peak_member *append(struct peak_tree *t, pid_t pid)
{
	struct peak_member *m;

	if (!array_room(&t->member, t->count, &t->capacity, 64))
		return NULL;
	m = &t->member[t->count++];
	*m = (struct peak_member){.row.pid = pid};
	return m;
}

int peak_tree_add(struct peak_tree *t, pid_t pid)
{
	struct peak_member *m = append(t, pid);

	if (!m)
		return -ENOMEM;
	m->added = true;
	return 0;
}

static void set_member(struct peak_member *m, const struct process *p, struct peak_bytes *sum)
{
	struct peak_bytes *now = &m->now;

	m->seen = true;
	m->start_ns = p->start_ns;
	m->row.ppid = p->ppid;
	m->row.ended = p->kind != PROCESS_USER;
	memcpy(m->row.name, p->comm, sizeof(m->row.name));
	if (m->row.ended)
		return;
	now->anon = process_has(p, COUNTER_RSS_ANON) ? process_value(p, COUNTER_RSS_ANON) : 0;
	now->file = process_has(p, COUNTER_RSS_FILE) ? process_value(p, COUNTER_RSS_FILE) : 0;
	now->shmem = process_has(p, COUNTER_RSS_SHMEM) ? process_value(p, COUNTER_RSS_SHMEM) : 0;
	now->swap = process_has(p, COUNTER_SWAP) ? process_value(p, COUNTER_SWAP) : 0;
	now->rss = now->anon + now->file + now->shmem;
	if (now->rss > m->row.most)
		m->row.most = now->rss;
	sum->anon += now->anon;
	sum->file += now->file;
	sum->shmem += now->shmem;
	sum->swap += now->swap;
	sum->rss += now->rss;
}

int peak_tree_update(struct peak_tree *t, const struct snapshot *s, struct peak_bytes *ret_sum,
		     uint32_t *ret_live)
{
	size_t before;

	*ret_sum = (struct peak_bytes){};
	for (size_t i = 0; i < t->count; i++) {
		t->member[i].seen = false;
		t->member[i].now = (struct peak_bytes){};
		t->member[i].row.ended = true;
	}
	/* A parent may be behind its child, because numbers are given again. */
	for (size_t i = 0; i < s->count; i++) {
		const struct process *p = &s->process[i];
		struct peak_member *m = find(t, p->pid, p->start_ns);

		if (m && !m->seen)
			set_member(m, p, ret_sum);
	}
	do {
		before = t->count;
		for (size_t i = 0; i < s->count; i++) {
			const struct process *p = &s->process[i];
			struct peak_member *m;

			if (!has_parent(t, p->ppid) || find(t, p->pid, p->start_ns))
				continue;
			m = append(t, p->pid);
			if (!m)
				return -ENOMEM;
			set_member(m, p, ret_sum);
		}
	} while (t->count > before);
	*ret_live = 0;
	for (size_t i = 0; i < t->count; i++)
		*ret_live += t->member[i].seen && !t->member[i].row.ended;
	return 0;
}

bool peak_tree_ended(const struct peak_tree *t)
{
	for (size_t i = 0; i < t->count; i++) {
		if (t->member[i].added && t->member[i].seen && !t->member[i].row.ended)
			return false;
	}
	return true;
}

void peak_tree_done(struct peak_tree *t)
{
	free(t->member);
	*t = (struct peak_tree){};
}
