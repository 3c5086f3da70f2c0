/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A collector that reads a recording in place of a machine. */
#ifndef ZMEM_COLLECT_COLLECT_RECORDING_H
#define ZMEM_COLLECT_COLLECT_RECORDING_H

#include "collect/collector.h"

/*
 * Turns to the last frame; if continuous, to the first one: later ones may be corrupt. Returns 0,
 * or a negative errno and c->why.
 */
int collect_open_recording(struct collector *c);

#endif
