// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Incidents as text and as JSON. */
#include "report/incidents.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "report/json.h"
#include "write/format.h"
#include "write/line.h"

#define MINUTE_MS	 60000
#define LIMIT_EVENTS_MAX 32

const int64_t incident_window_ms[INCIDENT_WINDOWS] = {MINUTE_MS, 10 * MINUTE_MS, 60 * MINUTE_MS};

static const char *const window_key[INCIDENT_WINDOWS] = {"1m", "10m", "1h"};
static const char *const window_text[INCIDENT_WINDOWS] = {"minute", "10 minutes", "hour"};
static const char *const key_text[INCIDENT_KEYS] = {"program", "unit", "container"};
static const char *const key_json[INCIDENT_KEYS] = {"name", "unit", "container"};

static uint64_t number_of(const struct event_record *e, enum event_member m)
{
	return event_has(e, m) ? e->number[m] : 0;
}

/* Anonymous memory and swap of the victim. False: not known. */
static bool victim_bytes(const struct event_record *e, uint64_t *ret)
{
	*ret = number_of(e, EVENT_RSS_ANON) + number_of(e, EVENT_SWAP);
	return event_has(e, EVENT_RSS_ANON) && event_has(e, EVENT_SWAP);
}

static bool is_pressure(const struct incident *i)
{
	return number_of(i->event, EVENT_KIND) == EVENT_PRESSURE;
}

/* Why it is not known whose limit was reached. */
static const char *no_constraint(const struct event_record *e)
{
	if (!event_has(e, EVENT_LOG_READ))
		return "it was not recorded";
	switch (number_of(e, EVENT_LOG_READ)) {
	case EVENT_LOG_DENIED:
		return "the kernel's log could not be read";
	case EVENT_LOG_OTHER:
		return "the kernel's log has another cgroup of the victim";
	default:
		return "the kernel's log has no line for this kill";
	}
}

/* ---- cgroups that reached a limit ---- */

/* A counter that is lower than before belongs to another cgroup of that name. */
static uint64_t count_since(bool known, uint64_t now, bool before_known, uint64_t before)
{
	if (!known)
		return 0;
	return before_known && before <= now ? now - before : now;
}

static bool ranks_before(const struct limit_events *a, const struct limit_events *b)
{
	if (a->oom_kills != b->oom_kills)
		return a->oom_kills > b->oom_kills;
	return a->max != b->max ? a->max > b->max : a->high > b->high;
}

static bool same_events(const struct limit_events *a, const struct limit_events *b)
{
	return a->oom_kills == b->oom_kills && a->max == b->max && a->high == b->high;
}

/* The events of a cgroup are counted in those above it, too: the lowest one with the same counts is
 * enough. */
static bool is_above(const char *path, const char *below)
{
	size_t len = strlen(path);

	return strncmp(path, below, len) == 0 && below[len] == '/';
}

static void insert_events(struct limit_events *list, size_t *count, size_t most,
			  const struct limit_events *new)
{
	size_t at = *count;

	while (at && ranks_before(new, &list[at - 1]))
		at--;
	if (at == most)
		return;
	if (*count < most)
		(*count)++;
	memmove(list + at + 1, list + at, (*count - at - 1) * sizeof(*list));
	list[at] = *new;
}

size_t incident_limit_events(const struct incident *i, struct limit_events *ret, size_t most)
{
	size_t count = 0;

	/* Paths are sorted: from the end, those below come before those above. */
	for (size_t n = i->then && i->earlier ? i->then->memcg_count : 0; n-- > 0;) {
		const struct memcg *now = &i->then->memcg[n];
		const struct memcg *was = snapshot_find_memcg(i->earlier, now->path);
		struct limit_events e = {.cgroup = now->path};
		bool below = false;

		e.oom_kills = count_since(now->oom_kills_known, now->oom_kills,
					  was && was->oom_kills_known, was ? was->oom_kills : 0);
		e.max = count_since(now->max_known, now->max, was && was->max_known,
				    was ? was->max : 0);
		e.high = count_since(now->high_known, now->high, was && was->high_known,
				     was ? was->high : 0);
		if (!e.oom_kills && !e.max && !e.high)
			continue;
		for (size_t b = 0; b < count && !below; b++)
			below = is_above(e.cgroup, ret[b].cgroup) && same_events(&e, &ret[b]);
		if (!below)
			insert_events(ret, &count, most, &e);
	}
	return count;
}

/* ---- text ---- */

static struct line begin_line(struct strbuf *out, const struct table_style *style)
{
	return (struct line){.out = out, .width = style->width, .color = style->color};
}

static void put_bytes(struct line *l, const struct table_style *style, bool known, uint64_t bytes)
{
	char buf[FORMAT_MAX];

	if (known)
		line_ascii(l, buf, format_bytes(buf, bytes, style->bytes));
	else
		line_ascii(l, "-", 1);
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

static void put_when(struct line *l, int64_t time_ms)
{
	char buf[FORMAT_MAX];

	line_ascii(l, buf, format_time(buf, time_ms, TIME_TABLE));
}

static const char *or_dash(const char *text)
{
	return text ? text : "-";
}

void render_incident_heading(struct strbuf *out, const struct table_style *style)
{
	struct line l = begin_line(out, style);

	if (!style->header)
		return;
	l.attr = ATTR_BOLD;
	line_printf(&l, "EVENT  %-25s  %-13s  %7s  %10s  %s", "WHEN", "LIMIT OF", "PID", "HELD",
		    "NAME");
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

void render_incident_line(struct strbuf *out, const struct incident *i,
			  const struct table_style *style)
{
	const struct event_record *e = i->event;
	const char *constraint = event_text(e, EVENT_CONSTRAINT);
	struct line l = begin_line(out, style);
	uint64_t bytes;
	bool known = victim_bytes(e, &bytes);

	if (constraint && strcmp(constraint, "none") == 0)
		constraint = "the machine";
	line_printf(&l, "%5u  ", i->number);
	put_when(&l, e->time_ms);
	if (is_pressure(i)) {
		line_printf(&l, "  memory was short%s%s", has_end(i) ? " for " : "; ",
			    has_end(i) ? "" : no_end(i));
		if (has_end(i))
			put_how_long(&l, i);
		line_end(&l);
		return;
	}
	line_printf(&l, "  %-13s  ", or_dash(constraint));
	if (event_has(e, EVENT_PID))
		line_printf(&l, "%7llu", (unsigned long long)e->number[EVENT_PID]);
	else
		line_printf(&l, "%7s", "-");
	line_blanks(&l, 2);
	put_bytes_right(&l, style, known, bytes, 0, 10);
	line_blanks(&l, 2);
	line_text(&l, or_dash(event_text(e, EVENT_NAME)), 0);
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

	line_printf(&l, "  killed: ");
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
		put_bytes(&l, style, event_has(e, part[p].exact), number_of(e, part[p].exact));
	}
	line_end(&l);
	l = begin_line(out, style);
	line_printf(&l, "  its cgroup: ");
	line_text(&l, or_dash(event_text(e, EVENT_CGROUP)), 0);
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

static void put_limit(struct strbuf *out, const struct incident *i, const struct table_style *style)
{
	const struct event_record *e = i->event;
	const char *constraint = event_text(e, EVENT_CONSTRAINT);
	struct line l = begin_line(out, style);

	line_printf(&l, "  limit reached: ");
	if (!constraint)
		line_printf(&l, "not known (%s)", no_constraint(e));
	else if (strcmp(constraint, "none") == 0)
		line_printf(&l, "the machine's memory");
	else
		line_printf(&l, "%s ", constraint);
	if (event_text(e, EVENT_LIMIT_CGROUP))
		line_text(&l, event_text(e, EVENT_LIMIT_CGROUP), 0);
	if (constraint && event_has(e, EVENT_LIMIT)) {
		line_printf(&l, ", ");
		put_bytes(&l, style, true, e->number[EVENT_LIMIT]);
	}
	if (number_of(e, EVENT_INFERRED))
		line_printf(&l, " (from memory.events)");
	line_end(&l);
	if (!event_text(e, EVENT_GFP))
		return;
	l = begin_line(out, style);
	line_printf(&l, "  the allocation: ");
	line_text(&l, event_text(e, EVENT_GFP), 0);
	line_printf(&l, ", order %llu", (unsigned long long)number_of(e, EVENT_ORDER));
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
	line_printf(&l, "  who held most%s, by %s (anonymous memory and swap; processes):",
		    snapshot_is_cut(i->then) ? " of those that were read" : "", key_text[key]);
	line_end(&l);
	for (size_t n = 0; n < g->count && n < rows && g->item[n].after; n++)
		put_group(out, &g->item[n], g->item[n].after, 0, g->item[n].procs_after, style);
}

static void put_growth(struct strbuf *out, const struct incident *i, enum incident_window window,
		       size_t rows, const struct table_style *style)
{
	const struct group_changes *g = &i->grew[window];
	struct line l = begin_line(out, style);
	size_t n;

	line_printf(&l, "  who had grown over the last %s%s", window_text[window],
		    i->grew_known[window] ? ":" : ": nothing was recorded then");
	line_end(&l);
	for (n = 0;
	     i->grew_known[window] && n < g->count && n < rows && group_change_of(&g->item[n]) > 0;
	     n++)
		put_group(out, &g->item[n], (uint64_t)group_change_of(&g->item[n]), '+',
			  g->item[n].procs_after, style);
	if (i->grew_known[window] && !n) {
		l = begin_line(out, style);
		line_printf(&l, "    nothing");
		line_end(&l);
	}
}

static void put_limit_events(struct strbuf *out, const struct incident *i, size_t rows,
			     const struct table_style *style)
{
	struct limit_events list[LIMIT_EVENTS_MAX];
	size_t count =
		incident_limit_events(i, list, rows < LIMIT_EVENTS_MAX ? rows : LIMIT_EVENTS_MAX);
	struct line l = begin_line(out, style);

	if (!count)
		return;
	line_printf(&l, "  cgroups at a limit over the last ");
	put_duration(&l, i->then->time_ms - i->earlier->time_ms);
	line_printf(&l, " (OOM kills; times at memory.max, at memory.high):");
	line_end(&l);
	for (size_t n = 0; n < count; n++) {
		l = begin_line(out, style);
		line_printf(&l, "    %5llu  %9llu  %9llu  ", (unsigned long long)list[n].oom_kills,
			    (unsigned long long)list[n].max, (unsigned long long)list[n].high);
		line_text(&l, list[n].cgroup, 0);
		line_end(&l);
	}
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
		if (!(number_of(e, EVENT_CAUSES) >> c & 1))
			continue;
		line_printf(&l, "%s%s", any ? ", " : "", cause[c]);
		any = true;
	}
	line_end(&l);
	l = begin_line(out, style);
	line_printf(&l, "  %s: RAM available ", i->end ? "at the worst" : "at its beginning");
	put_bytes(&l, style, event_has(e, EVENT_AVAILABLE), number_of(e, EVENT_AVAILABLE));
	if (event_has(e, EVENT_SWAP_FREE)) {
		line_printf(&l, ", swap free ");
		put_bytes(&l, style, true, number_of(e, EVENT_SWAP_FREE));
	}
	line_end(&l);
	if (!i->end)
		return;
	l = begin_line(out, style);
	line_printf(&l, "  meanwhile:");
	if (event_has(e, EVENT_STALLED_US))
		line_printf(&l, " some task waited for %.1f s,",
			    (double)number_of(e, EVENT_STALLED_US) / 1e6);
	if (event_has(e, EVENT_REFAULTED)) {
		line_printf(&l, " ");
		put_bytes(&l, style, true, number_of(e, EVENT_REFAULTED));
		line_printf(&l, " was read again,");
	}
	line_printf(&l, " %llu OOM kills", (unsigned long long)number_of(e, EVENT_KILLS));
	line_end(&l);
}

/* How many processes there was no time for. False: they were not counted. */
static bool incident_unread(const struct incident *i, uint32_t *ret)
{
	const struct collection *c = i->then ? &i->then->collection : NULL;
	uint64_t lost = number_of(i->event, EVENT_LOST);

	*ret = 0;
	if (!c || !number_of(i->event, EVENT_TABLE))
		return false;
	if (number_of(i->event, EVENT_LATE))
		*ret = c->not_seen > lost ? c->not_seen - (uint32_t)lost : 0;
	return !number_of(i->event, EVENT_LATE) || c->not_seen_known;
}

/* Processes for which there was no time; an older recording does not have their number. */
static void put_unread(struct line *l, const struct incident *i)
{
	uint32_t unread;
	bool known = incident_unread(i, &unread);

	line_printf(l, "; ");
	if (unread)
		line_printf(l, "%s%u", known ? "" : "more than ", unread);
	line_printf(l, "%s not read: the time was over", unread ? " others were" : "others were");
}

/* What was not read, which a table must not hide. */
static void put_losses(struct strbuf *out, const struct incident *i,
		       const struct table_style *style)
{
	const struct event_record *e = i->event;
	struct line l = begin_line(out, style);

	if (number_of(e, EVENT_TABLE))
		line_printf(&l,
			    "  %llu processes were read in the kernel at that moment, in %.1f ms",
			    (unsigned long long)number_of(e, EVENT_LISTED),
			    (double)number_of(e, EVENT_TOOK_NS) / 1e6);
	else
		line_printf(&l,
			    "  of the same burst as the kill before: the victim alone was read");
	if (number_of(e, EVENT_LOST))
		line_printf(&l, "; %llu had no room", (unsigned long long)number_of(e, EVENT_LOST));
	if (number_of(e, EVENT_LATE))
		put_unread(&l, i);
	if (number_of(e, EVENT_MISSED))
		line_printf(&l, "; %llu kills before it were only counted",
			    (unsigned long long)number_of(e, EVENT_MISSED));
	line_end(&l);
}

void render_incident(struct strbuf *out, const struct incident *i, size_t rows,
		     const struct table_style *style)
{
	struct line l = begin_line(out, style);

	l.attr = ATTR_BOLD;
	line_printf(&l, "event:%u  ", i->number);
	if (!is_pressure(i)) {
		line_printf(&l, "OOM kill at ");
	} else if (has_end(i)) {
		line_printf(&l, "memory was short for ");
		put_how_long(&l, i);
		line_printf(&l, ", from ");
	} else {
		line_printf(&l, "memory was short from ");
	}
	put_when(&l, i->event->time_ms);
	if (is_pressure(i) && !has_end(i))
		line_printf(&l, "; %s", no_end(i));
	line_end(&l);
	if (is_pressure(i)) {
		put_shortage(out, i, style);
	} else {
		put_limit(out, i, style);
		put_victim(out, i, style);
		put_losses(out, i, style);
	}
	if (!i->then)
		return;
	put_machine(out, i->then, style);
	put_limit_events(out, i, rows, style);
	for (int key = 0; key < INCIDENT_KEYS; key++)
		put_largest(out, i, (enum incident_key)key, rows, style);
	for (int window = 0; window < INCIDENT_WINDOWS; window++)
		put_growth(out, i, (enum incident_window)window, rows, style);
}

/* ---- JSON ---- */

#define GROUPS_MAX     10
#define NAME_MAX_BYTES 1024

static void json_number(struct json_writer *w, const char *key, const struct event_record *e,
			enum event_member m)
{
	json_key_name(w, key);
	if (m == EVENT_OOM_SCORE_ADJ)
		json_put_known_i64(w, event_has(e, m), (int64_t)number_of(e, m));
	else
		json_put_known(w, event_has(e, m), number_of(e, m));
}

static void json_text(struct json_writer *w, const char *key, const struct event_record *e,
		      enum event_member m)
{
	json_key_name(w, key);
	json_put_string_max(w, event_text(e, m), NAME_MAX_BYTES);
}

static void json_victim(struct json_writer *w, const struct event_record *e)
{
	json_object(w, "victim");
	json_number(w, "pid", e, EVENT_PID);
	json_number(w, "uid", e, EVENT_UID);
	json_text(w, "user", e, EVENT_USER);
	json_text(w, "comm", e, EVENT_COMM);
	json_text(w, "name", e, EVENT_NAME);
	json_text(w, "cgroup", e, EVENT_CGROUP);
	json_text(w, "cgroup_reason", e, EVENT_CGROUP_REASON);
	json_text(w, "unit", e, EVENT_UNIT);
	json_text(w, "container", e, EVENT_CONTAINER);
	json_text(w, "pod", e, EVENT_POD);
	json_text(w, "namespace", e, EVENT_NAMESPACE);
	json_number(w, "oom_score_adj", e, EVENT_OOM_SCORE_ADJ);
	json_number(w, "rss_anon_bytes", e, EVENT_RSS_ANON);
	json_number(w, "rss_file_bytes", e, EVENT_RSS_FILE);
	json_number(w, "rss_shmem_bytes", e, EVENT_RSS_SHMEM);
	json_number(w, "swap_bytes", e, EVENT_SWAP);
	json_number(w, "pgtables_bytes", e, EVENT_PGTABLES);
	json_number(w, "rss_anon_count_bytes", e, EVENT_RSS_ANON_COUNT);
	json_number(w, "rss_file_count_bytes", e, EVENT_RSS_FILE_COUNT);
	json_number(w, "rss_shmem_count_bytes", e, EVENT_RSS_SHMEM_COUNT);
	json_number(w, "swap_count_bytes", e, EVENT_SWAP_COUNT);
	json_end(w, '}');
}

static void json_largest(struct json_writer *w, const struct incident *i)
{
	json_object(w, "largest");
	for (int key = 0; key < INCIDENT_KEYS; key++) {
		const struct group_changes *g = &i->largest[key];

		json_key_name(w, key_json[key]);
		json_begin(w, '[');
		for (size_t n = 0; n < g->count && n < GROUPS_MAX; n++) {
			json_begin(w, '{');
			json_string_max(w, "group", g->item[n].group, NAME_MAX_BYTES);
			json_u64(w, "procs", g->item[n].procs_after);
			json_u64(w, "anon_swap_bytes", g->item[n].after);
			json_u64(w, "missing_processes", g->item[n].missing);
			json_end(w, '}');
		}
		json_end(w, ']');
	}
	json_end(w, '}');
}

static void json_grew(struct json_writer *w, const struct incident *i)
{
	json_object(w, "grew");
	for (int window = 0; window < INCIDENT_WINDOWS; window++) {
		const struct group_changes *g = &i->grew[window];

		json_key_name(w, window_key[window]);
		if (!i->grew_known[window]) {
			json_put_null(w);
			continue;
		}
		json_begin(w, '[');
		for (size_t n = 0;
		     n < g->count && n < GROUPS_MAX && group_change_of(&g->item[n]) > 0; n++) {
			json_begin(w, '{');
			json_string_max(w, "group", g->item[n].group, NAME_MAX_BYTES);
			json_u64(w, "before_bytes", g->item[n].before);
			json_u64(w, "after_bytes", g->item[n].after);
			json_i64(w, "change_bytes", group_change_of(&g->item[n]));
			json_end(w, '}');
		}
		json_end(w, ']');
	}
	json_end(w, '}');
}

static void json_machine(struct json_writer *w, const struct incident *i)
{
	const struct meminfo *m = i->then ? &i->then->system.meminfo : NULL;
	uint64_t used = 0;
	bool known = m && meminfo_swap_used(m, &used);

	JSON_KEY(w, "system");
	if (!m) {
		json_put_null(w);
		return;
	}
	json_begin(w, '{');
	json_i64(w, "time_ms", i->then->time_ms);
	json_meminfo(w, "memory_total_bytes", m, MEMINFO_TOTAL);
	json_meminfo(w, "memory_available_bytes", m, MEMINFO_AVAILABLE);
	json_meminfo(w, "swap_total_bytes", m, MEMINFO_SWAP_TOTAL);
	json_known(w, "swap_used_bytes", known, used);
	json_known(w, "swap_unattributed_bytes", i->then->balance.swap_unattributed_known,
		   i->then->balance.swap_unattributed);
	json_end(w, '}');
}

static void json_limit_events(struct json_writer *w, const struct incident *i)
{
	struct limit_events list[GROUPS_MAX];
	size_t count = incident_limit_events(i, list, GROUPS_MAX);

	json_key_name(w, "limits");
	if (!i->then || !i->earlier) {
		json_put_null(w);
		return;
	}
	json_begin(w, '{');
	json_i64(w, "since_ms", i->earlier->time_ms);
	json_key_name(w, "cgroups");
	json_begin(w, '[');
	for (size_t n = 0; n < count; n++) {
		json_begin(w, '{');
		json_string_max(w, "cgroup", list[n].cgroup, NAME_MAX_BYTES);
		json_u64(w, "oom_kills", list[n].oom_kills);
		json_u64(w, "max", list[n].max);
		json_u64(w, "high", list[n].high);
		json_end(w, '}');
	}
	json_end(w, ']');
	json_end(w, '}');
}

void render_kill_json(struct json_writer *w, const struct event_record *e)
{
	const char *constraint = event_text(e, EVENT_CONSTRAINT);

	json_string(w, "kind", "oom_kill");
	json_i64(w, "time_ms", e->time_ms);
	json_text(w, "constraint", e, EVENT_CONSTRAINT);
	json_key_name(w, "constraint_source");
	json_put_string_max(w,
			    !constraint			   ? NULL
			    : number_of(e, EVENT_INFERRED) ? "memory.events"
							   : "log",
			    NAME_MAX_BYTES);
	json_key_name(w, "constraint_reason");
	json_put_string_max(w, constraint ? NULL : no_constraint(e), NAME_MAX_BYTES);
	json_text(w, "cgroup", e, EVENT_LIMIT_CGROUP);
	json_number(w, "limit_bytes", e, EVENT_LIMIT);
	json_text(w, "gfp", e, EVENT_GFP);
	json_number(w, "order", e, EVENT_ORDER);
	json_victim(w, e);
	json_number(w, "processes_recorded", e, EVENT_LISTED);
	json_number(w, "processes_lost", e, EVENT_LOST);
	json_bool(w, "processes_late", number_of(e, EVENT_LATE));
	json_bool(w, "table", number_of(e, EVENT_TABLE));
	json_number(w, "kills_missed", e, EVENT_MISSED);
	json_number(w, "kernel_ns", e, EVENT_TOOK_NS);
}

static void json_pressure(struct json_writer *w, const struct incident *i)
{
	static const char *const cause[] = {"stall", "available", "swap", "refaults"};
	const struct event_record none = {};
	const struct event_record *e = i->end ? i->end : i->event, *end = i->end ? i->end : &none;

	json_string(w, "kind", "pressure");
	json_i64(w, "time_ms", i->event->time_ms);
	json_number(w, "end_time_ms", end, EVENT_ENDED);
	json_key_name(w, "causes");
	json_begin(w, '[');
	for (size_t c = 0; c < ARRAY_SIZE(cause); c++) {
		if (number_of(e, EVENT_CAUSES) >> c & 1)
			json_put_string_max(w, cause[c], NAME_MAX_BYTES);
	}
	json_end(w, ']');
	json_number(w, "memory_available_least_bytes", e, EVENT_AVAILABLE);
	json_number(w, "swap_free_least_bytes", e, EVENT_SWAP_FREE);
	json_number(w, "stalled_us", end, EVENT_STALLED_US);
	json_number(w, "refaulted_bytes", end, EVENT_REFAULTED);
	json_number(w, "oom_kills", end, EVENT_KILLS);
}

void render_incidents_json_begin(struct incidents_json *j)
{
	strbuf_puts(j->out,
		    "{\"schema\":\"zmem.incidents\",\"schema_version\":\"1.1\",\n\"events\":[");
}

static void json_kill(struct json_writer *w, const struct incident *i)
{
	uint32_t unread;
	bool known = incident_unread(i, &unread);

	render_kill_json(w, i->event);
	json_known(w, "processes_unread", known, unread);
}

void render_incidents_json(struct incidents_json *j, const struct incident *i)
{
	struct json_writer writer = {.out = j->out, .html = j->html}, *w = &writer;

	strbuf_puts(j->out, j->count++ ? ",\n" : "\n");
	json_begin(w, '{');
	json_u64(w, "number", i->number);
	if (is_pressure(i))
		json_pressure(w, i);
	else
		json_kill(w, i);
	json_limit_events(w, i);
	json_largest(w, i);
	json_grew(w, i);
	json_machine(w, i);
	json_end(w, '}');
}

void render_incidents_json_end(struct incidents_json *j)
{
	strbuf_puts(j->out, "\n]}\n");
}

/* ---- the page ---- */

void render_incidents_point(struct strbuf *out, bool first, const struct snapshot *s,
			    const struct group_changes *by_name)
{
	struct json_writer writer = {.out = out, .html = true}, *w = &writer;
	const struct meminfo *m = &s->system.meminfo;
	bool ram = meminfo_has(m, MEMINFO_TOTAL) && meminfo_has(m, MEMINFO_AVAILABLE) &&
		   m->value[MEMINFO_TOTAL] >= m->value[MEMINFO_AVAILABLE];
	uint64_t swap = 0;
	bool swap_known = meminfo_swap_used(m, &swap);

	strbuf_puts(out, first ? "\n" : ",\n");
	json_begin(w, '{');
	json_i64(w, "time_ms", s->time_ms);
	json_known(w, "ram_used_bytes", ram,
		   ram ? m->value[MEMINFO_TOTAL] - m->value[MEMINFO_AVAILABLE] : 0);
	json_known(w, "swap_used_bytes", swap_known, swap);
	json_array(w, "groups");
	for (size_t i = 0; i < by_name->count && i < INCIDENT_POINT_GROUPS; i++) {
		json_begin(w, '{');
		json_string_max(w, "name",
				by_name->item[i].group ? by_name->item[i].group : "(none)",
				NAME_MAX_BYTES);
		json_u64(w, "bytes", by_name->item[i].after);
		json_end(w, '}');
	}
	json_end(w, ']');
	json_end(w, '}');
}
