// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Recordings that no machine made, and what is in one:
 *   edit_recording edit FILE OUT CHANGE…   each frame with these changes:
 *       host=TEXT   its name       user=TEXT   of all processes     zram=NAME   of all devices
 *       swap=NAME   one device     pss=none    as with --pss none   process=none
 *       pss=half    of every second process, as with --top
 *       available=BYTES  MemAvailable  maps=NUMBER of the first process, with the limit of 65,530
 *       time=SECONDS   since the epoch, of the first frame; a second to each further one
 *       step=SECONDS   likewise, to each further one
 *       short=A-B      memory is short from frame A, from 0, to frame B; "A-": its end is missing
 *       least=A-BYTES  MemAvailable of frame A
 *       moment=A       frame A is the moment of a kill
 *       cgroup=TEXT    of all processes
 *       event=A-MS,ID=VALUE,…  just before frame A, MS before its time: members as in event.def
 *       kill=NAME      each frame is the moment of an OOM kill of a process of that name and cgroup
 *   edit_recording texts FILE              every text of every process, a line each
 *   edit_recording own DIR OUT END PID…    of a directory: the OOM kills of these processes, of
 * which names have that end; without PID: of all that have it. Other tests make kills, too.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "recording/recording_file.h"

static void fail(const char *what)
{
	fprintf(stderr, "edit_recording: %s\n", what);
	exit(1);
}

/* What --pss none leaves of a process. */
static void drop_pss(struct process *p)
{
	for (int c = 0; c < COUNTER_COUNT; c++) {
		if (counter_table[c].origin == ORIGIN_ROLLUP)
			p->have &= ~COUNTER_BIT(c);
	}
	p->pss_source = PSS_FROM_NOTHING;
	if (p->kind == PROCESS_USER)
		p->pss_status = PSS_SKIPPED;
}

static void set_swap(struct system_info *system, const char *name)
{
	struct swap_device *d = &system->swap[0];

	*d = (struct swap_device){.kind = SWAP_FILE, .size = 4096, .used = 4096, .priority = 7};
	snprintf(d->name, sizeof(d->name), "%s", name);
	system->swaps_known = true;
	system->swap_count = 1;
}

static void set_available(struct meminfo *m, const char *bytes)
{
	m->have |= 1U << MEMINFO_AVAILABLE;
	m->value[MEMINFO_AVAILABLE] = strtoull(bytes, NULL, 10);
}

static void set_least(struct meminfo *m, const char *text, size_t frame)
{
	char *end;

	if (strtoul(text, &end, 10) == frame && *end)
		set_available(m, end + 1);
}

static void set_maps(struct snapshot *s, const char *number)
{
	size_t i = 0;

	s->system.max_map_count = 65530;
	while (i < s->count && (s->process[i].kind != PROCESS_USER || !s->process[i].mm_owner))
		i++;
	if (i == s->count)
		fail("no process");
	process_set(&s->process[i], COUNTER_MAPS, strtoull(number, NULL, 10));
}

/* `frame`: its number, from 0. */
static void change_frame(struct snapshot *s, const char *change, size_t frame)
{
	const char *text = strchr(change, '=');
	size_t len = text ? (size_t)(text++ - change) : 0;

	if (!text)
		fail(change);
	if (strncmp(change, "host", len) == 0)
		snprintf(s->host.name, sizeof(s->host.name), "%s", text);
	else if (strncmp(change, "swap", len) == 0)
		set_swap(&s->system, text);
	else if (strncmp(change, "available", len) == 0)
		set_available(&s->system.meminfo, text);
	else if (strncmp(change, "least", len) == 0)
		set_least(&s->system.meminfo, text, frame);
	else if (strncmp(change, "maps", len) == 0)
		set_maps(s, text);
	else if (strncmp(change, "time", len) == 0)
		s->time_ms = (strtoll(text, NULL, 10) + (int64_t)frame) * 1000;
	else if (strncmp(change, "step", len) == 0)
		s->time_ms += (strtoll(text, NULL, 10) - 1) * (int64_t)frame * 1000;
	else if (strncmp(change, "moment", len) == 0)
		s->collection.duration_us =
			strtoul(text, NULL, 10) == frame ? 0 : s->collection.duration_us;
	else if (strcmp(change, "process=none") == 0)
		s->count = s->collection.seen = s->collection.kernel_threads =
			s->collection.zombies = 0;
	else if (strncmp(change, "zram", len) == 0)
		for (size_t i = 0; i < s->system.zram_count; i++)
			snprintf(s->system.zram[i].name, sizeof(s->system.zram[i].name), "%s",
				 text);
	else if (strncmp(change, "user", len) != 0 && strncmp(change, "pss", len) != 0 &&
		 strncmp(change, "kill", len) != 0 && strncmp(change, "short", len) != 0 &&
		 strncmp(change, "cgroup", len) != 0 && strncmp(change, "event", len) != 0)
		fail(change);
	for (size_t i = 0; i < s->count; i++) {
		if (strncmp(change, "user", len) == 0)
			s->process[i].user = text;
		else if (strncmp(change, "cgroup", len) == 0)
			s->process[i].cgroup = text;
		else if (strncmp(change, "pss", len) == 0 && (i % 2 || strcmp(text, "half") != 0))
			drop_pss(&s->process[i]);
	}
}

static void write_kill(struct recording_writer *writer, const struct snapshot *s, const char *name)
{
	struct event_record e = {.time_ms = s->time_ms};

	event_set(&e, EVENT_KIND, EVENT_OOM_KILL);
	event_set(&e, EVENT_TABLE, 1);
	event_set(&e, EVENT_PID, 4321);
	event_set_text(&e, EVENT_COMM, name);
	event_set_text(&e, EVENT_NAME, name);
	event_set_text(&e, EVENT_CGROUP, name);
	if (recording_writer_event(writer, &e) < 0)
		fail("cannot encode");
}

/* The beginning of short memory just before frame A, and its end just behind frame B. */
static void write_short(struct recording_writer *writer, const struct snapshot *s, const char *text,
			size_t frame, bool behind, int64_t *began)
{
	struct event_record e = {};
	char *end = NULL;
	size_t first = strtoul(text, &end, 10),
	       last = *end && end[1] ? strtoul(end + 1, NULL, 10) : 0;

	if (frame != (behind ? last : first) || (behind && !last))
		return;
	e.time_ms = s->time_ms + (behind ? 1 : -1);
	event_set(&e, EVENT_KIND, EVENT_PRESSURE);
	event_set(&e, EVENT_CAUSES, PRESSURE_AVAILABLE);
	if (behind) {
		event_set(&e, EVENT_BEGAN, (uint64_t)*began);
		event_set(&e, EVENT_ENDED, (uint64_t)s->time_ms);
	} else {
		*began = e.time_ms;
	}
	if (recording_writer_event(writer, &e) < 0)
		fail("cannot encode");
}

static const struct {
	const char *id;
	enum event_member member;
} member_ids[] = {
#define ZMEM_EVENT(id, ...) {#id, EVENT_##id},
#include "model/event.def"
#undef ZMEM_EVENT
};

/* "PID=12" */
static void set_member(struct event_record *e, const char *text)
{
	const char *value = strchr(text, '=');

	for (size_t i = 0; value && i < sizeof(member_ids) / sizeof(*member_ids); i++) {
		enum event_member m = member_ids[i].member;

		if (strlen(member_ids[i].id) != (size_t)(value - text) ||
		    strncmp(member_ids[i].id, text, (size_t)(value - text)) != 0)
			continue;
		if (m >= EVENT_TEXTS && m < EVENT_TEXTS_END)
			event_set_text(e, m, value + 1);
		else
			event_set(e, m, strtoull(value + 1, NULL, 10));
		return;
	}
	fail(text);
}

static void write_event(struct recording_writer *writer, const struct snapshot *s, const char *text,
			size_t frame)
{
	cleanup_free char *copy = strdup(text);
	struct event_record e = {};
	char *rest = NULL, *end = NULL;

	if (!copy)
		fail("out of memory");
	strtok_r(copy, ",", &rest);
	if (strtoul(copy, &end, 10) != frame)
		return;
	e.time_ms = s->time_ms - (*end == '-' ? strtoll(end + 1, NULL, 10) : 0);
	for (char *word; (word = strtok_r(NULL, ",", &rest));)
		set_member(&e, word);
	if (recording_writer_event(writer, &e) < 0)
		fail("cannot encode");
}

static bool is_one_of(const struct event_record *e, char **word, int count)
{
	const char *comm = event_text(e, EVENT_COMM);
	size_t len = comm ? strlen(comm) : 0, end = strlen(word[0]);
	bool found = count == 1;

	for (int i = 1; i < count; i++)
		found = found || strtoull(word[i], NULL, 10) == e->number[EVENT_PID];
	return found && e->number[EVENT_KIND] == EVENT_OOM_KILL && len >= end &&
	       strcmp(comm + len - end, word[0]) == 0;
}

/* Writes the kills before a frame that are kept. Returns whether one has its moment in the frame.
 */
static bool keep_events(struct recording_reader *reader, struct recording_writer *writer,
			size_t frame, size_t *at, char **word, int count)
{
	char why[RECORDING_REASON] = "";
	bool has_moment = false;

	for (; *at < recording_reader_info(reader)->events &&
	       recording_reader_event_frame(reader, *at) <= frame;
	     (*at)++) {
		struct event_record e;

		if (recording_reader_event(reader, *at, &e, why) < 0)
			fail(why);
		if (!is_one_of(&e, word, count))
			continue;
		if (recording_writer_event(writer, &e) < 0)
			fail("cannot encode");
		has_moment |= event_has(&e, EVENT_TABLE);
	}
	return has_moment;
}

/* `owns`: the words are the kills to keep, not changes. */
static void edit(struct recording_reader *reader, const char *path, char **word, int count,
		 bool owns)
{
	const struct recording_info *info = recording_reader_info(reader);
	const struct recording_options options = {.tool = info->tool, .flags = info->flags};
	cleanup_fclose FILE *file = fopen(path, "we");
	char why[RECORDING_REASON] = "cannot write";
	struct recording_writer writer;
	struct strbuf out = {};
	size_t event = 0;
	int64_t began = 0;

	recording_writer_init(&writer, &options, &out);
	for (size_t i = 0; i < info->frames; i++) {
		cleanup(snapshot_done) struct snapshot s = {};

		bool own = owns && keep_events(reader, &writer, i, &event, word, count);

		if (recording_reader_copy(reader, i, &s, why) < 0)
			fail(why);
		/* The moment of another kill, which may be told after a later snapshot. */
		if (owns && !own && snapshot_is_kill(&s))
			continue;
		for (int k = 0; !owns && k < count; k++)
			change_frame(&s, word[k], i);
		for (int k = 0; !owns && k < count; k++) {
			if (strncmp(word[k], "kill=", 5) == 0)
				write_kill(&writer, &s, word[k] + 5);
			if (strncmp(word[k], "event=", 6) == 0)
				write_event(&writer, &s, word[k] + 6, i);
			if (strncmp(word[k], "short=", 6) == 0)
				write_short(&writer, &s, word[k] + 6, i, false, &began);
		}
		if (recording_writer_append(&writer, &s) < 0)
			fail("cannot encode");
		for (int k = 0; !owns && k < count; k++) {
			if (strncmp(word[k], "short=", 6) == 0)
				write_short(&writer, &s, word[k] + 6, i, true, &began);
		}
	}
	if (owns)
		keep_events(reader, &writer, info->frames, &event, word, count);
	recording_writer_finish(&writer);
	recording_writer_done(&writer);
	if (!file || fwrite(out.data, 1, out.len, file) != out.len)
		fail(path);
	strbuf_done(&out);
}

static void print_texts(struct recording_reader *reader)
{
	for (size_t i = 0; i < recording_reader_info(reader)->frames; i++) {
		const struct snapshot *s;
		char why[RECORDING_REASON];

		if (recording_reader_frame(reader, i, &s, why) < 0)
			fail(why);
		for (size_t k = 0; k < s->count; k++) {
			const struct process *p = &s->process[k];
			const char *text[] = {p->comm, p->name,	     p->user,	p->cgroup,
					      p->unit, p->container, p->cmdline};

			for (size_t n = 0; n < sizeof(text) / sizeof(*text); n++)
				printf("%s\n", text[n] ? text[n] : "");
		}
	}
}

int main(int argc, char **argv)
{
	cleanup_close int fd = argc > 2 ? open(argv[2], O_RDONLY | O_CLOEXEC) : -1;
	struct recording_reader *reader = NULL;
	char why[RECORDING_REASON] = "no such file";
	bool owns = argc > 4 && strcmp(argv[1], "own") == 0;

	if (fd < 0 ||
	    (owns ? recording_reader_open_dir : recording_reader_open)(fd, &reader, why) < 0)
		fail(why);
	if (owns || (argc > 3 && strcmp(argv[1], "edit") == 0))
		edit(reader, argv[3], argv + 4, argc - 4, owns);
	else if (strcmp(argv[1], "texts") == 0)
		print_texts(reader);
	else
		fail("edit FILE OUT CHANGE…, texts FILE, or own DIR OUT END PID…");
	recording_reader_free(reader);
	return 0;
}
