/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording as a file, format 2: snapshots (model/snapshot_codec.h) as compressed frames. Prints
 * nothing; knows no file name.
 *
 * All integers are little-endian. Every crc is zlib's crc32() of what it is said to cover.
 *
 *   header  char magic[8]   RECORDING_MAGIC, as of format 1 (zmem/recording.h)
 *           u16  major      RECORDING_MAJOR: what follows may differ in others
 *           u16  minor      a higher one has a longer header or parts that this reader skips
 *           u32  size       of the header
 *           char tool[12]   the version of the program that made it, filled with NULs
 *           u32  flags      enum recording_flags
 *           u32  crc        of the header before it
 *   part    char mark[4]    "PART"
 *           u8   kind       enum recording_part; others are skipped
 *           u8   0[3]
 *           u32  size       of the payload
 *           u32  raw size   of the payload after decompression; END: how many frames there are
 *           i64  time       of the snapshot, ms since the epoch
 *           u32  crc        of the payload
 *           u32  crc        of the 28 bytes before it
 *           then the payload: a snapshot, one frame of zstd with its content size
 *
 * A delta frame has the differences to the frame before it, a key frame stands alone. Whole parts
 * are readable, whatever became of the end of the file.
 */
#ifndef ZMEM_RECORDING_FILE_H
#define ZMEM_RECORDING_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "recording/recording.h"
#include "model/snapshot.h"

#define RECORDING_MAJOR	    2
#define RECORDING_MINOR	    0
#define RECORDING_HEAD_SIZE 36
#define RECORDING_HEAD_MAX  4096 /* of a newer minor version */
#define RECORDING_PART_SIZE 32
/* A frame after decompression: some 100,000 processes with command lines. */
#define RECORDING_RAW_MAX (64u << 20)
/*
 * So any frame opens with at most 30 decodings (20 ms with 2,000 processes). 60 would take a tenth
 * to a fifth fewer bytes and twice as long.
 */
#define RECORDING_KEY_EVERY 30
#define RECORDING_LEVEL	    3 /* of zstd */

enum recording_flags {
	RECORDING_CMDLINES = 1 << 0, /* it may hold command lines */
};

enum recording_part {
	PART_KEY = 1,
	PART_DELTA = 2,
	PART_END = 3, /* without a payload; nothing follows */
};

struct recording_options {
	const char *tool;
	uint32_t flags;
	unsigned key_every; /* 0: RECORDING_KEY_EVERY */
	int level;	    /* 0: RECORDING_LEVEL */
};

struct recording_writer {
	struct strbuf *out;
	unsigned key_every;
	int level;
	uint32_t frames;
	unsigned since_key; /* frames */
	bool has_previous;
	struct snapshot previous, next;
	struct strbuf raw, packed;
	struct ZSTD_CCtx_s *zstd;
};

/* Appends the header to `out`, which gets all that follows. Returns 0 or a negative errno. */
int recording_writer_init(struct recording_writer *w, const struct recording_options *o,
			  struct strbuf *out);
/*
 * Appends a frame. Returns 0; -EINVAL or -EFBIG for a snapshot that cannot be written, then nothing
 * was; or another negative errno.
 */
int recording_writer_append(struct recording_writer *w, const struct snapshot *s);
/* Appends the end. A recording without one is as good. */
int recording_writer_finish(struct recording_writer *w);
void recording_writer_done(struct recording_writer *w);

struct recording_reader;

struct recording_info {
	char tool[RECORDING_TOOL_LEN + 1];
	unsigned minor;
	uint32_t flags;
	size_t frames; /* where something between parts is corrupt, one stands for all of it */
	bool ended;
	bool torn;    /* what follows the last whole part is none */
	uint64_t end; /* where the last whole part ends */
};

/*
 * Finds the frames of an open file, which must be seekable and outlive the reader; reads what is
 * there now. Returns 0; -EBADMSG for no recording; -ENOTSUP for a format that this program cannot
 * read; or another negative errno. Then `why` says so in words that fit behind the file's name.
 */
int recording_reader_open(int fd, struct recording_reader **ret, char why[RECORDING_WHY]);
/* Likewise of bytes, which must outlive the reader. */
int recording_reader_open_memory(const void *data, size_t len, struct recording_reader **ret,
				 char why[RECORDING_WHY]);
void recording_reader_free(struct recording_reader *r);
const struct recording_info *recording_reader_info(const struct recording_reader *r);
/* Of frame i, from 0; that of the frame before for a corrupt one. */
int64_t recording_reader_time(const struct recording_reader *r, size_t i);
/*
 * The snapshot of frame i, valid until the next call. The next frame takes one decoding, any other
 * one those from its key frame on. Returns 0, or a negative errno and `why`, which names the frame
 * (from 1) that is corrupt: -EBADMSG.
 */
int recording_reader_frame(struct recording_reader *r, size_t i, const struct snapshot **ret,
			   char why[RECORDING_WHY]);

#endif
