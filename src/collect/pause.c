// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sleeps for a random time. */
#include "collect/pause.h"

#include <stdint.h>
#include <sys/random.h>
#include <time.h>

#define MS_NS	1000000
#define LONGEST 5 /* rounds from which on it does not get longer */

static void sleep_up_to(long ns)
{
	struct timespec t = {.tv_nsec = ns / 2};
	uint16_t random = 0;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) == sizeof(random))
		t.tv_nsec = ns / UINT16_MAX * random;
	nanosleep(&t, NULL);
}

void pause_before_round(unsigned round)
{
	if (round > 1)
		sleep_up_to((long)(round < LONGEST ? round : LONGEST) * 4 * MS_NS);
}

void pause_between(unsigned round)
{
	if (round > 1)
		sleep_up_to(2 * MS_NS);
}
