// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Parses addresses of --listen (only the syntax: bind() checks the rest), binds listening sockets,
 * replaces stale Unix sockets and takes those of systemd.
 */
#include "serve/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"
#include "privilege/privilege.h"
#include "session/log.h"
#include "session/options.h"

#define BACKLOG		 256
#define FIRST_OF_SYSTEMD 3     /* its file descriptor */
#define FDS_HANDED_MAX	 65536 /* a larger LISTEN_FDS is ignored */

/* ---- addresses ---- */

static const char unix_prefix[] = "unix:";

static const char *parse_path(const char *text, size_t len, struct listen_address *ret)
{
	if (!len || *text != '/')
		return "the path of a Unix socket must begin with /";
	if (len >= sizeof(ret->path))
		return "the path of a Unix socket can have at most 107 bytes";
	memcpy(ret->path, text, len);
	return NULL;
}

const char *listen_address_parse(const char *text, size_t len, struct listen_address *ret)
{
	const char *colon = memrchr(text, ':', len), *host = text;
	size_t prefix = sizeof(unix_prefix) - 1, host_len, port_len;
	uint64_t port;

	*ret = (struct listen_address){};
	if (len >= prefix && memcmp(text, unix_prefix, prefix) == 0)
		return parse_path(text + prefix, len - prefix, ret);
	if (!colon)
		return "expected HOST:PORT, [IPV6]:PORT, :PORT or unix:/PATH";
	host_len = (size_t)(colon - text);
	port_len = len - host_len - 1;
	if (port_len > 5 || parse_u64(colon + 1, port_len, UINT16_MAX, &port) < 0)
		return "the port must be a number from 0 to 65535";
	if (host_len >= 2 && host[0] == '[' && host[host_len - 1] == ']') {
		host++;
		host_len -= 2;
		if (!host_len)
			return "the brackets contain no address";
	} else if (memchr(host, ':', host_len)) {
		return "an IPv6 address must be in brackets";
	}
	if (host_len >= sizeof(ret->host))
		return "the host name is too long";
	memcpy(ret->host, host, host_len);
	memcpy(ret->port, colon + 1, port_len);
	return NULL;
}

bool address_is_loopback(const struct sockaddr_storage *a)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)a;
	const struct in6_addr *v6 = &((const struct sockaddr_in6 *)a)->sin6_addr;

	if (a->ss_family == AF_INET)
		return ntohl(v4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	if (a->ss_family != AF_INET6)
		return false;
	return IN6_IS_ADDR_LOOPBACK(v6) ||
	       (IN6_IS_ADDR_V4MAPPED(v6) && v6->s6_addr[12] == IN_LOOPBACKNET);
}

/* ---- sockets ---- */

static bool is_socket(const struct place *p)
{
	return p->entry >= 0 && !p->by_proc && S_ISSOCK(p->st.st_mode);
}

/* A hint for the user, or NULL. */
static const char *hint_unix(int error, const struct place *p)
{
	if (error == -EADDRINUSE)
		return is_socket(p)
			       ? "another program listens there: stop it, or choose another path"
			       : "this path is a file: remove it, or choose another path";
	if (error == -EACCES)
		return "choose a directory that you can write to";
	return error == -ENOENT ? "create the directory first" : file_exhausted_hint(error);
}

static const char *hint_inet(int error)
{
	if (error == -EADDRINUSE)
		return "another program listens there: stop it, or choose another port";
	if (error == -EACCES)
		return "choose a port of at least 1024, or run as root";
	return error == -EADDRNOTAVAIL
		       ? "this machine has no such address: list them with ip address"
		       : file_exhausted_hint(error);
}

static int report_failure(const char *text, int len, int error, const char *hint)
{
	return log_error("listening on %.*s: %s%s%s%s", len, text, strerror(-error),
			 hint ? " (" : "", hint ? hint : "", hint ? ")" : "");
}

static int new_socket(int family)
{
	int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

/* Removes a socket that no process listens on: bind() would fail with EADDRINUSE. */
static void remove_stale(const struct place *p, const struct sockaddr_un *address)
{
	cleanup_close int fd = new_socket(AF_UNIX);

	if (fd < 0 || !is_socket(p))
		return;
	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 &&
	    errno == ECONNREFUSED)
		unlinkat(p->dir, p->name, 0);
}

/* Binds to the name p->name in the working directory. */
static int bind_here(const struct place *p, int fd)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	mode_t old_mode;
	int r;

	if (strlen(p->name) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, p->name);
	remove_stale(p, &address);
	/* The mode is 0660 from the start: a chmod() afterwards would leave a gap. */
	old_mode = umask(0117);
	r = bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
	umask(old_mode);
	if (r == 0 && listen(fd, BACKLOG) < 0) {
		r = -errno;
		unlinkat(p->dir, p->name, 0);
	}
	return r;
}

/* There is no bindat(2), so the working directory changes; no other thread runs yet. */
static int bind_unix(const struct place *p)
{
	cleanup_close int fd = new_socket(AF_UNIX);
	cleanup_close int old_directory = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return fd;
	if (old_directory < 0 || fchdir(p->dir) < 0)
		return -errno;
	r = bind_here(p, fd);
	if (fchdir(old_directory) < 0 && r == 0)
		r = -errno;
	return r < 0 ? r : TAKE_FD(fd);
}

/* With the rights of the invoking user, as for bind(). */
static void remove_socket(const char *path)
{
	cleanup(place_done) struct place p;

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

/*
 * Stores a listener with its path or its name; it may have neither. On failure the socket is closed
 * and its path removed.
 */
static int add_listener(const struct options *o, struct listeners *l, int fd, const char *path,
			const char *name)
{
	bool room = l->count < LISTENERS_MAX;
	const char *text = path ? path : name;
	char *copy = room && text ? strdup(text) : NULL;

	if (room && (copy || !text)) {
		l->path[l->count] = path ? copy : NULL;
		l->name[l->count] = path ? NULL : copy;
		l->fd[l->count++] = fd;
		return 0;
	}
	close(fd);
	if (path)
		remove_socket(path);
	return room ? log_error("listening on %s: out of memory", text)
		    : log_usage(o, "--listen: more than %d addresses", LISTENERS_MAX);
}

/* Returns 0 or an EAI_ code. *ret_name is the host if it had to be resolved, else NULL. */
static int resolve(const struct listen_address *a, const char **ret_name, struct addrinfo **ret)
{
	struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV | AI_NUMERICHOST,
				 .ai_socktype = SOCK_STREAM};
	int r = getaddrinfo(*a->host ? a->host : NULL, a->port, &hints, ret);

	*ret_name = NULL;
	if (r != EAI_NONAME)
		return r;
	*ret_name = a->host;
	hints.ai_flags &= ~AI_NUMERICHOST;
	return getaddrinfo(a->host, a->port, &hints, ret);
}

/*
 * Listens on all addresses that a name resolves to. It leaves out those that this machine does not
 * have, unless it has none of them. Any other failure ends it.
 */
static int add_inet(const struct options *o, struct listeners *l, const struct listen_address *a,
		    const char *text, int len)
{
	struct addrinfo *list;
	const char *name;
	int r = resolve(a, &name, &list);
	size_t old_count = l->count;
	int error = 0;

	if (r)
		return log_error("listening on %.*s: %s", len, text,
				 r == EAI_SYSTEM ? strerror(errno) : gai_strerror(r));
	r = 0;
	for (const struct addrinfo *at = list; at && r == 0; at = at->ai_next) {
		int fd = bind_inet(at);

		if (fd >= 0)
			r = add_listener(o, l, fd, NULL, name);
		else if (fd != -EAFNOSUPPORT && fd != -EADDRNOTAVAIL)
			r = report_failure(text, len, fd, hint_inet(fd));
		else
			error = fd;
	}
	freeaddrinfo(list);
	if (r == 0 && l->count == old_count)
		return report_failure(text, len, error, hint_inet(error));
	return r;
}

static int add_unix(const struct options *o, struct listeners *l, const char *path,
		    const char *text, int len)
{
	cleanup(place_done) struct place p = {.dir = -1, .entry = -1};
	int r = privilege_as_caller(true);

	if (r == 0)
		r = place_find(&p, path);
	if (r == 0)
		r = bind_unix(&p);
	privilege_as_caller(false);
	if (p.refusal)
		return log_error("listening on %.*s: %s", len, text, p.refusal);
	if (r < 0)
		return report_failure(text, len, r, hint_unix(r, &p));
	return add_listener(o, l, r, path, NULL);
}

static int add_address(const struct options *o, struct listeners *l, const char *text, size_t len)
{
	struct listen_address a;
	const char *wrong = listen_address_parse(text, len, &a);

	if (wrong)
		return log_usage(o, "--listen %.*s: %s", (int)len, text, wrong);
	if (!*a.path)
		return add_inet(o, l, &a, text, (int)len);
	return add_unix(o, l, a.path, text, (int)len);
}

/* As sd_listen_fds(3) does: LISTEN_FDS counts only if LISTEN_PID is this process. */
int listeners_handed_over(void)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
	uint64_t n;

	if (!pid || !fds || parse_u64(pid, strlen(pid), INT32_MAX, &n) < 0 || (pid_t)n != getpid())
		return 0;
	return parse_u64(fds, strlen(fds), FDS_HANDED_MAX, &n) < 0 ? 0 : (int)n;
}

static int adopt_systemd_sockets(const struct options *o, struct listeners *l, int count)
{
	/* An error, not the default address: the administrator asked for these sockets. */
	if (count > LISTENERS_MAX)
		return log_error("listening: more than %d sockets (LISTEN_FDS)", LISTENERS_MAX);
	for (int fd = FIRST_OF_SYSTEMD; fd < FIRST_OF_SYSTEMD + count; fd++) {
		int on, flags = fcntl(fd, F_GETFL);
		socklen_t len = sizeof(on);

		if (flags < 0 || getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &len) < 0 || !on)
			return log_error("listening: file descriptor %d is not a listening "
					 "socket (LISTEN_FDS)",
					 fd);
		fcntl(fd, F_SETFL, flags | O_NONBLOCK);
		fcntl(fd, F_SETFD, FD_CLOEXEC);
		/* Cannot fail: there is room, and no text to copy. */
		add_listener(o, l, fd, NULL, NULL);
	}
	return 0;
}

int listeners_open(struct listeners *l, const struct options *o)
{
	const char *list = o->listen;
	int r = 0, handed = list ? 0 : listeners_handed_over();
	const char *item;
	size_t len;

	*l = (struct listeners){};
	if (handed > 0)
		return adopt_systemd_sockets(o, l, handed);
	list = list ? list : LISTEN_DEFAULT;
	while (r == 0 && (item = parse_item(&list, &len)))
		r = add_address(o, l, item, len);
	if (r == 0 && !l->count)
		r = log_usage(o, "--listen: the list contains no address");
	return r;
}

bool listeners_are_remote(const struct listeners *l)
{
	for (size_t i = 0; i < l->count; i++) {
		struct sockaddr_storage here = {};
		socklen_t size = sizeof(here);

		if (getsockname(l->fd[i], (struct sockaddr *)&here, &size) < 0 ||
		    (here.ss_family != AF_UNIX && !address_is_loopback(&here)))
			return true;
	}
	return false;
}

/* A socket of systemd. An abstract name begins with a NUL and ends with the address. */
static void log_unix(bool quiet, const struct sockaddr_un *address, socklen_t size)
{
	const char *path = address->sun_path;
	int len = (int)(size - offsetof(struct sockaddr_un, sun_path));

	if (*path)
		log_notice(quiet, "listening on unix:%.*s", len, path);
	else
		log_notice(quiet, "listening on unix:@%.*s", len - 1, path + 1);
}

void listeners_log(const struct listeners *l, bool quiet)
{
	for (size_t i = 0; i < l->count; i++) {
		struct sockaddr_storage address;
		socklen_t size = sizeof(address);
		char host[128], port[16];

		if (l->path[i]) {
			log_notice(quiet, "listening on unix:%s", l->path[i]);
			continue;
		}
		if (getsockname(l->fd[i], (struct sockaddr *)&address, &size) < 0)
			continue;
		if (address.ss_family == AF_UNIX) {
			log_unix(quiet, (struct sockaddr_un *)&address, size);
			continue;
		}
		if (getnameinfo((struct sockaddr *)&address, size, host, sizeof(host), port,
				sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV))
			continue;
		log_notice(quiet,
			   strchr(host, ':') ? "listening on http://[%s]:%s/"
					     : "listening on http://%s:%s/",
			   host, port);
	}
}

void listeners_close_fds(struct listeners *l)
{
	for (size_t i = 0; i < l->count; i++)
		close_fd(&l->fd[i]);
}

void listeners_close(struct listeners *l, bool remove)
{
	listeners_close_fds(l);
	for (size_t i = 0; i < l->count; i++) {
		if (remove && l->path[i])
			remove_socket(l->path[i]);
		free(l->path[i]);
		free(l->name[i]);
	}
	*l = (struct listeners){};
}
