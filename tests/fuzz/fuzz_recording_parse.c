// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A recording: as it is, and with its checksums put right, or nothing would get behind them. What
 * is accepted points into the file, plays, and is the same when it is written again.
 */
#include <errno.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "fuzz.h"
#include "recording/wire.h"
#include "zmem/recording.h"

static void free_data(char **data)
{
	free(*data);
}

/* As far as the lengths lead. */
static void repair(char *data, size_t size)
{
	size_t at = RECORDING_HEADER_SIZE;

	if (size < at)
		return;
	wire_set32(data + 28, wire_crc(data, 28, NULL, 0));
	while (size - at >= RECORDING_CHAPTER_SIZE && !memcmp(data + at, "CHAP", 4)) {
		size_t len = wire_get32(data + at + 28);

		if (len > size - at - RECORDING_CHAPTER_SIZE)
			return;
		wire_set32(data + at + 32,
			   wire_crc(data + at, 32, data + at + RECORDING_CHAPTER_SIZE, len));
		at += RECORDING_CHAPTER_SIZE + len;
	}
	if (size - at >= RECORDING_END_SIZE)
		wire_set32(data + at + 8, wire_crc(data + at, 8, NULL, 0));
}

static void check_inside(const struct recording *r, const char *data, size_t size)
{
	FUZZ_CHECK(r->frames >= 1 && r->chapters >= 2 && strlen(r->tool) <= RECORDING_TOOL_LEN);
	for (size_t i = 0; i < r->readings; i++) {
		const struct recorded *reading = &r->reading[i];
		size_t key = strlen(reading->key), len = reading->reading.len;

		FUZZ_CHECK(key >= 1 && key <= TAPE_KEY_MAX);
		FUZZ_CHECK(reading->key > data && reading->key + key < data + size);
		FUZZ_CHECK(reading->reading.error <= 0);
		FUZZ_CHECK(!reading->reading.error || !len);
		if (!len)
			continue;
		FUZZ_CHECK(reading->reading.data > data &&
			   reading->reading.data + len < data + size);
		FUZZ_CHECK(reading->reading.data[len] == '\0');
	}
}

/* Plays each chapter and takes it down once more: the same bytes. */
static void check_again(const struct recording *r, const char *data, size_t size)
{
	cleanup(strbuf_done) struct strbuf out = {0};
	struct tape *player = tape_of(r), *blank = tape_blank();

	FUZZ_CHECK(player && blank);
	recording_begin(&out, r->tool);
	for (size_t i = 0; i < r->chapters; i++) {
		const struct chapter *c = &r->chapter[i];

		FUZZ_CHECK(c->first <= r->readings && c->count <= r->readings - c->first);
		FUZZ_CHECK(tape_turn_to(player, c->frame, c->name) == 0);
		for (size_t k = c->first; k < c->first + c->count; k++) {
			const struct recorded *reading = &r->reading[k];
			struct tape_reading got;

			FUZZ_CHECK(tape_next(player, reading->key, &got) == TAPE_NEXT);
			FUZZ_CHECK(got.error == reading->reading.error &&
				   got.len == reading->reading.len &&
				   got.data == reading->reading.data);
			tape_put(blank, reading->key, got.error, got.data, got.len);
		}
		tape_take_chapter(blank, c->frame, c->name, &out);
	}
	recording_end(&out, (uint32_t)r->chapters);
	FUZZ_CHECK(strbuf_error(&out) == 0);
	FUZZ_CHECK(out.len == size && !memcmp(strbuf_str(&out), data, size));
	tape_free(player);
	tape_free(blank);
}

static void parse(const char *data, size_t size)
{
	char why[RECORDING_WHY] = "";
	struct recording r;
	int err = recording_parse(data, size, &r, why);

	FUZZ_CHECK(err == 0 || err == -EBADMSG || err == -ENOTSUP);
	if (err < 0) {
		FUZZ_CHECK(*why && strlen(why) < RECORDING_WHY);
		return;
	}
	check_inside(&r, data, size);
	check_again(&r, data, size);
	recording_done(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup(free_data) char *copy = malloc(size ? size : 1);

	FUZZ_CHECK(copy);
	memcpy(copy, data, size);
	parse(copy, size);
	repair(copy, size);
	parse(copy, size);
	return 0;
}
