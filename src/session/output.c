// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Files, pipes and terminals that are written to, and what their errors mean. */
#include "session/output.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "privilege/privilege.h"
#include "session/log.h"

/* --color wins over NO_COLOR, NO_COLOR over TERM=dumb, TERM=dumb over isatty(). */
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
		.tabs = o->format == FORMAT_TSV,
	};
}

size_t output_rows(unsigned width, unsigned height, unsigned lines, unsigned columns)
{
	lines += width ? columns / width : 0;
	if (!height)
		return 0;
	return height > lines ? height - lines : 1;
}

static void read_size(int fd, unsigned *width, unsigned *height)
{
	struct winsize size;

	if (ioctl(fd, TIOCGWINSZ, &size) < 0)
		return;
	*width = size.ws_col;
	*height = size.ws_row;
}

static int report_open(const char *path, const char *refusal, int error)
{
	return refusal ? log_error("opening %s: %s", path, refusal)
		       : log_errno(error, "opening %s", path);
}

/* `path`: NULL for stdout. */
static int report_write(const char *path, int error)
{
	return log_errno(error, "writing %s", path ? path : "the output");
}

/* Stdout is closed, or its reader is gone: that is no error. */
static bool is_unread(const char *path, int error)
{
	return !path && (error == -EPIPE || error == -EBADF);
}

/* ---- stdout, or a file that appears whole or not at all ---- */

static int write_out(void *arg, const char *data, size_t len)
{
	const struct output *out = arg;
	int r;

	privilege_as_caller(true);
	r = file_write_fd(out->fd, data, len);
	privilege_as_caller(false);
	return r;
}

/* `path`: NULL for `fd`. `hidden`: no other user can read the file. */
static int begin(struct output *out, const char *path, int fd, bool hidden)
{
	int r;

	*out = (struct output){.fd = fd, .path = path, .file.fd = -1};
	out->buf.sink = write_out;
	out->buf.sink_arg = out;
	if (!path)
		return 0;
	privilege_as_caller(true);
	r = file_atomic_open(&out->file, path, hidden);
	privilege_as_caller(false);
	out->fd = out->file.fd;
	return r < 0 ? report_open(path, out->file.refusal, r) : 0;
}

/* `fd`: what is written to without --output. */
static int open_output(struct output *out, const struct options *o, int fd)
{
	int r = begin(out, o->output, fd, false);

	if (r)
		return r;
	out->terminal = isatty(out->fd);
	if (out->terminal && (o->format == FORMAT_HTML || o->format == FORMAT_PPROF))
		return log_usage(o,
				 "--format %s: the output is a terminal (name a file: --output "
				 "FILE, or > FILE)",
				 o->format == FORMAT_HTML ? "html" : "pprof");
	out->color = output_color(o, out->terminal);
	if (out->terminal)
		read_size(out->fd, &out->width, &out->height);
	return 0;
}

int output_open(struct output *out, const struct options *o)
{
	return open_output(out, o, STDOUT_FILENO);
}

int output_open_beside(struct output *out, const struct options *o)
{
	return open_output(out, o, STDERR_FILENO);
}

int output_open_private(struct output *out, const char *path)
{
	return begin(out, path, -1, true);
}

int output_flush(struct output *out)
{
	int r = strbuf_flush(&out->buf);

	return r < 0 ? report_write(out->path, r) : 0;
}

/*
 * An old file is replaced in two steps. Signals wait for the second step, or else the result of the
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
	return r == 0 || is_unread(out->path, r) ? EXIT_DONE : report_write(out->path, r);
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

/*
 * ---- stdout, or a file that is appended to ----
 *
 * A reader that does not read (a pager) must not keep a signal from ending the program. So each
 * write waits for the reader and for signals together.
 */

/* How long a reader gets to read the rest after a signal that ends the program. */
#define LAST_MS 1000
/* Time between two attempts to open a FIFO that has no reader. */
#define OPEN_MS 20

/* Waits until bytes can be written. Returns 0, -EPIPE if there is no reader, or another errno. */
static int wait_for_reader(struct append *a)
{
	for (;;) {
		struct pollfd fds[] = {
			{.fd = a->fd, .events = POLLOUT},
			{.fd = a->ticker->end ? -1 : a->ticker->signal_fd, .events = POLLIN},
		};
		int n = poll(fds, ARRAY_SIZE(fds), a->ticker->end ? LAST_MS : -1);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			return -EPIPE;
		if (n > 0 && fds[0].revents)
			return 0;
		if (n > 0)
			ticker_ends(a->ticker);
	}
}

/* A pipe that is ready accepts PIPE_BUF bytes without blocking. */
static int write_lines(struct append *a, const char *data, size_t len)
{
	while (len) {
		size_t part = a->regular || len < PIPE_BUF ? len : PIPE_BUF;
		int r = a->regular ? 0 : wait_for_reader(a);
		ssize_t n;

		if (r < 0)
			return r;
		n = write(a->fd, data, part);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			return -errno;
		a->written += n;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Writes up to the end of the last line that is whole. */
static int write_whole_lines(struct append *a)
{
	const char *newline = a->line.len ? memrchr(a->line.data, '\n', a->line.len) : NULL;
	size_t len = newline ? (size_t)(newline + 1 - a->line.data) : 0;
	int r;

	if (!len)
		return 0;
	privilege_as_caller(true);
	r = write_lines(a, a->line.data, len);
	privilege_as_caller(false);
	a->line.len -= len;
	memmove(a->line.data, a->line.data + len, a->line.len);
	return r;
}

static int write_tick(void *arg, const char *data, size_t len)
{
	struct append *a = arg;

	strbuf_put(&a->line, data, len);
	return strbuf_error(&a->line) ? strbuf_error(&a->line) : write_whole_lines(a);
}

/* A FIFO has no reader yet: waits OPEN_MS. True: a signal ends the program. */
static bool ends_before_reader(struct append *a)
{
	struct pollfd signals = {.fd = a->ticker->signal_fd, .events = POLLIN};

	return poll(&signals, 1, OPEN_MS) > 0 && ticker_ends(a->ticker);
}

static int open_file(struct append *a)
{
	const char *refusal = NULL;
	struct stat st;

	if (!a->path)
		return 0;
	do {
		privilege_as_caller(true);
		a->fd = file_append_open(a->path, &refusal);
		privilege_as_caller(false);
	} while (a->fd == -EAGAIN && !ends_before_reader(a));
	if (a->fd == -EAGAIN) {
		a->ended = true;
		return 0;
	}
	if (a->fd < 0)
		return report_open(a->path, refusal, a->fd);
	a->regular = fstat(a->fd, &st) == 0 && S_ISREG(st.st_mode);
	return 0;
}

int append_open(struct append *a, const struct options *o, struct ticker *ticker)
{
	int r;

	*a = (struct append){.fd = STDOUT_FILENO, .path = o->output, .ticker = ticker};
	a->buf.sink = write_tick;
	a->buf.sink_arg = a;
	r = open_file(a);
	if (r)
		return r;
	a->terminal = isatty(a->fd);
	a->color = output_color(o, a->terminal);
	append_resize(a);
	return 0;
}

void append_resize(struct append *a)
{
	if (a->terminal)
		read_size(a->fd, &a->width, &a->height);
}

void append_begin(struct append *a)
{
	struct stat st;

	/* A buffer that lacked memory last time may have it now. */
	strbuf_clear(&a->buf);
	strbuf_clear(&a->line);
	a->written = 0;
	if (a->regular)
		a->begin = fstat(a->fd, &st) == 0 ? st.st_size : -1;
}

/* Removes this tick from the file, unless another process has written to the file meanwhile. */
static void remove_tick(const struct append *a)
{
	struct stat st;

	if (!a->regular || a->begin < 0 || !a->written || fstat(a->fd, &st) < 0 ||
	    st.st_size != a->begin + a->written)
		return;
	if (ftruncate(a->fd, a->begin) < 0)
		return; /* half of a tick stays; the message that follows says why */
}

int append_flush(struct append *a)
{
	int r = strbuf_flush(&a->buf);

	if (r == 0)
		return EXIT_DONE;
	if (is_unread(a->path, r)) {
		a->ended = true;
		return EXIT_DONE;
	}
	remove_tick(a);
	return report_write(a->path, r);
}

void append_close(struct append *a)
{
	if (a->path && a->fd >= 0)
		close(a->fd);
	strbuf_done(&a->buf);
	strbuf_done(&a->line);
}
