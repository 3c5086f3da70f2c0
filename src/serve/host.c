// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Checks the Host, Origin and Sec-Fetch-Site headers, and reads the addresses of a socket. */
#include "serve/host.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "base/parse.h"

#define SOURCE_UNIX UINT64_C(0xffff000000000000)

bool host_is_local(const char *host)
{
	char name[INET6_ADDRSTRLEN + 1];
	struct in6_addr address;
	size_t len;

	/* HTTP/1.0 clients may omit it; browsers never do. */
	if (!host)
		return true;
	if (*host == '[') {
		len = strcspn(++host, "]");
	} else {
		len = strcspn(host, ":");
	}
	if (len >= sizeof(name))
		return false;
	memcpy(name, host, len);
	name[len] = '\0';
	return parse_same_word("localhost", name, len) || inet_pton(AF_INET, name, &address) == 1 ||
	       inet_pton(AF_INET6, name, &address) == 1;
}

bool host_is_foreign(const char *host, const char *origin, const char *site)
{
	/* "none": the user typed the address. */
	if (site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0)
		return true;
	if (!origin)
		return false;
	/* A proxy may speak https: for us. */
	if (strncmp(origin, "http://", 7) == 0)
		origin += 7;
	else if (strncmp(origin, "https://", 8) == 0)
		origin += 8;
	return !host || strcmp(origin, host) != 0;
}

/* A dual-stack socket reports IPv4 addresses as ::ffff:127.0.0.1. */
static void unmap(struct sockaddr_storage *a)
{
	const struct sockaddr_in6 v6 = *(const struct sockaddr_in6 *)a;
	struct sockaddr_in *v4 = (struct sockaddr_in *)a;

	if (a->ss_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr))
		return;
	v4->sin_family = AF_INET;
	memcpy(&v4->sin_addr, &v6.sin6_addr.s6_addr[12], sizeof(v4->sin_addr));
}

static bool is_loopback(const struct sockaddr_storage *a)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)a;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)a;

	if (a->ss_family == AF_INET)
		return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
	return a->ss_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

bool host_of_socket(int fd, uint64_t *ret_source)
{
	struct sockaddr_storage here = {}, there = {};
	socklen_t len = sizeof(here);
	struct ucred peer = {};

	*ret_source = 0;
	getsockname(fd, (struct sockaddr *)&here, &len);
	len = sizeof(there);
	getpeername(fd, (struct sockaddr *)&there, &len);
	unmap(&here);
	unmap(&there);
	if (there.ss_family == AF_INET) {
		*ret_source = ((struct sockaddr_in *)&there)->sin_addr.s_addr;
	} else if (there.ss_family == AF_INET6) {
		memcpy(ret_source, &((struct sockaddr_in6 *)&there)->sin6_addr,
		       sizeof(*ret_source));
	} else {
		len = sizeof(peer);
		getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len);
		*ret_source = SOURCE_UNIX | peer.uid;
	}
	return is_loopback(&here);
}
