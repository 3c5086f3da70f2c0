// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Rust's second scheme of symbol names, v0 (RFC 2603). The name may be of any user: a back
 * reference lets a short name stand for an endless one, so depth, steps and length have bounds.
 * Written as rustc-demangle's {:#}: without the hashes of crates and the types of constants.
 */
#include <string.h>

#include "base/parse.h"
#include "base/utf8.h"
#include "demangle/demangle.h"

#define DEPTH_MAX  200
#define STEPS_MAX  20000
#define OUTPUT_MAX 4096
#define PUNY_MAX   128

struct v0 {
	const char *s; /* behind _R; back references count from here */
	size_t len, pos;
	struct strbuf *out;
	size_t before;	   /* the length of `out` at the start */
	bool wrong, quiet; /* quiet: parse, and write nothing */
	unsigned depth, steps;
	uint64_t lifetimes; /* that binders around this place name */
};

struct v0_name {
	struct text_part text;
	uint64_t number; /* the disambiguator */
	bool puny;
};

/* What is in a name, by the letters that texts of tables have for it. */
enum item {
	ITEM_TYPE = 't',
	ITEM_PATH = 'p',
	ITEM_VALUE_PATH = 'v', /* arguments need "::" before them, as in an expression */
	ITEM_CONST = 'c',      /* that is no literal has braces: it stands among types */
	ITEM_VALUE = 'k',      /* a constant that stands among values */
	ITEM_ARGUMENT = 'a',
	ITEM_FIELD = 'f',
};

static void put_item(struct v0 *v, enum item item);

/* ---- reading and writing ---- */

static char peek(const struct v0 *v)
{
	return v->pos < v->len && !v->wrong ? v->s[v->pos] : '\0';
}

static char next(struct v0 *v)
{
	if (v->pos >= v->len || v->wrong) {
		v->wrong = true;
		return '\0';
	}
	return v->s[v->pos++];
}

/* Goes behind this character, if it is next. */
static bool accept(struct v0 *v, char c)
{
	if (peek(v) != c)
		return false;
	v->pos++;
	return true;
}

static void put_bytes(struct v0 *v, const char *text, size_t len)
{
	if (v->quiet || v->wrong)
		return;
	if (v->out->len - v->before + len > OUTPUT_MAX)
		v->wrong = true;
	else
		strbuf_put(v->out, text, len);
}

static void puts_v0(struct v0 *v, const char *text)
{
	put_bytes(v, text, strlen(text));
}

static void put_number(struct v0 *v, uint64_t n)
{
	char buf[DECIMAL_MAX];

	put_bytes(v, buf, decimal_put(buf, n));
}

static bool enter(struct v0 *v)
{
	if (++v->depth > DEPTH_MAX || ++v->steps > STEPS_MAX)
		v->wrong = true;
	return !v->wrong;
}

static void leave(struct v0 *v)
{
	v->depth--;
}

/* ---- numbers and identifiers ---- */

/* "_" is 0, "0_" is 1 … */
static uint64_t base_62(struct v0 *v)
{
	uint64_t n = 0;

	if (accept(v, '_'))
		return 0;
	while (!v->wrong && !accept(v, '_')) {
		char c = next(v);
		unsigned digit = is_digit(c)		? (unsigned)(c - '0')
				 : c >= 'a' && c <= 'z' ? (unsigned)(c - 'a') + 10
				 : c >= 'A' && c <= 'Z' ? (unsigned)(c - 'A') + 36
							: 62;

		if (digit == 62 || n > (UINT64_MAX - digit) / 62)
			v->wrong = true;
		else
			n = n * 62 + digit;
	}
	return n + 1;
}

/* A number behind this letter; without the letter 0. */
static uint64_t optional_62(struct v0 *v, char letter)
{
	return accept(v, letter) ? base_62(v) + 1 : 0;
}

static struct v0_name name_of(struct v0 *v)
{
	struct v0_name n = {.puny = accept(v, 'u')};
	size_t len = 0;

	if (!is_digit(peek(v)))
		v->wrong = true;
	/* A length does not begin with 0. */
	if (!accept(v, '0')) {
		while (is_digit(peek(v)) && len <= v->len)
			len = len * 10 + (size_t)(next(v) - '0');
	}
	accept(v, '_');
	if (len > v->len - v->pos)
		v->wrong = true;
	if (v->wrong)
		return (struct v0_name){.text = {"", 0}};
	n.text = (struct text_part){v->s + v->pos, len};
	v->pos += len;
	return n;
}

static struct v0_name identifier(struct v0 *v)
{
	uint64_t number = optional_62(v, 's');
	struct v0_name n = name_of(v);

	n.number = number;
	return n;
}

/* ---- identifiers with other letters than ASCII: Punycode (RFC 3492), with '_' for '-' ---- */

static int puny_digit(char c)
{
	return c >= 'a' && c <= 'z' ? c - 'a' : is_digit(c) ? c - '0' + 26 : -1;
}

/* Reads the next difference. Returns false at the end, or if it cannot be read. */
static bool puny_delta(struct text_part *rest, uint32_t bias, uint32_t *ret)
{
	uint32_t delta = 0, weight = 1;

	for (uint32_t k = 36; rest->len; k += 36) {
		uint32_t threshold = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
		int digit = puny_digit(*rest->s);

		*rest = part_behind(*rest, 1);
		if (digit < 0 || weight > 0x7ffffff / 36 || delta > 0x7ffffff)
			return false;
		delta += (uint32_t)digit * weight;
		if ((uint32_t)digit < threshold) {
			*ret = delta;
			return true;
		}
		weight *= 36 - threshold;
	}
	return false;
}

static uint32_t puny_bias(uint32_t delta, uint32_t count, bool first)
{
	uint32_t k = 0;

	delta = first ? delta / 700 : delta / 2;
	delta += delta / count;
	for (; delta > 35 * 26 / 2; k += 36)
		delta /= 35;
	return k + 36 * delta / (delta + 38);
}

static size_t puny_decode(struct text_part name, uint32_t *ret)
{
	const char *end = memrchr(name.s, '_', name.len);
	struct text_part rest = end ? part_behind(name, (size_t)(end - name.s) + 1) : name;
	size_t count = end ? (size_t)(end - name.s) : 0;
	uint32_t c = 0x80, at = 0, bias = 72, delta;

	if (count >= PUNY_MAX || !rest.len)
		return 0;
	for (size_t i = 0; i < count; i++)
		ret[i] = (unsigned char)name.s[i];
	for (bool first = true; rest.len; first = false) {
		if (count >= PUNY_MAX || !puny_delta(&rest, bias, &delta))
			return 0;
		bias = puny_bias(delta, (uint32_t)++count, first);
		at += delta;
		c += at / (uint32_t)count;
		at %= (uint32_t)count;
		if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
			return 0;
		memmove(ret + at + 1, ret + at, (count - 1 - at) * sizeof(*ret));
		ret[at++] = c;
	}
	return count;
}

static void put_code_point(struct v0 *v, uint32_t c)
{
	char buf[4];

	put_bytes(v, buf, utf8_encode(c, buf));
}

static void put_name(struct v0 *v, const struct v0_name *n)
{
	uint32_t c[PUNY_MAX];
	size_t count = n->puny ? puny_decode(n->text, c) : 0;

	if (n->puny && !count)
		v->wrong = true;
	if (!n->puny)
		put_bytes(v, n->text.s, n->text.len);
	for (size_t i = 0; i < count; i++)
		put_code_point(v, c[i]);
}

/* ---- back references, lists, lifetimes ---- */

/*
 * Behind 'B': what stands earlier in the name stands here as well. True if it is to be written: the
 * position is there, and *ret_here is where to go on.
 */
static bool go_back(struct v0 *v, size_t *ret_here)
{
	size_t begin = v->pos - 1;
	uint64_t at = base_62(v);

	if (at >= begin)
		v->wrong = true;
	if (v->wrong || v->quiet)
		return false;
	*ret_here = v->pos;
	v->pos = (size_t)at;
	return true;
}

/* Up to 'E', with commas. Returns the number of items. */
static size_t put_list(struct v0 *v, enum item item)
{
	size_t count = 0;

	while (!v->wrong && !accept(v, 'E')) {
		if (count++)
			puts_v0(v, ", ");
		put_item(v, item);
	}
	return count;
}

/*
 * Writes a text of a table: behind a % is the letter of an item, or behind two that of a list. A
 * tuple of one, behind %1, has a comma.
 */
static void put_parts(struct v0 *v, const char *parts)
{
	for (; *parts; parts++) {
		if (*parts != '%')
			put_bytes(v, parts, 1);
		else if (*++parts == '%')
			put_list(v, (enum item) * ++parts);
		else if (*parts == '1')
			puts_v0(v, put_list(v, (enum item) * ++parts) == 1 ? "," : "");
		else
			put_item(v, (enum item) * parts);
	}
}

/* 0 is '_; others count the binders from the inside. */
static void put_lifetime(struct v0 *v, uint64_t lifetime)
{
	uint64_t depth = v->lifetimes - lifetime;
	char letter = (char)('a' + depth % 26);

	puts_v0(v, "'");
	if (!lifetime) {
		puts_v0(v, "_");
	} else if (lifetime > v->lifetimes) {
		v->wrong = true;
	} else if (depth < 26) {
		put_bytes(v, &letter, 1);
	} else {
		puts_v0(v, "_");
		put_number(v, depth);
	}
}

/* for<'a, 'b>; returns how many it names. */
static uint64_t put_binder(struct v0 *v)
{
	uint64_t count = optional_62(v, 'G');

	/* Each takes some characters of the output. */
	if (count > OUTPUT_MAX)
		v->wrong = true;
	for (uint64_t i = 0; i < count && !v->wrong; i++) {
		puts_v0(v, i ? ", " : "for<");
		v->lifetimes++;
		put_lifetime(v, 1);
	}
	if (count)
		puts_v0(v, "> ");
	return v->wrong ? 0 : count;
}

/* ---- constants ---- */

/* The digits up to '_'. */
static struct text_part hex_digits(struct v0 *v)
{
	size_t begin = v->pos;

	while (hex_value(peek(v)) >= 0)
		v->pos++;
	if (!accept(v, '_'))
		v->wrong = true;
	return v->wrong ? (struct text_part){"", 0}
			: (struct text_part){v->s + begin, v->pos - begin - 1};
}

static bool hex_u64(struct text_part hex, uint64_t *ret)
{
	uint64_t n = 0;

	for (; hex.len && *hex.s == '0'; hex = part_behind(hex, 1))
		;
	if (hex.len > 16)
		return false;
	for (size_t i = 0; i < hex.len; i++)
		n = n << 4 | (uint64_t)hex_value(hex.s[i]);
	*ret = n;
	return true;
}

static void put_integer(struct v0 *v)
{
	struct text_part hex = hex_digits(v);
	uint64_t n;

	if (hex_u64(hex, &n)) {
		put_number(v, n);
		return;
	}
	puts_v0(v, "0x");
	put_bytes(v, hex.s, hex.len);
}

static void put_char(struct v0 *v, uint32_t c)
{
	char escape[2] = {'\\', c == '\n' ? 'n' : c == '\r' ? 'r' : c == '\t' ? 't' : (char)c};

	if (c == '\n' || c == '\r' || c == '\t' || c == '\\' || c == '\'' || c == '"')
		put_bytes(v, escape, sizeof(escape));
	else if (c < ' ' || c == 0x7f)
		puts_v0(v, "\\u{..}");
	else
		put_code_point(v, c);
}

static void put_char_const(struct v0 *v)
{
	uint64_t c;

	if (!hex_u64(hex_digits(v), &c) || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) {
		v->wrong = true;
		return;
	}
	puts_v0(v, "'");
	put_char(v, (uint32_t)c);
	puts_v0(v, "'");
}

static void put_bool_const(struct v0 *v)
{
	uint64_t n;

	if (!hex_u64(hex_digits(v), &n) || n > 1)
		v->wrong = true;
	puts_v0(v, n ? "true" : "false");
}

/* Bytes, two digits each. They are ASCII, or the text is not shown. */
static void put_str_const(struct v0 *v)
{
	struct text_part hex = hex_digits(v);

	if (hex.len % 2)
		v->wrong = true;
	puts_v0(v, "\"");
	for (size_t i = 0; i + 1 < hex.len; i += 2) {
		uint32_t c = (uint32_t)(hex_value(hex.s[i]) << 4 | hex_value(hex.s[i + 1]));

		put_char(v, c < 0x80 ? c : '?');
	}
	puts_v0(v, "\"");
}

static void put_field(struct v0 *v)
{
	struct v0_name n = identifier(v);

	put_name(v, &n);
	put_parts(v, ": %k");
}

/* What is no literal. */
static void put_compound(struct v0 *v, char tag)
{
	static const char *const values[] = {['R'] = "&%k",
					     ['Q'] = "&mut %k",
					     ['A'] = "[%%k]",
					     ['T'] = "(%1k)",
					     /* "*" and a text is a str by value. */
					     ['e'] = "*",
					     ['V'] = "%v"};

	put_parts(v, values[(unsigned char)tag]);
	if (tag == 'e')
		put_str_const(v);
	if (tag != 'V' || accept(v, 'U'))
		return;
	/* A value of a struct or of a variant. */
	if (accept(v, 'T'))
		put_parts(v, "(%%k)");
	else if (accept(v, 'S'))
		put_parts(v, " { %%f }");
	else
		v->wrong = true;
}

static void put_const(struct v0 *v, bool value)
{
	char tag = next(v);

	if (tag == 'p') {
		puts_v0(v, "_");
	} else if (tag && strchr("htmyoj", tag)) {
		put_integer(v);
	} else if (tag && strchr("aslxni", tag)) {
		puts_v0(v, accept(v, 'n') ? "-" : "");
		put_integer(v);
	} else if (tag == 'b') {
		put_bool_const(v);
	} else if (tag == 'c') {
		put_char_const(v);
	} else if (tag == 'R' && accept(v, 'e')) {
		put_str_const(v);
	} else if (tag && strchr("RQATVe", tag)) {
		puts_v0(v, value ? "" : "{");
		put_compound(v, tag);
		puts_v0(v, value ? "" : "}");
	} else {
		v->wrong = true;
	}
}

/* ---- types ---- */

static void put_abi(struct v0 *v)
{
	struct v0_name n;

	puts_v0(v, "extern \"");
	if (accept(v, 'C')) {
		puts_v0(v, "C");
	} else {
		n = name_of(v);
		if (n.puny)
			v->wrong = true;
		/* '_' stands for '-'. */
		for (size_t i = 0; i < n.text.len; i++)
			put_bytes(v, n.text.s[i] == '_' ? "-" : n.text.s + i, 1);
	}
	puts_v0(v, "\" ");
}

static void put_function(struct v0 *v)
{
	uint64_t bound = put_binder(v);

	if (accept(v, 'U'))
		puts_v0(v, "unsafe ");
	if (accept(v, 'K'))
		put_abi(v);
	put_parts(v, "fn(%%t)");
	if (!accept(v, 'u'))
		put_parts(v, " -> %t");
	v->lifetimes -= bound;
}

/* The path of a trait, with its angle open if it has arguments. */
static bool put_open_path(struct v0 *v)
{
	bool open = false;
	size_t here;

	if (!enter(v))
		return false;
	if (accept(v, 'B')) {
		if (go_back(v, &here)) {
			open = put_open_path(v);
			v->pos = here;
		}
	} else if (accept(v, 'I')) {
		put_parts(v, "%p<%%a");
		open = true;
	} else {
		put_item(v, ITEM_PATH);
	}
	leave(v);
	return open;
}

static void put_trait(struct v0 *v)
{
	bool open = put_open_path(v);

	while (accept(v, 'p')) {
		struct v0_name n;

		puts_v0(v, open ? ", " : "<");
		open = true;
		n = name_of(v);
		put_name(v, &n);
		put_parts(v, " = %t");
	}
	if (open)
		puts_v0(v, ">");
}

static void put_dyn(struct v0 *v)
{
	uint64_t bound, lifetime;

	puts_v0(v, "dyn ");
	bound = put_binder(v);
	for (size_t i = 0; !v->wrong && !accept(v, 'E'); i++) {
		if (i)
			puts_v0(v, " + ");
		put_trait(v);
	}
	v->lifetimes -= bound;
	if (!accept(v, 'L')) {
		v->wrong = true;
		return;
	}
	lifetime = base_62(v);
	if (!lifetime)
		return;
	puts_v0(v, " + ");
	put_lifetime(v, lifetime);
}

static void put_reference(struct v0 *v, bool mutable)
{
	uint64_t lifetime;

	puts_v0(v, "&");
	if (accept(v, 'L') && (lifetime = base_62(v))) {
		put_lifetime(v, lifetime);
		puts_v0(v, " ");
	}
	put_parts(v, mutable ? "mut %t" : "%t");
}

static void put_type(struct v0 *v)
{
	static const char *const types[128] = {
		['a'] = "i8",	     ['b'] = "bool",	 ['c'] = "char", ['d'] = "f64",
		['e'] = "str",	     ['f'] = "f32",	 ['h'] = "u8",	 ['i'] = "isize",
		['j'] = "usize",     ['l'] = "i32",	 ['m'] = "u32",	 ['n'] = "i128",
		['o'] = "u128",	     ['p'] = "_",	 ['s'] = "i16",	 ['t'] = "u16",
		['u'] = "()",	     ['v'] = "...",	 ['x'] = "i64",	 ['y'] = "u64",
		['z'] = "!",	     ['A'] = "[%t; %k]", ['S'] = "[%t]", ['T'] = "(%1t)",
		['P'] = "*const %t", ['O'] = "*mut %t",
	};
	char tag = next(v);

	if (tag > 0 && types[(unsigned char)tag]) {
		put_parts(v, types[(unsigned char)tag]);
	} else if (tag == 'R' || tag == 'Q') {
		put_reference(v, tag == 'Q');
	} else if (tag == 'F') {
		put_function(v);
	} else if (tag == 'D') {
		put_dyn(v);
	} else if (!v->wrong) {
		/* A path. */
		v->pos--;
		put_item(v, ITEM_PATH);
	}
}

/* ---- paths ---- */

static void put_argument(struct v0 *v)
{
	if (accept(v, 'L'))
		put_lifetime(v, base_62(v));
	else
		put_item(v, accept(v, 'K') ? ITEM_CONST : ITEM_TYPE);
}

/* Upper-case namespaces are for what has no name in the source. */
static void put_special(struct v0 *v, char namespace, const struct v0_name *n)
{
	puts_v0(v, "::{");
	if (namespace == 'C')
		puts_v0(v, "closure");
	else if (namespace == 'S')
		puts_v0(v, "shim");
	else
		put_bytes(v, &namespace, 1);
	if (n->text.len) {
		puts_v0(v, ":");
		put_name(v, n);
	}
	puts_v0(v, "#");
	put_number(v, n->number);
	puts_v0(v, "}");
}

static void put_nested(struct v0 *v, bool value)
{
	char namespace = next(v);
	struct v0_name n;

	put_item(v, value ? ITEM_VALUE_PATH : ITEM_PATH);
	n = identifier(v);
	if (namespace >= 'A' && namespace <= 'Z') {
		put_special(v, namespace, &n);
	} else if (namespace < 'a' || namespace > 'z') {
		v->wrong = true;
	} else if (n.text.len) {
		puts_v0(v, "::");
		put_name(v, &n);
	}
}

/* Where an impl is says less than what it is for. */
static void skip_impl_path(struct v0 *v)
{
	bool quiet = v->quiet;

	optional_62(v, 's');
	v->quiet = true;
	put_item(v, ITEM_PATH);
	v->quiet = quiet;
}

static void put_impl(struct v0 *v, char tag)
{
	if (tag != 'Y')
		skip_impl_path(v);
	put_parts(v, tag == 'M' ? "<%t>" : "<%t as %p>");
}

static void put_path(struct v0 *v, bool value)
{
	char tag = next(v);
	struct v0_name n;

	if (tag == 'C') {
		n = identifier(v);
		put_name(v, &n);
	} else if (tag == 'N') {
		put_nested(v, value);
	} else if (tag == 'M' || tag == 'X' || tag == 'Y') {
		put_impl(v, tag);
	} else if (tag == 'I') {
		put_parts(v, value ? "%v::<%%a>" : "%p<%%a>");
	} else {
		v->wrong = true;
	}
}

static void put_item(struct v0 *v, enum item item)
{
	size_t here;

	if (item == ITEM_ARGUMENT || item == ITEM_FIELD) {
		(item == ITEM_FIELD ? put_field : put_argument)(v);
		return;
	}
	if (!enter(v))
		return;
	if (accept(v, 'B')) {
		if (go_back(v, &here)) {
			put_item(v, item);
			v->pos = here;
		}
	} else if (item == ITEM_TYPE) {
		put_type(v);
	} else if (item == ITEM_PATH || item == ITEM_VALUE_PATH) {
		put_path(v, item == ITEM_VALUE_PATH);
	} else {
		put_const(v, item == ITEM_VALUE);
	}
	leave(v);
}

bool demangle_rust_v0(const char *name, struct strbuf *out)
{
	struct v0 v = {.s = name + 2, .out = out, .before = out->len};

	if (strncmp(name, "_R", 2) != 0)
		return false;
	/* What a compiler adds begins with one of these. */
	v.len = strcspn(v.s, ".$@");
	/* A version would be a number. There is no version yet. */
	put_item(&v, ITEM_VALUE_PATH);
	/* The crate in which a generic function was made. */
	v.quiet = true;
	if (v.pos < v.len)
		put_item(&v, ITEM_PATH);
	if (!v.wrong && v.pos == v.len && out->len > v.before && !strbuf_error(out))
		return true;
	out->len = v.before;
	return false;
}
