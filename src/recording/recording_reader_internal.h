/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A reader of recordings, for the two files that are it. */
#ifndef ZMEM_RECORDING_READER_INTERNAL_H
#define ZMEM_RECORDING_READER_INTERNAL_H

#include <stdarg.h>
#include <stdio.h>

#include "recording/recording_file.h"
#include "recording/wire.h"

#define NO_FRAME UINT32_MAX

struct frame {
	uint64_t at; /* of its part */
	int64_t time_ms;
	uint32_t size, raw_size;
	uint32_t key; /* the frame that decoding begins with, NO_FRAME: there is none */
	bool is_delta, is_corrupt;
};

struct recording_reader {
	int fd; /* -1: of memory */
	const char *data;
	uint64_t size;
	struct recording_info info;
	struct frame *frame;
	size_t capacity;
	struct ZSTD_DCtx_s *zstd;
	char *payload, *raw;
	size_t payload_room, raw_room;
	struct snapshot current, next;
	uint32_t current_frame; /* NO_FRAME: none */
};

__attribute__((format(printf, 3, 4))) static inline int refuse(char why[RECORDING_WHY], int error,
							       const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(why, RECORDING_WHY, fmt, args);
	va_end(args);
	return error;
}

static inline int no_memory(char why[RECORDING_WHY])
{
	return refuse(why, -ENOMEM, "out of memory");
}

/* Whether a part begins like this. */
static inline bool is_part(const char *head)
{
	return memcmp(head, "PART", 4) == 0 && wire_get32(head + 28) == wire_crc(head, 28, NULL, 0);
}

/* All of it or an error; -EBADMSG: the file has become shorter. */
int recording_read_at(const struct recording_reader *r, uint64_t at, void *buf, size_t len);
/* Behind the header. Returns 0, or a negative errno and why. */
int recording_find_frames(struct recording_reader *r, char why[RECORDING_WHY]);

#endif
