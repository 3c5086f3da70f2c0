// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The recording of a command: a file or directory is read frame by frame, a pipe as a whole. */
#include "session/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/count.h"
#include "base/file.h"
#include "base/parse.h"
#include "model/ram.h"
#include "privilege/privilege.h"
#include "recording/segments.h"
#include "session/log.h"
#include "write/format.h"

#define CHUNK (64 * 1024)
/* A pipe has no size: a pipe without an end must not use all memory. */
#define PIPE_MIB 256
#define PIPE_MAX ((size_t)PIPE_MIB << 20)

/* Reads to the end, or only the first bytes if they are not those of a recording. */
static int read_whole(int fd, struct strbuf *data)
{
	ssize_t n;

	do {
		if (data->len > PIPE_MAX)
			return -EFBIG;
		if (!strbuf_room(data, CHUNK))
			return -ENOMEM;
		n = read(fd, data->data + data->len, CHUNK);
		if (n < 0 && errno != EINTR)
			return -errno;
		data->len += n > 0 ? (size_t)n : 0;
	} while (n && (data->len < 8 || recording_is_one(data->data)));
	return 0;
}

static int open_segment(int dir, const struct segment_name *name)
{
	int fd = privilege_as_caller(true);

	if (fd == 0)
		fd = segment_open(dir, name);
	privilege_as_caller(false);
	return fd;
}

static int open_reader(struct replay *r, int fd, char reason[RECORDING_REASON])
{
	struct stat st;
	int err;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode)) {
		err = recording_reader_open_dir(fd, &r->reader, reason);
		if (err == 0)
			recording_reader_set_open(r->reader, open_segment);
	} else if (S_ISREG(st.st_mode)) {
		err = recording_reader_open(fd, &r->reader, reason);
	} else {
		err = read_whole(fd, &r->data);
		if (err == 0)
			err = recording_reader_open_memory(r->data.data, r->data.len, &r->reader,
							   reason);
		else if (err == -EFBIG)
			snprintf(reason, RECORDING_REASON,
				 "of a pipe, %d MiB are read at most: save the recording to a file",
				 PIPE_MIB);
	}
	return err;
}

/* Where no recording is, people want to know how to make one. */
static int report_unopened(const char *path, int err, const char *reason)
{
	bool usual = strcmp(path, REPLAY_DIR_USUAL) == 0;

	if (err == -ENOENT && (usual || *reason))
		return log_error("%s: %s (start one: zmem-bpf record --keep 7d%s%s)", path,
				 *reason ? reason : "there is no recording", usual ? "" : " ",
				 usual ? "" : path);
	return *reason ? log_error("%s: %s", path, reason) : log_errno(err, "reading %s", path);
}

/* Files of a directory that lack snapshots. */
static void note_files(const struct recording_info *info, const char *path, bool quiet)
{
	size_t files = info->left_out + info->segments;
	const char *word = count_word(files, "file", "files");

	if (info->left_out)
		log_notice(quiet, "%s: %zu of %zu %s cannot be read and %s left out", path,
			   info->left_out, files, word, count_word(info->left_out, "is", "are"));
	if (info->cut_off)
		log_notice(quiet, "%s: %zu of %zu %s %s is left out", path, info->cut_off, files,
			   word,
			   count_word(info->cut_off, "is cut off: what it lacks",
				      "are cut off: what they lack"));
}

int replay_open(struct replay *r, const char *path, bool quiet)
{
	cleanup_close int fd = privilege_open(path, O_RDONLY | O_NOCTTY);
	char reason[RECORDING_REASON] = "";
	const struct recording_info *info;
	int err;

	*r = (struct replay){.path = path, .fd = -1};
	/* The segments of a directory are opened by it, too. */
	privilege_as_caller(true);
	err = fd < 0 ? fd : open_reader(r, fd, reason);
	privilege_as_caller(false);
	if (err < 0)
		return report_unopened(path, err, reason);
	r->fd = TAKE_FD(fd);
	info = recording_reader_info(r->reader);
	if (!info->frames)
		return log_error("%s: the recording %s", path,
				 info->torn ? "is cut off in its first snapshot"
					    : "has no snapshots");
	r->frames = r->frame = (uint32_t)info->frames;
	note_files(info, path, quiet);
	if (info->torn)
		log_notice(quiet, "%s: the recording %s after snapshot %u at byte %llu", path,
			   info->ended ? "goes on behind its end" : "is cut off", r->frames,
			   (unsigned long long)info->end);
	return 0;
}

/* The last midnight of local time. */
static int64_t midnight_ms(void)
{
	time_t now = time(NULL);
	struct tm tm;

	if (!localtime_r(&now, &tm))
		return INT64_MAX;
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	tm.tm_isdst = -1;
	return (int64_t)mktime(&tm) * 1000;
}

#define HOUR_MS (60 * 60 * 1000)

/* Of an event: its kill is the newest one so far, and it stands for others that were only counted.
 */
static void add_kill(const struct event_record *e, int64_t since_ms, struct recent_kills *ret)
{
	const char *name = event_text(e, EVENT_NAME), *cgroup = event_text(e, EVENT_CGROUP);

	if (e->time_ms < since_ms)
		return;
	ret->count += 1 + event_number(e, EVENT_MISSED);
	if (ret->last_ms)
		return;
	ret->last_ms = e->time_ms;
	snprintf(ret->name, sizeof(ret->name), "%s", name ? name : "");
	snprintf(ret->cgroup, sizeof(ret->cgroup), "%s", cgroup ? cgroup : "");
}

/* Returns those since midnight; those of the hour are set in *ret. */
static uint64_t read_kills(struct recording_reader *reader, int64_t since_ms, int64_t hour_ms,
			   struct recent_kills *ret)
{
	const int64_t today_ms = midnight_ms();
	char reason[RECORDING_REASON];
	struct event_record event;
	uint64_t today = 0;

	for (size_t i = recording_reader_info(reader)->events; i-- > 0;) {
		if (recording_reader_event_time(reader, i) < since_ms ||
		    recording_reader_event(reader, i, &event, reason) < 0 ||
		    event_number(&event, EVENT_KIND) != EVENT_OOM_KILL)
			continue;
		add_kill(&event, hour_ms, ret);
		if (event.time_ms >= today_ms)
			today += 1 + event_number(&event, EVENT_MISSED);
	}
	return today;
}

/* A recording of days has frames that take long to list: the last ones of a directory. */
static bool open_since(struct replay *r, int fd, int64_t since_ms, char reason[RECORDING_REASON])
{
	if (recording_reader_open_since(fd, since_ms, &r->reader, reason) < 0)
		return false;
	recording_reader_set_open(r->reader, open_segment);
	return true;
}

/* What the kernel had counted an hour ago, or at the first snapshot of this boot since then. */
static bool read_count_before(struct recording_reader *reader, int64_t hour_ms, uint64_t *ret)
{
	char reason[RECORDING_REASON], boot[64];
	const struct snapshot *s;
	size_t i;

	if (!recording_reader_find(reader, hour_ms, &i) &&
	    !recording_reader_later(reader, hour_ms, &i))
		return false;
	if (recording_reader_frame(reader, i, &s, reason) < 0 || !s->system.oom_kills.known ||
	    file_read(AT_FDCWD, "/proc/sys/kernel/random/boot_id", boot, sizeof(boot)) < 0 ||
	    strncmp(boot, s->host.boot_id, strlen(s->host.boot_id)) != 0)
		return false;
	*ret = s->system.oom_kills.count;
	return true;
}

static int64_t now_ms(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

bool replay_recent_kills(struct recent_kills *ret, uint64_t *ret_today)
{
	cleanup_close int fd = privilege_open(REPLAY_DIR_USUAL, O_RDONLY | O_NOCTTY);
	const int64_t hour_ms = now_ms(CLOCK_REALTIME) - HOUR_MS;
	const int64_t since_ms = ret_today && midnight_ms() < hour_ms ? midnight_ms() : hour_ms;
	char reason[RECORDING_REASON], text[32768];
	struct oom_kills kernel = {};
	struct replay r = {.fd = -1};
	uint64_t today = 0, before = 0;

	*ret = (struct recent_kills){.recorded = fd >= 0};
	if (fd < 0)
		return false;
	if (file_read(AT_FDCWD, "/proc/vmstat", text, sizeof(text)) > 0)
		oom_kills_parse(text, &kernel);
	if (!ret_today && kernel.known && !kernel.count)
		return false;
	/* All kills since boot are of the hour. */
	ret->known = kernel.known && now_ms(CLOCK_BOOTTIME) < HOUR_MS;
	privilege_as_caller(true);
	ret->recorded = open_since(&r, fd, since_ms, reason);
	if (ret->recorded) {
		today = read_kills(r.reader, since_ms, hour_ms, ret);
		if (!ret->known)
			ret->known = read_count_before(r.reader, hour_ms, &before);
	}
	replay_close(&r);
	privilege_as_caller(false);
	if (ret->known && kernel.known && kernel.count - before > ret->count) {
		ret->unrecorded = kernel.count - before - ret->count;
		ret->count += ret->unrecorded;
	}
	/* What was recorded happened, whatever else did. */
	ret->known |= ret->count != 0;
	if (ret_today)
		*ret_today = today;
	return ret->recorded;
}

void replay_close(struct replay *r)
{
	recording_reader_free(r->reader);
	strbuf_done(&r->data);
	if (r->reader && r->fd >= 0)
		close(r->fd);
	*r = (struct replay){};
}

/* ---- moments of a recording ---- */

/* Its last frame, or an event behind it. */
static int64_t end_of(const struct replay *r)
{
	const struct recording_reader *reader = r->reader;
	const size_t events = recording_reader_info(reader)->events;
	int64_t end = recording_reader_time(reader, r->frames - 1), event;

	if (!events || recording_reader_event_frame(reader, events - 1) < r->frames)
		return end;
	event = recording_reader_event_time(reader, events - 1);
	return event > end ? event : end;
}

/*
 * Behind the beginning of a range, it is the first one. Else a time of day is the latest one that
 * the clock showed, in the last run of frames that has one; without any, the latest one before the
 * end. A recording that goes on ends now.
 */
static int parse_moment(const struct replay *r, const char *text, int64_t after_ms,
			struct moment *ret)
{
	const bool clock = *text != '-' && after_ms == MOMENT_LATEST;
	const int64_t now = now_ms(CLOCK_REALTIME);
	struct moment_near near = {.end_ms = end_of(r), .after_ms = after_ms};
	int64_t end = near.end_ms, first, last;

	if (now > end && !recording_reader_ended(r->reader, now))
		end = now;
	for (size_t i = 0; clock && recording_reader_run(r->reader, i, &first, &last); i++) {
		near.latest_ms = i ? last : end;
		if (moment_parse(text, &near, ret) < 0)
			return -EINVAL;
		if (ret->first_ms <= near.latest_ms && ret->last_ms >= first)
			return 0;
	}
	near.latest_ms = end;
	return moment_parse(text, &near, ret);
}

/* The second one of two moments, unless only the first one was recorded. */
static void choose_twin(const struct replay *r, struct moment *m)
{
	if (m->twin_ms && !recording_reader_shown(r->reader, m->last_ms) &&
	    (recording_reader_shown(r->reader, m->last_ms - m->twin_ms) ||
	     recording_reader_ended(r->reader, m->first_ms)))
		moment_to_twin(m);
}

/* `of_range`: of --since or --until, which a command may read twice. */
static int read_moment(const struct replay *r, const struct options *o, const char *option,
		       const char *text, int64_t after_ms, bool of_range, struct moment *ret)
{
	if (parse_moment(r, text, after_ms, ret) < 0)
		return log_usage(
			o, "--%s %s: not a time (03:14, 2026-11-22T03:14, or -10m before the end)",
			option, text);
	choose_twin(r, ret);
	if (o->quiet || (of_range && o->opened))
		return 0;
	if (ret->twin_ms)
		log_notice(false, "--%s %s: local time has this twice; %s is meant", option, text,
			   time_text(ret->first_ms).text);
	if (recording_reader_shown(r->reader, ret->first_ms) > 1 ||
	    recording_reader_shown(r->reader, ret->last_ms) > 1)
		log_notice(false, "--%s %s: the clock showed this time more than once; %s", option,
			   text, of_range ? "all of them are shown" : "the last one is meant");
	return 0;
}

int replay_moment(const struct replay *r, const struct options *o, const char *option,
		  const char *text, int64_t after_ms, struct moment *ret)
{
	return read_moment(r, o, option, text, after_ms, false, ret);
}

int replay_range(const struct replay *r, const struct options *o, struct moment *ret)
{
	struct moment since = {.first_ms = MOMENT_LATEST}, until = {.last_ms = INT64_MAX};
	int err = 0;

	/* It is MOMENT_LATEST without --since. */
	if (o->since)
		err = read_moment(r, o, "since", o->since, MOMENT_LATEST, true, &since);
	if (err == 0 && o->until)
		err = read_moment(r, o, "until", o->until, since.first_ms, true, &until);
	*ret = (struct moment){.first_ms = since.first_ms, .last_ms = until.last_ms};
	return err;
}

/* Finds an event by the name that it keeps. Returns 0, or EXIT_NOT_FOUND after a message. */
static int find_named(const struct replay *r, const char *name, size_t *ret_event)
{
	cleanup_free struct event_record *e = calloc(1, sizeof(*e));
	char why[RECORDING_REASON];

	for (size_t i = recording_reader_info(r->reader)->events; e && i-- > 0;) {
		const char *id;

		if (recording_reader_event(r->reader, i, e, why) < 0)
			continue;
		id = event_text(e, EVENT_ID);
		if (!id || strcmp(id, name) != 0)
			continue;
		*ret_event = i;
		return 0;
	}
	log_error("event:%s: the recording has no event of this name", name);
	return EXIT_NOT_FOUND;
}

int replay_event(const struct replay *r, const char *text, size_t *ret_event)
{
	const struct recording_info *info = recording_reader_info(r->reader);
	size_t len = strlen("event:"), event = info->events;
	uint64_t number;

	if (strncmp(text, "event:", len) != 0)
		return -EINVAL;
	if (strchr(text + len, 'T'))
		return find_named(r, text + len, ret_event);
	if (parse_u64(text + len, strlen(text + len), UINT32_MAX, &number) < 0 || !number)
		return -EINVAL;
	if (number > info->numbered) {
		log_error("%s: the recording has %zu event%s", text, info->numbered,
			  info->numbered == 1 ? "" : "s");
		return EXIT_NOT_FOUND;
	}
	while (event && recording_reader_event_number(r->reader, event - 1) != number)
		event--;
	*ret_event = event - 1;
	return 0;
}

/* A recorder takes a census every ten frames; frames of OOM kills come in between. */
#define CENSUS_FRAMES 24

static uint64_t distance(int64_t a, int64_t b)
{
	return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

/* A copy with texts in the arena. */
static int copy_ram(struct arena *arena, const struct ram *from, struct ram *ret)
{
	*ret = *from;
	for (int i = 0; i < RAM_FIGURES; i++) {
		const char *reason = from->figure[i].reason;

		if (reason)
			ret->figure[i].reason = arena_strndup(arena, reason, strlen(reason));
		if (reason && !ret->figure[i].reason)
			return -ENOMEM;
	}
	return 0;
}

int replay_find_census(struct replay *r, size_t frame, bool later, struct snapshot *s)
{
	size_t first = frame > CENSUS_FRAMES ? frame - CENSUS_FRAMES : 0;
	size_t end = later ? frame + CENSUS_FRAMES : frame;
	struct ram *nearest = NULL;

	if (s->system.ram)
		return 0;
	for (size_t i = first; i < r->frames && i <= end; i++) {
		const struct snapshot *other;
		const struct ram *ram;
		char why[RECORDING_REASON];

		/* What is lost is told where it is shown. */
		if (recording_reader_frame(r->reader, i, &other, why) < 0)
			continue;
		ram = other->system.ram;
		if (!ram || strcmp(other->host.boot_id, s->host.boot_id) != 0 ||
		    (nearest &&
		     distance(ram->taken_ms, s->time_ms) > distance(nearest->taken_ms, s->time_ms)))
			continue;
		if (!nearest)
			nearest = arena_alloc(&s->arena, sizeof(*nearest));
		if (!nearest || copy_ram(&s->arena, ram, nearest) < 0)
			return -ENOMEM;
	}
	s->system.ram = nearest;
	return 0;
}

bool replay_event_frame(const struct replay *r, size_t event, size_t *ret)
{
	cleanup_free struct event_record *e = calloc(1, sizeof(*e));
	size_t frame = recording_reader_event_frame(r->reader, event);
	char why[RECORDING_REASON];

	/* The frame of a kill has its time, or it was lost. What was not recorded ends in one. */
	if (e && frame < r->frames && recording_reader_event(r->reader, event, e, why) == 0 &&
	    (e->number[EVENT_TABLE] ? recording_reader_time(r->reader, frame) == e->time_ms
				    : e->number[EVENT_KIND] == EVENT_PRESSURE ||
					      e->number[EVENT_KIND] == EVENT_UNRECORDED)) {
		*ret = frame;
		return true;
	}
	*ret = frame - 1;
	return frame;
}

void replay_note_lost(struct replay *r, bool quiet, const char *why)
{
	if (!r->noted)
		log_notice(quiet, "%s: %s; what cannot be read is left out", r->path, why);
	r->noted = true;
}
