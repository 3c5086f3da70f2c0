// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Bytes → recording. Believes nothing: every length is checked against what is there, and what is
 * allocated is bounded by the size of the file. Refuses to know what a reading means.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "recording/wire.h"
#include "zmem/record.h"
#include "recording/recording.h"

struct parser {
	const char *data;
	size_t len;
	size_t at;
	size_t chapter_capacity, reading_capacity;
	struct recording recording;
	char *why;
};

__attribute__((format(printf, 3, 4))) static int refuse(char why[RECORDING_WHY], int error,
							const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(why, RECORDING_WHY, fmt, args);
	va_end(args);
	return error;
}

static int damaged(const struct parser *p, const char *what)
{
	return refuse(p->why, -EBADMSG, "it is damaged (%s at byte %zu)", what, p->at);
}

static int cut_off(const struct parser *p)
{
	return refuse(p->why, -EBADMSG, "it is cut off after %zu bytes", p->len);
}

static int no_memory(const struct parser *p)
{
	return refuse(p->why, -ENOMEM, "out of memory");
}

/* Text filled with NULs to its end and nothing behind the first one. */
static bool take_padded(const char *at, size_t size, char *ret)
{
	size_t len = strnlen(at, size);

	for (size_t i = 0; i < size; i++) {
		if (i < len ? at[i] < 0x21 || at[i] > 0x7e : at[i])
			return false;
	}
	memcpy(ret, at, len);
	ret[len] = '\0';
	return true;
}

/* ---- header ---- */

int recording_check_header(const void *data, size_t len, char why[RECORDING_WHY])
{
	const size_t magic = sizeof(RECORDING_MAGIC) - 1;
	const char *at = data;
	uint32_t format, record;

	if (!len)
		return refuse(why, -EBADMSG, "it is empty");
	if (memcmp(at, RECORDING_MAGIC, len < magic ? len : magic) != 0)
		return refuse(why, -EBADMSG, "it is not a recording of zmem-bpf");
	if (len < magic + 4)
		return refuse(why, -EBADMSG, "it is cut off after %zu bytes", len);
	/* Only from here on others may differ. */
	format = wire_get32(at + 8);
	if (format > RECORDING_FORMAT)
		return refuse(why, -ENOTSUP,
			      "made by a newer zmem-bpf (format %u; this one reads %u)", format,
			      RECORDING_FORMAT);
	if (len < RECORDING_HEADER_SIZE)
		return refuse(why, -EBADMSG, "it is cut off after %zu bytes", len);
	if (format != RECORDING_FORMAT || wire_get32(at + 28) != wire_crc(at, 28, NULL, 0))
		return refuse(why, -EBADMSG, "it is damaged (its header)");
	record = wire_get32(at + 12);
	if (record != ZMEM_RECORD_VERSION)
		return refuse(why, -ENOTSUP, "made by %s zmem-bpf (records %u; this one reads %u)",
			      record > ZMEM_RECORD_VERSION ? "a newer" : "an older", record,
			      ZMEM_RECORD_VERSION);
	return 0;
}

static int take_header(struct parser *p)
{
	int r = recording_check_header(p->data, p->len, p->why);

	if (r < 0)
		return r;
	if (!take_padded(p->data + 16, RECORDING_TOOL_LEN, p->recording.tool))
		return damaged(p, "its header");
	p->at = RECORDING_HEADER_SIZE;
	return 0;
}

/* ---- readings ---- */

static struct recorded *add_reading(struct parser *p)
{
	struct recording *rec = &p->recording;
	struct recorded *reading =
		grow_items(rec->reading, rec->readings, &p->reading_capacity, 64, sizeof(*reading));

	if (!reading)
		return NULL;
	rec->reading = reading;
	return &rec->reading[rec->readings++];
}

static bool key_ok(const char *key, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (key[i] < 0x21 || key[i] > 0x7e)
			return false;
	}
	return len && len <= TAPE_KEY_MAX && !key[len];
}

/* One reading of a chapter that ends at `end`. */
static int take_reading(struct parser *p, size_t end)
{
	const char *at = p->data + p->at;
	size_t left = end - p->at, len, key_len;
	struct recorded *r;
	uint16_t error;

	if (left < RECORDING_READING_SIZE)
		return damaged(p, "a reading");
	len = wire_get32(at);
	key_len = wire_get16(at + 4);
	error = wire_get16(at + 6);
	left -= RECORDING_READING_SIZE;
	/* Neither can overflow: the key is short, the data no longer than an int. */
	if (len > RECORDING_DATA_MAX || left < key_len + 1 + len + 1)
		return damaged(p, "a reading");
	at += RECORDING_READING_SIZE;
	if (!key_ok(at, key_len) || at[key_len + 1 + len] || (error && len))
		return damaged(p, "a reading");
	r = add_reading(p);
	if (!r)
		return no_memory(p);
	*r = (struct recorded){at, {-(int)error, at + key_len + 1, len}};
	p->at += RECORDING_READING_SIZE + key_len + 1 + len + 1;
	return 0;
}

/* ---- chapters ---- */

static struct chapter *add_chapter(struct parser *p)
{
	struct recording *rec = &p->recording;
	struct chapter *chapter =
		grow_items(rec->chapter, rec->chapters, &p->chapter_capacity, 4, sizeof(*chapter));

	if (!chapter)
		return NULL;
	rec->chapter = chapter;
	return &rec->chapter[rec->chapters++];
}

/* Whether a chapter may come where it does. */
static bool in_order(const struct recording *rec, const struct chapter *c)
{
	size_t same = 0;

	if (!rec->chapters)
		return c->frame == 0;
	if (c->frame != rec->frames)
		return c->frame == rec->frames + 1;
	for (size_t i = rec->chapters; i-- && rec->chapter[i].frame == c->frame;) {
		if (++same == RECORDING_CHAPTERS_MAX || !strcmp(rec->chapter[i].name, c->name))
			return false;
	}
	return true;
}

static int take_chapter(struct parser *p)
{
	const char *at = p->data + p->at;
	struct chapter c = {}, *added;
	uint32_t readings, length;
	size_t end;
	int r = 0;

	if (p->len - p->at < RECORDING_CHAPTER_SIZE)
		return cut_off(p);
	c.frame = wire_get32(at + 4);
	readings = wire_get32(at + 24);
	length = wire_get32(at + 28);
	if (p->len - p->at - RECORDING_CHAPTER_SIZE < length)
		return cut_off(p);
	if (wire_get32(at + 32) != wire_crc(at, 32, at + RECORDING_CHAPTER_SIZE, length))
		return damaged(p, "a chapter");
	if (!take_padded(at + 8, RECORDING_CHAPTER_LEN, c.name) || !in_order(&p->recording, &c))
		return damaged(p, "a chapter");
	c.first = p->recording.readings;
	p->at += RECORDING_CHAPTER_SIZE;
	end = p->at + length;
	while (r == 0 && p->at < end)
		r = take_reading(p, end);
	if (r < 0)
		return r;
	c.count = p->recording.readings - c.first;
	if (c.count != readings)
		return damaged(p, "a chapter");
	added = add_chapter(p);
	if (!added)
		return no_memory(p);
	*added = c;
	p->recording.frames = c.frame;
	return 0;
}

static int take_end(struct parser *p)
{
	const char *at = p->data + p->at;

	if (p->len - p->at < RECORDING_END_SIZE)
		return cut_off(p);
	if (wire_get32(at + 8) != wire_crc(at, 8, NULL, 0) ||
	    wire_get32(at + 4) != p->recording.chapters)
		return damaged(p, "its end");
	p->at += RECORDING_END_SIZE;
	if (p->at != p->len)
		return damaged(p, "more than belongs to it");
	return p->recording.frames ? 0 : refuse(p->why, -EBADMSG, "there is nothing in it");
}

static int take_all(struct parser *p)
{
	int r = take_header(p);

	while (r == 0) {
		if (p->len - p->at < 4)
			return cut_off(p);
		if (memcmp(p->data + p->at, "END\n", 4) == 0)
			return take_end(p);
		if (memcmp(p->data + p->at, "CHAP", 4) != 0)
			return damaged(p, "no chapter");
		r = take_chapter(p);
	}
	return r;
}

int recording_parse(const void *data, size_t len, struct recording *ret, char why[RECORDING_WHY])
{
	struct parser p = {.data = data, .len = len, .why = why};
	int r = take_all(&p);

	if (r < 0)
		recording_done(&p.recording);
	else
		*ret = p.recording;
	return r;
}

void recording_done(struct recording *recording)
{
	free(recording->chapter);
	free(recording->reading);
	*recording = (struct recording){};
}
