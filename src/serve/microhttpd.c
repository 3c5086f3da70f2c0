// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Loads libmicrohttpd and looks up the functions that serve calls. */
#include "serve/microhttpd.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "base/array.h"

/* The ABI version that <microhttpd.h> describes. */
#define LIBRARY "libmicrohttpd.so.12"
#define PACKAGE "libmicrohttpd12"

static const struct {
	const char *name;
	size_t at;
} functions[] = {
#define FUNCTION(name) {"MHD_" #name, offsetof(struct microhttpd, name)},
	MICROHTTPD_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

static int report_load_error(char *why, size_t cap)
{
	const char *error = dlerror();

	snprintf(why, cap, LIBRARY " cannot be loaded: %s (install " PACKAGE ")",
		 error ? error : "no reason given");
	return -ELIBACC;
}

int microhttpd_load(struct microhttpd *ret, char *why, size_t cap)
{
	/* RTLD_NOW: lazy binding would fail in the sandbox. */
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return report_load_error(why, cap);
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		void *function = dlsym(library, functions[i].name);

		if (!function)
			return report_load_error(why, cap);
		/* POSIX: pointers to functions and to data have the same size. */
		memcpy((char *)ret + functions[i].at, &function, sizeof(function));
	}
	return 0;
}

int serve_check(char *why, size_t cap)
{
	struct microhttpd all;

	return microhttpd_load(&all, why, cap);
}
