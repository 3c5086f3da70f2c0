// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Patterns match like regcomp() and regexec() of glibc, with bounded cost. */
#include "unit.h"

#include <regex.h>

#include "query/pattern.h"
#include "random_snapshot.h"

#define NAMES	 60
#define NAME_LEN 254

static bool glibc_matches(const char *pattern, const char *text)
{
	regex_t re;
	int r = regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB);

	if (r)
		fail_msg("glibc refuses '%s'", pattern);
	r = regexec(&re, text, 0, NULL, 0);
	regfree(&re);
	return r == 0;
}

/* Texts are separated by commas. NULL: no text. "": one empty text. Other patterns: random. */
static const struct {
	const char *pattern, *yes, *no;
} cases[] = {
	{"bash", "bash,/bin/bash -c x,rbash", "bas,Bash,ba sh"},
	{"", ",a,anything", NULL},
	{"a.c", "abc,a.c,a\nc,a\xffz\nabc", "ac,abbc"},
	{"\\(a\\)", "(a)", "a"},
	{"\\d", "d", "1"},
	{"^.$", "a,\xff,\n", ",\xc3\xa9,ab"},
	{"a$", "a,ba", "ab,a\n,a\nb"},
	{"a^b", NULL, "ab,a^b,a"},
	{"(^|/)sh", "sh,/bin/sh", "bash"},
	{"sh( |$)", "sh,sh -c", "shell"},
	{"^(ba|z)sh$|--serve", "bash,zsh,x --serve", "dash,bash -c"},
	{"^a+?$", ",a,aa", "b"},
	{"^a{2,3}$", "aa,aaa", "a,aaaa"},
	{"^a{02}$", "aa", "a"},
	{"^(a?b?){3}$", ",ab,aaa,ababab", "abababa,c"},
	{"a{1000}", NULL, "aaa"},
	{"a||b", ",c", NULL},
	{"(a|b)*c", "c,abc,dc", "ab"},
	{"^(foo|foobar)$", "foo,foobar", "foob"},
	{"[a-c-]", "-,b", "d"},
	{"[^]a]", "b,[", "],a"},
	{"[\\n]", "\\,n", "\n"},
	{"[[:alpha:]]", "a,Z", "1,_,\xe9"},
	{"[^[:digit:]]", "a", "1,12"},
	{"[[:punct:]]", "!,a.b", "ab"},
	{"[[.].]]", "]", "["},
	{"[\x80-\xff]", "\x80,\xc3\xa9", "a"},
	{"^\\w+$", "a_1", "a-1"},
	{"\\<ab\\>", "ab,x ab-", "abc,xab"},
	{"\\B", ",-,ab", "a"},
	{"^java .*-Xmx[0-9]+[gm]", "java -Xmx4g,java -x -Xmx512m A", "java -Xmx,ajava -Xmx4g"},
	{"kworker/[0-9]+:[0-9]+", "kworker/0:1", "kworker/u8:0"},
	{"python[23]?(\\.[0-9]+)?$", "python,python3,python3.11", "pythonw"},
	{"(postgres|mysqld): ?", "postgres: x,mysqld:", "postgres"},
	{"--config(=| ).*\\.ya?ml", "a --config=x.yml,a --config b.yaml", "--config=x.json"},
	{"^[^/]*$", "init,", "/sbin/init"},
	{"^\\[.*\\]$", "[kthreadd]", "kthreadd"},
};

/* For texts separated by commas. */
static void check_texts(const char *pattern, struct pattern *p, const char *texts, int want)
{
	char copy[256], *rest = copy, *text;

	if (!texts)
		return;
	assert_true(strlen(texts) < sizeof(copy));
	strcpy(copy, texts);
	while ((text = strsep(&rest, ","))) {
		if (pattern_match(p, text) != want)
			fail_msg("'%s' on '%s' is not %d", pattern, text, want);
		if (glibc_matches(pattern, text) != want)
			fail_msg("'%s' on '%s' is not %d to glibc", pattern, text, want);
	}
}

TEST(table)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct pattern *p;
		const char *why;

		if (pattern_compile(cases[i].pattern, &p, &why) < 0)
			fail_msg("'%s': %s", cases[i].pattern, why);
		check_texts(cases[i].pattern, p, cases[i].yes, 1);
		check_texts(cases[i].pattern, p, cases[i].no, 0);
		pattern_free(p);
	}
}

static void refuses(const char *pattern)
{
	struct pattern *p;
	const char *why = NULL;

	if (pattern_compile(pattern, &p, &why) != -EINVAL)
		fail_msg("taken: '%.60s'", pattern);
	assert_true(why && *why && !strchr(why, '\n'));
}

TEST(refused)
{
	static const char *const wrong[] = {
		"(",	    "[a", "*",	       "a|*b",	    "^*",	"a{2",	"a{2,1}",
		"a{32768}", "\\", "[[:foo:]]", "[[:alpha:", "[[.ab.]]", "[b-a]"};
	static const char *const ours[] = {"(a)\\1", "((a{255}){255}){255}", "a{20000}"};
	char deep[1000], *wide = malloc(PATTERN_PARTS_MAX + 2);
	regex_t re;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		refuses(wrong[i]);
		assert_int_not_equal(regcomp(&re, wrong[i], REG_EXTENDED | REG_NOSUB), 0);
	}
	/* These are too expensive. */
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		refuses(ours[i]);
	memset(deep, '(', 500);
	memset(deep + 500, ')', 500);
	deep[999] = '\0';
	refuses(deep);
	assert_non_null(wide);
	memset(wide, 'a', PATTERN_PARTS_MAX + 1);
	wide[PATTERN_PARTS_MAX + 1] = '\0';
	refuses(wide);
	free(wide);
}

/* ---- random patterns ---- */

static struct random random_state = {88172645463325252};

static unsigned below(unsigned n)
{
	return (unsigned)random_below(&random_state, n);
}

static void make_pattern(char *ret)
{
	static const char *const pieces[] = {
		"a",	       "b",
		"c",	       "-",
		"_",	       " ",
		".",	       "^",
		"$",	       "*",
		"+",	       "?",
		"|",	       "(",
		")",	       "(a",
		"b)",	       "(a|b)",
		"[ab]",	       "[^a]",
		"[",	       "]",
		"{",	       "}",
		"{2}",	       "{,2}",
		"{1,2}",       "{0}",
		"{0,1}",       "{2,}",
		"\\",	       "\\<",
		"\\>",	       "\\b",
		"\\B",	       "\\w",
		"\\W",	       "\\s",
		"\\S",	       "\\`",
		"()",	       "\\.",
		"\\'",	       "(|a)",
		"a**",	       "a+?",
		"[a-c]",       "[]a]",
		"[a-]",	       "{1",
		"1",	       ",",
		"\\n",	       "[^]]",
		"[--a]",       "[---]",
		"[[.a.]]",     "[[=b=]]",
		"[\\]",	       "\n",
		":",	       "=",
		"\xe9",	       "[a-b-c]",
		"[a---]",      "[b-a]",
		"[[:foo:]]",   "[[.-.]-a]",
		"[[:alpha:]]", "[[:digit:]-]",
		"[\x80-\xff]", "[[:alnum:]]",
		"[[:upper:]]", "[^[:lower:]]",
		"[[:space:]]", "[[:blank:]]",
		"[[:punct:]]", "[[:xdigit:]]",
		"[[:cntrl:]]", "[[:print:]]",
		"[[:graph:]]", "[[:digit:]]",
		"\\d",	       "\\{",
		"{02}",	       "{2,3}",
		"[[.a.]-c]",   "[[..]]",
		"[[=ab=]]",    "[a-[:digit:]]",
		"[%--]",       "[+-]",
		"A",	       "{ 1}",
		"{-1}",	       "\\/",
	};

	*ret = '\0';
	for (unsigned n = 1 + below(8); n; n--)
		strcat(ret, pieces[below(ARRAY_SIZE(pieces))]);
}

static void make_text(char *ret)
{
	static const char bytes[] = "aabbc-_ .\n\xe9]1,\\Zf\t&/\x7f{";
	unsigned len = below(9);

	for (unsigned i = 0; i < len; i++)
		ret[i] = bytes[below(sizeof(bytes) - 1)];
	ret[len] = '\0';
}

/* Within {}, glibc loses anchors: it matches (a|^b){2} on "ab", but not (a|^b)(a|^b). */
static bool glibc_errs(const char *pattern)
{
	static const char *const places[] = {"^", "$", "\\<", "\\>", "\\b", "\\B", "\\`", "\\'"};

	for (size_t i = 0; strchr(pattern, '{') && i < ARRAY_SIZE(places); i++) {
		if (strstr(pattern, places[i]))
			return true;
	}
	return false;
}

static void check_random(const char *pattern, const regex_t *re, struct pattern *p)
{
	for (int i = 0; i < 10 && !glibc_errs(pattern); i++) {
		char text[10];

		make_text(text);
		/* Within a pattern, glibc treats newlines as ends of lines without REG_NEWLINE. */
		if (strchr(text, '\n') && strpbrk(pattern, "^$"))
			continue;
		if ((regexec(re, text, 0, NULL, 0) == 0) != pattern_match(p, text))
			fail_msg("'%s' on '%s': glibc differs", pattern, text);
	}
}

TEST(random)
{
	unsigned taken = 0;

	for (int i = 0; i < 50000; i++) {
		char pattern[128];
		struct pattern *p;
		const char *why = NULL;
		regex_t re;
		bool glibc, ours;

		make_pattern(pattern);
		ours = pattern_compile(pattern, &p, &why) == 0;
		if (!ours && strstr(why, "\\1"))
			continue;
		glibc = regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB) == 0;
		if (glibc != ours)
			fail_msg("'%s': glibc %s it", pattern, glibc ? "takes" : "refuses");
		if (!ours)
			continue;
		taken++;
		check_random(pattern, &re, p);
		regfree(&re);
		pattern_free(p);
	}
	assert_true(taken > 10000);
}

/* ---- cost ---- */

/* Matches all names within a budget. Returns the result of the last match. */
static int run_over_names(const char *pattern, uint64_t *ret_steps)
{
	char name[NAME_LEN + 1];
	struct pattern *p;
	const char *why;
	int r = 0;

	if (pattern_compile(pattern, &p, &why) < 0)
		return -EINVAL;
	pattern_begin(p);
	for (int i = 0; i < NAMES && r >= 0; i++) {
		for (int k = 0; k < NAME_LEN; k++)
			name[k] = "ab"[below(2)];
		name[NAME_LEN] = '\0';
		r = pattern_match(p, name);
	}
	*ret_steps = pattern_steps(p);
	pattern_free(p);
	return r;
}

TEST(cost)
{
	char dots[200] = "(a|b)*a";
	uint64_t steps;

	assert_int_equal(run_over_names("^[ab]+$", &steps), 1);
	assert_int_equal(run_over_names("a++++++++++++++++++++++++", &steps), 1);
	assert_int_equal(run_over_names("((((a*)*)+)+)+c", &steps), 0);
	assert_true(steps < 10 * NAMES * (NAME_LEN + 1) * 2);
	memset(dots + 7, '.', 150);
	strcpy(dots + 157, "c");
	assert_int_equal(run_over_names(dots, &steps), 0);
	/* A byte costs at most one step for each part. */
	assert_true(steps < 165 * NAMES * (NAME_LEN + 1));
	assert_int_equal(run_over_names("(.?){4000}c", &steps), -E2BIG);
	assert_true(steps < PATTERN_STEPS_MAX + PATTERN_PARTS_MAX + NAME_LEN);
}

TEST(budget)
{
	struct pattern *p;
	const char *why;

	assert_int_equal(pattern_compile("(.?){2000}c", &p, &why), 0);
	pattern_begin(p);
	while (pattern_match(p, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa") == 0)
		;
	assert_int_equal(pattern_match(p, "aaaaaaaaaaaaaaaaa"), -E2BIG);
	pattern_begin(p);
	assert_int_equal(pattern_steps(p), 0);
	assert_int_equal(pattern_match(p, "aaaaaaaaaaaaaaaac"), 1);
	pattern_free(p);
	pattern_free(NULL);
}
