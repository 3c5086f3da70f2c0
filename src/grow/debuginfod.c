// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The three functions of libdebuginfod that are called; its header is not needed to build. */
#include "grow/debuginfod.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef ZMEM_STATIC

int debuginfod_open(struct debuginfod *ret, char *why, size_t cap)
{
	(void)ret;
	snprintf(why, cap, "--debuginfod: the static program has none: use the shared one");
	return -ENOTSUP;
}

#else

#include "base/array.h"
#include "base/library.h"

static const struct library_function functions[] = {
	{"debuginfod_begin", offsetof(struct debuginfod, begin)},
	{"debuginfod_find_debuginfo", offsetof(struct debuginfod, find_debuginfo)},
	{"debuginfod_end", offsetof(struct debuginfod, end)},
};

int debuginfod_open(struct debuginfod *ret, char *why, size_t cap)
{
	const char *servers = getenv("DEBUGINFOD_URLS");
	struct debuginfod d = {};
	int r;

	if (!servers || !*servers) {
		snprintf(why, cap, "--debuginfod: DEBUGINFOD_URLS names no server");
		return -EDESTADDRREQ;
	}
	r = library_load("libdebuginfod.so.1",
			 "install libdebuginfod1, on Fedora elfutils-debuginfod-client", functions,
			 ARRAY_SIZE(functions), &d, why, cap);
	if (r < 0)
		return r;
	d.client = d.begin();
	if (!d.client) {
		snprintf(why, cap, "--debuginfod: the library could not be started");
		return -ENOMEM;
	}
	*ret = d;
	return 0;
}

#endif

int debuginfod_fetch(const struct debuginfod *d, const struct elf_facts *facts)
{
	if (!d->client || !facts->build_id_len)
		return -1;
	return d->find_debuginfo(d->client, facts->build_id, (int)facts->build_id_len, NULL);
}

void debuginfod_close(struct debuginfod *d)
{
	if (d->client)
		d->end(d->client);
	*d = (struct debuginfod){};
}
