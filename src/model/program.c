// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Knows the command lines of interpreters, multi-call binaries and the dynamic loader as far as it
 * takes to find what they run. Refuses to guess: what it does not find stays the executable.
 */
#include "model/program.h"

#include <string.h>

#include "base/array.h"
#include "base/ascii.h"
#include "model/interpreter.h"

#define MEMORY_FILE "memfd:" /* memfd_create() */
#define COMM_LEN    15	     /* what the kernel keeps of a name */

/* The base name of a script; false if it has none to speak of. */
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
 * Of a script that was started by its "#!" comm is the name, and it is one of the first arguments,
 * behind no more than an option for each interpreter.
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

/* The name in a title that a script gave itself: "gunicorn: master [app]", "npm run x". */
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

/* What argv[0] is called; a '-' before it makes a login shell. */
static struct text_part called(struct text_part word)
{
	struct text_part name = part_base(word);

	return part_begins(name, "-") ? part_behind(name, 1) : name;
}

/* `w` is behind argv[0]. */
static struct text_part interpreted(const struct interpreter *f, struct text_part exe,
				    struct text_part comm, struct text_part first, struct words w)
{
	struct words all = w;
	struct text_part script, name = called(first), ret = exe;

	if (no_more(w)) {
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

static struct text_part applet(struct text_part exe, struct text_part comm, struct words w)
{
	const struct interpreter *f;
	struct text_part first, name;

	if (!next_word(&w, &first))
		return exe;
	name = called(first);
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
	return f && !no_more(w) ? interpreted(f, name, comm, first, w) : name;
}

/* What is not known of an executable that only comm tells of, which is cut. */
static struct text_part completed(struct text_part comm, struct words w)
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
		return applet(exe, comm, w);
	if (exe.len == COMM_LEN && part_same(exe, comm))
		return completed(comm, w);
	if (!f || !next_word(&w, &first))
		return exe;
	return interpreted(f, exe, comm, first, w);
}

/* What the loader runs is its argument, as if it had been started itself. */
static struct text_part loaded(struct text_part exe, struct text_part comm, struct words w)
{
	struct words at;
	struct text_part word, name;

	if (!next_word(&w, &word) || !interpreter_script(interpreter_loader, &w, &word) ||
	    !script_name(word, &name))
		return exe;
	at = (struct words){word.s, w.end};
	return program_of(name, comm, at);
}

/* Without what /proc says behind the name of a file that was removed or replaced. */
static struct text_part whole_exe(const char *exe)
{
	static const char *const notes[] = {" (deleted)", " (updated)"};
	struct text_part name = part_of(exe);

	for (size_t i = 0; i < ARRAY_SIZE(notes); i++) {
		struct text_part note = part_of(notes[i]);

		if (name.len > note.len && part_same(part_behind(name, name.len - note.len), note))
			name.len -= note.len;
	}
	return name;
}

/*
 * What never had a name among files is called what it calls itself. fexecve() leaves the number of
 * a file descriptor in comm, or since 6.14 the name that the file was given at its making.
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
	struct text_part name = whole_exe(exe);
	const struct interpreter *f = interpreter_find(name);

	if (f)
		return interpreter_has_options(f) || !part_begins(name, comm);
	return is_multi_call(name) || is_loader(name) ||
	       (name.len == COMM_LEN && part_same(name, part_of(comm)));
}

struct text_part program_name(const char *exe, const char *comm, const char *cmdline, size_t len)
{
	struct words w = {cmdline, cmdline ? cmdline + len : NULL};
	struct text_part name = whole_exe(exe), called_so = part_of(comm);

	if (part_begins(name, MEMORY_FILE))
		return memory_file(name, called_so);
	if (cmdline && !no_more(w))
		return is_loader(name) ? loaded(name, called_so, w)
				       : program_of(name, called_so, w);
	return is_multi_call(name) && *comm && !part_begins(name, comm) ? called_so : name;
}
