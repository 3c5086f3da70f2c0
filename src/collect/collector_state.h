/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a collector holds, and what its steps share.
 *
 * A collection makes a snapshot of all processes and of the machine, and answers a query from it:
 *
 *   READ    The source reads the counters of all processes: source/source.h.
 *   FILTER  Processes that BPF does not see are counted (unseen.c). Then the machine is read
 *           (enrich/machine.c), and what the spec asks for of it: sums of files and swap slots
 *           (collector.c), the RAM (ram_read.c), GPUs (gpu_read.c). Last the query chooses its rows
 *           (collect_rows.c); names that it filters by are read for that.
 *   PSS     smaps_rollup of chosen rows without PSS from the kernel (pss_read.c)
 *   VERIFY  What came from the kernel is compared with smaps_rollup: check/compare_run.h.
 *   NAMES   Pages one by one (collector.c). Then rows are grouped, ordered, cut and named, and the
 *           totals compared with those of the machine (collect_rows.c, balance.c).
 *
 * A recording has all of it: its snapshots are only filtered and named. oom_moment.c completes the
 * snapshot of an OOM kill, which the kernel side made, with what the last collection knows.
 * maps_read_all.c reads the mappings of the chosen rows, shared_read.c the largest files of shared
 * memory. peak.c measures without a collector.
 */
#ifndef ZMEM_COLLECT_COLLECTOR_STATE_H
#define ZMEM_COLLECT_COLLECTOR_STATE_H

#include "base/diag.h"
#include "check/compare_read.h"
#include "collect/collect_spec.h"
#include "enrich/memcg_rates.h"
#include "query/result.h"
#include "recording/recording_file.h"

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
	COLLECT_NOTICE_UNREADABLE = 1 << 7,	/* --verify: check.unreadable */
	COLLECT_NOTICE_CGROUPS = 1 << 8,	/* cgroups_left_out of the collection */
	COLLECT_NOTICE_SLOTS = 1 << 9,		/* swap slots differed from smaps_rollup */
	COLLECT_NOTICE_PSS_LOST = 1 << 10,  /* snapshot.pss_fallback_reason, since the opening */
	COLLECT_NOTICE_SWAPINS = 1 << 11,   /* swap-ins are not counted */
	COLLECT_NOTICE_FREED = 1 << 12,	    /* FREED is not known: freed_refusal */
	COLLECT_NOTICE_PAGES = 1 << 13,	    /* pages_reason */
	COLLECT_NOTICE_WAITS = 1 << 14,	    /* the time that is lost to memory is not known */
	COLLECT_NOTICE_NO_GPU = 1 << 15,    /* snapshot.gpu.reason */
	COLLECT_NOTICE_NO_KERNEL = 1 << 16, /* kernel_reason */
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
	struct files_source *files;	/* NULL if no files are listed, or they cannot be */
	struct holders_source *holders; /* NULL unless swapped shared memory is asked for */
	struct ram_reader *ram;		/* NULL before it is asked for (spec.ram) */
	struct pages_source *pages;	/* NULL unless spec.pages, or if they cannot be read */
	struct gpu_reader *gpu;		/* NULL unless asked for */
	struct descriptors_source *descriptors; /* NULL: not asked for, or it cannot be read */
	struct arguments_source *arguments;	/* NULL: command lines come from /proc */
	struct swap_source *swap;		/* NULL while swap slots cannot be read */
	struct waits_watch *waits;		/* NULL: not asked for, or the kernel tells */
	struct freed_source *freed;		/* NULL unless asked for, or it cannot be read */
	struct diag diag;			/* why a source did not open */
	char reason[RECORDING_REASON];		/* why a frame cannot be read */
	enum collect_step step;			/* the step of collector_open() that failed */
	struct proc_pool *pool;			/* NULL before the first use */
	struct user_table *users;		/* also made by collector_find_user() */
	struct name_cache *names;		/* NULL unless continuous */
	struct container_reader containers;
	struct snapshot snapshot;
	struct query_rows rows;
	char *fallback_reason;	  /* NULL: counters come from BPF, or /proc was requested */
	unsigned notices;	  /* enum collect_notice */
	enum collect_phase phase; /* the current one, or the one that failed */
	uint64_t phase_us[COLLECT_PHASES];
	/* What the first snapshot did not find. */
	struct collect_missing *missing;
	size_t missing_count;
	struct check check;	    /* of the newest snapshot; valid until the next one */
	struct cross_check checked; /* the newest comparison of a series (spec.seldom) */
	struct check_world {
		uint64_t ram, swap, ksm;
		bool swaps;
	} checked_in; /* and what the machine was like then */
	/* Private. */
	struct snapshot again[2]; /* of some processes, for comparisons */
	struct snapshot unseen;	  /* pids that /proc shows and BPF does not */
	/* Why pages are not read one by one, or their nodes are not known. */
	char pages_reason[192];
	char kernel_reason[160]; /* why KERNEL is not known; empty: it is */
	struct kernel_maps maps; /* of BPF, before ours were loaded */
	struct arena maps_arena;
	bool looked_for_missing;
	bool sums_files; /* of each snapshot */
	char freed_refusal[160];
	bool no_slots; /* swap slots cannot be read here, or were wrong */
	/* SWAP_SHMEM of processes without it is in smaps_rollup alone. */
	bool swap_shmem_known;
	uint64_t memcg_left_us; /* for reading memory cgroups until the next query */
	struct memcg_rates memcg_rates;
	bool limits_alone; /* of the memory cgroups of the snapshot; more of those near one */
	struct machine_totals totals_before;
	struct kill_history kills; /* what happened before it is set by the caller */
	uint32_t frame;		   /* of a recording, from 1: the last one that was turned to */
};

/* The state that must be set before collector_open(), and the state after collector_close(). */
#define COLLECTOR_CLOSED ((struct collector){.proc.fd = -1})

/* The workers that read /proc, started at the first call. NULL without memory. */
struct proc_pool *collector_pool(struct collector *c);
enum collect_no_proc collector_no_proc(const struct collector *c);
/* True if the collector reads a recording. */
bool collector_replays(const struct collector *c);
/* Updates the notice that no thread could be started. */
void collector_note_alone(struct collector *c);
/* Adds the time since *since to the current phase and starts the next one. */
void collector_phase_end(struct collector *c, enum collect_phase next, uint64_t *since);

#endif
