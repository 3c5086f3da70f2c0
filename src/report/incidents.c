// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Incidents as text and as JSON. */
#include "report/incidents.h"

#include <limits.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/count.h"
#include "fields/incident_fields.h"
#include "report/ram_text.h"
#include "write/field_text.h"
#include "write/format.h"

#define MINUTE_MS 60000

static const char *const window_text[INCIDENT_RECORDED] = {"minute", "10 minutes", "hour"};
static const char *const key_text[INCIDENT_KEYS] = {"program", "unit", "container", NULL};

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

/* A line that goes on below itself where it is too long. */
static void put_folded(struct strbuf *out, struct strbuf *text, const struct table_style *style)
{
	text_put_folded(out, strbuf_str(text), 4, style->width);
}

static void put_bytes(struct line *l, const struct table_style *style, bool known, uint64_t bytes)
{
	cell_put(l, cell_bytes(known, bytes), style->bytes);
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

struct incident_columns incident_columns(unsigned when, const struct table_style *style)
{
	bool room =
		!style->width || style->width >= LIST_AROUND + when + CGROUP_WIDTH + 2 + LIST_NAME;

	return (struct incident_columns){when, room ? CGROUP_WIDTH : 0};
}

static void put_when(struct line *l, int64_t time_ms)
{
	cell_put(l, cell_number(CELL_TIME, true, time_ms), false);
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
	line_printf(&l, "EVENT  %-*s  %-13s  %7s  %10s  ", (int)columns->when, "WHEN", "LIMIT OF",
		    "PID", "HELD");
	if (columns->cgroup)
		line_printf(&l, "%-*s  ", (int)columns->cgroup, "CGROUP");
	line_printf(&l, "NAME");
	line_end(&l);
}

static void put_duration(struct line *l, int64_t ms)
{
	if (ms < 120 * INT64_C(1000))
		line_printf(l, "%.0f s", (double)ms / 1000);
	else if (ms < 120 * (int64_t)MINUTE_MS)
		line_printf(l, "%.0f min", (double)ms / MINUTE_MS);
	else
		line_printf(l, "%.1f h", (double)ms / (60 * MINUTE_MS));
}

static bool has_end(const struct incident *i)
{
	return i->end && event_has(i->end, EVENT_ENDED);
}

static const char *no_end(const struct incident *i)
{
	return i->goes_on ? "not over at the end of the recording" : "no end was recorded";
}

static void put_how_long(struct line *l, const struct incident *i)
{
	put_duration(l, (int64_t)i->end->number[EVENT_ENDED] - i->event->time_ms);
}

/* A machine that has memory is not short of it: tasks waited for the limit of a cgroup. */
static void put_shortage_name(struct line *l, const struct incident *i)
{
	const char *cgroup = incident_waiting_cgroup(i);

	if (!incident_is_plenty(i)) {
		line_printf(l, "memory was short");
		return;
	}
	line_printf(l, "tasks ");
	if (cgroup) {
		line_printf(l, "of ");
		line_text(l, cgroup, 0);
		line_printf(l, " ");
	}
	line_printf(l, "waited for memory");
}

/* How many equal kills are in one line, and from when to when: with the day if it is another one.
 */
static void put_equal(struct strbuf *out, const struct incident *i)
{
	const size_t day = strlen("2026-11-22 "), minute = strlen("03:14");
	char from[FORMAT_MAX + 1] = {}, to[FORMAT_MAX + 1] = {};
	bool same;

	format_time(from, i->equal_since_ms, TIME_TABLE);
	format_time(to, i->event->time_ms, TIME_TABLE);
	same = memcmp(from, to, day) == 0;
	strbuf_printf(out, "%zu kills from %.*s to %.*s", i->equal_kills,
		      (int)(same ? minute : day + minute), from + (same ? day : 0), (int)minute,
		      to + day);
	if (i->equal_missed)
		strbuf_printf(out, ", and %llu more that %s only counted",
			      (unsigned long long)i->equal_missed,
			      count_word(i->equal_missed, "was", "were"));
}

/* What one line stands for is never cut: it has a line of its own if it does not fit. */
static void put_kills(struct line *l, const struct incident *i, const char *name, size_t column)
{
	cleanup(strbuf_done) struct strbuf note = {};
	unsigned used;

	if (i->equal_kills)
		put_equal(&note, i);
	if (i->group_kills)
		strbuf_printf(&note, "%s%zu processes killed as a group", note.len ? ", " : "",
			      i->group_kills);
	if (!note.len)
		return;
	text_fit(name, strlen(name), UINT_MAX, &used);
	if (!l->width || column + used + strlen(", ") + note.len <= l->width) {
		line_printf(l, ", ");
	} else {
		line_end(l);
		line_blanks(l, (unsigned)strlen("EVENT  "));
		l->width = 0;
	}
	line_ascii(l, strbuf_str(&note), note.len);
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
	if (incident_is_pressure(i)) {
		line_blanks(&l, 2);
		put_shortage_name(&l, i);
		line_printf(&l, "%s%s", has_end(i) ? " for " : "; ", has_end(i) ? "" : no_end(i));
		if (has_end(i))
			put_how_long(&l, i);
		line_end(&l);
		return;
	}
	if (incident_is_signal(i))
		line_printf(&l, "  signal %-6llu  ",
			    (unsigned long long)event_number(e, EVENT_SIGNAL_NUMBER));
	else
		line_printf(&l, "  %-13s  ", or_dash(constraint));
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
	put_kills(&l, i, name,
		  LIST_AROUND + columns->when + (columns->cgroup ? columns->cgroup + 2 : 0));
	line_end(&l);
}

/* The pod, with the container in it, or the container or the unit of the victim. */
static void put_owner(struct line *l, const struct event_record *e)
{
	static const struct {
		enum event_member member;
		const char *name;
	} owner[] = {{EVENT_CONTAINER, "container"}, {EVENT_UNIT, "unit"}};
	const char *pod = event_text(e, EVENT_POD);

	for (size_t i = 0; i < ARRAY_SIZE(owner); i++) {
		const char *name = event_text(e, owner[i].member);

		if (!name)
			continue;
		line_printf(l, " (%s ", owner[i].name);
		line_text(l, name_of_pod_part(name), 0);
		if (pod) {
			line_printf(l, " of pod ");
			line_text(l, pod, 0);
		}
		line_printf(l, ")");
		return;
	}
}

static void put_kill_group(struct strbuf *out, const struct incident *i,
			   const struct table_style *style)
{
	struct line l = begin_line(out, style);

	if (!i->group_kills)
		return;
	line_printf(&l, "  killed as a group: %zu processes, of which this one was the first",
		    i->group_kills);
	line_end(&l);
}

static void put_victim(struct strbuf *out, const struct incident *i,
		       const struct table_style *style)
{
	static const struct {
		enum event_member exact, count;
		const char *name;
	} part[] = {{EVENT_RSS_ANON, EVENT_RSS_ANON_COUNT, "anon"},
		    {EVENT_RSS_FILE, EVENT_RSS_FILE_COUNT, "file"},
		    {EVENT_RSS_SHMEM, EVENT_RSS_SHMEM_COUNT, "shmem"},
		    {EVENT_SWAP, EVENT_SWAP_COUNT, "swap"},
		    {EVENT_PGTABLES, EVENT_PGTABLES, "page tables"}};
	const struct event_record *e = i->event;
	struct line l = begin_line(out, style);

	line_printf(&l, incident_is_signal(i) ? "  received by: " : "  killed: ");
	line_text(&l, or_dash(event_text(e, EVENT_NAME)), 60);
	if (event_has(e, EVENT_PID))
		line_printf(&l, ", PID %llu", (unsigned long long)e->number[EVENT_PID]);
	if (event_text(e, EVENT_USER))
		line_printf(&l, ", user %s", event_text(e, EVENT_USER));
	if (event_has(e, EVENT_OOM_SCORE_ADJ))
		line_printf(&l, ", oom_score_adj %lld",
			    (long long)(int64_t)e->number[EVENT_OOM_SCORE_ADJ]);
	line_end(&l);
	l = begin_line(out, style);
	line_printf(&l, "  it held:");
	for (size_t p = 0; p < ARRAY_SIZE(part); p++) {
		line_printf(&l, "%s %s ", p ? "," : "", part[p].name);
		put_bytes(&l, style, event_has(e, part[p].exact), event_number(e, part[p].exact));
	}
	line_end(&l);
	l = begin_line(out, style);
	line_printf(&l, "  its cgroup: ");
	line_text(&l, or_dash(event_text(e, EVENT_CGROUP)), 0);
	put_owner(&l, e);
	if (event_text(e, EVENT_CGROUP_REASON)) {
		line_printf(&l, " (");
		line_text(&l, event_text(e, EVENT_CGROUP_REASON), 0);
		line_printf(&l, ")");
	}
	if (!event_text(e, EVENT_CONSTRAINT) && event_has(e, EVENT_LIMIT)) {
		line_printf(&l, ", limit ");
		put_bytes(&l, style, true, e->number[EVENT_LIMIT]);
	}
	line_end(&l);
}

/* "kernel 48.9 MiB (page tables 48.0 MiB)": what is most of it. */
static void put_kernel_part(struct line *l, const struct event_record *e, uint64_t kernel,
			    const struct table_style *style)
{
	static const struct {
		enum event_member member;
		const char *name;
	} part[] = {{EVENT_PART_PAGETABLES, "page tables"}, {EVENT_PART_SLAB, "slab"}};

	for (size_t i = 0; i < ARRAY_SIZE(part); i++) {
		if (event_number(e, part[i].member) <= kernel / 2)
			continue;
		line_printf(l, " (%s ", part[i].name);
		put_bytes(l, style, true, event_number(e, part[i].member));
		line_printf(l, ")");
		return;
	}
}

/* What was charged to the cgroup at its limit. */
static void put_charges(struct strbuf *out, const struct incident *i,
			const struct table_style *style)
{
	static const char *const name[INCIDENT_PARTS] = {
		"processes", "tmpfs and shared memory", "files", "kernel", "sockets", "swap",
		"other"};
	const struct event_record *e = i->event;
	const struct event_level *level = event_level_at_limit(e);
	struct incident_charge charge[INCIDENT_PARTS];
	size_t count = incident_charges(i, charge);
	cleanup(strbuf_done) struct strbuf text = {};
	struct line l = {.out = &text};

	if (!count)
		return;
	line_printf(&l, "  it was filled by:");
	for (size_t n = 0; n < count; n++) {
		line_printf(&l, "%s %s ", n ? "," : "", name[charge[n].part]);
		put_bytes(&l, style, true, charge[n].bytes);
		if (charge[n].part == PART_KERNEL)
			put_kernel_part(&l, e, charge[n].bytes, style);
	}
	if (level && event_number(e, EVENT_V2) && level->swap_usage != EVENT_UNLIMITED &&
	    (level->swap_usage || level->swap_limit != EVENT_UNLIMITED)) {
		line_printf(&l, "; swap ");
		put_bytes(&l, style, true, level->swap_usage);
		if (level->swap_limit != EVENT_UNLIMITED) {
			line_printf(&l, " of ");
			put_bytes(&l, style, true, level->swap_limit);
		}
	}
	put_folded(out, &text, style);
}

#define FILES_SHOWN  3
#define FILES_OLD_MS 5000

/* The files of shared memory, if they are a part of the limit worth naming. */
static void put_files(struct strbuf *out, const struct incident *i, const struct table_style *style)
{
	const struct meminfo *m = i->during ? &i->during->system.meminfo : NULL;
	uint64_t limit = incident_short_cgroup(i) ? event_number(i->event, EVENT_LIMIT)
			 : m			  ? m->value[MEMINFO_TOTAL]
						  : 0;
	int64_t late = i->files_ms - i->event->time_ms;
	cleanup(strbuf_done) struct strbuf text = {};
	struct line l = {.out = &text};
	uint64_t sum = 0;

	for (size_t n = 0; n < i->files; n++)
		sum += i->file[n].resident + i->file[n].swapped;
	if (!sum || sum < limit / 16)
		return;
	line_printf(&l, "  files%s: ", i->files_of_machine ? " of the machine" : "");
	for (size_t n = 0; n < i->files && n < FILES_SHOWN; n++) {
		line_printf(&l, "%s", n ? ", " : "");
		line_text_middle(&l, i->file[n].name, 100);
		line_printf(&l, " ");
		put_bytes(&l, style, true, i->file[n].resident + i->file[n].swapped);
	}
	if (i->files > FILES_SHOWN)
		line_printf(&l, ", %zu more", i->files - FILES_SHOWN);
	if (late < -FILES_OLD_MS || (late >= 0 && !incident_is_pressure(i))) {
		line_printf(&l, " (");
		if (late < 0)
			put_duration(&l, -late);
		line_printf(&l, "%s)", late < 0 ? " before" : "after the kill");
	}
	put_folded(out, &text, style);
}

/* Other limits below and above it. */
static void put_levels(struct strbuf *out, const struct incident *i,
		       const struct table_style *style)
{
	const struct event_record *e = i->event;
	char buf[EVENT_TEXT];

	for (unsigned n = 0; n < e->levels; n++) {
		const struct event_level *level = &e->level[n];
		const char *path = incident_level_path(e, n, buf);
		struct line l = begin_line(out, style);

		if (level == event_level_at_limit(e) || level->limit == EVENT_UNLIMITED || !path)
			continue;
		line_printf(&l, "  limit of ");
		line_text(&l, path, 0);
		line_printf(&l, ": ");
		put_bytes(&l, style, true, level->usage);
		line_printf(&l, " of ");
		put_bytes(&l, style, true, level->limit);
		line_end(&l);
	}
}

static void put_limit(struct strbuf *out, const struct incident *i, const struct table_style *style)
{
	const struct event_record *e = i->event;
	const char *constraint = event_text(e, EVENT_CONSTRAINT);
	const struct event_level *level = event_level_at_limit(e);
	struct line l = begin_line(out, style);

	line_printf(&l, "  limit reached: ");
	if (!constraint)
		line_printf(&l, "not known (%s)", event_no_constraint(e));
	else if (strcmp(constraint, "none") == 0)
		line_printf(&l, "the machine's memory");
	else
		line_printf(&l, "%s ", constraint);
	if (event_text(e, EVENT_LIMIT_CGROUP))
		line_text(&l, event_text(e, EVENT_LIMIT_CGROUP), 0);
	if (event_text(e, EVENT_LIMIT_OWNER)) {
		line_printf(&l, " (");
		line_text(&l, event_text(e, EVENT_LIMIT_OWNER), 0);
		line_printf(&l, ")");
	}
	if (constraint && event_has(e, EVENT_LIMIT)) {
		line_printf(&l, ", ");
		put_bytes(&l, style, true, e->number[EVENT_LIMIT]);
	}
	if (level && event_limit_is_memsw(e, level))
		line_printf(&l, " of memory and swap");
	if (event_number(e, EVENT_SOURCE) == EVENT_FROM_COUNTS)
		line_printf(&l, " (from memory.events)");
	line_end(&l);
	put_charges(out, i, style);
	put_files(out, i, style);
	put_levels(out, i, style);
	if (!event_text(e, EVENT_GFP))
		return;
	l = begin_line(out, style);
	line_printf(&l, "  the allocation: ");
	line_text(&l, event_text(e, EVENT_GFP), 0);
	line_printf(&l, ", order %llu", (unsigned long long)event_number(e, EVENT_ORDER));
	line_end(&l);
}

static void put_meminfo(struct line *l, const struct table_style *style, const char *name,
			const struct meminfo *m, enum meminfo_counter c)
{
	line_printf(l, "%s ", name);
	put_bytes(l, style, meminfo_has(m, c), m->value[c]);
}

static void put_machine(struct strbuf *out, const struct snapshot *s,
			const struct table_style *style)
{
	const struct meminfo *m = &s->system.meminfo;
	struct line l = begin_line(out, style);
	uint64_t used = 0, zram = 0;
	bool known = meminfo_swap_used(m, &used);

	put_meminfo(&l, style, "  RAM", m, MEMINFO_TOTAL);
	put_meminfo(&l, style, ", available", m, MEMINFO_AVAILABLE);
	if (meminfo_has(m, MEMINFO_SWAP_TOTAL) && !m->value[MEMINFO_SWAP_TOTAL]) {
		line_printf(&l, "; no swap");
	} else {
		line_printf(&l, "; swap ");
		put_bytes(&l, style, known, used);
		put_meminfo(&l, style, " of", m, MEMINFO_SWAP_TOTAL);
	}
	for (size_t i = 0; i < s->system.zram_count; i++)
		zram += s->system.zram[i].stat.used;
	if (s->system.zram_count) {
		line_printf(&l, "; zram takes ");
		put_bytes(&l, style, true, zram);
	}
	if (s->balance.swap_unattributed_known) {
		line_printf(&l, "; in no process ");
		put_bytes(&l, style, true, s->balance.swap_unattributed);
	}
	line_end(&l);
}

static void put_group(struct strbuf *out, const struct group_change *c, uint64_t bytes, char sign,
		      uint32_t procs, const struct table_style *style)
{
	struct line l = begin_line(out, style);

	line_blanks(&l, 4);
	put_bytes_right(&l, style, true, bytes, sign, 11);
	line_printf(&l, "  %5u  ", procs);
	line_text(&l, c->group ? c->group : "(none)", 0);
	if (c->missing)
		line_printf(&l, " (%u not read)", c->missing);
	line_end(&l);
}

/* A kind of group of which there is only one says nothing. */
static void put_largest(struct strbuf *out, const struct incident *i, enum incident_key key,
			size_t rows, const struct table_style *style)
{
	const struct group_changes *g = &i->largest[key];
	struct line l = begin_line(out, style);

	if (!g->count || (key != INCIDENT_NAME && g->count == 1 && !g->item[0].group))
		return;
	line_printf(&l, "  held most%s, by %s (anonymous memory and swap; processes):",
		    snapshot_is_cut(i->during) ? " of those that were read" : "",
		    key == INCIDENT_ASKED ? i->group_by : key_text[key]);
	line_end(&l);
	for (size_t n = 0; n < g->count && n < rows && g->item[n].after; n++)
		put_group(out, &g->item[n], g->item[n].after, 0, g->item[n].procs_after, style);
}

/* The processes of the cgroup, with their shared memory, which may be what filled it. */
static void put_largest_inside(struct strbuf *out, const struct incident *i, size_t rows,
			       const struct table_style *style)
{
	const struct group_changes *g = &i->largest_inside;
	struct line l = begin_line(out, style);

	line_printf(&l, "  in that cgroup%s",
		    snapshot_is_cut(i->during) ? ", of those that were read" : "");
	line_printf(&l, "%s%s (anonymous memory and swap; shared memory; processes):",
		    i->group_by ? ", by " : "", i->group_by ? i->group_by : "");
	line_end(&l);
	for (size_t n = 0; n < g->count && n < rows; n++) {
		l = begin_line(out, style);
		line_blanks(&l, 4);
		put_bytes_right(&l, style, true, g->item[n].after, 0, 11);
		put_bytes_right(&l, style, true, incident_shmem_of(i, &g->item[n]), 0, 11);
		line_printf(&l, "  %5u  ", g->item[n].procs_after);
		line_text(&l, g->item[n].group ? g->item[n].group : "(none)", 0);
		line_end(&l);
	}
	if (!g->count) {
		l = begin_line(out, style);
		line_printf(&l, "    no process");
		line_end(&l);
	}
}

static bool put_growth(struct strbuf *out, const struct incident *i, enum incident_window window,
		       size_t rows, const struct table_style *style)
{
	const bool inside = incident_is_of_cgroup(i);
	const struct group_changes *g = inside ? &i->grew_inside[window] : &i->grew[window];
	struct line l = begin_line(out, style);
	size_t n;

	if (!i->grew_known[window])
		return false;
	line_printf(&l, "  grew%s over the last ", inside ? " in that cgroup" : "");
	if (window == INCIDENT_RECORDED) {
		put_duration(&l, i->recorded_ms);
		line_printf(&l, ", which is all that was recorded:");
	} else {
		line_printf(&l, "%s:", window_text[window]);
	}
	line_end(&l);
	for (n = 0; n < g->count && n < rows && group_change_of(&g->item[n]) > 0; n++)
		put_group(out, &g->item[n], (uint64_t)group_change_of(&g->item[n]), '+',
			  g->item[n].procs_after, style);
	if (!n) {
		l = begin_line(out, style);
		line_printf(&l, "    nothing");
		line_end(&l);
	}
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

static void put_limit_events(struct strbuf *out, const struct incident *i, size_t rows,
			     const struct table_style *style)
{
	struct line l = begin_line(out, style);

	if (!i->limits)
		return;
	line_printf(&l, "  cgroups at a limit over the last ");
	put_duration(&l, i->during->time_ms - i->baseline->time_ms);
	line_printf(&l, " (kills, at memory.max, at high):");
	line_end(&l);
	for (size_t n = 0; n < i->limits && n < rows; n++) {
		l = begin_line(out, style);
		line_printf(
			&l, "    %5llu  %9llu  %9llu  ", (unsigned long long)i->limit[n].oom_kills,
			(unsigned long long)i->limit[n].max, (unsigned long long)i->limit[n].high);
		line_text(&l, i->limit[n].cgroup, 0);
		line_end(&l);
	}
}

static void put_ram(struct strbuf *out, const struct incident *i, const struct table_style *style)
{
	cleanup(strbuf_done) struct strbuf text = {};
	struct line l = {.out = &text};

	if (!i->ram.known)
		return;
	line_printf(&l, "  RAM by class over the last ");
	put_duration(&l, i->ram.after_ms - i->ram.before_ms);
	strbuf_puts(&text, ": ");
	ram_changes_text(&text, &i->ram, style->bytes);
	put_folded(out, &text, style);
}

/* Why memory was short, and how short it became. */
static void put_shortage(struct strbuf *out, const struct incident *i,
			 const struct table_style *style)
{
	static const char *const cause[] = {"tasks waited for memory", "little RAM was available",
					    "little swap was free", "much was read again"};
	const struct event_record *e = i->end ? i->end : i->event;
	struct line l = begin_line(out, style);
	bool any = false;

	line_printf(&l, "  signs: ");
	for (size_t c = 0; c < ARRAY_SIZE(cause); c++) {
		if (!(event_number(e, EVENT_CAUSES) >> c & 1))
			continue;
		line_printf(&l, "%s%s", any ? ", " : "", cause[c]);
		any = true;
	}
	line_end(&l);
	l = begin_line(out, style);
	line_printf(&l, "  %s: RAM available ", i->end ? "at the worst" : "at its beginning");
	put_bytes(&l, style, event_has(e, EVENT_AVAILABLE), event_number(e, EVENT_AVAILABLE));
	if (event_has(e, EVENT_SWAP_FREE)) {
		line_printf(&l, ", swap free ");
		put_bytes(&l, style, true, event_number(e, EVENT_SWAP_FREE));
	}
	line_end(&l);
	put_files(out, i, style);
	if (!i->end)
		return;
	l = begin_line(out, style);
	line_printf(&l, "  meanwhile:");
	if (event_has(e, EVENT_STALLED_US))
		line_printf(&l, " some task waited for %.1f s,",
			    (double)event_number(e, EVENT_STALLED_US) / 1e6);
	if (event_has(e, EVENT_REFAULTED)) {
		line_printf(&l, " ");
		put_bytes(&l, style, true, event_number(e, EVENT_REFAULTED));
		line_printf(&l, " was read again,");
	}
	line_printf(&l, " %llu OOM %s", (unsigned long long)event_number(e, EVENT_KILLS),
		    count_word(event_number(e, EVENT_KILLS), "kill", "kills"));
	line_end(&l);
}

/* The sender of a signal. Of a process that is not known, the recorder saw no PID. */
static void put_sender(struct strbuf *out, const struct incident *i,
		       const struct table_style *style)
{
	static const struct {
		enum event_member member;
		const char *name;
	} part[] = {{EVENT_SENDER_UNIT, "unit"}, {EVENT_SENDER_CONTAINER, "container"}};
	const struct event_record *e = i->event;
	struct line l = begin_line(out, style);

	line_printf(&l, "  sent by: ");
	if (!event_has(e, EVENT_SENDER_PID)) {
		line_printf(&l, "not known (a process outside of the recorder's PID namespace, or "
				"one that ended)");
	} else {
		line_text(&l, or_dash(event_text(e, EVENT_SENDER_NAME)), 60);
		line_printf(&l, ", PID %llu, uid %llu",
			    (unsigned long long)e->number[EVENT_SENDER_PID],
			    (unsigned long long)event_number(e, EVENT_SENDER_UID));
	}
	for (size_t p = 0; p < ARRAY_SIZE(part); p++) {
		if (!event_text(e, part[p].member))
			continue;
		line_printf(&l, ", %s ", part[p].name);
		line_text(&l, event_text(e, part[p].member), 0);
	}
	line_end(&l);
	if (!event_number(e, EVENT_SIGNALS_MISSED))
		return;
	l = begin_line(out, style);
	line_printf(&l, "  %llu %s only counted",
		    (unsigned long long)e->number[EVENT_SIGNALS_MISSED],
		    count_word(e->number[EVENT_SIGNALS_MISSED], "signal before it was",
			       "signals before it were"));
	line_end(&l);
}

/* Processes for which there was no time; an older recording does not have their number. */
static void put_unread(struct line *l, const struct incident *i)
{
	uint32_t unread;
	bool known = incident_unread(i, &unread);

	line_printf(l, "; ");
	if (unread)
		line_printf(l, "%s%u", known ? "" : "more than ", unread);
	line_printf(l, "%s%s not read: the time was over", unread ? " " : "",
		    count_word(unread, "other was", "others were"));
	if (i->during && event_number(i->event, EVENT_TABLE) && i->during->collection.earlier)
		line_printf(l, " (%u %s the values of the snapshot before)",
			    i->during->collection.earlier,
			    count_word(i->during->collection.earlier, "has", "have"));
}

/* The table of a kill that is not one of a burst. Frames are recorded in order of time. */
static void put_left_out(struct line *l, const struct incident *i)
{
	if (event_number(i->event, EVENT_TABLE) || event_number(i->event, EVENT_LISTED) <= 1)
		return;
	line_printf(l, "; the table of this kill was not recorded");
	if (i->during)
		line_printf(l, ": %s",
			    i->during->time_ms > i->event->time_ms
				    ? "a later snapshot was recorded before it"
				    : "kills had used up their room in the recording");
}

/* What was not read, which a table must not hide. */
static void put_losses(struct strbuf *out, const struct incident *i,
		       const struct table_style *style)
{
	const struct event_record *e = i->event;
	cleanup(strbuf_done) struct strbuf text = {};
	struct line l = {.out = &text};

	if (event_number(e, EVENT_TABLE) || event_number(e, EVENT_LISTED) > 1)
		line_printf(
			&l, "  %llu %s read in the kernel at that moment, in %.1f ms",
			(unsigned long long)event_number(e, EVENT_LISTED),
			count_word(event_number(e, EVENT_LISTED), "process was", "processes were"),
			(double)event_number(e, EVENT_TOOK_NS) / 1e6);
	else
		line_printf(&l,
			    "  of the same burst as the kill before: the victim alone was read");
	put_left_out(&l, i);
	if (event_number(e, EVENT_LOST))
		line_printf(&l, "; %llu had no room",
			    (unsigned long long)event_number(e, EVENT_LOST));
	if (event_number(e, EVENT_LATE))
		put_unread(&l, i);
	if (event_number(e, EVENT_MISSED))
		line_printf(&l, "; %llu %s only counted",
			    (unsigned long long)event_number(e, EVENT_MISSED),
			    count_word(event_number(e, EVENT_MISSED), "kill before it was",
				       "kills before it were"));
	put_folded(out, &text, style);
}

void render_incident(struct strbuf *out, const struct incident *i, size_t rows,
		     const struct table_style *style)
{
	struct line l = begin_line(out, style);

	l.attr = ATTR_BOLD;
	if (i->number)
		line_printf(&l, "event:%u  ", i->number);
	if (incident_is_signal(i)) {
		line_printf(&l, "%s at ",
			    event_number(i->event, EVENT_SIGNAL_NUMBER) == 9 ? "SIGKILL"
									     : "SIGTERM");
	} else if (!incident_is_pressure(i)) {
		line_printf(&l, "OOM kill at ");
	} else {
		put_shortage_name(&l, i);
		if (has_end(i)) {
			line_printf(&l, " for ");
			put_how_long(&l, i);
		}
		line_printf(&l, "%s from ", has_end(i) ? "," : "");
	}
	put_when(&l, i->event->time_ms);
	if (event_text(i->event, EVENT_ID))
		line_printf(&l, "  (event:%s)", event_text(i->event, EVENT_ID));
	if (incident_is_pressure(i) && !has_end(i))
		line_printf(&l, "; %s", no_end(i));
	line_end(&l);
	if (incident_is_pressure(i)) {
		put_shortage(out, i, style);
	} else if (incident_is_signal(i)) {
		put_sender(out, i, style);
		put_victim(out, i, style);
	} else {
		put_limit(out, i, style);
		put_kill_group(out, i, style);
		put_victim(out, i, style);
		put_losses(out, i, style);
	}
	if (!i->during)
		return;
	put_machine(out, i->during, style);
	put_ram(out, i, style);
	put_limit_events(out, i, rows, style);
	if (incident_is_of_cgroup(i))
		put_largest_inside(out, i, rows, style);
	for (int key = i->group_by ? INCIDENT_ASKED : 0;
	     key < INCIDENT_KEYS && !incident_is_of_cgroup(i); key++)
		put_largest(out, i, (enum incident_key)key, rows, style);
	put_growths(out, i, rows, style);
}

/* ---- what to type next ---- */

#define NEXT_WIDTH 80

/* A word that a shell takes as it is. */
static bool is_word(const char *text)
{
	return *text && !text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					   "0123456789/._-+:@,=%")];
}

/* The name of the event, which stays, or its number, which is shorter. Ends the line. */
static void put_event(struct strbuf *out, size_t line, const struct incident *i)
{
	const char *id = event_text(i->event, EVENT_ID);

	strbuf_puts(out, "event:");
	if (id && is_word(id) && (!i->number || out->len - line + strlen(id) <= NEXT_WIDTH))
		strbuf_printf(out, "%s\n", id);
	else
		strbuf_printf(out, "%u\n", i->number);
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

void render_incident_next(struct strbuf *out, const struct incident *i, const char *dir, bool usual)
{
	char from[FORMAT_MAX + 1] = {};
	size_t line = out->len;
	int64_t from_ms;

	if (!i->during || !is_word(dir) || (!i->number && !event_text(i->event, EVENT_ID)))
		return;
	strbuf_printf(out, "next: zmem-bpf top --replay %s --at ", dir);
	put_event(out, line, i);
	if (!first_known(i, &from_ms) || !format_time(from, from_ms, TIME_JSON))
		return;
	/* Of a time without its milliseconds all of that second is meant. */
	strcpy(strchr(from, '.'), "Z");
	line = out->len;
	strbuf_printf(out, "      zmem-bpf diff%s%s --from %s --to ", usual ? "" : " ",
		      usual ? "" : dir, from);
	put_event(out, line, i);
}

/* ---- JSON ---- */

void render_incidents_json_begin(struct incidents_json *j)
{
	strbuf_puts(j->out, "{\"schema\":\"zmem.incidents\",\"schema_version\":\"1.5\",");
	if (j->group_by)
		strbuf_printf(j->out, "\"group_by\":\"%s\",", j->group_by);
	strbuf_puts(j->out, "\n\"events\":[");
}

void render_incidents_json(struct incidents_json *j, const struct incident *i)
{
	struct json_writer writer = {.out = j->out, .html = j->html}, *w = &writer;

	strbuf_puts(j->out, j->count++ ? ",\n" : "\n");
	json_begin(w, '{');
	json_all(w,
		 incident_is_pressure(i) ? &incident_pressure_fields
		 : incident_is_signal(i) ? &incident_signal_fields
					 : &incident_kill_fields,
		 i->event, i, false);
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
