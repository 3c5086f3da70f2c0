// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Knows when a difference is one. */
#include "cli/pss_judge.h"

#include "base/array.h"

/*
 * Where programs are started without end, those that share libc come and go between two equal
 * readings, by chance and by the order in which the scheduler lets us and them run. So a difference
 * counts only if nothing was started meanwhile, and if it is seen several times.
 *
 * A process that execs without end starts none. It may well be the same large program in both
 * readings and a fresh one in between: whoever opens its smaps_rollup waits for exec_update_lock
 * and reads what there is right behind an exec. Its address space tells.
 */
#define UNDISTURBED_DIFFERENCES 6

/* The values a check compares, and how far apart they may be: smaps_rollup has whole kB. */
static const struct {
	enum counter counter;
	uint64_t tolerance;
} compared[] = {{COUNTER_RSS, 0}, {COUNTER_SWAP, 0}, {COUNTER_PSS, 1024}, {COUNTER_USS, 1024}};

static bool near(uint64_t a, uint64_t b, uint64_t tolerance)
{
	return a > b ? a - b <= tolerance : b - a <= tolerance;
}

/* Whether nothing that is compared moved between two readings. */
static bool stood_still(const struct process *a, const struct process *b)
{
	for (size_t i = 0; i < ARRAY_SIZE(compared); i++) {
		if (a->value[compared[i].counter] != b->value[compared[i].counter])
			return false;
	}
	return !a->starting && !b->starting;
}

bool pss_agrees(const struct process *p, const struct smaps_rollup *counters)
{
	struct process rollup = {};
	const struct pool_result result = {.status = PSS_OK, .counters = *counters};

	if (!rollup_agrees(p, counters))
		return false;
	if (p->pss_source != PSS_FROM_KERNEL)
		return true;
	rollup_apply(&rollup, &result);
	for (size_t i = 0; i < ARRAY_SIZE(compared); i++) {
		enum counter c = compared[i].counter;

		if (process_has(&rollup, c) && process_has(p, c) &&
		    !near(rollup.value[c], p->value[c], compared[i].tolerance))
			return false;
	}
	return true;
}

/* A difference of nothing that moved, in a process that did not exec. */
static enum pss_verdict count_difference(const struct pss_seen *seen, struct pss_doubt *doubt)
{
	if (seen->after->mm_key != doubt->mm_key) {
		doubt->execed |= doubt->mm_key != 0;
		doubt->quiet = 0;
	}
	doubt->mm_key = seen->after->mm_key;
	doubt->quiet += seen->quiet;
	return doubt->quiet < UNDISTURBED_DIFFERENCES ? PSS_VERDICT_MOVED : PSS_VERDICT_DIFFERENT;
}

enum pss_verdict pss_judge(const struct pss_seen *seen, struct pss_doubt *doubt)
{
	const struct process *b = seen->before, *a = seen->after;

	if (!b || !a || seen->rollup->status != PSS_OK)
		return PSS_VERDICT_GONE;
	/* The kernel's walk did not add up this time: there is nothing to compare with. */
	if (seen->row->pss_source == PSS_FROM_KERNEL &&
	    (b->pss_source != PSS_FROM_KERNEL || a->pss_source != PSS_FROM_KERNEL))
		return PSS_VERDICT_MOVED;
	if (pss_agrees(b, &seen->rollup->counters) || pss_agrees(a, &seen->rollup->counters))
		return PSS_VERDICT_SAME;
	doubt->execed |= b->mm_key != a->mm_key;
	return b->mm_key == a->mm_key && stood_still(a, b) ? count_difference(seen, doubt)
							   : PSS_VERDICT_MOVED;
}
