// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The one loop that reads the words of a command line into struct options. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/log.h"
#include "cli/options_table.h"
#include "base/cleanup.h"
#include "base/parse.h"
#include "base/strbuf.h"

static int set_choice(const struct option_entry *e, const char *arg, int *ret)
{
	cleanup(strbuf_done) struct strbuf words = {0};

	for (int i = 0; e->words[i]; i++) {
		if (strcmp(e->words[i], arg) == 0) {
			*ret = i;
			return 0;
		}
		strbuf_printf(&words, "%s%s", i ? ", " : "", e->words[i]);
	}
	return log_usage("--%s %s: it is one of %s", e->info.name, arg, strbuf_str(&words));
}

static int set_count(const struct option_entry *e, const char *arg, int *ret)
{
	uint64_t n;

	if (parse_u64(arg, strlen(arg), 1000000000, &n) < 0 || n == 0)
		return log_usage("--%s %s: not a number from 1 to 1000000000", e->info.name, arg);
	*ret = (int)n;
	return 0;
}

/* "1", "0.25": digits behind the third are of no use here. */
static int set_seconds(const struct option_entry *e, const char *arg, int *ret)
{
	size_t whole = strspn(arg, "0123456789"), rest = arg[whole] == '.' ? whole + 1 : whole;
	size_t digits = strspn(arg + rest, "0123456789");
	uint64_t seconds = 0, ms = 0;
	bool ok = !arg[rest + digits] && whole + digits && (rest == whole || digits);

	if (whole)
		ok &= parse_u64(arg, whole, 1000000, &seconds) == 0;
	for (size_t i = 0; i < 3; i++)
		ms = ms * 10 + (rest > whole && i < digits ? (uint64_t)(arg[rest + i] - '0') : 0);
	ms += seconds * 1000;
	if (!ok || ms < 100 || ms > 1000000000)
		return log_usage("--%s %s: not a number of seconds from 0.1 to 1000000",
				 e->info.name, arg);
	*ret = (int)ms;
	return 0;
}

static int set_number_or_all(const struct option_entry *e, const char *arg, int *ret)
{
	uint64_t n;

	if (strcmp(arg, "all") == 0) {
		*ret = VERIFY_ALL;
		return 0;
	}
	if (parse_u64(arg, strlen(arg), 1000000000, &n) < 0)
		return log_usage("--%s %s: neither a number nor 'all'", e->info.name, arg);
	*ret = (int)n;
	return 0;
}

static int set_nice(const struct option_entry *e, const char *arg, int *ret)
{
	uint64_t n;

	if (parse_u64(arg, strlen(arg), 19, &n) < 0)
		return log_usage("--%s %s: not a number from 0 to 19", e->info.name, arg);
	*ret = (int)n;
	return 0;
}

static int set_size(const struct option_entry *e, const char *arg, uint64_t *ret)
{
	uint64_t bytes;

	if (parse_size(arg, strlen(arg), &bytes) < 0)
		return log_usage("--%s %s: not a size (100M)", e->info.name, arg);
	*ret = bytes;
	return 0;
}

static int add_list(const char *arg, char **list)
{
	char *joined;

	if (asprintf(&joined, "%s%s%s", *list ? *list : "", *list ? "," : "", arg) < 0)
		return log_error("reading the options: out of memory");
	free(*list);
	*list = joined;
	return 0;
}

static int set_option(struct options *o, const struct option_entry *e, const char *arg)
{
	char *member = (char *)o + e->offset;

	switch (e->kind) {
	case FLAG:
		*(bool *)member = true;
		return 0;
	case STRING:
		*(const char **)member = arg;
		return 0;
	case LIST:
		return add_list(arg, (char **)member);
	case COUNT:
		return set_count(e, arg, (int *)member);
	case SECONDS:
		return set_seconds(e, arg, (int *)member);
	case NUMBER_OR_ALL:
		return set_number_or_all(e, arg, (int *)member);
	case CHOICE:
		return set_choice(e, arg, (int *)member);
	case NICE:
		return set_nice(e, arg, (int *)member);
	case SIZE:
		return set_size(e, arg, (uint64_t *)member);
	case SET:
		*(int *)member = e->value;
		return 0;
	}
	return 0;
}

#define WORD	  1   /* getopt's value of what is no option */
#define LONG_ONLY 256 /* and of an option without a letter */

static void make_getopt(char *letters, struct option *longs)
{
	/* Words in their place whatever POSIXLY_CORRECT says; missing arguments told apart. */
	*letters++ = '-';
	*letters++ = ':';
	for (size_t i = 0; i < option_count; i++) {
		const struct option_info *info = &option_table[i].info;

		longs[i] = (struct option){info->name, info->argument ? 1 : 0, NULL,
					   LONG_ONLY + (int)i};
		if (!info->letter)
			continue;
		*letters++ = info->letter;
		if (info->argument)
			*letters++ = ':';
	}
	*letters = '\0';
}

static const struct option_entry *find_entry(int c)
{
	if (c >= LONG_ONLY)
		return &option_table[c - LONG_ONLY];
	for (size_t i = 0; i < option_count; i++) {
		if (option_table[i].info.letter == c)
			return &option_table[i];
	}
	return NULL;
}

static int bad_option(int c, char **argv)
{
	const struct option_entry *e = optopt ? find_entry(optopt) : NULL;

	if (c == ':' && e)
		return log_usage("--%s: it needs an argument, %s", e->info.name, e->info.argument);
	if (e && optopt >= LONG_ONLY)
		return log_usage("--%s takes no argument", e->info.name);
	if (!optopt)
		return log_usage("unknown option %s", argv[optind - 1]);
	if (optopt > ' ' && optopt < 127)
		return log_usage("unknown option -%c", optopt);
	return log_usage("unknown option -\\x%02x", (unsigned char)optopt);
}

/* How many words a command takes. */
static size_t words_of(const char *command)
{
	if (strcmp(command, "record") == 0 || strcmp(command, "pin") == 0)
		return 1;
	return strcmp(command, "maps") == 0 ? SIZE_MAX : 0;
}

static int add_word(struct options *o, const char *word)
{
	if (!o->named) {
		o->command = word;
		o->named = true;
		return 0;
	}
	if (o->word_count >= words_of(o->command))
		return log_usage("%s: unexpected argument", word);
	o->words[o->word_count++] = word;
	return 0;
}

int options_parse(struct options *o, int argc, char **argv)
{
	char letters[2 * OPTIONS_MAX + 3];
	struct option longs[OPTIONS_MAX + 1] = {};
	int c, r = 0;

	*o = (struct options){
		.command = "snapshot", .verify = VERIFY_DEFAULT, .nice = NICE_DEFAULT};
	o->words = calloc((size_t)argc + 1, sizeof(*o->words));
	if (!o->words)
		return log_error("reading the options: out of memory");
	make_getopt(letters, longs);
	opterr = 0;
	while (!r && (c = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		if (c == '?' || c == ':')
			r = bad_option(c, argv);
		else if (c == WORD)
			r = add_word(o, optarg);
		else
			r = set_option(o, find_entry(c), optarg);
	}
	/* Behind "--". */
	while (!r && optind < argc)
		r = add_word(o, argv[optind++]);
	return r;
}

void options_done(struct options *o)
{
	for (size_t i = 0; i < option_count; i++) {
		if (option_table[i].kind == LIST)
			free(*(char **)((char *)o + option_table[i].offset));
	}
	free(o->words);
}
