/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A view of a sample, and its screen as text: the first character of a line is its look. */
#ifndef TESTS_TOP_ROWS_H
#define TESTS_TOP_ROWS_H

#include "golden.h"
#include "sample.h"

#include "top/view.h"

struct fixture {
	struct sample sample;
	struct view view;
	struct screen screen;
	struct process *rows[SAMPLE_MAX]; /* in the order of the test */
};

static inline void fixture_begin(struct fixture *f, void (*make)(struct sample *s))
{
	struct view_settings set = {.interval_ms = 1000};

	memset(f, 0, sizeof(*f));
	make(&f->sample);
	column_list_default(&set.columns[0], NULL);
	set.group = f->sample.result.group;
	if (set.group)
		column_list_default(&set.columns[1], set.group);
	set.order.keys = (struct column_list){.item = {column_find("pss", 3)}, .count = 1};
	view_init(&f->view, &set);
	f->view.facts.can_map = true;
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
}

/* A test of a view of these rows. */
#define VIEW_TEST(name, make)                                                                      \
	static void with_##name(struct fixture *f);                                                \
	TEST(name)                                                                                 \
	{                                                                                          \
		cleanup(fixture_end) struct fixture f;                                             \
                                                                                                   \
		fixture_begin(&f, make);                                                           \
		fixture_take(&f);                                                                  \
		with_##name(&f);                                                                   \
	}                                                                                          \
	static void with_##name(struct fixture *f)

/* Other rows in a new view. */
static inline void fixture_again(struct fixture *f, void (*make)(struct sample *s))
{
	fixture_end(f);
	fixture_begin(f, make);
	fixture_take(f);
}

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
	assert_true(s->count <= s->height && s->height <= f->view.height);
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

/* Whether the screen has that text. */
static inline bool fixture_says(struct fixture *f, const char *text)
{
	struct strbuf out = {};
	bool says;

	fixture_text(f, &out);
	says = strstr(strbuf_str(&out), text);
	strbuf_done(&out);
	return says;
}

/* Presses keys one after the other. Returns all requests. */
static inline unsigned press(struct fixture *f, const char *keys)
{
	unsigned ask = 0;

	while (*keys)
		ask |= view_key(&f->view, *keys++);
	return ask;
}

static inline pid_t pid_at_cursor(struct fixture *f)
{
	return view_row(&f->view) ? view_row(&f->view)->pid : -1;
}

static inline pid_t pid_after(struct fixture *f, const char *keys)
{
	press(f, keys);
	return pid_at_cursor(f);
}

static inline bool says_after(struct fixture *f, const char *keys, const char *text)
{
	press(f, keys);
	return fixture_says(f, text);
}

#endif
