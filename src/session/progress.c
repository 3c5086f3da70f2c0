// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Blanks erase the line, not an escape sequence: each terminal knows them. */
#include "session/progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define COLUMNS_USUAL 80
#define ECHO_COLUMNS  2 /* "^C": the terminal writes it behind the line */

void progress_open(struct progress *p, bool quiet)
{
	struct stat out;
	bool seen =
		isatty(STDOUT_FILENO) || (fstat(STDOUT_FILENO, &out) == 0 && S_ISREG(out.st_mode));

	*p = (struct progress){.on = !quiet && seen && isatty(STDERR_FILENO)};
}

/* A full line would go on in the next one, and could not be erased. */
static size_t columns_that_fit(void)
{
	struct winsize size;
	size_t columns = COLUMNS_USUAL;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
		columns = size.ws_col;
	return columns > ECHO_COLUMNS + 1 ? columns - ECHO_COLUMNS - 1 : 0;
}

void progress_show(struct progress *p, const char *text)
{
	size_t len = strlen(text), fit = columns_that_fit();
	size_t before = p->columns < fit ? p->columns : fit;

	if (!p->on)
		return;
	len = len < fit ? len : fit;
	fprintf(stderr, "\r%-*.*s", (int)before + (len ? 0 : ECHO_COLUMNS), (int)len, text);
	p->columns = len;
}

void progress_clear(struct progress *p)
{
	if (!p->columns)
		return;
	progress_show(p, "");
	fputs("\r", stderr);
}
