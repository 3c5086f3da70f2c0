// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The document of growth by stack, and its folded stacks. */
#include "report/growth.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "fields/growth_fields.h"
#include "report/folded.h"
#include "report/growth_text.h"
#include "report/json.h"
#include "write/field_text.h"

void render_growth_json(struct strbuf *out, const struct growth *g)
{
	const struct growth_rows of = {.growth = g};
	struct json_writer w = {.out = out};

	json_document_begin(&w, "zmem.grow", "2.0", g->snapshot);
	json_lines(&w, &growth_document, g, &of);
	json_document_end(&w);
}

/* ---- folded stacks ---- */

static void put_stack(struct strbuf *out, struct strbuf *name, const struct growth *g,
		      const struct growth_stack *s)
{
	if (s->truncated)
		strbuf_puts(out, "[truncated];");
	for (size_t k = s->frames; k-- > 0;) {
		const struct growth_frame *f = &g->frame[s->frame[k]];

		strbuf_clear(name);
		growth_put_frame(name, f);
		if (f->source) {
			strbuf_putc(name, ':');
			growth_put_line(name, f);
		}
		folded_put_frame(out, strbuf_str(name));
		strbuf_puts(out, k ? ";" : "");
	}
}

/* The format has no values below 0. */
void render_growth_folded(struct strbuf *out, const struct growth *g)
{
	cleanup(strbuf_done) struct strbuf name = {};
	cleanup_free uint64_t *kept = calloc(g->stacks + 1, sizeof(*kept));

	if (!kept) {
		out->error = out->error ? out->error : -ENOMEM;
		return;
	}
	growth_kept(g, kept);
	for (size_t i = 0; i < g->stacks; i++) {
		const struct growth_stack *s = &g->stack[i];
		int64_t net = growth_sum(s->net);

		if (kept[i]) {
			put_stack(out, &name, g, s);
			strbuf_printf(out, " %" PRIu64 "\n", kept[i]);
		}
		if (net > 0 && (uint64_t)net > kept[i]) {
			put_stack(out, &name, g, s);
			strbuf_printf(out, ";" GROWTH_GIVEN_BACK " %" PRIu64 "\n",
				      (uint64_t)net - kept[i]);
		}
	}
	if (strbuf_error(&name) && !out->error)
		out->error = strbuf_error(&name);
}
