// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Opens and closes the terminal: its type, modes and signals, and stderr while the screen is in
 * use. Restores it after a crash.
 */
#include "top/terminal.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include "base/array.h"
#include "session/log.h"

/*
 * How long the rest of an escape sequence may take on a slow line, before Escape counts as a key.
 */
#define ESCAPE_MS 50

/* The built-in description, for machines that lack the terminal's, or all. */
static const char xterm_description[] =
#include "top/xterm.inc"
	;
#define XTERM "xterm-256color"

/* ---- after a crash ---- */

/* Restores the terminal after a signal. It is global, because a handler gets no argument. */
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

/*
 * Call when full-screen mode begins. On a crash, text in `message_fd` is copied to `error_fd`; -1:
 * none is.
 */
static void rescue_arm(int error_fd, int message_fd)
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

/* Call before full-screen mode ends. */
static void rescue_disarm(void)
{
	struct sigaction usual = {.sa_handler = SIG_DFL};

	rescue.armed = 0;
	for (size_t i = 0; i < ARRAY_SIZE(deadly); i++) {
		struct sigaction is;

		if (sigaction(deadly[i], NULL, &is) == 0 && is.sa_handler == restore_and_raise)
			sigaction(deadly[i], &usual, NULL);
	}
}

/* ---- opening and closing ---- */

int terminal_listen(struct terminal *t)
{
	const int wanted[] = {SIGTSTP, SIGCONT, SIGQUIT};
	struct epoll_event event = {.events = EPOLLIN};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		struct sigaction act;

		/* Signals that were ignored at the start stay ignored. */
		if (sigaction(wanted[i], NULL, &act) == 0 && act.sa_handler != SIG_IGN)
			sigaddset(&set, wanted[i]);
	}
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	t->signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (t->signal_fd < 0)
		return -errno;
	t->wait_fd = epoll_create1(EPOLL_CLOEXEC);
	if (t->wait_fd < 0)
		return -errno;
	if (epoll_ctl(t->wait_fd, EPOLL_CTL_ADD, t->signal_fd, &event) < 0 ||
	    epoll_ctl(t->wait_fd, EPOLL_CTL_ADD, STDIN_FILENO, &event) < 0)
		return -errno;
	return 0;
}

/* True for a UTF-8 locale. A locale that is not installed may still name the encoding. */
static bool locale_is_utf8(void)
{
	static const char *const variable[] = {"LC_ALL", "LC_CTYPE", "LANG"};
	const char *value = NULL;

	if (!setlocale(LC_CTYPE, "")) {
		for (size_t i = 0; i < 3 && !(value && *value); i++)
			value = getenv(variable[i]);
		if (value && (strcasestr(value, "utf-8") || strcasestr(value, "utf8")))
			setlocale(LC_CTYPE, "C.UTF-8");
	}
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

/* Types that declare that they can do nothing; they are not replaced by another. */
static bool is_dumb(const char *type)
{
	static const char *const dumb[] = {"", "dumb", "unknown", "network", "dialup"};

	for (size_t i = 0; i < ARRAY_SIZE(dumb); i++) {
		if (strcmp(type, dumb[i]) == 0)
			return true;
	}
	return false;
}

/* Checked before newterm(), which leaks memory for an unknown type. */
static bool is_known(const char *type)
{
	int error;

	if (setupterm(type, STDOUT_FILENO, &error) != OK)
		return false;
	del_curterm(cur_term);
	return true;
}

static int open_type(struct terminal *t)
{
	const char *type = getenv("TERM");

	if (!type || !*type)
		return log_error("top: TERM is not set (use TERM=xterm, or zmem-bpf watch)");
	if (is_dumb(type))
		return log_error("top: TERM=%s cannot position text (use zmem-bpf watch)", type);
	snprintf(t->type, sizeof(t->type), "%s", type);
	t->known = is_known(type);
	/* Use the terminal's own size, not LINES and COLUMNS, which may be wrong. */
	use_tioctl(true);
	if (t->known) {
		t->handle = newterm(type, stdout, stdin);
	} else {
		/* ncurses accepts a description in place of a path. */
		setenv("TERMINFO", xterm_description, 1);
		t->handle = newterm(XTERM, stdout, stdin);
	}
	if (!t->handle)
		return log_error("top: TERM=%s is unknown, and the built-in xterm failed (use "
				 "zmem-bpf watch)",
				 t->type);
	if (!cursor_address) {
		endwin();
		return log_error("top: TERM=%s cannot position text (use zmem-bpf watch)", t->type);
	}
	return 0;
}

static void choose_colors(struct terminal *t, bool wanted)
{
	/* In the order of enum line_attr from ATTR_RED on. */
	static const short color[] = {COLOR_RED, COLOR_GREEN, COLOR_YELLOW, COLOR_BLUE, COLOR_CYAN};

	t->colors = wanted && has_colors() && start_color() != ERR;
	if (!t->colors)
		return;
	use_default_colors();
	for (short i = 0; i < (short)ARRAY_SIZE(color); i++)
		init_pair((short)(i + 1), color[i], -1);
}

/*
 * Redirects stderr into a pipe: a message would overwrite the screen and vanish with it. Returns 0
 * or a negative errno.
 */
static int redirect_stderr(struct terminal *t)
{
	int fds[2], r;

	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
		return -errno;
	t->message_fd = fds[0];
	t->error_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	r = t->error_fd < 0 || dup2(fds[1], STDERR_FILENO) < 0 ? -errno : 0;
	close(fds[1]);
	return r;
}

int terminal_open(struct terminal *t, bool colors)
{
	struct sigaction usual = {.sa_handler = SIG_DFL};
	int r;

	t->utf8 = locale_is_utf8();
	rescue.modes_known = tcgetattr(STDIN_FILENO, &rescue.modes) == 0;
	r = redirect_stderr(t);
	if (r < 0)
		return log_errno(r, "starting");
	r = open_type(t);
	if (r)
		return r;
	t->on = true;
	/* The handler of ncurses stops us at any point; terminal_key() handles SIGTSTP in turn. */
	sigaction(SIGTSTP, &usual, NULL);
	choose_colors(t, colors);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	intrflush(stdscr, FALSE);
	leaveok(stdscr, FALSE);
	set_escdelay(ESCAPE_MS);
	curs_set(0);
	rescue_arm(t->error_fd, t->message_fd);
	return 0;
}

void terminal_close(struct terminal *t)
{
	if (t->on) {
		rescue_disarm();
		endwin();
	}
	if (t->handle)
		delscreen(t->handle);
	if (t->error_fd >= 0) {
		char text[4096];
		ssize_t n;

		/* Messages that were not shown. */
		while ((n = read(t->message_fd, text, sizeof(text))) > 0)
			n = write(t->error_fd, text, (size_t)n);
		dup2(t->error_fd, STDERR_FILENO);
		close(t->error_fd);
	}
	for (int i = 0; i < 3; i++) {
		const int fd[] = {t->message_fd, t->signal_fd, t->wait_fd};

		if (fd[i] >= 0)
			close(fd[i]);
	}
	*t = TERMINAL_CLOSED;
}

void terminal_size(unsigned *ret_width, unsigned *ret_height)
{
	struct winsize size = {};

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || !size.ws_col || !size.ws_row) {
		size.ws_col = (unsigned short)(COLS > 0 ? COLS : 80);
		size.ws_row = (unsigned short)(LINES > 0 ? LINES : 24);
	}
	*ret_width = size.ws_col;
	*ret_height = size.ws_row;
}

void terminal_resize(unsigned width, unsigned height)
{
	resizeterm((int)height, (int)width);
}

void terminal_redraw(void)
{
	clearok(curscr, TRUE);
}

/* ---- keys and messages ---- */

/* Stops this process. In an orphaned process group the kernel ignores it. */
static void stop_self(void)
{
	sigset_t set;

	endwin();
	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	raise(SIGTSTP);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static int receive_signals(struct terminal *t)
{
	struct signalfd_siginfo info;
	int event = TERMINAL_NONE;

	while (read(t->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGQUIT)
			return TERMINAL_GONE;
		if (info.ssi_signo == SIGTSTP)
			stop_self();
		/* A shell may have changed the modes. */
		reset_prog_mode();
		terminal_redraw();
		event = TERMINAL_REDRAW;
	}
	return event;
}

static int key_of(bool function, wint_t c)
{
	static const struct {
		int curses, ours;
	} keys[] = {
		{KEY_UP, TOP_UP},
		{KEY_DOWN, TOP_DOWN},
		{KEY_LEFT, TOP_LEFT},
		{KEY_RIGHT, TOP_RIGHT},
		{KEY_PPAGE, TOP_PAGE_UP},
		{KEY_NPAGE, TOP_PAGE_DOWN},
		{KEY_HOME, TOP_HOME},
		{KEY_END, TOP_END},
		{KEY_DC, TOP_DELETE},
		{KEY_ENTER, TOP_ENTER},
		{KEY_BACKSPACE, TOP_BACKSPACE},
	};

	if (!function) {
		if (c == '\r')
			return TOP_ENTER;
		return c == '\b' ? TOP_BACKSPACE : (int)c;
	}
	if (c >= KEY_F(1) && c <= KEY_F(12))
		return TOP_F((int)c - KEY_F0);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if ((int)c == keys[i].curses)
			return keys[i].ours;
	}
	return TOP_OTHER;
}

int terminal_key(struct terminal *t)
{
	struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};
	int event = receive_signals(t), r;
	wint_t c;

	if (event != TERMINAL_NONE)
		return event;
	/* The terminal hung up. */
	if (poll(&fd, 1, 0) > 0 && fd.revents & (POLLHUP | POLLERR | POLLNVAL))
		return TERMINAL_GONE;
	do
		r = get_wch(&c);
	while (r == KEY_CODE_YES && c == KEY_RESIZE); /* a size is no key */
	if (r == ERR) {
		/* Readable without data: end of file. */
		int waiting = 0;

		if (fd.revents & POLLIN && ioctl(STDIN_FILENO, FIONREAD, &waiting) < 0)
			return TERMINAL_GONE;
		return TERMINAL_NONE;
	}
	return key_of(r == KEY_CODE_YES, c);
}

bool terminal_message(struct terminal *t, char *buf, size_t size)
{
	static const char prefix[] = "zmem-bpf: ", hint[] = " (zmem-bpf --help)";
	char text[4096], *line = NULL, *end;
	ssize_t n;

	while (t->message_fd >= 0 && (n = read(t->message_fd, text, sizeof(text) - 1)) > 0) {
		text[n] = '\0';
		while (n && text[n - 1] == '\n')
			text[--n] = '\0';
		line = strrchr(text, '\n');
		line = line ? line + 1 : text;
		if (strncmp(line, prefix, sizeof(prefix) - 1) == 0)
			line += sizeof(prefix) - 1;
		end = strstr(line, hint);
		if (end)
			*end = '\0';
		snprintf(buf, size, "%s", line);
	}
	return line;
}
