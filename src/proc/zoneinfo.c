// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Knows where /proc/zoneinfo says RAM ends; nothing else in it. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/parse.h"
#include "model/system.h"

#define CHUNK (32 * 1024)

/* What is known of the zone whose lines are being read. */
struct zone {
	bool device;
	uint64_t spanned;
};

static bool starts_with(const char *s, const char *end, const char *word)
{
	size_t len = strlen(word);

	return (size_t)(end - s) >= len && !memcmp(s, word, len);
}

static const char *skip_blanks(const char *s, const char *end)
{
	while (s < end && *s == ' ')
		s++;
	return s;
}

/* The number behind a word, 0 if there is none. */
static uint64_t number_behind(const char *s, const char *end, const char *word)
{
	uint64_t v;

	s = skip_blanks(s + strlen(word), end);
	return scan_u64(&s, end, &v) ? v : 0;
}

static void take_line(struct zone *zone, const char *s, const char *end, uint64_t *max)
{
	uint64_t pfn_end;

	if (starts_with(s, end, "Node ")) {
		*zone = (struct zone){.device = memmem(s, (size_t)(end - s), "Device", 6)};
		return;
	}
	s = skip_blanks(s, end);
	if (starts_with(s, end, "spanned"))
		zone->spanned = number_behind(s, end, "spanned");
	if (!starts_with(s, end, "start_pfn:") || zone->device || !zone->spanned)
		return;
	if (!__builtin_add_overflow(number_behind(s, end, "start_pfn:"), zone->spanned, &pfn_end) &&
	    pfn_end > *max)
		*max = pfn_end;
}

/* Takes the whole lines. Returns how many bytes they are. */
static size_t take_lines(struct zone *zone, const char *text, size_t len, uint64_t *max)
{
	const char *pos = text, *end = text + len, *newline;

	while (pos < end && (newline = memchr(pos, '\n', (size_t)(end - pos)))) {
		take_line(zone, pos, newline, max);
		pos = newline + 1;
	}
	return (size_t)(pos - text);
}

uint64_t zoneinfo_parse(const char *text, size_t len)
{
	struct zone zone = {};
	uint64_t max = 0;

	if (len)
		take_lines(&zone, text, len, &max);
	return max;
}

/* In parts: it has a line for each CPU of each zone. */
uint64_t zoneinfo_read(int proc_fd)
{
	cleanup_close int fd = openat(proc_fd, "zoneinfo", O_RDONLY | O_CLOEXEC);
	struct zone zone = {};
	uint64_t max = 0;
	char buf[CHUNK];
	size_t len = 0;

	while (fd >= 0) {
		ssize_t n = read(fd, buf + len, sizeof(buf) - len);
		size_t used;

		if (n <= 0)
			return n < 0 ? 0 : max;
		len += (size_t)n;
		used = take_lines(&zone, buf, len, &max);
		len -= used;
		memmove(buf, buf + used, len);
	}
	return 0;
}
