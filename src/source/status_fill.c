// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Knows which value of status is which counter; reads only what it is pointed at. */
#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "source/status_fill.h"
#include "proc/status.h"
#include "source/source.h"

static const struct {
	enum status_counter key;
	enum counter counter;
} counters[] = {
	{STATUS_VM_SIZE, COUNTER_VSIZE},     {STATUS_VM_LCK, COUNTER_LOCKED},
	{STATUS_VM_PIN, COUNTER_PINNED},     {STATUS_RSS_ANON, COUNTER_RSS_ANON},
	{STATUS_RSS_FILE, COUNTER_RSS_FILE}, {STATUS_RSS_SHMEM, COUNTER_RSS_SHMEM},
	{STATUS_VM_PTE, COUNTER_PGTABLES},   {STATUS_VM_SWAP, COUNTER_SWAP},
	{STATUS_HUGETLB, COUNTER_HUGETLB},
};

counter_mask status_counters(void)
{
	counter_mask mask = 0;

	for (size_t i = 0; i < ARRAY_SIZE(counters); i++)
		mask |= COUNTER_BIT(counters[i].counter);
	return mask;
}

void status_apply(struct process *p, const struct proc_status *status)
{
	for (size_t i = 0; i < ARRAY_SIZE(counters); i++) {
		if (!process_has(p, counters[i].counter) && status_has(status, counters[i].key))
			process_set(p, counters[i].counter, status->value[counters[i].key]);
	}
}

/* Returns 1, 0 if there is none, or a negative errno if that is not known. */
static int parse(const char *text, ssize_t len, struct proc_status *ret)
{
	if (file_exhausted((int)len))
		return (int)len;
	return len > 0 && proc_status_parse(text, (size_t)len, ret) == 0;
}

static int read_status(int pid_fd, struct proc_status *ret)
{
	char text[8192];

	return parse(text, file_read(pid_fd, "status", text, sizeof(text)), ret);
}

/* The memory of a process whose leader has exited: any live thread shows all of it. */
static int read_thread_status(int pid_fd, struct proc_status *ret)
{
	cleanup_close int fd = procfs_open_thread(pid_fd);
	char text[8192];
	int r = parse(text, fd < 0 ? fd : file_read(fd, "status", text, sizeof(text)), ret);

	return r > 0 ? ret->have != 0 : r;
}

int status_fill(struct process *p, int pid_fd)
{
	bool had_rss = process_has(p, COUNTER_RSS_ANON);
	struct proc_status status;
	int r = read_status(pid_fd, &status);

	if (r <= 0)
		return r;
	p->uid = status.euid;
	if (!status.have) {
		r = read_thread_status(pid_fd, &status);
		if (r <= 0)
			return r;
		p->leader_exited = true;
	}
	status_apply(p, &status);
	if (!had_rss && process_has(p, COUNTER_RSS_ANON))
		p->counters_source = FROM_PROC;
	return 1;
}

void status_fill_uid(struct process *p, int pid_fd)
{
	struct proc_status status;

	if (read_status(pid_fd, &status) > 0)
		p->uid = status.euid;
}
