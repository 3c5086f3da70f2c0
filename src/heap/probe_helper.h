/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Attaches programs to functions of a file, in one process. To attach reads the file, which may be
 * on a file system of any user, so a helper does it: the descriptors that it returns are links, and
 * end with the last process that holds them.
 */
#ifndef ZMEM_HEAP_PROBE_HELPER_H
#define ZMEM_HEAP_PROBE_HELPER_H

#include "privilege/helper.h"

#define PROBES_MAX 64 /* functions of a file */

struct probe_place {
	uint64_t offset; /* in the file */
	uint64_t cookie; /* enum zmem_heap_function, and words of enum zmem_heap_argument */
};

/* Programs (bpf/malloc.bpf.h), and what they are attached by. */
struct probe_programs {
	int session; /* both ends of a call */
	int enter, leave;
	int pmu; /* the type of the kernel's PMU of uprobes; -1: it has none */
};

/* How they are attached: what this kernel has, the cheapest first. */
enum probe_way {
	WAY_SESSION, /* Linux 6.13: the return is looked at where the beginning wants it */
	WAY_MULTI,   /* Linux 6.6 */
	WAY_EVENTS,  /* needs CAP_SYS_ADMIN */
};

struct probe_helper {
	struct helper helper;
	enum probe_way way; /* that is tried next */
	struct probe_programs programs;
};

/* helper_done() ends it. */
void probe_helper_init(struct probe_helper *h, struct helpers *shared);
/*
 * Attaches to all of these functions in a process, also in threads and programs that it begins.
 * `found`: an O_PATH descriptor of the file. The caller closes the *ret_count descriptors, at most
 * 2 * PROBES_MAX. Returns 0 or a negative errno: those of bpf(2), perf_event_open(2) and
 * helper_call(); nothing is attached then.
 */
int probe_attach(struct probe_helper *h, int found, pid_t pid, const struct probe_place *place,
		 size_t count, int *ret, size_t *ret_count);

/*
 * Closes such descriptors, and those that are -1. For each the kernel waits some ten milliseconds
 * (synchronize_rcu_tasks_trace()), for several at once not longer: threads close them side by side.
 */
void probe_detach(int *fd, size_t count);

/*
 * Whether a probe of a return does harm to a program with a filter of system calls (seccomp): the
 * helper has one, and tries it at a function of its own. Returns 0, -ECHILD if it was ended, or
 * another negative errno if it could not try.
 */
int probe_try_filter(struct probe_helper *h);

/* What a probe costs the program at each call, ns. */
struct probe_cost {
	uint64_t emulated_ns; /* where the kernel does the instruction itself */
	uint64_t stepped_ns;  /* where it does not: ZMEM_HEAP_STEPPED */
	uint64_t return_ns;   /* in addition, of a call of which the return is looked at */
};

/*
 * The helper measures it with functions of its own. Where a return cannot be tried it is taken for
 * as expensive as a beginning. Returns 0 or a negative errno, and then *ret is unchanged.
 */
int probe_cost(struct probe_helper *h, struct probe_cost *ret);

#endif
