/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A snapshot as bytes, and back: the frames of recordings, and what the collector of serve passes
 * to its HTTP process. Pure.
 *
 *   char magic[4]   SNAPSHOT_CODEC_MAGIC
 *   u8   major      another one means something else
 *   u8   minor      a higher one has blocks that this reader skips
 *   u8   kind       0: the frame stands alone; 1: it tells differences to a reference
 *   u8   0
 *   blocks          columns (model/column_codec.h)
 *
 * Processes are rows in the order of their pids. A process with the pid and the start time of one
 * of the reference continues that row. What follows from other columns (counters.def: DERIVED, rss
 * where its parts are known, the owner of an address space) is not stored. Counters have numbers of
 * their own, so counters.def may be put in another order.
 *
 * Not stored: what only the collection itself uses (keys, the state of page table walks, deltas of
 * threads) and what watch adds to a row.
 */
#ifndef ZMEM_MODEL_SNAPSHOT_CODEC_H
#define ZMEM_MODEL_SNAPSHOT_CODEC_H

#include "base/strbuf.h"
#include "model/snapshot.h"

#define SNAPSHOT_CODEC_MAGIC "ZSNP"
#define SNAPSHOT_CODEC_MAJOR 1
#define SNAPSHOT_CODEC_MINOR 0

/*
 * Appends the snapshot to `out`, which has no sink. With a reference, as differences to it; it has
 * to be there again for decoding. Returns 0, -ENOMEM, or -EINVAL for a snapshot that cannot be:
 * processes out of order, a value that its column cannot hold. Then `out` is as it was.
 */
int snapshot_encode(const struct snapshot *s, const struct snapshot *reference, struct strbuf *out);
/*
 * Replaces the contents of *s, whose memory is used again; zeroed memory is an empty one. The
 * snapshot owns its texts: neither `data` nor the reference has to outlive the call. A frame that
 * stands alone ignores the reference. Returns 0; -EBADMSG for what snapshot_encode() did not write,
 * or with another reference; -ENOTSUP for another major version; or -ENOMEM. Then *s is empty.
 */
int snapshot_decode(const void *data, size_t len, const struct snapshot *reference,
		    struct snapshot *s);

#endif
