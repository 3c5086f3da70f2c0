// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Fills in spec and query from the options, and says what the collector noticed. */
#include "cli/measure.h"

#include <errno.h>
#include <string.h>

#include "cli/log.h"
#include "cli/secure.h"

struct collect_spec measure_spec(const struct options *o)
{
	return (struct collect_spec){
		.pss = (enum pss_choice)o->pss,
		.source = (enum source_choice)o->source,
		.pin = o->pinned ? PIN_MUST : PIN_MAY,
		/* A command that stays is in no hurry, and leaves the other CPUs alone. */
		.readers = o->continuous ? 1 : 0,
		.continuous = o->continuous,
		.verify = o->verify == VERIFY_DEFAULT ? VERIFY_USUAL : o->verify,
	};
}

static int read_query(struct measure *m, const struct user_names *users)
{
	const struct options *o = m->options;
	int *code = &m->notices.exit_code;
	enum pss_choice pss = o->replay ? m->collector.spec.pss : (enum pss_choice)o->pss;

	if (!m->filters_only)
		return query_args_read(&m->query, &m->columns, o, pss, users, code);
	query_args_set(&m->query, QUERY_SORT, "rss", NULL, code);
	return query_args_filter(&m->query, o, m->pids, users, code);
}

/* A wrong option is told before anything is opened. */
static int read_query_first(struct measure *m)
{
	const struct user_names users = {.table = m->options->users ? user_table_new() : NULL};
	int r;

	if (m->options->users && !users.table)
		return log_error("starting: out of memory");
	r = read_query(m, &users);
	user_table_free(users.table);
	return r;
}

struct user_names measure_users(struct measure *m)
{
	return (struct user_names){m->collector.users, &m->replay};
}

/* The query is read when the recording is open: it names the users. */
static int open_replay(struct measure *m, struct collect_spec *spec)
{
	const struct options *o = m->options;
	struct user_names users;
	int r = replay_open(&m->replay, o->replay, o->quiet);

	if (r)
		return r;
	spec->recording = m->replay.reader;
	collector_open(&m->collector, spec);
	/* Of several frames the last is shown, unless all are. */
	r = measure_turn_to(m, o->continuous ? 1 : m->replay.frames);
	if (r)
		return r;
	if (o->verbose)
		log_notice(false, "%s: recorded by zmem-bpf %s", o->replay,
			   recording_reader_info(m->replay.reader)->tool);
	users = measure_users(m);
	return read_query(m, &users);
}

static int open_machine(struct measure *m, const struct collect_spec *spec)
{
	int r = read_query_first(m);

	return r ? r
		 : notices_opened(&m->notices, &m->collector, collector_open(&m->collector, spec));
}

static int open_collector(struct measure *m, const struct collect_spec *asked)
{
	const struct options *o = m->options;
	struct collect_spec spec = *asked;
	int r = o->replay ? open_replay(m, &spec) : open_machine(m, &spec);

	return r ? r
		 : secure_loaded(o->output ? o->output : o->file, spec.continuous && !o->no_lock);
}

int measure_open(struct measure *m, const struct options *o, const struct collect_spec *spec)
{
	*m = MEASURE_CLOSED;
	m->options = m->notices.options = o;
	return open_collector(m, spec);
}

int measure_open_filters(struct measure *m, const struct options *o,
			 const struct collect_spec *spec, const char *pids)
{
	*m = MEASURE_CLOSED;
	m->options = m->notices.options = o;
	m->filters_only = true;
	m->pids = pids;
	return open_collector(m, spec);
}

int measure_turn_to(struct measure *m, uint32_t frame)
{
	char why[RECORDING_WHY];

	return collector_load_frame(&m->collector, frame - 1, why) < 0
		       ? log_error("%s: %s", m->options->replay, why)
		       : 0;
}

void measure_note_frame(const struct measure *m)
{
	if (m->replay.frames > 1)
		log_notice(m->options->quiet, "%s: frame %u of %u", m->options->replay,
			   m->replay.frames, m->replay.frames);
}

static int finish(struct measure *m, int r)
{
	notices_collected(&m->notices, &m->collector);
	return r < 0 ? notices_failed(&m->collector, r) : 0;
}

int measure_begin(struct measure *m)
{
	return finish(m, collector_begin(&m->collector, &m->query));
}

int measure_collect(struct measure *m, struct result *ret)
{
	return finish(m, collector_collect(&m->collector, &m->query, ret));
}

int measure_requery(struct measure *m, bool filter_changed, struct result *ret)
{
	int r = collector_requery(&m->collector, &m->query, filter_changed, ret);

	if (r < 0 && r != -E2BIG)
		return log_errno(r, "making rows");
	return finish(m, r);
}

void measure_close(struct measure *m)
{
	if (m->collector.pool) {
		collector_note_alone(&m->collector);
		notices_alone(&m->notices, &m->collector);
	}
	collector_close(&m->collector);
	query_done(&m->query);
	replay_close(&m->replay);
}
