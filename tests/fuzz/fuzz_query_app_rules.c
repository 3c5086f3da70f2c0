// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Files of --apps: refused with a line that exists and a reason, or rules that name a text within
 * the budget of steps. The input is the file, and behind its last byte 0x01 the text.
 */
#include "fuzz.h"

#include <errno.h>

#include "query/app_rules.h"

const unsigned fuzz_changes = 100;

static void match(struct app_rules *rules, const uint8_t *data, size_t size)
{
	char *copy = strndup((const char *)data, size);
	const char *text[] = {copy, NULL, "nginx"}, *name = NULL;
	int r;

	FUZZ_CHECK(copy);
	app_rules_begin(rules);
	r = app_rules_match(rules, text, 3, &name);
	FUZZ_CHECK(r == 0 || r == 1 || r == -EDQUOT);
	FUZZ_CHECK((r == 1) == (name != NULL));
	if (name)
		FUZZ_CHECK(*name && strlen(name) <= APP_RULE_NAME_MAX && !strchr(name, '\n'));
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size ? memrchr(data, 1, size) : NULL;
	size_t len = end ? (size_t)(end - data) : size, line = 0, lines = 1;
	struct app_rules *rules = NULL;
	const char *why = NULL;
	int r = app_rules_parse((const char *)data, len, &rules, &line, &why);

	for (size_t i = 0; i < len; i++)
		lines += data[i] == '\n';
	FUZZ_CHECK(r == 0 || r == -EINVAL);
	FUZZ_CHECK((r == 0) == (rules != NULL));
	if (r == -EINVAL)
		FUZZ_CHECK(line >= 1 && line <= lines && why && *why);
	else
		match(rules, end ? end + 1 : data + len, end ? size - len - 1 : 0);
	app_rules_free(rules);
	return 0;
}
