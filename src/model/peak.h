/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The highest memory that processes and all their descendants ever had at one moment. */
#ifndef ZMEM_MODEL_PEAK_H
#define ZMEM_MODEL_PEAK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct snapshot;

/* The most points of the curve: each two become one when there are more. */
#define PEAK_POINTS 1000
/* Processes with a row of their own, at most: those with the highest peaks. */
#define PEAK_PROCESSES 4096

enum peak_method {
	PEAK_EXACT,  /* each change of a counter was added */
	PEAK_SAMPLE, /* /proc was read again and again */
};

/* Bytes of one process, or of all. */
struct peak_bytes {
	uint64_t rss, anon, file, shmem, swap;
};

struct peak_process {
	pid_t pid, ppid;      /* ppid 0: not known */
	char name[16];	      /* comm; any bytes */
	struct peak_bytes at; /* at the peak of all; zeros: it held nothing then */
	uint64_t most;	      /* the highest RSS of its own */
	uint64_t pss;	      /* when PSS was read */
	bool pss_known;
	/* `most` is not known: its memory was that of its parent, or no sample met it. */
	bool shared;
	bool ended;
};

/* The highest sum between the point before and this one. */
struct peak_point {
	uint64_t offset_us;
	uint64_t rss;
};

struct peak {
	const struct snapshot *snapshot; /* the machine */
	char *const *command;		 /* NULL: processes that ran */
	int exit_code;			 /* of the command; -1: it has none */
	int signal;			 /* that killed it; 0: none */
	enum peak_method method;
	uint64_t duration_us;
	/* The peak. `unseen`: no sample met any memory, and it is not known. */
	bool unseen;
	int64_t time_ms;
	uint64_t offset_us; /* since the beginning */
	struct peak_bytes at;
	uint32_t held_by; /* so many processes were there */
	/* The sum may be wrong by so much; not known of samples. */
	bool error_known;
	uint64_t error;
	/* PSS of all, where it was read at the highest sum that was met. */
	bool pss_known;
	uint64_t pss, pss_rss;	/* RSS at that moment */
	uint64_t pss_offset_us; /* when it was */
	const char *pss_reason; /* why it is not known */
	/* What is not in it. */
	uint64_t no_room;     /* address spaces */
	uint64_t lost;	      /* processes of which no message tells */
	uint64_t missed;      /* events */
	uint64_t still;	      /* processes that run on */
	uint64_t interval_us; /* of samples */
	/* All processes, the largest part of the peak first. */
	uint64_t all;
	struct peak_process *process;
	size_t processes;
	struct peak_point *point;
	size_t points;
};

/* How many of the last rows held nothing at the peak. */
static inline size_t peak_holds_nothing(const struct peak *p)
{
	size_t holders = 0;

	while (holders < p->processes && p->process[holders].at.rss)
		holders++;
	return p->processes - holders;
}

#endif
