// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Recordings without an end: bounded space, also in a storm of kills, segments as one recording,
 * gaps, damage, one writer.
 */
#include "unit.h"

#include <dirent.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include "recorded_frames.h"
#include "base/file.h"
#include "become.h"
#include "heap.h"
#include "recording/recording_ring.h"
#include "recording/segments.h"
#include "temp_directory.h"

#define HOUR	 (60 * 60 * 1000)
#define DAY	 (24 * (int64_t)HOUR)
#define START	 1700000000000
#define INTERVAL 10000

static const struct ring_options week = {
	.recording = {.tool = "1.2.3", .interval_ms = INTERVAL},
	.keep_ms = 7 * DAY,
	.keep_bytes = 500 << 20,
};

/* A machine of a few processes, and its recording. */
static struct snapshot machine;
static struct recording_ring ring;
/* What is written, and what is read. */
static struct event_record event, got;

static int try_ring(struct recording_ring *g, const struct ring_options *o)
{
	return recording_ring_open(g, open(".", O_RDONLY | O_DIRECTORY), o);
}

static void open_ring(const struct ring_options *o)
{
	assert_int_equal(chmod(".", 0700), 0);
	assert_int_equal(try_ring(&ring, o), 0);
}

/* Each frame has other values. */
static void fill(int64_t time_ms, unsigned n)
{
	for (int i = (int)machine.count; i < 5; i++) {
		struct process *p = snapshot_add(&machine);

		p->pid = i + 1;
		p->name = "worker";
	}
	machine.time_ms = time_ms;
	for (int i = 0; i < 5; i++)
		process_set(&machine.process[i], COUNTER_SWAP, (uint64_t)n * 4096 * (unsigned)i);
}

static int append(int64_t time_ms, unsigned n)
{
	fill(time_ms, n);
	return recording_ring_append(&ring, &machine, false);
}

static void append_at(const int64_t *time_ms, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(append(time_ms[i], i), 0);
}

/* Frames from number `from` on, before `to`, at their intervals. */
static void append_some(unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++)
		assert_int_equal(append(START + i * INTERVAL, i), 0);
}

/* Opens the directory, or has the reason why not in `why`. */
static int try_dir(struct recording_reader **ret, char why[RECORDING_REASON])
{
	cleanup_close int dir = open(".", O_RDONLY | O_DIRECTORY);

	return recording_reader_open_dir(dir, ret, why);
}

static struct recording_reader *read_dir(void)
{
	struct recording_reader *r = NULL;
	char why[RECORDING_REASON] = "";

	if (try_dir(&r, why) < 0)
		fail_msg("%s", why);
	return r;
}

static struct recording_reader *read_frames(size_t frames)
{
	struct recording_reader *r = read_dir();

	assert_int_equal(recording_reader_info(r)->frames, frames);
	return r;
}

/* Whether frame i is what append() wrote as number n. */
static void check_number(struct recording_reader *r, size_t i, unsigned n)
{
	const struct snapshot *s = frame_of(r, i);

	assert_int_equal(s->count, 5);
	assert_int_equal(s->process[4].value[COUNTER_SWAP], (uint64_t)n * 4096 * 4);
}

static size_t count_segments(uint64_t *ret_bytes)
{
	cleanup_free uint32_t *number = NULL;
	size_t count = 0;

	assert_int_equal(segment_list(AT_FDCWD, &number, &count), 0);
	*ret_bytes = 0;
	for (size_t i = 0; i < count; i++) {
		struct segment_name name = segment_name(number[i]);
		struct stat st;

		assert_int_equal(stat(name.text, &st), 0);
		assert_int_equal(st.st_mode & 0777, 0600);
		*ret_bytes += (uint64_t)st.st_size;
	}
	return count;
}

IN_MEMORY(week)
{
	struct recording_reader *r;
	uint64_t bytes;
	size_t at;

	open_ring(&week);
	append_some(0, 3000);
	/* Before and after the end of the last segment. */
	for (int ended = 0; ended < 2; ended++) {
		r = read_frames(3000);
		assert_true(recording_reader_info(r)->segments > 3);
		check_number(r, 2999, 2999);
		check_number(r, 0, 0);
		check_number(r, 1234, 1234);
		check_number(r, 1235, 1235);
		for (size_t i = 0; i < 3000; i++) {
			assert_int_equal(recording_reader_time(r, i),
					 START + (int64_t)i * INTERVAL);
			assert_false(recording_reader_gap(r, i));
			assert_true(recording_reader_find(r, START + (int64_t)i * INTERVAL + 9999,
							  &at));
			assert_int_equal(at, i);
		}
		assert_false(recording_reader_find(r, START - 1, &at));
		/* The next frame may be late by a quarter of the interval, and half a second. */
		assert_false(recording_reader_ended(r, START));
		assert_false(recording_reader_ended(r, START + 3000 * INTERVAL + 3000));
		assert_true(recording_reader_ended(r, START + 3000 * INTERVAL + 3001));
		assert_true(recording_reader_ended(r, INT64_MAX));
		assert_false(recording_reader_ended(r, INT64_MIN));
		recording_reader_free(r);
		if (!ended)
			recording_ring_close(&ring);
	}
	assert_true(count_segments(&bytes) > 3);
}

/* Another writer goes on behind the segments that there are. */
IN_MEMORY(restart)
{
	struct recording_ring second;
	cleanup(reader_done) struct recording_reader *r = NULL;

	for (unsigned run = 0; run < 3; run++) {
		open_ring(&week);
		for (unsigned i = 0; i < 5; i++)
			assert_int_equal(append(START + run * HOUR + i * INTERVAL, run * 5 + i), 0);
		assert_int_equal(try_ring(&second, &week), -EBUSY);
		recording_ring_close(&second);
		recording_ring_close(&ring);
	}
	r = read_frames(15);
	for (unsigned i = 0; i < 15; i++) {
		check_number(r, i, i);
		assert_int_equal(recording_reader_gap(r, i), i && i % 5 == 0);
	}
}

/* All who may read the directory may lock it: that stops no recorder. Its lock is closed to them.
 */
IN_MEMORY(lock_of_others)
{
	int ready[2], end[2], status;
	pid_t pid;
	char c = 0;

	if (!can_become(1234))
		skip();
	assert_int_equal(chmod(".", 0755), 0);
	assert_int_equal(pipe(ready) || pipe(end), 0);
	pid = fork();
	if (pid == 0) {
		int dir = setgid(1234) || setuid(1234) ? -1 : open(".", O_RDONLY | O_DIRECTORY);

		close(end[1]);
		c = dir >= 0 && flock(dir, LOCK_EX | LOCK_NB) == 0;
		_exit(write(ready[1], &c, 1) != 1 || read(end[0], &c, 1) != 1 ||
		      open(RING_LOCK, O_RDONLY) >= 0 || errno != EACCES);
	}
	close(end[0]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	assert_int_equal(c, 1);
	assert_int_equal(try_ring(&ring, &week), 0);
	append_some(0, 2);
	assert_int_equal(write(end[1], &c, 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	recording_ring_close(&ring);
	close(ready[0]);
	close(ready[1]);
	close(end[1]);
	recording_reader_free(read_frames(2));
}

/* What stands in the place of the lock is neither followed nor waited for, and not changed. */
IN_MEMORY(lock_in_its_place)
{
	struct stat st;

	close(open("other", O_WRONLY | O_CREAT, 0644));
	assert_int_equal(chmod(".", 0700), 0);
	for (int what = 0; what < 4; what++) {
		static const int error[] = {-ELOOP, -EPERM, -EPERM, -EISDIR};

		assert_int_equal(what == 0   ? symlink("other", RING_LOCK)
				 : what == 1 ? link("other", RING_LOCK)
				 : what == 2 ? mkfifo(RING_LOCK, 0600)
					     : mkdir(RING_LOCK, 0700),
				 0);
		assert_int_equal(try_ring(&ring, &week), error[what]);
		recording_ring_close(&ring);
		assert_int_equal(remove(RING_LOCK), 0);
	}
	assert_int_equal(stat("other", &st), 0);
	assert_int_equal(st.st_mode & 0777, 0644);
	/* One that the owner let others read is closed to them. */
	close(open(RING_LOCK, O_WRONLY | O_CREAT, 0644));
	open_ring(&week);
	assert_int_equal(stat(RING_LOCK, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	recording_ring_close(&ring);
}

/* A clock that is set back is a gap, and a long pause; nothing is lost by them. */
IN_MEMORY(clock)
{
	static const int64_t times[] = {START, START + INTERVAL, START - HOUR,
					START - HOUR + INTERVAL, START + 400 * DAY};
	cleanup(reader_done) struct recording_reader *r = NULL;
	size_t at = 0;

	open_ring(&week);
	append_at(times, ARRAY_SIZE(times));
	recording_ring_close(&ring);
	r = read_frames(5);
	assert_int_equal(recording_reader_info(r)->segments, 3);
	assert_false(recording_reader_gap(r, 1));
	assert_true(recording_reader_gap(r, 2));
	assert_false(recording_reader_gap(r, 3));
	assert_true(recording_reader_gap(r, 4));
	/* The latest frame up to the moment, wherever it is. */
	assert_true(recording_reader_find(r, START, &at));
	assert_int_equal(at, 0);
	assert_true(recording_reader_find(r, START + DAY, &at));
	assert_int_equal(at, 1);
	assert_false(recording_reader_covers(r, at, START + DAY));
	assert_true(recording_reader_later(r, START + DAY, &at));
	assert_int_equal(at, 4);
	assert_false(recording_reader_ended(r, START + 400 * DAY));
	assert_true(recording_reader_ended(r, START + 401 * DAY));
}

/*
 * A machine boots without the time, and learns it later: the frames of 1970 hide nothing that was
 * recorded before, nor behind them in the same segment. A clock that was wrong for a while
 * likewise.
 */
IN_MEMORY(clock_of_1970)
{
	static const int64_t times[] = {
		START,
		START + INTERVAL,
		START + 2 * INTERVAL, /* before the boot */
		5000,
		5000 + INTERVAL, /* without the time */
		START + HOUR,
		START + HOUR + INTERVAL,
		START + DAY,
		START + DAY + INTERVAL, /* a wrong day, and back */
		START + 2 * HOUR,
	};
	static const struct {
		int64_t at;
		size_t frame;
	} moments[] = {
		{5000, 3},
		{4000 + INTERVAL, 3},
		{START - 1, 4},
		{START + INTERVAL, 1},
		{START + 2 * INTERVAL + 5000, 2},
		{START + HOUR - 1, 2},
		{START + HOUR + INTERVAL - 1, 5},
		{START + 2 * HOUR - 1, 6},
		{START + 2 * HOUR + 1, 9},
		{START + DAY + 1, 7},
		{INT64_MAX, 8},
	};
	cleanup(reader_done) struct recording_reader *r = NULL;
	int64_t first, last;
	size_t at = 0;

	open_ring(&week);
	append_at(times, ARRAY_SIZE(times));
	recording_ring_close(&ring);
	r = read_frames(ARRAY_SIZE(times));
	assert_false(recording_reader_find(r, 4999, &at));
	for (size_t i = 0; i < ARRAY_SIZE(moments); i++) {
		assert_true(recording_reader_find(r, moments[i].at, &at));
		assert_int_equal(at, moments[i].frame);
	}
	recording_reader_range(r, &first, &last);
	assert_int_equal(first, 5000);
	assert_int_equal(last, START + DAY + INTERVAL);
}

/* Of a moment that the clock showed twice, the frame that was recorded last. */
IN_MEMORY(clock_twice)
{
	cleanup(reader_done) struct recording_reader *r = NULL;
	size_t at = 0;

	open_ring(&week);
	append_some(0, 10);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(append(START + 4000 + (2 + i) * INTERVAL, 10 + i), 0);
	recording_ring_close(&ring);
	r = read_frames(14);
	for (unsigned i = 0; i < 10; i++) {
		assert_true(recording_reader_find(r, START + i * INTERVAL + 3000, &at));
		assert_int_equal(at, i >= 3 && i <= 5 ? 10 + i - 3 : i);
	}
}

/* 100,000 frames of 10 s: the newest stay, in bounded space, files and memory. */
IN_MEMORY(bounds)
{
	struct ring_options day = week, small = week;
	struct recording_reader *r;
	size_t early = 0;
	uint64_t bytes;

	day.keep_ms = DAY;
	open_ring(&day);
	for (unsigned i = 0; i < 100000; i++) {
		assert_int_equal(append(START + (int64_t)i * INTERVAL, i), 0);
		if (i == 20000)
			early = heap_in_use();
	}
	assert_uint_in_range(heap_in_use(), 0, early + 4096);
	recording_ring_close(&ring);
	r = read_dir();
	assert_uint_in_range(recording_reader_info(r)->frames, DAY / INTERVAL,
			     DAY / INTERVAL + DAY / INTERVAL / 33);
	check_number(r, recording_reader_info(r)->frames - 1, 99999);
	assert_uint_in_range(count_segments(&bytes), 2, RING_SEGMENTS + 20);
	recording_reader_free(r);
	/* The same by size. */
	small.keep_bytes = 1 << 20;
	open_ring(&small);
	for (unsigned i = 0; i < 20000; i++) {
		assert_int_equal(append(START + DAY + (int64_t)i * INTERVAL, i), 0);
		if (i % 1000 == 0 && i) {
			count_segments(&bytes);
			assert_uint_in_range(bytes, 1, small.keep_bytes + 4096);
		}
	}
	recording_ring_close(&ring);
	r = read_dir();
	check_number(r, recording_reader_info(r)->frames - 1, 19999);
	recording_reader_free(r);
}

/*
 * More segments than 16 bits can number, and than a process may have files open. One that is gone
 * when it is needed is named.
 */
IN_MEMORY(many_segments)
{
	enum { COUNT = 70000 };
	struct rlimit before, few = {32, 32};
	struct recording_reader *r;
	const struct snapshot *s;
	char why[RECORDING_REASON] = "";

	open_ring(&week);
	append_some(0, 2);
	recording_ring_close(&ring);
	for (uint32_t i = 2; i <= COUNT; i++)
		assert_int_equal(link(segment_name(1).text, segment_name(i).text), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	r = read_frames(2 * COUNT);
	assert_int_equal(recording_reader_info(r)->segments, COUNT);
	assert_int_equal(recording_reader_info(r)->left_out, 0);
	for (size_t i = 0; i < COUNT; i += 700)
		check_number(r, 2 * i + 1, 1);
	check_number(r, 2 * COUNT - 1, 1);
	assert_int_equal(unlink(segment_name(COUNT / 2).text), 0);
	assert_int_equal(recording_reader_frame(r, COUNT - 1, &s, why), -ENOENT);
	assert_string_equal(why, "the file of snapshot 69999 was removed meanwhile");
	check_number(r, COUNT, 0);
	recording_reader_free(r);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

/* What can be read is what was written, the rest has a reason. Returns the number of snapshots. */
static size_t read_damaged(struct recording_reader *r)
{
	char why[RECORDING_REASON] = "";
	size_t whole = 0, found = 0;

	for (size_t i = 0; i < recording_reader_info(r)->frames; i++) {
		const struct snapshot *frame = NULL;
		int error = recording_reader_frame(r, i, &frame, why);

		if (error == 0)
			assert_int_equal(frame->process[1].value[COUNTER_SWAP],
					 (uint64_t)(frame->time_ms - START) / INTERVAL * 4096);
		else
			assert_true(error == -EBADMSG && *why);
		whole += error == 0;
	}
	for (size_t i = 0; i < recording_reader_info(r)->events; i++) {
		int error = recording_reader_event(r, i, &got, why);

		assert_true(error == 0 || (error == -EBADMSG && *why));
		if (error == 0)
			assert_int_equal(got.number[EVENT_UID], 4711);
		error = recording_reader_event_end(r, i, &got, why);
		assert_true(error >= 0 || (error == -EBADMSG && *why));
		if (error > 0)
			assert_int_equal(got.number[EVENT_KILLS], 17);
	}
	for (int64_t t = START - INTERVAL; t < START + 100 * INTERVAL; t += INTERVAL)
		recording_reader_find(r, t, &found);
	return whole;
}

static void begin_event(enum event_kind kind)
{
	event = (struct event_record){};
	event_set(&event, EVENT_KIND, kind);
}

static void add_event(int64_t time_ms, const struct snapshot *s)
{
	event.time_ms = time_ms;
	if (event.number[EVENT_KIND] == EVENT_OOM_KILL)
		assert_int_equal(recording_ring_kill(&ring, 0, &event, s), 0);
	else
		assert_int_equal(recording_ring_event(&ring, 0, &event), 0);
}

/* Three segments of frames, events, and ends of events. */
static void write_segments(void)
{
	begin_event(EVENT_PRESSURE);
	event_set(&event, EVENT_UID, 4711);
	event_set_text(&event, EVENT_NAME, "a name");
	for (unsigned i = 0; i < 42; i++) {
		if (i % 14 == 0)
			open_ring(&week);
		assert_int_equal(append(START + i * INTERVAL, i), 0);
		event.have[0] &= ~(UINT64_C(1) << EVENT_BEGAN);
		if (i % 4 == 3) {
			event_set(&event, EVENT_BEGAN, START + (i - 2) * INTERVAL + 1);
			event_set(&event, EVENT_KILLS, 17);
		}
		if (i % 2)
			add_event(START + i * INTERVAL + 1, NULL);
		if (i % 14 == 13)
			recording_ring_close(&ring);
	}
}

static void write_file(const char *name, const char *data, size_t len)
{
	cleanup_close int fd = open(name, O_WRONLY | O_TRUNC | O_CLOEXEC);

	assert_int_equal(file_write_fd(fd, data, len), 0);
}

/* A damaged segment does not take the others along, and a writer goes on behind it. */
IN_MEMORY(damage)
{
	const struct segment_name last = segment_name(3);
	struct recording_reader *r;
	static char whole[1 << 17];
	ssize_t len;

	write_segments();
	len = file_read(AT_FDCWD, last.text, whole, sizeof(whole));
	assert_true(len > 0);
	/* Each time another bit is wrong. Every second time the end is missing too. */
	for (ssize_t at = 0; at < len; at += 3) {
		whole[at] ^= (char)(1 << at % 8);
		write_file(last.text, whole, (size_t)(at % 2 ? at + 1 : len));
		whole[at] ^= (char)(1 << at % 8);
		r = read_dir();
		assert_true(read_damaged(r) >= 28);
		recording_reader_free(r);
	}
	open_ring(&week);
	assert_int_equal(append(START + 100 * INTERVAL, 100), 0);
	recording_ring_close(&ring);
	r = read_dir();
	assert_true(read_damaged(r) >= 29);
	recording_reader_free(r);
}

/* From now on nothing can be written. Returns what empty_disk() needs. */
static int fill_disk(void)
{
	int fd = dup(ring.fd);

	assert_int_equal(dup2(open("/dev/full", O_WRONLY), ring.fd), ring.fd);
	return fd;
}

static void empty_disk(int fd)
{
	assert_int_equal(dup2(fd, ring.fd), ring.fd);
	close(fd);
}

/* A frame that cannot be written is a gap, and the recording goes on behind it. */
IN_MEMORY(full)
{
	cleanup(reader_done) struct recording_reader *r = NULL;
	int fd;

	open_ring(&week);
	append_some(0, 3);
	fd = fill_disk();
	for (unsigned i = 3; i < 6; i++)
		assert_int_equal(append(START + i * INTERVAL, i), -ENOSPC);
	assert_int_equal(ring.dropped, 3);
	empty_disk(fd);
	append_some(6, 9);
	recording_ring_close(&ring);
	r = read_frames(6);
	check_number(r, 2, 2);
	check_number(r, 3, 6);
	check_number(r, 5, 8);
	assert_true(recording_reader_gap(r, 3));
	assert_false(recording_reader_gap(r, 4));
}

/* Events, with the frame of their moment and without; before and after the index is written. */
IN_MEMORY(events)
{
	struct recording_reader *r;
	char why[RECORDING_REASON];

	open_ring(&week);
	assert_int_equal(append(START, 0), 0);
	begin_event(EVENT_OOM_KILL);
	event_set(&event, EVENT_PID, 4711);
	event_set_text(&event, EVENT_NAME, "victim");
	fill(START + 5000, 1);
	add_event(START + 5000, &machine);
	event_set(&event, EVENT_PID, 4712);
	add_event(START + 5000, NULL);
	assert_int_equal(append(START + INTERVAL, 2), 0);
	for (int ended = 0; ended < 2; ended++) {
		r = read_frames(3);
		assert_int_equal(recording_reader_info(r)->events, 2);
		for (unsigned i = 0; i < 3; i++)
			check_number(r, i, i);
		assert_int_equal(recording_reader_event_frame(r, 0), 1);
		assert_int_equal(recording_reader_event_frame(r, 1), 2);
		for (unsigned i = 0; i < 2; i++) {
			assert_int_equal(recording_reader_event(r, i, &got, why), 0);
			assert_int_equal(got.number[EVENT_PID], 4711 + i);
			assert_int_equal(got.time_ms, START + 5000);
			assert_string_equal(event_text(&got, EVENT_NAME), "victim");
			assert_null(event_text(&got, EVENT_UNIT));
		}
		recording_reader_free(r);
		if (!ended)
			recording_ring_close(&ring);
	}
}

/* The end of an event has no number, is found behind other events, and belongs to that event alone.
 */
IN_MEMORY(event_ends)
{
	struct recording_reader *r;
	char why[RECORDING_REASON];

	open_ring(&week);
	/* 0: without an end, 1: ends after a kill, in another segment, 2: the kill. */
	begin_event(EVENT_PRESSURE);
	add_event(START, NULL);
	append_some(0, 1);
	add_event(START + INTERVAL, NULL);
	append_some(1, 2);
	event_set(&event, EVENT_KIND, EVENT_OOM_KILL);
	add_event(START + 2 * INTERVAL, NULL);
	recording_ring_close(&ring);
	open_ring(&week);
	assert_int_equal(append(START + 3 * INTERVAL, 2), 0);
	event_set(&event, EVENT_KIND, EVENT_PRESSURE);
	event_set(&event, EVENT_BEGAN, START + INTERVAL);
	event_set(&event, EVENT_KILLS, 17);
	add_event(START + 3 * INTERVAL + 1, NULL);
	for (int ended = 0; ended < 2; ended++) {
		r = read_dir();
		assert_int_equal(recording_reader_info(r)->events, 3);
		assert_int_equal(recording_reader_event_end(r, 0, &got, why), 0);
		assert_int_equal(recording_reader_event_end(r, 1, &got, why), 1);
		assert_int_equal(got.number[EVENT_KILLS], 17);
		assert_int_equal(got.time_ms, START + 3 * INTERVAL + 1);
		assert_int_equal(recording_reader_event_end(r, 2, &got, why), 0);
		recording_reader_free(r);
		if (!ended)
			recording_ring_close(&ring);
	}
}

/* ---- storms of kills ---- */

/* Counts what the ring syncs, in place of the one of the library. */
static unsigned syncs;

int fdatasync(int fd)
{
	(void)fd;
	syncs++;
	return 0;
}

/* Returns what recording_ring_kill() does. */
static int kill_at(int64_t time_ms, int64_t boot_ms, bool table)
{
	begin_event(EVENT_OOM_KILL);
	event.time_ms = time_ms;
	event_set(&event, EVENT_TABLE, table);
	event_set_text(&event, EVENT_CGROUP,
		       "/user.slice/user-1234.slice/user@1234.service/app.slice/storm.scope");
	if (table)
		fill(time_ms, 0);
	return recording_ring_kill(&ring, boot_ms, &event, table ? &machine : NULL);
}

/* The kills of a recording, those that were only counted included. */
static uint64_t count_kills(struct recording_reader *r)
{
	char why[RECORDING_REASON] = "";
	uint64_t kills = 0;

	for (size_t i = 0; i < recording_reader_info(r)->events; i++) {
		assert_int_equal(recording_reader_event(r, i, &got, why), 0);
		kills += 1 + got.number[EVENT_MISSED];
	}
	return kills;
}

/*
 * Half of the kills are told later than the frame behind them. They begin no segment, old frames
 * stay, and each is between the frames that were before and after it.
 */
IN_MEMORY(storm)
{
	const int64_t begin = START + (int64_t)1000 * INTERVAL;
	struct recording_reader *r;
	size_t segments;
	uint64_t bytes;

	open_ring(&week);
	append_some(0, 1000);
	segments = count_segments(&bytes);
	for (unsigned i = 0; i < 10000; i++) {
		fill(begin + i * 200, i);
		assert_int_equal(recording_ring_append(&ring, &machine, true), 0);
		assert_int_equal(kill_at(begin + i * 200 + (i % 2 ? 5 : -5), 0, false), 0);
	}
	assert_uint_in_range(count_segments(&bytes), segments, segments + 1);
	for (int ended = 0; ended < 2; ended++) {
		r = read_frames(11000);
		check_number(r, 0, 0);
		check_number(r, 10999, 9999);
		assert_int_equal(recording_reader_info(r)->events, 10000);
		for (size_t i = 0; i < 10000; i++) {
			size_t frame = recording_reader_event_frame(r, i);

			assert_int_equal(frame, 1000 + i + i % 2);
			assert_true(recording_reader_time(r, frame - 1) <=
				    recording_reader_event_time(r, i));
		}
		recording_reader_free(r);
		if (!ended)
			recording_ring_close(&ring);
	}
}

/* Of a kill that is told late, the frame of its moment is left out: frames are in order of time. */
IN_MEMORY(late_table)
{
	cleanup(reader_done) struct recording_reader *r = NULL;
	char why[RECORDING_REASON] = "";

	open_ring(&week);
	append_some(0, 3);
	assert_int_equal(kill_at(START + INTERVAL + 1, 0, true), 0);
	assert_int_equal(kill_at(START + 2 * INTERVAL + 1, 0, true), 0);
	append_some(3, 4);
	recording_ring_close(&ring);
	r = read_frames(5);
	assert_int_equal(recording_reader_info(r)->segments, 1);
	assert_int_equal(recording_reader_event_frame(r, 0), 2);
	assert_int_equal(recording_reader_event_frame(r, 1), 3);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(recording_reader_event(r, i, &got, why), 0);
		assert_int_equal(got.number[EVENT_TABLE], i);
	}
}

/* A clock that was set back begins one segment, whatever comes first then; a late kill none. */
IN_MEMORY(clock_of_kills)
{
	cleanup(reader_done) struct recording_reader *r = NULL;
	const int64_t back = -HOUR;

	open_ring(&week);
	append_some(0, 3);
	assert_int_equal(kill_at(START - 5 * INTERVAL, RING_CLOCK_MS, false), 0);
	assert_int_equal(ring.number, 1);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(kill_at(START + back + i, back, false), 0);
	assert_int_equal(ring.number, 2);
	fill(START + back + INTERVAL, 3);
	machine.host.boot_ms = (uint64_t)back;
	assert_int_equal(recording_ring_append(&ring, &machine, false), 0);
	assert_int_equal(kill_at(START + back + INTERVAL - 1, back, false), 0);
	machine.host.boot_ms = 0;
	recording_ring_close(&ring);
	r = read_frames(4);
	assert_int_equal(recording_reader_info(r)->segments, 2);
	assert_int_equal(recording_reader_info(r)->events, 5);
	assert_int_equal(recording_reader_event_frame(r, 0), 0);
	for (size_t i = 1; i < 5; i++)
		assert_int_equal(recording_reader_event_frame(r, i), 3);
}

/* Signals without end: they leave most of the budget to kills and their frames, and are counted. */
IN_MEMORY(signals)
{
	struct recording_reader *r;
	char why[RECORDING_REASON] = "";
	uint64_t signals = 0;
	unsigned sent = 0;

	open_ring(&week);
	assert_int_equal(append(START, 0), 0);
	do {
		begin_event(EVENT_SIGNAL);
		event_set(&event, EVENT_SIGNALS_MISSED, 1);
		event.time_ms = START + 1000;
	} while (recording_ring_signal(&ring, 0, &event) == 0 && ++sent < 1000000);
	assert_true(sent > 10);
	assert_int_equal(recording_ring_signal(&ring, 0, &event), 1);
	assert_int_equal(kill_at(START + 1000, 0, true), 0);
	assert_int_equal(event.number[EVENT_TABLE], 1);
	/* An hour later there is room again. */
	begin_event(EVENT_SIGNAL);
	event.time_ms = START + HOUR;
	assert_int_equal(recording_ring_signal(&ring, 0, &event), 0);
	r = read_frames(2);
	for (size_t i = 0; i < recording_reader_info(r)->events; i++) {
		assert_int_equal(recording_reader_event(r, i, &got, why), 0);
		if (got.number[EVENT_KIND] == EVENT_SIGNAL)
			signals += 1 + got.number[EVENT_SIGNALS_MISSED];
	}
	/* Each of the first ones had missed one; of the two without room one was set again. */
	assert_int_equal(signals, 2 * sent + 5);
	recording_reader_free(r);
	recording_ring_close(&ring);
}

/* Kills take a bounded part of the bytes. Those beyond are counted, and none is forgotten. */
IN_MEMORY(budget)
{
	struct ring_options small = week;
	unsigned tables = 0, written = 0, kills = 0;
	struct recording_reader *r;
	uint64_t before, bytes;

	small.keep_ms = HOUR;
	small.keep_bytes = 1 << 20;
	open_ring(&small);
	append_some(0, 1);
	count_segments(&before);
	for (; kills < 5000; kills++) {
		written += kill_at(START + 1 + kills / 10, 0, true) == 0;
		tables += event.number[EVENT_TABLE] != 0;
	}
	count_segments(&bytes);
	assert_uint_in_range(bytes - before, RING_BURST_LEAST / 2, RING_BURST_LEAST + 4096);
	assert_uint_in_range(tables, 20, written - 20);
	assert_uint_in_range(written, 40, kills - 1000);
	assert_int_equal(recording_ring_room(&ring, START + 500), RING_ROOM_NONE);
	/* With the next frame the last one of them, and the number of all. */
	append_some(2, 3);
	assert_int_equal(ring.left_out, 0);
	r = read_frames(2 + tables);
	assert_int_equal(count_kills(r), kills);
	assert_uint_in_range(got.number[EVENT_MISSED], 1000, kills);
	recording_reader_free(r);
	/* A quarter of the bytes in the time to keep. */
	assert_int_equal(recording_ring_room(&ring, START + HOUR / 4), RING_ROOM_ALL);
	assert_uint_in_range(ring.budget, RING_BURST_LEAST - 4096, RING_BURST_LEAST);
	count_segments(&before);
	for (unsigned i = 0; i < 36000; i++, kills++)
		kill_at(START + HOUR / 4 + i * 100, 0, false);
	count_segments(&bytes);
	assert_uint_in_range(bytes - before, small.keep_bytes / RING_KILLS_PART,
			     small.keep_bytes / RING_KILLS_PART + RING_BURST_LEAST + 4096);
	/* The rest comes with the end. */
	assert_true(ring.left_out > 0);
	recording_ring_close(&ring);
	r = read_dir();
	assert_int_equal(count_kills(r), kills);
	recording_reader_free(r);
}

/* A kill that cannot be written is counted by the next one. */
IN_MEMORY(full_of_kills)
{
	cleanup(reader_done) struct recording_reader *r = NULL;
	int fd;

	open_ring(&week);
	append_some(0, 1);
	fd = fill_disk();
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(kill_at(START + 1, 0, false), -ENOSPC);
	empty_disk(fd);
	assert_int_equal(kill_at(START + 2, 0, false), 0);
	recording_ring_close(&ring);
	r = read_frames(1);
	assert_int_equal(recording_reader_info(r)->events, 2);
	assert_int_equal(count_kills(r), 4);
}

/* Less than the share of the file system is free that stays free. */
static bool nearly_full;

/* In place of the one of the library. */
int fstatvfs(int fd, struct statvfs *ret)
{
	(void)fd;
	*ret = (struct statvfs){
		.f_blocks = 100000, .f_frsize = 4096, .f_bavail = nearly_full ? 0 : 100000};
	return 0;
}

/* Segments of ten frames each, the last one in work. */
static void append_segments(unsigned count)
{
	open_ring(&week);
	for (unsigned i = 0; i < 10 * count; i++)
		assert_int_equal(append(START + i / 10 * HOUR + i % 10 * INTERVAL, i), 0);
}

/* On a nearly full disk kills take the room of the oldest segments, and no frame does. */
IN_MEMORY(room_for_kills)
{
	const int64_t end = START + 2 * HOUR + 9 * INTERVAL;
	cleanup(reader_done) struct recording_reader *r = NULL;
	uint64_t bytes, before, kills = 0;

	append_segments(3);
	nearly_full = true;
	assert_int_equal(append(end + INTERVAL, 30), -ENOSPC);
	assert_int_equal(recording_ring_append(&ring, &machine, true), -ENOSPC);
	assert_int_equal(count_segments(&before), 3);
	for (int left = 2; left > 0; left--) {
		assert_int_equal(kill_at(end + 1, 0, left == 2), 0);
		assert_int_equal(kill_at(end + 1, 0, false), 0);
		assert_int_equal(count_segments(&bytes), left);
		assert_true(bytes < before);
		assert_int_equal(append(end + INTERVAL, 30), -ENOSPC);
		/* As long as there is room of that segment. */
		for (kills += 2; ring.made_room >= ring.wanted && kills < 1000; kills++)
			assert_int_equal(kill_at(end + 1, 0, false), 0);
	}
	assert_true(kills > 10);
	assert_int_equal(ring.removed_for_kills, 2);
	/* The segment in work stays. */
	assert_int_equal(kill_at(end + 1, 0, false), -ENOSPC);
	assert_int_equal(kill_at(end + HOUR, 0, false), -ENOSPC);
	assert_int_equal(kill_at(end + HOUR, 0, false), -ENOSPC);
	nearly_full = false;
	assert_int_equal(kill_at(end + HOUR, 0, false), 0);
	assert_int_equal(ring.dropped, 4);
	recording_ring_close(&ring);
	r = read_frames(11);
	check_number(r, 9, 29);
	assert_int_equal(count_kills(r), kills + 4);
}

/* If a segment that is removed does not help, no other one is. */
IN_MEMORY(room_in_vain)
{
	uint64_t bytes;
	int fd;

	append_segments(4);
	fd = fill_disk();
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(kill_at(START + 3 * HOUR, 0, false), -ENOSPC);
	assert_int_equal(count_segments(&bytes), 3);
	empty_disk(fd);
	recording_ring_close(&ring);
}

/* The first kill is synced at once, those of the same second with it or together. */
IN_MEMORY(syncs)
{
	open_ring(&week);
	append_some(0, 1);
	syncs = 0;
	for (unsigned i = 0; i < 100; i++) {
		assert_int_equal(kill_at(START + 1 + i * 9, 0, false), 0);
		assert_int_equal(recording_ring_sync_events(&ring, 5000 + i * 9), 0);
		assert_int_equal(syncs, 1);
	}
	assert_int_equal(recording_ring_sync_events(&ring, 5999), 0);
	assert_int_equal(syncs, 1);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(recording_ring_sync_events(&ring, 6000 + i * 2000), 0);
	assert_int_equal(syncs, 2);
	recording_ring_close(&ring);
}

/* Segments of one frame leave by time: each stands for an interval, or less before another one. */
IN_MEMORY(single_frames)
{
	struct ring_options hour = week, seconds = week;
	uint64_t bytes;

	hour.keep_ms = HOUR;
	open_ring(&hour);
	for (unsigned i = 0; i < 1000; i++)
		assert_int_equal(append(START + (int64_t)i * 200000, i), 0);
	assert_uint_in_range(count_segments(&bytes), HOUR / INTERVAL, HOUR / INTERVAL + 1);
	recording_ring_close(&ring);
	seconds.keep_ms = 40000;
	for (unsigned i = 0; i < 30; i++) {
		open_ring(&seconds);
		assert_int_equal(append(START + DAY + i * 2000, i), 0);
		recording_ring_close(&ring);
	}
	assert_uint_in_range(count_segments(&bytes), 15, 17);
}

/* What is no segment is left alone and left out. */
IN_MEMORY(strangers)
{
	struct recording_reader *r;
	char why[RECORDING_REASON] = "";

	assert_int_equal(symlink("/etc/passwd", "0000000001.zmem"), 0);
	assert_int_equal(mkfifo("0000000002.zmem", 0600), 0);
	assert_int_equal(mkdir("0000000003.zmem", 0700), 0);
	close(open("0000000004.zmem", O_CREAT | O_WRONLY, 0600));
	close(open("1.zmem", O_CREAT | O_WRONLY, 0600));
	assert_int_equal(try_dir(&r, why), -EBADMSG);
	assert_string_equal(why, "its recording has no frames");
	open_ring(&week);
	assert_int_equal(append(START, 7), 0);
	recording_ring_close(&ring);
	assert_int_equal(access("0000000005.zmem", F_OK), 0);
	r = read_frames(1);
	assert_int_equal(recording_reader_info(r)->left_out, 4);
	check_number(r, 0, 7);
	recording_reader_free(r);
	assert_int_equal(chmod(".", 0770), 0);
	assert_int_equal(try_ring(&ring, &week), -EPERM);
	recording_ring_close(&ring);
}
