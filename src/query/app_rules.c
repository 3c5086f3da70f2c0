// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Parses and tries the rules that name applications. */
#include "query/app_rules.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/parse.h"

#define BYTE_ORDER_MARK "\xef\xbb\xbf" /* of UTF-8 */

struct rule {
	char *name;
	struct pattern *pattern;
};

struct app_rules {
	size_t count;
	uint64_t steps; /* of all rules since app_rules_begin() */
	struct rule rule[APP_RULES_MAX];
};

void app_rules_free(struct app_rules *rules)
{
	if (!rules)
		return;
	for (size_t i = 0; i < rules->count; i++) {
		free(rules->rule[i].name);
		pattern_free(rules->rule[i].pattern);
	}
	free(rules);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static struct text_part trimmed(struct text_part part)
{
	while (part.len && is_blank(*part.s))
		part = part_behind(part, 1);
	while (part.len && is_blank(part.s[part.len - 1]))
		part.len--;
	return part;
}

static bool has_control(struct text_part part)
{
	for (size_t i = 0; i < part.len; i++) {
		if ((unsigned char)part.s[i] < ' ' || part.s[i] == 0x7f)
			return true;
	}
	return false;
}

/* Returns 0, -ENOMEM, or -EINVAL and why. */
static int add_rule(struct app_rules *rules, struct text_part line, const char **ret_why)
{
	struct text_part rest = line, name = trimmed(part_split(&rest, ':'));
	struct text_part text = trimmed(rest);
	struct rule *rule = &rules->rule[rules->count];
	cleanup_free char *pattern = NULL;
	int r;

	*ret_why = memchr(line.s, '\0', line.len) ? "it has a NUL"
		   : rest.s == line.s + line.len && line.s[line.len - 1] != ':'
			   ? "there is no ':' behind a name"
		   : !name.len			   ? "there is no name before ':'"
		   : name.len > APP_RULE_NAME_MAX  ? "the name has more than 128 bytes"
		   : has_control(name)		   ? "the name has a control character"
		   : !text.len			   ? "there is no expression behind ':' "
						     "(lines are NAME: ERE; YAML is not read)"
		   : rules->count == APP_RULES_MAX ? "there are more than 200 rules"
						   : NULL;
	if (*ret_why)
		return -EINVAL;
	pattern = strndup(text.s, text.len);
	if (!pattern)
		return -ENOMEM;
	r = pattern_compile(pattern, &rule->pattern, ret_why);
	if (r < 0)
		return r;
	rule->name = strndup(name.s, name.len);
	if (!rule->name) {
		pattern_free(rule->pattern);
		return -ENOMEM;
	}
	rules->count++;
	return 0;
}

int app_rules_parse(const char *text, size_t len, struct app_rules **ret, size_t *ret_line,
		    const char **ret_why)
{
	struct text_part rest = {text, len};
	struct app_rules *rules = calloc(1, sizeof(*rules));
	int r = rules ? 0 : -ENOMEM;

	/* Editors of Windows begin a file with it. */
	if (part_begins(rest, BYTE_ORDER_MARK))
		rest = part_behind(rest, strlen(BYTE_ORDER_MARK));
	for (size_t line = 1; r == 0 && rest.len; line++) {
		struct text_part part = trimmed(part_split(&rest, '\n'));

		if (!part.len || *part.s == '#')
			continue;
		r = add_rule(rules, part, ret_why);
		if (r == -EINVAL)
			*ret_line = line;
	}
	if (r < 0) {
		app_rules_free(rules);
		return r;
	}
	*ret = rules;
	return 0;
}

void app_rules_begin(struct app_rules *rules)
{
	rules->steps = 0;
}

int app_rules_match(struct app_rules *rules, const char *const *text, size_t count,
		    const char **ret_name)
{
	for (size_t i = 0; i < rules->count; i++) {
		struct pattern *pattern = rules->rule[i].pattern;

		for (size_t k = 0; k < count; k++) {
			int r;

			if (!text[k])
				continue;
			pattern_begin(pattern);
			r = pattern_match(pattern, text[k]);
			rules->steps += pattern_steps(pattern);
			if (r < 0 || rules->steps > APP_RULES_STEPS_MAX)
				return -EDQUOT;
			if (r > 0) {
				*ret_name = rules->rule[i].name;
				return 1;
			}
		}
	}
	return 0;
}
