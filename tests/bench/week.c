// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * week DIR [FRAMES [PROCESSES]]: writes a synthetic week as record --keep does (60,480 frames, 500
 * processes), then opens random moments of it. Prints bytes, times and the memory of the writer.
 * The clock is simulated. In each frame an eighth of the processes have changed, and in each third
 * one a process has ended and another one begun. Exit code 1 if the memory of the writer grows by
 * more than 1 MiB after the first tenth.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "recording/recording_ring.h"

#define START	 INT64_C(1795000000000)
#define INTERVAL 10000
#define PROGRAMS 60
#define CGROUPS	 40
#define MOMENTS	 300
#define GROWTH	 1024 /* KiB */

static char program[PROGRAMS][24], cgroup[CGROUPS][64], unit[CGROUPS][32];
static uint64_t random_state = 0x9e3779b97f4a7c15;

__attribute__((noreturn)) static void die(const char *what)
{
	fprintf(stderr, "week: %s\n", what);
	exit(1);
}

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static void name_all(void)
{
	for (unsigned i = 0; i < PROGRAMS; i++)
		snprintf(program[i], sizeof(program[i]), "program-%u", i * 7919 % 1000);
	for (unsigned i = 0; i < CGROUPS; i++) {
		snprintf(unit[i], sizeof(unit[i]), "service-%02u.service", i);
		snprintf(cgroup[i], sizeof(cgroup[i]), "/system.slice/service-%02u.service", i);
	}
}

/* The values of a process: some MiB, of which PSS and USS are parts to the byte. */
static void change(struct process *p)
{
	static const enum counter counter[] = {COUNTER_RSS_ANON, COUNTER_RSS_FILE, COUNTER_PSS,
					       COUNTER_USS,	 COUNTER_PSS_ANON, COUNTER_PSS_FILE,
					       COUNTER_SWAP,	 COUNTER_PGTABLES, COUNTER_VSIZE};

	for (size_t i = 0; i < ARRAY_SIZE(counter); i++) {
		uint64_t value = p->value[counter[i]];

		if (!value || next_random() % 2)
			value = 4096 * (next_random() % 4096 + 64);
		if (counter[i] == COUNTER_PSS || counter[i] == COUNTER_PSS_FILE)
			value += next_random() % 4096;
		process_set(p, counter[i], value);
	}
}

static void begin_process(struct process *p, int32_t pid, int64_t time_ms)
{
	unsigned which = (unsigned)(next_random() % PROGRAMS),
		 where = (unsigned)(next_random() % CGROUPS);

	*p = (struct process){
		.pid = pid, .ppid = 1, .uid = which % 5 * 1000, .threads = which % 8 + 1};
	p->start_ns = (uint64_t)(time_ms - START + 1000) * 1000000;
	snprintf(p->comm, sizeof(p->comm), "%.15s", program[which]);
	p->name = program[which];
	p->user = which % 5 ? "www-data" : "root";
	p->cgroup = cgroup[where];
	p->unit = unit[where];
	p->controlled = true;
	change(p);
}

static void next_frame(struct snapshot *s, size_t frame, int32_t *pid)
{
	s->time_ms = START + (int64_t)frame * INTERVAL;
	for (size_t i = 0; i < s->count / 8; i++)
		change(&s->process[next_random() % s->count]);
	if (frame % 3)
		return;
	/* Pids ascend. */
	memmove(s->process + 1, s->process + 2, (s->count - 2) * sizeof(*s->process));
	begin_process(&s->process[s->count - 1], ++*pid, s->time_ms);
}

static long resident_kib(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	long size, resident;

	if (!f || fscanf(f, "%ld %ld", &size, &resident) != 2)
		die("statm");
	fclose(f);
	return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void print_quantiles(const char *what, double *ms)
{
	qsort(ms, MOMENTS, sizeof(*ms), compare);
	printf("%s: median %.1f ms, 99 %% %.1f ms, longest %.1f ms\n", what, ms[MOMENTS / 2],
	       ms[MOMENTS * 99 / 100], ms[MOMENTS - 1]);
}

/* Opens the directory anew for each moment, as a command does. */
static void open_moments(const char *path, size_t frames)
{
	static double wall[MOMENTS], cpu[MOMENTS];

	for (size_t i = 0; i < MOMENTS; i++) {
		int64_t time_ms = START + (int64_t)(next_random() % ((uint64_t)frames * INTERVAL));
		uint64_t began = clock_us(CLOCK_MONOTONIC),
			 used = clock_us(CLOCK_PROCESS_CPUTIME_ID);
		cleanup_close int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		char why[RECORDING_REASON] = "";
		struct recording_reader *r;
		const struct snapshot *s;
		size_t frame;

		if (recording_reader_open_dir(dir, &r, why) < 0)
			die(why);
		if (recording_reader_find(r, time_ms, &frame) &&
		    recording_reader_frame(r, frame, &s, why) < 0)
			die(why);
		recording_reader_free(r);
		wall[i] = (double)(clock_us(CLOCK_MONOTONIC) - began) / 1000;
		cpu[i] = (double)(clock_us(CLOCK_PROCESS_CPUTIME_ID) - used) / 1000;
	}
	print_quantiles("opening a random moment", wall);
	print_quantiles("CPU of that", cpu);
}

int main(int argc, char **argv)
{
	const struct ring_options options = {
		.recording = {.tool = "0", .interval_ms = INTERVAL},
		.keep_ms = UINT64_C(7) * 24 * 3600 * 1000,
		.keep_bytes = UINT64_C(500) << 20,
	};
	size_t frames = argc > 2 ? strtoul(argv[2], NULL, 10) : 60480;
	size_t processes = argc > 3 ? strtoul(argv[3], NULL, 10) : 500;
	cleanup(snapshot_done) struct snapshot s = {};
	struct recording_ring g;
	uint64_t began, used, bytes = 0;
	long early = 0, last;
	int32_t pid = 0;

	if (argc < 2 || processes < 8 || frames < 10)
		die("week DIR [FRAMES [PROCESSES]]");
	mkdir(argv[1], 0700);
	name_all();
	while (s.count < processes) {
		struct process *p = snapshot_add(&s);

		if (!p)
			die("no memory");
		begin_process(p, ++pid, START);
	}
	if (recording_ring_open(&g, open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC), &options) <
	    0)
		die("opening the directory");
	began = clock_us(CLOCK_MONOTONIC);
	used = clock_us(CLOCK_PROCESS_CPUTIME_ID);
	for (size_t i = 0; i < frames; i++) {
		if (i)
			next_frame(&s, i, &pid);
		if (recording_ring_append(&g, &s, false) < 0)
			die("writing");
		if (i == frames / 10)
			early = resident_kib();
	}
	last = resident_kib();
	used = clock_us(CLOCK_PROCESS_CPUTIME_ID) - used;
	began = clock_us(CLOCK_MONOTONIC) - began;
	for (size_t i = 0; i < g.count; i++)
		bytes += g.segment[i].bytes;
	bytes += g.bytes;
	printf("%zu frames of %zu processes in %zu segments: %.1f MB, %.1f MB a day\n", frames,
	       processes, g.count + 1, (double)bytes / 1e6,
	       (double)bytes / 1e6 * 8640 / (double)frames);
	printf("a frame: %.2f ms, %.2f ms of CPU, with the sync each minute\n",
	       (double)began / 1000 / (double)frames, (double)used / 1000 / (double)frames);
	printf("resident memory: %ld KiB after %zu frames, %ld KiB after %zu\n", early, frames / 10,
	       last, frames);
	recording_ring_close(&g);
	open_moments(argv[1], frames);
	return last > early + GROWTH;
}
