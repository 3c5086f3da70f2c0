// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Memory for rows that stand for several, used again and again. Knows nothing of what is in them.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "query/tree.h"

/* All that a tree takes comes and goes together. */
static int make_larger(struct sums *sums, size_t count)
{
	struct process *item = reallocarray(NULL, count, sizeof(*item));

	if (!item)
		return -ENOMEM;
	free(sums->item);
	free(sums->node);
	sums->item = item;
	sums->node = NULL;
	sums->capacity = count;
	return 0;
}

int sums_reserve(struct sums *sums, size_t count, bool tree)
{
	int r;

	if (room_is_idle(sums->capacity, count, &sums->idle))
		sums_done(sums);
	arena_clear(&sums->text);
	r = rows_reserve(&sums->rows, count);
	if (r == 0 && count >= sums->capacity)
		r = make_larger(sums, count + count / 4 + 1);
	if (r < 0 || !tree)
		return r;
	if (!sums->node)
		sums->node = reallocarray(NULL, sums->capacity, sizeof(*sums->node));
	return sums->node ? rows_reserve(&sums->sorted, count) : -ENOMEM;
}

void sums_done(struct sums *sums)
{
	rows_done(&sums->rows);
	rows_done(&sums->sorted);
	free(sums->item);
	free(sums->node);
	arena_done(&sums->text);
	*sums = (struct sums){0};
}
