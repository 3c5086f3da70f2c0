// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The ring of record --keep: its directory, its frames, and what is said of them. */
#include "recorder/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/parse.h"
#include "privilege/privilege.h"
#include "session/log.h"

#define DAY_MS (24 * 60 * 60 * 1000.0)

void keeper_close(struct keeper *k)
{
	oom_watch_close(k->oom);
	free(k->signal);
	arena_done(&k->episode.limits.arena);
	arena_done(&k->absence.cgroups.arena);
	pressure_watch_close(&k->pressure);
	snapshot_done(&k->moment.snapshot);
	shared_reader_done(&k->shared);
	recording_ring_close(&k->ring);
	recorder_close(&k->recorder);
	background_done(&k->background);
	ticker_close(&k->ticker);
}

/* A name as that of a recording in one file: record without --keep was meant. */
static bool is_file_name(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && dot != name && strcmp(dot, ".zmem") == 0;
}

/*
 * Opens the directory, which is made if only it is missing, by the rules of struct place. Returns a
 * descriptor, or a negative errno and the reason of a refusal.
 */
static int open_keep_dir(const char *path, const char **ret_refusal)
{
	struct place place;
	const char *name = place.name;
	int r;

	privilege_as_caller(true);
	r = place_find(&place, path);
	if (r == -EISDIR) {
		name = ".";
		r = 0;
	} else if (r == 0 && place.entry < 0 && is_file_name(name)) {
		place.refusal = "it is the name of a file, and --keep records in a directory";
		r = -EPERM;
	} else if (r == 0 && place.entry < 0 && mkdirat(place.dir, name, 0700) < 0) {
		r = -errno;
	}
	if (r == 0) {
		r = openat(place.dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		r = r < 0 ? -errno : r;
		if (r == -ENOTDIR)
			place.refusal = "it is a file, and --keep records in a directory";
	}
	*ret_refusal = place.refusal;
	place_done(&place);
	privilege_as_caller(false);
	return r;
}

int keeper_open_ring(struct keeper *k)
{
	const char *refusal = NULL;
	int dir = open_keep_dir(k->path, &refusal), r;

	if (refusal)
		return log_error("opening %s: %s", k->path, refusal);
	if (dir < 0)
		return log_errno(dir, "opening %s", k->path);
	r = recording_ring_open(&k->ring, dir, &k->ring_options);
	if (r == -EBUSY)
		return log_error("%s: another zmem-bpf records here", k->path);
	if (r == -EPERM)
		return log_error("%s: it is not ours alone (its owner must record, and nobody else "
				 "may write to it: chmod 0700)",
				 k->path);
	return r < 0 ? log_errno(r, "opening %s", k->path) : 0;
}

/* Whether the path is another directory now, or none. */
static bool has_moved(const struct keeper *k)
{
	struct stat named, open;
	int r;

	privilege_as_caller(true);
	r = stat(k->path, &named) < 0 ? -errno : 0;
	privilege_as_caller(false);
	if (r == 0)
		r = fstat(k->ring.dir, &open) < 0 || named.st_dev != open.st_dev ||
		    named.st_ino != open.st_ino;
	/* Another error proves nothing: the path may be out of reach since the start. */
	return r == 1 || r == -ENOENT || r == -ENOTDIR;
}

int keeper_check_ring(struct keeper *k)
{
	uint64_t frames = k->ring.frames, dropped = k->ring.dropped, written = k->ring.written;
	int r = recording_ring_check(&k->ring);

	if (r == 1)
		log_error("%s: the file in work was removed or renamed: another one is begun",
			  k->path);
	if (r < 0 && r != -ENOENT)
		return r == -EBUSY ? log_error("%s: another zmem-bpf records here", k->path)
				   : log_errno(r, "locking %s again", k->path);
	if (r >= 0 && !has_moved(k))
		return 0;
	log_error("%s: the directory was removed, renamed or replaced: recording begins anew",
		  k->path);
	recording_ring_close(&k->ring);
	r = keeper_open_ring(k);
	k->ring.frames = frames;
	k->ring.dropped = dropped;
	k->ring.written = written;
	return r;
}

/* An estimate of the bytes of a day, once there is a frame of each kind. */
static void print_estimate(struct keeper *k, uint64_t before)
{
	const uint64_t written = k->ring.bytes - before;
	const double frames = DAY_MS / k->recorder.options.interval_ms;
	const unsigned deltas = RECORDING_KEY_EVERY - 1;
	const char *keep = k->recorder.options.keep;
	double day;

	if (k->ring.frames == 1)
		k->first_bytes = written;
	if (k->ring.frames < 2 || k->estimated)
		return;
	k->estimated = true;
	day = frames * ((double)k->first_bytes + (double)(deltas * written)) / (deltas + 1);
	log_notice(k->recorder.options.quiet,
		   "%s: about %.1f MB a day here; it keeps %.*s%s, and %s at most", k->path,
		   day / 1e6, k->kept.time_len, keep,
		   is_digit(keep[k->kept.time_len - 1]) ? " s" : "", k->kept.size);
}

/* A file system may have bytes, and no room for another file. */
static bool lacks_inodes(const struct keeper *k)
{
	struct statvfs st;

	return fstatvfs(k->ring.dir, &st) == 0 && st.f_files && !st.f_favail;
}

void keeper_report_written(struct keeper *k, int r)
{
	if (r == k->error)
		return;
	if (r == -ENOSPC && lacks_inodes(k))
		log_error("%s: the file system has no inode left for another file: frames are "
			  "dropped",
			  k->path);
	else if (r == -ENOSPC)
		log_error("%s: the disk is full, or nearly (it leaves %d %% free): frames are "
			  "dropped",
			  k->path, RING_FREE_PERCENT);
	else if (r < 0)
		log_errno(r, "%s: frames are dropped", k->path);
	else
		log_notice(k->recorder.options.quiet, "%s: frames are written again (%llu dropped)",
			   k->path, (unsigned long long)k->ring.dropped);
	k->error = r;
	k->made_room &= r == -ENOSPC;
}

void keeper_report_room(struct keeper *k)
{
	if (k->ring.removed_for_kills && !k->made_room)
		log_error("%s: the disk is full: the oldest files are removed to record OOM kills",
			  k->path);
	k->made_room |= k->ring.removed_for_kills > 0;
	k->ring.removed_for_kills = 0;
}

void keeper_report_day(struct keeper *k)
{
	struct keeper_sums now = k->lost;
	char text[KEEPER_DAY_TEXT];

	now.snapshots = k->ring.frames;
	now.bytes = k->ring.written;
	now.dropped = k->ring.dropped;
	if (keeper_day_ends(&k->day, clock_us(CLOCK_MONOTONIC), &now, text))
		log_notice(k->recorder.options.quiet, "%s: the last day: %s", k->path, text);
}

void keeper_list_files(struct keeper *k, bool worth, const char *cgroup, struct snapshot *s)
{
	if (!k->recorder.selects)
		shared_read(&k->shared, &k->recorder.session.collector, worth, cgroup, &s->system);
}

int keeper_record_frame(struct keeper *k, bool due)
{
	struct recorder *r = &k->recorder;
	struct collector *c = &r->session.collector;
	struct snapshot *s = &c->snapshot;
	uint64_t before = k->ring.bytes;
	struct result result;
	int err;

	r->stalls = k->episode.on;
	err = recorder_collect(r, &result);
	if (err) {
		k->lost.failed++;
		return k->ring.frames ? 0 : err;
	}
	recorder_forget_cmdlines(r);
	err = recorder_complete(r);
	if (err == 0)
		keeper_list_files(k, shared_is_due(&k->shared) && shared_is_worth(c, k->episode.on),
				  NULL, s);
	for (size_t i = 0; err == 0 && i < s->count; i++)
		process_round_pss(&s->process[i]);
	k->lost.failed += err != 0;
	if (err == 0)
		err = recording_ring_append(&k->ring, s, !due);
	if (err)
		recorder_keep_ended(r);
	keeper_report_written(k, err);
	if (k->oom)
		oom_watch_note_large(k->oom, s);
	if (err == 0)
		print_estimate(k, before < k->ring.bytes ? before : 0);
	background_tick(&k->background);
	return err < 0 && !k->ring.frames && err != -ENOSPC ? EXIT_FAILED : 0;
}

int64_t keeper_boot_ms(void)
{
	return (int64_t)(clock_us(CLOCK_REALTIME) / 1000) -
	       (int64_t)(clock_us(CLOCK_BOOTTIME) / 1000);
}

void keeper_sync_events(struct keeper *k)
{
	int r = recording_ring_sync_events(&k->ring, clock_us(CLOCK_MONOTONIC) / 1000);

	if (r < 0)
		keeper_report_written(k, r);
}
