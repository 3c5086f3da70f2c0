// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Parses addresses of --listen. Only the syntax is checked; bind() checks the rest. */
#include "serve/address.h"

#include <stdint.h>
#include <string.h>

#include "base/parse.h"

static const char unix_prefix[] = "unix:";

static const char *parse_path(const char *text, size_t len, struct address *ret)
{
	if (!len || *text != '/')
		return "the path of a Unix socket must begin with /";
	if (len >= sizeof(ret->path))
		return "the path of a Unix socket can have at most 107 bytes";
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
