// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A complete session on a recording with valid checksums and arbitrary frames: every frame becomes
 * a document, or a line names the error. The input: the length of the key frame (u16), that frame,
 * and the rest is a delta frame.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "../support/utf8_valid.h"
#include "session/log.h"
#include "command/table.h"
#include "session/options.h"
#include "session/session.h"
#include "session/session.h"
#include "collect/balance.h"
#include "fuzz_json.h"
#include "model/snapshot_codec.h"
#include "recording/recording_file.h"
#include "recording/recording_internal.h"
#include "report/diff.h"
#include "report/report.h"

#define FILE_FD	  900
#define FILE_NAME "/proc/self/fd/900"

/* Nothing changed between a snapshot and itself. */
static void check_diff(const struct snapshot *s)
{
	const struct change_side side = {s};
	struct group_changes changes;
	struct diff_report report = {
		.before = s, .after = s, .key = "rss", .what = "RSS", .changes = &changes};
	struct strbuf out = {};
	struct table_style style = {.header = true, .width = 80};

	FUZZ_CHECK(group_changes_make(&side, &side, NULL, COUNTER_BIT(COUNTER_RSS), &changes) == 0);
	FUZZ_CHECK(changes.total.before == changes.total.after);
	report.shown = changes.count;
	render_diff_json(&out, &report);
	FUZZ_CHECK(!strbuf_error(&out) && json_read_document(out.data, out.len) == changes.count);
	strbuf_clear(&out);
	render_diff_table(&out, &report, &style);
	FUZZ_CHECK(!strbuf_error(&out) && utf8_valid(out.data, out.len));
	group_changes_done(&changes);
	strbuf_done(&out);
}

static void check_document(const struct session *s, const struct result *result)
{
	struct strbuf out = {};
	struct table_style style = {.columns = &s->columns, .header = true, .width = 80};
	const struct system_info *machine = &result->snapshot->system;
	size_t devices = machine->zram_count + (machine->swaps_known ? machine->swap_count : 0);
	struct system_report report;

	/* Each process in its own row, or all in one row. */
	FUZZ_CHECK(result->group || s->options->tree || s->options->top ||
		   result->row_count == s->collector.rows.matched.count);
	FUZZ_CHECK(result->totals.processes <= s->collector.rows.matched.count);
	if (s->options->tree)
		FUZZ_CHECK(result->row_count == s->collector.rows.matched.count &&
			   result->totals.processes == s->collector.rows.matched.count);
	check_diff(result->snapshot);
	render_json(&out, result);
	FUZZ_CHECK(!strbuf_error(&out));
	FUZZ_CHECK(json_read_document(out.data, out.len) == result->row_count);
	strbuf_clear(&out);
	render_table(&out, result, &style);
	FUZZ_CHECK(!strbuf_error(&out) && utf8_valid(out.data, out.len));
	strbuf_clear(&out);
	balance_report(result, &report);
	render_system_json(&out, &report);
	FUZZ_CHECK(!strbuf_error(&out) && json_read_document(out.data, out.len) == devices);
	strbuf_clear(&out);
	render_system_table(&out, &report, &style);
	report.all = true;
	render_system_table(&out, &report, &style);
	FUZZ_CHECK(!strbuf_error(&out) && utf8_valid(out.data, out.len));
	strbuf_done(&out);
}

/* As in watch: every row that the previous frame had is matched. */
static void check_tick(struct session *w, const struct result *result)
{
	struct strbuf out = {}, line = {};
	struct table_style style = {.columns = &w->columns, .header = true, .width = 80};
	const struct delta_counts *n = &w->deltas.delta.counts;
	size_t lines = 0;

	FUZZ_CHECK(n->started + n->changed <= w->collector.rows.all.count);
	FUZZ_CHECK(n->ended <= w->deltas.tracker[w->deltas.now].rows.count);
	render_ndjson_with(&out, &line, result);
	FUZZ_CHECK(!strbuf_error(&out));
	for (size_t at = 0, len; at < out.len; at += len, lines++) {
		len = (size_t)((const char *)memchr(out.data + at, '\n', out.len - at) + 1 -
			       (out.data + at));
		FUZZ_CHECK(len < 4096);
		json_read_document(out.data + at, len);
	}
	FUZZ_CHECK(lines == result->row_count + 1);
	strbuf_clear(&out);
	render_tick(&out, result, &style);
	render_table(&out, result, &style);
	FUZZ_CHECK(!strbuf_error(&out) && utf8_valid(out.data, out.len));
	strbuf_done(&out);
	strbuf_done(&line);
}

static int run_watch(const struct options *o)
{
	struct session w = {};
	struct result result;
	int r = session_open_series(&w, o, false);

	while (r == 0 && !session_ended(&w)) {
		r = session_next(&w, 0, 0, &result);
		if (r == 0) {
			check_tick(&w, &result);
			r = session_finish_tick(&w, &result);
		}
	}
	session_close(&w);
	return r;
}

/* Returns an exit code. */
static int run(const struct options *o)
{
	const struct collect_spec spec = session_spec(o);
	struct session s;
	struct result result;
	int r = session_open(&s, o, &spec);

	for (uint32_t i = 1; r == 0 && i <= s.replay.frames; i++) {
		r = session_turn_to(&s, i);
		if (r == 0)
			r = session_collect(&s, &result);
		if (r == 0)
			check_document(&s, &result);
	}
	session_close(&s);
	return r;
}

/* An error has a reason, and without an error there is none. */
static void replay(char **words)
{
	char *said = NULL;
	FILE *err = stderr;
	struct options o;
	size_t said_len = 0;
	int r, argc = 0;

	while (words[argc])
		argc++;
	stderr = open_memstream(&said, &said_len);
	FUZZ_CHECK(stderr);
	optind = 0;
	r = options_parse(&o, &command_table, argc, words);
	if (r == 0)
		r = o.continuous ? run_watch(&o) : run(&o);
	fclose(stderr);
	stderr = err;
	FUZZ_CHECK(r == 0 || r == EXIT_FAILED || r == EXIT_NOT_FOUND);
	FUZZ_CHECK(r == 0 || said_len);
	options_done(&o);
	free(said);
}

/* A part as the writer makes it. Sets *s to the decoded frame, if it is one. */
static void pack_frame(const uint8_t *raw, size_t size, const struct snapshot *reference,
		       struct snapshot *s, struct strbuf *out)
{
	char head[RECORDING_PART_SIZE] = "PART";
	size_t bound = ZSTD_compressBound(size), packed;
	char *payload = malloc(bound);

	snapshot_decode(raw, size, reference, NULL, s);
	packed = ZSTD_compress(payload, bound, raw, size, 1);
	FUZZ_CHECK(!ZSTD_isError(packed));
	head[4] = reference ? PART_DELTA : PART_KEY;
	put_le32(head + 8, (uint32_t)packed);
	put_le32(head + 12, (uint32_t)size);
	put_le64(head + 16, (uint64_t)s->time_ms);
	put_le32(head + 24, crc_of(payload, packed));
	put_le32(head + 28, crc_of(head, 28));
	strbuf_put(out, head, sizeof(head));
	strbuf_put(out, payload, packed);
	free(payload);
}

static void pack_recording(const uint8_t *data, size_t size, struct strbuf *out)
{
	const struct recording_options options = {.tool = "0", .flags = RECORDING_CMDLINES};
	size_t first = size < 2 ? 0 : data[0] | (size_t)data[1] << 8;
	struct snapshot key = {}, delta = {};
	struct recording_writer w;

	FUZZ_CHECK(recording_writer_init(&w, &options, out) == 0);
	recording_writer_done(&w);
	size -= size < 2 ? size : 2;
	first = first < size ? first : size;
	if (first)
		pack_frame(data + 2, first, NULL, &key, out);
	if (size > first)
		pack_frame(data + 2 + first, size - first, &key, &delta, out);
	snapshot_done(&key);
	snapshot_done(&delta);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char *all[] = {"zmem-bpf", "-qJ", "-o+cmdline", "--replay", FILE_NAME, NULL};
	static char *few[] = {"zmem-bpf", "-qn3", "-f.", "--replay", FILE_NAME, NULL};
	static char *groups[] = {"zmem-bpf", "-qJ",	 "-gunit",  "--min=4K", "--cgroup",
				 "*",	     "--replay", FILE_NAME, NULL};
	static char *tree[] = {"zmem-bpf", "-q",      "--tree", "-srss,name",
			       "--replay", FILE_NAME, NULL};
	static char *watch[] = {"zmem-bpf", "watch",	"-q",	    "--no-lock", "--nice=0",
				"--grow",   "-Fndjson", "--replay", FILE_NAME,	 NULL};
	static char *watch_groups[] = {"zmem-bpf", "watch",   "-q",	   "--no-lock",
				       "--nice=0", "-gname",  "--changed", "-srss_change",
				       "--replay", FILE_NAME, NULL};
	struct strbuf file = {};
	static int fd = -1;

	if (fd < 0) {
		int any = memfd_create("recording", MFD_CLOEXEC);

		fd = dup2(any, FILE_FD);
		close(any);
		FUZZ_CHECK(fd == FILE_FD);
	}
	pack_recording(data, size, &file);
	FUZZ_CHECK(ftruncate(fd, 0) == 0);
	FUZZ_CHECK(pwrite(fd, file.data, file.len, 0) == (ssize_t)file.len);
	replay(all);
	replay(few);
	replay(groups);
	replay(tree);
	replay(watch);
	replay(watch_groups);
	strbuf_done(&file);
	return 0;
}
