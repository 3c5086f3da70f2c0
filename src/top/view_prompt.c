// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The prompt: a line that the user types. Filter and search take effect with every key, and Escape
 * restores the previous filter. A filter that is not valid has no effect, and stays in the prompt.
 */
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "top/view.h"

#define INTERVAL_MOST_S 86400

/* The filter that the prompt changes: of files, or of processes. */
static char *filter_of(struct view *v)
{
	return v->mode == VIEW_FILES ? v->files.set.filter : v->set.filter;
}

#define FILTER_MAX sizeof(((struct view_settings *)NULL)->filter)
_Static_assert(sizeof(((struct file_settings *)NULL)->filter) == FILTER_MAX,
	       "both filters have the same size");

void view_prompt_open(struct view *v, enum view_prompt prompt)
{
	const char *text = "";

	if (prompt == PROMPT_FILTER)
		text = filter_of(v);
	else if (prompt == PROMPT_USER)
		text = v->set.user;
	v->prompt = prompt;
	snprintf(v->typed, sizeof(v->typed), "%s", text);
	snprintf(v->before, sizeof(v->before), "%s", text);
	v->moved = true;
}

static size_t cursor_of(const struct view *v)
{
	return v->mode == VIEW_FILES ? v->files.cursor : v->cursor;
}

static bool text_has(const char *text, const char *part)
{
	return text && strcasestr(text, part);
}

/* Moves the cursor to the next matching row from `from` on, wrapping around. */
static void search(struct view *v, const char *text, size_t from)
{
	if (v->mode == VIEW_FILES) {
		if (*text && !view_files_search(v, text, from))
			view_set_message(v, "%s: not found", text);
		return;
	}
	for (size_t k = 0; *text && k < v->count; k++) {
		size_t i = (from + k) % v->count;
		const struct process *p = v->rows[i];
		const char *group = v->r->group ? v->r->group->text(p) : NULL;

		if (!text_has(p->name, text) && !text_has(p->cmdline, text) &&
		    !text_has(group, text))
			continue;
		v->cursor = i;
		v->moved = true;
		view_hold_row(v);
		return;
	}
	if (*text)
		view_set_message(v, "%s: not found", text);
}

/* Parses seconds like "1" or "0.5". False unless from 0.1 to INTERVAL_MOST_S. */
static bool read_interval(const char *text, unsigned *ret_ms)
{
	double seconds;
	int end = 0;

	if (strspn(text, "0123456789.") != strlen(text) ||
	    sscanf(text, "%lf%n", &seconds, &end) != 1 || text[end] ||
	    !(seconds >= 0.1 && seconds <= INTERVAL_MOST_S))
		return false;
	*ret_ms = (unsigned)(seconds * 1000 + 0.5);
	return true;
}

/* Applies what is typed so far, if that is cheap. */
static unsigned apply(struct view *v, const char *text)
{
	if (v->prompt == PROMPT_FILTER) {
		snprintf(filter_of(v), FILTER_MAX, "%s", text);
		return v->mode == VIEW_FILES ? VIEW_ASK_FILE_ROWS : VIEW_ASK_FILTER;
	}
	if (v->prompt == PROMPT_SEARCH)
		search(v, text, cursor_of(v));
	return 0;
}

static unsigned finish(struct view *v)
{
	enum view_prompt prompt = v->prompt;

	/* The caller put back the filter in force: say again why this one is none. */
	if (prompt == PROMPT_FILTER && strcmp(v->typed, filter_of(v)) != 0)
		return apply(v, v->typed);
	v->prompt = PROMPT_NONE;
	v->moved = true;
	if (prompt == PROMPT_SEARCH) {
		/* Nothing typed: repeat the last search from the next row on. */
		if (*v->typed)
			snprintf(v->search, sizeof(v->search), "%s", v->typed);
		search(v, v->search, cursor_of(v) + !*v->typed);
	} else if (prompt == PROMPT_USER) {
		snprintf(v->set.user, sizeof(v->set.user), "%s", v->typed);
		return VIEW_ASK_FILTER;
	} else if (prompt == PROMPT_TIME && *v->typed) {
		v->go = GO_TIME;
		return VIEW_ASK_GO;
	} else if (prompt == PROMPT_INTERVAL && *v->typed) {
		if (read_interval(v->typed, &v->set.interval_ms))
			return VIEW_ASK_INTERVAL;
		view_set_message(v, "%s: not a number of seconds from 0.1 to 86,400", v->typed);
	}
	return 0;
}

static unsigned cancel(struct view *v)
{
	unsigned ask = 0;

	if (v->prompt == PROMPT_FILTER && strcmp(v->typed, v->before) != 0)
		ask = apply(v, v->before);
	v->prompt = PROMPT_NONE;
	v->moved = true;
	return ask;
}

static size_t put_utf8(char *to, uint32_t c)
{
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 0x3f));
		to[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | c >> 18);
	to[1] = (char)(0x80 | (c >> 12 & 0x3f));
	to[2] = (char)(0x80 | (c >> 6 & 0x3f));
	to[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

static void append_char(struct view *v, uint32_t c)
{
	size_t len = strlen(v->typed);

	if (len + 5 > sizeof(v->typed))
		return;
	len += put_utf8(v->typed + len, c);
	v->typed[len] = '\0';
}

static void erase_char(struct view *v)
{
	size_t len = strlen(v->typed);

	while (len && (v->typed[len - 1] & 0xc0) == 0x80)
		len--;
	v->typed[len ? len - 1 : 0] = '\0';
}

unsigned view_prompt_key(struct view *v, int key)
{
	switch (key) {
	case TOP_ENTER:
		return finish(v);
	case TOP_ESCAPE:
		return cancel(v);
	case TOP_DOWN:
	case TOP_F(3):
		if (v->prompt == PROMPT_SEARCH)
			search(v, v->typed, cursor_of(v) + 1);
		return 0;
	case TOP_CTRL('u'):
		*v->typed = '\0';
		return apply(v, v->typed);
	case TOP_BACKSPACE:
	case TOP_CTRL('h'):
	case TOP_DELETE:
		erase_char(v);
		return apply(v, v->typed);
	}
	if (key < ' ' || key >= TOP_UP || !utf8_printable((uint32_t)key))
		return 0;
	append_char(v, (uint32_t)key);
	return apply(v, v->typed);
}

void view_prompt_draw(const struct view *v, struct screen *s)
{
	static const char *const ask[] = {
		[PROMPT_SEARCH] = "search: ",
		[PROMPT_FILTER] = "filter (regular expression): ",
		[PROMPT_USER] = "users (names or uids): ",
		[PROMPT_INTERVAL] = "interval in seconds: ",
		[PROMPT_TIME] = "time (03:14, -10m, event:1): ",
	};
	unsigned width = 0;

	line_printf(&s->pen, "%s", ask[v->prompt]);
	line_text(&s->pen, v->typed, 0);
	/* A message follows the typed text. */
	text_fit(v->typed, strlen(v->typed), UINT32_MAX, &width);
	s->cursor = (int)(strlen(ask[v->prompt]) + width);
	if (s->cursor >= (int)s->width)
		s->cursor = (int)s->width - 1;
	if (*v->message) {
		line_blanks(&s->pen, 2);
		line_text(&s->pen, v->message, 0);
	}
	screen_line(s, LOOK_KEYS);
}
