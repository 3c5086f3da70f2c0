// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Parses lines "Key:   number kB". A number without its unit may be cut off and is ignored. */
#include <string.h>

#include "base/parse.h"
#include "proc/keyed.h"

bool keyed_next(const char **pos, const char *end, struct keyed_line *ret_line)
{
	while (*pos < end) {
		const char *start = *pos;
		const char *newline = memchr(start, '\n', end - start);
		const char *stop = newline ? newline : end;
		const char *colon = memchr(start, ':', stop - start);

		*pos = newline ? newline + 1 : end;
		if (!colon)
			continue;
		*ret_line = (struct keyed_line){
			.key = start,
			.key_len = colon - start,
			.value = colon + 1,
			.end = stop,
			.whole = newline != NULL,
		};
		return true;
	}
	return false;
}

bool keyed_is(const struct keyed_line *line, const char *name, size_t len)
{
	return line->key_len == len && memcmp(line->key, name, len) == 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Larger values are ignored: the sum of two of them would overflow. */
#define BYTES_MAX ((uint64_t)1 << 62)

/* "  1740 kB" in bytes. Captured files may have a '\r' at the end. */
bool keyed_bytes(const struct keyed_line *line, uint64_t *ret_bytes)
{
	const char *p = line->value;
	uint64_t kb;

	if (!scan_u64(&p, line->end, &kb) || kb >= BYTES_MAX / 1024)
		return false;
	while (p < line->end && is_blank(*p))
		p++;
	if (line->end - p < 2 || p[0] != 'k' || p[1] != 'B')
		return false;
	p += 2;
	while (p < line->end && is_blank(*p))
		p++;
	if (p != line->end)
		return false;
	*ret_bytes = kb * 1024;
	return true;
}

bool keyed_counter(const struct keyed_line *line, struct keyed_counters *counters)
{
	unsigned i = counters->next;

	/* The kernel keeps its order, so the first try usually finds the name. */
	for (unsigned tries = 0; tries < counters->count; tries++, i++) {
		if (i >= counters->count)
			i = 0;
		if (!keyed_is(line, counters->name[i].s, counters->name[i].len))
			continue;
		if (!(counters->have & (1u << i)) && keyed_bytes(line, &counters->value[i]))
			counters->have |= 1u << i;
		counters->next = i + 1;
		return true;
	}
	return false;
}
