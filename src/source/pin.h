/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The pin: loaded iterators in a bpffs of our own, for the members of a group. Reading them needs
 * no capability. pin.c makes and removes the pin, pin_source.c reads it.
 *
 * Below PIN_PLACE there is a directory for the version of records (ZMEM_RECORD_VERSION) with links
 * of iterators over all tasks. Members cannot list PIN_PLACE, because a process that can list it
 * can lock it.
 */
#ifndef ZMEM_PIN_H
#define ZMEM_PIN_H

#include <sys/types.h>

#include "base/diag.h"
#include "proc/procfs.h"
#include "zmem/record.h"

#define PIN_PLACE	"/run/zmem-bpf"
#define PIN_TEXT_(n)	#n
#define PIN_TEXT(n)	PIN_TEXT_(n)
#define PIN_VERSION	PIN_TEXT(ZMEM_RECORD_VERSION)
#define PIN_NEWEST	"version"  /* a symbolic link to the directory of the newest pin */
#define PIN_PSS		"pss"	   /* walks pages */
#define PIN_COUNTERS	"counters" /* counters alone; always there */
#define PIN_WHY		"why"	   /* without PIN_PSS: a symbolic link whose target is the reason */
#define PIN_RAM		"ram"	   /* with PIN_PSS: likewise; where RAM ended, in pages */
#define PIN_REFUSAL_MAX 256

/* Finds a group by name or number. Returns 0, -ENOENT, or another negative errno. */
int pin_group(const char *text, gid_t *ret);
/* Writes the name of a group, or its number, to buf. */
void pin_group_name(gid_t group, char *buf, size_t cap);

/*
 * Loads and pins the best variants of this kernel, and replaces an existing pin. Returns 0, or a
 * negative errno and a note in diag. *ret_refusal: NULL, or why the pin has no PSS; to be freed.
 */
int pin_make(gid_t group, const struct procfs *proc, struct diag *diag, char **ret_refusal);

/* Removes the pin. Returns 0, -ENOENT if there is none, or a negative errno and a note in diag. */
int pin_remove(struct diag *diag);

#endif
