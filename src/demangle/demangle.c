// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Names of C++ are the work of libstdc++, which programs of C++ bring with them. */
#include "demangle/demangle.h"

#ifndef ZMEM_STATIC
#include <dlfcn.h>
#endif

#include "base/array.h"
#include "base/cleanup.h"
#include "base/parse.h"

#define NAME_MAX_BYTES 4096
#define HASH_LEN       17 /* "h" and 16 digits */

/* ---- Rust ---- */

/* What a symbol cannot have, between two '$'. */
static bool put_escape(struct strbuf *out, struct text_part word)
{
	static const struct {
		const char *word, *text;
	} escapes[] = {
		{"SP", "@"}, {"BP", "*"}, {"RF", "&"}, {"LT", "<"},
		{"GT", ">"}, {"LP", "("}, {"RP", ")"}, {"C", ","},
	};
	unsigned c = 0;

	for (size_t i = 0; i < ARRAY_SIZE(escapes); i++) {
		if (part_is(word, escapes[i].word)) {
			strbuf_puts(out, escapes[i].text);
			return true;
		}
	}
	if (word.len < 2 || word.len > 4 || word.s[0] != 'u')
		return false;
	for (size_t i = 1; i < word.len; i++) {
		int digit = hex_value(word.s[i]);

		if (digit < 0)
			return false;
		c = c << 4 | (unsigned)digit;
	}
	if (c < ' ' || c > '~')
		return false;
	strbuf_putc(out, (char)c);
	return true;
}

static void put_rust_name(struct strbuf *out, struct text_part name)
{
	/* An escape cannot begin a name. */
	if (name.len > 1 && name.s[0] == '_' && name.s[1] == '$')
		name = part_behind(name, 1);
	for (size_t i = 0; i < name.len; i++) {
		const char *at = name.s + i;
		const char *end = *at == '$' ? memchr(at + 1, '$', name.len - i - 1) : NULL;

		if (end && put_escape(out, (struct text_part){at + 1, (size_t)(end - at - 1)})) {
			i += (size_t)(end - at);
		} else if (*at == '.' && i + 1 < name.len && at[1] == '.') {
			strbuf_puts(out, "::");
			i++;
		} else {
			strbuf_putc(out, *at);
		}
	}
}

/* The next length and name. */
static bool next_name(const char **pos, const char *end, struct text_part *ret)
{
	uint64_t len;

	if (*pos >= end || !is_digit(**pos) || !scan_u64(pos, end, &len) ||
	    len > (uint64_t)(end - *pos))
		return false;
	*ret = (struct text_part){*pos, (size_t)len};
	*pos += len;
	return true;
}

static bool is_hash(struct text_part name)
{
	if (name.len != HASH_LEN || name.s[0] != 'h')
		return false;
	for (size_t i = 1; i < name.len; i++) {
		if (hex_value(name.s[i]) < 0)
			return false;
	}
	return true;
}

bool demangle_rust(const char *name, struct strbuf *out)
{
	size_t len = strnlen(name, NAME_MAX_BYTES), before = out->len;
	const char *pos = name + 3, *end = name + len;
	struct text_part part, last = {};

	if (len < 4 || strncmp(name, "_ZN", 3) != 0)
		return false;
	while (next_name(&pos, end, &part)) {
		if (last.s) {
			if (out->len > before)
				strbuf_puts(out, "::");
			put_rust_name(out, last);
		}
		last = part;
	}
	if (last.s && is_hash(last) && pos < end && *pos == 'E' && out->len > before)
		return true;
	out->len = before;
	return false;
}

/* ---- C++ ---- */

#ifndef ZMEM_STATIC

typedef char *(*cxa_demangle)(const char *name, char *buf, size_t *len, int *status);

static cxa_demangle load_demangle(void)
{
	void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
	void *function = library ? dlsym(library, "__cxa_demangle") : NULL;
	cxa_demangle ret = NULL;

	/* POSIX: pointers to functions and to data have the same size. */
	memcpy(&ret, &function, sizeof(ret));
	return ret;
}

/*
 * "shop::Cart::add" of "shop::Cart::add(int) const": parameters are long, and seldom of use. They
 * are the last brackets; those before are of the name: "use(int)::{lambda(int)#1}::operator()".
 */
static size_t without_parameters(const char *text)
{
	size_t whole = strlen(text), at = whole;
	int depth = 0;

	/* " const", " &&" */
	while (at && text[at - 1] != ')') {
		at--;
		if (!strchr(" &", text[at]) && (text[at] < 'a' || text[at] > 'z'))
			return whole;
	}
	while (at) {
		at--;
		depth += (text[at] == ')') - (text[at] == '(');
		if (!depth)
			break;
	}
	return !at || (at >= 8 && strncmp(text + at - 8, "operator", 8) == 0) ? whole : at;
}

void demangle_load(void)
{
	load_demangle();
}

bool demangle_cxx(const char *name, struct strbuf *out)
{
	/* A part of a function that the compiler made has "." and what it is behind the name. */
	size_t len = strcspn(name, "@.");
	cxa_demangle function = load_demangle();
	cleanup_free char *text = NULL;
	char plain[NAME_MAX_BYTES];
	int status = -1;

	if (!function || len >= sizeof(plain) || strncmp(name, "_Z", 2) != 0)
		return false;
	memcpy(plain, name, len);
	plain[len] = '\0';
	text = function(plain, NULL, NULL, &status);
	if (!text || status)
		return false;
	strbuf_put(out, text, without_parameters(text));
	return true;
}

#else

void demangle_load(void)
{
}

bool demangle_cxx(const char *name, struct strbuf *out)
{
	(void)name;
	(void)out;
	return false;
}

#endif

bool demangle(const char *name, struct strbuf *out)
{
	if (demangle_rust_v0(name, out) || demangle_rust(name, out))
		return false;
	strbuf_put(out, name, strcspn(name, "@"));
	return strncmp(name, "_Z", 2) == 0;
}
