// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests of the rules of --apps. Hostile files: fuzz_query_app_rules. */
#include "unit.h"

#include "query/app_rules.h"

static void done(struct app_rules **rules)
{
	app_rules_free(*rules);
}

static struct app_rules *parse(const char *text)
{
	struct app_rules *rules = NULL;
	const char *why = "";
	size_t line = 0;

	if (app_rules_parse(text, strlen(text), &rules, &line, &why) != 0)
		fail_msg("line %zu: %s", line, why);
	return rules;
}

static void assert_named(struct app_rules *rules, const char *name, const char *exe,
			 const char *cmdline, const char *want)
{
	const char *text[] = {name, exe, cmdline}, *found = NULL;

	app_rules_begin(rules);
	assert_int_equal(app_rules_match(rules, text, ARRAY_SIZE(text), &found), want != NULL);
	if (want)
		assert_string_equal(found, want);
}

TEST(first_match)
{
	cleanup(done) struct app_rules *rules =
		parse("# web\n\n  \t\nshop web: ^(nginx|php-fpm)\r\n"
		      "billing:java .*billing\\.jar\n  # more\nshop: /srv/shop/\nrest: ^x$");

	assert_named(rules, "nginx", NULL, NULL, "shop web");
	assert_named(rules, "php-fpm8.2", NULL, "/srv/shop/x", "shop web");
	assert_named(rules, "java", NULL, "java -jar j/billing.jar", "billing");
	assert_named(rules, "app.js", "node", "node /srv/shop/app.js", "shop");
	assert_named(rules, "y", "x", NULL, "rest");
	assert_named(rules, "y", "node", "z", NULL);
	assert_named(rules, "xx", NULL, NULL, NULL);
}

/* As editors of Windows write it: with a byte order mark, and CR LF behind each line. */
TEST(windows)
{
	cleanup(done) struct app_rules *rules =
		parse("\xef\xbb\xbf# web\r\n\r\nweb: ^nginx$\r\nshop: /srv/shop/\r\n");
	cleanup(done) struct app_rules *first = parse("\xef\xbb\xbfweb: ^nginx$\r\n");
	cleanup(done) struct app_rules *none = parse("\xef\xbb\xbf");

	assert_named(rules, "nginx", NULL, NULL, "web");
	assert_named(rules, "app.js", "node", "node /srv/shop/app.js", "shop");
	assert_named(first, "nginx", NULL, NULL, "web");
	assert_named(none, "nginx", NULL, NULL, NULL);
}

TEST(empty)
{
	cleanup(done) struct app_rules *rules = parse("# nothing");
	cleanup(done) struct app_rules *none = parse("");

	assert_named(rules, "x", "x", "x", NULL);
	assert_named(none, "x", "x", "x", NULL);
}

TEST(wrong)
{
	static const struct {
		const char *text;
		size_t line;
		const char *why;
	} cases[] = {
		{"a: b\nnginx\n", 2, "there is no ':' behind a name"},
		{"\n\n: x", 3, "there is no name before ':'"},
		{"process_names:\n  - name: x", 1,
		 "there is no expression behind ':' (lines are NAME: ERE; YAML is not read)"},
		{"a\x1b[31m: b", 1, "the name has a control character"},
		{"a: b\n#\nc: (", 3, NULL},
		{"a: (b)\\1", 1, NULL},
	};
	struct app_rules *rules;
	char text[] = "a: b\0c\n", name[200] = "";
	const char *why;
	size_t line;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		rules = NULL;
		assert_int_equal(
			app_rules_parse(cases[i].text, strlen(cases[i].text), &rules, &line, &why),
			-EINVAL);
		assert_null(rules);
		assert_int_equal(line, cases[i].line);
		assert_true(*why);
		if (cases[i].why)
			assert_string_equal(why, cases[i].why);
	}
	assert_int_equal(app_rules_parse(text, sizeof(text) - 1, &rules, &line, &why), -EINVAL);
	assert_string_equal(why, "it has a NUL");
	memset(name, 'n', APP_RULE_NAME_MAX + 1);
	strcat(name, ": x");
	assert_int_equal(app_rules_parse(name, strlen(name), &rules, &line, &why), -EINVAL);
	assert_string_equal(why, "the name has more than 128 bytes");
}

TEST(many)
{
	char text[(APP_RULES_MAX + 1) * 5 + 1] = "";
	cleanup(done) struct app_rules *rules = NULL;
	struct app_rules *more;
	const char *why;
	size_t line;

	for (int i = 0; i <= APP_RULES_MAX; i++)
		strcat(text, "a: b\n");
	assert_int_equal(app_rules_parse(text, strlen(text), &more, &line, &why), -EINVAL);
	assert_int_equal(line, APP_RULES_MAX + 1);
	text[APP_RULES_MAX * 5] = '\0';
	rules = parse(text);
	assert_named(rules, "b", NULL, NULL, "a");
}

/* All rules share one budget, and a new run has all of it. */
TEST(expensive)
{
	cleanup(done) struct app_rules *rules =
		parse("a: (x*)*(x*)*(x*){100}y\nb: (x*)*(x*)*(x*){100}y\nc: x");
	char long_text[4000];
	const char *text[] = {long_text}, *found;
	int r = 0, runs = 0;

	memset(long_text, 'x', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	app_rules_begin(rules);
	while (r >= 0 && runs++ < 1000)
		r = app_rules_match(rules, text, 1, &found);
	assert_int_equal(r, -EDQUOT);
	assert_named(rules, "x", NULL, NULL, "c");
}
