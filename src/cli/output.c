// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Knows files, terminals and what their errors mean; not what is written. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/log.h"
#include "cli/output.h"
#include "privilege/privilege.h"

static int write_out(void *arg, const char *data, size_t len)
{
	const struct output *out = arg;
	int r;

	privilege_as_caller(true);
	r = file_write_fd(out->fd, data, len);
	privilege_as_caller(false);
	return r;
}

/* --color wins over NO_COLOR, that over TERM=dumb, that over what the output is. */
bool output_color(const struct options *o, bool terminal)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	if (o->color != COLOR_AUTO)
		return o->color == COLOR_ALWAYS;
	if (no_color && *no_color)
		return false;
	return terminal && term && strcmp(term, "dumb") != 0;
}

struct table_style output_style(const struct options *o, bool color, unsigned width)
{
	return (struct table_style){
		.bytes = o->bytes,
		.header = !o->no_header,
		.only_total = o->total,
		.color = color,
		.width = o->wide ? 0 : width,
		.wide = o->wide,
		.numeric = o->numeric,
	};
}

static int cannot_open(const struct output *out, int error)
{
	if (out->file.refusal)
		return log_error("opening %s: %s", out->path, out->file.refusal);
	return log_errno(error, "opening %s", out->path);
}

int output_open(struct output *out, const struct options *o)
{
	struct winsize size;
	int r;

	*out = (struct output){.fd = STDOUT_FILENO, .path = o->output, .file.fd = -1};
	out->buf.sink = write_out;
	out->buf.sink_arg = out;
	if (o->output) {
		privilege_as_caller(true);
		r = file_atomic_open(&out->file, o->output);
		privilege_as_caller(false);
		if (r < 0)
			return cannot_open(out, r);
		out->fd = out->file.fd;
	}
	out->terminal = isatty(out->fd);
	out->color = output_color(o, out->terminal);
	if (out->terminal && ioctl(out->fd, TIOCGWINSZ, &size) == 0) {
		out->width = size.ws_col;
		out->height = size.ws_row;
	}
	return 0;
}

int output_open_private(struct output *out, const char *path)
{
	int r;

	*out = (struct output){.fd = -1, .path = path, .file.fd = -1};
	out->buf.sink = write_out;
	out->buf.sink_arg = out;
	privilege_as_caller(true);
	r = file_atomic_open_private(&out->file, path);
	privilege_as_caller(false);
	out->fd = out->file.fd;
	return r < 0 ? cannot_open(out, r) : 0;
}

int output_flush(struct output *out)
{
	int r = strbuf_flush(&out->buf);

	return r < 0 ? log_errno(r, "writing %s", out->path ? out->path : "the output") : 0;
}

/*
 * An old file is replaced in two steps. Who interrupts us in between waits for the second, or the
 * first would be left in the directory. No other thread takes signals (proc_pool.c).
 */
static int commit(struct output *out)
{
	sigset_t all, before;
	int r = file_atomic_sync(&out->file);

	if (r < 0)
		return r;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = file_atomic_commit(&out->file);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}

int output_finish(struct output *out)
{
	int r = strbuf_flush(&out->buf);

	if (r == 0 && out->path) {
		privilege_as_caller(true);
		r = commit(out);
		privilege_as_caller(false);
	}
	if (r == 0)
		return EXIT_DONE;
	/* Whoever read it had enough, or there never was a stdout. */
	if (!out->path && (r == -EPIPE || r == -EBADF))
		return EXIT_DONE;
	return log_errno(r, "writing %s", out->path ? out->path : "the output");
}

void output_close(struct output *out)
{
	if (out->path) {
		privilege_as_caller(true);
		file_atomic_close(&out->file);
		privilege_as_caller(false);
	}
	strbuf_done(&out->buf);
}
