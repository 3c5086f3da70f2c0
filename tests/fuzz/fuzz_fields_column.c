// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Lists of --columns and --sort: a parsed list, printed and parsed again, is the same. */
#include <errno.h>

#include "fuzz.h"
#include "fields/process_fields.h"

static bool same(const struct field_list *a, const struct field_list *b)
{
	return a->count == b->count && !memcmp(a->item, b->item, a->count * sizeof(a->item[0]));
}

static void check_list(const struct field_list *list)
{
	char names[FIELDS_MAX * 24] = "";
	struct field_list again = {};
	struct field_error bad;

	FUZZ_CHECK(list->count && list->count <= FIELDS_MAX);
	for (size_t i = 0; i < list->count; i++) {
		const struct field *c = list->item[i];

		FUZZ_CHECK(process_field(c->key) == c);
		strcat(strcat(names, i ? "," : ""), c->key);
	}
	FUZZ_CHECK(field_list_parse(&again, &process_fields, names, &bad) == 0 &&
		   same(&again, list));
}

static bool is_within(const struct field_list *part, const struct field_list *whole)
{
	size_t found = 0;

	for (size_t i = 0; i < whole->count && found < part->count; i++)
		found += whole->item[i] == part->item[found];
	return found == part->count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *spec = fuzz_string(data, size);
	struct field_list list, before;
	struct field_error bad = {};
	int r;

	process_list_columns(&list, &columns_usual, NULL);
	before = list;
	r = field_list_parse(&list, &process_fields, spec, &bad);
	if (r < 0) {
		FUZZ_CHECK(r == -EINVAL && bad.name && same(&list, &before));
		fuzz_check_part(bad.name, bad.len, spec, strlen(spec));
	} else {
		check_list(&list);
		/* Adding keeps the existing columns in their order. */
		if (spec[strspn(spec, " \t")] == '+')
			FUZZ_CHECK(is_within(&before, &list));
	}
	free(spec);
	return 0;
}
