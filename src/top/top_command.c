// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The command top: dispatches ticks, keys and signals to the collection, the view and the terminal.
 */
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "privilege/privilege.h"
#include "session/log.h"
#include "session/output.h"
#include "session/ticker.h"
#include "top/collect.h"
#include "top/growing.h"
#include "top/terminal.h"
#include "top/top.h"

struct top {
	struct collect collect;
	struct ticker ticker;
	struct terminal terminal;
	struct growing *growing; /* NULL: nothing is counted */
	struct view view;
	struct screen screen;
	uint64_t ticks;
	uint64_t spent_us; /* CLOCK_MONOTONIC when the last tick began */
	bool quit;
};

static void top_done(struct top *t)
{
	growing_stop(t->growing);
	terminal_close(&t->terminal);
	view_done(&t->view);
	screen_done(&t->screen);
	collect_close(&t->collect);
	ticker_close(&t->ticker);
}

static int check_terminal(void)
{
	const char *missing = !isatty(STDOUT_FILENO)  ? "stdout"
			      : !isatty(STDIN_FILENO) ? "stdin"
						      : NULL;

	if (missing)
		return log_error("top: %s is not a terminal (use zmem-bpf watch)", missing);
	return 0;
}

static uint64_t interval_us(const struct top *t)
{
	return collect_interval_us(&t->collect, &t->view);
}

/* Of "--filter TEXT: why (zmem-bpf top --help)" the part "TEXT: why": no option was typed. */
static const char *without_option(char *text)
{
	char *hint = strstr(text, " (zmem-bpf top --help)");
	char *word = strncmp(text, "--", 2) == 0 ? strchr(text, ' ') : NULL;

	if (hint)
		*hint = '\0';
	return word && word != hint ? word + 1 : text;
}

/* Draws the screen. A message on stderr is shown in the last line. */
static void draw(struct top *t)
{
	struct view *v = &t->view;
	char text[sizeof(v->shared.message)];

	collect_name_rows(&t->collect, v);
	if (terminal_message(&t->terminal, text, sizeof(text)))
		show_message(&v->shared, "%s", without_option(text));
	view_draw(v, &t->screen);
	/* Out of memory: keep the old screen. */
	if (strbuf_error(&t->screen.text) == 0)
		terminal_show(&t->terminal, &t->screen);
}

static void update_own_cpu(struct top *t)
{
	uint64_t now = clock_us(CLOCK_MONOTONIC), passed = now - t->spent_us;
	const struct own_cost *cost = &t->collect.session.background.cost;

	/* Not shown for the first tick, which includes starting, nor for a recording. */
	t->view.shared.facts.own_known =
		t->ticks > 1 && cost->known && passed && !t->view.shared.facts.frames;
	if (t->view.shared.facts.own_known)
		t->view.shared.facts.own_cpu = (unsigned)(cost->cpu_us * 1000 / passed);
	t->spent_us = now;
}

static int take_snapshot(struct top *t, uint32_t frame)
{
	int r = collect_tick(&t->collect, t->ticker.missed, frame, &t->view);

	if (r)
		return r;
	t->ticks++;
	update_own_cpu(t);
	collect_detail(&t->collect, &t->view);
	collect_ram(&t->collect, &t->view);
	return 0;
}

/* ---- what grows ---- */

static void stop_growing(struct top *t)
{
	view_set_growth(&t->view, NULL);
	growing_stop(TAKE_PTR(t->growing));
}

/* Shows what has grown so far. */
static void report_growing(struct top *t)
{
	const struct growth *g = t->growing ? growing_report(t->growing) : NULL;

	if (t->growing)
		view_set_growth(&t->view, g);
	if (t->growing && !g)
		stop_growing(t);
}

static void start_growing(struct top *t)
{
	draw(t);
	if (growing_start(t->view.growth.pid, &t->growing) == 0)
		report_growing(t);
	else
		view_set_growth(&t->view, NULL);
}

/* ---- ticks and keys ---- */

static int tick(struct top *t)
{
	const struct options *o = t->collect.session.options;
	/* Of a recording: the frame that is shown, or the one before that of --at. */
	uint32_t frame = t->collect.session.frame, frames = t->view.shared.facts.frames;
	int r = 0;

	/* A recording stops at its last frame. */
	if (!t->ticks || (!t->view.shared.set.paused && (!frames || frame < frames)))
		r = take_snapshot(t, frame + 1);
	if (r)
		return r;
	if (t->view.shared.set.speed)
		ticker_set_interval(&t->ticker, interval_us(t));
	top_files_read(&t->collect.files, &t->view, false);
	if (!t->view.shared.set.paused)
		report_growing(t);
	draw(t);
	t->quit |= o->count && t->ticks >= (uint64_t)o->count;
	return 0;
}

static int step_frame(struct top *t, unsigned ask)
{
	uint32_t frame = t->view.shared.facts.frame, frames = t->view.shared.facts.frames;

	t->view.shared.set.paused = true;
	if (ask & VIEW_ASK_FORWARD)
		return frame < frames ? take_snapshot(t, frame + 1) : 0;
	return frame > 1 ? take_snapshot(t, frame - 1) : 0;
}

/* Shows the moment of a recording that the view asks for. */
static int go(struct top *t)
{
	uint32_t frame = collect_find_frame(&t->collect, &t->view);

	t->view.shared.set.paused = true;
	return frame != t->view.shared.facts.frame ? take_snapshot(t, frame) : 0;
}

/* Shows the other details while the mappings are read. */
static void show_maps(struct top *t)
{
	collect_detail(&t->collect, &t->view);
	if (!collect_has_maps(&t->collect, &t->view))
		return;
	t->view.detail.reading = true;
	draw(t);
	collect_maps(&t->collect, &t->view);
}

/* Says that the files are being read, which may take a second. */
static void handle_files(struct top *t, unsigned ask)
{
	struct top_files *files = &t->collect.files;

	if (ask & VIEW_ASK_FILES) {
		if (view_in_front(&t->view, PANE_FILES) && !t->view.files.report && files->source)
			draw(t);
		top_files_read(files, &t->view, !files->read);
	}
	if (ask & VIEW_ASK_FILE_ROWS)
		top_files_rows(files, &t->view);
	if (ask & VIEW_ASK_HOLDERS)
		top_files_holders(files, collector_pool(&t->collect.session.collector), &t->view);
}

static int handle_request(struct top *t, unsigned ask)
{
	struct view *v = &t->view;

	if (ask & VIEW_ASK_QUIT)
		t->quit = true;
	if (ask & VIEW_ASK_REDRAW)
		terminal_redraw();
	if (ask & VIEW_ASK_INTERVAL) {
		ticker_set_interval(&t->ticker, interval_us(t));
		/* Collect at once when the user ends a pause. */
		if (!v->shared.set.paused)
			ticker_now(&t->ticker);
	}
	if (ask & VIEW_ASK_FILTER)
		collect_filter(&t->collect, v);
	collect_apply_settings(&t->collect, v);
	if (ask & (VIEW_ASK_ROWS | VIEW_ASK_FILTER | VIEW_ASK_CHANGES)) {
		int r = collect_requery(&t->collect, ask & VIEW_ASK_FILTER, v);

		if (r)
			return r;
	}
	if (ask & VIEW_ASK_DETAIL)
		show_maps(t);
	if (ask & (VIEW_ASK_FILES | VIEW_ASK_FILE_ROWS | VIEW_ASK_HOLDERS))
		handle_files(t, ask);
	if (ask & VIEW_ASK_RAM)
		collect_ram(&t->collect, v);
	if (t->growing && !view_has(v, PANE_GROWTH))
		stop_growing(t);
	if (ask & VIEW_ASK_GROWTH)
		start_growing(t);
	if (ask & VIEW_ASK_GO)
		return go(t);
	return ask & (VIEW_ASK_FORWARD | VIEW_ASK_BACK) ? step_frame(t, ask) : 0;
}

static void resize(struct top *t)
{
	unsigned width, height;

	terminal_size(&width, &height);
	terminal_resize(width, height);
	view_resize(&t->view, width, height);
	collect_apply_settings(&t->collect, &t->view);
}

/* Handles all pending keys and then draws once. */
static int handle_keys(struct top *t)
{
	char text[sizeof(t->view.shared.message)];
	int key, r = 0;

	while (r == 0 && !t->quit && (key = terminal_key(&t->terminal)) != TERMINAL_NONE) {
		if (key == TERMINAL_GONE) {
			t->quit = true;
		} else if (key == TERMINAL_REDRAW) {
			resize(t);
		} else {
			/* Drop messages about earlier keys. */
			terminal_message(&t->terminal, text, sizeof(text));
			r = handle_request(t, view_key(&t->view, key));
		}
	}
	if (r == 0 && !t->quit)
		draw(t);
	return r;
}

static int run(struct top *t)
{
	enum ticker_event event = TICKER_TICK;
	int r = 0;

	while (r == 0 && !t->quit) {
		r = ticker_wait(&t->ticker, &event);
		if (r < 0)
			return log_errno(r, "waiting");
		if (event == TICKER_END)
			break;
		if (event == TICKER_RESIZE) {
			resize(t);
			draw(t);
		} else if (event == TICKER_TICK) {
			r = tick(t);
		} else {
			r = handle_keys(t);
		}
	}
	return r ? r : t->collect.session.exit_code;
}

static int start_view(struct top *t, const struct options *o)
{
	struct view_settings settings;
	int r = terminal_open(&t->terminal, output_color(o, true));

	if (r)
		return r;
	collect_settings(&t->collect, &settings);
	view_init(&t->view, &settings);
	t->view.shared.style.bytes = o->bytes;
	t->view.shared.style.numeric = o->numeric;
	resize(t);
	ticker_set_interval(&t->ticker, interval_us(t));
	ticker_now(&t->ticker);
	/* Types named xterm… are similar enough: no message. */
	if (!t->terminal.known && strncmp(t->terminal.type, "xterm", 5) != 0)
		show_message(&t->view.shared, "TERM=%s is unknown: using xterm instead",
			     t->terminal.type);
	return 0;
}

int command_top(const struct options *o)
{
	cleanup(top_done) struct top t = {
		.ticker = {.timer_fd = -1, .signal_fd = -1},
		.collect = {.session = SESSION_CLOSED, .files = TOP_FILES_CLOSED},
		.terminal = TERMINAL_CLOSED,
	};
	int r = check_terminal();

	if (r)
		return r;
	/* Before threads start, so that no thread receives the signals. */
	r = terminal_listen(&t.terminal);
	if (r == 0)
		r = ticker_open(&t.ticker, 1000000, t.terminal.wait_fd);
	if (r < 0)
		return log_errno(r, "starting");
	r = collect_open(&t.collect, o);
	if (r == 0)
		r = start_view(&t, o);
	return r ? r : run(&t);
}
