// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The bytes of a recording to snapshots. Believes nothing: lengths are checked against the file,
 * checksums before contents, the size after decompression before memory is taken for it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "model/snapshot_codec.h"
#include "recording/recording_reader_internal.h"

int recording_read_at(const struct recording_reader *r, uint64_t at, void *buf, size_t len)
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

static int check_format(const char *head, uint64_t size, char why[RECORDING_WHY])
{
	const size_t magic = sizeof(RECORDING_MAGIC) - 1;
	unsigned major = wire_get16(head + 8);

	if (!size)
		return refuse(why, -EBADMSG, "it is empty");
	if (memcmp(head, RECORDING_MAGIC, size < magic ? size : magic) != 0)
		return refuse(why, -EBADMSG, "it is not a recording of zmem-bpf");
	if (size >= magic + 4 && major == RECORDING_FORMAT)
		return refuse(why, -ENOTSUP, "it has format 1, which zmem-bpf 0.1.0 can show");
	if (size >= magic + 4 && major > RECORDING_MAJOR)
		return refuse(why, -ENOTSUP, "it has format %u, this zmem-bpf reads format %u",
			      major, RECORDING_MAJOR);
	if (size < RECORDING_HEAD_SIZE)
		return refuse(why, -EBADMSG, "it is cut off after %zu bytes", (size_t)size);
	return 0;
}

static int read_header(struct recording_reader *r, char why[RECORDING_WHY])
{
	char head[RECORDING_HEAD_MAX] = {};
	size_t len = r->size < sizeof(head) ? r->size : sizeof(head), tool;
	int error = recording_read_at(r, 0, head, len);

	if (error < 0)
		return refuse(why, error, "%s", strerror(-error));
	error = check_format(head, r->size, why);
	if (error < 0)
		return error;
	r->info.end = wire_get32(head + 12);
	if (wire_get16(head + 8) != RECORDING_MAJOR || r->info.end < RECORDING_HEAD_SIZE ||
	    r->info.end > len ||
	    wire_get32(head + r->info.end - 4) != wire_crc(head, r->info.end - 4, NULL, 0))
		return refuse(why, -EBADMSG, "its header is corrupt");
	r->info.minor = wire_get16(head + 10);
	r->info.flags = wire_get32(head + 28);
	tool = strnlen(head + 16, RECORDING_TOOL_LEN);
	memcpy(r->info.tool, head + 16, tool);
	/* It is shown. */
	for (size_t i = 0; i < tool; i++) {
		if (head[16 + i] < 0x21 || head[16 + i] > 0x7e)
			return refuse(why, -EBADMSG, "its header is corrupt");
	}
	return 0;
}

/* ---- opening ---- */

static int open_reader(struct recording_reader *r, struct recording_reader **ret,
		       char why[RECORDING_WHY])
{
	int error;

	r->current_frame = NO_FRAME;
	r->zstd = ZSTD_createDCtx();
	error = r->zstd ? read_header(r, why) : no_memory(why);
	if (error == 0)
		error = recording_find_frames(r, why);
	if (error < 0)
		recording_reader_free(r);
	else
		*ret = r;
	return error;
}

int recording_reader_open(int fd, struct recording_reader **ret, char why[RECORDING_WHY])
{
	struct recording_reader *r;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return refuse(why, -errno, "%s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return refuse(why, -EINVAL, "it is not a file");
	r = calloc(1, sizeof(*r));
	if (!r)
		return no_memory(why);
	r->fd = fd;
	r->size = (uint64_t)st.st_size;
	return open_reader(r, ret, why);
}

int recording_reader_open_memory(const void *data, size_t len, struct recording_reader **ret,
				 char why[RECORDING_WHY])
{
	struct recording_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return no_memory(why);
	r->fd = -1;
	r->data = data;
	r->size = len;
	return open_reader(r, ret, why);
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

/* ---- frames ---- */

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

/* The frame as the codec wrote it, in r->raw. */
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
	error = recording_read_at(r, f->at, head, sizeof(head));
	if (error == 0)
		error = recording_read_at(r, f->at + sizeof(head), r->payload, f->size);
	if (error < 0)
		return error;
	if (!is_part(head) || wire_get32(head + 24) != wire_crc(r->payload, f->size, NULL, 0))
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

/* Frame i, which stands alone or whose predecessor is the current one. */
static int step(struct recording_reader *r, size_t i)
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

static int cannot_step(const struct recording_reader *r, size_t i, int error,
		       char why[RECORDING_WHY])
{
	unsigned long long at = r->frame[i].at;

	if (error == -ENOMEM)
		return no_memory(why);
	if (error == -ENOTSUP)
		return refuse(why, error, "frame %zu at byte %llu was made by a newer zmem-bpf",
			      i + 1, at);
	if (error == -EBADMSG)
		return refuse(why, error, "frame %zu at byte %llu is corrupt", i + 1, at);
	return refuse(why, error, "frame %zu at byte %llu: %s", i + 1, at, strerror(-error));
}

int recording_reader_frame(struct recording_reader *r, size_t i, const struct snapshot **ret,
			   char why[RECORDING_WHY])
{
	size_t from = r->frame[i].key, current = r->current_frame;

	if (r->frame[i].is_corrupt)
		return cannot_step(r, i, -EBADMSG, why);
	if (from == NO_FRAME)
		return refuse(why, -EBADMSG, "frame %zu at byte %llu has no key frame", i + 1,
			      (unsigned long long)r->frame[i].at);
	if (current != NO_FRAME && current >= from && current <= i)
		from = current + 1;
	for (; from <= i; from++) {
		int error = step(r, from);

		if (error < 0)
			return cannot_step(r, from, error, why);
	}
	*ret = &r->current;
	return 0;
}
