// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Knows files that grow, pipes that are full, and terminals whose size changes. A reader that does
 * not read (a pager) must not keep a signal from ending us, so nothing is written that would have
 * to wait for it unseen.
 */
#include "cli/append.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/log.h"
#include "cli/output.h"
#include "base/array.h"
#include "base/file.h"
#include "privilege/privilege.h"

/* After a signal that ends: how long a reader gets to take the rest. */
#define LAST_MS 1000
/* How often it looks for the reader of a FIFO. */
#define OPEN_MS 20

/* Waits until something can be written. 0, or -EPIPE: nobody takes it. */
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

/* A pipe that can be written to takes PIPE_BUF bytes at once. */
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

/* A FIFO has no reader yet: waits a while. True if a signal ends us. */
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
	if (a->fd < 0 && refusal)
		return log_error("opening %s: %s", a->path, refusal);
	if (a->fd < 0)
		return log_errno(a->fd, "opening %s", a->path);
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
	struct winsize size;

	if (a->terminal && ioctl(a->fd, TIOCGWINSZ, &size) == 0) {
		a->width = size.ws_col;
		a->height = size.ws_row;
	}
}

void append_begin(struct append *a)
{
	struct stat st;

	/* What lacked memory the last time may have it now. */
	strbuf_clear(&a->buf);
	strbuf_clear(&a->line);
	a->written = 0;
	if (a->regular)
		a->begin = fstat(a->fd, &st) == 0 ? st.st_size : -1;
}

/* Unless somebody else has written to it meanwhile. */
static void take_back(const struct append *a)
{
	struct stat st;

	if (!a->regular || a->begin < 0 || !a->written || fstat(a->fd, &st) < 0 ||
	    st.st_size != a->begin + a->written)
		return;
	if (ftruncate(a->fd, a->begin) < 0)
		return; /* half of a tick stays, and the message that follows says why */
}

int append_flush(struct append *a)
{
	int r = strbuf_flush(&a->buf);

	if (r == 0)
		return EXIT_DONE;
	if (!a->path && (r == -EPIPE || r == -EBADF)) {
		a->ended = true;
		return EXIT_DONE;
	}
	take_back(a);
	return log_errno(r, "writing %s", a->path ? a->path : "the output");
}

void append_close(struct append *a)
{
	if (a->path && a->fd >= 0)
		close(a->fd);
	strbuf_done(&a->buf);
	strbuf_done(&a->line);
}
