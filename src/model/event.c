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
}

static int decode_member(struct event_record *e, unsigned m, const char *data, size_t len)
{
	char text[EVENT_TEXT];
	uint64_t number;

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
