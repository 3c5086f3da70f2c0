// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Knows which signals mean the end. */
#include "cli/end_signals.h"

#include "base/array.h"

void end_signals(sigset_t *ret)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction act;

	sigemptyset(ret);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		if (sigaction(signals[i], NULL, &act) < 0 || act.sa_handler != SIG_IGN)
			sigaddset(ret, signals[i]);
	}
}
