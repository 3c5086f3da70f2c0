// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Parsers of numbers, lists of items and lists of CPUs. */
#include <errno.h>
#include <inttypes.h>

#include "base/parse.h"
#include "fuzz.h"

static void check_number(const char *text, size_t size)
{
	uint64_t v = 42, again, limit;
	char printed[24];
	int r = parse_u64(text, size, UINT64_MAX, &v);

	if (r < 0) {
		FUZZ_CHECK((r == -EINVAL || r == -ERANGE) && v == 42);
		return;
	}
	for (size_t i = 0; i < size; i++)
		FUZZ_CHECK(text[i] >= '0' && text[i] <= '9');
	/* Printed again, the number is the input without leading zeros. */
	snprintf(printed, sizeof(printed), "%" PRIu64, v);
	FUZZ_CHECK(strlen(printed) <= size &&
		   !memcmp(text + size - strlen(printed), printed, strlen(printed)));
	FUZZ_CHECK(parse_u64(printed, strlen(printed), v, &again) == 0 && again == v);
	limit = v ? v - 1 : 0;
	FUZZ_CHECK(!v || parse_u64(text, size, limit, &again) == -ERANGE);
}

/* A size with a unit is at least its number; the distance of a text to itself is 0. */
static void check_size(const char *text, size_t size)
{
	uint64_t bytes = 42, number = 42;
	unsigned thousandths = 42;
	int end = parse_thousandths(text, size, &number, &thousandths);
	int r = parse_size(text, size, &bytes);

	FUZZ_CHECK(end == -EINVAL || end == -ERANGE || (end > 0 && (size_t)end <= size));
	FUZZ_CHECK(end < 0 ? r == end : r == 0 || r == -EINVAL || r == -ERANGE);
	FUZZ_CHECK(r == 0 ? bytes >= number : bytes == 42);
	FUZZ_CHECK(end < 0 || thousandths < 1000);
}

static void check_distance(const char *string)
{
	size_t len = strlen(string);
	unsigned distance = parse_distance("swap_pss", string, len);

	if (len > PARSE_NEAR_MAX)
		return;
	FUZZ_CHECK(parse_distance(string, string, len) == 0);
	FUZZ_CHECK(distance <= (len > 8 ? len : 8) && distance >= (len > 8 ? len - 8 : 8 - len));
}

static void check_scan(const char *text, size_t size)
{
	const char *pos = text, *end = text + size;
	uint64_t v, again;

	while (pos < end) {
		const char *before = pos;

		if (!scan_u64(&pos, end, &v)) {
			FUZZ_CHECK(pos == before);
			pos++;
			continue;
		}
		FUZZ_CHECK(pos > before && pos <= end);
		FUZZ_CHECK(pos == end || *pos < '0' || *pos > '9');
		while (*before == ' ' || *before == '\t')
			before++;
		FUZZ_CHECK(parse_u64(before, (size_t)(pos - before), UINT64_MAX, &again) == 0 &&
			   again == v);
	}
}

static void check_items(const char *string)
{
	const char *pos = string, *item, *last = string;
	size_t len;

	while ((item = parse_item(&pos, &len))) {
		fuzz_check_part(item, len, string, strlen(string));
		FUZZ_CHECK(len && item >= last && pos == item + len);
		for (size_t i = 0; i < len; i++)
			FUZZ_CHECK(!strchr(", \t\n", item[i]));
		FUZZ_CHECK(!*pos || strchr(", \t\n", *pos));
		/* Only separators were skipped. */
		FUZZ_CHECK(strspn(last, ", \t\n") >= (size_t)(item - last));
		last = item + len;
	}
	FUZZ_CHECK(strspn(last, ", \t\n") == strlen(last));
}

struct cpus {
	uint64_t sum;
	int count;
	char *list; /* the same, one by one */
	size_t len, cap;
};

static void add_cpu(void *arg, unsigned cpu)
{
	struct cpus *c = arg;

	c->sum = c->sum * 31 + cpu;
	c->count++;
	if (c->list && c->cap - c->len > 16)
		c->len += (size_t)sprintf(c->list + c->len, "%s%u", c->len ? "," : "", cpu);
}

static void check_cpus(const char *text, size_t size)
{
	static char list[64 * 1024];
	struct cpus all = {.list = list, .cap = sizeof(list)}, again = {};
	int count = parse_cpu_list(text, size, add_cpu, &all);

	if (count < 0) {
		FUZZ_CHECK(count == -EINVAL && all.count == 0);
		return;
	}
	FUZZ_CHECK(count == all.count);
	if (all.cap - all.len <= 16)
		return;
	FUZZ_CHECK(parse_cpu_list(list, all.len, add_cpu, &again) == count);
	FUZZ_CHECK(again.count == count && again.sum == all.sum);
}

const unsigned fuzz_changes = 1000;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *string = fuzz_string(data, size);

	check_number((const char *)data, size);
	check_scan((const char *)data, size);
	/* Real lists are short; 64 Ki CPUs for every four bytes would slow the fuzzer. */
	if (size <= 64)
		check_cpus((const char *)data, size);
	check_size((const char *)data, size);
	check_distance(string);
	check_items(string);
	free(string);
	return 0;
}
