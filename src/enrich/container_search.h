/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Looks for the names of containers of one owner in the files that the kubelet and container
 * engines keep.
 */
#ifndef ZMEM_ENRICH_CONTAINER_SEARCH_H
#define ZMEM_ENRICH_CONTAINER_SEARCH_H

#include <stddef.h>
#include <sys/types.h>

#include "base/arena.h"
#include "model/program.h"
#include "model/snapshot.h"
#include "proc/container.h"

/* The owner of a container. */
struct owner {
	uid_t uid; /* 0: the system */
	/* No engine of the owner's on this machine made it: it lies in a container, or is gone. */
	bool foreign;
};

/* A container without a name so far. */
struct nameless {
	struct owner owner;
	bool searched; /* of the first one of an owner: the owner's engines were searched */
	const char *id;
	const char *cgroup;
	size_t pod_path;
	/* In the arena of the search. */
	const char *namespace, *pod, *name;
	enum container_status status; /* why there is no name */
};

struct container_search {
	int root;
	struct arena *arena;
	uid_t uid;	       /* the containers of this owner */
	struct nameless *item; /* by id */
	size_t count, left;    /* `left` have no name yet */
	int error;	       /* without files or memory */
};

void container_search_system(struct container_search *c);
/*
 * `home`: of the user, below the root; "/": no home. It may be on a file system that hangs: call it
 * in a helper (container_user.h).
 */
void container_search_user(struct container_search *c, const char *home);
/* A name that was found; two that differ name nothing. */
void container_set_name(struct container_search *c, struct nameless *n,
			const struct container_name *found);

#endif
