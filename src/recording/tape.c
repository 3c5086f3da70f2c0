// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Readings by key: taken down, and given back in their order. Refuses to know what is read, and
 * what a file of them looks like beyond one reading and the head of a chapter.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "recording/wire.h"
#include "recording/recording.h"

struct tape {
	const struct recording *recording; /* NULL: it is being recorded */

	/* Recording: what was taken down, as it will be in the file. */
	struct strbuf taken;
	uint32_t count;

	/* Playing: the chapter's readings by key, those of a key in their order. */
	const struct recorded **reading;
	size_t *given; /* how many of that key, at the index of its first reading */
	size_t readings;
};

struct tape *tape_blank(void)
{
	return calloc(1, sizeof(struct tape));
}

struct tape *tape_of(const struct recording *recording)
{
	struct tape *tape = tape_blank();

	if (tape)
		tape->recording = recording;
	return tape;
}

void tape_free(struct tape *tape)
{
	if (!tape)
		return;
	strbuf_done(&tape->taken);
	free(tape->reading);
	free(tape->given);
	free(tape);
}

bool tape_playing(const struct tape *tape)
{
	return tape && tape->recording;
}

bool tape_recording(const struct tape *tape)
{
	return tape && !tape->recording;
}

/* ---- recording ---- */

void tape_put(struct tape *tape, const char *key, int error, const void *data, size_t len)
{
	size_t key_len = strlen(key);
	char head[RECORDING_READING_SIZE];

	if (!tape_recording(tape))
		return;
	if (error)
		len = 0;
	if (key_len > TAPE_KEY_MAX || len > RECORDING_DATA_MAX) {
		if (!tape->taken.error)
			tape->taken.error = -EFBIG;
		return;
	}
	wire_set32(head, (uint32_t)len);
	wire_set16(head + 4, (uint16_t)key_len);
	wire_set16(head + 6, (uint16_t)-error);
	strbuf_put(&tape->taken, head, sizeof(head));
	strbuf_put(&tape->taken, key, key_len + 1);
	strbuf_put(&tape->taken, data, len);
	strbuf_putc(&tape->taken, '\0');
	tape->count++;
}

void tape_put_text(struct tape *tape, const char *key, const char *text, ssize_t len_or_error)
{
	if (len_or_error < 0)
		tape_put(tape, key, (int)len_or_error, NULL, 0);
	else
		tape_put(tape, key, 0, text, (size_t)len_or_error);
}

void tape_put_string(struct tape *tape, const char *key, const char *text)
{
	tape_put(tape, key, 0, text, strlen(text));
}

void tape_put_u64(struct tape *tape, const char *key, uint64_t value)
{
	char text[24];

	tape_put_text(tape, key, text,
		      snprintf(text, sizeof(text), "%llu", (unsigned long long)value));
}

void tape_take_chapter(struct tape *tape, uint32_t frame, const char *name, struct strbuf *out)
{
	char head[RECORDING_CHAPTER_SIZE] = "CHAP";
	struct strbuf *taken = &tape->taken;
	size_t len = strlen(name);

	if (!taken->error && taken->len > UINT32_MAX)
		taken->error = -EFBIG;
	if (taken->error && !out->error)
		out->error = taken->error;
	wire_set32(head + 4, frame);
	memcpy(head + 8, name, len < RECORDING_CHAPTER_LEN ? len : RECORDING_CHAPTER_LEN);
	wire_set32(head + 24, tape->count);
	wire_set32(head + 28, (uint32_t)taken->len);
	wire_set32(head + 32, wire_crc(head, 32, taken->data, taken->len));
	strbuf_put(out, head, sizeof(head));
	strbuf_put(out, taken->data, taken->len);
	strbuf_clear(taken);
	tape->count = 0;
}

/* ---- playing ---- */

static int compare_recorded(const void *pa, const void *pb)
{
	const struct recorded *a = *(const struct recorded *const *)pa;
	const struct recorded *b = *(const struct recorded *const *)pb;
	int r = strcmp(a->key, b->key);

	return r ? r : (a > b) - (a < b);
}

static const struct chapter *find_chapter(const struct recording *rec, uint32_t frame,
					  const char *name)
{
	for (size_t i = 0; i < rec->chapters; i++) {
		if (rec->chapter[i].frame == frame && !strcmp(rec->chapter[i].name, name))
			return &rec->chapter[i];
	}
	return NULL;
}

int tape_turn_to(struct tape *tape, uint32_t frame, const char *name)
{
	const struct chapter *c = find_chapter(tape->recording, frame, name);
	cleanup_free const struct recorded **reading = NULL;
	cleanup_free size_t *given = NULL;

	if (!c)
		return -ENOENT;
	reading = calloc(c->count + 1, sizeof(*reading));
	given = calloc(c->count + 1, sizeof(*given));
	if (!reading || !given)
		return -ENOMEM;
	for (size_t i = 0; i < c->count; i++)
		reading[i] = &tape->recording->reading[c->first + i];
	qsort(reading, c->count, sizeof(*reading), compare_recorded);
	free(tape->reading);
	free(tape->given);
	tape->reading = TAKE_PTR(reading);
	tape->given = TAKE_PTR(given);
	tape->readings = c->count;
	return 0;
}

/* The index of the first reading whose key is not before this one. */
static size_t find_key(const struct tape *tape, const char *key)
{
	size_t low = 0, high = tape->readings;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(tape->reading[middle]->key, key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_key(const struct tape *tape, size_t i, const char *key)
{
	return i < tape->readings && !strcmp(tape->reading[i]->key, key);
}

enum tape_answer tape_next(struct tape *tape, const char *key, struct tape_reading *ret)
{
	size_t first = find_key(tape, key), i;

	if (!is_key(tape, first, key))
		return TAPE_NONE;
	i = first + tape->given[first];
	if (!is_key(tape, i, key)) {
		*ret = tape->reading[i - 1]->reading;
		return TAPE_AGAIN;
	}
	tape->given[first]++;
	*ret = tape->reading[i]->reading;
	return TAPE_NEXT;
}

bool tape_has_next(const struct tape *tape, const char *key)
{
	size_t first = find_key(tape, key);

	return is_key(tape, first, key) && is_key(tape, first + tape->given[first], key);
}

ssize_t tape_next_text(struct tape *tape, const char *key, char *buf, size_t cap)
{
	struct tape_reading r;
	size_t len;

	if (!cap)
		return -EINVAL;
	if (tape_next(tape, key, &r) == TAPE_NONE)
		return -ENOENT;
	if (r.error)
		return r.error;
	len = r.len < cap - 1 ? r.len : cap - 1;
	memcpy(buf, r.data, len);
	buf[len] = '\0';
	return (ssize_t)len;
}

const char *tape_next_string(struct tape *tape, const char *key)
{
	struct tape_reading r;

	return tape_next(tape, key, &r) == TAPE_NONE || r.error ? NULL : r.data;
}

bool tape_next_u64(struct tape *tape, const char *key, uint64_t *ret)
{
	struct tape_reading r;

	return tape_next(tape, key, &r) != TAPE_NONE && !r.error &&
	       parse_u64(r.data, r.len, UINT64_MAX, ret) == 0;
}

void tape_each(struct tape *tape, const char *prefix,
	       void (*fn)(void *arg, const char *key, const struct tape_reading *reading),
	       void *arg)
{
	size_t len = strlen(prefix);

	for (size_t i = find_key(tape, prefix);
	     i < tape->readings && !strncmp(tape->reading[i]->key, prefix, len); i++)
		fn(arg, tape->reading[i]->key, &tape->reading[i]->reading);
}
