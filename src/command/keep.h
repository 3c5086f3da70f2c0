/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* zmem-bpf record --keep TIME DIR: snapshots and events without an end, in bounded space. */
#ifndef ZMEM_COMMAND_KEEP_H
#define ZMEM_COMMAND_KEEP_H

#include "session/options.h"

/* Returns the exit code. */
int record_keep(const struct options *o);

/* Opens the file for a trigger on PSI. Returns a descriptor or a negative errno. */
int pressure_open(void);

#endif
