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
/* Searches the files of the user c->uid. */
void container_ask_user(struct container_reader *reader, struct container_search *c, gid_t gid,
			const char *home);

#endif
