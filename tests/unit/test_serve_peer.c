// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Users of connections: of TCP and Unix sockets, closed ones; what sock_diag must not tell. */
#include "unit.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "become.h"
#include "serve/peer.h"
#include "serve/sandbox.h"

#define OTHER_USER 1234

union place {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* What getsockname() and getpeername() say instead of the truth. */
static bool faked;
static union place here, there;

int getsockname(int fd, __SOCKADDR_ARG name, socklen_t *restrict len)
{
	if (!faked)
		return (int)syscall(__NR_getsockname, fd, name.__sockaddr__, len);
	memcpy(name.__sockaddr__, &here, sizeof(here));
	return 0;
}

int getpeername(int fd, __SOCKADDR_ARG name, socklen_t *restrict len)
{
	if (!faked)
		return (int)syscall(__NR_getpeername, fd, name.__sockaddr__, len);
	memcpy(name.__sockaddr__, &there, sizeof(there));
	return 0;
}

static union place place(const char *text, in_port_t port)
{
	union place p = {.v4 = {.sin_family = AF_INET, .sin_port = port}};

	if (inet_pton(AF_INET, text, &p.v4.sin_addr) == 1)
		return p;
	p.v6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = port};
	assert_int_equal(inet_pton(AF_INET6, text, &p.v6.sin6_addr), 1);
	return p;
}

static in_port_t port_of(int fd)
{
	union place p;
	socklen_t len = sizeof(p);

	assert_int_equal(getsockname(fd, &p.any, &len), 0);
	return p.v4.sin_port;
}

static int new_socket(const union place *p)
{
	int on = 1, off = 0, fd = socket(p->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (p->any.sa_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind(fd, &p->any, sizeof(*p)) < 0)
		fail_msg("bind: %s", strerror(errno));
	return fd;
}

static int new_listener(const char *text, in_port_t port)
{
	const union place p = place(text, port);
	int fd = new_socket(&p);

	assert_int_equal(listen(fd, 9), 0);
	return fd;
}

/* A socket of this user; only root can choose another. */
static int new_client(uid_t uid, const char *from, const char *to, in_port_t port,
		      const char *device)
{
	const union place source = place(from, 0), target = place(to, port);
	uid_t old = (uid_t)setfsuid(uid);
	int fd = new_socket(&source);

	setfsuid(old);
	if (device && setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, device, strlen(device)) < 0)
		fail_msg("SO_BINDTODEVICE: %s", strerror(errno));
	if (connect(fd, &target.any, sizeof(target)) < 0)
		fail_msg("connect: %s", strerror(errno));
	return fd;
}

static int open_diag(int listener)
{
	int diag = -2;

	assert_int_equal(peer_open(&listener, 1, &diag), 0);
	assert_true(diag >= 0);
	return diag;
}

static const struct {
	const char *here, *from, *to, *device;
} ways[] = {
	{"127.0.0.1", "127.0.0.1", "127.0.0.1", NULL},
	{"127.0.0.1", "127.9.9.9", "127.0.0.1", NULL},
	{"0.0.0.0", "127.0.0.1", "127.8.8.8", NULL},
	{"127.0.0.1", "127.0.0.1", "127.0.0.1", "lo"},
	{"127.0.0.1", "::ffff:127.0.0.1", "::ffff:127.0.0.1", NULL},
	{"::1", "::1", "::1", NULL},
	{"::1", "::1", "::1", "lo"},
	{"::", "127.0.0.1", "127.0.0.1", NULL},
	{"::", "::ffff:127.9.9.9", "::ffff:127.0.0.1", NULL},
};

/* The source of a connection in that way, without sock_diag if `known` is false. */
static uint64_t source_by(size_t way, uid_t uid, bool known)
{
	cleanup_close int listener = new_listener(ways[way].here, 0);
	cleanup_close int diag = known ? open_diag(listener) : -1;
	cleanup_close int client =
		new_client(uid, ways[way].from, ways[way].to, port_of(listener), ways[way].device);
	cleanup_close int fd = accept(listener, NULL, NULL);
	uint64_t source = 0;

	assert_true(client >= 0 && fd >= 0);
	assert_true(peer_read(diag, fd, &source));
	return source;
}

TEST(users)
{
	const uint64_t own = source_by(0, getuid(), true);

	assert_int_not_equal(own, PEER_UNKNOWN);
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		if (source_by(i, getuid(), true) != own)
			fail_msg("another source: from %s to %s, %s", ways[i].from, ways[i].to,
				 ways[i].here);
		if (source_by(i, getuid(), false) != PEER_UNKNOWN)
			fail_msg("without sock_diag: from %s to %s", ways[i].from, ways[i].to);
	}
	if (!can_become(OTHER_USER))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		uint64_t other = source_by(i, OTHER_USER, true);

		if (other == own || other != source_by(0, OTHER_USER, true))
			fail_msg("another user from %s to %s", ways[i].from, ways[i].to);
	}
}

/* A user has one source, by TCP and by a Unix socket. */
TEST(unix_socket)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	cleanup_close int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cleanup_close int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cleanup_close int fd = -1;
	socklen_t len = sizeof(address);
	uint64_t source = 0;
	int diag = -2;

	/* The kernel chooses an abstract name. */
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(sa_family_t)), 0);
	assert_int_equal(listen(listener, 9), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &len), 0);
	assert_int_equal(connect(client, (struct sockaddr *)&address, len), 0);
	fd = accept(listener, NULL, NULL);
	assert_false(peer_read(-1, fd, &source));
	assert_int_equal(source, source_by(0, getuid(), true));
	/* Without a TCP socket nothing is opened. */
	assert_int_equal(peer_open(&listener, 1, &diag), 0);
	assert_int_equal(diag, -1);
}

/* A client of this machine that has closed its socket belongs to no user, not to root. */
TEST(closed)
{
	static const struct linger at_once = {1, 0};

	for (int reset = 0; reset < 2; reset++) {
		cleanup_close int listener = new_listener("127.0.0.1", 0);
		cleanup_close int diag = open_diag(listener);
		int client =
			new_client(getuid(), "127.9.9.9", "127.0.0.1", port_of(listener), NULL);
		cleanup_close int fd = -1;
		uint64_t source = 0;

		if (reset)
			setsockopt(client, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
		close(client);
		fd = accept(listener, NULL, NULL);
		peer_read(diag, fd, &source);
		assert_int_equal(source, PEER_UNKNOWN);
	}
}

/* Asks for a list. Returns the size of the answer, 0 for an error, -1 without an answer. */
static ssize_t ask(int fd, uint16_t type, uint8_t family)
{
	struct {
		struct nlmsghdr head;
		union {
			struct inet_diag_req_v2 ip;
			struct inet_diag_req old;
			struct unix_diag_req local;
		};
	} request = {
		.head = {sizeof(request), type, NLM_F_REQUEST | NLM_F_DUMP, 0, 0},
		.ip = {.sdiag_family = family, .sdiag_protocol = IPPROTO_TCP, .idiag_states = ~0U},
	};
	union {
		struct nlmsghdr head;
		char bytes[4096];
	} reply;
	ssize_t len;

	if (family == AF_UNIX)
		request.local = (struct unix_diag_req){.sdiag_family = family, .udiag_states = ~0U};
	else if (type == TCPDIAG_GETSOCK)
		request.old = (struct inet_diag_req){.idiag_family = family, .idiag_states = ~0U};
	assert_true(send(fd, &request, sizeof(request), 0) > 0);
	len = recv(fd, &reply, sizeof(reply), MSG_DONTWAIT);
	return len > 0 && reply.head.nlmsg_type == NLMSG_ERROR ? 0 : len;
}

/* Lists of connections do not arrive; on another socket they do. */
TEST(no_lists)
{
	cleanup_close int listener = new_listener("127.0.0.1", 0);
	cleanup_close int listener6 = new_listener("::1", 0);
	static const int on = 1;
	static const struct {
		uint16_t type;
		uint8_t family;
	} lists[] = {
		{SOCK_DIAG_BY_FAMILY, AF_INET},
		{SOCK_DIAG_BY_FAMILY, AF_INET6},
		{SOCK_DIAG_BY_FAMILY, AF_UNIX},
		{TCPDIAG_GETSOCK, AF_INET},
	};

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		cleanup_close int diag = open_diag(listener);
		cleanup_close int plain =
			socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

		assert_true(listener6 >= 0);
		assert_true(ask(plain, lists[i].type, lists[i].family) > 0);
		assert_int_equal(ask(diag, lists[i].type, lists[i].family), -1);
		assert_int_equal(errno, EAGAIN);
		assert_int_equal(setsockopt(diag, SOL_SOCKET, SO_DETACH_FILTER, &on, sizeof(on)),
				 -1);
		assert_int_equal(errno, EPERM);
	}
}

/* The list of system calls of the HTTP process has all that it takes. */
TEST(with_the_filter)
{
	cleanup_close int listener = new_listener("127.0.0.1", 0);
	cleanup_close int diag = open_diag(listener);
	cleanup_close int client =
		new_client(getuid(), "127.0.0.1", "127.0.0.1", port_of(listener), NULL);
	cleanup_close int fd = accept(listener, NULL, NULL);
	uint64_t source = 0;
	int status;
	pid_t pid;

	assert_true(client >= 0 && fd >= 0);
	if (SANITIZED)
		skip();
	pid = fork();
	if (pid == 0) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || http_system_calls_limit() < 0)
			_exit(1);
		_exit(peer_read(diag, fd, &source) && source != PEER_UNKNOWN ? 0 : 2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

TEST(no_answer)
{
	const union place p = place("127.0.0.1", 0);
	/* The kernel knows only sockets that listen. */
	cleanup_close int idle = new_socket(&p);
	cleanup_close int listener = new_listener("127.0.0.1", 0);
	struct rlimit old, few = {0, 0};
	int diag = -2;

	assert_int_equal(peer_open(&idle, 1, &diag), -EOPNOTSUPP);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	few.rlim_max = old.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_int_equal(peer_open(&listener, 1, &diag), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_int_equal(diag, -2);
}

/* Clients of other machines count by their address. */
static uint64_t source_of(int diag, const char *from, in_port_t port)
{
	uint64_t source = 0;

	there = place(from, port);
	here = place(there.any.sa_family == AF_INET ? "192.0.2.9" : "2001:db8:9::9", htons(9));
	faked = true;
	assert_false(peer_read(diag, 0, &source));
	faked = false;
	return source;
}

TEST(addresses)
{
	cleanup_close int every = new_listener("0.0.0.0", 0);
	cleanup_close int one = new_listener("127.9.9.9", 0);
	cleanup_close int diag = open_diag(every);
	static const struct {
		const char *one, *other;
		bool same;
	} pairs[] = {
		{"192.0.2.1", "192.0.2.1", true},
		{"192.0.2.1", "192.0.2.2", false},
		{"192.0.2.1", "::ffff:192.0.2.1", true},
		{"2001:db8::1", "2001:db8::2", true},
		{"2001:db8::1", "2001:db8:0:1::1", false},
		/* The same bytes at the beginning. */
		{"32.1.13.184", "2001:db8::1", false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		uint64_t source = source_of(diag, pairs[i].one, htons(9));

		if ((source == source_of(diag, pairs[i].other, htons(8))) != pairs[i].same)
			fail_msg("%s, %s", pairs[i].one, pairs[i].other);
		assert_int_not_equal(source, PEER_UNKNOWN);
		assert_int_equal(source, source_of(-1, pairs[i].one, htons(9)));
	}
	/* Here a socket listens on the address of the client, which the kernel finds, too. */
	assert_int_equal(source_of(diag, "192.0.2.1", port_of(every)),
			 source_of(-1, "192.0.2.1", htons(9)));
	assert_int_equal(source_of(diag, "127.9.9.9", port_of(one)),
			 source_of(-1, "127.9.9.9", htons(9)));
	/* An address of this machine. */
	assert_int_equal(source_of(diag, "192.0.2.9", htons(7)), PEER_UNKNOWN);
}
