/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Pauses between readings that did not agree. On a busy machine the scheduler may run the target
 * just when we wait for a reading, so each reading meets it at the same point of its work. Random
 * pauses let readings meet it at any point, and in the end they agree.
 */
#ifndef ZMEM_COLLECT_PAUSE_H
#define ZMEM_COLLECT_PAUSE_H

/* Before a round, 1 and up: not at all, then a little longer each time. */
void pause_before_round(unsigned round);
/* Between two readings of a round. */
void pause_between(unsigned round);

#endif
