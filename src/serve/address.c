// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Knows how an address is written; whether it exists is for the kernel to say. */
#include "serve/address.h"

#include <stdint.h>
#include <string.h>

#include "base/parse.h"

static const char unix_prefix[] = "unix:";

static const char *parse_path(const char *text, size_t len, struct address *ret)
{
	if (!len || *text != '/')
		return "the path of a Unix socket begins with /";
	if (len >= sizeof(ret->path))
		return "the path of a Unix socket has at most 107 bytes";
	memcpy(ret->path, text, len);
	return NULL;
}

const char *address_parse(const char *text, size_t len, struct address *ret)
{
	const char *colon = memrchr(text, ':', len), *host = text;
	size_t prefix = sizeof(unix_prefix) - 1, host_len, port_len;
	uint64_t port;

	*ret = (struct address){};
	if (len >= prefix && memcmp(text, unix_prefix, prefix) == 0)
		return parse_path(text + prefix, len - prefix, ret);
	if (!colon)
		return "it is HOST:PORT, [IPV6]:PORT, :PORT or unix:/PATH";
	host_len = (size_t)(colon - text);
	port_len = len - host_len - 1;
	if (port_len > 5 || parse_u64(colon + 1, port_len, UINT16_MAX, &port) < 0)
		return "the port is a number up to 65535";
	if (host_len >= 2 && host[0] == '[' && host[host_len - 1] == ']') {
		host++;
		host_len -= 2;
		if (!host_len)
			return "there is no address in the brackets";
	} else if (memchr(host, ':', host_len)) {
		return "an IPv6 address stands in brackets";
	}
	if (host_len >= sizeof(ret->host))
		return "the name of the host is too long";
	memcpy(ret->host, host, host_len);
	memcpy(ret->port, colon + 1, port_len);
	return NULL;
}
