/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Formats single values: numbers, sizes, percentages, times. No allocation, no locale, no time
 * zone. Each function writes at most FORMAT_MAX bytes without terminator and returns the length.
 */
#ifndef ZMEM_WRITE_FORMAT_H
#define ZMEM_WRITE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FORMAT_MAX 32

size_t format_i64(char *buf, int64_t v);
/*
 * Bytes in the largest unit of 1,024 with a whole part, to three digits, or to four where the whole
 * part has four: "0", "512 B", "4 KiB", "5.50 KiB", "12.3 MiB", "1023 GiB". Whole KiB have no
 * point.
 */
size_t format_size(char *buf, uint64_t bytes);
#define FORMAT_SIZE_MAX 8
/* Bytes as a size, or exactly. */
size_t format_bytes(char *buf, uint64_t bytes, bool exact);
/* Without blank and "iB", to save room: "1.20G". */
size_t format_short(char *buf, uint64_t bytes);
/* Whole kB with commas: "-53,264 kB". */
size_t format_kb(char *buf, int64_t bytes);
/* An address of memory: eight hexadecimal digits or more. */
size_t format_address(char *buf, uint64_t address);
/* One digit after the point. Returns 0 if the value is below 0, too large or not a number. */
size_t format_percent(char *buf, double percent);
/*
 * A span of time: three digits in the unit that fits, or two units: "1.2 us", "12.3 ms", "14.5 s",
 * "2 min 03 s", "10 min", "1 h 02 min", "3.75 days". 0 if it is negative or no number.
 */
size_t format_span(char *buf, double seconds);
/* A ratio in hundredths, in at most six characters while it is below 10,000: "3.25", "1234.5". */
size_t format_ratio(char *buf, uint64_t hundredths);

enum time_style {
	TIME_TABLE, /* local: 2026-01-31 23:59:59+01:00, with Z where that is UTC */
	TIME_JSON,  /* UTC: 2026-01-31T23:59:59.999Z */
};

/*
 * Writes a time in ms since the epoch. Returns 0 outside the years 1 to 9999. The zone is that of
 * libc: call tzset() before files can no longer be opened.
 */
size_t format_time(char *buf, int64_t ms, enum time_style style);
#define FORMAT_TIME_TABLE_MAX 25

/* Bytes, a span of time, and a local time as texts, which are empty where there is none. */
struct format_text {
	char text[FORMAT_MAX + 1];
};
struct format_text size_text(uint64_t bytes, bool exact);
struct format_text span_text(double seconds);
struct format_text time_text(int64_t ms);

#endif
