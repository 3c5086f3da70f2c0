/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads and writes recordings, format 2: snapshots (model/snapshot_codec.h) as compressed frames.
 * The format has no names of files, but those of shared memory (struct shared_files).
 *
 * All integers are little-endian. Every crc is zlib's crc32() of the bytes named beside it.
 *
 *   header  char magic[8]   RECORDING_MAGIC, as in format 1
 *           u16  major      RECORDING_MAJOR; another one means another format
 *           u16  minor      a higher one has a longer header or parts that this reader skips
 *           u32  size       of the header
 *           char tool[12]   the version of the program that wrote it, padded with NULs
 *           u32  flags      enum recording_flags
 *           u32  interval   minor 1: ms between the frames of a segment (recording_ring.h)
 *           u32  crc        of the header before it
 *   part    char mark[4]    "PART"
 *           u8   kind       enum recording_part; others are skipped
 *           u8   0[3]
 *           u32  size       of the payload
 *           u32  raw size   of the payload after decompression; END: the number of frames;
 *                           INDEX: that of its entries
 *           i64  time       of the snapshot, ms since the epoch
 *           u32  crc        of the payload
 *           u32  crc        of the 28 bytes before it
 *           then the payload: a snapshot, one frame of zstd with its content size. Zeros may
 *                           be behind it, in a frame that zstd skips
 *   index   the payload of INDEX, not compressed: an entry for each part before it, in order
 *           i64  time
 *           u32  size       of the payload
 *           u32  raw size
 *           u32  kind
 *
 * A delta frame has the differences to the frame before it, a key frame stands alone. Complete
 * parts stay readable if the end of the file is lost. The payload of END is the offset of the
 * index, if there is one: it tells where frames are without reading all of the file.
 *
 * A frame is corrupt if it takes more memory than its bytes allow (recording_internal.h), or if it
 * is too far behind its key frame. The writer adds zeros to a frame that would take more memory:
 * many processes that are all alike take few bytes.
 */
#ifndef ZMEM_RECORDING_FILE_H
#define ZMEM_RECORDING_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "model/event.h"
#include "model/snapshot.h"

#define RECORDING_MAGIC	    "\x89ZMEM\r\n\x1a" /* a transfer as text corrupts it */
#define RECORDING_MAJOR	    2
#define RECORDING_MINOR	    1
#define RECORDING_HEAD_SIZE 36	 /* of minor version 0, which a file of its own has */
#define RECORDING_HEAD_MAX  4096 /* of a higher minor version */
#define RECORDING_PART_SIZE 32
#define RECORDING_TOOL_LEN  12
#define RECORDING_REASON    128
#define RECORDING_ENTRY	    20 /* bytes of an entry of the index */
/* The maximum of a frame after decompression: about 100,000 processes with command lines. */
#define RECORDING_RAW_MAX (64u << 20)
/*
 * Any frame then takes at most 30 decodings (20 ms with 2,000 processes). 60 would save a tenth to
 * a fifth of the bytes and take twice as long.
 */
#define RECORDING_KEY_EVERY 30
#define RECORDING_KEY_MOST  128 /* a reader refuses a frame that needs more than so many */
#define RECORDING_LEVEL	    3	/* of zstd */

enum recording_flags {
	RECORDING_CMDLINES = 1 << 0, /* it may contain command lines */
};

enum recording_part {
	PART_KEY = 1,
	PART_DELTA = 2,
	PART_END = 3, /* nothing follows */
	PART_INDEX = 4,
	PART_EVENT = 5,	    /* model/event.h; not compressed */
	PART_EVENT_END = 6, /* likewise: how an event ended, which has no number of its own */
	PART_SIGNAL = 7,    /* likewise: EVENT_SIGNAL, which has none either */
};

struct recording_options {
	const char *tool;
	uint32_t flags;
	unsigned key_every;   /* 0: RECORDING_KEY_EVERY */
	uint32_t interval_ms; /* of a segment, which gets an index; 0: a file of its own */
};

struct recording_writer {
	struct strbuf *out;
	unsigned key_every;
	uint32_t frames;
	unsigned since_key;	 /* frames */
	uint64_t since_key_size; /* bytes of their payloads and of that of the key frame */
	bool has_previous;
	struct snapshot previous, next;
	struct strbuf raw, packed;
	/* For a segment, which is indexed: */
	bool indexed;
	struct strbuf index;
	uint64_t at; /* the offset of the next part */
	struct {
		size_t index;
		uint64_t at;
		uint32_t frames;
	} mark;
	struct ZSTD_CCtx_s *zstd;
};

/*
 * Appends the header to `out`; later calls append the frames to it. Returns 0 or a negative errno.
 */
int recording_writer_init(struct recording_writer *w, const struct recording_options *o,
			  struct strbuf *out);
/* Begins another file and keeps the memory. Returns 0 or a negative errno. */
int recording_writer_begin(struct recording_writer *w, const struct recording_options *o);
/*
 * Appends a frame. Returns 0 or a negative errno; -EINVAL or -EFBIG for a snapshot that cannot be
 * written, and then nothing is appended.
 */
int recording_writer_append(struct recording_writer *w, const struct snapshot *s);
/* Appends an event, or the end of one. Returns 0 or a negative errno. */
int recording_writer_event(struct recording_writer *w, const struct event_record *e);
/* What is appended from now on may not be stored. */
void recording_writer_mark(struct recording_writer *w);
/* What was appended since the mark was not stored; the next frame stands alone. */
void recording_writer_drop(struct recording_writer *w);
/* Appends the index of a segment, and the end. A recording without an end is valid, too. */
int recording_writer_finish(struct recording_writer *w);
void recording_writer_done(struct recording_writer *w);

struct recording_reader;
struct segment_name; /* segments.h */

#define RECORDING_EVENT_MAX (64 * 1024) /* bytes of an event */

struct recording_info {
	char tool[RECORDING_TOOL_LEN + 1];
	unsigned minor;
	uint32_t flags;
	size_t events;
	size_t numbered; /* those that are no signals */
	size_t frames;	 /* each range of corrupt bytes between parts counts as one frame */
	bool ended;
	bool torn;	 /* the bytes behind the last complete part are not a part */
	uint64_t end;	 /* the end of the last complete part */
	size_t segments; /* of a directory; 0: a file */
	size_t left_out; /* files of a directory that cannot be read */
	size_t cut_off; /* and those, but for the last one, with a last part that is not complete */
};

/*
 * Finds the frames that an open file has now. The file must be seekable and outlive the reader.
 * Returns 0 or a negative errno: -EBADMSG if it is not a recording, -ENOTSUP for a format that this
 * program cannot read. `reason` is then in words that fit behind the name of the file.
 */
int recording_reader_open(int fd, struct recording_reader **ret, char reason[RECORDING_REASON]);
/* The same for bytes in memory, which must outlive the reader. */
int recording_reader_open_memory(const void *data, size_t len, struct recording_reader **ret,
				 char reason[RECORDING_REASON]);
/*
 * The same for the segments in a directory (recording_ring.h), oldest first, as one recording. They
 * are opened as they are needed, a few at a time: a frame of a file that the writer has removed
 * meanwhile is -ENOENT. `dir` may be closed. Segments that cannot be read are counted. -ENOENT: the
 * directory has none. -EACCES: its files may not be read.
 */
int recording_reader_open_dir(int dir, struct recording_reader **ret,
			      char reason[RECORDING_REASON]);
/* The same without segments that were written last before a time, ms since the epoch. */
int recording_reader_open_since(int dir, int64_t since_ms, struct recording_reader **ret,
				char reason[RECORDING_REASON]);
/*
 * Segments that are needed later are opened by fn, which returns a descriptor or a negative errno;
 * without it by segment_open(). For a program that has given up what opens them.
 */
void recording_reader_set_open(struct recording_reader *r,
			       int (*fn)(int dir, const struct segment_name *name));
void recording_reader_free(struct recording_reader *r);
const struct recording_info *recording_reader_info(const struct recording_reader *r);
/*
 * The time of frame i, from 0. A corrupt frame has the time of the frame before; at the beginning,
 * that of the frame behind.
 */
int64_t recording_reader_time(const struct recording_reader *r, size_t i);
/*
 * True if frames are missing before frame i, or the clock was set: more time than the interval of
 * its segment, or less than none, lies between it and the frame before. Never in a file of its own.
 */
bool recording_reader_gap(const struct recording_reader *r, size_t i);
/* The earliest and the latest time of all frames: a clock may have been set back. */
void recording_reader_range(const struct recording_reader *r, int64_t *ret_first,
			    int64_t *ret_last);
/*
 * The times of a run of frames, in which the clock ran forwards: run 0 is the last one, run 1 the
 * one before. False: there is none.
 */
bool recording_reader_run(const struct recording_reader *r, size_t i, int64_t *ret_first,
			  int64_t *ret_last);
/* How often the clock showed a moment while it was recorded: more than once if it was set back. */
unsigned recording_reader_shown(const struct recording_reader *r, int64_t time_ms);
/* True if the recording had ended by that time: a frame after the latest one was due before. */
bool recording_reader_ended(const struct recording_reader *r, int64_t time_ms);
/*
 * Finds the frame of a moment: the latest one that is not after it, in whatever order the clock
 * made them. If the clock showed the moment more than once while frames were recorded, the one that
 * was recorded last. Frames that are lost do not count. False: there is none.
 */
bool recording_reader_find(const struct recording_reader *r, int64_t time_ms, size_t *ret);
/* Whether frame i, which was found, is of that moment: no other one was due between them. */
bool recording_reader_covers(const struct recording_reader *r, size_t i, int64_t time_ms);
/* Finds the earliest frame after a moment. False: there is none. */
bool recording_reader_later(const struct recording_reader *r, int64_t time_ms, size_t *ret);
/* True if frame i cannot be read, as far as that is known: reading it may find out. */
bool recording_reader_lost(const struct recording_reader *r, size_t i);
/* The time of event i, from 0; and the number of the frame that is later than it. */
int64_t recording_reader_event_time(const struct recording_reader *r, size_t i);
size_t recording_reader_event_frame(const struct recording_reader *r, size_t i);
/* The number of an event for people, from 1, the newest, on; 0 for a signal. */
unsigned recording_reader_event_number(const struct recording_reader *r, size_t i);
/* Reads event i. Returns 0 or a negative errno and `reason`. */
int recording_reader_event(struct recording_reader *r, size_t i, struct event_record *ret,
			   char reason[RECORDING_REASON]);
/*
 * Reads how event i ended. Returns 1, 0 if the recording has no end of it, or a negative errno and
 * `reason`.
 */
int recording_reader_event_end(struct recording_reader *r, size_t i, struct event_record *ret,
			       char reason[RECORDING_REASON]);
/*
 * The snapshot of frame i, valid until the next call. The frame behind the one decoded last takes
 * one decoding; any other frame takes the decodings from its key frame on. Returns 0 or a negative
 * errno and `reason`; -EBADMSG: `reason` names the corrupt frame, from 1.
 */
int recording_reader_frame(struct recording_reader *r, size_t i, const struct snapshot **ret,
			   char reason[RECORDING_REASON]);
/* The same, as a copy that the caller owns and may change (snapshot_decode()). */
int recording_reader_copy(struct recording_reader *r, size_t i, struct snapshot *ret,
			  char reason[RECORDING_REASON]);
/* True if a file that begins with these bytes, at least 8, can be a recording. */
bool recording_is_one(const void *data);

#endif
