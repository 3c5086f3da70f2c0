// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Formats single values with integer arithmetic and without printf: a table formats every cell
 * twice. Times in UTC are computed here because glibc's gmtime_r() reads the machine's time zone.
 */
#include "write/format.h"

#include <string.h>
#include <time.h>

#include "base/strbuf.h"

size_t format_i64(char *buf, int64_t v)
{
	if (v >= 0)
		return decimal_put(buf, (uint64_t)v);
	*buf = '-';
	return 1 + decimal_put(buf + 1, -(uint64_t)v);
}

size_t format_short(char *buf, uint64_t bytes)
{
	size_t len = format_size(buf, bytes), number = 0;

	while (number < len && buf[number] != ' ')
		number++;
	if (number == len)
		return len;
	buf[number] = buf[number + 1];
	return number + 1;
}

size_t format_address(char *buf, uint64_t address)
{
	size_t len = 8;

	while (len < 16 && address >> (4 * len))
		len++;
	for (size_t i = len; i; i--, address >>= 4)
		buf[i - 1] = "0123456789abcdef"[address & 15];
	return len;
}

/* v with a point before its last digit or its last two digits. */
static size_t format_point(char *buf, uint64_t v, unsigned decimals)
{
	size_t n = decimal_put(buf, v / (decimals == 2 ? 100 : 10));

	buf[n++] = '.';
	if (decimals == 2)
		buf[n++] = (char)('0' + v / 10 % 10);
	buf[n++] = (char)('0' + v % 10);
	return n;
}

/* v / 2^shift times `factor`, rounded; shift is 10 to 60. */
static uint64_t scaled(uint64_t v, unsigned shift, unsigned factor)
{
	uint64_t whole = v >> shift, rest = v & (((uint64_t)1 << shift) - 1);

	/* The lowest bits of exbibytes do not affect three digits, and would overflow. */
	if (shift > 50) {
		rest >>= 10;
		shift -= 10;
	}
	return whole * factor + ((rest * factor + ((uint64_t)1 << (shift - 1))) >> shift);
}

/*
 * v / 2^shift to three digits. Returns 0 if that rounds to 1,024 or more: it belongs to the next
 * unit.
 */
static size_t format_unit(char *buf, uint64_t v, unsigned shift)
{
	uint64_t whole = scaled(v, shift, 1), parts;

	if (shift == 10 && !(v & 1023))
		return whole < 1024 ? decimal_put(buf, whole) : 0;
	parts = scaled(v, shift, 100);
	if (parts < 1000)
		return format_point(buf, parts, 2);
	parts = scaled(v, shift, 10);
	if (parts < 1000)
		return format_point(buf, parts, 1);
	return whole < 1024 ? decimal_put(buf, whole) : 0;
}

size_t format_size(char *buf, uint64_t bytes)
{
	static const char unit[][5] = {" KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
	size_t n = 0, i = 0;

	if (bytes < 1024) {
		n = decimal_put(buf, bytes);
		if (bytes) {
			memcpy(buf + n, " B", 2);
			n += 2;
		}
		return n;
	}
	/* 2^64 is 16 EiB: the last unit always fits. */
	while (i < 5 && bytes >> (10 * i + 20))
		i++;
	n = format_unit(buf, bytes, 10 * (unsigned)i + 10);
	if (!n) {
		i++;
		n = format_unit(buf, bytes, 10 * (unsigned)i + 10);
	}
	memcpy(buf + n, unit[i], 4);
	return n + 4;
}

size_t format_bytes(char *buf, uint64_t bytes, bool exact)
{
	return exact ? decimal_put(buf, bytes) : format_size(buf, bytes);
}

static size_t format_unit_name(char *buf, size_t len, const char *name)
{
	memcpy(buf + len, name, strlen(name));
	return len + strlen(name);
}

size_t format_kb(char *buf, int64_t bytes)
{
	char digits[FORMAT_MAX];
	uint64_t kb = (uint64_t)(bytes < 0 ? -bytes : bytes) / 1024;
	size_t len = decimal_put(digits, kb), n = 0;

	if (bytes < 0)
		buf[n++] = '-';
	for (size_t i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			buf[n++] = ',';
		buf[n++] = digits[i];
	}
	return format_unit_name(buf, n, " kB");
}

size_t format_percent(char *buf, double percent)
{
	if (!(percent >= 0 && percent < 1e9))
		return 0;
	return format_point(buf, (uint64_t)(percent * 10 + 0.5), 1);
}

static char *put_digits(char *to, unsigned v, unsigned digits)
{
	for (unsigned i = digits; i--; v /= 10)
		to[i] = (char)('0' + v % 10);
	return to + digits;
}

/* Three digits of a number below 1,000, without zeros at the end of its fraction. */
static size_t format_digits(char *buf, double v)
{
	const unsigned decimals = v < 9.995 ? 2 : v < 99.95 ? 1 : 0;
	size_t len;

	if (!decimals)
		return decimal_put(buf, (uint64_t)(v + 0.5));
	len = format_point(buf, (uint64_t)(v * (decimals == 2 ? 100 : 10) + 0.5), decimals);
	while (buf[len - 1] == '0')
		len--;
	return len - (buf[len - 1] == '.');
}

size_t format_span(char *buf, double seconds)
{
	uint64_t rest;
	size_t len;

	if (!(seconds >= 0 && seconds < 1e15))
		return 0;
	if (seconds > 0 && seconds < 0.0009995)
		return format_unit_name(buf, format_digits(buf, seconds * 1e6), " us");
	if (seconds > 0 && seconds < 0.9995)
		return format_unit_name(buf, format_digits(buf, seconds * 1e3), " ms");
	if (seconds < 119.5)
		return format_unit_name(buf, format_digits(buf, seconds), " s");
	if (seconds >= 48 * 3600)
		return format_unit_name(buf, format_digits(buf, seconds / 86400), " days");
	rest = (uint64_t)(seconds + 0.5);
	rest = rest < 3600 ? rest : (rest + 30) / 60;
	len = format_unit_name(buf, decimal_put(buf, rest / 60), seconds < 3599.5 ? " min" : " h");
	if (!(rest % 60))
		return len;
	buf[len++] = ' ';
	len = (size_t)(put_digits(buf + len, rest % 60, 2) - buf);
	return format_unit_name(buf, len, seconds < 3599.5 ? " s" : " min");
}

size_t format_ratio(char *buf, uint64_t hundredths)
{
	if (hundredths < 1000 * 100)
		return format_point(buf, hundredths, 2);
	if (hundredths < 10000 * 100)
		return format_point(buf, hundredths / 10, 1);
	return decimal_put(buf, hundredths / 100);
}

/* Writes days since 1970 as a Gregorian date. The computation lets years begin in March. */
static char *put_date(char *to, int64_t days)
{
	int64_t z = days + 719468; /* days since 0000-03-01 */
	int64_t era = z / 146097;  /* 400 years */
	unsigned doe = (unsigned)(z - era * 146097);
	unsigned yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	unsigned doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	unsigned mp = (5 * doy + 2) / 153;
	unsigned month = mp < 10 ? mp + 3 : mp - 9;
	unsigned year = yoe + (unsigned)era * 400 + (month <= 2);

	to = put_digits(to, year, 4);
	*to++ = '-';
	to = put_digits(to, month, 2);
	*to++ = '-';
	return put_digits(to, doy - (153 * mp + 2) / 5 + 1, 2);
}

/* Minutes that the local clock is ahead of UTC; 0 if the zone is not known. */
static int zone_minutes(int64_t ms)
{
	time_t seconds = ms / 1000 - (ms % 1000 < 0);
	struct tm tm;

	/* Before zones there were also seconds: the time then belongs to the minutes shown. */
	return localtime_r(&seconds, &tm) ? (int)(tm.tm_gmtoff / 60) : 0;
}

static char *put_zone(char *to, int minutes)
{
	unsigned m = (unsigned)(minutes < 0 ? -minutes : minutes);

	if (!m) {
		*to++ = 'Z';
		return to;
	}
	*to++ = minutes < 0 ? '-' : '+';
	to = put_digits(to, m / 60, 2);
	*to++ = ':';
	return put_digits(to, m % 60, 2);
}

size_t format_time(char *buf, int64_t ms, enum time_style style)
{
	const int64_t day_ms = 86400 * 1000, first = -62135596800000, last = 253402300799999;
	int64_t days, in_day;
	unsigned second;
	int minutes = 0;
	char *to = buf;

	if (ms < first || ms > last)
		return 0;
	if (style == TIME_TABLE)
		minutes = zone_minutes(ms);
	ms += (int64_t)minutes * 60 * 1000;
	if (ms < first || ms > last)
		return 0;
	days = ms / day_ms;
	in_day = ms % day_ms;
	if (in_day < 0) {
		in_day += day_ms;
		days--;
	}
	second = (unsigned)(in_day / 1000);
	to = put_date(to, days);
	*to++ = style == TIME_JSON ? 'T' : ' ';
	to = put_digits(to, second / 3600, 2);
	*to++ = ':';
	to = put_digits(to, second / 60 % 60, 2);
	*to++ = ':';
	to = put_digits(to, second % 60, 2);
	if (style == TIME_JSON) {
		*to++ = '.';
		to = put_digits(to, (unsigned)(in_day % 1000), 3);
	}
	return (size_t)(put_zone(to, minutes) - buf);
}

struct format_text size_text(uint64_t bytes, bool exact)
{
	struct format_text text;

	text.text[format_bytes(text.text, bytes, exact)] = '\0';
	return text;
}

struct format_text span_text(double seconds)
{
	struct format_text text;

	text.text[format_span(text.text, seconds)] = '\0';
	return text;
}

struct format_text time_text(int64_t ms)
{
	struct format_text text;

	text.text[format_time(text.text, ms, TIME_TABLE)] = '\0';
	return text;
}
