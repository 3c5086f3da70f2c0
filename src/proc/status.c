// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Knows /proc/PID/status as text. Refuses to know the name in it: the kernel escapes it there, and
 * it is the one line whose text a process chooses. As its newlines come as "\n" (proc_task_name(),
 * fs/proc/array.c), it cannot pretend to be another line.
 */
#include <errno.h>

#include "base/array.h"
#include "base/parse.h"
#include "proc/keyed.h"
#include "proc/status.h"

/* In the order of task_mem(), fs/proc/task_mmu.c; enum status_figure follows it. */
static const struct keyed_name names[] = {
	[STATUS_VM_SIZE] = KEYED_NAME("VmSize"),       [STATUS_VM_LCK] = KEYED_NAME("VmLck"),
	[STATUS_VM_PIN] = KEYED_NAME("VmPin"),	       [STATUS_RSS_ANON] = KEYED_NAME("RssAnon"),
	[STATUS_RSS_FILE] = KEYED_NAME("RssFile"),     [STATUS_RSS_SHMEM] = KEYED_NAME("RssShmem"),
	[STATUS_VM_PTE] = KEYED_NAME("VmPTE"),	       [STATUS_VM_SWAP] = KEYED_NAME("VmSwap"),
	[STATUS_HUGETLB] = KEYED_NAME("HugetlbPages"),
};
_Static_assert(ARRAY_SIZE(names) == STATUS_COUNTERS, "a figure without a name");

/* "Uid: real effective saved fs": all four, so that none is cut off. */
static bool uid_line(const struct keyed_line *line, uid_t *ret_euid)
{
	const char *p = line->value;
	uint64_t uid[4];

	for (unsigned i = 0; i < ARRAY_SIZE(uid); i++)
		if (!scan_u64(&p, line->end, &uid[i]) || uid[i] > UINT32_MAX)
			return false;
	*ret_euid = (uid_t)uid[1];
	return true;
}

static bool threads_line(const struct keyed_line *line, uint32_t *ret_threads)
{
	const char *p = line->value;
	uint64_t threads;

	if (!line->whole || !scan_u64(&p, line->end, &threads) || threads > UINT32_MAX)
		return false;
	*ret_threads = (uint32_t)threads;
	return true;
}

int proc_status_parse(const char *text, size_t len, struct proc_status *ret)
{
	struct proc_status status = {0};
	struct keyed_counters counters = {names, STATUS_COUNTERS, .value = status.value};
	struct keyed_line line;
	bool uid = false, threads = false;

	if (!len)
		return -EINVAL;
	for (const char *pos = text, *end = text + len; keyed_next(&pos, end, &line);) {
		if (keyed_counter(&line, &counters))
			continue;
		if (!uid && keyed_is(&line, "Uid", 3))
			uid = uid_line(&line, &status.euid);
		else if (!threads && keyed_is(&line, "Threads", 7))
			threads = threads_line(&line, &status.threads);
	}
	if (!uid)
		return -EINVAL;
	status.have = counters.have;
	*ret = status;
	return 0;
}
