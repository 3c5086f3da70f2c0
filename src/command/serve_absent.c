// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* serve in a static program, which has no src/serve. */
#ifdef ZMEM_STATIC
#include <errno.h>
#include <stdio.h>

#include "serve/serve.h"
#include "session/log.h"

int serve_check(char *why, size_t cap)
{
	snprintf(why, cap,
		 "the static program has none (libmicrohttpd needs the libraries of GnuTLS: use "
		 "the shared one)");
	return -ENOTSUP;
}

int command_serve(const struct options *o)
{
	char why[160];

	(void)o;
	serve_check(why, sizeof(why));
	return log_error("serve: %s", why);
}
#endif
