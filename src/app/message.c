// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One line a message, in one write, and nothing in it that could steer a terminal. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "app/message.h"

static void say(const char *fmt, va_list args, const char *tail)
{
	char text[1024];

	vsnprintf(text, sizeof(text), fmt, args);
	/* Arguments are quoted in messages, and arguments hold anything. */
	for (char *c = text; *c; c++) {
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = '?';
	}
	fprintf(stderr, "zmem-bpf: %s%s\n", text, tail);
}

int message_error(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say(fmt, args, "");
	va_end(args);
	return EXIT_FAILED;
}

int message_usage(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say(fmt, args, " (zmem-bpf --help)");
	va_end(args);
	return EXIT_USAGE;
}

void message_note(bool quiet, const char *fmt, ...)
{
	va_list args;

	if (quiet)
		return;
	va_start(args, fmt);
	say(fmt, args, "");
	va_end(args);
}

void message_diag(const struct diag *d, bool logs)
{
	for (int i = 0; i < d->count; i++) {
		const struct diag_note *n = &d->note[i];

		fprintf(stderr, "zmem-bpf: %s: %s%s%s%s\n", n->what, n->why ? n->why : "",
			n->todo ? " (" : "", n->todo ? n->todo : "", n->todo ? ")" : "");
		if (logs && n->log)
			fprintf(stderr, "%s\n", n->log);
	}
}
