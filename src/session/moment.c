// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads and writes moments of a recording. */
#include "session/moment.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "base/parse.h"

#define DAY_SECONDS  (24 * 60 * 60)
#define DURATION_MAX 1000000000 /* a number of any unit; in ms all fit 64 bits */

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

/* Reads "03:14" or "03:14:15". *ret_seconds: how long that lasts. */
static bool read_clock(const char **at, struct tm *tm, int *ret_seconds)
{
	if (!read_digits(at, 2, 0, 23, &tm->tm_hour) || !read_char(at, ':') ||
	    !read_digits(at, 2, 0, 59, &tm->tm_min))
		return false;
	*ret_seconds = 60;
	if (!read_char(at, ':'))
		return true;
	*ret_seconds = 1;
	return read_digits(at, 2, 0, 59, &tm->tm_sec);
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

/* Whether clocks show that time, which is valid, in that second. */
static bool is_shown(time_t t, const struct tm *tm)
{
	struct tm local;

	return localtime_r(&t, &local) && local.tm_sec == tm->tm_sec &&
	       local.tm_min == tm->tm_min && local.tm_hour == tm->tm_hour &&
	       local.tm_mday == tm->tm_mday;
}

/*
 * The second that begins there, which the calendar makes valid. If there are two, the later one;
 * *ret_twin: so many seconds before it is the other one. mktime() has either of them.
 */
static time_t to_time(struct tm tm, bool utc, int *ret_twin)
{
	time_t t;

	*ret_twin = 0;
	tm.tm_isdst = -1;
	if (utc)
		return timegm(&tm);
	t = mktime(&tm);
	/* Clocks are set back by an hour, on Lord Howe Island by half an hour. */
	for (int step = 1800; step <= 3600; step += 1800) {
		bool is_first = is_shown(t + step, &tm);

		if (is_first || is_shown(t - step, &tm)) {
			*ret_twin = step;
			return is_first ? t + step : t;
		}
	}
	return t;
}

static struct moment make_moment(struct tm tm, bool utc, int seconds)
{
	int twin, twin_of_end;
	int64_t first = to_time(tm, utc, &twin), end = first + seconds;

	/* A day may have 23 or 25 hours. */
	tm.tm_mday++;
	if (seconds == DAY_SECONDS) {
		first -= twin;
		twin = 0;
		end = to_time(tm, utc, &twin_of_end) - twin_of_end;
	}
	return (struct moment){first * 1000, end * 1000 - 1, twin * INT64_C(1000)};
}

void moment_to_twin(struct moment *m)
{
	m->first_ms -= m->twin_ms;
	m->last_ms -= m->twin_ms;
}

/* The latest such time of day that has begun by then. */
static struct moment find_latest(struct tm tm, int seconds, int64_t latest_ms)
{
	struct moment m = make_moment(tm, false, seconds);

	/* Only the first one of two has begun. */
	if (m.first_ms > latest_ms) {
		moment_to_twin(&m);
		m.twin_ms = 0;
	}
	/* Today's if it has begun by then, else yesterday's. */
	if (m.first_ms > latest_ms) {
		tm.tm_mday--;
		m = make_moment(tm, false, seconds);
	}
	return m;
}

/* The first such time of day that is not over then. */
static struct moment find_first(struct tm tm, int seconds, int64_t after_ms)
{
	struct moment m = make_moment(tm, false, seconds);

	if (m.last_ms < after_ms) {
		tm.tm_mday++;
		m = make_moment(tm, false, seconds);
	}
	/* Only the second one of two is not over. */
	if (m.last_ms - m.twin_ms < after_ms)
		m.twin_ms = 0;
	return m;
}

static int parse_clock(const char *text, const struct moment_near *near, struct moment *ret)
{
	const bool first = near->after_ms != MOMENT_LATEST;
	const time_t day = (time_t)((first ? near->after_ms : near->latest_ms) / 1000);
	struct tm tm;
	int seconds;

	if (!localtime_r(&day, &tm))
		return -EINVAL;
	tm.tm_sec = 0;
	if (!read_clock(&text, &tm, &seconds) || *text)
		return -EINVAL;
	*ret = first ? find_first(tm, seconds, near->after_ms)
		     : find_latest(tm, seconds, near->latest_ms);
	return 0;
}

static int parse_date(const char *text, struct moment *ret)
{
	struct tm tm = {};
	int seconds = DAY_SECONDS;
	bool utc;

	if (!read_date(&text, &tm))
		return -EINVAL;
	if ((read_char(&text, 'T') || read_char(&text, ' ')) && !read_clock(&text, &tm, &seconds))
		return -EINVAL;
	utc = read_char(&text, 'Z');
	if (*text)
		return -EINVAL;
	*ret = make_moment(tm, utc, seconds);
	return 0;
}

int moment_parse(const char *text, const struct moment_near *near, struct moment *ret)
{
	uint64_t before = 0;
	int64_t then;
	int len;

	if (*text == '-') {
		len = moment_duration(text + 1, &before);
		if (len < 0 || text[1 + len] || before > (uint64_t)INT64_MAX / 2 ||
		    __builtin_sub_overflow(near->end_ms, (int64_t)before, &then))
			return -EINVAL;
		*ret = (struct moment){then, then, 0};
		return 0;
	}
	return text[0] && text[1] && text[2] == ':' ? parse_clock(text, near, ret)
						    : parse_date(text, ret);
}
