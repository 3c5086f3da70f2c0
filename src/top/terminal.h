/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The terminal, through ncurses: shows a screen, reads keys, and is always restored, even after a
 * crash.
 */
#ifndef ZMEM_TOP_TERMINAL_H
#define ZMEM_TOP_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

#include "top/screen.h"

struct terminal {
	int wait_fd;	/* epoll: keys or a job-control signal */
	int signal_fd;	/* SIGTSTP, SIGCONT, SIGQUIT */
	int error_fd;	/* the real stderr while ours is a pipe; -1: not redirected */
	int message_fd; /* the pipe with messages that were written meanwhile */
	bool on, colors, utf8;
	bool known; /* its type is known; if not, it is treated as an xterm */
	char type[64];
	void *handle; /* ncurses' SCREEN */
};

enum terminal_input {
	TERMINAL_NONE = -1,   /* no further key */
	TERMINAL_GONE = -2,   /* the terminal hung up, or SIGQUIT */
	TERMINAL_REDRAW = -3, /* we were stopped and continued */
};

#define TERMINAL_CLOSED                                                                            \
	((struct terminal){.wait_fd = -1, .signal_fd = -1, .error_fd = -1, .message_fd = -1})

/*
 * Blocks the job-control signals and receives them from here on; call it before any thread starts.
 * wait_fd is readable when terminal_key() has an event. Returns 0 or a negative errno; call
 * terminal_close() in either case.
 */
int terminal_listen(struct terminal *t);
/* Begins full-screen mode. Returns 0, or an exit code after a message. */
int terminal_open(struct terminal *t, bool colors);
void terminal_close(struct terminal *t);

void terminal_size(unsigned *ret_width, unsigned *ret_height);
/* Call after a SIGWINCH. */
void terminal_resize(unsigned width, unsigned height);
/* The next key (top/screen.h) or an enum terminal_input. Does not wait. */
int terminal_key(struct terminal *t);
void terminal_show(struct terminal *t, const struct screen *s);
/* The next terminal_show() writes the whole screen. */
void terminal_redraw(void);
/*
 * The last line written to stderr since the previous call, without newline. False if there was
 * none.
 */
bool terminal_message(struct terminal *t, char *buf, size_t size);

#endif
