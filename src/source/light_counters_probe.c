// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The only file that includes the light skeleton of bpf/task_counters_probe.bpf.c. */
#include <errno.h> /* the generated header needs it first */
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-function"
#include "task_counters_probe.lskel.h"
#pragma GCC diagnostic pop

#include "source/light.h"

#define SKEL task_counters_probe
#define ITER task_counters
#define LOAD light_counters_probe_load
#include "source/light_load.inc.h"
