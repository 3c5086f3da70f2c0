// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The functions of libmicrohttpd that serve calls. */
#include "serve/microhttpd.h"

#include "base/array.h"
#include "base/library.h"
#include "serve/serve.h"

static const struct library_function functions[] = {
#define FUNCTION(name) {"MHD_" #name, offsetof(struct microhttpd, name)},
	MICROHTTPD_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

int microhttpd_load(struct microhttpd *ret, char *why, size_t cap)
{
	/* 12: the version of the ABI that <microhttpd.h> describes. */
	return library_load("libmicrohttpd.so.12", "install libmicrohttpd12", functions,
			    ARRAY_SIZE(functions), ret, why, cap);
}

int serve_check(char *why, size_t cap)
{
	struct microhttpd all;

	return microhttpd_load(&all, why, cap);
}
