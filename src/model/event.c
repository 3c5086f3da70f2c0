// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Events of a recording as bytes. */
#include "model/event.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MEMBER_HEAD 3

void event_set_text(struct event_record *e, enum event_member m, const char *text)
{
	char *to = e->text[m - EVENT_TEXTS];

	if (!text)
		return;
	snprintf(to, EVENT_TEXT, "%s", text);
	e->have[m / 64] |= UINT64_C(1) << m % 64;
}

static bool is_text(int m)
{
	return m >= EVENT_TEXTS && m < EVENT_TEXTS_END;
}

const char *event_text(const struct event_record *e, enum event_member m)
{
	return event_has(e, m) ? e->text[m - EVENT_TEXTS] : NULL;
}

static void put_member(struct strbuf *out, int m, const char *data, size_t len)
{
	const uint16_t size = htole16((uint16_t)len);
	char head[MEMBER_HEAD] = {(char)m};

	memcpy(head + 1, &size, sizeof(size));
	strbuf_put(out, head, sizeof(head));
	strbuf_put(out, data, len);
}

const struct event_level *event_level_at_limit(const struct event_record *e)
{
	return event_has(e, EVENT_AT_LEVEL) && e->number[EVENT_AT_LEVEL] < e->levels
		       ? &e->level[e->number[EVENT_AT_LEVEL]]
		       : NULL;
}

/* A call takes less, and its number may come again with another recorder. */
#define CALL_MOST_MS  60000
#define BURST_MOST_MS 2000

bool event_same_group(const struct event_record *before, const struct event_record *after)
{
	const char *a = event_text(before, EVENT_LIMIT_CGROUP);
	const char *b = event_text(after, EVENT_LIMIT_CGROUP);
	int64_t passed = after->time_ms - before->time_ms;

	if (event_number(before, EVENT_KIND) != EVENT_OOM_KILL ||
	    event_number(after, EVENT_KIND) != EVENT_OOM_KILL)
		return false;
	if (event_has(before, EVENT_CALL) && event_has(after, EVENT_CALL))
		return before->number[EVENT_CALL] == after->number[EVENT_CALL] &&
		       passed < CALL_MOST_MS;
	return !event_number(after, EVENT_TABLE) && a && b && strcmp(a, b) == 0 &&
	       passed < BURST_MOST_MS;
}

/* Charges that CPUs hold back are far less. */
#define NEARLY (UINT64_C(4) << 20)

bool event_limit_is_memsw(const struct event_record *e, const struct event_level *l)
{
	return !event_number(e, EVENT_V2) && l->swap_limit != EVENT_UNLIMITED &&
	       l->swap_usage + NEARLY >= l->swap_limit &&
	       (l->limit == EVENT_UNLIMITED || l->usage + NEARLY < l->limit);
}

/* Four numbers of each level. */
#define LEVEL_BYTES 32

static void put_levels(const struct event_record *e, struct strbuf *out)
{
	uint64_t word[EVENT_LEVELS_MOST][4];

	for (unsigned i = 0; i < e->levels; i++) {
		const struct event_level *l = &e->level[i];

		word[i][0] = htole64(l->usage);
		word[i][1] = htole64(l->limit);
		word[i][2] = htole64(l->swap_usage);
		word[i][3] = htole64(l->swap_limit);
	}
	if (e->levels)
		put_member(out, EVENT_LEVELS, (const char *)word, e->levels * (size_t)LEVEL_BYTES);
}

static int decode_levels(struct event_record *e, const char *data, size_t len)
{
	if (len % LEVEL_BYTES || len > EVENT_LEVELS_MOST * (size_t)LEVEL_BYTES)
		return -EBADMSG;
	e->levels = (unsigned)(len / LEVEL_BYTES);
	for (unsigned i = 0; i < e->levels; i++) {
		uint64_t word[4];

		memcpy(word, data + i * (size_t)LEVEL_BYTES, LEVEL_BYTES);
		e->level[i] = (struct event_level){le64toh(word[0]), le64toh(word[1]),
						   le64toh(word[2]), le64toh(word[3])};
	}
	return 0;
}

void event_encode(const struct event_record *e, struct strbuf *out)
{
	uint64_t number;

	for (int m = 0; m < EVENT_MEMBERS; m++) {
		if (!event_has(e, (enum event_member)m))
			continue;
		if (is_text(m)) {
			const char *text = e->text[m - EVENT_TEXTS];

			put_member(out, m, text, strlen(text));
			continue;
		}
		number = htole64(e->number[m]);
		put_member(out, m, (const char *)&number, sizeof(number));
	}
	put_levels(e, out);
}

static int decode_member(struct event_record *e, unsigned m, const char *data, size_t len)
{
	char text[EVENT_TEXT];
	uint64_t number;

	if (m == EVENT_LEVELS)
		return decode_levels(e, data, len);
	if (m >= EVENT_MEMBERS || (m >= EVENT_TEXTS_END && m < EVENT_MORE))
		return 0;
	if (!is_text((int)m)) {
		if (len != 8)
			return -EBADMSG;
		memcpy(&number, data, sizeof(number));
		event_set(e, (enum event_member)m, le64toh(number));
		return 0;
	}
	if (len >= sizeof(text) || memchr(data, '\0', len))
		return -EBADMSG;
	memcpy(text, data, len);
	text[len] = '\0';
	event_set_text(e, (enum event_member)m, text);
	return 0;
}

int event_decode(const void *data, size_t len, struct event_record *ret)
{
	const char *at = data;
	int r = 0;

	*ret = (struct event_record){};
	while (r == 0 && len) {
		uint16_t little = UINT16_MAX;
		size_t size;

		if (len >= MEMBER_HEAD)
			memcpy(&little, at + 1, sizeof(little));
		size = le16toh(little);
		if (len < MEMBER_HEAD + size)
			return -EBADMSG;
		r = decode_member(ret, (unsigned char)*at, at + MEMBER_HEAD, size);
		at += MEMBER_HEAD + size;
		len -= MEMBER_HEAD + size;
	}
	return r == 0 && !event_has(ret, EVENT_KIND) ? -EBADMSG : r;
}

const char *event_no_constraint(const struct event_record *e)
{
	if (!event_has(e, EVENT_LOG_READ))
		return "it was not recorded";
	switch (event_number(e, EVENT_LOG_READ)) {
	case EVENT_LOG_DENIED:
		return "the kernel's log could not be read";
	case EVENT_LOG_OTHER:
		return "the kernel's log has another cgroup of the victim";
	default:
		return "the kernel's log has no line for this kill";
	}
}
