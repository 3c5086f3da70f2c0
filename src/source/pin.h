/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The pin: loaded iterators in a bpffs of our own, for root alone or also for the members of a
 * group. Reading them needs no capability (pin_source.c). Below PIN_PLACE there is a directory for
 * the version of records (ZMEM_RECORD_VERSION) with links of iterators over all tasks. Members of
 * the group cannot list PIN_PLACE, because a process that can list it can lock it.
 */
#ifndef ZMEM_SOURCE_PIN_H
#define ZMEM_SOURCE_PIN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/diag.h"
#include "proc/procfs.h"
#include "zmem/record.h"

#define PIN_PLACE     "/run/zmem-bpf"
#define PIN_TEXT_(n)  #n
#define PIN_TEXT(n)   PIN_TEXT_(n)
#define PIN_VERSION   PIN_TEXT(ZMEM_RECORD_VERSION)
#define PIN_NEWEST    "version"	 /* a symbolic link to the directory of the newest pin */
#define PIN_PSS	      "pss"	 /* walks pages */
#define PIN_COUNTERS  "counters" /* counters alone; always there */
#define PIN_WHY	      "why"	 /* without PIN_PSS: a symbolic link to the reason */
#define PIN_RAM	      "ram"	 /* with PIN_PSS: likewise; where RAM ended, in pages */
#define PIN_MAKER     "maker"	 /* a symbolic link to what pin_maker() says of the program */

#define PIN_FOR_ROOT  ((gid_t)-1) /* instead of a group: root alone */
#define PIN_MAKER_MAX 96

/* Finds a group by name or number. Returns 0, -ENOENT, or another negative errno. */
int pin_group(const char *text, gid_t *ret);
/* Writes the name of a group, or its number, to buf. */
void pin_group_name(gid_t group, char *buf, size_t cap);
/* True if there is a pin, and it is for root alone. Needs no right. */
bool pin_is_for_root(void);
/*
 * What distinguishes this program file from those of other builds: its version, its size and when
 * it was written. Returns 0, or a negative errno without /proc.
 */
int pin_maker(char buf[static PIN_MAKER_MAX]);

/*
 * Loads and pins the best variants of this kernel, and replaces an existing pin. `group` may be
 * PIN_FOR_ROOT. Returns 0, or a negative errno and a note in diag. *ret_refusal: NULL, or why the
 * pin has no PSS; to be freed.
 */
int pin_make(gid_t group, const struct procfs *proc, struct diag *diag, char **ret_refusal);

/* Removes the pin. Returns 0, -ENOENT if there is none, or a negative errno and a note in diag. */
int pin_remove(struct diag *diag);

#endif
