/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files of users, whose homes may be on file systems that hang (FUSE, NFS): a helper with the
 * rights of the user reads them.
 */
#ifndef ZMEM_ENRICH_CONTAINER_USER_H
#define ZMEM_ENRICH_CONTAINER_USER_H

#include "enrich/container_search.h"
#include "enrich/enrich.h"

/* Begins a reading of all users, which may take reader->patience_us. */
void container_reader_begin(struct container_reader *reader);
/* For so long a user is not asked, first; each time twice as long. */
#define CONTAINER_LOST_US     UINT64_C(10000000)
#define CONTAINER_LOST_MAX_US UINT64_C(3600000000)
/* A helper of the user was lost at this moment. */
void container_reader_lose(struct container_reader *reader, uid_t uid, uint64_t now_us);
/* True if the user is not asked now because of that. */
bool container_reader_waits(const struct container_reader *reader, uid_t uid, uint64_t now_us);
/* Searches the files of the user c->uid. */
void container_ask_user(struct container_reader *reader, struct container_search *c, gid_t gid,
			const char *home);

#endif
