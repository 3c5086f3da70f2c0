// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* /proc/zoneinfo. Of each zone the line with its first frame is the last one. */
#include "model/zones.h"

#include <string.h>

#include "base/parse.h"
#include "proc/lines.h"

/* More than any machine has, so that sums do not overflow. */
#define FRAMES_MAX ((uint64_t)1 << 48)

struct reading {
	struct zones *zones;
	struct zone zone; /* that the current lines describe */
	bool device;
};

static uint64_t number_of(struct text_part rest)
{
	struct text_part word = line_word(&rest);
	uint64_t number = 0;

	return parse_u64(word.s, word.len, FRAMES_MAX, &number) == 0 ? number : 0;
}

static void add_zone(struct reading *r)
{
	struct zones *z = r->zones;
	uint64_t end = r->zone.start + r->zone.spanned, reserve;

	if (r->device || !r->zone.spanned)
		return;
	if (end > z->end)
		z->end = end;
	reserve = r->zone.lowmem + r->zone.high;
	z->reserve += reserve < r->zone.managed ? reserve : r->zone.managed;
	if (z->count == ZONES_MAX)
		z->cut = true;
	else
		z->zone[z->count++] = r->zone;
	/* Values of a zone do not leak into the next one. */
	r->zone = (struct zone){};
}

/* "(0, 3019, 5707)": what other zones' allocations must leave, by the zone that they may use. */
static uint64_t largest_of(struct text_part list)
{
	uint64_t most = 0;

	while (list.len) {
		struct text_part word = line_word(&list);
		uint64_t number;

		part_cut_suffix(&word, ",");
		part_cut_suffix(&word, ")");
		if (word.len && *word.s == '(')
			word.s++, word.len--;
		if (!parse_u64(word.s, word.len, FRAMES_MAX, &number) && number > most)
			most = number;
	}
	return most;
}

static void parse_zone_line(void *arg, struct text_part line)
{
	struct reading *r = arg;
	struct text_part rest = line, word = line_word(&rest);

	if (part_begins(line, "Node ")) {
		r->zone = (struct zone){};
		r->device = memmem(line.s, line.len, "Device", 6);
		word = line_word(&rest);
		part_cut_suffix(&word, ",");
		r->zone.node = (uint32_t)number_of(word);
		return;
	}
	if (part_is(word, "pages"))
		r->zone.free = number_of((line_word(&rest), rest));
	else if (part_is(word, "high"))
		r->zone.high = number_of(rest);
	else if (part_is(word, "spanned"))
		r->zone.spanned = number_of(rest);
	else if (part_is(word, "present"))
		r->zone.present = number_of(rest);
	else if (part_is(word, "managed"))
		r->zone.managed = number_of(rest);
	else if (part_is(word, "protection:"))
		r->zone.lowmem = largest_of(rest);
	else if (part_is(word, "count:") && !r->device)
		r->zones->listed += number_of(rest);
	else if (part_is(word, "start_pfn:")) {
		r->zone.start = number_of(rest);
		add_zone(r);
	}
}

void zones_read(int proc_fd, struct zones *ret)
{
	struct reading r = {.zones = ret};

	ret->count = ret->end = ret->listed = ret->reserve = 0;
	ret->cut = false;
	if (lines_read(proc_fd, "zoneinfo", parse_zone_line, &r) < 0)
		ret->count = ret->end = ret->listed = ret->reserve = 0;
}
