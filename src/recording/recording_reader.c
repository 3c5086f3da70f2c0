// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reads snapshots from the bytes of a recording, which may be corrupt or made to do harm: lengths
 * are checked against the file, checksums before contents, and memory before it is allocated.
 *
 * A recording is a file, or the segments of a directory, oldest first. When it is opened, each of
 * them is looked through once: its index tells where its parts are, or the heads of its parts do,
 * from one to the next. Behind corrupt bytes the next head is searched; what lies between becomes
 * one corrupt frame. So there is a list of all frames, with their times, and one of all events.
 *
 * A delta frame is decoded from the frame before it, so each frame knows the key frame where its
 * chain begins. The frame that was decoded last is kept: the one behind it takes one decoding.
 *
 * A clock may be set back, so times do not ascend. They do within a run: the list of runs has the
 * first frame of each, and a moment is searched in each run.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "model/snapshot_codec.h"
#include "recording/recording_file.h"
#include "recording/recording_internal.h"
#include "recording/segments.h"

#define SEARCH_CHUNK	 (64 * 1024)
#define NO_FRAME	 UINT32_MAX

#define INTERVAL_UNKNOWN 1000 /* ms: of a file with one frame */
#define OPEN_FILES	 8    /* of a directory */

/* A file: the recording, or a segment of it. */
struct bytes {
	int fd; /* -1: the bytes are in memory */
	const char *data;
	uint64_t size;
	uint32_t interval_ms; /* 0: not known */
	uint32_t number;      /* of a file of a directory */
	size_t frames;	      /* where the next file begins */
};

/* A file of a directory that is open. */
struct open_file {
	int fd;
	uint32_t segment;
	uint64_t used; /* the largest was used last; 0: it is not open */
};

struct frame {
	uint64_t at; /* the offset of its part */
	int64_t time_ms;
	uint32_t size;
	uint32_t key; /* the frame where decoding begins; NO_FRAME: none */
	uint32_t segment;
	bool is_delta, is_corrupt;
	bool is_lost; /* it could not be read */
};

struct event {
	uint64_t at;
	int64_t time_ms;
	uint32_t size;
	uint32_t before; /* the number of frames before it */
	uint32_t segment;
	uint32_t older; /* events with numbers that are before it */
	bool is_signal;
};

struct recording_reader {
	struct bytes in; /* the file that is read now */
	struct bytes *segment;
	size_t segments, segment_room;
	int dir; /* of the segments; -1: it is a file */
	struct open_file open[OPEN_FILES];
	int (*open_segment)(int dir, const struct segment_name *name);
	uint64_t uses;
	struct recording_info info;
	struct frame *frame;
	size_t capacity;
	/* Runs of frames with ascending times: the first frame of each. A clock that is set back
	 * begins another one. */
	uint32_t *run;
	size_t runs, run_capacity;
	int64_t step_ms; /* the least time between two frames of a file without interval; 0: none */
	bool has_time;	 /* a frame had a time of its own */
	struct event *event;
	size_t event_capacity;
	struct event *end; /* ends of events; `before` is the number of events before it */
	size_t ends, end_capacity;
	struct ZSTD_DCtx_s *zstd;
	struct strbuf payload, raw;
	struct snapshot current, next;
	/* Of the frame that was decoded last: */
	uint32_t current_frame; /* NO_FRAME: none */
	uint64_t packed;	/* bytes of payloads since its key frame */
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

static int refuse_errno(char reason[RECORDING_REASON], int error)
{
	return refuse(reason, error, "%s", error == -ENOMEM ? "out of memory" : strerror(-error));
}

/* True if these bytes are the head of a part. */
static bool is_part(const char *head)
{
	return memcmp(head, "PART", 4) == 0 && get_le32(head + 28) == crc_of(head, 28);
}

/* Reads all bytes. -EBADMSG: the file has become shorter. */
static int read_at(const struct recording_reader *r, uint64_t at, void *buf, size_t len)
{
	ssize_t n;

	if (r->in.fd < 0) {
		if (len)
			memcpy(buf, r->in.data + at, len);
		return 0;
	}
	n = file_read_at(r->in.fd, at, buf, len);
	if (n < 0)
		return (int)n;
	return (size_t)n == len ? 0 : -EBADMSG;
}

/* What is read from now on is in this segment; its file is opened if it is not open. */
static int enter_segment(struct recording_reader *r, uint32_t segment)
{
	struct segment_name name = segment_name(r->segment[segment].number);
	struct open_file *file = &r->open[0];

	r->in = r->segment[segment];
	if (r->dir < 0)
		return 0;
	for (size_t i = 0; i < OPEN_FILES; i++) {
		bool is_open = r->open[i].used && r->open[i].segment == segment;

		if (is_open || r->open[i].used < file->used)
			file = &r->open[i];
		if (is_open)
			break;
	}
	if (!file->used || file->segment != segment) {
		int fd = r->open_segment(r->dir, &name);

		if (fd < 0)
			return fd;
		if (file->used)
			close(file->fd);
		*file = (struct open_file){fd, segment, 0};
	}
	file->used = ++r->uses;
	r->in.fd = file->fd;
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
	size_t len = r->in.size < sizeof(head) ? r->in.size : sizeof(head), tool;
	int error = read_at(r, 0, head, len);

	if (error < 0)
		return refuse_errno(reason, error);
	error = check_format(head, r->in.size, reason);
	if (error < 0)
		return error;
	r->info.end = get_le32(head + 12);
	if (get_le16(head + 8) != RECORDING_MAJOR || r->info.end < RECORDING_HEAD_SIZE ||
	    r->info.end > len || get_le32(head + r->info.end - 4) != crc_of(head, r->info.end - 4))
		return refuse(reason, -EBADMSG, "its header is corrupt");
	r->info.minor = get_le16(head + 10);
	r->info.flags |= get_le32(head + 28);
	r->in.interval_ms =
		r->info.minor && r->info.end > RECORDING_HEAD_SIZE ? get_le32(head + 32) : 0;
	tool = strnlen(head + 16, RECORDING_TOOL_LEN);
	memcpy(r->info.tool, head + 16, tool);
	r->info.tool[tool] = '\0';
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
	while (r->in.size - at >= RECORDING_PART_SIZE) {
		size_t len = r->in.size - at < SEARCH_CHUNK ? r->in.size - at : SEARCH_CHUNK;
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

/* Begins another run if the frame that is added is the first one, or earlier than the last one. */
static int begin_run(struct recording_reader *r, const struct frame *last, int64_t time_ms)
{
	if (last && time_ms >= last->time_ms)
		return 0;
	if (!array_room(&r->run, r->runs, &r->run_capacity, 16))
		return -ENOMEM;
	r->run[r->runs++] = (uint32_t)r->info.frames;
	return 0;
}

/* Learns how often a file without an interval has a frame. */
static void note_step(struct recording_reader *r, const struct frame *last, int64_t time_ms)
{
	int64_t step;

	if (last && !r->in.interval_ms && !__builtin_sub_overflow(time_ms, last->time_ms, &step) &&
	    step > 0 && (!r->step_ms || step < r->step_ms))
		r->step_ms = step;
}

static int add_frame(struct recording_reader *r, const struct frame *f)
{
	struct frame *frame, *last;

	if (r->info.frames >= NO_FRAME)
		return -EFBIG;
	if (!array_room(&r->frame, r->info.frames, &r->capacity, 64))
		return -ENOMEM;
	frame = &r->frame[r->info.frames];
	last = r->info.frames ? frame - 1 : NULL;
	*frame = *f;
	frame->segment = (uint32_t)r->segments;
	if (f->is_corrupt)
		frame->time_ms = last ? last->time_ms : 0;
	/* Corrupt frames at the beginning get the first time that is known. */
	for (size_t i = r->info.frames; !f->is_corrupt && !r->has_time && i-- > 0;)
		r->frame[i].time_ms = f->time_ms;
	r->has_time |= !f->is_corrupt;
	if (begin_run(r, last, frame->time_ms) < 0)
		return -ENOMEM;
	note_step(r, last, frame->time_ms);
	/* A delta refers to a frame of its own file. */
	if (last && last->segment != frame->segment)
		last = NULL;
	frame->key = f->is_delta ? (last ? last->key : NO_FRAME) : (uint32_t)r->info.frames;
	if (frame->key != NO_FRAME && r->info.frames - frame->key >= RECORDING_KEY_MOST)
		frame->key = NO_FRAME;
	r->info.frames++;
	return 0;
}

static bool is_not_later(const void *item, const void *time_ms)
{
	const struct frame *f = item;

	return f->time_ms <= *(const int64_t *)time_ms;
}

/* The first later one of frames with ascending times: `first` to before `end`; or `end`. */
static size_t first_later(const struct recording_reader *r, size_t first, size_t end,
			  int64_t time_ms)
{
	return first == end ? end
			    : first + count_before(&r->frame[first], end - first, sizeof(*r->frame),
						   is_not_later, &time_ms);
}

static struct event event_at(const struct recording_reader *r, const struct frame *f, size_t before)
{
	return (struct event){
		.at = f->at,
		.time_ms = f->time_ms,
		.size = f->size,
		.before = (uint32_t)before,
		.segment = (uint32_t)r->segments,
	};
}

/* An OOM kill may have been written behind a later frame. */
static int add_event(struct recording_reader *r, const struct frame *f, bool is_signal)
{
	struct event *event;
	size_t first = r->segments ? r->segment[r->segments - 1].frames : 0;

	if (!array_room(&r->event, r->info.events, &r->event_capacity, 16))
		return -ENOMEM;
	if (r->runs && r->run[r->runs - 1] > first)
		first = r->run[r->runs - 1];
	event = &r->event[r->info.events++];
	*event = event_at(r, f, first_later(r, first, r->info.frames, f->time_ms));
	event->older = (uint32_t)r->info.numbered;
	event->is_signal = is_signal;
	r->info.numbered += !is_signal;
	return 0;
}

static int add_event_end(struct recording_reader *r, const struct frame *f)
{
	if (!array_room(&r->end, r->ends, &r->end_capacity, 16))
		return -ENOMEM;
	r->end[r->ends++] = event_at(r, f, r->info.events);
	return 0;
}

static int add_part(struct recording_reader *r, uint32_t kind, const struct frame *f)
{
	if (kind == PART_KEY || kind == PART_DELTA)
		return add_frame(r, f);
	if (kind == PART_EVENT_END)
		return add_event_end(r, f);
	return kind == PART_EVENT || kind == PART_SIGNAL ? add_event(r, f, kind == PART_SIGNAL) : 0;
}

/* Reads a part with a valid head. Returns 1 if more may follow, 0, or a negative errno. */
static int read_part(struct recording_reader *r, const char *head)
{
	struct frame f = {
		.at = r->info.end,
		.time_ms = (int64_t)get_le64(head + 16),
		.size = get_le32(head + 8),
		.is_delta = head[4] == PART_DELTA,
	};
	uint64_t end = f.at + RECORDING_PART_SIZE + f.size;
	int error = 0;

	if (end > r->in.size) {
		r->info.torn = true;
		return 0;
	}
	r->info.end = end;
	if (head[4] == PART_END) {
		r->info.ended = true;
		r->info.torn = end != r->in.size;
		return 0;
	}
	error = add_part(r, (unsigned char)head[4], &f);
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

/* Finds the frames behind the header by the heads of parts. */
static int scan_frames(struct recording_reader *r)
{
	char head[RECORDING_PART_SIZE];
	int error = 1;

	while (error > 0 && r->info.end < r->in.size) {
		bool whole = r->in.size - r->info.end >= sizeof(head);

		error = whole ? read_at(r, r->info.end, head, sizeof(head)) : 0;
		if (error < 0)
			break;
		error = whole && is_part(head) ? read_part(r, head) : skip_corrupt(r);
	}
	return error < 0 ? error : 0;
}

/* ---- the index of a segment ---- */

#define INDEX_MAX    (16u << 20) /* bytes: 800,000 parts */
#define TRAILER_SIZE (RECORDING_PART_SIZE + 8)

/* Reads the payload of the index that ends at `end`. Returns 1, 0 if there is none, or -errno. */
static int load_index(const struct recording_reader *r, char **ret, size_t *ret_len,
		      uint64_t *ret_at)
{
	char end[TRAILER_SIZE], head[RECORDING_PART_SIZE];
	uint64_t at;
	cleanup_free char *payload = NULL;
	size_t len;
	int error;

	if (r->in.size < r->info.end + sizeof(head) + sizeof(end))
		return 0;
	error = read_at(r, r->in.size - sizeof(end), end, sizeof(end));
	if (error < 0)
		return error;
	at = get_le64(end + RECORDING_PART_SIZE);
	if (!is_part(end) || end[4] != PART_END || get_le32(end + 8) != 8 || at < r->info.end ||
	    at > r->in.size - sizeof(end) - sizeof(head))
		return 0;
	error = read_at(r, at, head, sizeof(head));
	if (error < 0)
		return error;
	len = get_le32(head + 8);
	if (!is_part(head) || head[4] != PART_INDEX || len > INDEX_MAX || len % RECORDING_ENTRY ||
	    at + sizeof(head) + len != r->in.size - sizeof(end))
		return 0;
	payload = malloc(len + 1);
	if (!payload)
		return -ENOMEM;
	error = read_at(r, at + sizeof(head), payload, len);
	if (error < 0 || crc_of(payload, len) != get_le32(head + 24))
		return error;
	*ret = TAKE_PTR(payload);
	*ret_len = len;
	*ret_at = at;
	return 1;
}

/* True if the parts of the index fill the file up to the index. */
static bool index_fits(const char *index, size_t len, uint64_t from, uint64_t at)
{
	for (size_t i = 0; i < len; i += RECORDING_ENTRY)
		from += RECORDING_PART_SIZE + (uint64_t)get_le32(index + i + 8);
	return from == at;
}

/* Returns 1 if the index has the frames, 0 if they must be searched, or a negative errno. */
static int read_index(struct recording_reader *r)
{
	cleanup_free char *index = NULL;
	size_t len = 0;
	uint64_t at = 0;
	int error = load_index(r, &index, &len, &at);

	if (error <= 0 || !index_fits(index, len, r->info.end, at))
		return error < 0 ? error : 0;
	for (size_t i = 0; error >= 0 && i < len; i += RECORDING_ENTRY) {
		uint32_t kind = get_le32(index + i + 16);
		struct frame f = {
			.at = r->info.end,
			.time_ms = (int64_t)get_le64(index + i),
			.size = get_le32(index + i + 8),
			.is_delta = kind == PART_DELTA,
		};

		r->info.end += RECORDING_PART_SIZE + (uint64_t)f.size;
		error = add_part(r, kind, &f);
	}
	r->info.ended = true;
	r->info.end = r->in.size;
	return error < 0 ? error : 1;
}

/* Finds the frames behind the header. Returns 0, or a negative errno and reason. */
static int find_frames(struct recording_reader *r, char reason[RECORDING_REASON])
{
	int error = read_index(r);

	if (error == 0)
		error = scan_frames(r);
	return error < 0 ? refuse_errno(reason, error) : 0;
}

/* ---- opening ---- */

static struct recording_reader *new_reader(void)
{
	struct recording_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->in.fd = r->dir = -1;
	r->current_frame = NO_FRAME;
	r->open_segment = segment_open;
	r->zstd = ZSTD_createDCtx();
	if (r->zstd)
		return r;
	free(r);
	return NULL;
}

/* Adds the frames of r->in, which becomes a segment. Nothing of it stays after an error. */
static int add_segment(struct recording_reader *r, char reason[RECORDING_REASON])
{
	size_t frames = r->info.frames, events = r->info.events, ends = r->ends;
	int error;

	r->info.ended = r->info.torn = false;
	if (!array_room(&r->segment, r->segments, &r->segment_room, 16))
		return refuse_errno(reason, -ENOMEM);
	error = read_header(r, reason);
	if (error == 0)
		error = find_frames(r, reason);
	if (error < 0) {
		r->info.frames = frames;
		r->info.events = events;
		r->ends = ends;
		while (r->runs && r->run[r->runs - 1] >= frames)
			r->runs--;
		return error;
	}
	r->in.frames = r->info.frames;
	r->segment[r->segments++] = r->in;
	return 0;
}

/* Returns the error. */
static int end_opening(struct recording_reader *r, int error, struct recording_reader **ret)
{
	if (error < 0)
		recording_reader_free(r);
	else
		*ret = r;
	return error;
}

static int open_reader(struct bytes in, struct recording_reader **ret,
		       char reason[RECORDING_REASON])
{
	struct recording_reader *r = new_reader();
	int error;

	if (!r)
		return refuse_errno(reason, -ENOMEM);
	r->in = in;
	error = add_segment(r, reason);
	return end_opening(r, error, ret);
}

int recording_reader_open(int fd, struct recording_reader **ret, char reason[RECORDING_REASON])
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return refuse_errno(reason, -errno);
	if (!S_ISREG(st.st_mode))
		return refuse(reason, -EINVAL, "it is not a file");
	return open_reader((struct bytes){.fd = fd, .size = (uint64_t)st.st_size}, ret, reason);
}

int recording_reader_open_memory(const void *data, size_t len, struct recording_reader **ret,
				 char reason[RECORDING_REASON])
{
	return open_reader((struct bytes){.fd = -1, .data = data, .size = len}, ret, reason);
}

/*
 * Adds a segment of the directory, or counts it as left out. *denied: its file may not be read. One
 * that was written last before a time is not asked for.
 */
static int add_named(struct recording_reader *r, int dir, uint32_t number, int64_t since_ms,
		     bool *denied, char reason[RECORDING_REASON])
{
	struct segment_name name = segment_name(number);
	cleanup_close int fd = segment_open(dir, &name);
	struct stat st = {};
	int error;

	/* The writer has removed it meanwhile. */
	if (fd == -ENOENT)
		return 0;
	if (file_exhausted(fd))
		return refuse_errno(reason, fd);
	*denied |= fd == -EACCES || fd == -EPERM;
	if (fd < 0 || fstat(fd, &st) < 0) {
		r->info.left_out++;
		return 0;
	}
	if ((int64_t)st.st_mtim.tv_sec * 1000 + 1000 < since_ms)
		return 0;
	r->in = (struct bytes){.fd = fd, .size = (uint64_t)st.st_size, .number = number};
	error = add_segment(r, reason);
	if (error == -ENOMEM)
		return error;
	r->info.left_out += error < 0;
	r->info.cut_off += r->info.torn;
	return 0;
}

int recording_reader_open_dir(int dir, struct recording_reader **ret, char reason[RECORDING_REASON])
{
	return recording_reader_open_since(dir, INT64_MIN, ret, reason);
}

int recording_reader_open_since(int dir, int64_t since_ms, struct recording_reader **ret,
				char reason[RECORDING_REASON])
{
	cleanup_free uint32_t *number = NULL;
	size_t count = 0;
	struct recording_reader *r;
	bool denied = false;
	int error = segment_list(dir, &number, &count);

	if (error < 0)
		return refuse_errno(reason, error);
	r = new_reader();
	if (!r)
		return refuse_errno(reason, -ENOMEM);
	r->dir = fcntl(dir, F_DUPFD_CLOEXEC, 0);
	if (r->dir < 0)
		error = refuse_errno(reason, -errno);
	for (size_t i = 0; error == 0 && i < count; i++)
		error = add_named(r, dir, number[i], since_ms, &denied, reason);
	r->info.segments = r->segments;
	/* The last one may be in work. */
	r->info.cut_off -= r->info.torn;
	r->info.ended = r->info.torn = false;
	if (error == 0 && !count)
		error = refuse(reason, -ENOENT, "there is no recording in this directory");
	else if (error == 0 && !r->info.frames && denied)
		error = refuse_errno(reason, -EACCES);
	else if (error == 0 && !r->info.frames)
		error = refuse(reason, -EBADMSG, "its recording has no frames");
	return end_opening(r, error, ret);
}

void recording_reader_set_open(struct recording_reader *r,
			       int (*fn)(int dir, const struct segment_name *name))
{
	r->open_segment = fn;
}

void recording_reader_free(struct recording_reader *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < OPEN_FILES; i++) {
		if (r->open[i].used)
			close(r->open[i].fd);
	}
	close_fd(&r->dir);
	snapshot_done(&r->current);
	snapshot_done(&r->next);
	ZSTD_freeDCtx(r->zstd);
	free(r->segment);
	free(r->frame);
	free(r->run);
	free(r->event);
	free(r->end);
	strbuf_done(&r->payload);
	strbuf_done(&r->raw);
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

/* Frames are taken a little late at times: a quarter of the interval is no gap. */
bool recording_reader_gap(const struct recording_reader *r, size_t i)
{
	uint32_t interval = r->segment[r->frame[i].segment].interval_ms;
	int64_t passed;

	if (!interval || !i ||
	    __builtin_sub_overflow(r->frame[i].time_ms, r->frame[i - 1].time_ms, &passed))
		return interval && i;
	return r->frame[i].is_corrupt || passed < 0 || passed > (int64_t)interval * 5 / 4 + 500;
}

/* ---- moments, whatever the clock did ---- */

/* The frame behind the last one of a run. */
static size_t run_end(const struct recording_reader *r, size_t run)
{
	return run + 1 < r->runs ? r->run[run + 1] : r->info.frames;
}

/* True if so much time is between frame `i` and a moment that a frame between them was due. */
static bool is_overdue(const struct recording_reader *r, size_t i, int64_t time_ms)
{
	int64_t interval = r->segment[r->frame[i].segment].interval_ms, passed;

	/* A file of its own does not say how often a frame was due. */
	if (!interval)
		interval = r->step_ms ? r->step_ms : INTERVAL_UNKNOWN;
	if (__builtin_sub_overflow(time_ms, r->frame[i].time_ms, &passed))
		return time_ms > 0;
	return passed > interval + interval / 4 + 500;
}

void recording_reader_range(const struct recording_reader *r, int64_t *ret_first, int64_t *ret_last)
{
	*ret_first = *ret_last = r->info.frames ? r->frame[0].time_ms : 0;
	for (size_t run = 0; run < r->runs; run++) {
		int64_t first = r->frame[r->run[run]].time_ms;
		int64_t last = r->frame[run_end(r, run) - 1].time_ms;

		*ret_first = first < *ret_first ? first : *ret_first;
		*ret_last = last > *ret_last ? last : *ret_last;
	}
}

bool recording_reader_run(const struct recording_reader *r, size_t i, int64_t *ret_first,
			  int64_t *ret_last)
{
	size_t run = r->runs - 1 - i;

	if (i >= r->runs)
		return false;
	*ret_first = r->frame[r->run[run]].time_ms;
	*ret_last = r->frame[run_end(r, run) - 1].time_ms;
	return true;
}

bool recording_reader_ended(const struct recording_reader *r, int64_t time_ms)
{
	size_t latest = 0;

	for (size_t run = 0; run < r->runs; run++) {
		size_t last = run_end(r, run) - 1;

		if (r->frame[last].time_ms >= r->frame[latest].time_ms)
			latest = last;
	}
	return r->info.frames && is_overdue(r, latest, time_ms);
}

bool recording_reader_lost(const struct recording_reader *r, size_t i)
{
	return r->frame[i].is_lost || r->frame[i].is_corrupt || r->frame[i].key == NO_FRAME;
}

/* The last frame of a run at or before a time. False: there is none. */
static bool find_in_run(const struct recording_reader *r, size_t run, int64_t time_ms, size_t *ret)
{
	size_t first = r->run[run], later = first_later(r, first, run_end(r, run), time_ms);

	while (later > first && recording_reader_lost(r, later - 1))
		later--;
	*ret = later - 1;
	return later > first;
}

/* Whether a moment is between two frames of a run, behind `at`: it was recorded, and no gap. */
static bool is_within(const struct recording_reader *r, size_t run, size_t at)
{
	return at + 1 < run_end(r, run) && !is_overdue(r, at, r->frame[at + 1].time_ms);
}

unsigned recording_reader_shown(const struct recording_reader *r, int64_t time_ms)
{
	unsigned shown = 0;

	for (size_t run = 0; run < r->runs; run++) {
		size_t first = r->run[run], later = first_later(r, first, run_end(r, run), time_ms);

		shown += later > first &&
			 (r->frame[later - 1].time_ms == time_ms || is_within(r, run, later - 1));
	}
	return shown;
}

bool recording_reader_find(const struct recording_reader *r, int64_t time_ms, size_t *ret)
{
	bool found = false;
	size_t at;

	for (size_t run = r->runs; run-- > 0;) {
		if (!find_in_run(r, run, time_ms, &at))
			continue;
		if (!found || r->frame[at].time_ms > r->frame[*ret].time_ms)
			*ret = at;
		found = true;
		/* The moment is in this run: it is not an earlier one. */
		if (is_within(r, run, at))
			break;
	}
	return found;
}

bool recording_reader_covers(const struct recording_reader *r, size_t i, int64_t time_ms)
{
	bool follows = i + 1 < r->info.frames && r->frame[i + 1].time_ms > time_ms;

	return !is_overdue(r, i, follows ? r->frame[i + 1].time_ms : time_ms);
}

bool recording_reader_later(const struct recording_reader *r, int64_t time_ms, size_t *ret)
{
	bool found = false;

	for (size_t run = 0; run < r->runs; run++) {
		size_t end = run_end(r, run), at = first_later(r, r->run[run], end, time_ms);

		if (at < end && (!found || r->frame[at].time_ms < r->frame[*ret].time_ms)) {
			*ret = at;
			found = true;
		}
	}
	return found;
}

/* ---- decoding ---- */

/*
 * Reads a part into r->payload. Returns 0 or a negative errno: -EBADMSG also for a part that is not
 * as a wrong index says.
 */
static int read_payload(struct recording_reader *r, uint32_t segment, uint64_t at, uint32_t size,
			char head[RECORDING_PART_SIZE])
{
	int error;

	strbuf_clear(&r->payload);
	if (!strbuf_reserve(&r->payload, size))
		return -ENOMEM;
	error = enter_segment(r, segment);
	if (error == 0)
		error = read_at(r, at, head, RECORDING_PART_SIZE);
	if (error == 0)
		error = read_at(r, at + RECORDING_PART_SIZE, r->payload.data, size);
	if (error == 0 && (!is_part(head) || get_le32(head + 8) != size ||
			   get_le32(head + 24) != crc_of(r->payload.data, size)))
		error = -EBADMSG;
	return error;
}

/* Decompresses the frame into r->raw.data, which counts. */
static int read_raw(struct recording_reader *r, const struct frame *f, struct codec_memory *memory)
{
	char head[RECORDING_PART_SIZE];
	uint32_t size;
	int error;

	if (f->is_corrupt || !f->size || f->size > ZSTD_compressBound(RECORDING_RAW_MAX))
		return -EBADMSG;
	error = read_payload(r, f->segment, f->at, f->size, head);
	if (error < 0)
		return error;
	size = get_le32(head + 12);
	if (size > RECORDING_RAW_MAX || size > memory->most ||
	    ZSTD_getFrameContentSize(r->payload.data, f->size) != size)
		return -EBADMSG;
	strbuf_clear(&r->raw);
	if (!strbuf_reserve(&r->raw, size))
		return -ENOMEM;
	if (ZSTD_decompressDCtx(r->zstd, r->raw.data, size, r->payload.data, f->size) != size)
		return -EBADMSG;
	r->raw.len = memory->used = size;
	return 0;
}

/* Decodes frame i, which stands alone or follows the current frame. */
static int decode_frame(struct recording_reader *r, size_t i)
{
	const struct frame *f = &r->frame[i];
	const uint64_t packed = f->size + (f->is_delta ? r->packed : 0);
	struct codec_memory memory = {.most = frame_memory(packed)};
	struct snapshot last;
	int error = read_raw(r, f, &memory);

	if (error == 0)
		error = snapshot_decode(r->raw.data, r->raw.len, f->is_delta ? &r->current : NULL,
					&memory, &r->next);
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
	r->packed = packed;
	return 0;
}

int64_t recording_reader_event_time(const struct recording_reader *r, size_t i)
{
	return r->event[i].time_ms;
}

size_t recording_reader_event_frame(const struct recording_reader *r, size_t i)
{
	return r->event[i].before;
}

/* Reads an event, or the end of one. Returns 0 or a negative errno. */
static int read_event(struct recording_reader *r, const struct event *e, enum recording_part kind,
		      struct event_record *ret)
{
	char head[RECORDING_PART_SIZE];
	int error = -EBADMSG;

	if (e->size <= RECORDING_EVENT_MAX)
		error = read_payload(r, e->segment, e->at, e->size, head);
	if (error == 0 && head[4] != (char)kind)
		error = -EBADMSG;
	if (error == 0)
		error = event_decode(r->payload.data, e->size, ret);
	if (error == 0)
		ret->time_ms = e->time_ms;
	return error;
}

/* Says why part `i` from 0, a snapshot or an event, cannot be read. */
static int refuse_part(const char *what, size_t i, uint64_t at, int error,
		       char reason[RECORDING_REASON])
{
	unsigned long long byte = at;

	if (error == -ENOMEM)
		return refuse_errno(reason, -ENOMEM);
	if (error == -ENOENT)
		return refuse(reason, error, "the file of %s %zu was removed meanwhile", what,
			      i + 1);
	if (error == -EBADMSG)
		return refuse(reason, error, "the recording is corrupt: %s %zu at byte %llu", what,
			      i + 1, byte);
	if (error == -ENOTSUP)
		return refuse(reason, error, "%s %zu at byte %llu was made by a newer zmem-bpf",
			      what, i + 1, byte);
	return refuse(reason, error, "%s %zu at byte %llu: %s", what, i + 1, byte,
		      strerror(-error));
}

unsigned recording_reader_event_number(const struct recording_reader *r, size_t i)
{
	return r->event[i].is_signal ? 0 : (unsigned)(r->info.numbered - r->event[i].older);
}

int recording_reader_event(struct recording_reader *r, size_t i, struct event_record *ret,
			   char reason[RECORDING_REASON])
{
	const struct event *event = &r->event[i];
	int error = read_event(r, event, event->is_signal ? PART_SIGNAL : PART_EVENT, ret);

	return error < 0 ? refuse_part("event", i, r->event[i].at, error, reason) : 0;
}

int recording_reader_event_end(struct recording_reader *r, size_t i, struct event_record *ret,
			       char reason[RECORDING_REASON])
{
	size_t n = 0;
	int error;

	/* Events of this kind do not overlap, and others may lie between it and its end. */
	while (n < r->ends && r->end[n].before <= i)
		n++;
	if (n == r->ends)
		return 0;
	error = read_event(r, &r->end[n], PART_EVENT_END, ret);
	if (error < 0)
		return refuse_part("event", i, r->end[n].at, error, reason);
	return event_has(ret, EVENT_BEGAN) &&
	       (int64_t)ret->number[EVENT_BEGAN] == r->event[i].time_ms;
}

static int refuse_frame(const struct recording_reader *r, size_t i, int error,
			char reason[RECORDING_REASON])
{
	return refuse_part("snapshot", i, r->frame[i].at, error, reason);
}

/* Decodes frame i into r->current. Returns 0 or a negative errno and reason. */
static int decode_chain(struct recording_reader *r, size_t i, char reason[RECORDING_REASON])
{
	size_t from = r->frame[i].key, current = r->current_frame;

	if (r->frame[i].is_corrupt)
		return refuse_frame(r, i, -EBADMSG, reason);
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
			return refuse_frame(r, from, error, reason);
	}
	return 0;
}

int recording_reader_frame(struct recording_reader *r, size_t i, const struct snapshot **ret,
			   char reason[RECORDING_REASON])
{
	int error = decode_chain(r, i, reason);

	/* Another attempt may have the memory or the file. */
	r->frame[i].is_lost |= error < 0 && !file_exhausted(error);
	*ret = &r->current;
	return error;
}

int recording_reader_copy(struct recording_reader *r, size_t i, struct snapshot *ret,
			  char reason[RECORDING_REASON])
{
	const struct snapshot *frame;
	int error = recording_reader_frame(r, i, &frame, reason);

	if (error < 0)
		return error;
	/* The frame was within its limit. r->raw still has it, and r->next is the frame before. */
	error = snapshot_decode(r->raw.data, r->raw.len, r->frame[i].is_delta ? &r->next : NULL,
				NULL, ret);
	return error < 0 ? refuse_frame(r, i, error, reason) : 0;
}
