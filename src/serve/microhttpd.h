/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Loads libmicrohttpd at run time. Linking it would load GnuTLS and eight more libraries, and every
 * command would start 2 ms later.
 */
#ifndef ZMEM_SERVE_MICROHTTPD_H
#define ZMEM_SERVE_MICROHTTPD_H

#include <microhttpd.h>
#include <stddef.h>

/* The functions that serve calls. */
#define MICROHTTPD_FUNCTIONS(FUNCTION)                                                             \
	FUNCTION(add_connection)                                                                   \
	FUNCTION(add_response_header)                                                              \
	FUNCTION(create_response_from_buffer_with_free_callback_cls)                               \
	FUNCTION(destroy_response)                                                                 \
	FUNCTION(get_connection_info)                                                              \
	FUNCTION(get_connection_values)                                                            \
	FUNCTION(get_daemon_info)                                                                  \
	FUNCTION(get_timeout)                                                                      \
	FUNCTION(lookup_connection_value)                                                          \
	FUNCTION(queue_response)                                                                   \
	FUNCTION(resume_connection)                                                                \
	FUNCTION(run)                                                                              \
	FUNCTION(start_daemon)                                                                     \
	FUNCTION(stop_daemon)                                                                      \
	FUNCTION(suspend_connection)

/* A member for each function: MHD_run() is `run`. */
struct microhttpd {
#define FUNCTION(name) __typeof__(&MHD_##name) name;
	MICROHTTPD_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

/* The library stays loaded. Returns 0, or -ELIBACC with the reason in `why`. */
int microhttpd_load(struct microhttpd *ret, char *why, size_t cap);

#endif
