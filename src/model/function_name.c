// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finds results and arguments of templates in the names of functions. */
#include "model/function_name.h"

static const char opening[] = "<([{", closing[] = ">)]}";

static bool is_word(char c)
{
	return c == '_' || c == '$' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

static bool ends_with_operator(struct text_part text, size_t at)
{
	static const char word[] = "operator";
	const size_t len = sizeof(word) - 1;

	return at >= len && memcmp(text.s + at - len, word, len) == 0 &&
	       (at == len || !is_word(text.s[at - len - 1]));
}

size_t function_name_close(struct text_part text, size_t at)
{
	size_t depth = 0;

	for (; at < text.len; at++) {
		char c = text.s[at];

		if (c == '>' && at && text.s[at - 1] == '-')
			continue;
		if (memchr(opening, c, sizeof(opening) - 1))
			depth++;
		else if (memchr(closing, c, sizeof(closing) - 1) && depth && --depth == 0)
			return at;
	}
	return text.len;
}

bool function_name_has_arguments(struct text_part text, size_t at)
{
	return text.s[at] == '<' && at && (is_word(text.s[at - 1]) || text.s[at - 1] == ':') &&
	       !ends_with_operator(text, at) && function_name_close(text, at) < text.len;
}

/* What may stand behind a blank and is no name. */
static bool is_qualifier(struct text_part rest)
{
	return !rest.len || part_begins_any(rest, "const,volatile,&,*,[");
}

struct text_part function_name_part(const char *text)
{
	const struct text_part all = part_of(text);
	size_t name = 0;
	bool arguments = false;

	for (size_t i = 0; i < all.len; i++) {
		if (ends_with_operator(all, i)) {
			arguments = true;
			break;
		}
		if (all.s[i] == ' ' && !is_qualifier(part_behind(all, i + 1))) {
			name = i + 1;
			arguments = false;
		} else if (memchr(opening, all.s[i], sizeof(opening) - 1)) {
			arguments |= function_name_has_arguments(all, i);
			i = function_name_close(all, i);
		}
	}
	/* Only a template has a result. Other blanks are of paths, as in names of scripts. */
	return part_behind(all, arguments && !part_begins_any(all, "py::,[") ? name : 0);
}
