/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Encodes a snapshot as bytes and decodes it: the frames of recordings, and what the collector of
 * serve passes to its HTTP process. No I/O.
 *
 *   char magic[4]   SNAPSHOT_CODEC_MAGIC
 *   u8   major      another one means another format
 *   u8   minor      a higher one has blocks that this reader skips
 *   u8   kind       0: the frame stands alone; 1: it holds differences to a reference
 *   u8   0
 *   blocks          columns (model/column_codec.h)
 *
 * Rows are processes in the order of their pids. A process with the pid and the start time of a
 * process of the reference continues that row. Values that follow from other columns (counters.def:
 * DERIVED, rss if its parts are known, the owner of an address space) are not stored. Counters have
 * numbers of their own in the format, so the order of counters.def may change.
 *
 * Not stored: what only the collection itself uses (keys, the state of page table walks, deltas of
 * threads) and what watch adds to a row.
 */
#ifndef ZMEM_MODEL_SNAPSHOT_CODEC_H
#define ZMEM_MODEL_SNAPSHOT_CODEC_H

#include "base/strbuf.h"
#include "model/column_codec.h"
#include "model/snapshot.h"

#define SNAPSHOT_CODEC_MAGIC "ZSNP"
#define SNAPSHOT_CODEC_MAJOR 1
#define SNAPSHOT_CODEC_MINOR 2

/*
 * Appends the snapshot to `out`, which must not have a sink. With a reference it appends the
 * differences; decoding needs the same reference. Returns 0, -ENOMEM, or -EINVAL for an impossible
 * snapshot: processes out of order, or a value that its column cannot hold. On failure `out` is
 * unchanged.
 */
int snapshot_encode(const struct snapshot *s, const struct snapshot *reference, struct strbuf *out);
/*
 * Replaces the contents of *s and reuses its memory; zeroed memory is an empty snapshot. The
 * snapshot owns its texts: `data` and the reference may be freed after the call. A frame that
 * stands alone ignores the reference. What is allocated for the rows, their texts and the columns
 * counts in *memory; NULL: without a limit. The same bytes with the same reference always count the
 * same. Returns 0; -EBADMSG for bytes that snapshot_encode() did not write, with another reference,
 * or beyond the limit; -ENOTSUP for another major version; or -ENOMEM. On failure *s is empty.
 */
int snapshot_decode(const void *data, size_t len, const struct snapshot *reference,
		    struct codec_memory *memory, struct snapshot *s);

#endif
