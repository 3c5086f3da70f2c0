/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rules that name applications (--apps). Each is a line "NAME: ERE". Empty lines and lines that
 * begin with '#' are ignored, and so is a byte order mark of UTF-8 at the beginning. Lines may end
 * with CR LF. The first rule that matches names the process. Pure.
 */
#ifndef ZMEM_QUERY_APP_RULES_H
#define ZMEM_QUERY_APP_RULES_H

#include <stddef.h>
#include <stdint.h>

#include "query/pattern.h"

#define APP_RULES_MAX	   200
#define APP_RULES_FILE_MAX 65536 /* bytes */
#define APP_RULE_NAME_MAX  128	 /* bytes */
/* Some 5 ns each. Command lines of Java have 20 KiB and more; -f sees 4 KiB of each. */
#define APP_RULES_STEPS_MAX (4 * (uint64_t)PATTERN_STEPS_MAX)

struct app_rules;

/*
 * Returns 0, -ENOMEM, or -EINVAL with the number of the line and a static text that says why.
 * app_rules_free() accepts NULL.
 */
int app_rules_parse(const char *text, size_t len, struct app_rules **ret, size_t *ret_line,
		    const char **ret_why);
void app_rules_free(struct app_rules *rules);

/* Restores the budget of steps, APP_RULES_STEPS_MAX for all rules: for each run over processes. */
void app_rules_begin(struct app_rules *rules);
/*
 * Tries each rule with each text; NULL is no text. Returns 1 and the name, which the rules own, 0
 * if no rule matches, or -EDQUOT when the budget is spent.
 */
int app_rules_match(struct app_rules *rules, const char *const *text, size_t count,
		    const char **ret_name);

#endif
