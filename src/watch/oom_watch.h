/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Watches OOM kills from inside the kernel (bpf/oom_kill.bpf.c): each kill comes with the exact
 * counters of the victim and, for a recorder, once an episode of every process at that moment. It
 * may also watch signals by which processes end others (bpf/signals.bpf.h).
 */
#ifndef ZMEM_WATCH_OOM_WATCH_H
#define ZMEM_WATCH_OOM_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "model/snapshot.h"
#include "proc/oom_line.h"
#include "zmem/oom.h"

struct oom_watch;

/*
 * The victim's cgroup, as the kernel side read it: paths from the root of the hierarchy with the
 * memory controller; "" unless they are known.
 */
struct oom_cgroup {
	enum zmem_oom_path_status status;
	char path[OOM_CGROUP_MAX];
	char memory[OOM_CGROUP_MAX]; /* the same, or the one above it that it is charged to */
	char root[OOM_CGROUP_MAX];   /* of our cgroup namespace */
};

/* Bytes; UINT64_MAX: no limit. */
struct oom_level {
	uint64_t usage, max;
	uint64_t swap_usage, swap_max; /* v1: of memory and swap */
};

/* Why the kernel killed, and the limits of the victim's cgroup, at the moment of the kill. */
struct oom_limits {
	uint32_t call; /* kills of one call are of one group; 0: not known, nor the next three */
	uint32_t constraint; /* enum zmem_oom_constraint */
	int32_t order;
	int at; /* the level that reached its limit; -1: none of these */
	bool v2;
	bool group;				     /* memory.oom.group is set for the victim */
	unsigned count;				     /* 0: they were not read */
	struct oom_level level[ZMEM_OOM_LEVELS + 1]; /* from the memory cgroup of the victim up */
};

/* A process that lived and was not read. */
struct oom_unread {
	pid_t pid;
	uint64_t start_ns;
};

/* A kill, or a signal: a signal has its time, the receiver as its victim, and what was missed. */
struct oom_kill {
	int signal;		/* 0: a kill */
	pid_t sender;		/* of the signal, in our pid namespace; 0: not known */
	uint64_t cgroup_number; /* of its receiver; 0: not known */
	uint64_t boottime_ns;
	uint64_t took_ns;   /* in the kernel, with a spinlock of the victim held */
	int32_t kernel_pid; /* in the first pid namespace */
	int32_t kernel_tid; /* of the thread that the kernel named, likewise */
	pid_t pid;	    /* in ours; 0: the victim was not read */
	bool table;	    /* all processes were read, not the victim alone */
	uint32_t listed;    /* processes in the snapshot */
	uint32_t lost;	    /* processes for which the ring had no room */
	bool late;	    /* the time was over before the last process */
	uint32_t unread;    /* processes that were not read then; more, if not all are counted */
	bool counted;
	const struct oom_unread *unread_list; /* some of them; valid until the next kill */
	size_t unread_listed;
	struct oom_limits limits;
	uint32_t missed; /* kills before this one of which nothing was received */
	struct oom_cgroup cgroup;
	bool counts_known;
	/* What the kernel's log says, if it may be read; it is limited to 10 kills in 5 s. */
	bool line_known;
	struct oom_line line;
	/* Bytes: RSS_ANON, RSS_FILE, RSS_SHMEM, SWAP without their parts per CPU. */
	uint64_t count[4];
};

/*
 * Loads and attaches the program; needs CAP_BPF and CAP_PERFMON, reading needs neither. Opens the
 * kernel's log, which may need CAP_SYSLOG; without it kills have no line of it. `scope`: of
 * which processes counters are read in the kernel. `signals`: they are watched, too. Returns 0, or
 * a negative errno and notes in diag.
 */
int oom_watch_open(enum zmem_oom_scope scope, bool signals, struct diag *diag,
		   struct oom_watch **ret);
/* What the kernel had counted right before kills were watched. */
struct oom_kills oom_watch_before(const struct oom_watch *w);
/* Whether the kernel's log may be read. */
bool oom_watch_reads_log(const struct oom_watch *w);
/* Readable when a kill has come; it stays the property of the watch. */
int oom_watch_fd(const struct oom_watch *w);
/*
 * The next kill that has come. The snapshot is cleared and has its processes, finished
 * (snapshot_finish()), without PSS and without the names that user space adds. Returns 1, 0 if
 * there is none, or a negative errno.
 */
int oom_watch_next(struct oom_watch *w, struct oom_kill *ret, struct snapshot *snapshot);
/* At a kill, processes that are large in this snapshot are read before others. */
void oom_watch_note_large(struct oom_watch *w, const struct snapshot *s);
/* The same for the next signal; the processes are its receiver and its sender. */
int oom_watch_next_signal(struct oom_watch *w, struct oom_kill *ret, struct snapshot *snapshot);
/*
 * Signals of one sender to one cgroup that were only counted since the last call, for which there
 * was no time in the kernel. Returns false if there are none.
 */
struct oom_over {
	int signal;
	pid_t sender;		/* 0: not known */
	uint64_t cgroup_number; /* as of a signal */
	uint64_t count, bytes;	/* of the receivers: anonymous memory and swap */
	uint64_t boottime_ns;	/* of the last one */
};
bool oom_watch_next_over(struct oom_watch *w, struct oom_over *ret);
/* How often the kernel found no process to kill, by its log. */
struct oom_no_victim {
	uint64_t times;
	char cgroup[OOM_CGROUP_MAX]; /* of the last time; "": not known */
};
/*
 * Those since the last call that oom_watch_next() came upon. False: none, or the log may not be
 * read.
 */
bool oom_watch_take_no_victim(struct oom_watch *w, struct oom_no_victim *ret);
void oom_watch_close(struct oom_watch *w);

#endif
