// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Incidents as text and as JSON. */
#include "report/incidents.h"

#include <limits.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "fields/ended_fields.h"
#include "fields/incident_fields.h"
#include "fields/incident_said.h"
#include "report/ended.h"
#include "report/findings.h"
#include "write/field_text.h"
#include "write/format.h"
#include "write/say.h"

static const char *const key_text[INCIDENT_KEYS] = {"program", "unit", "container", NULL};

/* What each kind of event has. */
struct incident_kind {
	const struct fields *fields;
	const struct sentences *heading;
	const struct sentences *line;  /* in the list; NULL: columns */
	const struct sentences *known; /* of the event; NULL: the heading has it */
};

static const struct incident_kind kind_of_kill = {&incident_kill_fields, &kill_heading, NULL,
						  &kill_limit_said};

static const struct incident_kind *kind_of(const struct incident *i)
{
	static const struct incident_kind pressure = {&incident_pressure_fields, &pressure_heading,
						      &pressure_line, &pressure_signs_said},
					  signal = {&incident_signal_fields, &signal_heading,
						    &signal_line, &signal_said},
					  unrecorded = {&incident_unrecorded_fields,
							&unrecorded_heading, &unrecorded_line,
							&unrecorded_said},
					  no_victim = {&incident_no_victim_fields,
						       &no_victim_heading, &no_victim_line,
						       &no_victim_said};

	return incident_is_pressure(i)	   ? &pressure
	       : incident_is_signal(i)	   ? &signal
	       : incident_is_unrecorded(i) ? &unrecorded
	       : incident_is_no_victim(i)  ? &no_victim
					   : &kind_of_kill;
}

/* Anonymous memory and swap of the victim. False: not known. */
static bool victim_bytes(const struct event_record *e, uint64_t *ret)
{
	*ret = event_number(e, EVENT_RSS_ANON) + event_number(e, EVENT_SWAP);
	return event_has(e, EVENT_RSS_ANON) && event_has(e, EVENT_SWAP);
}

/* ---- text ---- */

static struct line begin_line(struct strbuf *out, const struct table_style *style)
{
	return (struct line){.out = out, .width = style->width, .color = style->color};
}

/* Lines go on below themselves where they are too long. */
static void say_of(struct strbuf *out, const struct incident *i, const struct sentences *sentences,
		   const struct table_style *style)
{
	const struct said said = {sentences, i->event, i, style->bytes};

	say_all(out, &said, 4, style->width);
}

static void put_bytes_right(struct line *l, const struct table_style *style, bool known,
			    uint64_t bytes, char sign, unsigned width)
{
	char buf[FORMAT_MAX + 1] = "-";
	size_t len = 1;

	if (known) {
		buf[0] = sign;
		len = format_bytes(buf + (sign != 0), bytes, style->bytes) + (sign != 0);
	}
	line_blanks(l, len < width ? width - (unsigned)len : 0);
	line_ascii(l, buf, len);
}

/* Columns of the list beside the time and the name. */
#define LIST_AROUND  45
#define LIST_NAME    16
#define CGROUP_WIDTH 20
#define LIMIT_WIDTH  13

struct incident_columns incident_columns(unsigned when, const struct table_style *style)
{
	bool room =
		!style->width || style->width >= LIST_AROUND + when + CGROUP_WIDTH + 2 + LIST_NAME;

	return (struct incident_columns){when, room ? CGROUP_WIDTH : 0};
}

static const char *or_dash(const char *text)
{
	return text ? text : "-";
}

void render_incident_heading(struct strbuf *out, const struct incident_columns *columns,
			     const struct table_style *style)
{
	struct line l = begin_line(out, style);

	if (!style->header)
		return;
	l.attr = ATTR_BOLD;
	line_printf(&l, "EVENT  %-*s  %-*s  %7s  %10s  ", (int)columns->when, "WHEN", LIMIT_WIDTH,
		    "LIMIT OF", "PID", "HELD");
	if (columns->cgroup)
		line_printf(&l, "%-*s  ", (int)columns->cgroup, "CGROUP");
	line_printf(&l, "NAME");
	line_end(&l);
}

/* The nearest name of the victim's place: the pod, the container, the unit, or of the directory. */
static const char *place_of(const struct event_record *e)
{
	static const enum event_member member[] = {EVENT_POD, EVENT_CONTAINER, EVENT_UNIT};
	const char *path = event_text(e, EVENT_CGROUP), *last = path ? strrchr(path, '/') : NULL;

	for (size_t i = 0; i < ARRAY_SIZE(member); i++) {
		if (event_text(e, member[i]))
			return name_of_pod_part(event_text(e, member[i]));
	}
	return last && last[1] ? last + 1 : path;
}

/*
 * What one line stands for is never cut: it has a line of its own if it does not fit, with the
 * place where there is no column for it.
 */
static void put_kills(struct line *l, const struct incident *i, const char *name,
		      const struct incident_columns *columns)
{
	const size_t column =
		LIST_AROUND + columns->when + (columns->cgroup ? columns->cgroup + 2 : 0);
	const char *place = columns->cgroup ? NULL : place_of(i->event);
	const struct said said = {&kill_stands_for, i->event, i, SIZES_ROUNDED};
	cleanup(strbuf_done) struct strbuf note = {};
	unsigned used, width = l->width;

	say_first(&(struct line){.out = &note}, &said);
	strbuf_take_error(l->out, &note);
	if (!note.len)
		return;
	text_fit(name, strlen(name), UINT_MAX, &used);
	if (!l->width || column + used + strlen(", ") + note.len <= l->width) {
		line_printf(l, ", ");
		line_ascii(l, strbuf_str(&note), note.len);
		return;
	}
	line_end(l);
	line_blanks(l, (unsigned)strlen("EVENT  "));
	l->width = 0;
	line_ascii(l, strbuf_str(&note), note.len);
	l->width = width;
	if (place) {
		line_text(l, " in ", 0);
		line_text(l, place, 0);
	}
}

/* Ends the line. What it does not fit goes on below it, behind `indent` columns. */
static void put_folded(struct line *l, const struct said *said, unsigned column, unsigned indent)
{
	cleanup(strbuf_done) struct strbuf wide = {};
	const char *text;
	unsigned width;
	size_t first;

	say_first(&(struct line){.out = &wide}, said);
	strbuf_take_error(l->out, &wide);
	text = strbuf_str(&wide);
	first = l->width > column ? text_fold(text, wide.len, l->width - column) : wide.len;
	while (*text) {
		size_t len = first;

		while (len && text[len - 1] == ' ')
			len--;
		/* It fits, or is a word that is too wide; its characters are printable. */
		width = l->width;
		l->width = 0;
		line_ascii(l, text, len);
		line_end(l);
		l->width = width;
		text += first + strspn(text + first, " ");
		if (*text)
			line_blanks(l, indent);
		first = text_fold(text, strlen(text), width - indent);
	}
}

void render_incident_line(struct strbuf *out, const struct incident *i,
			  const struct incident_columns *columns, const struct table_style *style)
{
	const struct event_record *e = i->event;
	const char *constraint = event_text(e, EVENT_CONSTRAINT);
	const char *name = or_dash(event_text(e, EVENT_NAME));
	struct line l = begin_line(out, style);
	char when[FORMAT_MAX + 1] = "-";
	uint64_t bytes;
	bool known = victim_bytes(e, &bytes);

	if (constraint && strcmp(constraint, "none") == 0)
		constraint = "the machine";
	if (i->number)
		line_printf(&l, "%5u  ", i->number);
	else
		line_printf(&l, "%5s  ", "-");
	format_time(when, e->time_ms, TIME_TABLE);
	line_printf(&l, "%-*s", (int)columns->when, when);
	if (kind_of(i)->line) {
		line_blanks(&l, 2);
		put_folded(&l, &(struct said){kind_of(i)->line, e, i, style->bytes},
			   (unsigned)strlen("EVENT    ") + columns->when,
			   (unsigned)strlen("EVENT  "));
		return;
	}
	line_blanks(&l, 2);
	/* Where the cgroup has no column, its name says more than "memcg". */
	if (!columns->cgroup && incident_is_of_cgroup(i))
		constraint = or_dash(place_of(e));
	line_blanks(&l, LIMIT_WIDTH + 2 - line_text_middle(&l, or_dash(constraint), LIMIT_WIDTH));
	if (event_has(e, EVENT_PID))
		line_printf(&l, "%7llu", (unsigned long long)e->number[EVENT_PID]);
	else
		line_printf(&l, "%7s", "-");
	line_blanks(&l, 2);
	put_bytes_right(&l, style, known, bytes, 0, 10);
	line_blanks(&l, 2);
	if (columns->cgroup)
		line_blanks(&l,
			    columns->cgroup + 2 -
				    line_text_middle(&l, or_dash(place_of(e)), columns->cgroup));
	line_text(&l, name, 0);
	put_kills(&l, i, name, columns);
	line_end(&l);
}

/* Other limits below and above it. */
static void say_levels(struct strbuf *out, const struct incident *i,
		       const struct table_style *style)
{
	const struct event_record *e = i->event;
	char buf[EVENT_TEXT];

	for (unsigned n = 0; n < e->levels; n++) {
		const struct level_said row = {incident_level_path(e, n, buf), &e->level[n]};
		const struct said said = {&kill_level_said, &row, i, style->bytes};

		if (row.level != event_level_at_limit(e))
			say_all(out, &said, 4, style->width);
	}
}

static void say_heading(struct strbuf *out, const struct sentences *sentences,
			const struct incident_table *table, const struct table_style *style)
{
	const struct said said = {sentences, table, NULL, style->bytes};

	say_all(out, &said, 4, style->width);
}

/* What a group holds, or how it grew. `inside`: its shared memory is beside it; NULL: it is not. */
static void put_group(struct strbuf *out, const struct group_change *c, bool grew,
		      const struct incident *inside, const struct table_style *style)
{
	struct line l = begin_line(out, style);

	line_blanks(&l, 4);
	put_bytes_right(&l, style, true, grew ? (uint64_t)group_change_of(c) : c->after,
			grew ? '+' : 0, 11);
	if (inside) {
		line_blanks(&l, 2);
		put_bytes_right(&l, style, true, incident_shmem_of(inside, c), 0, 9);
	}
	line_printf(&l, "  %5u  ", c->procs_after);
	line_text(&l, c->group ? c->group : "(none)", 0);
	if (c->missing)
		line_printf(&l, " (%u not read)", c->missing);
	if (grew && !c->procs_before)
		line_printf(&l, " (began)");
	line_end(&l);
}

/* A kind of group of which there is only one says nothing. */
static void put_largest(struct strbuf *out, const struct incident *i, enum incident_key key,
			size_t rows, const struct table_style *style)
{
	const struct group_changes *g = &i->largest[key];
	const struct incident_table table = {
		.cut = snapshot_is_cut(i->during),
		.by = key == INCIDENT_ASKED ? i->group_by : key_text[key],
		.before_ms = i->table_age_ms,
		.less = i->table_known,
	};

	if (!g->count || (key != INCIDENT_NAME && g->count == 1 && !g->item[0].group))
		return;
	say_heading(out, &incident_largest_said, &table, style);
	for (size_t n = 0; n < g->count && n < rows && g->item[n].after; n++)
		put_group(out, &g->item[n], false, NULL, style);
}

/* The cgroup that reached its limit, by its name if it has one. */
static const char *limit_name(const struct event_record *e)
{
	const char *owner = event_text(e, EVENT_LIMIT_OWNER);

	return owner ? owner : event_text(e, EVENT_LIMIT_CGROUP);
}

/* The processes of the cgroup, with their shared memory, which may be what filled it. */
static void put_largest_inside(struct strbuf *out, const struct incident *i, size_t rows,
			       const struct table_style *style)
{
	const struct group_changes *g = &i->largest_inside;
	const struct incident_table table = {
		.cut = snapshot_is_cut(i->during),
		.path = limit_name(i->event),
		.by = i->group_by,
		.before_ms = i->table_age_ms,
		.less = true,
	};

	if (!i->table_known) {
		say_heading(out, &incident_unread_said, &table, style);
		return;
	}
	say_heading(out, &incident_inside_said, &table, style);
	for (size_t n = 0; n < g->count && n < rows; n++)
		put_group(out, &g->item[n], false, i, style);
	if (!g->count)
		strbuf_puts(out, table.cut ? "    no process of those that were read\n"
					   : "    no process\n");
}

static bool put_growth(struct strbuf *out, const struct incident *i, enum incident_window window,
		       size_t rows, const struct table_style *style)
{
	const struct incident_table table = {
		.path = incident_has_inside(i) ? limit_name(i->event) : NULL,
		.all = window == INCIDENT_RECORDED,
		/* Whole seconds, as in JSON. */
		.over_ms = window == INCIDENT_RECORDED ? i->recorded_ms / 1000 * 1000
						       : incident_window_ms[window],
	};
	const struct group_changes *g = table.path ? &i->grew_inside[window] : &i->grew[window];
	size_t n;

	if (!i->grew_known[window])
		return false;
	say_heading(out, &incident_grew_said, &table, style);
	for (n = 0; n < g->count && n < rows && group_change_of(&g->item[n]) > 0; n++)
		put_group(out, &g->item[n], true, NULL, style);
	if (!n)
		strbuf_puts(out, "    nothing\n");
	return true;
}

static void put_growths(struct strbuf *out, const struct incident *i, size_t rows,
			const struct table_style *style)
{
	bool any = false;

	for (int window = 0; window < INCIDENT_WINDOWS; window++)
		any |= put_growth(out, i, (enum incident_window)window, rows, style);
	if (!any)
		strbuf_puts(out, "  what grew is not known: nothing was recorded before\n");
}

/* Columns of its numbers. */
#define LIMIT_NUMBERS 33

static void put_limit_events(struct strbuf *out, const struct incident *i, size_t rows,
			     const struct table_style *style)
{
	static const char made[] = "since it was made  ";
	struct incident_table table = {};

	if (!i->limits)
		return;
	table.over_ms = i->during->time_ms - i->baseline->time_ms;
	say_heading(out, &incident_limited_said, &table, style);
	for (size_t n = 0; n < i->limits && n < rows; n++) {
		struct line l = begin_line(out, style);

		line_printf(
			&l, "    %5llu  %9llu  %9llu  ", (unsigned long long)i->limit[n].oom_kills,
			(unsigned long long)i->limit[n].max, (unsigned long long)i->limit[n].high);
		/* Its beginning is not known. */
		if (i->limit[n].since_made)
			line_ascii(&l, made, strlen(made));
		/* The end of a path says more than its beginning. */
		if (l.width > LIMIT_NUMBERS + strlen(made))
			line_text_middle(
				&l, i->limit[n].cgroup,
				l.width - LIMIT_NUMBERS -
					(i->limit[n].since_made ? (unsigned)strlen(made) : 0));
		else
			line_text(&l, i->limit[n].cgroup, 0);
		line_end(&l);
	}
}

/* What was wrong, in lines like the others. */
static void put_findings(struct strbuf *out, const struct incident *i,
			 const struct table_style *style)
{
	const size_t count = i->findings ? findings_down_to(i->findings, FINDING_WARNING) : 0;

	for (size_t n = 0; n < count && n < FINDINGS_FIRST; n++) {
		strbuf_puts(out, "  ");
		finding_print(out, &i->findings->item[n], style);
	}
}

void render_incident(struct strbuf *out, const struct incident *i, size_t rows,
		     const struct table_style *style)
{
	const struct said heading = {kind_of(i)->heading, i->event, i, style->bytes};
	struct line l = begin_line(out, style);

	l.attr = ATTR_BOLD;
	put_folded(&l, &heading, 0, 2);
	if (kind_of(i)->known)
		say_of(out, i, kind_of(i)->known, style);
	if (kind_of(i) == &kind_of_kill) {
		say_levels(out, i, style);
		say_of(out, i, &kill_victim_said, style);
	}
	if (!i->during)
		return;
	say_of(out, i, &incident_machine_said, style);
	put_findings(out, i, style);
	put_limit_events(out, i, rows, style);
	if (incident_is_of_cgroup(i))
		put_largest_inside(out, i, rows, style);
	for (int key = i->group_by ? INCIDENT_ASKED : 0;
	     key < INCIDENT_KEYS && !incident_is_of_cgroup(i); key++)
		put_largest(out, i, (enum incident_key)key, rows, style);
	put_growths(out, i, rows, style);
	render_ended(out, &i->ended, &ended_before_said, rows, style);
}

/* ---- what to type next ---- */

/* A word that a shell takes as it is. */
static bool is_word(const char *text)
{
	return *text && !text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					   "0123456789/._-+:@,=%")];
}

/* The name of the event, which stays; in older recordings it has its number alone. */
static void put_event(struct strbuf *out, const struct incident *i)
{
	const char *id = event_text(i->event, EVENT_ID);

	if (id && is_word(id))
		strbuf_printf(out, "event:%s\n", id);
	else
		strbuf_printf(out, "event:%u\n", i->number);
}

/* The beginning of the longest time over which growth is known. False: of none. */
static bool first_known(const struct incident *i, int64_t *ret_ms)
{
	for (int window = INCIDENT_WINDOWS; window-- > 0;) {
		if (!i->grew_known[window])
			continue;
		*ret_ms =
			i->during->time_ms -
			(window == INCIDENT_RECORDED ? i->recorded_ms : incident_window_ms[window]);
		return true;
	}
	return false;
}

/* "2025-11-22T03:14:15Z": of a time without its milliseconds all of that second is meant. */
static bool put_second(struct strbuf *out, int64_t time_ms)
{
	char text[FORMAT_MAX + 1] = {};

	if (!format_time(text, time_ms, TIME_JSON))
		return false;
	strbuf_printf(out, "%.*sZ", (int)(strchr(text, '.') - text), text);
	return true;
}

/* A shortage is shown at its worst moment, against its beginning. */
static void put_moment(struct strbuf *out, const struct incident *i)
{
	if (!incident_is_pressure(i)) {
		put_event(out, i);
		return;
	}
	put_second(out, i->during->time_ms);
	strbuf_putc(out, '\n');
}

void render_incident_next(struct strbuf *out, const struct incident *i, const char *dir, bool usual)
{
	int64_t from_ms = i->event->time_ms;

	if (!i->during || !is_word(dir) || (!i->number && !event_text(i->event, EVENT_ID)))
		return;
	strbuf_puts(out, "next: zmem-bpf top ");
	if (!usual)
		strbuf_printf(out, "--replay %s ", dir);
	strbuf_puts(out, "--at ");
	put_moment(out, i);
	if (incident_is_pressure(i) ? i->during->time_ms / 1000 <= from_ms / 1000
				    : !first_known(i, &from_ms))
		return;
	strbuf_printf(out, "      zmem-bpf diff%s%s --from ", usual ? "" : " ", usual ? "" : dir);
	put_second(out, from_ms);
	strbuf_puts(out, usual ? " --to " : " \\\n        --to ");
	put_moment(out, i);
}

/* ---- JSON ---- */

void render_incidents_json_begin(struct incidents_json *j)
{
	strbuf_puts(j->out, "{\"schema\":\"zmem.incidents\",\"schema_version\":\"1.9\",");
	if (j->group_by)
		strbuf_printf(j->out, "\"group_by\":\"%s\",", j->group_by);
	if (j->text) {
		struct json_writer writer = {.out = j->out, .html = true};
		cleanup(strbuf_done) struct strbuf heading = {};

		render_incident_heading(&heading, &j->text->columns, &j->text->style);
		strbuf_take_error(j->out, &heading);
		strbuf_puts(j->out, "\"heading\":");
		json_put_string(&writer, strbuf_str(&heading));
		strbuf_putc(j->out, ',');
	}
	strbuf_puts(j->out, "\n\"events\":[");
}

/* What the text says of an event. */
static void put_texts(struct json_writer *w, const struct incidents_text *t,
		      const struct incident *i)
{
	cleanup(strbuf_done) struct strbuf line = {}, text = {};

	render_incident_line(&line, i, &t->columns, &t->style);
	render_incident(&text, i, t->rows, &t->style);
	render_incident_next(&text, i, t->dir, t->usual);
	strbuf_take_error(w->out, &line);
	strbuf_take_error(w->out, &text);
	json_key_name(w, "line");
	json_put_string(w, strbuf_str(&line));
	json_key_name(w, "text");
	json_put_string(w, strbuf_str(&text));
}

void render_incidents_json(struct incidents_json *j, const struct incident *i)
{
	struct json_writer writer = {.out = j->out, .html = j->text}, *w = &writer;

	strbuf_puts(j->out, j->count++ ? ",\n" : "\n");
	json_begin(w, '{');
	json_all(w, kind_of(i)->fields, i->event, i, false);
	json_all(w, &ended_fields, &i->ended, NULL, false);
	json_key_name(w, "findings");
	if (i->findings)
		json_put_findings(w, i->findings, FINDING_WARNING);
	else
		json_put_null(w);
	if (j->text)
		put_texts(w, j->text, i);
	json_end(w, '}');
}

void render_incidents_json_end(struct incidents_json *j)
{
	strbuf_puts(j->out, "\n]}\n");
}

void render_incidents_point(struct strbuf *out, bool first, const struct snapshot *s,
			    const struct group_changes *by_name)
{
	struct json_writer writer = {.out = out, .html = true}, *w = &writer;

	strbuf_puts(out, first ? "\n" : ",\n");
	json_begin(w, '{');
	json_all(w, &incident_point_fields, s, by_name, false);
	json_end(w, '}');
}
