// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Restores the terminal when a signal ends the program, then lets the signal end it. */
#include "top/rescue.h"

#include <curses.h>
#include <signal.h>
#include <string.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include "base/array.h"

static struct {
	volatile sig_atomic_t armed;
	struct termios modes;
	bool modes_known;
	char text[256];
	size_t len;
	int error_fd, message_fd;
} rescue;

/* Crashes, and signals that end a program by default, like SIGXCPU (RLIMIT_CPU). */
static const int deadly[] = {SIGSEGV, SIGBUS,  SIGILL,	SIGFPE,	 SIGABRT,   SIGSYS, SIGTRAP,
			     SIGXCPU, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF};

static void restore_and_raise(int number)
{
	char text[1024];
	ssize_t n;

	if (rescue.armed) {
		rescue.armed = 0;
		n = write(STDOUT_FILENO, rescue.text, rescue.len);
		if (rescue.modes_known)
			tcsetattr(STDIN_FILENO, TCSANOW, &rescue.modes);
		while (rescue.message_fd >= 0 &&
		       (n = read(rescue.message_fd, text, sizeof(text))) > 0)
			n = write(rescue.error_fd, text, (size_t)n);
	}
	/* SA_RESETHAND restored the default action, which takes effect when this returns. */
	raise(number);
}

void rescue_prepare(void)
{
	rescue.modes_known = tcgetattr(STDIN_FILENO, &rescue.modes) == 0;
}

/* Adds a sequence without its padding for old terminals ("$<5>"). */
static void add_sequence(const char *sequence)
{
	while (sequence && *sequence && rescue.len < sizeof(rescue.text)) {
		const char *end = strncmp(sequence, "$<", 2) == 0 ? strchr(sequence, '>') : NULL;

		if (end)
			sequence = end + 1;
		else
			rescue.text[rescue.len++] = *sequence++;
	}
}

void rescue_arm(int error_fd, int message_fd)
{
	struct sigaction act = {.sa_handler = restore_and_raise, .sa_flags = (int)SA_RESETHAND};

	rescue.len = 0;
	add_sequence(exit_attribute_mode);
	add_sequence(keypad_local);
	add_sequence(cursor_normal);
	add_sequence(exit_ca_mode);
	rescue.error_fd = error_fd;
	rescue.message_fd = message_fd;
	rescue.armed = 1;
	for (size_t i = 0; i < ARRAY_SIZE(deadly); i++) {
		struct sigaction was;

		if (sigaction(deadly[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN)
			sigaction(deadly[i], &act, NULL);
	}
}

void rescue_disarm(void)
{
	struct sigaction usual = {.sa_handler = SIG_DFL};

	rescue.armed = 0;
	for (size_t i = 0; i < ARRAY_SIZE(deadly); i++) {
		struct sigaction is;

		if (sigaction(deadly[i], NULL, &is) == 0 && is.sa_handler == restore_and_raise)
			sigaction(deadly[i], &usual, NULL);
	}
}
