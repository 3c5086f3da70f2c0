// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Writes a recording without an end as segments in a directory, in bounded space.
 *
 * One segment is in work. What is appended is encoded in memory and written with one write(), or
 * cut off again. A segment ends when it is large or old enough, or when the clock was set, for
 * within a segment times must ascend. With its end it gets the index of its parts.
 *
 * After each write the oldest segments go that are not needed: from the newest one back, the time
 * and the bytes that the segments stand for are added until they are those to keep. The ring knows
 * number, bytes and times of each finished segment; it learns those of an earlier writer at the
 * start.
 *
 * Kills have a budget of bytes, which time fills. What has no room is not written, but counted, and
 * the next kill that is written says how many were left out. On a full disk a kill takes the room
 * of the oldest segments; a frame does not.
 */
#include "recording/recording_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "recording/segments.h"

/* ---- segments ---- */

static int add_segment(struct recording_ring *g, struct ring_segment segment)
{
	if (!array_room(&g->segment, g->count, &g->capacity, 64))
		return -ENOMEM;
	g->segment[g->count++] = segment;
	return 0;
}

/* Adds a segment of an earlier writer. One that cannot be read takes space, but no time. */
static int find_segment(struct recording_ring *g, uint32_t number)
{
	struct segment_name name = segment_name(number);
	cleanup_close int fd = segment_open(g->dir, &name);
	struct ring_segment segment = {.number = number};
	struct recording_reader *reader;
	char reason[RECORDING_REASON];
	struct stat st;

	g->number = number;
	if (fd >= 0 && fstat(fd, &st) == 0)
		segment.bytes = (uint64_t)st.st_size;
	if (fd >= 0 && recording_reader_open(fd, &reader, reason) == 0) {
		size_t frames = recording_reader_info(reader)->frames;

		segment.has_frames = frames;
		if (frames) {
			segment.first_ms = recording_reader_time(reader, 0);
			segment.last_ms = recording_reader_time(reader, frames - 1);
		}
		recording_reader_free(reader);
	}
	return add_segment(g, segment);
}

static int find_segments(struct recording_ring *g)
{
	cleanup_free uint32_t *number = NULL;
	size_t count = 0;
	int r = segment_list(g->dir, &number, &count);

	for (size_t i = 0; r == 0 && i < count; i++)
		r = find_segment(g, number[i]);
	return r;
}

/*
 * The time that a segment stands for: until the next frame was due, but not beyond the first frame
 * of the next segment. So many segments of one frame each leave as others do.
 */
static uint64_t span_of(const struct recording_ring *g, const struct ring_segment *s,
			const struct ring_segment *next)
{
	int64_t span, room;

	if (!s->has_frames)
		return 0;
	if (__builtin_sub_overflow(s->last_ms, s->first_ms, &span) || span < 0 ||
	    __builtin_add_overflow(span, g->options.recording.interval_ms, &span))
		span = g->options.recording.interval_ms;
	if (next->has_frames && !__builtin_sub_overflow(next->first_ms, s->first_ms, &room) &&
	    room > 0 && room < span)
		span = room;
	return (uint64_t)span;
}

static struct ring_segment segment_in_work(const struct recording_ring *g)
{
	return (struct ring_segment){
		.number = g->number,
		.bytes = g->bytes,
		.has_frames = g->frame_ms != INT64_MIN,
		.first_ms = g->first_ms,
		.last_ms = g->frame_ms,
	};
}

/* Removes so many of the oldest segments. Returns their bytes. */
static uint64_t remove_first(struct recording_ring *g, size_t count)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < count; i++) {
		struct segment_name name = segment_name(g->segment[i].number);

		if (unlinkat(g->dir, name.text, 0) == 0)
			bytes += g->segment[i].bytes;
	}
	if (count)
		memmove(g->segment, g->segment + count, (g->count - count) * sizeof(*g->segment));
	g->count -= count;
	return bytes;
}

/* Removes the oldest segments that are not needed for the time to keep, or have no room. */
static void remove_oldest(struct recording_ring *g)
{
	const struct ring_segment in_work = segment_in_work(g);
	const struct ring_segment *next = &in_work;
	uint64_t bytes = in_work.bytes, span = span_of(g, &in_work, &in_work);
	size_t first = g->count;

	while (first && span < g->options.keep_ms &&
	       bytes + g->segment[first - 1].bytes <= g->options.keep_bytes) {
		const struct ring_segment *s = &g->segment[--first];

		bytes += s->bytes;
		span += span_of(g, s, next);
		if (s->has_frames)
			next = s;
	}
	remove_first(g, first);
}

/* Whether `more` bytes may be written: a share of the file system stays free. */
static bool has_room(const struct recording_ring *g, uint64_t more)
{
	struct statvfs fs;
	uint64_t left;

	if (fstatvfs(g->dir, &fs) < 0 || !fs.f_blocks)
		return true;
	left = (uint64_t)fs.f_blocks / 100 * RING_FREE_PERCENT * fs.f_frsize;
	if (left > RING_FREE_MOST)
		left = RING_FREE_MOST;
	return (uint64_t)fs.f_bavail * fs.f_frsize >= left + more;
}

/* Writes g->out at the end of the segment, all or nothing. */
static int write_out(struct recording_ring *g)
{
	int r = strbuf_error(&g->out);
	bool full = r == 0 && !has_room(g, g->out.len);

	g->wanted = g->out.len;
	if (full && !(g->of_kill && g->made_room >= g->out.len))
		r = -ENOSPC;
	if (r == 0)
		r = file_write_fd(g->fd, g->out.data, g->out.len);
	if (r < 0) {
		/* Without the space to cut it off the rest stays, and readers skip it. */
		if (ftruncate(g->fd, (off_t)g->bytes) == 0)
			lseek(g->fd, (off_t)g->bytes, SEEK_SET);
		return r;
	}
	g->bytes += g->out.len;
	g->written += g->out.len;
	g->made_room -= full ? g->out.len : 0;
	return 0;
}

static int begin_segment(struct recording_ring *g, int64_t time_ms)
{
	struct segment_name name = segment_name(g->number + 1);
	int fd;

	if (g->number == UINT32_MAX)
		return -EFBIG;
	fd = openat(g->dir, name.text, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	g->number++;
	g->fd = fd;
	g->bytes = 0;
	g->first_ms = g->last_ms = g->synced_ms = time_ms;
	g->frame_ms = INT64_MIN;
	fsync(g->dir);
	return recording_writer_begin(&g->writer, &g->options.recording);
}

/* Ends the segment in work. An empty one is removed. */
static void end_segment(struct recording_ring *g)
{
	struct segment_name name = segment_name(g->number);

	if (g->fd < 0)
		return;
	strbuf_clear(&g->out);
	/* Without an end it is readable as well. */
	if (g->bytes && recording_writer_finish(&g->writer) == 0)
		write_out(g);
	fdatasync(g->fd);
	close_fd(&g->fd);
	if (!g->bytes)
		unlinkat(g->dir, name.text, 0);
	else
		add_segment(g, segment_in_work(g));
	g->bytes = 0;
	g->frame_ms = INT64_MIN;
	g->unsynced = false;
}

/* ---- opening ---- */

static int check_dir(int dir)
{
	struct stat st;

	if (fstat(dir, &st) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	return st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH) ? -EPERM : 0;
}

/*
 * Locks a file that only its owner may open: all who may read the directory could lock it. Returns
 * the descriptor that holds the lock, or a negative errno.
 */
static int lock_dir(int dir)
{
	const int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	cleanup_close int fd = openat(dir, RING_LOCK, flags, 0600);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_nlink != 1)
		return -EPERM;
	if (st.st_mode & (S_IRWXG | S_IRWXO) && fchmod(fd, 0600) < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	return TAKE_FD(fd);
}

/* The most that the budget of kills holds. */
static int64_t burst_of(const struct ring_options *o)
{
	uint64_t burst = o->keep_bytes / RING_BURST_PART;

	if (burst < RING_BURST_LEAST)
		return RING_BURST_LEAST;
	return burst > INT64_MAX / 2 ? INT64_MAX / 2 : (int64_t)burst;
}

int recording_ring_open(struct recording_ring *g, int dir, const struct ring_options *o)
{
	int r;

	*g = (struct recording_ring){
		.options = *o,
		.dir = dir,
		.lock = -1,
		.fd = -1,
		.frame_ms = INT64_MIN,
		.budget = burst_of(o),
	};
	r = check_dir(dir);
	if (r == 0)
		r = g->lock = lock_dir(dir);
	if (r >= 0)
		r = find_segments(g);
	if (r < 0)
		return r;
	/* The header is written with the first frame of each segment. */
	r = recording_writer_init(&g->writer, &o->recording, &g->out);
	strbuf_clear(&g->out);
	return r;
}

/* ---- what others remove ---- */

/* Whether the directory has this name, and it is that of the open file. */
static bool has_file(int dir, const char *name, int fd)
{
	struct stat named, open;

	return fstatat(dir, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && fstat(fd, &open) == 0 &&
	       named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

int recording_ring_check(struct recording_ring *g)
{
	struct segment_name name = segment_name(g->number);
	struct stat st;
	int lock;

	if (fstat(g->dir, &st) < 0 || !st.st_nlink)
		return -ENOENT;
	if (!has_file(g->dir, RING_LOCK, g->lock)) {
		lock = lock_dir(g->dir);
		if (lock < 0)
			return lock;
		close(g->lock);
		g->lock = lock;
	}
	if (g->fd < 0 || has_file(g->dir, name.text, g->fd))
		return 0;
	end_segment(g);
	if (g->count && g->segment[g->count - 1].number == g->number)
		g->count--;
	return 1;
}

/* ---- frames ---- */

static uint64_t segment_ms(const struct recording_ring *g)
{
	uint64_t ms = g->options.keep_ms / RING_SEGMENTS;

	if (ms < RING_SEGMENT_LEAST)
		return RING_SEGMENT_LEAST;
	return ms > RING_SEGMENT_MOST ? RING_SEGMENT_MOST : ms;
}

/*
 * True if it belongs in another segment than the one in work. `frame`: a frame, before which no
 * newer frame may be; an event may be late, unless the clock was set meanwhile.
 */
static bool is_over(const struct recording_ring *g, int64_t time_ms, int64_t boot_ms, bool frame)
{
	int64_t passed, moved;

	if (g->bytes >= g->options.keep_bytes / RING_PIECES)
		return true;
	if (frame && g->frame_ms == INT64_MIN)
		return false;
	if (__builtin_sub_overflow(time_ms, frame ? g->frame_ms : g->last_ms, &passed))
		return true;
	if (passed < 0)
		return frame || __builtin_sub_overflow(boot_ms, g->boot_ms, &moved) ||
		       moved < -RING_CLOCK_MS || moved > RING_CLOCK_MS;
	/* The clock was set, or the machine slept. */
	if (passed > 60000 + 10 * (int64_t)g->options.recording.interval_ms)
		return true;
	return time_ms - g->first_ms >= (int64_t)segment_ms(g);
}

static void note_time(struct recording_ring *g, int64_t time_ms, int64_t boot_ms, bool frame)
{
	if (frame && g->frame_ms == INT64_MIN)
		g->first_ms = time_ms;
	if (frame)
		g->frame_ms = time_ms;
	if (time_ms > g->last_ms)
		g->last_ms = time_ms;
	g->boot_ms = boot_ms;
}

/*
 * Names an event by its second in UTC, and counts those of one second. An event that was written
 * again, or the end of one, has its name already, or none.
 */
static void name_event(struct recording_ring *g, struct event_record *e)
{
	const time_t second = (time_t)(e->time_ms / 1000);
	char name[64];
	struct tm tm;

	if (event_has(e, EVENT_ID) || event_has(e, EVENT_BEGAN) || !gmtime_r(&second, &tm))
		return;
	g->named_count = g->named_second == second ? g->named_count + 1 : 1;
	g->named_second = second;
	snprintf(name, sizeof(name), "%04d%02d%02dT%02d%02d%02dZ-%u", tm.tm_year + 1900,
		 tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, g->named_count);
	event_set_text(e, EVENT_ID, name);
}

/*
 * Appends an event, a frame, or both. The time is that of the event, if there is one. Returns 0 or
 * a negative errno.
 */
static int append_parts(struct recording_ring *g, int64_t boot_ms, struct event_record *e,
			const struct snapshot *s)
{
	int64_t time_ms = e ? e->time_ms : s->time_ms;
	int r = 0;

	if (g->fd >= 0 && is_over(g, time_ms, boot_ms, s))
		end_segment(g);
	strbuf_clear(&g->out);
	if (g->fd < 0)
		r = begin_segment(g, time_ms);
	if (r == 0) {
		recording_writer_mark(&g->writer);
		if (e) {
			name_event(g, e);
			r = recording_writer_event(&g->writer, e);
		}
		if (r == 0 && s)
			r = recording_writer_append(&g->writer, s);
		if (r == 0)
			r = write_out(g);
		if (r < 0)
			recording_writer_drop(&g->writer);
	}
	if (r == 0) {
		note_time(g, time_ms, boot_ms, s);
		g->unsynced |= e != NULL;
		g->frames += s != NULL;
		g->in_vain = false;
		remove_oldest(g);
		return 0;
	}
	g->dropped += s != NULL;
	/* The header of the segment was not written: the next frame begins it again. */
	if (g->fd >= 0 && !g->bytes)
		end_segment(g);
	return r;
}

/* ---- the budget of kills ---- */

/* Adds what the time since the last call brought. */
static void fill_budget(struct recording_ring *g, int64_t since_boot_ms)
{
	const int64_t burst = burst_of(&g->options);
	double part, more;
	int64_t passed;

	if (__builtin_sub_overflow(since_boot_ms, g->budget_ms, &passed) || passed <= 0)
		return;
	part = (double)passed / (double)g->options.keep_ms;
	more = part * (double)(g->options.keep_bytes / RING_KILLS_PART);
	if (more >= (double)(burst - g->budget)) {
		g->budget = burst;
	} else if (more >= 1) {
		g->budget += (int64_t)more;
	} else {
		return;
	}
	g->budget_ms = since_boot_ms;
}

enum ring_room recording_ring_room(struct recording_ring *g, int64_t since_boot_ms)
{
	fill_budget(g, since_boot_ms);
	if (g->budget <= 0)
		return RING_ROOM_NONE;
	return g->budget < burst_of(&g->options) / 2 ? RING_ROOM_EVENT : RING_ROOM_ALL;
}

/*
 * Appends a kill, and the frame of its moment. On a full disk it takes the room of the oldest
 * segments, so that no more is used than before, but never that of the newest one.
 */
static int append_kill(struct recording_ring *g, int64_t boot_ms, struct event_record *e,
		       const struct snapshot *s)
{
	size_t removable = g->fd >= 0 || !g->count ? g->count : g->count - 1;
	const uint64_t dropped = g->dropped;
	int r;

	g->of_kill = true;
	g->wanted = 0;
	r = append_parts(g, boot_ms, e, s);
	/* Others took what an earlier kill left. */
	if (r == -ENOSPC && g->made_room >= g->wanted)
		g->made_room = 0;
	while (r == -ENOSPC && removable && !g->in_vain) {
		g->made_room += remove_first(g, 1);
		g->removed_for_kills++;
		removable--;
		g->dropped = dropped;
		r = append_parts(g, boot_ms, e, s);
		/* Removing made enough room, and the disk is still full: other files fill it. */
		g->in_vain = r == -ENOSPC && g->made_room >= g->wanted;
	}
	g->of_kill = false;
	return r;
}

/* Takes the bytes from the budget. Returns 0 or a negative errno. */
static int append_of_kills(struct recording_ring *g, int64_t boot_ms, struct event_record *e,
			   const struct snapshot *s)
{
	size_t entries = RECORDING_ENTRY * ((e != NULL) + (s != NULL)); /* of the index */
	int r = e ? append_kill(g, boot_ms, e, s) : append_parts(g, boot_ms, NULL, s);

	if (r == 0)
		g->budget -= (int64_t)(g->out.len + entries);
	return r;
}

/* The kill is counted by a later event, which is the last of those that were left out. */
static void leave_out(struct recording_ring *g, struct event_record *e)
{
	g->left_out += 1 + event_number(e, EVENT_MISSED);
	g->last_left_out = *e;
	event_set(&g->last_left_out, EVENT_TABLE, 0);
}

static int write_left_out(struct recording_ring *g, int64_t boot_ms)
{
	int r;

	if (!g->left_out)
		return 0;
	event_set(&g->last_left_out, EVENT_MISSED, g->left_out - 1);
	r = append_of_kills(g, boot_ms, &g->last_left_out, NULL);
	if (r == 0)
		g->left_out = 0;
	return r;
}

/* ---- frames and events ---- */

/* What was appended survives a loss of power. */
static int sync_segment(struct recording_ring *g)
{
	g->synced_ms = g->last_ms;
	g->unsynced = false;
	return fdatasync(g->fd) < 0 ? -errno : 0;
}

int recording_ring_append(struct recording_ring *g, const struct snapshot *s, bool of_kills)
{
	int64_t boot_ms = (int64_t)s->host.boot_ms;
	int r;

	if (g->left_out && recording_ring_room(g, s->time_ms - boot_ms) != RING_ROOM_NONE)
		write_left_out(g, boot_ms);
	r = of_kills ? append_of_kills(g, boot_ms, NULL, s) : append_parts(g, boot_ms, NULL, s);
	if (r < 0)
		return r;
	return s->time_ms - g->synced_ms >= RING_SYNC_MS ? sync_segment(g) : 0;
}

int recording_ring_event(struct recording_ring *g, int64_t boot_ms, struct event_record *e)
{
	return append_parts(g, boot_ms, e, NULL);
}

int recording_ring_kill(struct recording_ring *g, int64_t boot_ms, struct event_record *e,
			const struct snapshot *s)
{
	enum ring_room room = recording_ring_room(g, e->time_ms - boot_ms);
	int r;

	/* Frames are in order of time. */
	if (!s || room != RING_ROOM_ALL || s->time_ms < g->frame_ms) {
		event_set(e, EVENT_TABLE, 0);
		s = NULL;
	}
	if (room == RING_ROOM_NONE) {
		leave_out(g, e);
		return 1;
	}
	r = write_left_out(g, boot_ms);
	if (r == 0)
		r = append_of_kills(g, boot_ms, e, s);
	if (r < 0)
		leave_out(g, e);
	return r;
}

int recording_ring_signal(struct recording_ring *g, int64_t boot_ms, struct event_record *e)
{
	uint64_t missed = event_number(e, EVENT_SIGNALS_MISSED) + g->signals_left_out;
	int r = 1;

	event_set(e, EVENT_SIGNALS_MISSED, missed);
	fill_budget(g, e->time_ms - boot_ms);
	if (g->budget >= burst_of(&g->options) / 4 * 3)
		r = append_of_kills(g, boot_ms, e, NULL);
	g->signals_left_out = r == 0 ? 0 : missed + 1;
	return r;
}

int recording_ring_sync_events(struct recording_ring *g, uint64_t now_ms)
{
	if (!g->unsynced || (g->event_sync_ms && now_ms - g->event_sync_ms < RING_EVENT_SYNC_MS))
		return 0;
	g->event_sync_ms = now_ms;
	return sync_segment(g);
}

void recording_ring_close(struct recording_ring *g)
{
	if (g->dir < 0)
		return;
	if (g->fd >= 0)
		write_left_out(g, g->boot_ms);
	end_segment(g);
	fsync(g->dir);
	close_fd(&g->lock);
	close(g->dir);
	recording_writer_done(&g->writer);
	strbuf_done(&g->out);
	free(g->segment);
	*g = (struct recording_ring){.dir = -1, .fd = -1};
}
