// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * zmem-bpf maps PID…: the mappings of processes. --by-file: each file, over all its mappings.
 * --group-by: heaps, stacks, anonymous memory and files of each program, user, …
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/count.h"
#include "collect/maps_read_all.h"
#include "command/table.h"
#include "fields/map_fields.h"
#include "privilege/privilege.h"
#include "query/order.h"
#include "query/pattern.h"
#include "report/report.h"
#include "session/log.h"
#include "session/output.h"
#include "session/session.h"

/* Lines of a terminal that are not rows: header, the others, the total, the next prompt. */
#define LINES_AROUND 5
#define NOTE_COLUMNS 160 /* of the text below the total, which is folded */

struct maps_command {
	const struct options *o;
	struct order order; /* of --sort */
	struct maps_request request;
	struct session session;
	struct output out;
};

static void maps_command_done(struct maps_command *c)
{
	pattern_free(c->request.mapping);
	session_close(&c->session);
	output_close(&c->out);
}

static int check_request(const struct options *o)
{
	bool chosen = o->pids || o->users || o->filter || o->cgroup || o->units || o->mapping;

	if (!chosen && !o->by_file && !o->group)
		return log_usage(
			o,
			"maps: it needs a PID, a filter (-f, -u, --unit, --cgroup), --by-file, --mapping "
			"or --group-by");
	if (o->by_node && (o->by_file || o->group))
		return log_usage(o,
				 "--by-node cannot be combined with --%s: it is of mappings one by "
				 "one",
				 o->by_file ? "by-file" : "group-by");
	if (o->by_file && o->group)
		return log_usage(o, "--by-file cannot be combined with --group-by");
	return 0;
}

static int read_request(struct maps_command *c, const struct options *o)
{
	const char *why;
	struct maps_request *request = &c->request;
	int r = 0;

	request->group = options_group(o);
	if (request->group)
		request->rows = MAP_ROWS_KINDS;
	else if (o->by_file)
		request->rows = MAP_ROWS_FILES;
	if (o->mapping)
		r = pattern_compile(o->mapping, &request->mapping, &why);
	if (r == -EINVAL)
		return log_usage(o, "--mapping %s: %s", o->mapping, why);
	return r < 0 ? log_error("reading --mapping: out of memory") : 0;
}

static int read_keys(struct maps_command *c, const char *spec)
{
	static const char *const how[] = {[MAP_ROWS_EACH] = "",
					  [MAP_ROWS_FILES] = " --by-file",
					  [MAP_ROWS_KINDS] = " --group-by"};
	struct field_error bad;

	if (field_list_parse_keys(&c->order.keys, map_columns[c->request.rows], spec, &bad) < 0)
		return log_usage(c->o, "--sort: maps%s has no column '%.*s'", how[c->request.rows],
				 (int)bad.len, bad.name);
	for (size_t i = 0; i < c->order.keys.count; i++) {
		const struct field *f = c->order.keys.item[i];

		if (f->counter >= MAPS_NODE0 && !c->o->by_node)
			return log_usage(c->o, "--sort: maps has no column '%s' without --by-node",
					 f->key);
	}
	return 0;
}

/* What has to be read of pages. The rest of huge pages: where the machine has one. */
static unsigned page_needs(const struct maps_command *c)
{
	struct partly_mapped partly = machine_partly_mapped();
	bool rest = c->request.rows == MAP_ROWS_EACH && partly.bytes;

	/* Without /proc there are no mappings to add them to, and one sentence says so. */
	if (access("/proc/self/smaps", F_OK) < 0)
		return 0;
	return (c->o->by_node ? NEEDS_NODES : 0U) | (rest ? NEEDS_THP_REST : 0U);
}

static int open_command(struct maps_command *c, const struct options *o)
{
	struct collect_spec spec = session_spec(o);
	int r = check_request(o);

	c->o = o;
	c->order.reverse = o->reverse;
	if (r == 0)
		r = read_request(c, o);
	/* Counters list the processes; what is not of single pages comes from smaps. */
	spec.pages = page_needs(c);
	spec.pss = spec.pages ? PSS_AUTO : PSS_NONE;
	spec.pages_named = o->by_node;
	spec.kernel = o->pids;
	if (r == 0)
		r = read_keys(c, "pss");
	if (r == 0 && o->sort)
		r = read_keys(c, o->sort);
	if (r == 0)
		r = session_open(&c->session, o, &spec);
	/* The names of groups are read with the filters. */
	c->session.query.group = c->request.group;
	if (r == 0 && session_no_proc(&c->session))
		r = log_error("maps: no mappings can be read: %s (mount -t proc proc /proc)",
			      session_no_proc(&c->session));
	return r ? r : output_open(&c->out, o);
}

/*
 * Says why a process that was named by number has no rows. If none was named: how many processes
 * have none. Returns EXIT_FAILED if none of those that were named could be read.
 */
static int warn_missing(const struct maps_command *c, const struct maps_read *m)
{
	const struct process_list *processes = &c->session.collector.rows.matched;
	const struct filter *filter = &c->session.query.filter;
	size_t denied = 0, read = 0, failed = 0;

	for (size_t i = 0; i < processes->count; i++) {
		const struct maps_process *p = &m->process[i];

		denied += p->status == PSS_DENIED;
		if (filter->pids && maps_unread[p->status])
			log_error("%d: %s", p->process->pid, maps_unread[p->status]);
		read += p->status == PSS_OK;
		failed += p->status == PSS_DENIED || p->status == PSS_TIMEOUT ||
			  p->status == PSS_UNSUPPORTED;
	}
	if (denied && !filter->pids && !privilege_held(PRIVILEGE_PTRACE))
		log_notice(c->o->quiet, "%zu %s denied: %s", denied,
			   count_word(denied, "process is", "processes are"), session_no_ptrace());
	return filter->pids && failed && !read ? EXIT_FAILED : EXIT_DONE;
}

static size_t rows_that_fit(const struct maps_command *c)
{
	const struct output *out = &c->out;
	size_t fit = output_rows(out->width, out->height, LINES_AROUND, NOTE_COLUMNS);

	return fit && c->o->format == FORMAT_TABLE && !c->o->all ? fit : SIZE_MAX;
}

/*
 * Leaves out the smallest mappings, or those that --sort puts last. The order does not depend on
 * how many are shown.
 */
static void choose_rows(const struct maps_command *c, struct maps_read *m, struct maps_report *r)
{
	const struct options *o = c->o;
	size_t shown = o->top ? (size_t)o->top : rows_that_fit(c);

	if (o->total)
		shown = 0;
	if (shown > m->row_count)
		shown = m->row_count;
	order_maps(&c->order, m->rows, m->row_count);
	r->rows = m->rows;
	r->row_count = shown;
	r->others_count = m->row_count - shown;
	r->others = MAPS_COUNTERS_ZERO;
	for (size_t i = shown; i < m->row_count; i++)
		map_counters_add(&r->others, &m->rows[i]->counters);
}

static void render(struct maps_command *c, const struct maps_report *report)
{
	const struct options *o = c->o;
	const struct table_style style = output_style(o, c->out.color, c->out.width);

	if (o->format == FORMAT_JSON)
		render_maps_json(&c->out.buf, report);
	else
		render_maps_table(&c->out.buf, report, &style);
}

/* What is not known of pages is said if it was asked for, and all else is shown. */
static int read_pages(struct maps_command *c, struct maps_read *m)
{
	struct collector *collector = &c->session.collector;
	int r = maps_read_pages(collector, m);

	if (r == -ENOMEM)
		return r;
	if (r < 0 && c->o->by_node)
		log_notice(false, "maps: nodes are not known: %s",
			   *collector->pages_reason ? collector->pages_reason : strerror(-r));
	else if (m->changed)
		log_notice(c->o->quiet,
			   "maps: %s of %zu process%s are not known: pages came and went while "
			   "they were read",
			   c->o->by_node ? "nodes" : "THP_REST", m->changed,
			   m->changed == 1 ? "" : "es");
	return 0;
}

static int show(struct maps_command *c, struct maps_read *m)
{
	struct collector *collector = &c->session.collector;
	const struct process_list *processes = &collector->rows.matched;
	struct maps_report report = {.snapshot = &collector->snapshot,
				     .kind = c->request.rows,
				     .group = c->request.group,
				     .filtered = c->request.mapping};
	int r = group_join(c->request.group, &collector->rows.matched, &collector->snapshot.arena);
	int failed;

	if (r == 0)
		r = maps_read_all(collector, &c->request, m);
	if (r == -E2BIG)
		return log_usage(c->o, "--mapping: " PATTERN_EXPENSIVE);
	if (r == 0 && c->request.rows == MAP_ROWS_EACH)
		r = enrich_programs(collector_pool(collector), &collector->snapshot,
				    &collector->rows.matched);
	if (r == 0 && collector->spec.pages)
		r = read_pages(c, m);
	if (r < 0)
		return log_errno(r, "reading mappings");
	failed = warn_missing(c, m);
	/* An empty table would look like a process without mappings. */
	if (failed && !m->row_count && c->o->format == FORMAT_TABLE)
		return failed;
	for (size_t i = 0; i < processes->count; i++)
		m->process[i].object =
			kernel_objects_of(&collector->snapshot.kernel, processes->item[i]->pid,
					  &m->process[i].objects);
	report.process = m->process;
	report.process_count = processes->count;
	report.several = processes->count > 1;
	report.total = m->total;
	report.nodes = m->nodes;
	report.rest = m->rest;
	report.mappings = m->mappings;
	choose_rows(c, m, &report);
	render(c, &report);
	r = output_finish(&c->out);
	if (r == 0)
		r = failed;
	return r ? r : c->session.exit_code;
}

int command_maps(const struct options *o)
{
	cleanup(maps_command_done) struct maps_command command = {.out.file.fd = -1,
								  .session = SESSION_CLOSED};
	struct maps_read read = {};
	int r = open_command(&command, o);

	if (r == 0)
		r = session_begin(&command.session);
	if (r)
		return r;
	r = show(&command, &read);
	maps_read_done(&read, command.session.collector.rows.matched.count);
	return r;
}
