// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Random documents: each number and name of the text is in the JSON. */
#include "golden.h"
#include "random_snapshot.h"
#include "said.h"
#include "sample.h"

#include <time.h>

#include "report/growth.h"
#include "report/incidents.h"
#include "report/peak.h"

#define DOCUMENTS 400
#define WIDTH	  60

static const struct table_style usual = {.header = true};

/* 0, 1, 2 or many. */
static uint64_t few(struct random *r)
{
	const uint64_t many = 3 + random_below(r, random_below(r, 2) ? 1000 : UINT64_C(1) << 40);
	const uint64_t value[] = {0, 1, 2, many};

	return value[random_below(r, ARRAY_SIZE(value))];
}

static bool coin(struct random *r)
{
	return random_below(r, 2);
}

static const char *name(struct random *r)
{
	static char text[64][16];
	char *s = text[random_below(r, ARRAY_SIZE(text))];

	if (coin(r))
		return NULL;
	snprintf(s, sizeof(*text), "<%c%c>", (int)('a' + random_below(r, 26)),
		 (int)('a' + random_below(r, 26)));
	return s;
}

/* No line is wider, unless it is one word. */
static void check_width(const char *text)
{
	for (const char *line = text, *end; *line; line = end + 1) {
		const char *blank;
		size_t columns = 0;

		end = strchr(line, '\n');
		for (const char *at = line; at < end; at++)
			columns += (*at & 0xc0) != 0x80;
		blank = memchr(line + 8, ' ',
			       (size_t)(end - line) > 8 ? (size_t)(end - line) - 8 : 0);
		if (columns > WIDTH && blank && blank < line + WIDTH)
			fail_msg("wider than %d: %.*s", WIDTH, (int)(end - line), line);
	}
}

/* ---- incidents ---- */

static void random_event(struct random *r, struct event_record *e, enum event_kind kind)
{
	*e = (struct event_record){};
	e->time_ms = 1763781255000 + (int64_t)random_below(r, 1000000000);
	for (enum event_member m = EVENT_PID; m < EVENT_MEMBERS; m++) {
		const char *text = name(r);

		if (m >= EVENT_COMM && m < EVENT_TEXTS_END && text)
			event_set_text(e, m, text);
		else if ((m < EVENT_TEXTS || m >= EVENT_MORE) && coin(r))
			event_set(e, m, few(r));
	}
	if (coin(r))
		event_set(e, EVENT_ENDED, (uint64_t)e->time_ms + few(r) % 100000000);
	/* Parts have a time. */
	event_set(e, EVENT_PARTS_MS, few(r));
	event_set(e, EVENT_AT_LEVEL, random_below(r, 2));
	e->levels = 0;
	event_set(e, EVENT_KIND, kind);
}

/* What is not a sentence: rows of tables are indented by four blanks or more. */
static void without_rows(struct strbuf *text)
{
	size_t to = 0;

	for (size_t at = 0; at < text->len;) {
		const char *line = text->data + at, *end = memchr(line, '\n', text->len - at);
		size_t len = (size_t)(end - line) + 1;

		if (strncmp(line, "    ", 4) != 0) {
			memmove(text->data + to, line, len);
			to += len;
		}
		at += len;
	}
	text->len = to;
}

static void check_incident(struct incident *i)
{
	const struct table_style narrow = {.header = true, .width = WIDTH};
	struct strbuf text = {}, json = {}, folded = {};
	struct incidents_json document = {.out = &json};

	incident_add_charges(i);
	render_incident(&text, i, 3, &usual);
	render_incident(&folded, i, 3, &narrow);
	render_incidents_json_begin(&document);
	render_incidents_json(&document, i);
	render_incidents_json_end(&document);
	strbuf_str(&text);
	without_rows(&text);
	said_check(strbuf_str(&text), strbuf_str(&json), " 1 60 s 10 min 1 h ");
	check_width(strbuf_str(&folded));
	strbuf_done(&text);
	strbuf_done(&json);
	strbuf_done(&folded);
}

TEST(incidents)
{
	static const enum event_kind kind[] = {EVENT_OOM_KILL, EVENT_PRESSURE, EVENT_SIGNAL};
	static struct event_record event, end;
	struct random r = {.state = 1};

	setenv("TZ", "UTC", 1);
	tzset();
	for (int n = 0; n < DOCUMENTS; n++) {
		struct sample now;
		struct incident i = {.number = (unsigned)(1 + random_below(&r, 3)),
				     .event = &event};

		sample_init(&now);
		random_event(&r, &event, kind[n % 3]);
		random_event(&r, &end, kind[n % 3]);
		end.number[EVENT_ENDED] = (uint64_t)event.time_ms + few(&r) % 100000000;
		end.time_ms = event.time_ms;
		i.end = kind[n % 3] == EVENT_PRESSURE && coin(&r) ? &end : NULL;
		i.goes_on = coin(&r);
		i.during = coin(&r) ? &now.snapshot : NULL;
		i.files = random_below(&r, 4);
		for (size_t f = 0; f < i.files; f++)
			i.file[f] = (struct shared_file){
				.name = "<file>", .resident = few(&r), .swapped = few(&r)};
		i.files_ms = i.files ? event.time_ms - 10000 + (int64_t)random_below(&r, 20000) : 0;
		check_incident(&i);
	}
}

/* ---- growth ---- */

static void random_growth(struct random *r, struct growth *g)
{
	static struct growth_target target[3];
	static struct growth_allocator allocator[2];
	static struct growth_not_probed lack[2];

	g->duration_us = few(r);
	g->each = coin(r);
	g->events = few(r);
	g->sampled = g->events ? random_below(r, g->events) : 0;
	g->lost = few(r);
	g->no_room = few(r);
	g->lines_left_out = few(r);
	for (int i = 0; i < GROWTH_OUT_REASONS; i++)
		g->names_left_out[i] = few(r);
	for (int i = 0; i < GROWTH_COUNTERS; i++) {
		g->change[i] = (int64_t)few(r);
		g->accounted[i] = (int64_t)few(r);
	}
	g->target = target;
	g->targets = random_below(r, ARRAY_SIZE(target) + 1);
	for (size_t i = 0; i < g->targets; i++)
		target[i] = (struct growth_target){.pid = 1 + (pid_t)i, .ended = coin(r)};
	g->unnamed_python = coin(r);
	g->heap = (struct growth_heap){
		.known = coin(r),
		.at_least = coin(r),
		.mean_most = coin(r) ? 1 : 4096,
		.sample_bytes = few(r),
		.rate = few(r),
		.price_ns = few(r) % 1000000,
		.speed_least = 0.25,
		.speed_most = 0.75,
		.not_counted = few(r),
		.allocator = allocator,
		.allocators = random_below(r, 3),
		.not_probed = lack,
		.not_probeds = random_below(r, 3),
	};
	for (size_t i = 0; i < 2; i++) {
		allocator[i] = (struct growth_allocator){.name = "<allocator>",
							 .version = name(r),
							 .file = "<file>",
							 .functions = (size_t)few(r)};
		lack[i] = (struct growth_not_probed){.function = coin(r) ? "<function>" : NULL,
						     .file = "<module>",
						     .pid = (pid_t)random_below(r, 3),
						     .reason = coin(r) ? "<reason>" : "<another>"};
	}
}

TEST(growth)
{
	struct random r = {.state = 2};
	const struct growth_view view = {.rows = 3};
	const struct table_style narrow = {.header = true, .width = WIDTH};

	for (int n = 0; n < DOCUMENTS; n++) {
		struct strbuf text = {}, json = {}, folded = {};
		struct sample now;
		struct growth g = {.snapshot = &now.snapshot};

		sample_init(&now);
		random_growth(&r, &g);
		render_growth_table(&text, &g, &view, &usual);
		render_growth_table(&folded, &g, &view, &narrow);
		render_growth_json(&json, &g);
		said_check(strbuf_str(&text), strbuf_str(&json), " 1 6.2 3.12 17 64 25 75 ");
		check_width(strbuf_str(&folded));
		strbuf_done(&text);
		strbuf_done(&json);
		strbuf_done(&folded);
	}
}

/* ---- peak ---- */

TEST(peak)
{
	struct random r = {.state = 3};

	for (int n = 0; n < DOCUMENTS; n++) {
		struct strbuf text = {}, json = {};
		struct sample now;
		struct peak p = {
			.exit_code = (int)random_below(&r, 3) - 1,
			.signal = (int)random_below(&r, 16),
			.method = coin(&r) ? PEAK_EXACT : PEAK_SAMPLE,
			.duration_us = few(&r),
			.time_ms = 1763781255000,
			.offset_us = few(&r),
			.at = {few(&r), few(&r), few(&r), few(&r), few(&r)},
			.held_by = (uint32_t)few(&r),
			.error_known = true,
			.error = few(&r),
			.pss_known = coin(&r),
			.pss = few(&r),
			.pss_rss = few(&r),
			.pss_offset_us = few(&r),
			.pss_reason = "<reason>",
			.no_room = few(&r),
			.lost = few(&r),
			.still = few(&r),
			.interval_us = few(&r),
			.all = few(&r),
		};

		sample_init(&now);
		p.snapshot = &now.snapshot;
		render_peak_table(&text, &p, 3, &usual);
		render_peak_json(&json, &p);
		said_check(strbuf_str(&text), strbuf_str(&json), " 1 6.2 ");
		strbuf_done(&text);
		strbuf_done(&json);
	}
}
