// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads and writes moments of a recording. */
#include "cli/moment.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "base/parse.h"

#define DAY_SECONDS  (24 * 60 * 60)
#define DURATION_MAX 1000000000 /* a number; 31 years of seconds */

int moment_duration(const char *text, uint64_t *ret_ms)
{
	static const char letter[] = "smhd";
	static const unsigned seconds[] = {1, 60, 3600, DAY_SECONDS};
	uint64_t number = 0, unit = 1;
	unsigned thousandths = 0;
	int len = parse_thousandths(text, strlen(text), &number, &thousandths);
	const char *found;

	if (len <= 0 || number > DURATION_MAX)
		return -EINVAL;
	found = text[len] ? strchr(letter, text[len]) : NULL;
	if (found) {
		unit = seconds[found - letter];
		len++;
	}
	*ret_ms = (number * 1000 + thousandths) * unit;
	return len;
}

/* Reads a number of exactly `digits` digits in that range and moves on. */
static bool read_digits(const char **at, size_t digits, int least, int most, int *ret)
{
	int n = 0;

	for (size_t i = 0; i < digits; i++, (*at)++) {
		if (!is_digit(**at))
			return false;
		n = n * 10 + (**at - '0');
	}
	*ret = n;
	return n >= least && n <= most;
}

static bool read_char(const char **at, char c)
{
	bool is = **at == c;

	*at += is;
	return is;
}

/* Reads "03:14" or "03:14:15"; a minute lasts to its last millisecond. */
static bool read_clock(const char **at, struct tm *tm, int *ret_ms)
{
	if (!read_digits(at, 2, 0, 23, &tm->tm_hour) || !read_char(at, ':') ||
	    !read_digits(at, 2, 0, 59, &tm->tm_min))
		return false;
	*ret_ms = 999;
	tm->tm_sec = 59;
	return !read_char(at, ':') || read_digits(at, 2, 0, 59, &tm->tm_sec);
}

/* Reads "2026-11-22". */
static bool read_date(const char **at, struct tm *tm)
{
	if (!read_digits(at, 4, 1970, 9999, &tm->tm_year) || !read_char(at, '-') ||
	    !read_digits(at, 2, 1, 12, &tm->tm_mon) || !read_char(at, '-') ||
	    !read_digits(at, 2, 1, 31, &tm->tm_mday))
		return false;
	tm->tm_year -= 1900;
	tm->tm_mon--;
	return true;
}

static int to_ms(struct tm tm, bool utc, int ms, int64_t *ret)
{
	time_t t;

	tm.tm_isdst = -1;
	t = utc ? timegm(&tm) : mktime(&tm);
	*ret = (int64_t)t * 1000 + ms;
	return 0;
}

/* The latest such time of day up to `last_ms`. */
static int parse_clock(const char *text, int64_t last_ms, int64_t *ret)
{
	time_t last = (time_t)(last_ms / 1000);
	struct tm tm;
	int ms;

	if (!localtime_r(&last, &tm) || !read_clock(&text, &tm, &ms) || *text)
		return -EINVAL;
	/* The minute of the end has begun: it is meant. */
	to_ms(tm, false, ms, ret);
	if (*ret - (tm.tm_sec == 59 ? 59999 : 999) > last_ms) {
		tm.tm_mday--;
		to_ms(tm, false, ms, ret);
	}
	return 0;
}

static int parse_date(const char *text, int64_t *ret)
{
	struct tm tm = {.tm_hour = 23, .tm_min = 59, .tm_sec = 59};
	int ms = 999;

	if (!read_date(&text, &tm))
		return -EINVAL;
	if ((read_char(&text, 'T') || read_char(&text, ' ')) && !read_clock(&text, &tm, &ms))
		return -EINVAL;
	if (!*text)
		return to_ms(tm, false, ms, ret);
	return strcmp(text, "Z") == 0 ? to_ms(tm, true, ms, ret) : -EINVAL;
}

int moment_parse(const char *text, int64_t last_ms, int64_t *ret)
{
	uint64_t before = 0;
	int len;

	if (*text == '-') {
		len = moment_duration(text + 1, &before);
		if (len < 0 || text[1 + len] || before > (uint64_t)INT64_MAX / 2)
			return -EINVAL;
		return __builtin_sub_overflow(last_ms, (int64_t)before, ret) ? -EINVAL : 0;
	}
	return text[0] && text[1] && text[2] == ':' ? parse_clock(text, last_ms, ret)
						    : parse_date(text, ret);
}

struct moment_text moment_text(int64_t time_ms)
{
	struct moment_text text;
	time_t seconds = (time_t)(time_ms / 1000);
	struct tm tm;

	if (!localtime_r(&seconds, &tm) ||
	    !strftime(text.text, sizeof(text.text), "%Y-%m-%d %H:%M:%S", &tm))
		text.text[0] = '\0';
	return text;
}
