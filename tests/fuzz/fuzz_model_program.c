// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Names of programs: a part of the executable's name, of comm or of the command line, not empty if
 * there was any, and without a '/' unless the executable's has one. The input is exe, comm and the
 * command line; the first two end with NUL. Apps: not empty either, short, made of the command line
 * only if app_needs_cmdline() says so, and not cut within a character.
 */
#include "fuzz.h"
#include "model/app.h"
#include "model/program.h"
#include "../support/utf8_valid.h"

static bool is_within(struct text_part n, const char *text, size_t len)
{
	return n.s >= text && n.s <= text + len && n.len <= (size_t)(text + len - n.s);
}

static void check_app(const char *exe, const char *comm, const char *cmdline, size_t len)
{
	char app[APP_MAX + 1], bare[APP_MAX + 1];
	size_t n = app_of(exe, comm, cmdline, len, app);

	FUZZ_CHECK(n == strlen(app) && n <= APP_MAX && (n || !*exe));
	if (utf8_valid(exe, strlen(exe)) && utf8_valid(comm, strlen(comm)) &&
	    utf8_valid(cmdline, len))
		FUZZ_CHECK(utf8_valid(app, n));
	app_of(exe, comm, NULL, 0, bare);
	FUZZ_CHECK(app_needs_cmdline(exe, comm) || strcmp(app, bare) == 0);
}

const unsigned fuzz_changes = 1000;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *exe_end = memchr(text, '\0', size), *comm_end;
	struct text_part n, bare;
	size_t len;
	char *comm;

	if (!exe_end)
		return 0;
	comm_end = memchr(exe_end + 1, '\0', (size_t)(text + size - exe_end - 1));
	if (!comm_end)
		return 0;
	/* The kernel keeps 15 bytes. */
	comm = strndup(exe_end + 1, 15);
	FUZZ_CHECK(comm);
	len = (size_t)(text + size - comm_end - 1);
	n = program_name(text, comm, comm_end + 1, len);
	FUZZ_CHECK(is_within(n, text, strlen(text)) || is_within(n, comm, strlen(comm)) ||
		   is_within(n, comm_end + 1, len));
	FUZZ_CHECK(n.len || !*text);
	FUZZ_CHECK(!n.len || !memchr(n.s, '\0', n.len));
	if (is_within(n, comm_end + 1, len) && n.len)
		FUZZ_CHECK(n.len <= PROGRAM_NAME_MAX && n.s[n.len - 1] != '/');
	/* If program_needs_cmdline() is false, the command line has no influence. */
	bare = program_name(text, comm, NULL, 0);
	if (!program_needs_cmdline(text, comm))
		FUZZ_CHECK(n.s == bare.s && n.len == bare.len);
	check_app(text, comm, comm_end + 1, len);
	free(comm);
	return 0;
}
