// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Lists of --columns and --sort: a parsed list, printed and parsed again, is the same. */
#include <errno.h>

#include "fuzz.h"
#include "fields/column.h"

static bool same(const struct column_list *a, const struct column_list *b)
{
	return a->count == b->count && !memcmp(a->item, b->item, a->count * sizeof(a->item[0]));
}

static void check_list(const struct column_list *list)
{
	char names[COLUMNS_MAX * 24] = "";
	struct column_list again = {};
	const char *bad;
	size_t len;

	FUZZ_CHECK(list->count && list->count <= COLUMNS_MAX);
	for (size_t i = 0; i < list->count; i++) {
		const struct column *c = list->item[i];

		FUZZ_CHECK(column_find(c->key, strlen(c->key)) == c);
		strcat(strcat(names, i ? "," : ""), c->key);
	}
	FUZZ_CHECK(column_list_parse(&again, names, &bad, &len) == 0 && same(&again, list));
}

static bool is_within(const struct column_list *part, const struct column_list *whole)
{
	size_t found = 0;

	for (size_t i = 0; i < whole->count && found < part->count; i++)
		found += whole->item[i] == part->item[found];
	return found == part->count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *spec = fuzz_string(data, size);
	struct column_list list, before;
	const char *bad = NULL;
	size_t len = 0;
	int r;

	column_list_default(&list, NULL);
	before = list;
	r = column_list_parse(&list, spec, &bad, &len);
	if (r < 0) {
		FUZZ_CHECK(r == -EINVAL && bad && same(&list, &before));
		fuzz_check_part(bad, len, spec, strlen(spec));
	} else {
		check_list(&list);
		/* Adding keeps the existing columns in their order. */
		if (spec[strspn(spec, " \t")] == '+')
			FUZZ_CHECK(is_within(&before, &list));
	}
	free(spec);
	return 0;
}
