// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static int report(const char *file, const char *advice, char *why, size_t cap)
{
	const char *error = dlerror();

	snprintf(why, cap, "%s cannot be loaded: %s (%s)", file, error ? error : "no reason given",
		 advice);
	return -ELIBACC;
}

int library_load(const char *file, const char *advice, const struct library_function *functions,
		 size_t count, void *ret, char *why, size_t cap)
{
	/* RTLD_NOW: lazy binding would fail in the sandbox of serve. */
	void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return report(file, advice, why, cap);
	for (size_t i = 0; i < count; i++) {
		void *function = dlsym(library, functions[i].name);

		if (!function)
			return report(file, advice, why, cap);
		/* POSIX: pointers to functions and to data have the same size. */
		memcpy((char *)ret + functions[i].at, &function, sizeof(function));
	}
	return 0;
}
