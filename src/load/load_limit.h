/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A bound on the time of the verifier. A kernel that follows more paths of a program than those we
 * know may look at a million instructions before it refuses the program, which takes minutes on
 * a slow machine. A signal to the thread ends the verifier (kernel/bpf/verifier.c, do_check()).
 */
#ifndef ZMEM_LOAD_LOAD_LIMIT_H
#define ZMEM_LOAD_LOAD_LIMIT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* The time that loading one object may take: 10 s. */
#define LOAD_LIMIT_NS 10000000000ULL

struct load_limit {
	timer_t timer;
	bool armed;	  /* false: there is no bound */
	uint64_t late_ns; /* the thread's processor time from which on the verifier was at work */
	struct sigaction action;
	sigset_t mask;
};

/* Bounds what this thread does until load_limit_end(). Takes the signal SIGRTMIN + 5 until then. */
void load_limit_begin(struct load_limit *limit, uint64_t ns);
/* Returns r; -ETIME in place of the -EAGAIN of a call of bpf(2) that the bound has ended. */
int load_limit_end(struct load_limit *limit, int r);

#endif
