// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Table of connections with a time limit for each state. */
#include "serve/connections.h"

#define SECOND UINT64_C(1000000)

static const uint64_t limit_us[] = {
	[SLOT_REQUEST] = 10 * SECOND,
	[SLOT_ANSWER] = 30 * SECOND,
	/* A client that scrapes once a minute keeps its connection. */
	[SLOT_IDLE] = 75 * SECOND,
};

bool connections_full(const struct connections *s)
{
	return connections_used(s) >= CONNECTIONS_MAX - s->closed;
}

struct slot *connections_add(struct connections *s, int fd, uint64_t source, uint64_t now_us)
{
	for (size_t i = 0; i < CONNECTIONS_MAX - s->closed; i++) {
		if (s->slot[i].state != SLOT_FREE)
			continue;
		s->slot[i] = (struct slot){
			.state = SLOT_REQUEST, .fd = fd, .source = source, .since_us = now_us};
		return &s->slot[i];
	}
	return NULL;
}

struct slot *connections_find(struct connections *s, int fd)
{
	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		if (s->slot[i].state != SLOT_FREE && s->slot[i].fd == fd)
			return &s->slot[i];
	}
	return NULL;
}

void slot_set(struct slot *slot, enum slot_state state, uint64_t now_us)
{
	if (slot->state == SLOT_LEAVING && state != SLOT_FREE)
		return;
	slot->state = state;
	slot->since_us = now_us;
}

/* A connection that waits for a snapshot is not at fault and stays. */
static bool is_evictable(const struct slot *s)
{
	return s->state == SLOT_REQUEST || s->state == SLOT_ANSWER || s->state == SLOT_IDLE;
}

static size_t count_of_source(const struct connections *s, uint64_t source)
{
	size_t n = 0;

	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		n += s->slot[i].state != SLOT_FREE && s->slot[i].source == source;
	return n;
}

struct slot *connections_victim(struct connections *s)
{
	struct slot *victim = NULL;
	size_t most = 0;

	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		struct slot *at = &s->slot[i];
		size_t n;

		if (at->state == SLOT_LEAVING)
			return NULL;
		if (!is_evictable(at))
			continue;
		n = count_of_source(s, at->source);
		if (!victim || n > most || (n == most && at->since_us < victim->since_us)) {
			victim = at;
			most = n;
		}
	}
	return victim;
}

struct slot *connections_overdue(struct connections *s, uint64_t now_us)
{
	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		struct slot *at = &s->slot[i];

		if (is_evictable(at) && now_us - at->since_us > limit_us[at->state])
			return at;
	}
	return NULL;
}

size_t connections_used(const struct connections *s)
{
	size_t n = 0;

	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		n += s->slot[i].state != SLOT_FREE;
	return n;
}
