// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From argv to an exit code, and what is set up before any command. */
#include "command/run.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/parse.h"
#include "command/help.h"
#include "command/table.h"
#include "session/launch.h"
#include "session/log.h"
#include "session/options_check.h"
#include "session/replay.h"
#include "session/secure.h"

/* -o help and -s help list the columns. */
static bool is_help(const char *list)
{
	return list && strcmp(list, "help") == 0;
}

/* A moment is one of the usual recording, if none is named. */
static void choose_recording(struct options *o)
{
	const bool moment = o->at || o->since || o->until;
	const char *taken = o->command->options;

	if (moment && !o->replay && taken && parse_has_item(taken, "replay"))
		o->replay = REPLAY_DIR_USUAL;
}

static int run_command(struct options *o)
{
	const struct command *command = o->command;
	bool help = is_help(o->columns) || is_help(o->sort);
	int r;

	if (o->help)
		return help_print(o->commands, o->named ? command : NULL);
	if (o->version)
		return command_version(o);
	if (o->unknown_command)
		return help_refuse(o, o->unknown_command);
	if (o->unknown && !options_taken(o->unknown, command))
		return log_usage(o, "%s does not take --%s", command->name, o->unknown->name);
	if (o->unknown)
		return options_refuse_choice(o);
	choose_recording(o);
	r = help ? options_check_taken(o) : options_check(o);
	if (r)
		return r;
	return help ? help_print_columns(o) : command->run(o);
}

/*
 * The next file that is opened would get the number of a closed stdin, stdout or stderr, and output
 * would go to that file. Each closed one is opened so that using it fails, as if it were closed.
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
	/* Larger than any output: if a write before the end fails, stdio forgets why. */
	static char buf[65536];
	cleanup(launch_close) struct launch run = LAUNCH_NONE;
	struct options o;
	int r;

	occupy_standard_fds();
	if (!isatty(STDOUT_FILENO))
		setvbuf(stdout, buf, _IOFBF, sizeof(buf));
	launch_set_signals(&run);
	r = secure_stack();
	if (r)
		return r;
	r = options_parse(&o, &command_table, argc, argv);
	if (r == 0 && o.command_line) {
		run.maps = o.malloc;
		r = launch_fork(&run, o.command_line);
		o.run = &run;
	}
	if (r == 0)
		r = secure_start(o.command->traits & COMMAND_ADMINISTERS,
				 o.keep || o.command->traits & COMMAND_WATCHES,
				 o.command->traits & COMMAND_OPENS,
				 o.command->traits & COMMAND_LISTS, &o.held);
	/*
	 * Tables have local times. With file capabilities the environment is gone, and TZ with it.
	 * Later a sandbox denies the file of the zone.
	 */
	tzset();
	if (r == 0)
		r = run_command(&o);
	if (o.run)
		r = launch_exit_code(&run, r);
	options_done(&o);
	return r;
}
