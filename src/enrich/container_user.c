// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A request has the home and the ids of containers. Its answer has a status and a name for each. */
#include "enrich/container_user.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "privilege/helper.h"

/* All containers of an engine, parsed. */
#define MEMORY ((size_t)128 << 20)
/* A file of 16 MiB is parsed in less. */
#define CPU_US 1000000
/* What is left for a user at the end of the time for all. */
#define LAST_US 1000

/* In a request, behind the home, and in the answer; there the name follows, with its end. */
struct entry {
	char id[CONTAINER_ID_LEN + 1];
	uint8_t status; /* enum container_status */
	uint16_t len;	/* of the name with its end; 0: none */
};

/* ---- the helper ---- */

static int answer(void *state, struct helper_message *request, struct helper_message *ret)
{
	cleanup(arena_done) struct arena arena = {};
	struct container_search c = {.arena = &arena};
	const char *home = request->data, *end;
	struct entry entry;
	size_t pos;

	(void)state;
	end = memchr(home, '\0', request->len);
	if (!end || request->fds != 1)
		return -EBADMSG;
	pos = (size_t)(end - home) + 1;
	c.root = request->fd[0];
	if (!message_get(request, &pos, &c.uid, sizeof(c.uid)))
		return -EBADMSG;
	c.count = c.left = (request->len - pos) / sizeof(entry);
	c.item = arena_zalloc(&arena, c.count + 1, sizeof(*c.item));
	if (!c.item)
		return -ENOMEM;
	for (size_t i = 0; i < c.count && message_get(request, &pos, &entry, sizeof(entry)); i++) {
		entry.id[CONTAINER_ID_LEN] = '\0';
		c.item[i].id = arena_strndup(&arena, entry.id, strlen(entry.id));
		c.item[i].status = CONTAINER_UNNAMED;
		if (!c.item[i].id)
			return -ENOMEM;
	}
	container_search_user(&c, home);
	for (size_t i = 0; i < c.count; i++) {
		const struct nameless *n = &c.item[i];
		/* At most CONTAINER_NAME_MAX and the end. */
		size_t len = n->name ? strlen(n->name) + 1 : 0;

		entry = (struct entry){.status = (uint8_t)n->status, .len = (uint16_t)len};
		memcpy(entry.id, n->id, strlen(n->id));
		message_put(ret, &entry, sizeof(entry));
		message_put(ret, n->name, entry.len);
	}
	return c.error;
}

/* ---- the requests ---- */

static const struct helper_kind kind = {
	.answer = answer, .memory = MEMORY, .limits = {.cpu_us = CPU_US, .waits = 1}};

void container_reader_begin(struct container_reader *reader)
{
	reader->end_us = clock_us(CLOCK_MONOTONIC) + reader->patience_us;
}

/* Takes what the helper has found for some containers. */
static int store_answer(struct container_search *c, size_t first, size_t count,
			const struct helper_message *m)
{
	size_t pos = 0;

	for (size_t i = first; i < first + count; i++) {
		struct nameless *n = &c->item[i];
		struct container_name found;
		struct entry entry;
		const char *name;

		if (!message_get(m, &pos, &entry, sizeof(entry)))
			return -EBADMSG;
		name = message_next(m, &pos, entry.len);
		if (!name || strncmp(entry.id, n->id, sizeof(entry.id)) != 0 ||
		    (entry.len && name[entry.len - 1]))
			return -EBADMSG;
		if (entry.len && !container_name_parse(part_of(name), &found))
			return -EBADMSG;
		if (entry.len)
			container_set_name(c, n, &found);
		else if (entry.status > CONTAINER_NAMED && entry.status < CONTAINER_STATUS_COUNT)
			n->status = (enum container_status)entry.status;
	}
	return 0;
}

static void set_lost(struct container_search *c, size_t first, int error)
{
	for (size_t i = first; i < c->count; i++) {
		if (c->item[i].status == CONTAINER_UNNAMED)
			c->item[i].status = error == -ETIMEDOUT || error == -EBUSY
						    ? CONTAINER_TIMEOUT
					    : error == -EBADMSG ? CONTAINER_INVALID
								: CONTAINER_LARGE;
	}
}

/*
 * The entry of a user. For a user without an entry, that of the user who is asked again first, or a
 * new one.
 */
static struct container_lost *find_lost(struct container_reader *reader, uid_t uid)
{
	struct container_lost *first = &reader->lost[0];

	for (size_t i = 0; i < reader->lost_count; i++) {
		struct container_lost *l = &reader->lost[i];

		if (l->uid == uid)
			return l;
		if (l->again_us < first->again_us)
			first = l;
	}
	if (reader->lost_count < CONTAINER_LOST_MAX)
		first = &reader->lost[reader->lost_count++];
	*first = (struct container_lost){.uid = uid};
	return first;
}

void container_reader_lose(struct container_reader *reader, uid_t uid, uint64_t now_us)
{
	struct container_lost *l = find_lost(reader, uid);
	uint64_t wait = CONTAINER_LOST_US;

	/* The last loss is long ago. */
	if (l->again_us + CONTAINER_LOST_MAX_US < now_us)
		l->times = 0;
	for (unsigned i = 0; i < l->times && wait < CONTAINER_LOST_MAX_US; i++)
		wait *= 2;
	l->times++;
	l->again_us = now_us + (wait < CONTAINER_LOST_MAX_US ? wait : CONTAINER_LOST_MAX_US);
}

bool container_reader_waits(const struct container_reader *reader, uid_t uid, uint64_t now_us)
{
	for (size_t i = 0; i < reader->lost_count; i++) {
		if (reader->lost[i].uid == uid)
			return now_us < reader->lost[i].again_us;
	}
	return false;
}

void container_ask_user(struct container_reader *reader, struct container_search *c, gid_t gid,
			const char *home)
{
	const size_t most = (HELPER_DATA / 2) / (sizeof(struct entry) + CONTAINER_NAME_MAX + 1);
	cleanup_free struct helper *h = NULL;
	int r = 0;

	if (container_reader_waits(reader, c->uid, clock_us(CLOCK_MONOTONIC))) {
		set_lost(c, 0, -ETIMEDOUT);
		return;
	}
	h = calloc(1, sizeof(*h));
	if (!h) {
		c->error = -ENOMEM;
		return;
	}
	reader->helpers.hurry_fd = -1;
	helper_init(h, &kind, c->uid, gid, NULL, &reader->helpers);
	for (size_t i = 0; r == 0 && i < c->count;) {
		size_t count = c->count - i < most ? c->count - i : most;
		uint64_t now = clock_us(CLOCK_MONOTONIC);

		h->limits.idle_us = now + LAST_US < reader->end_us ? reader->end_us - now : LAST_US;
		helper_begin(h, 0);
		message_put(&h->request, home, strlen(home) + 1);
		message_put(&h->request, &c->uid, sizeof(c->uid));
		message_put_fd(&h->request, c->root);
		for (size_t k = i; k < i + count; k++) {
			struct entry entry = {};

			strncpy(entry.id, c->item[k].id, CONTAINER_ID_LEN);
			message_put(&h->request, &entry, sizeof(entry));
		}
		r = helper_call(h, 0);
		if (r == 0)
			r = store_answer(c, i, count, &h->answer);
		if (r == 0)
			i += count;
		else
			set_lost(c, i, r);
		if (helper_lost(r))
			container_reader_lose(reader, c->uid, clock_us(CLOCK_MONOTONIC));
	}
	helper_done(h);
}
