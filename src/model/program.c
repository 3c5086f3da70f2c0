// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Finds what an interpreter, a multi-call binary or the dynamic loader runs, from its command line.
 * It does not guess: if nothing is found, the name is that of the executable.
 */
#include "model/program.h"

#include <string.h>

#include "base/array.h"
#include "base/ascii.h"
#include "model/interpreter.h"

#define MEMORY_FILE "memfd:" /* memfd_create() */
#define COMM_LEN    15	     /* the kernel cuts longer names */

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

		if (part_begins(name, comm.s) && (name.len == comm.len || comm.len == COMM_LEN))
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

/* The name in argv[0], without the '-' of a login shell. */
static struct text_part argv0_name(struct text_part word)
{
	struct text_part name = part_base(word);

	return part_begins(name, "-") ? part_behind(name, 1) : name;
}

/* Finds what an interpreter runs; `w` starts behind argv[0]. */
static struct text_part interpreted_name(const struct interpreter *f, struct text_part exe,
					 struct text_part comm, struct text_part first,
					 struct words w)
{
	struct words all = w;
	struct text_part script, name = argv0_name(first), ret = exe;

	if (no_words_left(w)) {
		if (interpreter_has_titles(f) && !part_begins(first, "-") &&
		    !part_same(name, exe) && !interpreter_find(name) && !is_multi_call(name))
			title_name(first, &ret);
		return ret;
	}
	if (interpreter_has_options(f) && interpreter_script(f, &w, &script))
		script_name(script, &ret);
	else
		name_by_comm(all, exe, comm, &ret);
	return ret;
}

/* ---- the others ---- */

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
		if (part_begins(first, "--coreutils-prog") && memchr(first.s, '=', first.len))
			name = part_behind(
				first,
				(size_t)((const char *)memchr(first.s, '=', first.len) - first.s) +
					1);
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
	if (!f || !next_word(&w, &first))
		return exe;
	return interpreted_name(f, exe, comm, first, w);
}

/* The loader runs its argument as if that had been started directly. */
static struct text_part loaded_program(struct text_part exe, struct text_part comm, struct words w)
{
	struct words at;
	struct text_part word, name;

	if (!next_word(&w, &word) || !interpreter_script(interpreter_loader, &w, &word) ||
	    !script_name(word, &name))
		return exe;
	at = (struct words){word.s, w.end};
	return program_of(name, comm, at);
}

/* The name without the note of /proc on a file that was removed or replaced. */
static struct text_part strip_exe_note(const char *exe)
{
	static const char *const exe_notes[] = {" (deleted)", " (updated)"};
	struct text_part name = part_of(exe);

	for (size_t i = 0; i < ARRAY_SIZE(exe_notes); i++) {
		struct text_part note = part_of(exe_notes[i]);

		if (name.len > note.len && part_same(part_behind(name, name.len - note.len), note))
			name.len -= note.len;
	}
	return name;
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
	struct text_part name = strip_exe_note(exe);
	const struct interpreter *f = interpreter_find(name);

	if (f)
		return interpreter_has_options(f) || !part_begins(name, comm);
	return is_multi_call(name) || is_loader(name) ||
	       (name.len == COMM_LEN && part_same(name, part_of(comm)));
}

struct text_part program_name(const char *exe, const char *comm, const char *cmdline, size_t len)
{
	struct words w = {cmdline, cmdline ? cmdline + len : NULL};
	struct text_part name = strip_exe_note(exe), comm_part = part_of(comm);

	if (part_begins(name, MEMORY_FILE))
		return memory_file(name, comm_part);
	if (cmdline && !no_words_left(w))
		return is_loader(name) ? loaded_program(name, comm_part, w)
				       : program_of(name, comm_part, w);
	return is_multi_call(name) && *comm && !part_begins(name, comm) ? comm_part : name;
}
