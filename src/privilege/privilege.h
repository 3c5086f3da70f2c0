/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Capabilities: which of the needed ones this process holds, and how it drops the others. A dropped
 * capability never comes back. Capabilities belong to a thread: drop them before there is a second
 * thread.
 *
 *   start     keeps what loading, reading and writing need; effective: what loading needs
 *   loaded    drops those for BPF: an iterator can be read without a capability
 *   caller    makes effective what the caller may do to files without us, and nothing that
 *             opens the memory, or /proc/PID/cwd, of other users
 *   leave     instead of loaded: drops everything, and root becomes the user nobody
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

/* The name of the capability: "CAP_BPF" … */
const char *privilege_name(enum privilege privilege);
/*
 * True if it is effective; CAP_SYS_ADMIN implies the first two, as in the kernel. Only capabilities
 * of the first user namespace count (capable(), kernel/capability.c): in another one CAP_SYS_PTRACE
 * has an effect on the processes of that namespace alone, and the others have none.
 */
bool privilege_held(enum privilege privilege);
/* True if programs can be loaded: the first two are held. */
bool privilege_loads(void);
/* True in the user namespace that the machine started with, and if /proc does not tell. */
bool privilege_is_first_namespace(void);

/* The permitted capabilities; bit n is capability number n. */
uint64_t privilege_mask(void);
/*
 * Writes their names to buf, separated by commas, or "none", or their number if there are too many.
 */
void privilege_names(uint64_t mask, char *buf, size_t cap);

/*
 * These functions return 0 or a negative errno. `trusted`: the caller may also write files with the
 * capabilities of this process. `records`: the kernel's log will be opened and a PSI trigger set
 * before privilege_loaded() (CAP_SYSLOG, CAP_SYS_RESOURCE). `opens`: files that processes map will
 * be opened, as their users (CAP_CHECKPOINT_RESTORE, CAP_SETUID, CAP_SETGID, CAP_KILL), a thread
 * may have priority until privilege_loaded() (CAP_SYS_NICE), and what may be needed for
 * LATER_EVENTS is kept. `lists`: objects of BPF will be listed before privilege_loaded()
 * (CAP_SYS_ADMIN).
 */
int privilege_start(bool trusted, bool records, bool opens, bool lists);
/* What comes after privilege_loaded(). */
enum privilege_later {
	LATER_WRITES = 1 << 0, /* files are written, with the remaining capabilities */
	LATER_LOCKS = 1 << 1,  /* memory is locked */
	LATER_OPENS = 1 << 2,  /* files that processes map are opened */
	LATER_LOADS = 1 << 3,  /* other programs are loaded at a trusted caller's request */
	LATER_READS = 1 << 5,  /* files of a recording are opened as the caller */
	LATER_PROBES = 1 << 6, /* programs are attached to code of processes, by a helper */
	LATER_EVENTS = 1 << 7, /* by perf events (CAP_SYS_ADMIN) */
	LATER_NAMES = 1 << 4,  /* files of users are read, by helpers that have their rights */
};

int privilege_loaded(unsigned later, bool trusted);
/*
 * Between true and false this thread has only the rights of the caller: every path that a user
 * names is opened, created, bound and removed in between. Effective is what a trusted caller has
 * for files, and what locked memory needs.
 */
int privilege_as_caller(bool on);
/* open(2) with the rights of the caller. Returns a descriptor or a negative errno. */
int privilege_open(const char *path, int flags);
/* Keeps only what opens /proc/PID/map_files and the like of other users. */
int privilege_opens(void);
/*
 * Lets this thread run before threads of other programs, if it may. In either case the thread has
 * no capability afterwards but the one to lock memory.
 */
int privilege_hurry_thread(void);
/* Keeps only what attaches programs to code of other processes. */
int privilege_attaches(void);
/* True if this process may become another user. */
bool privilege_can_leave(void);
/* Drops all capabilities for good and, if it can, becomes that user without other groups. */
int privilege_leave(uid_t uid, gid_t gid);
/* SIGKILL for a child, which may have become another user. Returns 0 or a negative errno. */
int privilege_kill(pid_t pid);

#endif
