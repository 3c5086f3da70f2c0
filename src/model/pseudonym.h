/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Replaces the names in a snapshot: the same name gets the same pseudonym, with the same key. */
#ifndef ZMEM_MODEL_PSEUDONYM_H
#define ZMEM_MODEL_PSEUDONYM_H

#include <stdint.h>

#include "model/snapshot.h"

/* Random and secret. */
struct pseudonym_key {
	uint64_t k[2];
};

/*
 * Programs, users, cgroups (each component of a path), units, containers, pods and the machine get
 * pseudonyms; command lines and ids of containers are removed. Numbers, such as pids and uids,
 * stay. Returns 0 or -ENOMEM, and then names may be left.
 */
int snapshot_hide_names(struct snapshot *s, const struct pseudonym_key *key);

#endif
