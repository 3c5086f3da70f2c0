/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Puts what a collector notices into words, each once, and into the exit code of the command. */
#ifndef ZMEM_CLI_NOTICES_H
#define ZMEM_CLI_NOTICES_H

#include "cli/options.h"
#include "collect/collector.h"

struct notices {
	const struct options *options;
	unsigned said; /* enum collect_notice */
	bool said_missing;
	int exit_code; /* EXIT_DONE, EXIT_NOT_FOUND or EXIT_DIFFERENT */
};

/*
 * After collector_open() returned `error`; before capabilities are given up. Returns 0, or an exit
 * code after a message.
 */
int notices_opened(struct notices *n, const struct collector *c, int error);
/* After each snapshot, whether it failed or not. */
void notices_collected(struct notices *n, const struct collector *c);
/* That no thread could be started: before the collector is closed. */
void notices_alone(struct notices *n, const struct collector *c);
/* A message about a negative errno of collector_collect() and the like. Returns an exit code. */
int notices_failed(const struct notices *n, const struct collector *c, int error);
/* Why /proc says nothing about processes, NULL if it does. */
const char *notices_no_proc(const struct collector *c);

#endif
