/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The terminal: shows a screen, reads keys, and is left as it was found however that happens. Knows
 * ncurses; refuses to know what is shown.
 */
#ifndef ZMEM_TOP_TERMINAL_H
#define ZMEM_TOP_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

#include "top/screen.h"

struct terminal {
	int wait_fd;	/* epoll: keys, or a signal of job control */
	int signal_fd;	/* SIGTSTP, SIGCONT, SIGQUIT */
	int error_fd;	/* the real stderr while ours goes into the pipe; -1: it is not on */
	int message_fd; /* what was said meanwhile */
	bool on, colors, utf8;
	bool known; /* its type is; if not, it is taken for an xterm */
	char type[64];
	void *handle; /* ncurses' SCREEN */
};

enum terminal_input {
	TERMINAL_NONE = -1,   /* no further key */
	TERMINAL_GONE = -2,   /* nobody is there any more, or wants to end it */
	TERMINAL_REDRAW = -3, /* we were stopped, and are back */
};

#define TERMINAL_CLOSED                                                                            \
	((struct terminal){.wait_fd = -1, .signal_fd = -1, .error_fd = -1, .message_fd = -1})

/*
 * Takes the signals of job control from here on, so before any thread is started. wait_fd can be
 * read when terminal_key() has something to tell. Returns 0 or a negative errno; terminal_close()
 * in either case.
 */
int terminal_listen(struct terminal *t);
/* The screen is ours from here on. Returns 0, or an exit code after a message. */
int terminal_open(struct terminal *t, bool colors);
void terminal_close(struct terminal *t);

void terminal_size(unsigned *ret_width, unsigned *ret_height);
/* After a SIGWINCH. */
void terminal_resize(unsigned width, unsigned height);
/* The next key (top/keys.h) without waiting, or an enum terminal_input. */
int terminal_key(struct terminal *t);
void terminal_show(struct terminal *t, const struct screen *s);
/* The whole screen is written again by the next terminal_show(). */
void terminal_redraw(void);
/* The last line that was written to stderr since, without newline. False if there was none. */
bool terminal_message(struct terminal *t, char *buf, size_t size);

#endif
