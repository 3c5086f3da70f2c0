// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reads snapshots from the bytes of a recording, which may be corrupt: lengths are checked against
 * the file, checksums before contents, and the size after decompression before memory is allocated.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "model/snapshot_codec.h"
#include "recording/recording_file.h"
#include "recording/recording_internal.h"

#define SEARCH_CHUNK (64 * 1024)
#define NO_FRAME     UINT32_MAX

struct frame {
	uint64_t at; /* the offset of its part */
	int64_t time_ms;
	uint32_t size, raw_size;
	uint32_t key; /* the frame where decoding begins; NO_FRAME: none */
	bool is_delta, is_corrupt;
};

struct recording_reader {
	int fd; /* -1: the bytes are in memory */
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

__attribute__((format(printf, 3, 4))) static int refuse(char reason[RECORDING_REASON], int error,
							const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(reason, RECORDING_REASON, fmt, args);
	va_end(args);
	return error;
}

static int no_memory(char reason[RECORDING_REASON])
{
	return refuse(reason, -ENOMEM, "out of memory");
}

/* True if these bytes are the head of a part. */
static bool is_part(const char *head)
{
	return memcmp(head, "PART", 4) == 0 && get_le32(head + 28) == crc_of(head, 28);
}

/* Reads all bytes. -EBADMSG: the file has become shorter. */
static int read_at(const struct recording_reader *r, uint64_t at, void *buf, size_t len)
{
	char *to = buf;

	if (r->fd < 0) {
		if (len)
			memcpy(buf, r->data + at, len);
		return 0;
	}
	while (len) {
		ssize_t n = pread(r->fd, to, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EBADMSG;
		to += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

/* ---- the header ---- */

bool recording_is_one(const void *data)
{
	return memcmp(data, RECORDING_MAGIC, sizeof(RECORDING_MAGIC) - 1) == 0;
}

/* True if the version can be printed. */
static bool is_version(const char *tool, size_t len)
{
	size_t i = 0;

	while (i < len && tool[i] > 0x20 && tool[i] < 0x7f)
		i++;
	return i == len;
}

/* The version is at the same offset as in format 2. */
static int refuse_format_1(const char *head, char reason[RECORDING_REASON])
{
	const char *tool = head + 16;
	size_t len = strnlen(tool, RECORDING_TOOL_LEN);

	if (!is_version(tool, len))
		len = 0;
	return refuse(reason, -ENOTSUP,
		      "recorded by zmem-bpf %.*s in format 1: zmem-bpf 0.1 can show it",
		      len ? (int)len : 3, len ? tool : "0.1");
}

static int check_format(const char *head, uint64_t size, char reason[RECORDING_REASON])
{
	const size_t magic = sizeof(RECORDING_MAGIC) - 1;
	unsigned major = get_le16(head + 8);

	if (!size)
		return refuse(reason, -EBADMSG, "it is empty");
	if (memcmp(head, RECORDING_MAGIC, size < magic ? size : magic) != 0)
		return refuse(reason, -EBADMSG, "it is not a recording of zmem-bpf");
	if (size >= magic + 4 && major == 1)
		return refuse_format_1(head, reason);
	if (size >= magic + 4 && major > RECORDING_MAJOR)
		return refuse(reason, -ENOTSUP, "it has format %u, this zmem-bpf reads format %u",
			      major, RECORDING_MAJOR);
	if (size < RECORDING_HEAD_SIZE)
		return refuse(reason, -EBADMSG, "it is cut off after %zu bytes", (size_t)size);
	return 0;
}

static int read_header(struct recording_reader *r, char reason[RECORDING_REASON])
{
	char head[RECORDING_HEAD_MAX] = {};
	size_t len = r->size < sizeof(head) ? r->size : sizeof(head), tool;
	int error = read_at(r, 0, head, len);

	if (error < 0)
		return refuse(reason, error, "%s", strerror(-error));
	error = check_format(head, r->size, reason);
	if (error < 0)
		return error;
	r->info.end = get_le32(head + 12);
	if (get_le16(head + 8) != RECORDING_MAJOR || r->info.end < RECORDING_HEAD_SIZE ||
	    r->info.end > len || get_le32(head + r->info.end - 4) != crc_of(head, r->info.end - 4))
		return refuse(reason, -EBADMSG, "its header is corrupt");
	r->info.minor = get_le16(head + 10);
	r->info.flags = get_le32(head + 28);
	tool = strnlen(head + 16, RECORDING_TOOL_LEN);
	memcpy(r->info.tool, head + 16, tool);
	if (!is_version(r->info.tool, tool))
		return refuse(reason, -EBADMSG, "its header is corrupt");
	return 0;
}

/* ---- finding frames by the heads of their parts, also behind corrupt bytes ---- */

/* Finds the next part behind corrupt bytes. Returns 1 and *ret, 0 or a negative errno. */
static int find_part(const struct recording_reader *r, uint64_t at, uint64_t *ret)
{
	cleanup_free char *chunk = malloc(SEARCH_CHUNK);

	if (!chunk)
		return -ENOMEM;
	while (r->size - at >= RECORDING_PART_SIZE) {
		size_t len = r->size - at < SEARCH_CHUNK ? r->size - at : SEARCH_CHUNK;
		const char *end = chunk + len, *found = chunk;
		int error = read_at(r, at, chunk, len);

		if (error < 0)
			return error;
		while ((found = memmem(found, (size_t)(end - found), "PART", 4)) &&
		       end - found >= RECORDING_PART_SIZE) {
			if (is_part(found)) {
				*ret = at + (uint64_t)(found - chunk);
				return 1;
			}
			found++;
		}
		/* The next chunk contains a part that begins at the end of this one. */
		at += len - (RECORDING_PART_SIZE - 1);
	}
	return 0;
}

static int add_frame(struct recording_reader *r, const struct frame *f)
{
	struct frame *frame, *last;

	if (r->info.frames >= NO_FRAME)
		return -EFBIG;
	frame = grow_items(r->frame, r->info.frames, &r->capacity, 64, sizeof(*frame));
	if (!frame)
		return -ENOMEM;
	r->frame = frame;
	frame = &r->frame[r->info.frames];
	last = r->info.frames ? frame - 1 : NULL;
	*frame = *f;
	if (f->is_corrupt)
		frame->time_ms = last ? last->time_ms : 0;
	frame->key = f->is_delta ? (last ? last->key : NO_FRAME) : (uint32_t)r->info.frames;
	r->info.frames++;
	return 0;
}

/* Reads a part with a valid head. Returns 1 if more may follow, 0, or a negative errno. */
static int read_part(struct recording_reader *r, const char *head)
{
	struct frame f = {
		.at = r->info.end,
		.time_ms = (int64_t)get_le64(head + 16),
		.size = get_le32(head + 8),
		.raw_size = get_le32(head + 12),
		.is_delta = head[4] == PART_DELTA,
	};
	uint64_t end = f.at + RECORDING_PART_SIZE + f.size;
	int error = 0;

	if (end > r->size) {
		r->info.torn = true;
		return 0;
	}
	r->info.end = end;
	if (head[4] == PART_END) {
		r->info.ended = true;
		r->info.torn = end != r->size;
		return 0;
	}
	if (head[4] == PART_KEY || head[4] == PART_DELTA)
		error = add_frame(r, &f);
	return error < 0 ? error : 1;
}

/* Skips bytes that are not a part: the rest of an incomplete part, or corrupt bytes. */
static int skip_corrupt(struct recording_reader *r)
{
	const struct frame corrupt = {.at = r->info.end, .is_delta = true, .is_corrupt = true};
	uint64_t next = 0;
	int error = find_part(r, r->info.end, &next);

	if (error <= 0) {
		r->info.torn = error == 0;
		return error;
	}
	r->info.end = next;
	error = add_frame(r, &corrupt);
	return error < 0 ? error : 1;
}

/* Finds the frames behind the header. Returns 0, or a negative errno and reason. */
static int find_frames(struct recording_reader *r, char reason[RECORDING_REASON])
{
	char head[RECORDING_PART_SIZE];
	int error = 1;

	while (error > 0 && r->info.end < r->size) {
		bool whole = r->size - r->info.end >= sizeof(head);

		error = whole ? read_at(r, r->info.end, head, sizeof(head)) : 0;
		if (error < 0)
			break;
		error = whole && is_part(head) ? read_part(r, head) : skip_corrupt(r);
	}
	if (error == -ENOMEM)
		return no_memory(reason);
	return error < 0 ? refuse(reason, error, "%s", strerror(-error)) : 0;
}

/* ---- opening ---- */

static int open_reader(struct recording_reader *r, struct recording_reader **ret,
		       char reason[RECORDING_REASON])
{
	int error;

	r->current_frame = NO_FRAME;
	r->zstd = ZSTD_createDCtx();
	error = r->zstd ? read_header(r, reason) : no_memory(reason);
	if (error == 0)
		error = find_frames(r, reason);
	if (error < 0)
		recording_reader_free(r);
	else
		*ret = r;
	return error;
}

int recording_reader_open(int fd, struct recording_reader **ret, char reason[RECORDING_REASON])
{
	struct recording_reader *r;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return refuse(reason, -errno, "%s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return refuse(reason, -EINVAL, "it is not a file");
	r = calloc(1, sizeof(*r));
	if (!r)
		return no_memory(reason);
	r->fd = fd;
	r->size = (uint64_t)st.st_size;
	return open_reader(r, ret, reason);
}

int recording_reader_open_memory(const void *data, size_t len, struct recording_reader **ret,
				 char reason[RECORDING_REASON])
{
	struct recording_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return no_memory(reason);
	r->fd = -1;
	r->data = data;
	r->size = len;
	return open_reader(r, ret, reason);
}

void recording_reader_free(struct recording_reader *r)
{
	if (!r)
		return;
	snapshot_done(&r->current);
	snapshot_done(&r->next);
	ZSTD_freeDCtx(r->zstd);
	free(r->frame);
	free(r->payload);
	free(r->raw);
	free(r);
}

const struct recording_info *recording_reader_info(const struct recording_reader *r)
{
	return &r->info;
}

int64_t recording_reader_time(const struct recording_reader *r, size_t i)
{
	return r->frame[i].time_ms;
}

/* ---- decoding ---- */

static bool make_room(char **buf, size_t *room, size_t len)
{
	char *more;

	if (len <= *room)
		return true;
	more = realloc(*buf, len);
	if (!more)
		return false;
	*buf = more;
	*room = len;
	return true;
}

/* Decompresses the frame into r->raw. */
static int read_raw(struct recording_reader *r, const struct frame *f)
{
	char head[RECORDING_PART_SIZE];
	unsigned long long size;
	int error;

	if (f->is_corrupt || !f->size || f->raw_size > RECORDING_RAW_MAX ||
	    f->size > ZSTD_compressBound(RECORDING_RAW_MAX))
		return -EBADMSG;
	if (!make_room(&r->payload, &r->payload_room, f->size))
		return -ENOMEM;
	error = read_at(r, f->at, head, sizeof(head));
	if (error == 0)
		error = read_at(r, f->at + sizeof(head), r->payload, f->size);
	if (error < 0)
		return error;
	if (!is_part(head) || get_le32(head + 24) != crc_of(r->payload, f->size))
		return -EBADMSG;
	size = ZSTD_getFrameContentSize(r->payload, f->size);
	if (size != f->raw_size)
		return -EBADMSG;
	if (!make_room(&r->raw, &r->raw_room, f->raw_size))
		return -ENOMEM;
	if (ZSTD_decompressDCtx(r->zstd, r->raw, f->raw_size, r->payload, f->size) != f->raw_size)
		return -EBADMSG;
	return 0;
}

/* Decodes frame i, which stands alone or follows the current frame. */
static int decode_frame(struct recording_reader *r, size_t i)
{
	const struct frame *f = &r->frame[i];
	struct snapshot last;
	int error = read_raw(r, f);

	if (error == 0)
		error = snapshot_decode(r->raw, f->raw_size, f->is_delta ? &r->current : NULL,
					&r->next);
	if (error == 0 && r->next.time_ms != f->time_ms)
		error = -EBADMSG;
	if (error < 0) {
		r->current_frame = NO_FRAME;
		return error;
	}
	last = r->current;
	r->current = r->next;
	r->next = last;
	r->current_frame = (uint32_t)i;
	return 0;
}

static int report_frame(const struct recording_reader *r, size_t i, int error,
			char reason[RECORDING_REASON])
{
	unsigned long long at = r->frame[i].at;

	if (error == -ENOMEM)
		return no_memory(reason);
	if (error == -ENOTSUP)
		return refuse(reason, error,
			      "snapshot %zu at byte %llu was made by a newer zmem-bpf", i + 1, at);
	if (error == -EBADMSG)
		return refuse(reason, error, "the recording is corrupt: snapshot %zu at byte %llu",
			      i + 1, at);
	return refuse(reason, error, "snapshot %zu at byte %llu: %s", i + 1, at, strerror(-error));
}

int recording_reader_frame(struct recording_reader *r, size_t i, const struct snapshot **ret,
			   char reason[RECORDING_REASON])
{
	size_t from = r->frame[i].key, current = r->current_frame;

	if (r->frame[i].is_corrupt)
		return report_frame(r, i, -EBADMSG, reason);
	if (from == NO_FRAME)
		return refuse(
			reason, -EBADMSG,
			"the recording is corrupt: snapshot %zu at byte %llu lacks the one before it",
			i + 1, (unsigned long long)r->frame[i].at);
	if (current != NO_FRAME && current >= from && current <= i)
		from = current + 1;
	for (; from <= i; from++) {
		int error = decode_frame(r, from);

		if (error < 0)
			return report_frame(r, from, error, reason);
	}
	*ret = &r->current;
	return 0;
}

int recording_reader_copy(struct recording_reader *r, size_t i, struct snapshot *ret,
			  char reason[RECORDING_REASON])
{
	const struct snapshot *frame;
	int error = recording_reader_frame(r, i, &frame, reason);

	if (error < 0)
		return error;
	/* r->raw still has this frame, and r->next is the frame before. */
	error = snapshot_decode(r->raw, r->frame[i].raw_size,
				r->frame[i].is_delta ? &r->next : NULL, ret);
	return error < 0 ? report_frame(r, i, error, reason) : 0;
}
