// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A recording of any bytes, as it is, and with its checksums put right: else nothing behind the
 * first would ever be seen. What is understood lies within the file, plays, and written again is
 * the same.
 */
#include <errno.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "fuzz_recording.h"

static void check_recording(const struct recording *rec, const char *data, size_t len)
{
	size_t next = 0;

	FUZZ_CHECK(rec->frames && rec->chapters > rec->frames);
	for (size_t i = 0; i < rec->chapters; i++) {
		const struct chapter *c = &rec->chapter[i];
		uint32_t before = i ? rec->chapter[i - 1].frame : 0;

		FUZZ_CHECK(c->first == next && strlen(c->name) <= RECORDING_CHAPTER_LEN);
		FUZZ_CHECK(c->frame == before || (i && c->frame == before + 1));
		next += c->count;
	}
	FUZZ_CHECK(next == rec->readings && rec->chapter[rec->chapters - 1].frame == rec->frames);
	for (size_t i = 0; i < rec->readings; i++) {
		const struct recorded *r = &rec->reading[i];

		fuzz_check_part(r->key, strlen(r->key) + 1, data, len);
		fuzz_check_part(r->reading.data, r->reading.len + 1, data, len);
		FUZZ_CHECK(*r->key && strlen(r->key) <= TAPE_KEY_MAX);
		FUZZ_CHECK(!r->reading.data[r->reading.len] && r->reading.error <= 0);
		FUZZ_CHECK(!r->reading.error || !r->reading.len);
	}
}

static int count_pid(void *arg, pid_t pid)
{
	(void)pid;
	++*(size_t *)arg;
	return 0;
}

static void count_key(void *arg, const char *key, const struct tape_reading *reading)
{
	FUZZ_CHECK(key && reading->data);
	++*(size_t *)arg;
}

/* Every key of a chapter is asked for in every way, and more often than it was read. */
static void play(const struct recording *rec, const struct chapter *c, struct tape *tape)
{
	struct tape_reading reading;
	size_t count = 0;
	uint64_t v;
	char text[64];

	FUZZ_CHECK(tape_turn_to(tape, c->frame, c->name) == 0);
	tape_each(tape, "", count_key, &count);
	FUZZ_CHECK(count == c->count);
	for (size_t i = c->first; i < c->first + c->count; i++) {
		const char *key = rec->reading[i].key;

		/* The n-th answer about a key is its n-th reading. */
		FUZZ_CHECK(tape_has_next(tape, key));
		FUZZ_CHECK(tape_next(tape, key, &reading) == TAPE_NEXT);
		FUZZ_CHECK(reading.data == rec->reading[i].reading.data);
	}
	for (size_t i = c->first; i < c->first + c->count; i++) {
		const char *key = rec->reading[i].key;
		ssize_t n = tape_next_text(tape, key, text, sizeof(text));

		FUZZ_CHECK(n < (ssize_t)sizeof(text) && (n < 0 || !text[n]));
		FUZZ_CHECK(tape_next(tape, key, &reading) == TAPE_AGAIN);
		tape_next_string(tape, key);
		tape_next_u64(tape, key, &v);
		tape_next_pids(tape, key, count_pid, &count);
	}
	FUZZ_CHECK(tape_next(tape, "~not there", &reading) == TAPE_NONE);
}

/* The same readings, taken down and written: the same bytes. */
static void check_written(const struct recording *rec, const char *data, size_t len)
{
	cleanup(strbuf_done) struct strbuf out = {};
	struct tape *blank = tape_blank();

	FUZZ_CHECK(blank);
	recording_begin(&out, rec->tool);
	for (size_t i = 0; i < rec->chapters; i++) {
		const struct chapter *c = &rec->chapter[i];

		for (size_t k = c->first; k < c->first + c->count; k++) {
			const struct recorded *r = &rec->reading[k];

			tape_put(blank, r->key, r->reading.error, r->reading.data, r->reading.len);
		}
		tape_take_chapter(blank, c->frame, c->name, &out);
	}
	recording_end(&out, (uint32_t)rec->chapters);
	tape_free(blank);
	FUZZ_CHECK(!strbuf_error(&out));
	FUZZ_CHECK(out.len == len && !memcmp(out.data, data, len));
}

static void check(const char *data, size_t len)
{
	cleanup(recording_done) struct recording rec = {};
	char why[RECORDING_WHY] = "";
	struct tape *tape;
	int r = recording_parse(data, len, &rec, why);

	if (r < 0) {
		FUZZ_CHECK((r == -EBADMSG || r == -ENOTSUP) && *why && strlen(why) < sizeof(why));
		FUZZ_CHECK(!rec.chapters && !rec.chapter && !rec.reading);
		return;
	}
	FUZZ_CHECK(recording_check_header(data, len, why) == 0);
	check_recording(&rec, data, len);
	tape = tape_of(&rec);
	FUZZ_CHECK(tape);
	for (size_t i = 0; i < rec.chapters; i++)
		play(&rec, &rec.chapter[i], tape);
	tape_free(tape);
	check_written(&rec, data, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *repaired = malloc(size);

	check((const char *)data, size);
	if (size) {
		FUZZ_CHECK(repaired);
		memcpy(repaired, data, size);
		repair(repaired, size);
		check(repaired, size);
	}
	return 0;
}
