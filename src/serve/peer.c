// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finds the user of a client by SO_PEERCRED or by NETLINK_SOCK_DIAG. */
#include "serve/peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "serve/listen.h"

#define USER_UNKNOWN UINT32_MAX /* no user has this id */
/* The index of "lo", through which this machine talks to itself: include/net/flow.h of Linux. */
#define LOOPBACK_INDEX 1

/* An end of a TCP connection. IPv4 addresses are in the form ::ffff:127.0.0.1. */
struct end {
	struct in6_addr address;
	in_port_t port;
};

static struct in6_addr from_words(bool v4, const void *words)
{
	struct in6_addr a = {.s6_addr[10] = 0xff, .s6_addr[11] = 0xff};

	memcpy(v4 ? &a.s6_addr[12] : &a.s6_addr[0], words, v4 ? 4 : 16);
	return a;
}

static bool is_v4(const struct end *e)
{
	return IN6_IS_ADDR_V4MAPPED(&e->address);
}

static bool same_address(const struct end *a, const struct end *b)
{
	return memcmp(&a->address, &b->address, sizeof(a->address)) == 0;
}

/* False: not an IP address. */
static bool parse_end(const struct sockaddr_storage *a, struct end *ret)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)a;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)a;

	if (a->ss_family == AF_INET)
		*ret = (struct end){from_words(true, &v4->sin_addr), v4->sin_port};
	else if (a->ss_family == AF_INET6)
		*ret = (struct end){from_words(false, &v6->sin6_addr), v6->sin6_port};
	return a->ss_family == AF_INET || a->ss_family == AF_INET6;
}

/* ---- sock_diag ---- */

struct reply {
	struct nlmsghdr head;
	struct inet_diag_msg socket;
	char attributes[512]; /* not read */
};

/*
 * Accepts errors, and answers about one IP socket. A dump has NLM_F_MULTI, also in its last
 * message. The filter loads numbers in network order.
 */
static int limit_answers(int fd)
{
#define AT(member) ((uint32_t)offsetof(struct reply, member))
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, AT(head.nlmsg_type)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htons(NLMSG_ERROR), 6, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htons(SOCK_DIAG_BY_FAMILY), 0, 6),
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, AT(head.nlmsg_flags)),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, htons(NLM_F_MULTI), 4, 0),
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, AT(socket.idiag_family)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
#undef AT
	const struct sock_fprog program = {ARRAY_SIZE(code), code};
	const int on = 1;

	if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_LOCK_FILTER, &on, sizeof(on)) < 0)
		return -errno;
	return 0;
}

/*
 * The kernel looks for a connection, then for a listening socket that would take it, so the answer
 * must have both ends. A socket that its process has closed has no inode, and on older kernels the
 * user 0 (sock_i_uid() of Linux).
 */
static bool is_answer(const struct reply *r, const struct end *own, const struct end *other)
{
	const struct inet_diag_sockid *id = &r->socket.id;
	bool v4 = r->socket.idiag_family == AF_INET;
	const struct end src = {from_words(v4, id->idiag_src), id->idiag_sport};
	const struct end dst = {from_words(v4, id->idiag_dst), id->idiag_dport};

	return r->head.nlmsg_type == SOCK_DIAG_BY_FAMILY && r->socket.idiag_inode &&
	       same_address(&src, own) && src.port == own->port && same_address(&dst, other) &&
	       dst.port == other->port;
}

/*
 * The user of the socket of this machine that has these ends, or USER_UNKNOWN. The kernel queues
 * its answer within send(). Sockets that are bound to the device "lo" are found, too.
 */
static uint32_t find_user(int diag, const struct end *own, const struct end *other)
{
	struct {
		struct nlmsghdr head;
		struct inet_diag_req_v2 socket;
	} request = {
		.head = {.nlmsg_len = sizeof(request),
			 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			 .nlmsg_flags = NLM_F_REQUEST},
		.socket = {.sdiag_family = is_v4(own) ? AF_INET : AF_INET6,
			   .sdiag_protocol = IPPROTO_TCP,
			   .id = {.idiag_sport = own->port,
				  .idiag_dport = other->port,
				  .idiag_if = LOOPBACK_INDEX,
				  .idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}}},
	};
	size_t from = is_v4(own) ? 12 : 0;
	struct reply reply = {};
	ssize_t len;

	memcpy(request.socket.id.idiag_src, &own->address.s6_addr[from], 16 - from);
	memcpy(request.socket.id.idiag_dst, &other->address.s6_addr[from], 16 - from);
	if (send(diag, &request, sizeof(request), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return USER_UNKNOWN;
	/* Skips what an earlier call left when memory was short. */
	do {
		len = recv(diag, &reply, sizeof(reply), MSG_DONTWAIT);
		if (len >= (ssize_t)offsetof(struct reply, attributes) &&
		    is_answer(&reply, own, other))
			return reply.socket.idiag_uid;
	} while (len >= 0 || errno == ENOBUFS);
	return USER_UNKNOWN;
}

/* Whether the kernel knows a listening socket; its other end is all zeros. */
static bool knows_listener(int diag, const struct end *own)
{
	struct end none = {};

	if (is_v4(own))
		none.address = from_words(true, (const char[4]){});
	return find_user(diag, own, &none) != USER_UNKNOWN;
}

int peer_open(const int *listeners, size_t count, int *ret_diag)
{
	cleanup_close int fd = -1;
	struct end own;
	size_t i = 0;
	int r;

	for (; i < count; i++) {
		struct sockaddr_storage here = {};
		socklen_t len = sizeof(here);

		if (getsockname(listeners[i], (struct sockaddr *)&here, &len) == 0 &&
		    parse_end(&here, &own))
			break;
	}
	if (i == count) {
		*ret_diag = -1;
		return 0;
	}
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	r = fd < 0 ? -errno : limit_answers(fd);
	if (r < 0)
		return r;
	if (!knows_listener(fd, &own))
		return -EOPNOTSUPP;
	*ret_diag = TAKE_FD(fd);
	return 0;
}

/* ---- sources ---- */

/* No address of a client begins with the byte 255, so users and addresses differ. */
static uint64_t source_of_user(uint32_t uid)
{
	return (uint64_t)uid << 8 | 0xff;
}

static uint64_t source_of_address(const struct end *e)
{
	uint64_t source = 0;

	/* An IPv4 address behind four zeros, which no other IPv6 network begins with. */
	if (is_v4(e))
		memcpy((char *)&source + 4, &e->address.s6_addr[12], 4);
	else
		memcpy(&source, &e->address, sizeof(source));
	return source;
}

static uint64_t source_of_tcp(int diag, const struct end *there, const struct end *here, bool local)
{
	uint32_t uid = diag < 0 ? USER_UNKNOWN : find_user(diag, there, here);

	return uid != USER_UNKNOWN || local ? source_of_user(uid) : source_of_address(there);
}

bool peer_read(int diag, int fd, uint64_t *ret_source)
{
	struct sockaddr_storage here = {}, there = {};
	struct ucred peer = {.uid = USER_UNKNOWN};
	struct end own, other;
	socklen_t len = sizeof(here);
	bool loopback;

	getsockname(fd, (struct sockaddr *)&here, &len);
	len = sizeof(there);
	getpeername(fd, (struct sockaddr *)&there, &len);
	loopback = address_is_loopback(&here);
	if (parse_end(&there, &other) && parse_end(&here, &own)) {
		bool local = loopback || same_address(&own, &other);

		*ret_source = source_of_tcp(diag, &other, &own, local);
		return loopback;
	}
	len = sizeof(peer);
	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len);
	*ret_source = source_of_user(peer.uid);
	return loopback;
}
