/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tracks the open connections and chooses which one to close when the table is full or a time limit
 * has passed. Pure: the caller closes it.
 *
 * When the table is full, the choice is the oldest connection of the source (peer.h) that has the
 * most. A source with many connections therefore blocks only itself, and its slow connections make
 * room for its quick ones.
 */
#ifndef ZMEM_SERVE_CONNECTIONS_H
#define ZMEM_SERVE_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONNECTIONS_MAX 128

enum slot_state {
	SLOT_FREE,
	SLOT_REQUEST, /* the first request has not arrived in full */
	SLOT_WAIT,    /* waits for a snapshot */
	SLOT_ANSWER,  /* the answer is being sent */
	SLOT_IDLE,    /* may send another request */
	SLOT_LEAVING, /* shut down, not closed yet */
};

struct slot {
	enum slot_state state;
	int fd;
	uint64_t source;   /* the client's user or address */
	uint64_t since_us; /* when this state began */
	bool loopback;	   /* the client connected to a loopback address */
	const char *name;  /* of the address that it connected to, if --listen has a name */
};

struct connections {
	struct slot slot[CONNECTIONS_MAX];
	size_t closed; /* slots that stay unused because the descriptor limit is too low */
};

bool connections_full(const struct connections *s);
/* NULL: the table is full. */
struct slot *connections_add(struct connections *s, int fd, uint64_t source, uint64_t now_us);
/* The connection with this descriptor, or NULL. */
struct slot *connections_find(struct connections *s, int fd);
void slot_set(struct slot *slot, enum slot_state state, uint64_t now_us);
/*
 * The connection to close for a new one. NULL: all wait for a snapshot, or one is leaving, which
 * will free its slot.
 */
struct slot *connections_victim(struct connections *s);
/* A connection that has exceeded its time limit, or NULL. */
struct slot *connections_overdue(struct connections *s, uint64_t now_us);
size_t connections_used(const struct connections *s);

#endif
