/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What bpf/ended.bpf.c keeps of processes that ended: sums of those of one name in one cgroup. Each
 * sum is of a turn; user space begins another turn, then reads and removes those of the turn
 * before.
 */
#ifndef ZMEM_ENDED_H
#define ZMEM_ENDED_H

#include "zmem/oom.h"

/* Sums, and paths of cgroups, of both turns. What has no room is in the rest. */
#define ZMEM_ENDED_SUMS	 1024
#define ZMEM_ENDED_PATHS 256
#define ZMEM_ENDED_TURNS 2

/* User space writes it. */
struct zmem_ended_settings {
	__u32 turn;  /* 0 or 1 */
	__u32 least; /* pages: processes with a lower peak are in the rest */
};

struct zmem_ended_key {
	__u64 cgroup; /* its number; 0: not known */
	__u64 comm[2];
	__u64 turn;
};

struct zmem_ended_sum {
	__u64 count; /* processes */
	__u64 peak;  /* pages: the highest of all */
};

/* The path of a cgroup. That of the reader's root has the number 0 and the turn ZMEM_ENDED_TURNS.
 */
struct zmem_ended_path_key {
	__u64 cgroup;
	__u64 turn;
};

struct zmem_ended_path {
	struct zmem_oom_path path;
	__u64 names[ZMEM_OOM_PATH_WORDS];
};

#endif
