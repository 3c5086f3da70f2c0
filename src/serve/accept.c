// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Parses Accept headers: media types and their weights (RFC 9110, 12.5.1). */
#include "serve/accept.h"

#include <string.h>

#include "base/parse.h"

#define WEIGHT_MAX 1000 /* q=1; a weight has at most three decimals */

static unsigned read_weight(const char *s)
{
	unsigned weight = *s == '1' ? WEIGHT_MAX : 0;

	if (!weight && s[0] == '0' && s[1] == '.') {
		s += 2;
		for (unsigned part = WEIGHT_MAX / 10; part && is_digit(*s); part /= 10)
			weight += (unsigned)(*s++ - '0') * part;
	}
	return weight;
}

/* The weight of one item of the list; the item ends at `end`. */
static unsigned weight_of(const char *s, const char *end)
{
	while ((s = memchr(s, ';', (size_t)(end - s)))) {
		s++;
		s += strspn(s, " \t");
		if (parse_same_word("q=", s, 2))
			return read_weight(s + 2);
	}
	return WEIGHT_MAX;
}

/* Returns 0 if the list lacks the type or gives it q=0. */
static unsigned weight(const char *accept, const char *type)
{
	size_t len = strlen(type);

	for (const char *s = accept; *s; s += *s == ',') {
		const char *end;

		s += strspn(s, " \t");
		end = s + strcspn(s, ",");
		if (strcspn(s, ",; \t") == len && parse_same_word(type, s, len))
			return weight_of(s, end);
		s = end;
	}
	return 0;
}

bool accept_open_metrics(const char *accept)
{
	unsigned open = accept ? weight(accept, "application/openmetrics-text") : 0;

	return open && open >= weight(accept, "text/plain");
}
