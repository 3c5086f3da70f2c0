// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Command lines: the input is words, each terminated by NUL. Each command line is accepted, or
 * refused with one printable line. Names of users and regular expressions are left out: glibc
 * handles them.
 */
#include <getopt.h>

#include "session/log.h"
#include "command/table.h"
#include "session/options.h"
#include "session/query_args.h"
#include "base/utf8.h"
#include "fuzz.h"

#define WORDS_MAX 32

static int make_argv(char *text, size_t size, char **argv)
{
	int argc = 0;

	argv[argc++] = "zmem-bpf";
	for (char *pos = text; argc < WORDS_MAX && pos < text + size; pos += strlen(pos) + 1)
		argv[argc++] = pos;
	argv[argc] = NULL;
	return argc;
}

static void check_options(const struct options *o)
{
	FUZZ_CHECK(o->command && o->top >= 0 && o->verify >= VERIFY_DEFAULT);
	FUZZ_CHECK(o->format >= FORMAT_TABLE && o->format <= FORMAT_HTML);
	FUZZ_CHECK(o->group >= 0 && (!o->group || options_group_key(o)));
	FUZZ_CHECK(o->color >= COLOR_AUTO && o->color <= COLOR_NEVER);
	FUZZ_CHECK(o->pss >= PSS_AUTO && o->pss <= PSS_NONE);
	FUZZ_CHECK(o->source >= SOURCE_AUTO && o->source <= SOURCE_PROC);
}

static int check_request(const struct options *given)
{
	struct options some = *given, *o = &some;
	struct field_list columns = {};
	struct query q = {};
	int r;

	o->users = NULL;
	o->filter = NULL;
	r = query_args_read(&q, &columns, o, (enum pss_choice)o->pss, NULL, NULL);
	if (r == 0) {
		FUZZ_CHECK(columns.count && q.order.keys.count);
		FUZZ_CHECK(!o->pids == !q.filter.pids && !o->pids == !q.filter.pid_count);
		for (size_t i = 0; i < q.filter.pid_count; i++)
			FUZZ_CHECK(q.filter.pids[i] > 0 &&
				   (!i || q.filter.pids[i - 1] <= q.filter.pids[i]));
	}
	query_done(&q);
	return r;
}

/* No output on success, else one line without terminal control characters. */
static void check_said(const char *text, size_t len, int r)
{
	if (r == 0) {
		FUZZ_CHECK(len == 0);
		return;
	}
	FUZZ_CHECK(r == EXIT_USAGE && len && text[len - 1] == '\n' && len < 1100);
	FUZZ_CHECK(!strncmp(text, "zmem-bpf: ", 10));
	for (size_t i = 0, n; i < len - 1; i += n) {
		uint32_t c;

		n = utf8_decode(text + i, len - i, &c);
		FUZZ_CHECK(n && utf8_printable(c));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_string(data, size), *argv[WORDS_MAX + 1], *said = NULL;
	FILE *err = stderr;
	struct options o;
	size_t said_len = 0;
	int r;

	stderr = open_memstream(&said, &said_len);
	FUZZ_CHECK(stderr);
	optind = 0; /* reset getopt */
	r = options_parse(&o, &command_table, make_argv(text, size, argv), argv);
	if (r == 0) {
		check_options(&o);
		r = check_request(&o);
	}
	fclose(stderr);
	stderr = err;
	check_said(said, said_len, r);
	options_done(&o);
	free(said);
	free(text);
	return 0;
}
