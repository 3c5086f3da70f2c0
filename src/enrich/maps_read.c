// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reads smaps piece by piece, and smaps_rollup for what smaps cannot tell: the PSS of each mapping
 * is cut to its kB, so their sum may be off by as many kB as there are mappings.
 */
#include "enrich/maps_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "proc/smaps.h"

struct reader {
	struct map_set *set;
	pid_t pid;
	struct smaps smaps;
	char piece[32768];
};

static int add_mapping(void *arg, const struct mapping *m)
{
	struct reader *reader = arg;
	struct mapping mapping = *m;

	mapping.pid = reader->pid;
	return map_set_add(reader->set, &mapping);
}

static int read_pieces(struct reader *reader, const struct maps_request *q)
{
	cleanup_close int fd = openat(q->dirfd, "smaps", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	smaps_begin(&reader->smaps, add_mapping, reader);
	for (;;) {
		ssize_t len = read(fd, reader->piece, sizeof(reader->piece));
		int r;

		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0)
			return -errno;
		if (!q->go_on(q->arg))
			return -ETIMEDOUT;
		if (len == 0)
			break;
		r = smaps_feed(&reader->smaps, reader->piece, (size_t)len);
		if (r < 0)
			return r;
	}
	return smaps_end(&reader->smaps);
}

static bool is(const struct smaps_rollup *f, enum rollup_counter counter, uint64_t value)
{
	return rollup_has(f, counter) && f->value[counter] == value;
}

/* A sum of values that were cut to their kB, and the value that was cut once. */
static bool is_near(const struct smaps_rollup *f, enum rollup_counter counter, uint64_t sum,
		    size_t mappings)
{
	return rollup_has(f, counter) && f->value[counter] >= sum &&
	       f->value[counter] - sum <= mappings * 1024;
}

/* What the process has as a whole, if it is still what was read. */
static void take_total(struct map_set *set, const struct smaps_rollup *f)
{
	struct map_counters *total = &set->total;
	uint64_t private = f->value[ROLLUP_PRIVATE_CLEAN] + f->value[ROLLUP_PRIVATE_DIRTY];

	if (!is(f, ROLLUP_RSS, total->value[MAPS_RSS]) || private != total->value[MAPS_PRIVATE] ||
	    !is(f, ROLLUP_SWAP, total->value[MAPS_SWAP]) ||
	    !is_near(f, ROLLUP_PSS, total->value[MAPS_PSS], set->mappings) ||
	    !is_near(f, ROLLUP_SWAP_PSS, total->value[MAPS_SWAP_PSS], set->mappings))
		return;
	total->value[MAPS_PSS] = f->value[ROLLUP_PSS];
	total->value[MAPS_SWAP_PSS] = f->value[ROLLUP_SWAP_PSS];
	set->total_exact = true;
}

/* A process that ends while it is read has fewer mappings, and no smaps_rollup afterwards. */
static int read_rollup(struct reader *reader, const struct maps_request *q)
{
	struct smaps_rollup counters;
	ssize_t len;

	if (!q->has_rollup)
		return 0;
	len = file_read(q->dirfd, "smaps_rollup", reader->piece, sizeof(reader->piece));
	if (len <= 0)
		return len == 0 || len == -ENOENT ? -ESRCH : (int)len;
	if (smaps_rollup_parse(reader->piece, (size_t)len, &counters) == 0)
		take_total(reader->set, &counters);
	return 0;
}

int maps_read(const struct maps_request *q, struct map_set **ret)
{
	cleanup_free struct reader *reader = malloc(sizeof(*reader));
	int r;

	if (!reader)
		return -ENOMEM;
	reader->pid = q->pid;
	reader->set = map_set_new(q->by_name);
	if (!reader->set)
		return -ENOMEM;
	r = read_pieces(reader, q);
	if (r == -ENODATA)
		r = -ESRCH;
	if (r == 0)
		r = read_rollup(reader, q);
	if (r < 0) {
		map_set_free(reader->set);
		return r;
	}
	*ret = reader->set;
	return 0;
}
