// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reading words by a table of options that is not the program's: with more and longer words to
 * choose from, and more lists, than the program has so far.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/log.h"
#include "cli/options_table.h"
#include "base/array.h"

#define WORDS 200

static char text[WORDS][32];
static const char *words[WORDS + 1];

#define AT(member) offsetof(struct options, member)

const struct option_entry option_table[] = {
	{{"choice", 'c', "WORD", ""}, CHOICE, AT(format), words},
	{{"pid", 'p', "LIST", ""}, LIST, AT(pids)},
	{{"user", 'u', "LIST", ""}, LIST, AT(users)},
	{{"listen", 'l', "LIST", ""}, LIST, AT(listen)},
	{{"fourth", '4', "LIST", ""}, LIST, AT(cgroup)},
	{{"fifth", '5', "LIST", ""}, LIST, AT(output)},
};
const size_t option_count = ARRAY_SIZE(option_table);

static int parse(struct options *o, char **argv)
{
	int argc = 0;

	while (argv[argc])
		argc++;
	optind = 0;
	return options_parse(o, argc, argv);
}

static void test_many_words(void **state)
{
	char *argv[] = {"zmem-bpf", "--choice", "none", NULL}, *said = NULL;
	FILE *err = stderr;
	struct options o;
	size_t len = 0;
	int r;

	(void)state;
	stderr = open_memstream(&said, &len);
	assert_non_null(stderr);
	r = parse(&o, argv);
	fclose(stderr);
	stderr = err;
	assert_int_equal(r, EXIT_USAGE);
	/* Of a long message the beginning and the end. */
	assert_non_null(strstr(said, words[WORDS - 1]));
	assert_non_null(strstr(said, "--choice none: it is one of word-0-"));
	free(said);
	options_done(&o);
}

static void test_lists(void **state)
{
	char *argv[] = {"zmem-bpf", "-p",   "1",  "-u", "root", "-l",	"here", "-4",	 "four",
			"-5",	    "five", "-p", "2",	"-4",	"more", "-l",	"there", NULL};
	struct options o;

	(void)state;
	assert_int_equal(parse(&o, argv), 0);
	assert_string_equal(o.pids, "1,2");
	assert_string_equal(o.users, "root");
	assert_string_equal(o.listen, "here,there");
	assert_string_equal(o.cgroup, "four,more");
	assert_string_equal(o.output, "five");
	options_done(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_words),
		cmocka_unit_test(test_lists),
	};

	for (int i = 0; i < WORDS; i++) {
		snprintf(text[i], sizeof(text[i]), "word-%d-----------------------", i);
		words[i] = text[i];
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
