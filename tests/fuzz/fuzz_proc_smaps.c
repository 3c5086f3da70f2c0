// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * /proc/PID/smaps: the result does not depend on how the input is cut, and a parsed mapping,
 * printed and parsed again, is the same.
 */
#include <errno.h>
#include <inttypes.h>

#include "fuzz.h"
#include "proc/smaps.h"

struct seen {
	size_t count;
	uint64_t hash;
	const struct mapping *same; /* the expected mapping, if only one */
};

static void mix(struct seen *s, const void *data, size_t len)
{
	const unsigned char *p = data;

	for (size_t i = 0; i < len; i++)
		s->hash = (s->hash ^ p[i]) * 0x100000001b3u;
}

static void check_mapping(const struct mapping *m)
{
	FUZZ_CHECK(m->end > m->start && m->mappings == 1 && m->processes == 1 && *m->name);
	FUZZ_CHECK(strlen(m->perm) == 4 && strlen(m->name) <= SMAPS_LINE_MAX);
	FUZZ_CHECK(!(m->counters.have & ~MAPS_COUNTERS_ALL));
	FUZZ_CHECK(map_has(&m->counters, MAPS_SIZE));
	FUZZ_CHECK(m->counters.value[MAPS_SIZE] == m->end - m->start);
	for (int i = 0; i < MAPS_COUNTERS; i++)
		FUZZ_CHECK(map_has(&m->counters, i) || !m->counters.value[i]);
}

static int take(void *arg, const struct mapping *m)
{
	struct seen *s = arg;

	check_mapping(m);
	s->count++;
	mix(s, &m->start, sizeof(m->start));
	mix(s, &m->end, sizeof(m->end));
	mix(s, m->perm, sizeof(m->perm));
	mix(s, m->name, strlen(m->name) + 1);
	mix(s, &m->counters, sizeof(m->counters));
	if (s->same) {
		FUZZ_CHECK(m->start == s->same->start && m->end == s->same->end);
		FUZZ_CHECK(!strcmp(m->perm, s->same->perm) && !strcmp(m->name, s->same->name));
	}
	return 0;
}

static int feed(struct smaps *s, struct seen *seen, const char *text, size_t size, size_t piece)
{
	smaps_begin(s, take, seen);
	for (size_t at = 0; at < size; at += piece) {
		size_t n = size - at < piece ? size - at : piece;
		char *copy = malloc(n);

		FUZZ_CHECK(copy);
		memcpy(copy, text + at, n);
		FUZZ_CHECK(smaps_feed(s, copy, n) == 0);
		free(copy);
	}
	return smaps_end(s);
}

static int print_again(void *arg, const struct mapping *m)
{
	static char text[5 * SMAPS_LINE_MAX];
	struct smaps *s = malloc(sizeof(*s));
	struct seen seen = {.same = m};
	size_t len;

	(void)arg;
	FUZZ_CHECK(s);
	if (m->name_cut || strlen(m->name) > SMAPS_LINE_MAX / 5) {
		free(s);
		return 0;
	}
	len = (size_t)sprintf(text, "%08" PRIx64 "-%08" PRIx64 " %s 00000000 00:00 0   ", m->start,
			      m->end, m->perm);
	for (const char *p = m->name; *p; p++)
		len += (size_t)sprintf(text + len, *p == '\n' ? "\\012" : "%c", *p);
	len += (size_t)sprintf(text + len, "\nRss: 4 kB\n");
	FUZZ_CHECK(feed(s, &seen, text, len, len) == 0 && seen.count == 1);
	free(s);
	return 0;
}

const unsigned fuzz_changes = 400;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct smaps *s = malloc(sizeof(*s));
	struct seen whole = {}, part = {};
	const char *text = (const char *)data;
	int r, again;

	FUZZ_CHECK(s);
	r = feed(s, &whole, text, size, size ? size : 1);
	again = feed(s, &part, text, size, 1 + size % 67);
	FUZZ_CHECK(r == again && whole.count == part.count && whole.hash == part.hash);
	FUZZ_CHECK(r == 0 || r == -EINVAL || (r == -ENODATA && !size));
	FUZZ_CHECK(r || whole.count);
	smaps_begin(s, print_again, NULL);
	FUZZ_CHECK(smaps_feed(s, text, size) == 0 && smaps_end(s) == r);
	free(s);
	return 0;
}
