/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Capabilities: which of those we need this process holds, and how it gives up the others. What is
 * given up never comes back. Capabilities belong to a thread: give up before there is a second one.
 *
 *   start     what loading, reading and writing need is kept; in force is what loading needs
 *   loaded    BPF goes: an iterator is read without any capability
 *   caller    in force is what the caller may do to files without us, and nothing that opens
 *             the memory, or /proc/PID/cwd, of other users
 *   leave     instead of loaded: nothing is left, and who was root is nobody
 */
#ifndef ZMEM_PRIVILEGE_H
#define ZMEM_PRIVILEGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum privilege {
	PRIVILEGE_BPF,	   /* CAP_BPF: load programs */
	PRIVILEGE_PERFMON, /* CAP_PERFMON: let them read kernel memory */
	PRIVILEGE_PTRACE,  /* CAP_SYS_PTRACE: smaps_rollup of other users */
	PRIVILEGE_LOCK,	   /* CAP_IPC_LOCK: lock memory without a bound */
	PRIVILEGE_COUNT,
};

/* "CAP_BPF" … */
const char *privilege_name(enum privilege privilege);
/* True if it is effective; CAP_SYS_ADMIN stands for the first two, as the kernel has it. */
bool privilege_held(enum privilege privilege);

/* The permitted capabilities, bit n is the one of number n. */
uint64_t privilege_mask(void);
/* Their names into buf, by commas, "none"; how many there are if there are too many to name. */
void privilege_names(uint64_t mask, char *buf, size_t cap);

/*
 * Each returns 0 or a negative errno. `trusted`: whoever started us may also have his files
 * written with our capabilities.
 */
int privilege_start(bool trusted);
/*
 * `writes`: files will be written, with what is left to write them. `locks`: memory will be locked.
 */
int privilege_loaded(bool writes, bool locks);
/*
 * Between true and false this thread has the caller's own rights: every path that a user names is
 * opened, made, bound and removed in between. In force is what the caller, if trusted, has for
 * files, and what locked memory needs.
 */
int privilege_as_caller(bool on);
/* open(2) with the caller's own rights. Returns a descriptor or a negative errno. */
int privilege_open(const char *path, int flags);
/* Whether this process may become another user. */
bool privilege_can_leave(void);
/* For good: gives up all capabilities and, where it can, becomes that user without other groups. */
int privilege_leave(uid_t uid, gid_t gid);

#endif
