// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Options that are given more than once, and arguments that are too long for a message. */
#include "unit.h"

#include <getopt.h>

#include "session/log.h"
#include "command/table.h"
#include "session/options.h"

static int parse(struct options *o, char **argv)
{
	int argc = 0;

	while (argv[argc])
		argc++;
	optind = 0;
	return options_parse(o, &command_table, argc, argv);
}

TEST(long_argument)
{
	static char word[100000];
	char *argv[] = {"zmem-bpf", "--interval", word, NULL}, *said = NULL;
	FILE *err = stderr;
	struct options o;
	size_t len = 0;
	int r;

	memset(word, 'a', sizeof(word) - 1);
	stderr = open_memstream(&said, &len);
	assert_non_null(stderr);
	r = parse(&o, argv);
	fclose(stderr);
	stderr = err;
	assert_int_equal(r, EXIT_USAGE);
	/* Of a long message the beginning and the end. */
	assert_uint_in_range(len, 300, 600);
	assert_non_null(strstr(said, "--interval aaaa"));
	assert_non_null(strstr(said, "…aaaa"));
	assert_non_null(strstr(said, "aaaa: not a time from"));
	free(said);
	options_done(&o);
}

/* The command, which knows its words, may follow. */
TEST(unknown_word)
{
	char *argv[] = {"zmem-bpf", "-F", "xml", "files", NULL};
	struct options o;

	assert_int_equal(parse(&o, argv), 0);
	assert_string_equal(o.unknown->name, "format");
	assert_string_equal(o.unknown_word, "xml");
	assert_string_equal(o.command->name, "files");
	options_done(&o);
}

TEST(lists)
{
	char *argv[] = {"zmem-bpf", "-p",  "1",	 "-u", "root",	   "--listen", "here",
			"-p",	    "2,3", "-p", "4",  "--listen", "there",    NULL};
	struct options o;

	assert_int_equal(parse(&o, argv), 0);
	assert_string_equal(o.pids, "1,2,3,4");
	assert_string_equal(o.users, "root");
	assert_string_equal(o.listen, "here,there");
	options_done(&o);
}
