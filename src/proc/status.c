// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Parses /proc/PID/stat and /proc/PID/status.
 *
 * stat is read up to field 28 (do_task_stat(), fs/proc/array.c). A text that ends in that field is
 * refused, because its last number may be incomplete.
 *
 * In status the name is the only line that a process chooses. It is ignored. Its newlines are
 * escaped (proc_task_name(), fs/proc/array.c), so it cannot imitate another line.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/parse.h"
#include "proc/keyed.h"
#include "proc/status.h"

/* ---- stat ---- */

enum {
	FIELD_PPID = 4,
	FIELD_FLAGS = 9,
	FIELD_MAJFLT = 12,
	FIELD_THREADS = 20,
	FIELD_START = 22,
	FIELD_VSIZE = 23,
	FIELD_STACK = 28,
};

/* The field at *pos, which must end with a blank or the line's end. */
static const char *next_field(const char **pos, const char *end, size_t *ret_len)
{
	const char *start = *pos;
	const char *p = start;

	while (p < end && *p != ' ' && *p != '\n')
		p++;
	if (p == end || p == start)
		return NULL;
	*pos = p + 1;
	*ret_len = p - start;
	return start;
}

/* The largest value of each field that proc_stat has. The others may be negative. */
static const uint64_t field_max[] = {
	[FIELD_PPID] = INT_MAX,	      [FIELD_FLAGS] = UINT32_MAX, [FIELD_MAJFLT] = UINT64_MAX,
	[FIELD_THREADS] = UINT32_MAX, [FIELD_START] = UINT64_MAX, [FIELD_VSIZE] = UINT64_MAX,
	[FIELD_STACK] = UINT64_MAX,
};

int proc_stat_parse(const char *text, size_t len, struct proc_stat *ret)
{
	struct proc_stat stat = {0};
	const char *end, *open, *close, *pos, *s;
	size_t n;
	uint64_t pid, value[ARRAY_SIZE(field_max)] = {0};

	if (!len)
		return -EINVAL;
	end = text + len;
	/* The name may have ')' and blanks; the fields after it have none. */
	open = memchr(text, '(', len);
	close = memrchr(text, ')', len);
	if (!open || !close || close < open || end - close < 2 || close[1] != ' ')
		return -EINVAL;
	if (open - text < 2 || open[-1] != ' ' ||
	    parse_u64(text, open - 1 - text, INT_MAX, &pid) < 0)
		return -EINVAL;
	stat.pid = (pid_t)pid;
	/* Only names of kernel threads are longer (wq_worker_comm(), get_kthread_comm()); they are
	 * cut. */
	n = close - open - 1;
	memcpy(stat.comm, open + 1, n < sizeof(stat.comm) ? n : sizeof(stat.comm) - 1);

	pos = close + 2;
	s = next_field(&pos, end, &n);
	if (!s || n != 1 || !is_letter(*s))
		return -EINVAL;
	stat.state = *s;
	for (int field = FIELD_PPID; field <= FIELD_STACK; field++) {
		s = next_field(&pos, end, &n);
		if (!s ||
		    (field_max[field] && parse_u64(s, n, field_max[field], &value[field]) < 0))
			return -EINVAL;
	}
	stat.ppid = (pid_t)value[FIELD_PPID];
	stat.flags = (uint32_t)value[FIELD_FLAGS];
	stat.majflt = value[FIELD_MAJFLT];
	stat.threads = (uint32_t)value[FIELD_THREADS];
	stat.start_ticks = value[FIELD_START];
	stat.vsize = value[FIELD_VSIZE];
	stat.start_stack = value[FIELD_STACK];
	*ret = stat;
	return 0;
}

int proc_stat_read(int dirfd, const char *path, struct proc_stat *ret)
{
	char text[2048];
	ssize_t len = file_read(dirfd, path, text, sizeof(text));

	return len < 0 ? (int)len : proc_stat_parse(text, (size_t)len, ret);
}

/* ---- status ---- */

/* In the order of task_mem(), fs/proc/task_mmu.c. */
static const struct text_part names[] = {
	[STATUS_VM_SIZE] = KEYED_NAME("VmSize"),     [STATUS_VM_LCK] = KEYED_NAME("VmLck"),
	[STATUS_VM_PIN] = KEYED_NAME("VmPin"),	     [STATUS_VM_HWM] = KEYED_NAME("VmHWM"),
	[STATUS_RSS_ANON] = KEYED_NAME("RssAnon"),   [STATUS_RSS_FILE] = KEYED_NAME("RssFile"),
	[STATUS_RSS_SHMEM] = KEYED_NAME("RssShmem"), [STATUS_VM_PTE] = KEYED_NAME("VmPTE"),
	[STATUS_VM_SWAP] = KEYED_NAME("VmSwap"),     [STATUS_HUGETLB] = KEYED_NAME("HugetlbPages"),
};
_Static_assert(ARRAY_SIZE(names) == STATUS_COUNTERS, "a counter without a name");

/* "Uid: real effective saved fs", and Gid. All four must be there, so none is cut off. */
static bool ids_line(const struct keyed_line *line, uint32_t *ret_effective)
{
	const char *p = line->value;
	uint64_t id[4];

	for (unsigned i = 0; i < ARRAY_SIZE(id); i++)
		if (!scan_u64(&p, line->end, &id[i]) || id[i] > UINT32_MAX)
			return false;
	*ret_effective = (uint32_t)id[1];
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

/* "NSpid: outermost … innermost". */
static bool own_pid_line(const struct keyed_line *line, pid_t *ret)
{
	const char *p = line->value;
	uint64_t pid = 0;

	if (!line->whole)
		return false;
	while (scan_u64(&p, line->end, &pid)) {
		if (!pid || pid > INT_MAX)
			return false;
	}
	*ret = (pid_t)pid;
	return pid;
}

int proc_status_parse(const char *text, size_t len, struct proc_status *ret)
{
	struct proc_status status = {.egid = (gid_t)-1};
	struct keyed_counters counters = {names, STATUS_COUNTERS, .value = status.value};
	struct keyed_line line;
	bool uid = false, gid = false, own_pid = false, threads = false;

	if (!len)
		return -EINVAL;
	for (const char *pos = text, *end = text + len; keyed_next(&pos, end, &line);) {
		if (keyed_counter(&line, &counters))
			continue;
		if (!uid && part_is(line.key, "Uid"))
			uid = ids_line(&line, &status.euid);
		else if (!gid && part_is(line.key, "Gid"))
			gid = ids_line(&line, &status.egid);
		else if (!own_pid && part_is(line.key, "NSpid"))
			own_pid = own_pid_line(&line, &status.own_pid);
		else if (!threads && part_is(line.key, "Threads"))
			threads = threads_line(&line, &status.threads);
	}
	if (!uid)
		return -EINVAL;
	status.have = counters.have;
	*ret = status;
	return 0;
}
