// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* zmem-bpf record --keep TIME DIR: writes snapshots and events for ever, in bounded space. */
#include "command/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/parse.h"
#include "collect/oom_moment.h"
#include "collect/shared_read.h"
#include "command/recorder.h"
#include "privilege/privilege.h"
#include "recording/recording_ring.h"
#include "session/background.h"
#include "session/log.h"
#include "session/moment.h"
#include "session/ticker.h"
#include "source/pressure_watch.h"

#define KEEP_DIR	"/var/lib/zmem-bpf"
#define KEEP_INTERVAL	10000 /* ms */
#define KEEP_BYTES	(UINT64_C(500) << 20)
#define KEEP_SIZE_USUAL "500M" /* the same */
#define KEEP_LEAST_MS	(60 * 60 * 1000)
#define KEEP_LEAST	(UINT64_C(1) << 20)
#define DAY_MS		(24 * 60 * 60 * 1000.0)

#define DENSE_MS	1000
#define DENSE_QUIET_US	UINT64_C(30000000)   /* after the last sign of a shortage */
#define DENSE_MOST_US	UINT64_C(3600000000) /* memory may be short for days */

/*
 * Tasks that wait while so much of RAM is available wait for the limit of a cgroup. What is over at
 * once is no event: a kill ends most of it.
 */
#define PLENTY_PERCENT 20
#define PLENTY_LOOKS   5 /* about a second each */

/* How often a cgroup had reached its limits. */
struct limit_count {
	const char *path;
	uint64_t times;
};

struct limit_counts {
	struct arena arena;
	struct limit_count *item;
	size_t count;
};

/* Memory is short, or was until a while ago. */
struct episode {
	bool on;
	uint64_t began_us, short_us; /* CLOCK_MONOTONIC; short: at the last sign */
	int64_t began_ms, short_ms;
	unsigned causes; /* enum pressure_cause */
	struct pressure_look first, last;
	uint64_t available_least, swap_free_least;
	uint64_t kills;
	bool plenty;		    /* tasks waited, and the machine was not short */
	unsigned looks;		    /* with a sign */
	bool written;		    /* its beginning */
	struct limit_counts limits; /* at the beginning */
};

/* What --keep says, in its own units. */
struct kept_text {
	int time_len; /* of options.keep */
	const char *size;
};

struct keeper {
	struct recorder recorder;
	struct ring_options ring_options;
	struct recording_ring ring;
	struct ticker ticker;
	struct background background;
	struct kept_text kept;
	const char *path;
	struct oom_watch *oom; /* NULL: kills are not watched */
	struct oom_moment moment;
	struct shared_reader shared;
	bool killed;	      /* kills were recorded since the last snapshot */
	bool made_room;	      /* it was said that kills take the room of the oldest files */
	uint64_t survived_us; /* CLOCK_MONOTONIC: of the last snapshot because of kills */
	unsigned dense;	      /* %; 0: the interval is the same always */
	struct pressure_watch pressure;
	struct episode episode;
	uint64_t due_us;      /* CLOCK_MONOTONIC: of the next frame */
	int error;	      /* why the last frame was not written */
	uint64_t first_bytes; /* of the first frame, which stands alone */
	bool estimated;
};

static void keeper_close(struct keeper *k)
{
	oom_watch_close(k->oom);
	arena_done(&k->episode.limits.arena);
	pressure_watch_close(&k->pressure);
	snapshot_done(&k->moment.snapshot);
	shared_reader_done(&k->shared);
	recording_ring_close(&k->ring);
	recorder_close(&k->recorder);
	background_done(&k->background);
	ticker_close(&k->ticker);
}

/* "7d", "7d,500M". *ret_kept: as it was typed. */
static int parse_keep(const struct options *o, struct ring_options *ring,
		      struct kept_text *ret_kept)
{
	int len = moment_duration(o->keep, &ring->keep_ms);
	const char *size = len > 0 && o->keep[len] ? o->keep + len + 1 : "";

	ring->keep_bytes = KEEP_BYTES;
	*ret_kept = (struct kept_text){len > 0 ? len : 0, *size ? size : KEEP_SIZE_USUAL};
	if (len <= 0 || (o->keep[len] && o->keep[len] != ',') ||
	    (o->keep[len] && parse_size(size, strlen(size), &ring->keep_bytes) < 0))
		return log_usage(o, "--keep %s: not a time and a size (7d, 12h, 7d,500M)", o->keep);
	if (ring->keep_ms < KEEP_LEAST_MS || ring->keep_bytes < KEEP_LEAST)
		return log_usage(o, "--keep %s: at least 1h, and 1M", o->keep);
	return 0;
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

static int keeper_open_ring(struct keeper *k)
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
	/* Of another error nothing is known: the path may be out of reach since the start. */
	return r == 1 || r == -ENOENT || r == -ENOTDIR;
}

/*
 * Sees that what was recorded is there. If others took the directory away, it is made anew, or
 * recording ends. Returns 0 or an exit code after a message.
 */
static int keeper_check_ring(struct keeper *k)
{
	uint64_t frames = k->ring.frames, dropped = k->ring.dropped;
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
	return r;
}

/* With a longer interval, memory is looked at each second. */
static unsigned tick_ms(struct keeper *k)
{
	const struct options *o = &k->recorder.options;

	k->dense = o->dense == DENSE_DEFAULT ? DENSE_USUAL : (unsigned)o->dense;
	return k->dense && o->interval_ms > DENSE_MS ? DENSE_MS : (unsigned)o->interval_ms;
}

static void open_pressure_watch(struct keeper *k)
{
	const struct options *o = &k->recorder.options;
	unsigned stall = o->stall == STALL_DEFAULT ? STALL_USUAL : (unsigned)o->stall;
	const struct pressure_limits limits = {.left = k->dense, .stall = k->dense ? stall : 0};

	pressure_watch_open(&k->pressure, PRESSURE_FILE, &limits);
}

static int keeper_open(struct keeper *k, const struct options *o)
{
	struct recorder *r = &k->recorder;
	int err = parse_keep(o, &k->ring_options, &k->kept);
	unsigned interval;

	if (err)
		return err;
	r->options = *o;
	k->path = o->word ? o->word : KEEP_DIR;
	if (!r->options.interval_ms)
		r->options.interval_ms = KEEP_INTERVAL;
	k->ring_options.recording = recorder_options(o);
	k->ring_options.recording.interval_ms = (uint32_t)r->options.interval_ms;
	/* Without it the recording has frames, and no kills. */
	k->oom = session_watch_kills(o, ZMEM_OOM_TABLES, "recorded", NULL);
	interval = tick_ms(k);
	open_pressure_watch(k);
	/* Before any thread is started, so that no thread takes the signals. */
	err = ticker_open(&k->ticker, (uint64_t)interval * 1000,
			  k->oom ? oom_watch_fd(k->oom) : -1);
	if (err < 0)
		return log_errno(err, "starting");
	k->ticker.urgent_fd = k->pressure.fd;
	err = keeper_open_ring(k);
	if (err == 0)
		err = recorder_open(r, &r->options);
	k->moment.log_read = k->oom && oom_watch_reads_log(k->oom);
	k->moment.selection = r->selects ? r->selection : NULL;
	if (err == 0)
		background_begin(&k->background, o);
	return err;
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

/* A disk that is full, or a file that cannot be made, is said once, and when it is over. */
static void report_written(struct keeper *k, int r)
{
	if (r == k->error)
		return;
	if (r == -ENOSPC)
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

static void report_made_room(struct keeper *k)
{
	if (k->ring.removed_for_kills && !k->made_room)
		log_error("%s: the disk is full: the oldest files are removed to record OOM kills",
			  k->path);
	k->made_room |= k->ring.removed_for_kills > 0;
	k->ring.removed_for_kills = 0;
}

/* With filters, files of others are not recorded. */
static void list_files(struct keeper *k, bool worth, const char *cgroup, struct snapshot *s)
{
	if (!k->recorder.selects)
		shared_read(&k->shared, &k->recorder.session.collector, worth, cgroup, &s->system);
}

/*
 * `due`: it is not there because of kills alone. Returns 0 or an exit code: without a first frame
 * there is no recording.
 */
static int keep_frame(struct keeper *k, bool due)
{
	struct recorder *r = &k->recorder;
	struct collector *c = &r->session.collector;
	struct snapshot *s = &c->snapshot;
	uint64_t before = k->ring.bytes;
	struct result result;
	int err = recorder_collect(r, &result);

	if (err)
		return k->ring.frames ? 0 : err;
	recorder_forget_cmdlines(r);
	err = recorder_complete(r);
	if (err == 0)
		list_files(k, shared_is_due(&k->shared) && shared_is_worth(c, k->episode.on), NULL,
			   s);
	for (size_t i = 0; err == 0 && i < s->count; i++)
		process_round_pss(&s->process[i]);
	if (err == 0)
		err = recording_ring_append(&k->ring, s, !due);
	report_written(k, err);
	if (k->oom)
		oom_watch_note_large(k->oom, s);
	if (err == 0)
		print_estimate(k, before < k->ring.bytes ? before : 0);
	background_tick(&k->background);
	return err < 0 && !k->ring.frames && err != -ENOSPC ? EXIT_FAILED : 0;
}

/* When the machine booted, as the clock says. */
static int64_t boot_ms(void)
{
	return (int64_t)(clock_us(CLOCK_REALTIME) / 1000) -
	       (int64_t)(clock_us(CLOCK_BOOTTIME) / 1000);
}

/* ---- denser snapshots while memory is short ---- */

static void set_known(struct event_record *e, enum event_member m, bool known, uint64_t value)
{
	if (known)
		event_set(e, m, value);
}

/* Remembers how often cgroups have reached their limits. */
static void count_limits(const struct snapshot *s, struct limit_counts *ret)
{
	arena_clear(&ret->arena);
	ret->count = 0;
	ret->item = arena_zalloc(&ret->arena, s->memcg_count + 1, sizeof(*ret->item));
	for (size_t i = 0; ret->item && i < s->memcg_count; i++) {
		const struct memcg *m = &s->memcg[i];
		const char *path = arena_strndup(&ret->arena, m->path, strlen(m->path));

		if (path && (m->max_known || m->high_known))
			ret->item[ret->count++] = (struct limit_count){path, m->max + m->high};
	}
}

/*
 * The cgroup that has reached its limits most since; of the same counts the lowest. One that had no
 * processes then counts from its beginning. NULL: none.
 */
static const char *find_limited(const struct snapshot *s, const struct limit_counts *before)
{
	const char *found = NULL;
	uint64_t most = 1;

	/* Both are sorted by path. */
	for (size_t i = 0, n = 0; i < s->memcg_count; i++) {
		const struct memcg *m = &s->memcg[i];
		uint64_t now = m->max + m->high, was = 0;

		while (n < before->count && strcmp(before->item[n].path, m->path) < 0)
			n++;
		if (n < before->count && strcmp(before->item[n].path, m->path) == 0)
			was = before->item[n].times;
		if (now < was || now - was < most)
			continue;
		most = now - was;
		found = m->path;
	}
	return found;
}

/* Writes the beginning of an episode, or its end. */
static void keep_episode(struct keeper *k, bool ended)
{
	struct episode *p = &k->episode;
	struct event_record *e = calloc(1, sizeof(*e));
	int r;

	if (!e)
		return;
	event_set(e, EVENT_KIND, EVENT_PRESSURE);
	event_set(e, EVENT_CAUSES, p->causes);
	event_set(e, EVENT_PLENTY, p->plenty);
	if (p->plenty)
		event_set_text(e, EVENT_LIMIT_CGROUP,
			       find_limited(&k->recorder.session.collector.snapshot, &p->limits));
	set_known(e, EVENT_AVAILABLE, p->last.available_known, p->available_least);
	set_known(e, EVENT_SWAP_FREE, p->last.swap_free_known, p->swap_free_least);
	e->time_ms = p->began_ms;
	if (ended) {
		e->time_ms = (int64_t)(clock_us(CLOCK_REALTIME) / 1000);
		event_set(e, EVENT_ENDED, (uint64_t)p->short_ms);
		event_set(e, EVENT_BEGAN, (uint64_t)p->began_ms);
		event_set(e, EVENT_KILLS, p->kills);
		set_known(e, EVENT_STALLED_US, p->first.stalled_known && p->last.stalled_known,
			  p->last.stalled_us - p->first.stalled_us);
		set_known(e, EVENT_REFAULTED, p->first.refaulted_known && p->last.refaulted_known,
			  p->last.refaulted - p->first.refaulted);
	}
	r = recording_ring_event(&k->ring, boot_ms(), e);
	report_written(k, r);
	free(e);
}

static bool has_plenty(const struct pressure_look *look)
{
	return look->causes == PRESSURE_STALL && look->available_known &&
	       look->available / PLENTY_PERCENT >= look->total / 100;
}

static void begin_episode(struct keeper *k, const struct pressure_look *look, uint64_t now)
{
	struct limit_counts limits = k->episode.limits;

	count_limits(&k->recorder.session.collector.snapshot, &limits);
	k->episode = (struct episode){
		.on = true,
		.plenty = true,
		.limits = limits,
		.began_us = now,
		.began_ms = (int64_t)(clock_us(CLOCK_REALTIME) / 1000),
		.first = *look,
		.last = *look,
		.available_least = look->available,
		.swap_free_least = look->swap_free,
	};
}

/* Follows an episode: memory is short, or was until a while ago. */
static void look_at_episode(struct keeper *k, const struct pressure_look *look, uint64_t now)
{
	struct episode *p = &k->episode;
	bool begins = look->causes && !p->on;

	if (begins)
		begin_episode(k, look, now);
	if (!p->on)
		return;
	p->last = *look;
	p->causes |= look->causes;
	if (look->available < p->available_least)
		p->available_least = look->available;
	if (look->swap_free < p->swap_free_least)
		p->swap_free_least = look->swap_free;
	if (look->causes) {
		p->short_us = now;
		p->short_ms = (int64_t)(clock_us(CLOCK_REALTIME) / 1000);
	}
	p->looks += look->causes != 0;
	p->plenty &= !look->causes || has_plenty(look);
	if (begins)
		k->recorder.census_in = 0;
	if (!p->written && (!p->plenty || p->looks >= PLENTY_LOOKS)) {
		keep_episode(k, false);
		p->written = true;
	}
	if (now - p->short_us >= DENSE_QUIET_US) {
		if (p->written)
			keep_episode(k, true);
		p->on = false;
	}
}

/* Called each second, and when the trigger tells of a stall. Whether a snapshot is due. */
static bool is_due(struct keeper *k, bool told)
{
	uint64_t now = clock_us(CLOCK_MONOTONIC);
	bool due = !told && now + DENSE_MS * 500 >= k->due_us, was_on = k->episode.on;
	struct pressure_look look;

	if (k->dense) {
		pressure_watch_look(&k->pressure, &k->recorder.session.collector.proc, now, told,
				    was_on, &look);
		look_at_episode(k, &look, now);
	}
	/* The first snapshot of an episode does not wait for the next second. */
	if (k->episode.on && now - k->episode.began_us < DENSE_MOST_US && (!told || !was_on))
		due = true;
	if (due)
		k->due_us = now + (uint64_t)k->recorder.options.interval_ms * 1000;
	return due;
}

/* ---- OOM kills ---- */

/* Kills that are recorded before a snapshot that is due: there may always be more. */
#define KILLS_AT_ONCE 16

/* The time of a kill. */
static void set_time(struct keeper *k, const struct oom_kill *kill)
{
	struct snapshot *s = &k->moment.snapshot;

	s->host.boot_ms = (uint64_t)boot_ms();
	s->time_ms = (int64_t)s->host.boot_ms + (int64_t)(kill->boottime_ns / 1000000);
}

/*
 * Completes the moment of a kill. One that is only counted gets no names of /proc, which cost more
 * than the kill. Returns 0 or a negative errno.
 */
static int complete_kill(struct keeper *k, const struct oom_kill *kill)
{
	const int64_t since_boot_ms = (int64_t)(kill->boottime_ns / 1000000);

	if (recording_ring_room(&k->ring, since_boot_ms) != RING_ROOM_NONE)
		return oom_moment_complete(&k->moment, &k->recorder.session.collector, kill);
	set_time(k, kill);
	return 0;
}

/* Lists the files right after a kill, if there was no sign of it before. */
static void list_files_of_kill(struct keeper *k, const struct event_record *e)
{
	const char *cgroup = event_text(e, EVENT_LIMIT_CGROUP);
	bool worth = cgroup ? shared_is_part(event_number(e, EVENT_PART_SHMEM),
					     event_number(e, EVENT_LIMIT))
			    : shared_is_due(&k->shared) &&
				      shared_is_worth(&k->recorder.session.collector, true);

	list_files(k, worth, cgroup, &k->moment.snapshot);
}

static int keep_kill(struct keeper *k, const struct oom_kill *kill)
{
	struct event_record *e = calloc(1, sizeof(*e));
	struct snapshot *s = &k->moment.snapshot;
	int r = e ? complete_kill(k, kill) : -ENOMEM, written;

	if (r == 0) {
		oom_moment_describe(&k->moment, kill, e);
		list_files_of_kill(k, e);
		written = recording_ring_kill(&k->ring, (int64_t)s->host.boot_ms, e,
					      kill->table ? s : NULL);
		/* Behind it, a frame may have no room yet. */
		if (written < 0)
			report_written(k, written);
		report_made_room(k);
	}
	free(e);
	return r;
}

/* Records the kills that have come: they were before what is seen from now on. */
static void keep_kills(struct keeper *k)
{
	struct oom_kill kill;
	int r, count = 0;

	while (count < KILLS_AT_ONCE &&
	       (r = oom_watch_next(k->oom, &kill, &k->moment.snapshot)) != 0) {
		if (r > 0)
			r = keep_kill(k, &kill);
		if (r < 0)
			log_errno(r, "recording an OOM kill");
		count++;
	}
	k->killed |= count;
	if (count)
		k->recorder.census_in = 0;
	k->episode.kills += (uint64_t)count;
}

static int keep_signal(struct keeper *k, const struct oom_kill *kill)
{
	struct event_record *e = calloc(1, sizeof(*e));
	int r = e ? oom_moment_name(&k->moment, &k->recorder.session.collector, kill) : -ENOMEM;
	int written;

	if (r == 0) {
		set_time(k, kill);
		oom_moment_describe_signal(&k->moment, kill, e);
		written = recording_ring_signal(&k->ring, (int64_t)k->moment.snapshot.host.boot_ms,
						e);
		if (written <= 0)
			report_written(k, written);
	}
	free(e);
	return r;
}

/* Records the signals that have come, behind the kills. */
static void keep_signals(struct keeper *k)
{
	struct oom_kill kill;
	int r, count = 0;

	while (count++ < KILLS_AT_ONCE &&
	       (r = oom_watch_next_signal(k->oom, &kill, &k->moment.snapshot)) != 0) {
		/* Our own end is no news. */
		if (r > 0 && kill.pid != getpid())
			r = keep_signal(k, &kill);
		if (r < 0)
			log_errno(r, "recording a signal");
	}
}

/* What happened survives a loss of power, before a snapshot is taken, which takes a while. */
static void sync_events(struct keeper *k)
{
	int r = recording_ring_sync_events(&k->ring, clock_us(CLOCK_MONOTONIC) / 1000);

	if (r < 0)
		report_written(k, r);
}

/* Whether a snapshot with the PSS of survivors of kills is taken now: at most one a second. */
static bool takes_survivors(struct keeper *k)
{
	uint64_t now = clock_us(CLOCK_MONOTONIC);
	int64_t since_boot_ms = (int64_t)(clock_us(CLOCK_BOOTTIME) / 1000);

	if (!k->killed || (k->survived_us && now - k->survived_us < DENSE_MS * 1000) ||
	    recording_ring_room(&k->ring, since_boot_ms) != RING_ROOM_ALL)
		return false;
	k->survived_us = now;
	return true;
}

static int keep_frames(struct keeper *k)
{
	const struct options *o = &k->recorder.options;
	enum ticker_event event = TICKER_TICK;
	int r = 0;

	while (r == 0 && event != TICKER_END &&
	       (!o->count || k->ring.frames < (uint64_t)o->count)) {
		bool due;

		r = ticker_wait(&k->ticker, &event);
		if (r < 0)
			return log_errno(r, "waiting");
		if (k->ticker.urgent_broken)
			pressure_watch_lost(&k->pressure);
		r = keeper_check_ring(k);
		if (r)
			return r;
		/* The names of a kill are those of the snapshot before. */
		if (k->oom && k->ring.frames) {
			keep_kills(k);
			keep_signals(k);
		}
		due = (event == TICKER_TICK || event == TICKER_URGENT) &&
		      is_due(k, event == TICKER_URGENT && k->pressure.fd >= 0);
		sync_events(k);
		if (due || (event != TICKER_END && takes_survivors(k))) {
			r = keep_frame(k, due);
			k->killed = false;
		}
	}
	return r;
}

int record_keep(const struct options *o)
{
	cleanup(keeper_close) struct keeper k = {
		.recorder = {.file.file.fd = -1, .session = SESSION_CLOSED},
		.ring = {.dir = -1, .fd = -1},
		.ticker = {.timer_fd = -1, .signal_fd = -1},
		.pressure.fd = -1,
		.background.own.statm = -1,
	};
	int r = keeper_open(&k, o);

	if (r == 0) {
		/* Ticks that came due while all was opened do not count as missed. */
		ticker_now(&k.ticker);
		r = keep_frames(&k);
	}
	return r ? r : k.recorder.session.exit_code;
}
