// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * CSV as in RFC 4180, except that a line ends with a newline alone: all CSV readers accept it, and
 * cut, sort, awk and join would leave a carriage return in the last column. A record is one line: a
 * character that could break the line or steer a terminal becomes U+FFFD, as do bytes that are not
 * UTF-8. An empty field was not measured; "" is an empty text.
 *
 * A spreadsheet runs a cell that begins with = + - or @, quoted or not, and any user can give a
 * program such a name. Such a text always gets an apostrophe before it: few real names begin so,
 * and the person who opens the file did not choose its options. A text that begins with an
 * apostrophe gets one more, so a program restores the exact text by removing the first one.
 *
 * TSV is for cut, awk and join: fields are separated by tabs, and nothing is quoted. A backslash, a
 * tab and a newline in a text are \\, \t and \n; an empty text is empty, as is what was not
 * measured.
 */
#include "write/field_text.h"

#include <string.h>

#include "base/array.h"
#include "write/text.h"

static const char *map_char(uint32_t c)
{
	if (c == '"')
		return "\"\"";
	return text_safe(c) ? NULL : TEXT_REPLACEMENT;
}

static const char *map_char_of_tsv(uint32_t c)
{
	if (c == '\\')
		return "\\\\";
	return c == '\t' ? "\\t" : c == '\n' ? "\\n" : text_safe(c) ? NULL : TEXT_REPLACEMENT;
}

/* A semicolon separates cells in locales with a decimal comma. */
static bool needs_quotes(const char *s)
{
	size_t len = strlen(s);

	return !len || s[0] == ' ' || s[len - 1] == ' ' || strpbrk(s, ",;\"");
}

static bool needs_apostrophe(const char *s)
{
	/* Full-width = + - @: spreadsheets in East Asian locales run these as formulas, too. */
	static const char *const wide[] = {"\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d",
					   "\xef\xbc\xa0"};

	if (*s == '\'')
		return true;
	s += strspn(s, " ");
	for (size_t i = 0; i < ARRAY_SIZE(wide); i++) {
		if (strncmp(s, wide[i], 3) == 0)
			return true;
	}
	return *s && strchr("=+-@", *s);
}

void csv_put_text(struct strbuf *out, const char *s, char separator)
{
	bool quoted = needs_quotes(s);

	if (separator == '\t') {
		text_put_mapped(out, s, SIZE_MAX, map_char_of_tsv);
		return;
	}
	if (quoted)
		strbuf_putc(out, '"');
	if (needs_apostrophe(s))
		strbuf_putc(out, '\'');
	text_put_mapped(out, s, SIZE_MAX, map_char);
	if (quoted)
		strbuf_putc(out, '"');
}
