/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who is connected, and who has to go when there is no room or his time is up. Pure: ends nothing
 * itself.
 *
 * Where there is no room, the oldest goes of the source that has the most: one address that holds
 * any number of connections holds up itself alone, and of one address those that are slow make room
 * for those that are quick.
 */
#ifndef ZMEM_SERVE_CONNECTIONS_H
#define ZMEM_SERVE_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONNECTIONS_MAX 128

enum slot_state {
	SLOT_FREE,
	SLOT_REQUEST, /* its first request is not here yet */
	SLOT_WAIT,    /* for a snapshot */
	SLOT_ANSWER,  /* takes its answer */
	SLOT_IDLE,    /* may ask again */
	SLOT_LEAVING, /* was told to go */
};

struct slot {
	enum slot_state state;
	int fd;
	uint64_t source;   /* who he is: an address */
	uint64_t since_us; /* in that state */
	bool loopback;	   /* he came to a loopback address */
};

struct connections {
	struct slot slot[CONNECTIONS_MAX];
	size_t closed; /* so many of them are not to be had: there are no descriptors for them */
};

struct slot *connections_add(struct connections *s, int fd, uint64_t source, uint64_t now_us);
/* NULL: none has it. */
struct slot *connections_find(struct connections *s, int fd);
void slot_set(struct slot *slot, enum slot_state state, uint64_t now_us);
/* Who goes for a newcomer; NULL: nobody can. */
struct slot *connections_victim(struct connections *s);
/* Somebody whose time is up, NULL if there is none. */
struct slot *connections_overdue(struct connections *s, uint64_t now_us);
size_t connections_used(const struct connections *s);

#endif
