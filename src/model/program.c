// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Finds what an interpreter, a multi-call binary, the dynamic loader or Wine runs, from its command
 * line, and the link that a program was started by.
 * It does not guess: if nothing is found, the name is that of the executable.
 */
#include "model/program.h"

#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/parse.h"

#define STEMS_MAX   24	     /* NULL at the end */
#define MEMORY_FILE "memfd:" /* memfd_create() */
#define COMM_LEN    15	     /* the kernel cuts longer names */

/* ---- words of a command line ---- */

struct words {
	const char *pos, *end;
};

static bool next_word(struct words *w, struct text_part *ret)
{
	if (w->pos >= w->end)
		return false;
	ret->s = w->pos;
	ret->len = strnlen(w->pos, (size_t)(w->end - w->pos));
	w->pos += ret->len;
	w->pos += w->pos < w->end;
	return true;
}

static bool has_letter(const char *letters, char c)
{
	return letters && c && strchr(letters, c);
}

/* True if only NULs are left, as setproctitle() leaves them behind a title. */
static bool no_words_left(struct words w)
{
	while (w.pos < w.end && !*w.pos)
		w.pos++;
	return w.pos >= w.end;
}

/* ---- interpreters and other programs that run what their arguments name ---- */

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
	/* These run scripts by "#!"; other arguments of them are not parsed. */
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

/*
 * Finds the interpreter of that name, with or without a version ("python3.11"). NULL: it is not an
 * interpreter ("node_exporter", "php-fpm").
 */
static const struct interpreter *interpreter_find(struct text_part name)
{
	for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
		if (name.len && is_stem(name, families[i].stem))
			return &families[i];
	}
	return NULL;
}

/* True for BusyBox and similar binaries, which run the program that they are named after. */
static bool is_multi_call(struct text_part name)
{
	static const char *const stem[] = {"busybox",	"toybox",    "coreutils", "dropbearmulti",
					   "sbase-box", "ubase-box", NULL};

	return name.len && is_stem(name, stem);
}

/*
 * True for the dynamic loader, which runs its argument: "ld-linux-x86-64.so.2", "ld-2.31.so",
 * "ld-musl-x86_64.so.1", "ld.so".
 */
static bool is_loader(struct text_part name)
{
	return (part_begins(name, "ld-") || part_begins(name, "ld.so")) &&
	       memmem(name.s, name.len, ".so", 3);
}

static const struct interpreter loader = {
	.is_known = true,
	.value_words = "--library-path --preload --argv0 --audit --inhibit-rpath "
		       "--glibc-hwcaps-mask --glibc-hwcaps-prepend"};

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

/* Finds the script. `w` starts behind argv[0] and ends behind the script. */
static bool interpreter_script(const struct interpreter *f, struct words *w, struct text_part *ret)
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

/* ---- names ---- */

/* Returns the base name of a script; false if it has no meaningful one. */
static bool script_name(struct text_part path, struct text_part *ret)
{
	struct text_part name = part_base(path);

	if (part_begins(path, "/dev/fd/") || part_begins(path, "/proc/") || !name.len ||
	    name.len > PROGRAM_NAME_MAX || part_lists(part_of(". .. / stdin"), ' ', name))
		return false;
	*ret = name;
	return true;
}

/* True if comm is that name, which the kernel cut. */
static bool is_comm(struct text_part comm, struct text_part name)
{
	return part_begins(name, comm.s) && (name.len == comm.len || comm.len == COMM_LEN);
}

/*
 * Finds the name of a script that was started by its "#!": it is comm, and one of the first
 * arguments, behind at most one option for each interpreter.
 */
static bool name_by_comm(struct words w, struct text_part exe, struct text_part comm,
			 struct text_part *ret)
{
	struct text_part word;

	if (!comm.len || part_begins(exe, comm.s) || interpreter_find(comm) || is_multi_call(comm))
		return false;
	for (int i = 0; i < 6 && next_word(&w, &word); i++) {
		struct text_part name = part_base(word);

		if (is_comm(comm, name))
			return script_name(word, ret);
	}
	return false;
}

/* Finds the name in a title that a script has set: "gunicorn: master [app]", "npm run x". */
static bool title_name(struct text_part title, struct text_part *ret)
{
	struct text_part name;
	size_t n = 0;

	if (part_begins(title, "["))
		title = part_behind(title, 1);
	while (n < title.len && title.s[n] != ' ' && title.s[n] != ':')
		n++;
	name = part_base((struct text_part){title.s, n});
	if (name.len < 2 || name.len > PROGRAM_NAME_MAX || !is_letter(name.s[0]))
		return false;
	for (size_t i = 0; i < name.len; i++) {
		if (!is_letter(name.s[i]) && !is_digit(name.s[i]) &&
		    !has_letter("_.+@-", name.s[i]))
			return false;
	}
	*ret = name;
	return true;
}

/*
 * Finds the script in a title "node /srv/shop/app.js", as PM2 sets it. A path with a space may be a
 * script with an argument. `whole`: the title did not fill its room, so it was not cut.
 */
static bool titled_script(const struct interpreter *f, struct text_part title, bool whole,
			  struct text_part *ret)
{
	struct text_part name = part_split(&title, ' ');

	return whole && interpreter_find(part_base(name)) == f && part_begins(title, "/") &&
	       !memchr(title.s, ' ', title.len) && script_name(title, ret);
}

/* The name in argv[0], without the '-' of a login shell. */
static struct text_part argv0_name(struct text_part word)
{
	struct text_part name = part_base(word);

	return part_begins(name, "-") ? part_behind(name, 1) : name;
}

/* True of what files of programs are called; false of titles and of bare versions. */
static bool is_file_name(struct text_part name)
{
	bool letter = false;

	for (size_t i = 0; i < name.len; i++) {
		if (!is_letter(name.s[i]) && !is_digit(name.s[i]) &&
		    !has_letter("_.+@-", name.s[i]))
			return false;
		letter |= is_letter(name.s[i]);
	}
	return letter && name.s[0] != '.' && name.s[0] != '-' && name.len <= PROGRAM_NAME_MAX;
}

/* True if the program may have been started by a link: exec set comm to the name of the link. */
static bool may_be_link(struct text_part exe, struct text_part comm)
{
	return comm.len && !is_comm(comm, exe) && is_file_name(comm);
}

/*
 * Finds the name of the link that the program was started by. comm and argv[0] must both have it: a
 * program changes one of them for titles and for names of threads. A title may follow it in
 * argv[0]: "redis-server *:6379".
 */
static struct text_part link_name(struct text_part exe, struct text_part comm,
				  struct text_part first)
{
	struct text_part name;
	size_t n = 0;

	if (!may_be_link(exe, comm))
		return exe;
	while (n < first.len && first.s[n] != ' ')
		n++;
	name = argv0_name((struct text_part){first.s, n});
	return is_comm(comm, name) && is_file_name(name) ? name : exe;
}

/* Finds what an interpreter runs; `w` starts behind argv[0]. */
static struct text_part interpreted_name(const struct interpreter *f, struct text_part exe,
					 struct text_part comm, struct text_part first,
					 struct words w)
{
	struct words all = w;
	struct text_part script, name = argv0_name(first), ret = link_name(exe, comm, first);

	if (no_words_left(w)) {
		if (f->is_known && !f->shell && titled_script(f, first, w.pos < w.end, &ret))
			return ret;
		if (f->is_known && !f->shell && !part_begins(first, "-") && !part_same(name, exe) &&
		    !interpreter_find(name) && !is_multi_call(name))
			title_name(first, &ret);
		return ret;
	}
	if (f->is_known && interpreter_script(f, &w, &script))
		script_name(script, &ret);
	else
		name_by_comm(all, exe, comm, &ret);
	return ret;
}

static struct text_part applet_name(struct text_part exe, struct text_part comm, struct words w)
{
	const struct interpreter *f;
	struct text_part first, name;

	if (!next_word(&w, &first))
		return exe;
	name = argv0_name(first);
	if (is_multi_call(name) || part_same(name, exe) || !name.len) {
		if (!next_word(&w, &first))
			return exe;
		name = part_base(first);
		if (part_begins(first, "--coreutils-prog")) {
			name = first;
			part_split(&name, '=');
		}
	}
	if (!name.len || part_begins(name, "-") || memchr(name.s, '/', name.len) ||
	    name.len > PROGRAM_NAME_MAX)
		return exe;
	f = interpreter_find(name);
	return f && !no_words_left(w) ? interpreted_name(f, name, comm, first, w) : name;
}

/* Completes comm, which is cut, from the arguments if the executable is not known. */
static struct text_part complete_comm(struct text_part comm, struct words w)
{
	struct text_part word;

	for (int i = 0; i < 3 && next_word(&w, &word); i++) {
		struct text_part name = part_base(word);

		if (part_begins(name, comm.s) && name.len <= PROGRAM_NAME_MAX)
			return name;
	}
	return comm;
}

static struct text_part program_of(struct text_part exe, struct text_part comm, struct words w)
{
	const struct interpreter *f = interpreter_find(exe);
	struct text_part first;

	if (is_multi_call(exe))
		return applet_name(exe, comm, w);
	if (exe.len == COMM_LEN && part_same(exe, comm))
		return complete_comm(comm, w);
	if (!next_word(&w, &first))
		return exe;
	return f ? interpreted_name(f, exe, comm, first, w) : link_name(exe, comm, first);
}

/* The loader runs its argument as if that had been started directly. */
static struct text_part loaded_program(struct text_part exe, struct text_part comm, struct words w)
{
	struct words at;
	struct text_part word, name;

	if (!next_word(&w, &word) || !interpreter_script(&loader, &w, &word) ||
	    !script_name(word, &name))
		return exe;
	at = (struct words){word.s, w.end};
	return program_of(name, comm, at);
}

/* ---- Wine: every program of Windows is run by the same executable ---- */

static bool is_wine(struct text_part name)
{
	return part_lists(part_of("wine wine64 wine-preloader wine64-preloader"), ' ', name);
}

/* The base name of a path of Unix or Windows. */
static struct text_part windows_base(struct text_part path)
{
	struct text_part name = part_base(path);
	const char *slash = memrchr(name.s, '\\', name.len);

	return slash ? part_behind(name, (size_t)(slash + 1 - name.s)) : name;
}

static bool has_windows_ending(struct text_part name)
{
	return name.len > 4 && (strncasecmp(name.s + name.len - 4, ".exe", 4) == 0 ||
				strncasecmp(name.s + name.len - 4, ".com", 4) == 0 ||
				strncasecmp(name.s + name.len - 4, ".scr", 4) == 0);
}

/*
 * Wine moves its own words out of the command line, which then begins with the program as it was
 * named, and sets comm to its base name (set_process_name() in dlls/ntdll/unix/loader.c of Wine).
 * Until then the words of the loader stand before it.
 */
static struct text_part windows_program(struct text_part exe, struct text_part comm, struct words w)
{
	struct text_part word, name;

	while (next_word(&w, &word)) {
		name = windows_base(word);
		if (is_wine(name))
			continue;
		if (name.len && name.len <= PROGRAM_NAME_MAX &&
		    (has_windows_ending(name) || (comm.len && part_begins(name, comm.s))))
			return name;
		break;
	}
	return has_windows_ending(comm) ? comm : exe;
}

/*
 * Names a program that never was a file. It is comm, unless fexecve() has set comm to the number of
 * a file descriptor, or since 6.14 to the name of the memfd.
 */
static struct text_part memory_file(struct text_part exe, struct text_part comm)
{
	size_t digits = 0;

	while (digits < comm.len && is_digit(comm.s[digits]))
		digits++;
	return digits == comm.len || part_begins(comm, MEMORY_FILE) ? exe : comm;
}

bool program_needs_cmdline(const char *exe, const char *comm)
{
	struct text_part name = part_of(exe);
	const struct interpreter *f = interpreter_find(name);

	if (part_begins(name, MEMORY_FILE))
		return false;
	if (f && (f->is_known || !part_begins(name, comm)))
		return true;
	return is_multi_call(name) || is_loader(name) || is_wine(name) ||
	       may_be_link(name, part_of(comm)) ||
	       (name.len == COMM_LEN && part_same(name, part_of(comm)));
}

size_t program_whole_words(const char *cmdline, size_t len, size_t max)
{
	while (len >= max && cmdline[len - 1] != '\0') {
		const char *end = memrchr(cmdline, '\0', len);

		len = end ? (size_t)(end - cmdline) + 1 : 0;
	}
	return len;
}

struct text_part program_name(const char *exe, const char *comm, const char *cmdline, size_t len)
{
	struct words w = {cmdline, cmdline ? cmdline + len : NULL};
	struct text_part name = part_of(exe), comm_part = part_of(comm);

	if (part_begins(name, MEMORY_FILE))
		return memory_file(name, comm_part);
	if (is_wine(name))
		return windows_program(name, comm_part, w);
	if (cmdline && !no_words_left(w))
		return is_loader(name) ? loaded_program(name, comm_part, w)
				       : program_of(name, comm_part, w);
	return is_multi_call(name) && *comm && !part_begins(name, comm) ? comm_part : name;
}
