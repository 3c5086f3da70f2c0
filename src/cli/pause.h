/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waiting between readings that did not agree. A machine with more to do than it has CPUs lets
 * others run just when we wait for a reading, so that each is met at a point of its own, over and
 * over. What waits by chance before each reading meets them all at any point, and agrees in the
 * end.
 */
#ifndef ZMEM_CLI_PAUSE_H
#define ZMEM_CLI_PAUSE_H

/* Before a round, 1 and up: not at all, then a little longer each time. */
void pause_before_round(unsigned round);
/* Between two readings of a round. */
void pause_between(unsigned round);

#endif
