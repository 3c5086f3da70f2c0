/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording as a file: tapes (tape.h), chapter by chapter. Pure: from bytes and to bytes.
 *
 * All integers are little-endian. Every crc is zlib's crc32() of what it is said to cover.
 *
 *   header   char magic[8]      RECORDING_MAGIC
 *            u32  format        RECORDING_FORMAT: what is behind it may differ in others
 *            u32  record        ZMEM_RECORD_VERSION of the kernel's records in it
 *            char tool[12]      the version of the program that made it, filled with NULs
 *            u32  crc           of the 28 bytes before it
 *   chapter  char mark[4]       "CHAP"
 *            u32  frame         0: what was read when the machine was opened; 1, 2, …: a reading
 *                               of all processes
 *            char name[16]      "session" in frame 0, "snapshot" in the others, and what else there
 *                               may be; filled with NULs
 *            u32  readings      how many there are in it
 *            u32  length        bytes of the readings
 *            u32  crc           of the 32 bytes before it and of the readings
 *            then the readings
 *   reading  u32  length        of the data
 *            u16  key length    1 … TAPE_KEY_MAX
 *            u16  errno         0, or why it could not be read; then there is no data
 *            key, NUL, data, NUL; a key is made of printable ASCII characters
 *   end      char mark[4]       "END\n"
 *            u32  chapters      how many there are before it
 *            u32  crc           of the 8 bytes before it; the file ends here
 *
 * Chapters come in the order of their frames, frames are numbered without a gap, and there is at
 * least one beside 0. Errors are numbered as on x86-64.
 */
#ifndef ZMEM_RECORDING_H
#define ZMEM_RECORDING_H

#include <stddef.h>
#include <stdint.h>

#include "recording/tape.h"

#define RECORDING_MAGIC	       "\x89ZMEM\r\n\x1a" /* no text, and damaged by whoever takes it for one */
#define RECORDING_FORMAT       1

#define RECORDING_HEADER_SIZE  32
#define RECORDING_CHAPTER_SIZE 36
#define RECORDING_READING_SIZE 8
#define RECORDING_END_SIZE     12

#define RECORDING_TOOL_LEN     12
#define RECORDING_CHAPTER_LEN  16
/* The longest reading there can be: a list of as many processes as Linux allows (4 Mi). */
#define RECORDING_DATA_MAX     (16u << 20)
#define RECORDING_CHAPTERS_MAX 16 /* of one frame */

struct recorded {
	const char *key; /* terminated */
	struct tape_reading reading;
};

struct chapter {
	uint32_t frame;
	char name[RECORDING_CHAPTER_LEN + 1];
	size_t first, count; /* of its readings */
};

/* Points into the bytes it was parsed from. Zeroed memory is an empty one. */
struct recording {
	char tool[RECORDING_TOOL_LEN + 1];
	uint32_t frames; /* beside 0 */
	struct chapter *chapter;
	size_t chapters;
	struct recorded *reading;
	size_t readings;
};

#define RECORDING_WHY 128

/*
 * Reads a whole file. Returns 0, -EBADMSG if that is no recording, or damaged, or cut off, -ENOTSUP
 * for one that this program cannot read, or -ENOMEM; then `why` says so in words that fit behind
 * the file's name. recording_done() only after 0.
 */
int recording_parse(const void *data, size_t len, struct recording *ret, char why[RECORDING_WHY]);
void recording_done(struct recording *recording);
/* Whether a file that begins like this can be one, so that nobody reads on without end. */
int recording_check_header(const void *data, size_t len, char why[RECORDING_WHY]);

/* Writes a header, for tape_take_chapter() and recording_end() to write on. */
void recording_begin(struct strbuf *out, const char *tool);
void recording_end(struct strbuf *out, uint32_t chapters);

#endif
