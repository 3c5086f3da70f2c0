// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * recording FRAMES INTERVAL_MS [ARGUMENT…]: collects snapshots of this machine as serve does and
 * prints what they cost in a recording: bytes a frame by level of zstd and by how often there is a
 * key frame, and the time to write, to read and to open one. ARGUMENTs are those of the program.
 * PAGES=1: PSS and USS are rounded down to whole pages before.
 */
#include <getopt.h>
#include <stdio.h>
#include <unistd.h>
#include <zlib.h>

#include "cli/options.h"
#include "cli/measure.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "model/snapshot_codec.h"
#include "recording/recording_file.h"
#include "enrich/enrich.h"

#define REPEAT 5

static struct snapshot *frame;
static size_t frames;

__attribute__((noreturn)) static void die(const char *what)
{
	fprintf(stderr, "recording: %s\n", what);
	exit(1);
}

/* CPU time: the machine has other things to do as well. */
static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void round_to_pages(struct snapshot *s)
{
	static const enum counter moving[] = {COUNTER_USS,	 COUNTER_PSS,
					      COUNTER_PSS_ANON,	 COUNTER_PSS_FILE,
					      COUNTER_PSS_SHMEM, COUNTER_SWAP_PSS};

	for (size_t i = 0; i < s->count; i++) {
		for (size_t k = 0; k < ARRAY_SIZE(moving); k++)
			s->process[i].value[moving[k]] &= ~(uint64_t)4095;
	}
}

static void collect(struct measure *m, struct snapshot *ret)
{
	cleanup(strbuf_done) struct strbuf bytes = {};
	struct collector *s = &m->collector;
	struct result result;

	if (measure_collect(m, &result))
		die("a snapshot fails");
	if (memcgs_read(&s->proc, &s->snapshot, &s->rows.chosen, true) < 0)
		die("memory cgroups cannot be read");
	if (getenv("PAGES"))
		round_to_pages(&s->snapshot);
	if (snapshot_encode(&s->snapshot, NULL, &bytes) < 0 ||
	    snapshot_decode(bytes.data, bytes.len, NULL, ret) < 0)
		die("a snapshot cannot be written");
}

/* ---- what a frame takes ---- */

static double record(unsigned key_every, int level, struct strbuf *out)
{
	const struct recording_options o = {"bench", 0, key_every, level};
	struct recording_writer w;
	double start = now_us();

	strbuf_clear(out);
	if (recording_writer_init(&w, &o, out) < 0)
		die("out of memory");
	for (size_t i = 0; i < frames; i++) {
		if (recording_writer_append(&w, &frame[i]) < 0)
			die("a frame cannot be written");
	}
	recording_writer_done(&w);
	return (now_us() - start) / (double)frames;
}

static void show_sizes(void)
{
	static const unsigned every[] = {1, 10, 30, 60, 1000000};
	static const int level[] = {1, 3, 9};
	cleanup(strbuf_done) struct strbuf out = {};

	printf("bytes a frame (us to append): key frame every\n%8s", "level");
	for (size_t e = 0; e < ARRAY_SIZE(every); e++)
		printf("%16u", every[e]);
	putchar('\n');
	for (size_t l = 0; l < ARRAY_SIZE(level); l++) {
		printf("%8d", level[l]);
		for (size_t e = 0; e < ARRAY_SIZE(every); e++) {
			double us = record(every[e], level[l], &out);

			printf("%9zu (%4.0f)", (out.len - RECORDING_HEAD_SIZE) / frames, us);
		}
		putchar('\n');
	}
}

/* ---- what the codec takes ---- */

/* What zlib makes of it at its usual level. */
static size_t deflated(const struct strbuf *b)
{
	uLongf len = compressBound(b->len);
	Bytef *to = malloc(len);

	if (!to || compress2(to, &len, (const Bytef *)b->data, b->len, 6) != Z_OK)
		die("out of memory");
	free(to);
	return len;
}

static void show_codec(bool delta)
{
	double encode = 0, decode = 0, count = (double)(frames - delta);
	size_t bytes = 0, zlib = 0;

	for (size_t i = delta; i < frames; i++) {
		const struct snapshot *reference = delta ? &frame[i - 1] : NULL;

		double best_encode = 1e9, best_decode = 1e9;

		for (int k = 0; k < REPEAT; k++) {
			cleanup(strbuf_done) struct strbuf out = {};
			cleanup(snapshot_done) struct snapshot back = {};
			double a = now_us(), b, c;

			if (snapshot_encode(&frame[i], reference, &out) < 0)
				die("a frame cannot be written");
			b = now_us();
			if (snapshot_decode(out.data, out.len, reference, &back) < 0)
				die("a frame cannot be read");
			c = now_us();
			best_encode = b - a < best_encode ? b - a : best_encode;
			best_decode = c - b < best_decode ? c - b : best_decode;
			bytes += k ? 0 : out.len;
			zlib += k ? 0 : deflated(&out);
		}
		encode += best_encode;
		decode += best_decode;
	}
	printf("%s: %.0f bytes (zlib: %.0f), encode %.0f us, decode %.0f us\n",
	       delta ? "delta" : "key", (double)bytes / count, (double)zlib / count, encode / count,
	       decode / count);
}

/* The last before a key frame is the slowest to open. */
static void show_opening(void)
{
	cleanup(strbuf_done) struct strbuf out = {};
	char why[RECORDING_REASON];
	double worst = 0, sum = 0;

	record(0, 0, &out);
	for (size_t i = 0; i < frames; i++) {
		struct recording_reader *r;
		const struct snapshot *s;
		double start = now_us(), us;

		if (recording_reader_open_memory(out.data, out.len, &r, why) < 0 ||
		    recording_reader_frame(r, i, &s, why) < 0)
			die(why);
		us = now_us() - start;
		recording_reader_free(r);
		worst = us > worst ? us : worst;
		sum += us;
	}
	printf("open any frame (key every %d): mean %.0f us, worst %.0f us\n", RECORDING_KEY_EVERY,
	       sum / (double)frames, worst);
}

int main(int argc, char **argv)
{
	struct options options;
	struct measure measure;
	struct collect_spec spec;
	long interval;

	if (argc < 3)
		die("FRAMES INTERVAL_MS [ARGUMENT...]");
	frames = (size_t)atol(argv[1]);
	interval = atol(argv[2]);
	argv[2] = argv[0];
	if (options_parse(&options, argc - 2, argv + 2))
		return 1;
	spec = measure_spec(&options);
	spec.continuous = true;
	spec.names = NEEDS_USER | NEEDS_CGROUP | NEEDS_PROGRAM;
	frame = calloc(frames, sizeof(*frame));
	if (!frame || measure_open(&measure, &options, &spec))
		die("cannot be opened");
	for (size_t i = 0; i < frames; i++) {
		if (i)
			usleep((useconds_t)interval * 1000);
		collect(&measure, &frame[i]);
	}
	printf("%zu processes, %zu with memory, %zu memory cgroups\n", frame[0].count,
	       frame[0].count - frame[0].collection.kernel_threads, frame[0].memcg_count);
	show_codec(false);
	show_codec(true);
	show_sizes();
	show_opening();
	measure_close(&measure);
	return 0;
}
