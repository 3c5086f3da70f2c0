// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Loads libdw. */
#include "code/libdw.h"

#if defined(ZMEM_STATIC_LIBDW)

int libdw_load(struct libdw *ret, char *why, size_t cap)
{
	(void)why;
	(void)cap;
	*ret = (struct libdw){
#define FUNCTION(name) .name = name,
		LIBDW_FUNCTIONS(FUNCTION)
#undef FUNCTION
	};
	return 0;
}

#elif defined(ZMEM_STATIC)

#include <errno.h>
#include <stdio.h>

int libdw_load(struct libdw *ret, char *why, size_t cap)
{
	(void)ret;
	snprintf(
		why, cap,
		"this static program was built without libdw: use the shared one; or --stack fp, without "
		"-o +line, for programs that were built with frame pointers");
	return -ENOTSUP;
}

#else

#include "base/array.h"
#include "base/library.h"

static const struct library_function functions[] = {
#define FUNCTION(name) {#name, offsetof(struct libdw, name)},
	LIBDW_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

int libdw_load(struct libdw *ret, char *why, size_t cap)
{
	return library_load("libdw.so.1",
			    "install libdw1, on Fedora elfutils-libs; or --stack fp, without -o "
			    "+line, for programs that were built with frame pointers",
			    functions, ARRAY_SIZE(functions), ret, why, cap);
}

#endif
