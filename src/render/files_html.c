// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes the page of files: the document zmem.files in the page that files.js makes. */
#include "render/render.h"

#include "base/cleanup.h"
#include "base/unpack.h"
#include "render/files_table.h"

static const unsigned char files_head[] = {
#include "render/files_head.inc"
};
static const unsigned char files_title[] = {
#include "render/files_title.inc"
};
static const unsigned char files_body[] = {
#include "render/files_body.inc"
};
static const unsigned char files_tail[] = {
#include "render/files_tail.inc"
};

/* The sums of all files, for readers without JavaScript. */
static void put_accounts(struct strbuf *out, const struct files_report *r)
{
	for (int i = 0; i < FILE_ACCOUNTS; i++) {
		cleanup(strbuf_done) struct strbuf text = {0};
		struct line line = {.out = &text};

		if (!files_account_shown(r, (enum file_account)i))
			continue;
		files_account_put(r, (enum file_account)i, false, &line);
		if (!out->error)
			out->error = strbuf_error(&text);
		strbuf_puts(out, "<p>");
		html_put_text(out, strbuf_str(&text));
		strbuf_puts(out, "</p>\n");
	}
}

void render_files_page(struct strbuf *out, const struct files_report *r)
{
	unpack(out, PACKED(files_head));
	html_put_text(out, r->snapshot->host.name);
	unpack(out, PACKED(files_title));
	put_accounts(out, r);
	unpack(out, PACKED(files_body));
	render_files_page_json(out, r);
	unpack(out, PACKED(files_tail));
}
