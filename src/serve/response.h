/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes the response of libmicrohttpd for a page. */
#ifndef ZMEM_SERVE_RESPONSE_H
#define ZMEM_SERVE_RESPONSE_H

#include "serve/microhttpd.h"
#include "serve/endpoints.h"

/*
 * Takes over the body of the page and adds its size to *unsent until it is sent; `unsent` must
 * outlive the response. Returns NULL without memory.
 */
struct MHD_Response *response_make(const struct microhttpd *mhd, struct page *p, size_t *unsent);

#endif
