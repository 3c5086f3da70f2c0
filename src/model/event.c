// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Events of a recording as bytes. */
#include "model/event.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MEMBER_HEAD 3

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are copied as they are");

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

static void put_member(struct strbuf *out, int m, const void *data, size_t len)
{
	const uint16_t size = (uint16_t)len;
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
	if (event_has(after, EVENT_OOM_GROUP) && !event_number(after, EVENT_OOM_GROUP))
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

void event_encode(const struct event_record *e, struct strbuf *out)
{
	for (int m = 0; m < EVENT_MEMBERS; m++) {
		const char *text = is_text(m) ? e->text[m - EVENT_TEXTS] : NULL;

		if (!event_has(e, (enum event_member)m))
			continue;
		if (text)
			put_member(out, m, text, strlen(text));
		else
			put_member(out, m, &e->number[m], sizeof(e->number[m]));
	}
	if (e->levels)
		put_member(out, EVENT_LEVELS, e->level, e->levels * sizeof(*e->level));
}

static int decode_levels(struct event_record *e, const char *data, size_t len)
{
	if (len % sizeof(*e->level) || len > sizeof(e->level))
		return -EBADMSG;
	memcpy(e->level, data, len);
	e->levels = (unsigned)(len / sizeof(*e->level));
	return 0;
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
		event_set(e, (enum event_member)m, number);
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
		uint16_t size = UINT16_MAX;

		if (len >= MEMBER_HEAD)
			memcpy(&size, at + 1, sizeof(size));
		if (len < (size_t)MEMBER_HEAD + size)
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
