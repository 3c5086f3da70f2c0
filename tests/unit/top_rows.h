/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A view of a sample, and its screen as text: the first character of a line is its look. A script
 * is a list of steps, keys and changes of the rows, and begins with the screen of its sample. Its
 * golden file has what each step asks the caller for and the lines of the screen that it changes,
 * with their numbers, or the earlier step that had the same screen.
 */
#ifndef TESTS_TOP_ROWS_H
#define TESTS_TOP_ROWS_H

#include "golden.h"
#include "sample.h"

#include "top/view.h"

struct fixture {
	struct sample sample;
	struct view view;
	struct screen screen;
	struct row rows[SAMPLE_MAX]; /* in the order of the test */
	struct strbuf log, shown;    /* of a script: its steps; the screen of the last one */
	struct strbuf seen;	     /* all screens of a script, each ended by \f */
	unsigned step;
};

/* What the caller of the view sets. */
static inline struct view_facts *facts(struct fixture *f)
{
	return &f->view.shared.facts;
}

static inline struct view_settings *settings(struct fixture *f)
{
	return &f->view.shared.set;
}

static inline const struct folds *folds(struct fixture *f)
{
	return &f->view.list.folds;
}

static inline void fixture_begin(struct fixture *f, void (*make)(struct sample *s))
{
	struct view_settings set = {.interval_ms = 1000};

	memset(f, 0, sizeof(*f));
	make(&f->sample);
	if (meminfo_has(&f->sample.snapshot.system.meminfo, MEMINFO_TOTAL))
		sample_parts(&f->sample);
	process_list_columns(&set.columns[0], &columns_live, NULL);
	set.group = f->sample.result.group;
	if (set.group)
		process_list_columns(&set.columns[1], &columns_live, set.group);
	set.order.keys = (struct field_list){.item = {process_field("pss")}, .count = 1};
	view_init(&f->view, &set);
	f->view.shared.facts.can_map = true;
	for (size_t i = 0; i < f->sample.result.row_count; i++)
		f->rows[i] = f->sample.row[i];
}

static inline void fixture_take(struct fixture *f)
{
	view_set_rows(&f->view, &f->sample.result, f->rows, f->sample.result.row_count, true);
}

static inline void fixture_end(struct fixture *f)
{
	view_done(&f->view);
	screen_done(&f->screen);
	strbuf_done(&f->log);
	strbuf_done(&f->shown);
	strbuf_done(&f->seen);
}

/* A script with a view of these rows. */
#define SCRIPT(name, make)                                                                         \
	static void with_##name(struct fixture *f);                                                \
	TEST(name)                                                                                 \
	{                                                                                          \
		cleanup(fixture_end) struct fixture f;                                             \
                                                                                                   \
		fixture_begin(&f, make);                                                           \
		view_resize(&f.view, 80, 16);                                                      \
		first_screen(&f, "top_begin_" #make ".txt");                                       \
		with_##name(&f);                                                                   \
		golden_check("top_script_" #name ".txt", &f.log);                                  \
	}                                                                                          \
	static void with_##name(struct fixture *f)

/* Draws a screen, checks what holds for every screen, and stores the text in `out`. */
static inline void fixture_text(struct fixture *f, struct strbuf *out)
{
	static const char sign[] = {[LOOK_PLAIN] = ' ',
				    [LOOK_HEADER] = '#',
				    [LOOK_SELECTED] = '>',
				    [LOOK_KEYS] = '$',
				    [LOOK_MESSAGE] = '!'};
	const struct screen *s = &f->screen;
	unsigned lines = 0;

	view_draw(&f->view, &f->screen);
	assert_int_equal(strbuf_error(&s->text), 0);
	assert_true(s->count <= s->height && s->height <= f->view.shared.height);
	for (const char *at = s->text.data, *end = at + s->text.len; at < end; lines++) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		assert_non_null(stop);
		assert_true(lines < s->count);
		strbuf_putc(out, sign[s->look[lines]]);
		while (at < stop) {
			if (*at == '\033') {
				at = memchr(at, 'm', (size_t)(stop - at)) + 1;
				continue;
			}
			assert_false((unsigned char)*at < ' ');
			strbuf_putc(out, *at++);
		}
		strbuf_putc(out, '\n');
		at++;
	}
	assert_int_equal(lines, s->count);
}

static inline void fixture_golden(struct fixture *f, const char *name)
{
	struct strbuf out = {};

	fixture_text(f, &out);
	golden_check(name, &out);
	strbuf_done(&out);
}

/* ---- scripts ---- */

/* Takes a key off a text of characters and of names such as <End>, <F7>, <C-a>, <U+6f22>. */
static inline int take_key(const char **keys)
{
	static const struct {
		const char *name;
		int key;
	} named[] = {{"<Up>", TOP_UP},	     {"<Down>", TOP_DOWN},    {"<Left>", TOP_LEFT},
		     {"<Right>", TOP_RIGHT}, {"<PgUp>", TOP_PAGE_UP}, {"<PgDn>", TOP_PAGE_DOWN},
		     {"<Home>", TOP_HOME},   {"<End>", TOP_END},      {"<Delete>", TOP_DELETE},
		     {"<Enter>", TOP_ENTER}, {"<Esc>", TOP_ESCAPE},   {"<Back>", TOP_BACKSPACE},
		     {"<Tab>", '\t'},	     {"<other>", TOP_OTHER}};
	unsigned code;
	int len = 0;
	char c;

	for (size_t i = 0; i < ARRAY_SIZE(named); i++) {
		if (strncmp(*keys, named[i].name, strlen(named[i].name)) == 0) {
			*keys += strlen(named[i].name);
			return named[i].key;
		}
	}
	if (sscanf(*keys, "<F%u>%n", &code, &len) == 1 && len)
		code = TOP_F((int)code);
	else if (sscanf(*keys, "<C-%c>%n", &c, &len) == 1 && len)
		code = TOP_CTRL((unsigned char)c);
	else if (sscanf(*keys, "<U+%x>%n", &code, &len) != 1 || !len)
		code = (unsigned char)(*keys)[len++];
	*keys += len;
	return (int)code;
}

/* Presses keys one after the other. Returns all requests. */
static inline unsigned press(struct fixture *f, const char *keys)
{
	unsigned ask = 0;

	while (*keys)
		ask |= view_key(&f->view, take_key(&keys));
	return ask;
}

/* The step that had this screen, or the current one. */
static inline unsigned step_with(struct fixture *f, const char *screen)
{
	const char *at = strbuf_str(&f->seen);
	size_t len = strlen(screen);
	unsigned step = 0;

	for (; *at && !(strncmp(at, screen, len) == 0 && at[len] == '\f'); step++)
		at += strcspn(at, "\f") + 1;
	return step;
}

/* Lines of the screen with nothing, from `from` on. */
static inline void put_empty(struct strbuf *out, unsigned from, unsigned end)
{
	if (end - from == 1)
		strbuf_printf(out, "%2u\n", from);
	else if (end > from)
		strbuf_printf(out, "%2u to %u\n", from, end - 1);
}

/* Logs the lines of the screen that are not as before. */
static inline void log_screen(struct fixture *f)
{
	struct strbuf now = {}, changed = {};
	const char *at, *was = strbuf_str(&f->shown);
	unsigned line = 1, count = 0, empty = 1, step;

	fixture_text(f, &now);
	for (at = strbuf_str(&now); *at; line++) {
		size_t len = strcspn(at, "\n"), before = strcspn(was, "\n");
		bool differs = len != before || memcmp(at, was, len) != 0;

		if (!differs || len > 1 || *at != ' ') {
			put_empty(&changed, empty, line);
			empty = line + 1;
			if (differs)
				strbuf_printf(&changed, "%2u %.*s\n", line, (int)len, at);
		}
		count += differs;
		at += len + 1;
		was += before + (was[before] == '\n');
	}
	put_empty(&changed, empty, line);
	if (*was)
		strbuf_printf(&changed, "%2u no more lines\n", line);
	step = step_with(f, strbuf_str(&now));
	if (count > 1 && step < f->step)
		strbuf_printf(&f->log, "as after %u\n", step);
	else
		strbuf_puts(&f->log, strbuf_str(&changed));
	if (f->screen.cursor >= 0)
		strbuf_printf(&f->log, "cursor in column %d\n", f->screen.cursor);
	strbuf_puts(&f->seen, strbuf_str(&now));
	strbuf_putc(&f->seen, '\f');
	strbuf_done(&changed);
	strbuf_done(&f->shown);
	f->shown = now;
}

/* That of step 0, which a golden file of its own has. */
static inline void first_screen(struct fixture *f, const char *name)
{
	fixture_take(f);
	log_screen(f);
	golden_check(name, &f->log);
	strbuf_clear(&f->log);
}

/* A step that changes what the caller has set. */
static inline void note(struct fixture *f, const char *what)
{
	strbuf_printf(&f->log, "-- %u %s\n", ++f->step, what);
	log_screen(f);
}

static inline void new_rows(struct fixture *f)
{
	fixture_take(f);
	note(f, "rows");
}

static inline void size(struct fixture *f, unsigned width, unsigned height)
{
	view_resize(&f->view, width, height);
	note(f, "size");
}

/* The rows of another sample in a new view. */
static inline void again(struct fixture *f, void (*make)(struct sample *s))
{
	struct strbuf log = f->log, seen = f->seen;
	unsigned step = f->step;

	f->log = f->seen = (struct strbuf){};
	fixture_end(f);
	fixture_begin(f, make);
	f->log = log;
	f->seen = seen;
	f->step = step;
	new_rows(f);
}

/* A step of keys. */
static inline void keys(struct fixture *f, const char *pressed)
{
	static const char *const ask_name[] = {
		"quit",	   "rows",   "filter", "interval", "detail",	"forward", "back",
		"changes", "redraw", "moment", "files",	   "file rows", "holders", "growth"};
	unsigned ask = press(f, pressed);

	strbuf_printf(&f->log, "== %u %s", ++f->step, pressed);
	for (size_t i = 0; i < ARRAY_SIZE(ask_name); i++) {
		if (ask & 1U << i)
			strbuf_printf(&f->log, "  asks: %s", ask_name[i]);
	}
	if (ask & VIEW_ASK_GO && f->view.shared.go.where == GO_MINUTES)
		strbuf_printf(&f->log, " %d minutes on", f->view.shared.go.minutes);
	else if (ask & VIEW_ASK_GO)
		strbuf_printf(&f->log, " %s",
			      f->view.shared.go.where == GO_NEXT_EVENT ? "next event"
			      : f->view.shared.go.where == GO_PREVIOUS_EVENT
				      ? "previous event"
				      : f->view.shared.go.time);
	strbuf_putc(&f->log, '\n');
	log_screen(f);
}

#endif
