// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Frames of growth as text, and long names in few columns. */
#include "report/growth_text.h"

#include <inttypes.h>
#include <limits.h>

#include "base/cleanup.h"
#include "model/function_name.h"
#include "write/text.h"

void growth_put_frame(struct strbuf *out, const struct growth_frame *f)
{
	if (f->name)
		strbuf_puts(out, f->name);
	else if (f->module)
		strbuf_printf(out, "%s+0x%" PRIx64, f->module, f->offset);
	else
		strbuf_printf(out, "0x%" PRIx64, f->offset);
}

void growth_put_line(struct strbuf *out, const struct growth_frame *f)
{
	const char *slash = strrchr(f->source, '/');

	strbuf_printf(out, "%s:%" PRIu64, slash ? slash + 1 : f->source, f->line);
}

static unsigned width_of(const char *s, size_t len)
{
	unsigned width = 0;

	text_fit(s, len, UINT_MAX, &width);
	return width;
}

/* "std::map<…>::emplace<…>" */
static void put_without_arguments(struct strbuf *out, struct text_part name)
{
	bool closed = true;

	for (size_t i = 0; i < name.len; i++) {
		strbuf_putc(out, name.s[i]);
		/* Where one is not closed, none behind it need be looked for. */
		closed = closed && (name.s[i] != '<' || function_name_close(name, i) < name.len);
		if (!closed || !function_name_has_arguments(name, i))
			continue;
		strbuf_puts(out, TEXT_ELLIPSIS ">");
		i = function_name_close(name, i);
	}
}

/* The end of a text that fits `columns`. */
static const char *end_of(const char *s, unsigned columns)
{
	struct glyph glyph;
	size_t len = strlen(s);
	unsigned width = width_of(s, len);

	while (len && width > columns) {
		size_t used = text_glyph(s, len, &glyph);

		s += used;
		len -= used;
		width -= glyph.width < width ? glyph.width : width;
	}
	return s;
}

unsigned growth_put_short(struct strbuf *out, const char *name, unsigned columns)
{
	struct text_part part = function_name_part(name);
	cleanup(strbuf_done) struct strbuf text = {};
	unsigned width = width_of(part.s, part.len), head;
	const char *end;
	size_t len;

	if (width <= columns) {
		strbuf_put(out, part.s, part.len);
		return width;
	}
	put_without_arguments(&text, part);
	if (strbuf_error(&text)) {
		strbuf_take_error(out, &text);
		return 0;
	}
	width = width_of(text.data, text.len);
	if (width <= columns || columns < 3) {
		strbuf_put(out, text.data, text.len);
		return width;
	}
	/* The end says more. text_fit() keeps a column for the ellipsis. */
	len = text_fit(strbuf_str(&text), text.len, columns / 3 + 1, &head);
	strbuf_put(out, text.data, len);
	strbuf_puts(out, TEXT_ELLIPSIS);
	end = end_of(text.data + len, columns - head);
	strbuf_puts(out, end);
	return head + width_of(end, strlen(end));
}
