/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is said of the machine. Rows are struct system_report. */
#ifndef ZMEM_FIELDS_SYSTEM_SAID_H
#define ZMEM_FIELDS_SYSTEM_SAID_H

#include "fields/sentence.h"
#include "fields/system_fields.h"

#define NODES_SHOWN 8 /* have a column of their own */

extern const struct sentences system_method_said, system_no_cgroups_said, system_no_nodes_said,
	system_nodes_said, system_gpus_said, system_held_said;

/* Rows are struct ram, the second one of the struct ram that changes are counted from. */
extern const struct sentences ram_deleted_said, ram_state_said;

#endif
