// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Texts of processes as a JSON string, as a cell and as a line of a table. The first two bytes of
 * the input are the width.
 */
#include "../support/invisible.h"
#include "../support/utf8_valid.h"
#include "fuzz_json.h"
#include "write/json_writer.h"
#include "write/line.h"
#include "write/text.h"

/* The expected JSON string: the text with U+FFFD for each byte that is not UTF-8. */
struct wanted {
	const char *s;
	size_t len;
};

static void next_char(void *arg, uint32_t c)
{
	struct wanted *w = arg;
	uint32_t want = 0xfffd;
	size_t n;

	FUZZ_CHECK(w->len);
	n = utf8_decode(w->s, w->len, &want);
	FUZZ_CHECK(c == (n ? want : 0xfffd));
	w->s += n ? n : 1;
	w->len -= n ? n : 1;
}

static void check_json(const char *s, size_t max)
{
	struct strbuf out = {};
	struct json_writer w = {.out = &out};
	struct wanted wanted = {s, strlen(s)};
	unsigned flags = json_put_string_max(&w, s, max);
	struct fuzz_json j = {.pos = out.data, .end = out.data + out.len};

	FUZZ_CHECK(!strbuf_error(&out) && out.len >= 2 && out.len - 2 <= max);
	json_read_string(&j, next_char, &wanted);
	FUZZ_CHECK(j.pos == j.end);
	FUZZ_CHECK(!!(flags & JSON_CUT) == (wanted.len != 0));
	FUZZ_CHECK(!!(flags & JSON_REPAIRED) == !utf8_valid(s, strlen(s) - wanted.len));
	strbuf_done(&out);
}

/* The width of the output, which must be printable and visible. */
static size_t columns_of(const char *s, size_t len)
{
	size_t width = 0;

	for (size_t i = 0, n; i < len; i += n) {
		uint32_t c;

		n = utf8_decode(s + i, len - i, &c);
		FUZZ_CHECK(n && text_safe(c) && !invisible_char(c));
		width += utf8_width(c);
	}
	return width;
}

/* Each text is shown in its own way: the one shown tells the text. */
static void check_shown(const char *s)
{
	char *shown = malloc(4 * strlen(s) + 1), *end = shown;
	const char *want = s;
	struct glyph g;

	FUZZ_CHECK(shown);
	for (size_t i = 0, len = strlen(s); i < len;) {
		i += text_glyph(s + i, len - i, &g);
		memcpy(end, g.bytes, g.len);
		end += g.len;
	}
	*end = '\0';
	for (const char *at = shown; *at; want++) {
		unsigned byte = (unsigned char)*at;
		int used = 0;

		if (*at == '\\' && at[1] == '\\')
			used = 2;
		else if (*at == '\\' && at[1] == 'x' && strspn(at + 2, "0123456789abcdef") >= 2) {
			sscanf(at + 2, "%2x", &byte);
			used = byte < 0x20 || byte > 0x7e ? 4 : 0;
			byte = used ? byte : '\\';
		}
		FUZZ_CHECK((unsigned char)*want == byte);
		at += used ? used : 1;
	}
	FUZZ_CHECK(!*want);
	free(shown);
}

static void check_fit(const char *s, unsigned limit)
{
	size_t len = strlen(s), width = 0, shown;
	unsigned said;

	shown = text_fit(s, len, limit, &said);
	FUZZ_CHECK(shown <= len && said <= limit);
	for (size_t i = 0, n; i < shown; i += n) {
		struct glyph g;

		n = text_glyph(s + i, len - i, &g);
		FUZZ_CHECK(n && n <= shown - i && g.len <= sizeof(g.bytes));
		FUZZ_CHECK(columns_of(g.bytes, g.len) == g.width);
		width += g.width;
	}
	FUZZ_CHECK(width + (shown < len) == said);
}

static void check_line(const char *s, unsigned limit, unsigned width)
{
	struct strbuf out = {};
	struct line l = {.out = &out, .width = width};

	line_text(&l, s, limit);
	line_blanks(&l, 2);
	line_text(&l, s, 0);
	line_end(&l);
	FUZZ_CHECK(!strbuf_error(&out) && out.len && out.data[out.len - 1] == '\n');
	FUZZ_CHECK(!width || columns_of(out.data, out.len - 1) <= width);
	columns_of(out.data, out.len - 1);
	strbuf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t room[2];
	char *s;

	fuzz_take(&data, &size, room, sizeof(room));
	s = fuzz_string(data, size);
	check_json(s, SIZE_MAX);
	check_json(s, room[0]);
	check_shown(s);
	check_fit(s, room[0] ? room[0] : 1);
	check_fit(s, UINT32_MAX);
	check_line(s, room[0], room[1]);
	free(s);
	return 0;
}
