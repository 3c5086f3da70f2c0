// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Whether it grew, shrank, began or ended. */
#include "model/change.h"

enum change_state group_change_state(const struct group_change *c)
{
	if (!group_change_has_before(c) || !group_change_has_after(c))
		return CHANGE_UNKNOWN;
	if (!c->procs_before)
		return CHANGE_BEGAN;
	if (!c->procs_after)
		return CHANGE_ENDED;
	return c->after == c->before  ? CHANGE_SAME
	       : c->after > c->before ? CHANGE_GREW
				      : CHANGE_SHRANK;
}

const char *change_state_name(enum change_state state)
{
	static const char *const name[] = {
		[CHANGE_SAME] = "same",	  [CHANGE_GREW] = "grew",   [CHANGE_SHRANK] = "shrank",
		[CHANGE_BEGAN] = "began", [CHANGE_ENDED] = "ended", [CHANGE_UNKNOWN] = NULL};

	return name[state];
}
