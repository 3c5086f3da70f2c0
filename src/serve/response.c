// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Makes responses of libmicrohttpd: body, headers and the count of unsent bytes. */
#include "serve/response.h"

#include <stdlib.h>

#include "base/cleanup.h"

struct sent {
	size_t *unsent;
	size_t size;
	char *data;
};

static void body_sent(void *cls)
{
	struct sent *sent = cls;

	*sent->unsent -= sent->size;
	free(sent->data);
	free(sent);
}

/* The response takes over the body of the page. */
static struct MHD_Response *make(const struct microhttpd *mhd, struct page *p, size_t *unsent)
{
	struct sent *sent = malloc(sizeof(*sent));
	struct MHD_Response *r;

	if (!sent)
		return NULL;
	*sent = (struct sent){unsent, p->body.len, p->body.data};
	r = mhd->create_response_from_buffer_with_free_callback_cls(p->body.len, p->body.data,
								    body_sent, sent);
	if (!r) {
		free(sent);
		return NULL;
	}
	*unsent += p->body.len;
	p->body = (struct strbuf){0};
	return r;
}

static bool add_headers(const struct microhttpd *mhd, struct MHD_Response *r, const struct page *p)
{
	cleanup(strbuf_done) struct strbuf policy = {0};
	bool ok = mhd->add_response_header(r, "Content-Type", p->type) == MHD_YES;

	if (p->html)
		render_live_policy(&policy);
	else
		strbuf_puts(&policy, "default-src 'none'");
	strbuf_puts(&policy, "; frame-ancestors 'none'");
	ok &= !strbuf_error(&policy) && mhd->add_response_header(r, "Content-Security-Policy",
								 strbuf_str(&policy)) == MHD_YES;
	ok &= mhd->add_response_header(r, "Cache-Control", "no-store") == MHD_YES;
	ok &= mhd->add_response_header(r, "X-Content-Type-Options", "nosniff") == MHD_YES;
	ok &= mhd->add_response_header(r, "Referrer-Policy", "no-referrer") == MHD_YES;
	if (p->code == 405)
		ok &= mhd->add_response_header(r, "Allow", "GET, HEAD") == MHD_YES;
	if (p->code == 401)
		ok &= mhd->add_response_header(r, "WWW-Authenticate", "Bearer") == MHD_YES;
	return ok;
}

struct MHD_Response *response_make(const struct microhttpd *mhd, struct page *p, size_t *unsent)
{
	struct MHD_Response *r = make(mhd, p, unsent);

	if (r && !add_headers(mhd, r, p)) {
		mhd->destroy_response(r);
		return NULL;
	}
	return r;
}
