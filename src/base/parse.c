// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Parses numbers and lists. It accepts no signs. */
#include "base/parse.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

/* Far above any NR_CPUS: a corrupt range must not cost much time. */
#define CPU_LIMIT 65536

bool parse_same_word(const char *word, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (!word[i] || to_lower(word[i]) != to_lower(s[i]))
			return false;
	}
	return word[len] == '\0';
}

bool scan_u64(const char **pos, const char *end, uint64_t *ret)
{
	const char *p = *pos;
	uint64_t v = 0;

	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	if (p == end || !is_digit(*p))
		return false;
	for (; p < end && is_digit(*p); p++) {
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			return false;
	}
	*pos = p;
	*ret = v;
	return true;
}

int parse_u64(const char *s, size_t len, uint64_t max, uint64_t *ret)
{
	const char *end = s + len;
	uint64_t v;

	if (!len)
		return -EINVAL;
	for (const char *p = s; p < end; p++) {
		if (!is_digit(*p))
			return -EINVAL;
	}
	if (!scan_u64(&s, end, &v) || v > max)
		return -ERANGE;
	*ret = v;
	return 0;
}

/* The number of bits that a unit shifts by, -1 for an unknown unit. */
static int unit_shift(const char *unit, size_t len)
{
	static const char letters[] = "KMGT";
	const char *letter;

	if (!len || parse_same_word("B", unit, len))
		return 0;
	letter = strchr(letters, *unit & ~0x20); /* upper case */
	if (!letter || !*letter)
		return -1;
	unit++;
	len--;
	if (len && !parse_same_word("B", unit, len) && !parse_same_word("IB", unit, len))
		return -1;
	return 10 * (int)(letter - letters + 1);
}

int parse_thousandths(const char *s, size_t len, uint64_t *ret_number, unsigned *ret_thousandths)
{
	size_t whole = 0, end;
	unsigned part = 0, scale = 1000;

	while (whole < len && is_digit(s[whole]))
		whole++;
	end = whole;
	if (end < len && s[end] == '.') {
		for (end++; end < len && is_digit(s[end]); end++) {
			scale /= 10;
			part += scale * (unsigned)(s[end] - '0');
		}
		if (end == whole + 1)
			return -EINVAL;
	}
	if (!end)
		return -EINVAL;
	*ret_number = 0;
	if (whole && parse_u64(s, whole, UINT64_MAX, ret_number) < 0)
		return -ERANGE;
	*ret_thousandths = part;
	return (int)end;
}

int parse_size(const char *s, size_t len, uint64_t *ret)
{
	unsigned thousandths;
	uint64_t number, part;
	int end = parse_thousandths(s, len, &number, &thousandths), shift;

	if (end < 0)
		return end;
	shift = unit_shift(s + end, len - (size_t)end);
	if (shift < 0)
		return -EINVAL;
	part = ((uint64_t)thousandths << shift) / 1000;
	if (number > UINT64_MAX >> shift || __builtin_add_overflow(number << shift, part, ret))
		return -ERANGE;
	return 0;
}

unsigned parse_distance(const char *word, const char *text, size_t len)
{
	/* The rows of the table of distances for the last three letters of the word. */
	unsigned rows[3][PARSE_NEAR_MAX + 1];
	size_t word_len = strlen(word);

	if (len > PARSE_NEAR_MAX)
		return UINT_MAX;
	for (unsigned i = 0; i <= len; i++)
		rows[0][i] = i;
	for (size_t w = 1; w <= word_len; w++) {
		unsigned *row = rows[w % 3];
		const unsigned *last = rows[(w - 1) % 3], *before = rows[(w + 1) % 3];

		row[0] = (unsigned)w;
		for (size_t i = 1; i <= len; i++) {
			bool same = to_lower(word[w - 1]) == to_lower(text[i - 1]);
			unsigned least = last[i - 1] + !same;

			if (last[i] + 1 < least)
				least = last[i] + 1;
			if (row[i - 1] + 1 < least)
				least = row[i - 1] + 1;
			if (w > 1 && i > 1 && to_lower(word[w - 1]) == to_lower(text[i - 2]) &&
			    to_lower(word[w - 2]) == to_lower(text[i - 1]) &&
			    before[i - 2] + 1 < least)
				least = before[i - 2] + 1;
			row[i] = least;
		}
	}
	return rows[word_len % 3][len];
}

bool parse_is_nearer(const char *word, const char *text, size_t len, unsigned *least)
{
	unsigned distance = parse_distance(word, text, len);

	if (distance > (len < 5 ? 1 : 2) || (*least && distance >= *least))
		return false;
	*least = distance;
	return true;
}

const char *parse_item(const char **pos, size_t *ret_len)
{
	static const char separators[] = ", \t\n";
	const char *item = *pos + strspn(*pos, separators);
	size_t len = strcspn(item, separators);

	*pos = item + len;
	if (!len)
		return NULL;
	*ret_len = len;
	return item;
}

bool parse_has_item(const char *items, const char *item)
{
	const char *at;
	size_t len;

	while ((at = parse_item(&items, &len))) {
		if (strlen(item) == len && memcmp(at, item, len) == 0)
			return true;
	}
	return false;
}

/* Scans one "3" or "0-3" and the comma behind it. */
static bool scan_cpu_range(const char **pos, const char *end, uint64_t *ret_first,
			   uint64_t *ret_last)
{
	const char *p = *pos;

	/* scan_u64() would skip blanks, which the kernel does not write. */
	if (p == end || !is_digit(*p) || !scan_u64(&p, end, ret_first))
		return false;
	*ret_last = *ret_first;
	if (p < end && *p == '-') {
		p++;
		if (p == end || !is_digit(*p) || !scan_u64(&p, end, ret_last))
			return false;
	}
	if (p < end && (*p++ != ',' || p == end))
		return false;
	*pos = p;
	return *ret_first <= *ret_last && *ret_last < CPU_LIMIT;
}

int parse_cpu_list(const char *s, size_t len, void (*fn)(void *arg, unsigned cpu), void *arg)
{
	const char *end = s + len;
	uint64_t first, last;
	int count = 0;

	if (len && end[-1] == '\n')
		end--;
	/* Checks the whole list before the first call. */
	for (const char *p = s; p < end;) {
		if (!scan_cpu_range(&p, end, &first, &last))
			return -EINVAL;
		if (__builtin_add_overflow(count, (int)(last - first + 1), &count))
			return -EINVAL;
	}
	for (const char *p = s; p < end && scan_cpu_range(&p, end, &first, &last);) {
		for (uint64_t cpu = first; cpu <= last; cpu++)
			fn(arg, (unsigned)cpu);
	}
	return count;
}

bool line_number(const char *text, const char *name, uint64_t *ret)
{
	size_t len = strlen(name);
	const char *line = text, *end;

	while (line && strncmp(line, name, len) != 0) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	end = line ? strchr(line, '\n') : NULL;
	return end && parse_u64(line + len, (size_t)(end - line) - len, UINT64_MAX, ret) == 0;
}
