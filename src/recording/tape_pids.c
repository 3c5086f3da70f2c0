// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Lists of processes on a tape: u32, little-endian, ascending. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "recording/wire.h"
#include "recording/tape.h"

static int compare_pids(const void *pa, const void *pb)
{
	const pid_t *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

int tape_put_pids(struct tape *tape, const char *key, pid_t *pids, size_t count)
{
	cleanup_free char *data = NULL;

	if (!tape_recording(tape))
		return 0;
	data = calloc(count + 1, sizeof(uint32_t));
	if (!data)
		return -ENOMEM;
	if (count)
		qsort(pids, count, sizeof(*pids), compare_pids);
	for (size_t i = 0; i < count; i++)
		wire_set32(data + i * sizeof(uint32_t), (uint32_t)pids[i]);
	tape_put(tape, key, 0, data, count * sizeof(uint32_t));
	return 0;
}

int tape_next_pids(struct tape *tape, const char *key, int (*fn)(void *arg, pid_t pid), void *arg)
{
	struct tape_reading list;
	uint32_t last = 0;

	if (tape_next(tape, key, &list) == TAPE_NONE)
		return -ENOENT;
	if (list.error)
		return list.error;
	for (size_t at = 0; at + sizeof(uint32_t) <= list.len; at += sizeof(uint32_t)) {
		uint32_t pid = wire_get32(list.data + at);
		int r;

		/* Nobody twice, or a short list would make many processes of few. */
		if (pid <= last || pid > INT_MAX)
			return -EBADMSG;
		last = pid;
		r = fn(arg, (pid_t)pid);
		if (r != 0)
			return r;
	}
	return 0;
}
