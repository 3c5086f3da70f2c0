// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Knows how sockets are bound, and what is left of those that ended badly. */
#include "serve/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/log.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/place.h"
#include "serve/address.h"
#include "privilege/privilege.h"

#define BACKLOG	       256
#define FDS_OF_SYSTEMD 3
#define FDS_HANDED_MAX 65536 /* what is no such number is nobody's */

static bool is_socket(const struct place *p)
{
	return p->entry >= 0 && !p->by_proc && S_ISSOCK(p->st.st_mode);
}

/* What the user can do about it, NULL for what needs no word. */
static const char *todo_unix(int error, const struct place *p)
{
	if (error == -EADDRINUSE)
		return is_socket(p) ? "another program listens there: end it, or choose another"
				    : "a file is in the way: remove it, or choose another";
	if (error == -EACCES)
		return "choose a directory that you may write to";
	return error == -ENOENT ? "make the directory first" : file_exhausted_todo(error);
}

static const char *todo_inet(int error)
{
	if (error == -EADDRINUSE)
		return "another program listens there: end it, or choose another port";
	if (error == -EACCES)
		return "choose a port from 1024 on, or be root";
	return error == -EADDRNOTAVAIL ? "this machine has no such address: see ip address"
				       : file_exhausted_todo(error);
}

static int cannot_listen(const char *text, int len, int error, const char *todo)
{
	return log_error("listening on %.*s: %s%s%s%s", len, text, strerror(-error),
			 todo ? " (" : "", todo ? todo : "", todo ? ")" : "");
}

static int new_socket(int family)
{
	int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

/* A socket that no process listens on any more is in the way of the next. */
static void remove_stale(const struct place *p, const struct sockaddr_un *address)
{
	cleanup_close int fd = new_socket(AF_UNIX);

	if (fd < 0 || !is_socket(p))
		return;
	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 &&
	    errno == ECONNREFUSED)
		unlinkat(p->dir, p->name, 0);
}

/* By its name in the working directory. */
static int bind_here(const struct place *p, int fd)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	mode_t before;
	int r;

	if (strlen(p->name) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, p->name);
	remove_stale(p, &address);
	/* Never open to more than that, not for a moment. */
	before = umask(0117);
	r = bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
	umask(before);
	if (r == 0 && listen(fd, BACKLOG) < 0) {
		r = -errno;
		unlinkat(p->dir, p->name, 0);
	}
	return r;
}

/* bind(2) knows no directory but the working one; there is one thread yet. */
static int bind_unix(const struct place *p)
{
	cleanup_close int fd = new_socket(AF_UNIX);
	cleanup_close int before = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return fd;
	if (before < 0 || fchdir(p->dir) < 0)
		return -errno;
	r = bind_here(p, fd);
	if (fchdir(before) < 0 && r == 0)
		r = -errno;
	return r < 0 ? r : TAKE_FD(fd);
}

/* With the caller's own rights, as it was made. */
static void remove_socket(const char *path)
{
	cleanup(place_done) struct place p = {.dir = -1, .entry = -1};

	privilege_as_caller(true);
	if (place_find(&p, path) == 0 && is_socket(&p))
		unlinkat(p.dir, p.name, 0);
	privilege_as_caller(false);
}

static int bind_inet(const struct addrinfo *a)
{
	cleanup_close int fd = new_socket(a->ai_family);
	int on = 1;

	if (fd < 0)
		return fd;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (a->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	if (bind(fd, a->ai_addr, a->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0)
		return -errno;
	return TAKE_FD(fd);
}

/* What cannot be kept is closed, and leaves no name behind. */
static int add_listener(struct listeners *l, int fd, const char *path)
{
	bool room = l->count < LISTENERS_MAX;
	char *copy = room && path ? strdup(path) : NULL;

	if (room && (copy || !path)) {
		l->path[l->count] = copy;
		l->fd[l->count++] = fd;
		return 0;
	}
	close(fd);
	if (path)
		remove_socket(path);
	return room ? log_error("listening on %s: out of memory", path)
		    : log_usage("--listen: more than %d addresses", LISTENERS_MAX);
}

/* All that a name stands for; all of them must be had. */
static int add_inet(struct listeners *l, const struct address *a, const char *text, int len)
{
	const struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV,
				       .ai_socktype = SOCK_STREAM};
	struct addrinfo *list;
	int r = getaddrinfo(*a->host ? a->host : NULL, a->port, &hints, &list);
	size_t before = l->count;
	int error = 0;

	if (r)
		return log_error("listening on %.*s: %s", len, text,
				 r == EAI_SYSTEM ? strerror(errno) : gai_strerror(r));
	r = 0;
	for (const struct addrinfo *at = list; at && r == 0; at = at->ai_next) {
		int fd = bind_inet(at);

		if (fd >= 0)
			r = add_listener(l, fd, NULL);
		else if (fd != -EAFNOSUPPORT && fd != -EADDRNOTAVAIL)
			r = cannot_listen(text, len, fd, todo_inet(fd));
		else
			error = fd;
	}
	freeaddrinfo(list);
	if (r == 0 && l->count == before)
		return cannot_listen(text, len, error, todo_inet(error));
	return r;
}

static int add_unix(struct listeners *l, const char *path, const char *text, int len)
{
	cleanup(place_done) struct place p = {.dir = -1, .entry = -1};
	int fd = privilege_as_caller(true);

	if (fd == 0)
		fd = place_find(&p, path);
	if (fd == 0)
		fd = bind_unix(&p);
	privilege_as_caller(false);
	if (p.refusal)
		return log_error("listening on %.*s: %s", len, text, p.refusal);
	if (fd < 0)
		return cannot_listen(text, len, fd, todo_unix(fd, &p));
	return add_listener(l, fd, path);
}

static int add(struct listeners *l, const char *text, size_t len)
{
	struct address a;
	const char *wrong = address_parse(text, len, &a);

	if (wrong)
		return log_usage("--listen %.*s: %s", (int)len, text, wrong);
	if (!*a.path)
		return add_inet(l, &a, text, (int)len);
	return add_unix(l, a.path, text, (int)len);
}

/* sd_listen_fds(3): how many, if they are for us. */
int listeners_handed_over(void)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
	uint64_t n;

	if (!pid || !fds || parse_u64(pid, strlen(pid), INT32_MAX, &n) < 0 || (pid_t)n != getpid())
		return 0;
	return parse_u64(fds, strlen(fds), FDS_HANDED_MAX, &n) < 0 ? 0 : (int)n;
}

static int take_over(struct listeners *l, int count)
{
	/* Another address in their place is not what was asked for. */
	if (count > LISTENERS_MAX)
		return log_error("listening: more than %d sockets (LISTEN_FDS)", LISTENERS_MAX);
	for (int fd = FDS_OF_SYSTEMD; fd < FDS_OF_SYSTEMD + count; fd++) {
		int on, flags = fcntl(fd, F_GETFL);
		socklen_t len = sizeof(on);

		if (flags < 0 || getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &len) < 0 || !on)
			return log_error("listening: file descriptor %d is no socket that "
					 "listens (LISTEN_FDS)",
					 fd);
		fcntl(fd, F_SETFL, flags | O_NONBLOCK);
		fcntl(fd, F_SETFD, FD_CLOEXEC);
		add_listener(l, fd, NULL);
	}
	l->ready = true;
	return 0;
}

int listeners_open(struct listeners *l, const char *list)
{
	int r = 0, handed = list ? 0 : listeners_handed_over();
	const char *item;
	size_t len;

	*l = (struct listeners){};
	if (handed > 0)
		return take_over(l, handed);
	list = list ? list : ADDRESS_DEFAULT;
	while (r == 0 && (item = parse_item(&list, &len)))
		r = add(l, item, len);
	if (r == 0 && !l->count)
		r = log_usage("--listen: no address in it");
	return r;
}

void listeners_tell(const struct listeners *l, bool quiet)
{
	for (size_t i = 0; i < l->count; i++) {
		struct sockaddr_storage address;
		socklen_t size = sizeof(address);
		char host[128], port[16];

		if (l->path[i]) {
			log_notice(quiet, "listening on unix:%s", l->path[i]);
			continue;
		}
		if (getsockname(l->fd[i], (struct sockaddr *)&address, &size) < 0 ||
		    getnameinfo((struct sockaddr *)&address, size, host, sizeof(host), port,
				sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV))
			continue;
		log_notice(quiet,
			   strchr(host, ':') ? "listening on http://[%s]:%s/"
					     : "listening on http://%s:%s/",
			   host, port);
	}
}

void listeners_leave(struct listeners *l)
{
	for (size_t i = 0; i < l->count; i++) {
		close(l->fd[i]);
		l->fd[i] = -1;
	}
}

void listeners_close(struct listeners *l, bool remove)
{
	for (size_t i = 0; i < l->count; i++) {
		if (l->fd[i] >= 0)
			close(l->fd[i]);
		if (remove && l->path[i])
			remove_socket(l->path[i]);
		free(l->path[i]);
	}
	*l = (struct listeners){};
}
