/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A page as libmicrohttpd sends it. */
#ifndef ZMEM_SERVE_RESPONSE_H
#define ZMEM_SERVE_RESPONSE_H

#include "serve/microhttpd.h"
#include "serve/endpoints.h"

/*
 * Takes the page's body, and counts its bytes in *unsent, which must last, until they are sent.
 * NULL without memory.
 */
struct MHD_Response *response_make(const struct microhttpd *mhd, struct page *p, size_t *unsent);

#endif
