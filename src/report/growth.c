// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The document of growth by stack, and its folded stacks. */
#include "report/growth.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
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

static int compare_bytes(const void *a, const void *b, void *arg)
{
	const struct growth_part *x = a, *y = b;

	(void)arg;
	return x->bytes == y->bytes ? ORDER_OF(x->stack, y->stack) : ORDER_OF(y->bytes, x->bytes);
}

/* The largest first. Growth alone may be below 0. */
static void make_parts(const struct growth *g, const struct field *column, struct growth_part *part)
{
	const struct growth_rows of = {.growth = g};

	growth_parts(g, part);
	for (size_t i = 0; i < g->stacks && column->type != FIELD_CHANGE; i++) {
		const struct value v = field_value(column, part[i].stack, &of);

		part[i].bytes = v.known ? (int64_t)v.bytes : 0;
	}
	sort_items(part, g->stacks, sizeof(*part), compare_bytes, NULL);
}

/* The format has no values below 0. */
void render_growth_folded(struct strbuf *out, const struct growth *g, const struct field *column)
{
	cleanup(strbuf_done) struct strbuf name = {};
	cleanup_free struct growth_part *part = calloc(g->stacks + 1, sizeof(*part));

	if (!part) {
		out->error = out->error ? out->error : -ENOMEM;
		return;
	}
	make_parts(g, column, part);
	for (size_t i = 0; i < g->stacks; i++) {
		int64_t bytes = part[i].bytes;

		if (!bytes)
			continue;
		strbuf_puts(out, bytes < 0 ? "[given back];" : "");
		put_stack(out, &name, g, part[i].stack);
		strbuf_printf(out, " %" PRId64 "\n", bytes < 0 ? -bytes : bytes);
	}
	strbuf_take_error(out, &name);
}
