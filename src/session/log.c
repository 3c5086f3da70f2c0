// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Prints messages: each is one line and one write, with nothing that a terminal would interpret. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/utf8.h"
#include "session/log.h"
#include "session/options.h"

/* A longer message is printed without its middle: the end says why. */
#define HEAD_MAX     200
#define TAIL_MAX     300
#define WHY_MAX	     200

#define COMMAND_WORD 24 /* more bytes than a command has */

/* Messages quote arguments, which hold any bytes. Returns the new length. */
static size_t make_printable(char *text, size_t len)
{
	size_t to = 0;

	for (size_t from = 0, n; from < len; from += n) {
		uint32_t c;

		n = utf8_decode(text + from, len - from, &c);
		if (n && utf8_printable(c)) {
			memmove(text + to, text + from, n);
			to += n;
		} else {
			text[to++] = '?';
			n = n ? n : 1;
		}
	}
	text[to] = '\0';
	return to;
}

/* Whether a character of UTF-8 began before `at`. */
static bool within_char(const char *at)
{
	return (*at & 0xc0) == 0x80;
}

static void print_message(const char *fmt, va_list args, const char *suffix)
{
	cleanup_free char *text = NULL;
	size_t len, head, tail;

	if (vasprintf(&text, fmt, args) < 0) {
		text = NULL;
		fprintf(stderr, "zmem-bpf: out of memory\n");
		return;
	}
	len = make_printable(text, strlen(text));
	if (len <= HEAD_MAX + TAIL_MAX) {
		fprintf(stderr, "zmem-bpf: %s%s\n", text, suffix);
		return;
	}
	head = HEAD_MAX;
	while (within_char(text + head))
		head--;
	tail = len - TAIL_MAX;
	while (within_char(text + tail))
		tail++;
	fprintf(stderr, "zmem-bpf: %.*s…%s%s\n", (int)head, text, text + tail, suffix);
}

int log_error(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	print_message(fmt, args, "");
	va_end(args);
	return EXIT_FAILED;
}

int log_errno(int error, const char *fmt, ...)
{
	const struct diag_note note = {.hint = file_exhausted_hint(error)};
	char why[WHY_MAX] = ": ";
	va_list args;

	diag_text(why + 2, sizeof(why) - 2, &note, error);
	va_start(args, fmt);
	print_message(fmt, args, why);
	va_end(args);
	return EXIT_FAILED;
}

int log_usage(const struct options *o, const char *fmt, ...)
{
	char hint[COMMAND_WORD + 24];
	va_list args;

	snprintf(hint, sizeof(hint), " (zmem-bpf %s%s--help)", o->named ? o->command->name : "",
		 o->named ? " " : "");
	va_start(args, fmt);
	print_message(fmt, args, hint);
	va_end(args);
	return EXIT_USAGE;
}

void log_notice(bool quiet, const char *fmt, ...)
{
	va_list args;

	if (quiet)
		return;
	va_start(args, fmt);
	print_message(fmt, args, "");
	va_end(args);
}

int log_stdout_done(void)
{
	bool failed = ferror(stdout);

	if (fflush(stdout)) {
		if (errno == EPIPE || errno == EBADF)
			return EXIT_DONE;
		return log_errno(-errno, "writing the output");
	}
	return failed ? log_error("writing the output: %s", strerror(EIO)) : EXIT_DONE;
}

int log_refusal(const struct diag_note *n, int error)
{
	char text[DIAG_TEXT];

	diag_text(text, sizeof(text), n, error);
	return log_error("%s", text);
}

void log_diag(const struct diag *d, bool logs)
{
	for (int i = 0; i < d->count; i++) {
		const struct diag_note *n = &d->note[i];
		char text[DIAG_TEXT];

		diag_text(text, sizeof(text), n, -ENOMEM);
		log_notice(false, "%s: %s", n->subject, text);
		if (logs && n->log)
			fprintf(stderr, "%s\n", n->log);
	}
}
