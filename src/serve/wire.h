/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A whole snapshot as bytes that mean the same wherever they lie: what the process that collects
 * hands to the one that speaks HTTP. Pure. The reader believes nothing of it, although the writer
 * is ours.
 */
#ifndef ZMEM_SERVE_WIRE_H
#define ZMEM_SERVE_WIRE_H

#include "base/strbuf.h"
#include "zmem/result.h"

/* What the memory controller says of a cgroup. */
struct controller {
	const char *path;
	counter_mask have; /* of COUNTER_MEM_CURRENT and COUNTER_MEM_LIMIT */
	uint64_t current, limit;
};

struct shot {
	struct snapshot snapshot;
	struct result books; /* of this whether the machine's books close, and nothing else */
	struct controller *controller; /* sorted by path */
	size_t controller_count;
};

/* Appends it. Errors stay in the strbuf. */
void wire_encode(const struct shot *shot, struct strbuf *out);
/*
 * Texts stay where they are: `data` must outlive the shot. Returns 0, -EBADMSG for what
 * wire_encode() did not write, or -ENOMEM.
 */
int wire_decode(const char *data, size_t len, struct shot *ret);
/* Of a decoded one. */
void shot_done(struct shot *shot);

#endif
