// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Writes the page of files: the document zmem.files in the page that files.js makes. The one of
 * serve also has the additions of src/serve/page.
 */
#include "report/report.h"

#include "base/cleanup.h"
#include "fields/file_said.h"
#include "report/page_parts.h"
#include "write/say.h"

/* The sums of all files, for readers without JavaScript. */
static void put_accounts(struct strbuf *out, const struct files_report *r)
{
	const struct said said = {&file_accounts_said, r, NULL, false};

	for (const char *const *sentence = said.sentences->text; *sentence; sentence++) {
		cleanup(strbuf_done) struct strbuf text = {0};
		struct line line = {.out = &text};

		if (!say_sentence(&line, &said, *sentence))
			continue;
		strbuf_take_error(out, &text);
		strbuf_puts(out, "<p>");
		html_put_text(out, strbuf_str(&text));
		strbuf_puts(out, "</p>\n");
	}
}

void render_files_page(struct strbuf *out, const struct files_report *r)
{
	unpack(out, &files_head);
	html_put_text(out, r->snapshot->host.name);
	unpack(out, &files_title);
	put_accounts(out, r);
	unpack(out, &files_body);
	render_files_page_json(out, r);
	unpack(out, &files_tail);
}

void render_live_files_page(struct strbuf *out, const char *host, const struct strbuf *document)
{
	unpack(out, &live_files_head);
	html_put_text(out, host);
	unpack(out, &live_files_title);
	unpack(out, &live_files_body);
	strbuf_put(out, document->data, document->len);
	unpack(out, &live_files_tail);
}

void render_live_files_policy(struct strbuf *out)
{
	unpack(out, &live_files_policy);
}
