/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is where: below PIN_PLACE a directory for the version of records (ZMEM_RECORD_VERSION), in
 * it links of iterators over all tasks. Members cannot list the place, for who can could lock it.
 */
#ifndef ZMEM_SOURCE_PIN_PLACE_H
#define ZMEM_SOURCE_PIN_PLACE_H

#include <linux/magic.h>
#include <stddef.h>
#include <sys/types.h>

#include "source/pin.h"
#include "zmem/record.h"

#define PIN_TEXT_(n)	#n
#define PIN_TEXT(n)	PIN_TEXT_(n)
#define PIN_VERSION	PIN_TEXT(ZMEM_RECORD_VERSION)
#define PIN_NEWEST	"version"  /* a symbolic link to that directory, whatever it is */
#define PIN_PSS		"pss"	   /* it walks pages */
#define PIN_COUNTERS	"counters" /* counters alone; always there */
#define PIN_WHY		"why"	   /* without PIN_PSS: a symbolic link whose target says why */
#define PIN_REFUSAL_MAX 256

/* The name of a group, or its number, into buf. */
void pin_group_name(gid_t group, char *buf, size_t cap);

#endif
