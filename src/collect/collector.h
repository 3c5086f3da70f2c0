/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The engine: opens the sources of a collect_spec once and answers many queries from them. It
 * prints nothing and knows no option. Notices, missing pids and differences are data, which
 * src/cli/measure.c puts into words.
 */
#ifndef ZMEM_COLLECT_COLLECTOR_H
#define ZMEM_COLLECT_COLLECTOR_H

#include "base/diag.h"
#include "collect/collect_spec.h"
#include "enrich/enrich.h"
#include "query/query.h"
#include "query/result.h"

enum collect_phase {
	COLLECT_PHASE_LOAD, /* opening the source, and the programs for files and swap */
	COLLECT_PHASE_READ, /* reading all counters */
	COLLECT_PHASE_FILTER,
	COLLECT_PHASE_PSS, /* smaps_rollup */
	COLLECT_PHASE_VERIFY,
	COLLECT_PHASE_NAMES, /* and order, cut, totals */
	COLLECT_PHASES,
};

/* Facts for the user. A notice stays set. */
enum collect_notice {
	COLLECT_NOTICE_FALLBACK = 1 << 0,	/* counters come from /proc: fallback_reason */
	COLLECT_NOTICE_ROLLUP = 1 << 1,		/* PSS comes from smaps_rollup: pss_reason */
	COLLECT_NOTICE_NO_PROC = 1 << 2,	/* PSS is not read: no_proc */
	COLLECT_NOTICE_PTRACE_MISSING = 1 << 3, /* PSS is denied: snapshot.collection.denied */
	COLLECT_NOTICE_HIDDEN = 1 << 4,		/* /proc hides processes of other users */
	COLLECT_NOTICE_ALONE = 1 << 5,		/* no thread could be started */
	COLLECT_NOTICE_NO_CMDLINES = 1 << 6,	/* the recording holds no command lines */
	COLLECT_NOTICE_UNREADABLE = 1 << 7,	/* --verify: verify_readable of verify_count */
	COLLECT_NOTICE_CGROUPS = 1 << 8,	/* cgroups_left_out of the collection */
	COLLECT_NOTICE_SLOTS = 1 << 9,		/* swap slots differed from smaps_rollup */
	COLLECT_NOTICE_PSS_LOST = 1 << 10, /* snapshot.pss_fallback_reason, since the opening */
};

/* Why /proc cannot be used for processes. */
enum collect_no_proc {
	COLLECT_PROC_USABLE,
	COLLECT_PROC_ABSENT,
	COLLECT_PROC_FOREIGN, /* of another pid namespace */
};

/* Why a pid in the filter has no row. */
enum collect_absence {
	COLLECT_NO_PROCESS,
	COLLECT_THREAD,		  /* of another process */
	COLLECT_NOT_IN_NAMESPACE, /* BPF does not see it, and there is no /proc */
	COLLECT_NOT_IN_BPF,
	COLLECT_NOT_IN_PROC,
};

struct collect_missing {
	pid_t pid;
	enum collect_absence why;
	pid_t process; /* COLLECT_THREAD: the process that it is a thread of */
};

/* What is said of a COLLECT_THREAD: its number, then that of its process. */
#define COLLECT_THREAD_TEXT "%d is a thread of process %d"

/* A process whose PSS from the kernel differs from smaps_rollup. */
struct collect_difference {
	pid_t pid;
	bool execed; /* it executed another program meanwhile; there are no values */
	enum counter counter;
	uint64_t kernel, rollup; /* bytes */
};

enum collect_step {
	COLLECT_STARTING,
	COLLECT_OPENING_PROC,
	COLLECT_OPENING_SOURCE,
};

struct collector {
	struct collect_spec spec;
	struct procfs proc;
	pid_t self;			/* the process that collects; 0 with a recording */
	struct source *source;		/* NULL with a recording */
	struct files_source *files;	/* NULL if no files are summed, or they cannot be */
	struct holders_source *holders; /* NULL unless swapped shared memory is asked for */
	struct swap_source *swap;	/* NULL while swap slots cannot be read */
	struct diag diag;		/* why a source did not open */
	char reason[RECORDING_REASON];	/* why a frame cannot be read */
	enum collect_step step;		/* the step of collector_open() that failed */
	struct proc_pool *pool;		/* NULL before the first use */
	struct user_table *users;	/* also made by collector_find_user() */
	struct name_cache *names;	/* NULL unless continuous */
	struct container_reader containers;
	struct snapshot snapshot;
	struct query_rows rows;
	char *fallback_reason;	  /* NULL: counters come from BPF, or /proc was requested */
	unsigned notices;	  /* enum collect_notice */
	enum collect_phase phase; /* the current one, or the one that failed */
	uint64_t phase_us[COLLECT_PHASES];
	/* Of the first snapshot. */
	struct collect_missing *missing;
	size_t missing_count;
	/* Of the newest snapshot; valid until the next one. */
	struct collect_difference *difference;
	size_t difference_count;
	size_t pss_wrong; /* of them: how many show that PSS from the kernel is wrong */
	size_t verify_readable, verify_count; /* processes with PSS from the kernel */
	/* Private. */
	struct snapshot again[2]; /* of some processes, for comparisons */
	struct snapshot unseen;	  /* pids that /proc shows and BPF does not */
	bool looked_for_missing;
	bool no_slots; /* swap slots cannot be read here, or were wrong */
	/* SWAP_SHMEM of processes without it is in smaps_rollup alone. */
	bool swap_shmem_known;
	uint64_t memcg_left_us; /* for reading memory cgroups until the next query */
};

/* The state that must be set before collector_open(), and the state after collector_close(). */
#define COLLECTOR_CLOSED ((struct collector){.proc.fd = -1})

/*
 * Returns 0 or a negative errno, with c->step and the reason in c->diag: -ENOTSUP if PSS_KERNEL
 * is not possible (collector_pss_refusal()). collector_close() in either case. With a recording,
 * collector_turn_to() comes first.
 */
int collector_open(struct collector *c, const struct collect_spec *spec);
/*
 * The process of the snapshot that this number is a thread of; 0: of none. Asks the kernel, without
 * /proc and with any rights, so the snapshot must be of this machine and pid namespace.
 */
pid_t collect_process_of_thread(const struct snapshot *s, pid_t number);
/*
 * Takes a snapshot and answers the query. The result borrows from both until the next call.
 * Returns 0 or a negative errno: -ESTALE if the pin was removed, -E2BIG if the pattern is too
 * expensive.
 */
int collector_collect(struct collector *c, const struct query *q, struct result *ret);
/* The first part: reads the counters and filters; does not read PSS. Returns the same. */
int collector_begin(struct collector *c, const struct query *q);
/* Answers another query from the same snapshot. Returns the same. */
int collector_requery(struct collector *c, const struct query *q, bool filter_changed,
		      struct result *ret);
/* Names rows of a result (lazy_names). Returns 0 or a negative errno. */
int collector_name_rows(struct collector *c, const struct query *q, struct process **rows,
			size_t count);
void collector_close(struct collector *c);

/* The workers that read /proc, started at the first call. NULL without memory. */
struct proc_pool *collector_pool(struct collector *c);
enum collect_no_proc collector_no_proc(const struct collector *c);
/* Why PSS does not come from the kernel; NULL if it does. */
const char *collector_pss_refusal(const struct collector *c);
/* True if the collector reads a recording. */
bool collector_replays(const struct collector *c);
/*
 * Selects the frame of the recording, from 1 on, for the next snapshot. Call it before each
 * collector_begin() and collector_collect(). Returns 0, or a negative errno and c->reason: the
 * snapshot is then as before.
 */
int collector_turn_to(struct collector *c, uint32_t frame);
/*
 * The number of a user. A recording has the users of its processes: those of the newest snapshot
 * and of the last frame. Can be called before collector_open(). Returns 0, -ENOENT, or -ENOMEM.
 */
int collector_find_user(struct collector *c, const char *name, uid_t *ret_uid);
/*
 * Gives groups, or processes with their cgroup, the values of their memory cgroups: the details
 * only if they are in `needs`, or recorded.
 */
int collector_charge(struct collector *c, struct rows *rows, unsigned needs);
/*
 * Adds the memory cgroups of all groups that the chosen rows can form to the snapshot, in a
 * recording or for several queries. Returns 0 or a negative errno.
 */
int collector_read_memcgs(struct collector *c, bool details);
/* Updates the notice that no thread could be started. */
void collector_note_alone(struct collector *c);

#endif
