// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Knows /proc/PID/stat up to field 28 (do_task_stat(), fs/proc/array.c). Refuses a text that ends
 * before that field does: its last number may be half of one.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/parse.h"
#include "proc/stat.h"

enum {
	FIELD_PPID = 4,
	FIELD_FLAGS = 9,
	FIELD_THREADS = 20,
	FIELD_START = 22,
	FIELD_VSIZE = 23,
	FIELD_STACK = 28,
};

/* The field at *pos, which a blank or the line's end must follow. */
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

/* Reads a field if it is one of ours; the others may be negative and are not looked at. */
static int take_field(int field, const char *s, size_t len, struct proc_stat *stat)
{
	uint64_t v;

	switch (field) {
	case FIELD_PPID:
		if (parse_u64(s, len, INT_MAX, &v) < 0)
			return -EINVAL;
		stat->ppid = (pid_t)v;
		return 0;
	case FIELD_FLAGS:
	case FIELD_THREADS:
		if (parse_u64(s, len, UINT32_MAX, &v) < 0)
			return -EINVAL;
		*(field == FIELD_FLAGS ? &stat->flags : &stat->threads) = (uint32_t)v;
		return 0;
	case FIELD_START:
		return parse_u64(s, len, UINT64_MAX, &stat->start_ticks) < 0 ? -EINVAL : 0;
	case FIELD_VSIZE:
		return parse_u64(s, len, UINT64_MAX, &stat->vsize) < 0 ? -EINVAL : 0;
	case FIELD_STACK:
		return parse_u64(s, len, UINT64_MAX, &stat->start_stack) < 0 ? -EINVAL : 0;
	default:
		return 0;
	}
}

int proc_stat_parse(const char *text, size_t len, struct proc_stat *ret)
{
	struct proc_stat stat = {0};
	const char *end, *open, *close, *pos, *s;
	size_t n;
	uint64_t pid;

	if (!len)
		return -EINVAL;
	end = text + len;
	/* The name may hold ')' and blanks; nothing behind it does. */
	open = memchr(text, '(', len);
	close = memrchr(text, ')', len);
	if (!open || !close || close < open || end - close < 2 || close[1] != ' ')
		return -EINVAL;
	if (open - text < 2 || open[-1] != ' ' ||
	    parse_u64(text, open - 1 - text, INT_MAX, &pid) < 0)
		return -EINVAL;
	stat.pid = (pid_t)pid;
	/* Longer only for kernel threads (wq_worker_comm(), get_kthread_comm()), which we cut. */
	n = close - open - 1;
	memcpy(stat.comm, open + 1, n < sizeof(stat.comm) ? n : sizeof(stat.comm) - 1);

	pos = close + 2;
	s = next_field(&pos, end, &n);
	if (!s || n != 1 || !isalpha((unsigned char)*s))
		return -EINVAL;
	stat.state = *s;
	for (int field = FIELD_PPID; field <= FIELD_STACK; field++) {
		s = next_field(&pos, end, &n);
		if (!s || take_field(field, s, n, &stat) < 0)
			return -EINVAL;
	}
	*ret = stat;
	return 0;
}
