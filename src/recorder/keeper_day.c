// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "recorder/keeper_day.h"

#include <stdio.h>

#include "base/array.h"

static size_t add_count(char *buf, size_t at, uint64_t count, const char *one, const char *more)
{
	int len = snprintf(buf + at, KEEPER_DAY_TEXT - at, ", %llu %s", (unsigned long long)count,
			   count == 1 ? one : more);

	return at + (size_t)len;
}

static void write_day(const struct keeper_sums *was, const struct keeper_sums *now,
		      char ret[KEEPER_DAY_TEXT])
{
	const struct {
		uint64_t count;
		const char *one, *more;
	} lost[] = {
		{now->dropped - was->dropped, "snapshot dropped", "snapshots dropped"},
		{now->failed - was->failed, "snapshot failed", "snapshots failed"},
		{now->kills - was->kills, "kill only counted", "kills only counted"},
		{now->signals - was->signals, "signal only counted", "signals only counted"},
	};
	const uint64_t snapshots = now->snapshots - was->snapshots;
	bool any = false;
	size_t at;
	int len;

	len = snprintf(ret, KEEPER_DAY_TEXT, "%llu snapshot%s, %.1f MB written",
		       (unsigned long long)snapshots, snapshots == 1 ? "" : "s",
		       (double)(now->bytes - was->bytes) / 1e6);
	at = (size_t)len;
	for (size_t i = 0; i < ARRAY_SIZE(lost); i++) {
		if (lost[i].count)
			at = add_count(ret, at, lost[i].count, lost[i].one, lost[i].more);
		any |= lost[i].count > 0;
	}
	if (!any)
		snprintf(ret + at, KEEPER_DAY_TEXT - at, ", nothing lost");
}

bool keeper_day_ends(struct keeper_day *d, uint64_t now_us, const struct keeper_sums *now,
		     char ret[KEEPER_DAY_TEXT])
{
	const bool over = d->began && now_us - d->begun_us >= KEEPER_DAY_US;

	if (over)
		write_day(&d->before, now, ret);
	if (over || !d->began)
		*d = (struct keeper_day){true, now_us, *now};
	return over;
}
