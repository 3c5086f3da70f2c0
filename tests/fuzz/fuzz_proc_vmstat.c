// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* /proc/vmstat: the values are those of lines of the text. */
#include <errno.h>
#include <inttypes.h>

#include "fuzz.h"
#include "model/system.h"

#define PAGE 4096

/* Whether the text has the line "name pages", maybe with leading zeros. */
static bool has_line(const uint8_t *data, size_t size, const char *name, uint64_t bytes)
{
	char pages[32];
	size_t len = (size_t)sprintf(pages, "%" PRIu64 "\n", bytes / PAGE);

	return bytes % PAGE == 0 && memmem(data, size, name, strlen(name)) &&
	       memmem(data, size, pages, len);
}

/* The value of a line, or nothing. */
static void check_scans(const char *copy)
{
	uint64_t bytes = 7, again;
	char text[128];
	int r = scans_parse(copy, PAGE, &bytes);

	if (r < 0) {
		FUZZ_CHECK(r == -EINVAL && bytes == 7);
		return;
	}
	FUZZ_CHECK(has_line((const uint8_t *)copy, strlen(copy), "pgscan_kswapd ", bytes));
	sprintf(text, "pgscan_kswapd %" PRIu64 "\n", bytes / PAGE);
	FUZZ_CHECK(scans_parse(text, PAGE, &again) == 0 && again == bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct swap_activity a = {false, 7, 7}, again = {};
	char text[128], *copy = strndup((const char *)data, size);
	size_t len;
	int r;

	FUZZ_CHECK(copy);
	r = swap_activity_parse(copy, PAGE, &a);
	check_scans(copy);
	free(copy);
	if (r < 0) {
		FUZZ_CHECK(!a.known && a.in == 7 && a.out == 7);
		return 0;
	}
	FUZZ_CHECK(a.known && has_line(data, size, "pswpin ", a.in) &&
		   has_line(data, size, "pswpout ", a.out));
	len = (size_t)sprintf(text, "pswpin %" PRIu64 "\npswpout %" PRIu64 "\n", a.in / PAGE,
			      a.out / PAGE);
	FUZZ_CHECK(swap_activity_parse(text, PAGE, &again) == 0);
	FUZZ_CHECK(a.in == again.in && a.out == again.out);
	text[len - 1] = '\0';
	FUZZ_CHECK(swap_activity_parse(text, PAGE, &again) == -EINVAL);
	return 0;
}
