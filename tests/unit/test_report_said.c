// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Random documents: each number and name of the text is in the JSON. */
#include "golden.h"
#include "random_snapshot.h"
#include "said.h"

#include <time.h>

#include "fields/ended_fields.h"
#include "fields/system_said.h"
#include "query/change.h"
#include "query/result.h"
#include "report/diff.h"
#include "report/findings.h"
#include "report/growth.h"
#include "report/head.h"
#include "report/incidents.h"
#include "report/peak.h"
#include "report/summary.h"

#define DOCUMENTS 300
#define WIDTH	  60

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

/* What is not in JSON is seen: another unit, a sum that is not listed, a name. */
TEST(missing)
{
	static const char json[] = "{\"a_bytes\":7340032,\"n\":[5,11],\"b_us\":7340032,"
				   "\"s\":{\"of\":\"<x>\",\"on\":true}}";
	static const char *const lists[] = {"n-n", "n#", "n/n", NULL}, *const none[] = {NULL};
	static const struct {
		const char *text, *at;
		const char *const *made;
	} row[] = {
		{"7.00 MiB, 7.34 s, 5 of 11 in <x>\n", NULL, none},
		{"7.00 KiB\n", "7.00 KiB\n", none},
		{"5 us\n", "5 us\n", none},
		{"by 6\n", "6\n", none},
		{"by 6, 2 of them, 220.0 %\n", NULL, lists},
		{"3 of them\n", "3 of them\n", lists},
		{"<x> and <y>\n", "<y>\n", none},
		{"9\n", "9\n", none},
		{"1.00 s\n", "1.00 s\n", lists},
	};

	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		const char *at = said_missing(row[i].text, json, " ", row[i].made);

		assert_string_equal(at ? at : "", row[i].at ? row[i].at : "");
	}
}

/* ---- a machine with processes ---- */

struct world {
	struct snapshot snapshot;
	struct query query;
	struct query_rows rows;
	struct result result;
	struct ram ram;
	struct census_cgroup cgroup[2];
	struct ram_node node[NODES_SHOWN];
	uint64_t kills_today;
};

static int64_t random_time(struct random *r)
{
	return 1763781255000 + (int64_t)random_below(r, 1000000000);
}

/* A census or counters, which the snapshot may have. */
static void random_frames(struct random *r, struct world *w)
{
	struct ram *ram = &w->ram;

	*ram = *w->snapshot.system.ram;
	ram->method = RAM_COUNTERS + random_below(r, 3);
	strcpy(ram->reason, ram->method == RAM_COUNTERS ? "<reason>" : "");
	ram->taken_ms = w->snapshot.time_ms - (int64_t)random_few(r);
	for (int i = 0; i < RAM_FIGURES; i++)
		for (size_t n = random_below(r, 3); n; n--)
			ram_add_part(ram, (enum ram_class)i, "<part>", random_few(r));
	ram->cgroup = random_bool(r) ? w->cgroup : NULL;
	ram->node = random_bool(r) ? w->node : NULL;
	ram->cgroups = ram->cgroup ? random_below(r, 3) : 0;
	ram->nodes = ram->node ? 1 + random_below(r, NODES_SHOWN) : 0;
	for (size_t i = 0; i < ram->cgroups; i++)
		w->cgroup[i] = (struct census_cgroup){
			random_name(r), random_bool(r), {random_few(r), 0, random_few(r), 0}};
	w->snapshot.system.ram = random_bool(r) ? ram : NULL;
}

/* A world with up to five processes, and a query of it. */
static void world_make(struct random *r, struct world *w)
{
	static const char *const group[] = {"pid", "unit", "cgroup", "container"};
	struct snapshot *s = &w->snapshot;
	struct system_info *system = &s->system;

	*w = (struct world){.kills_today = random_few(r)};
	random_snapshot(r, s, random_below(r, 6));
	s->time_ms = random_time(r);
	s->host.page_size = 4096;
	s->host.cpus = 4;
	s->recorded = random_bool(r);
	s->balance.anon_residual = (int64_t)random_few(r);
	s->collection.cgroups_dying = random_few(r);
	s->collection.earlier = (uint32_t)random_few(r);
	system->oom_kills = (struct oom_kills){random_bool(r), random_few(r)};
	system->nodes.count = (uint32_t)random_below(r, 4);
	for (uint32_t i = 0; i < system->nodes.count; i++)
		system->nodes.node[i] = (struct node_memory){i, random_few(r), random_few(r)};
	random_frames(r, w);
	w->query.group = process_field(group[random_below(r, ARRAY_SIZE(group))]);
	if (!w->query.group->group)
		w->query.group = NULL;
	w->query.top = random_below(r, 4);
	assert_int_equal(query_select_ids(s, &w->query, &w->rows), 0);
	assert_int_equal(query_group(s, &w->query, &w->rows), 0);
	query_show(s, &w->query, &w->rows, false, &w->result);
}

static void world_done(struct world *w)
{
	query_rows_done(&w->rows);
	snapshot_done(&w->snapshot);
}

/* What changed of RAM. How many a text leaves out is no value: it names all. */
static void random_changes(const struct world *before, const struct world *now,
			   struct ram_changes *ret)
{
	ram_changes_make(before->snapshot.system.ram, now->snapshot.system.ram, ret);
	ret->large = ret->large < 5 ? ret->large : 5;
}

/* ---- findings ---- */

/* So many were in the documents. */
static size_t findings_seen;

/*
 * Each of them is in JSON, as a text of its own, and then no more in the text. Without a style it
 * is the same text.
 */
static void take_findings(const struct findings *all, enum finding_level least,
			  const struct table_style *style, struct strbuf *text, struct strbuf *json)
{
	const size_t count = findings_down_to(all, least);

	for (size_t i = 0; i < count; i++) {
		cleanup(strbuf_done) struct strbuf lines = {}, said = {};
		struct line l = {.out = &said};
		char *at;

		if (style)
			finding_print(&lines, &all->item[i], style);
		else
			finding_put(&(struct line){.out = &lines}, &all->item[i], SIZES_SHORT);
		strbuf_puts(&said, "\"text\":\"");
		finding_put(&l, &all->item[i], SIZES_SHORT);
		strbuf_puts(&said, "\",\"run\":");
		at = strstr(strbuf_str(text), strbuf_str(&lines));
		if (!at || !strstr(strbuf_str(json), strbuf_str(&said)))
			fail_msg("%s is not in:\n%s", strbuf_str(at ? &said : &lines),
				 strbuf_str(at ? json : text));
		said_check_form(strbuf_str(&lines));
		memmove(at, at + lines.len, strlen(at + lines.len) + 1);
		text->len -= lines.len;
	}
	findings_seen += count;
}

/* ---- documents ---- */

/* Makes the text of a document and its JSON. */
typedef void document_fn(struct random *r, const struct table_style *style, struct strbuf *text,
			 struct strbuf *json);

/* What is above and below the table. */
static void make_snapshot(struct random *r, const struct table_style *style, struct strbuf *text,
			  struct strbuf *json)
{
	cleanup(world_done) struct world w;
	struct table_style of = *style;
	static struct findings found;
	enum finding_level least;
	struct head head;

	world_make(r, &w);
	w.result.hints = random_bool(r);
	least = w.result.hints ? FINDING_HINT : FINDING_WARNING;
	of.head = random_bool(r);
	of.sorted = process_field("swap");
	findings_find(&w.snapshot, &w.result, &found);
	findings_print(text, &found, least, SIZE_MAX, style);
	head_begin(&head, &w.snapshot, w.snapshot.system.ram, style);
	head_print(text, &head, SIZE_MAX);
	summary_print(text, &w.result, &of);
	summary_print_ended(text, &w.result, &of);
	summary_print_notes(text, &w.result, &of);
	findings_print_next(text, &found, least, NULL, style->width);
	render_json(json, &w.result);
	/* Lines with a width are looked at as they are. */
	if (!style->width)
		take_findings(&found, least, style, text, json);
}

static void make_diff(struct random *r, const struct table_style *style, struct strbuf *text,
		      struct strbuf *json)
{
	cleanup(world_done) struct world before, after = {};
	cleanup(group_changes_done) struct group_changes changes = {};
	struct diff_report report = {.key = "rss", .what = "RSS", .changes = &changes};

	world_make(r, &before);
	world_make(r, &after);
	report.before = &before.snapshot;
	report.after = &after.snapshot;
	report.group = after.result.group;
	assert_int_equal(group_changes_make(&(struct change_side){report.before},
					    &(struct change_side){report.after}, report.group,
					    COUNTER_BIT(COUNTER_RSS), &changes),
			 0);
	report.shown = random_below(r, changes.count + 1);
	report.small = random_few(r);
	random_changes(&before, &after, &report.ram);
	if (after.snapshot.system.ended)
		report.ended = *after.snapshot.system.ended;
	report.ended_shown = random_below(r, ENDED_MAX + 1);
	render_diff_table(text, &report, style);
	render_diff_json(json, &report);
}

static void make_system(struct random *r, const struct table_style *style, struct strbuf *text,
			struct strbuf *json)
{
	const uint64_t form = random_below(r, 4);
	cleanup(world_done) struct world w;
	struct system_report report = {
		.snapshot = &w.snapshot,
		.balance = &w.result,
		.ram = &w.ram,
		.kills_today = random_bool(r) ? &w.kills_today : NULL,
		.cgroups = form == 1,
		.nodes = form == 2,
		.all = form == 3,
		.verbose = true,
	};
	static struct findings found;

	world_make(r, &w);
	w.result.group = NULL;
	report.unattributed_known = w.snapshot.balance.swap_unattributed_known;
	report.unattributed = w.snapshot.balance.swap_unattributed;
	report.swap_used_known = meminfo_swap_used(&w.snapshot.system.meminfo, &report.swap_used);
	account_split(&w.snapshot.system, &report.account);
	render_system_table(text, &report, style);
	render_system_json(json, &report);
	findings_find(&w.snapshot, NULL, &found);
	if (!report.cgroups && !report.nodes && !style->width)
		take_findings(&found, FINDING_HINT, style, text, json);
}

/* ---- pages ---- */

/* The text of a page, and the data in it. */
static void split_page(const char *page, struct strbuf *text, struct strbuf *json)
{
	static const struct {
		const char *name, *is;
	} escape[] = {{"&lt;", "<"},	{"&gt;", ">"},	  {"&amp;", "&"},
		      {"\\u003c", "<"}, {"\\u003e", ">"}, {"\\u0026", "&"}};
	struct strbuf *to = text;

	for (const char *at = page; *at; at++) {
		size_t i = 0;

		if (*at == '<') {
			const bool data = strncmp(at, "<script type=\"app", 17) == 0;

			if (strncmp(at, "<style", 6) == 0)
				at = strstr(at, "</style>");
			else if (strncmp(at, "<script", 7) == 0 && !data)
				at = strstr(at, "</script>");
			at = strchr(at, '>');
			to = data ? json : text;
			strbuf_putc(to, to == text ? '\n' : ' ');
			continue;
		}
		while (i < ARRAY_SIZE(escape) &&
		       strncmp(at, escape[i].name, strlen(escape[i].name)) != 0)
			i++;
		strbuf_put(to, i < ARRAY_SIZE(escape) ? escape[i].is : at, 1);
		at += i < ARRAY_SIZE(escape) ? strlen(escape[i].name) - 1 : 0;
	}
}

/* A page without JavaScript, and the sentences in its data. */
static void make_page(struct random *r, const struct table_style *style, struct strbuf *text,
		      struct strbuf *json)
{
	static struct findings found;
	cleanup(strbuf_done) struct strbuf page = {};
	cleanup(world_done) struct world w;

	world_make(r, &w);
	render_html(&page, &w.result, style);
	split_page(strbuf_str(&page), text, json);
	findings_find(&w.snapshot, &w.result, &found);
	take_findings(&found, FINDING_HINT, NULL, text, json);
	for (const char *at = strstr(strbuf_str(json), "\"said\":{"); *at != '}'; at++)
		strbuf_putc(text, strchr("\"{", *at) ? '\n' : *at);
}

static void make_files_page(struct random *r, const struct table_style *style, struct strbuf *text,
			    struct strbuf *json)
{
	cleanup(strbuf_done) struct strbuf page = {};
	cleanup(world_done) struct world w;
	struct files_report report = {.snapshot = &w.snapshot};

	(void)style;
	world_make(r, &w);
	for (int i = 0; i < FILE_ACCOUNTS; i++)
		report.account[i] = (struct cached_file){.files = (uint32_t)random_few(r),
							 .resident = random_few(r),
							 .swapped = random_few(r),
							 .unevictable = random_few(r)};
	render_files_page(&page, &report);
	split_page(strbuf_str(&page), text, json);
}

/* ---- incidents ---- */

static void random_event(struct random *r, struct event_record *e, enum event_kind kind)
{
	*e = (struct event_record){.time_ms = random_time(r)};
	for (enum event_member m = EVENT_PID; m < EVENT_MEMBERS; m++) {
		const char *text = random_name(r);

		if (m >= EVENT_COMM && m < EVENT_TEXTS_END && text)
			event_set_text(e, m, text);
		else if ((m < EVENT_TEXTS || m >= EVENT_MORE) && random_bool(r))
			event_set(e, m, random_few(r));
	}
	if (random_bool(r))
		event_set(e, EVENT_ENDED, (uint64_t)e->time_ms + random_few(r) % 100000000);
	/* Parts have a time. */
	event_set(e, EVENT_PARTS_MS, random_few(r));
	event_set(e, EVENT_AT_LEVEL, random_below(r, 2));
	event_set(e, EVENT_KIND, kind);
}

/* What processes held before and now, by one of their names. */
static void random_groups(const struct world *before, const struct world *now, const char *key,
			  counter_mask counters, bool by_size, struct group_changes *ret)
{
	group_changes_done(ret);
	assert_int_equal(group_changes_make(&(struct change_side){&before->snapshot},
					    &(struct change_side){&now->snapshot},
					    process_field(key), counters, ret),
			 0);
	if (by_size)
		group_changes_by_size(ret);
}

static void make_incident(struct random *r, const struct table_style *style, struct strbuf *text,
			  struct strbuf *json)
{
	static const char *const key[] = {"name", "unit", "container", "user"};
	static const enum event_kind kind[] = {EVENT_OOM_KILL, EVENT_PRESSURE, EVENT_SIGNAL,
					       EVENT_UNRECORDED, EVENT_NO_VICTIM};
	static struct event_record event, end;
	static struct incident i;
	cleanup(world_done) struct world before, now = {};
	struct incidents_json document = {.out = json};
	const enum event_kind of = kind[random_below(r, ARRAY_SIZE(kind))];

	world_make(r, &before);
	world_make(r, &now);
	random_event(r, &event, of);
	random_event(r, &end, of);
	end.number[EVENT_ENDED] = (uint64_t)event.time_ms + random_few(r) % 100000000;
	end.time_ms = event.time_ms;
	i.group_by = random_bool(r) ? key[INCIDENT_ASKED] : NULL;
	for (int k = 0; k < INCIDENT_KEYS; k++)
		random_groups(&before, &now, key[k], INCIDENT_COUNTERS, true, &i.largest[k]);
	if (!i.group_by)
		i.largest[INCIDENT_ASKED].count = 0;
	for (int window = 0; window < INCIDENT_WINDOWS; window++) {
		i.grew_known[window] = random_bool(r);
		random_groups(&before, &now, "name", INCIDENT_COUNTERS, false, &i.grew[window]);
		random_groups(&before, &now, "name", INCIDENT_COUNTERS, false,
			      &i.grew_inside[window]);
	}
	random_groups(&before, &now, "name", INCIDENT_COUNTERS, true, &i.largest_inside);
	random_groups(&before, &now, "name", COUNTER_BIT(COUNTER_RSS_SHMEM), true, &i.shmem_inside);
	i.number = (unsigned)(1 + random_below(r, 3));
	i.event = &event;
	i.end = of == EVENT_PRESSURE && random_bool(r) ? &end : NULL;
	i.goes_on = random_bool(r);
	i.burst = (struct burst){random_few(r),		random_below(r, 3), random_below(r, 3),
				 random_few(r),		random_few(r),	    0,
				 (int64_t)random_few(r)};
	i.table_age_ms = of == EVENT_OOM_KILL ? (int64_t)random_few(r) : 0;
	i.table_known = random_bool(r);
	i.limit_before = random_few(r);
	i.recorded_now = random_bool(r);
	i.during = random_bool(r) ? &now.snapshot : NULL;
	i.baseline = random_bool(r) ? &before.snapshot : NULL;
	i.recorded_ms = (int64_t)random_few(r);
	for (size_t n = 0; n < now.snapshot.memcg_count; n++) {
		struct memcg *m = &now.snapshot.memcg[n];

		m->oom_kills_known = random_bool(r);
		m->oom_kills = random_few(r);
		m->max_known = random_bool(r);
		m->max = random_few(r);
	}
	i.limits = incident_limit_events(&i, i.limit, INCIDENT_LIMITS);
	random_changes(&before, &now, &i.ram);
	i.files = random_below(r, 4);
	for (size_t f = 0; f < i.files; f++)
		i.file[f] = (struct shared_file){
			.name = "<file>", .resident = random_few(r), .swapped = random_few(r)};
	i.files_ms = i.files ? event.time_ms - 10000 + (int64_t)random_below(r, 20000) : 0;
	i.ended = now.snapshot.system.ended ? *now.snapshot.system.ended : ended_unknown;
	i.stalls_known = random_bool(r);
	i.stalls = i.stalls_known ? random_below(r, 4) : 0;
	for (size_t n = 0; n < i.stalls; n++)
		i.stall[n] = (struct incident_stall){"<path>", "unit", "<stalled>", random_few(r),
						     random_few(r)};
	incident_find_ram(&i, random_bool(r) ? &before.snapshot : NULL);
	incident_add_charges(&i);
	render_incident(text, &i, 3, style);
	render_incidents_json_begin(&document);
	render_incidents_json(&document, &i);
	render_incidents_json_end(&document);
}

/* ---- growth ---- */

static void make_growth(struct random *r, const struct table_style *style, struct strbuf *text,
			struct strbuf *json)
{
	static const struct growth_view view = {.rows = 3};
	cleanup(strbuf_done) struct strbuf page = {}, again = {};
	cleanup(world_done) struct world w;
	struct growth_target target[3];
	struct growth_allocator allocator[2];
	struct growth_not_probed lack[2];
	struct growth g = {
		.duration_us = random_few(r),
		.each = random_bool(r),
		.events = random_few(r),
		.sampled = random_few(r),
		.lost = random_few(r),
		.no_room = random_few(r),
		.lines_left_out = random_few(r),
		.target = target,
		.targets = random_below(r, ARRAY_SIZE(target) + 1),
		.unnamed_python = random_bool(r),
		.heap = {.known = random_bool(r),
			 .at_least = random_bool(r),
			 .mean_most = random_bool(r) ? 1 : 4096,
			 .sample_bytes = random_few(r),
			 .rate = random_few(r),
			 .price_ns = random_few(r) % 1000000,
			 .speed_least = 0.25,
			 .speed_most = 0.75,
			 .not_counted = random_few(r),
			 .allocator = allocator,
			 .allocators = random_below(r, 3),
			 .not_probed = lack,
			 .not_probeds = random_below(r, 3)},
	};

	world_make(r, &w);
	g.snapshot = &w.snapshot;
	for (int i = 0; i < GROWTH_OUT_REASONS; i++)
		g.names_left_out[i] = random_few(r);
	for (int i = 0; i < GROWTH_COUNTERS; i++) {
		g.change[i] = (int64_t)random_few(r);
		g.accounted[i] = (int64_t)random_few(r);
	}
	for (size_t i = 0; i < ARRAY_SIZE(target); i++)
		target[i] = (struct growth_target){.pid = 1 + (pid_t)i, .ended = random_bool(r)};
	for (size_t i = 0; i < 2; i++) {
		allocator[i] = (struct growth_allocator){.name = "<allocator>",
							 .version = random_name(r),
							 .file = "<file>",
							 .functions = (size_t)random_few(r)};
		lack[i] = (struct growth_not_probed){.function = random_name(r),
						     .file = "<module>",
						     .pid = (pid_t)random_below(r, 3),
						     .reason = random_bool(r) ? "<reason>"
									      : "<other>"};
	}
	render_growth_table(text, &g, &view, style);
	render_growth_html(&page, &g);
	split_page(strbuf_str(&page), style->width ? &again : text, json);
}

/* ---- peak ---- */

static void make_peak(struct random *r, const struct table_style *style, struct strbuf *text,
		      struct strbuf *json)
{
	cleanup(strbuf_done) struct strbuf page = {};
	cleanup(world_done) struct world w;
	struct peak p = {
		.snapshot = &w.snapshot,
		.exit_code = (int)random_below(r, 3) - 1,
		.signal = (int)random_below(r, 10),
		.method = random_bool(r) ? PEAK_EXACT : PEAK_SAMPLE,
		.duration_us = random_few(r),
		.unseen = !random_below(r, 4),
		.time_ms = random_time(r),
		.offset_us = random_few(r),
		.at = {random_few(r), random_few(r), random_few(r), random_few(r), random_few(r)},
		.held_by = (uint32_t)random_few(r),
		.error_known = random_bool(r),
		.error = random_few(r),
		.pss_known = random_bool(r),
		.pss = random_few(r),
		.pss_rss = random_few(r),
		.pss_offset_us = random_few(r),
		.no_room = random_few(r),
		.lost = random_few(r),
		.still = random_few(r),
		.interval_us = random_few(r),
		.all = random_few(r),
	};

	world_make(r, &w);
	p.pss_reason = p.pss_known ? NULL : random_name(r);
	render_peak_table(text, &p, 3, style);
	render_peak_html(&page, &p);
	split_page(strbuf_str(&page), text, json);
}

/* ---- all of them ---- */

/* Rows of tables have gaps of three blanks. */
static void without_rows(struct strbuf *text)
{
	size_t to = 0;

	for (size_t at = 0, len; at < text->len; at += len) {
		char *line = text->data + at, *end = memchr(line, '\n', text->len - at), *gap;

		len = (size_t)(end - line) + 1;
		gap = memmem(line, len, "   ", 3);
		if (!gap) {
			memmove(text->data + to, line, len);
			to += len;
		}
	}
	text->len = to;
	strbuf_str(text);
}

/* What sentences make of the numbers of JSON. */
#define LACKS	  "totals.pss_missing_processes"
#define LACKS_2	  LACKS "-collection.denied-collection.timeout"
#define UNCHECKED "cross_check.denied+cross_check.unread"
#define REGIONS	  "regions.resident_bytes+regions.resident_bytes"

static const char *const made[] = {
	"cgroups.limit_bytes-cgroups.left_bytes/cgroups.limit_bytes",
	"collection.not_seen+collection.earlier",
	"collection.not_seen-collection.not_seen_pids#",
	"collection.not_seen_least+collection.earlier",
	"cross_check.gone+cross_check.ended",
	"end_time_ms-events.time_ms",
	"events.time_ms-files_time_ms",
	"groups#+rows_not_written",
	"parts.bytes/head.total_bytes",
	"pss_offset_us-peak.offset_us",
	"swap.used_bytes-unattributed_bytes",
	"swap.unattributed_bytes-files.swap_tmpfs_bytes",
	"swap_total_bytes-swap_free_bytes",
	"swap_total_bytes-swap_free_bytes-swap_unattributed_bytes",
	"swap_unattributed_bytes-swap_tmpfs_bytes",
	"system.time_ms-limits.since_ms",
	"target.processes#",
	"timestamp_ms-ram.time_ms",
	"to_ms-from_ms",
	"totals.cache_bytes-totals.cache_listed_bytes",
	"totals.processes-" LACKS,
	"totals.shmem_bytes-totals.shmem_listed_bytes",
	"zram.stored_bytes/zram.compressed_bytes",
	"zswap_stored_bytes/zswap_pool_bytes",
	LACKS "-collection.denied",
	LACKS_2,
	LACKS_2 "-collection.raced",
	REGIONS,
	REGIONS "+regions.resident_bytes",
	UNCHECKED,
	UNCHECKED "+cross_check.self",
	NULL,
};

static const struct {
	const char *name;
	document_fn *make;
	bool folded, rows; /* lines have a width; rows of tables are looked at, too */
	const char *literal;
} document[] = {
	{"incident", make_incident, true, true, " 60 s 10 min 1 h "},
	{"growth", make_growth, true, true, " 1 6.2 3.12 17 64 25 75 "},
	{"peak", make_peak, false, true, " 6.2 0 s "},
	{"snapshot", make_snapshot, true, true, " 0.0 "},
	{"diff", make_diff, true, false, " "},
	{"system", make_system, false, false, " "},
	{"page", make_page, false, true, " 1 "},
	{"page of files", make_files_page, false, true, " "},
};

TEST(documents)
{
	for (size_t i = 0; i < DOCUMENTS * ARRAY_SIZE(document); i++) {
		const size_t d = i / DOCUMENTS;
		const struct table_style usual = {.header = true, .bytes = i % 2};
		const struct table_style narrow = {.header = true, .width = WIDTH};
		cleanup(strbuf_done) struct strbuf text = {}, json = {}, folded = {}, again = {};
		struct random r = {.state = 1 + i, .plain = true}, same = r;

		document[d].make(&r, &usual, &text, &json);
		document[d].make(&same, &narrow, &folded, &again);
		if (!document[d].rows)
			without_rows(&text);
		said_check(document[d].name, strbuf_str(&text), strbuf_str(&json),
			   document[d].literal, made);
		if (document[d].folded)
			check_width(strbuf_str(&folded));
	}
	assert_true(findings_seen > DOCUMENTS);
}
