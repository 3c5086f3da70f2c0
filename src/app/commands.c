// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* argv → command → exit code. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/commands.h"
#include "app/message.h"
#include "app/secure.h"
#include "base/cleanup.h"
#include "zmem/source.h"

static const struct {
	const char *name;
	int (*run)(const struct options *o);
} commands[] = {
	{"snapshot", command_snapshot}, {"compare", command_compare}, {"system", command_system},
	{"maps", command_maps},		{"record", command_record},   {"doctor", command_doctor},
};

/* Options that some commands have no use for, and that would be missed if nothing came of them. */
static int check_options(const struct options *o)
{
	bool record = strcmp(o->command, "record") == 0;
	bool maps = strcmp(o->command, "maps") == 0;

	bool reads = strcmp(o->command, "record") != 0 && strcmp(o->command, "doctor") != 0;

	if (o->by_file && !maps)
		return message_usage("%s: it takes no --by-file", o->command);
	if (o->replay && !reads)
		return message_usage("%s: it does not read a recording (--replay)", o->command);
	if (o->format > FORMAT_JSON && strcmp(o->command, "snapshot") != 0)
		return message_usage("%s: --format ndjson, csv, folded and html are of snapshots",
				     o->command);
	if (o->replay && o->source != SOURCE_AUTO)
		return message_usage("--source: a recording (--replay) has its own");
	if ((o->count || o->interval_ms) && !record)
		return message_usage("%s: it takes no --%s", o->command,
				     o->count ? "count" : "interval");
	return 0;
}

static int run_command(const struct options *o)
{
	if (o->help)
		return help_text();
	if (o->version) {
		printf("zmem-bpf %s\n", ZMEM_VERSION);
		return message_stdout_done();
	}
	if (o->columns && strcmp(o->columns, "help") == 0)
		return help_columns();
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(commands[i].name, o->command) == 0) {
			int r = check_options(o);

			return r ? r : commands[i].run(o);
		}
	}
	return message_usage("%s: there is no such command", o->command);
}

/*
 * A closed stdin, stdout or stderr would be the number of the next file we open, and output would
 * go there. What is closed is opened so that using it fails as if it were closed.
 */
static void occupy_standard_fds(void)
{
	for (int fd = 0; fd <= 2; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd ? O_RDONLY : O_WRONLY);
	}
}

int commands_run(int argc, char **argv)
{
	/* More than is ever printed: stdio forgets why it failed to write in between. */
	static char buf[65536];
	struct options o;
	uint64_t held;
	int r;

	occupy_standard_fds();
	if (!isatty(STDOUT_FILENO))
		setvbuf(stdout, buf, _IOFBF, sizeof(buf));
	/* A reader that went away is told by write(), not by a signal in the middle of a file. */
	signal(SIGPIPE, SIG_IGN);
	r = secure_start(&held);
	if (r)
		return r;
	r = options_parse(&o, argc, argv);
	o.held = held;
	if (r == 0)
		r = run_command(&o);
	options_done(&o);
	return r;
}
