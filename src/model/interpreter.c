// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finds the script in the command line of an interpreter, from the options of the interpreter. */
#include "model/interpreter.h"

#include "base/array.h"
#include "base/ascii.h"

#define STEMS_MAX 24 /* NULL at the end */

/*
 * Option letters, as in getopt. A letter in none of the lists has no value. Words that begin with
 * "--" have no separate value, unless listed in value_words.
 */
struct interpreter {
	const char *stem[STEMS_MAX];
	const char *value;	 /* has a value: the rest of the word, or else the next word */
	const char *next;	 /* its value is always the next word; more letters may follow */
	const char *rest;	 /* its value is the rest of the word, which may be empty */
	const char *code;	 /* an argument or stdin is the program: there is no script */
	const char *file;	 /* like `value`, and the value is the script */
	const char *value_words; /* whole words with the next word as their value */
	const char *code_words;
	const char *file_word; /* "--file=": the script follows in the word */
	bool shell;	       /* '+' begins options, too; "-" ends them; there are no titles */
	bool no_words;	       /* a word that is not an option is not a script */
	bool is_known;	       /* its options are known; else comm names the script */
};

static const struct interpreter families[] = {
	{{"python", "pypy", "micropython"},
	 .is_known = true,
	 .value = "WX",
	 .code = "c",
	 .file = "m",
	 .value_words = "--check-hash-based-pycs"},
	{{"perl"}, .is_known = true, .value = "I", .rest = "MmxiFCDdV", .code = "eE"},
	{{"sh", "bash", "dash", "ash", "hush", "ksh", "mksh", "lksh", "oksh", "yash", "zsh", "csh",
	  "tcsh", "bsd-csh"},
	 .is_known = true,
	 .next = "oO",
	 .code = "cs",
	 .value_words = "--rcfile --init-file --emulate",
	 .shell = true},
	{{"fish"},
	 .is_known = true,
	 .value = "CdofDp",
	 .code = "c",
	 .shell = true,
	 .value_words = "--init-command --debug",
	 .code_words = "--command"},
	{{"node", "nodejs"},
	 .is_known = true,
	 .value = "rC",
	 .code = "ep",
	 .value_words = "--require --import --loader --experimental-loader --conditions --title "
			"--env-file --input-type --icu-data-dir --openssl-config",
	 .code_words = "--eval --print --run --test"},
	{{"ruby"},
	 .is_known = true,
	 .value = "IrCXE",
	 .rest = "TWKxiF",
	 .code = "e",
	 .value_words = "--encoding --external-encoding --internal-encoding --disable --enable "
			"--dump"},
	{{"php"},
	 .is_known = true,
	 .value = "dczt",
	 .code = "rBRES",
	 .file = "fF",
	 .value_words = "--define --php-ini",
	 .code_words = "--run --server --"},
	{{"lua", "luajit"}, .is_known = true, .value = "elj", .rest = "O", .code = "b"},
	{{"tclsh", "wish"}, .is_known = true, .value_words = "-encoding"},
	{{"expect"}, .is_known = true, .value = "cD", .file = "fb"},
	{{"R"},
	 .is_known = true,
	 .value = "gd",
	 .code = "e",
	 .code_words = "--args",
	 .file = "f",
	 .file_word = "--file=",
	 .no_words = true},
	/* They run scripts by "#!"; their other arguments are not parsed. */
	{{"awk",    "gawk",	  "mawk",    "nawk",  "original-awk", "sed",	"jq",	"make",
	  "gmake",  "nft",	  "gnuplot", "guile", "racket",	      "ocaml",	"sbcl", "clisp",
	  "gforth", "octave-cli", "gdb",     "deno",  "bun",	      "escript"}},
};

/* What may follow a stem: "3.11", "-5.9", "3.13t", "-dbg", ".static", "5.36-x86_64-linux-gnu". */
static bool is_version(struct text_part tail)
{
	static const char endings[] = "-dbg -static .static -real .real -c";
	size_t n = tail.len > 1 && tail.s[0] == '-' && is_digit(tail.s[1]);
	size_t digits = 0;

	for (; n < tail.len && (is_digit(tail.s[n]) || tail.s[n] == '.'); n++)
		digits += is_digit(tail.s[n]);
	if (n == tail.len)
		return digits || !n;
	if (digits)
		return tail.s[n] == '-' ||
		       part_lists(part_of("t d m td .static .real"), ' ', part_behind(tail, n));
	return part_lists(part_of(endings), ' ', tail);
}

static bool is_stem(struct text_part name, const char *const *stem)
{
	for (; *stem; stem++) {
		if (**stem == *name.s && part_begins(name, *stem) &&
		    is_version(part_behind(name, strlen(*stem))))
			return true;
	}
	return false;
}

const struct interpreter *interpreter_find(struct text_part name)
{
	for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
		if (name.len && is_stem(name, families[i].stem))
			return &families[i];
	}
	return NULL;
}

bool is_multi_call(struct text_part name)
{
	static const char *const stem[] = {"busybox",	"toybox",    "coreutils", "dropbearmulti",
					   "sbase-box", "ubase-box", NULL};

	return name.len && is_stem(name, stem);
}

/* "ld-linux-x86-64.so.2", "ld-musl-x86_64.so.1", "ld-2.31.so", "ld.so" */
bool is_loader(struct text_part name)
{
	return (part_begins(name, "ld-") || part_begins(name, "ld.so")) &&
	       memmem(name.s, name.len, ".so", 3);
}

static const struct interpreter loader = {
	.is_known = true,
	.value_words = "--library-path --preload --argv0 --audit --inhibit-rpath "
		       "--glibc-hwcaps-mask --glibc-hwcaps-prepend"};

const struct interpreter *const interpreter_loader = &loader;

bool interpreter_has_options(const struct interpreter *i)
{
	return i->is_known;
}

bool interpreter_has_titles(const struct interpreter *i)
{
	return i->is_known && !i->shell;
}

enum found { GO_ON, SCRIPT, NO_SCRIPT };

static enum found parse_letters(const struct interpreter *f, struct text_part word, struct words *w,
				struct text_part *ret)
{
	struct text_part skipped;

	for (size_t i = 1; i < word.len; i++) {
		struct text_part rest = part_behind(word, i + 1);
		char c = word.s[i];

		if (has_letter(f->code, c))
			return NO_SCRIPT;
		if (has_letter(f->file, c)) {
			*ret = rest;
			return rest.len || next_word(w, ret) ? SCRIPT : NO_SCRIPT;
		}
		if (has_letter(f->next, c))
			next_word(w, &skipped);
		if (has_letter(f->value, c) && !rest.len)
			next_word(w, &skipped);
		if (has_letter(f->value, c) || has_letter(f->rest, c))
			return GO_ON;
	}
	return GO_ON;
}

static enum found parse_option(const struct interpreter *f, struct text_part word, struct words *w,
			       struct text_part *ret)
{
	struct text_part skipped;

	if (f->value_words && part_lists(part_of(f->value_words), ' ', word))
		return next_word(w, &skipped) ? GO_ON : NO_SCRIPT;
	if (f->file_word && part_begins(word, f->file_word)) {
		*ret = part_behind(word, strlen(f->file_word));
		return SCRIPT;
	}
	return part_begins(word, "--") ? GO_ON : parse_letters(f, word, w, ret);
}

static bool is_word(const struct interpreter *f, struct text_part word)
{
	return !part_begins(word, "-") && !(f->shell && part_begins(word, "+"));
}

bool interpreter_script(const struct interpreter *f, struct words *w, struct text_part *ret)
{
	enum found found = GO_ON;
	struct text_part word;

	while (found == GO_ON && next_word(w, &word)) {
		bool end = part_same(word, part_of("--")) ||
			   (f->shell && part_same(word, part_of("-")));

		if (f->code_words && part_lists(part_of(f->code_words), ' ', word))
			return false;
		if (end && !next_word(w, &word))
			return false;
		if (end || is_word(f, word)) {
			*ret = word;
			return !f->no_words;
		}
		if (word.len == 1) /* stdin */
			return false;
		found = parse_option(f, word, w, ret);
	}
	return found == SCRIPT;
}
