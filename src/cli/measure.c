// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Fills in spec and query from the options, and says what the collector noticed. */
#include "cli/measure.h"

#include <errno.h>

#include "cli/log.h"
#include "cli/query_args.h"
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

static int read_query(struct measure *m)
{
	const struct options *o = m->options;
	struct collector *c = &m->collector;
	int *code = &m->notices.exit_code;
	enum pss_choice pss = o->replay ? c->spec.pss : (enum pss_choice)o->pss;

	if (!m->filters_only)
		return query_args_read(&m->query, &m->columns, o, pss, c, code);
	query_args_set(&m->query, QUERY_SORT, "rss", c, code);
	return query_args_filter(&m->query, o, m->pids, c, code);
}

static int open_replay(struct measure *m, struct collect_spec *spec)
{
	const struct options *o = m->options;
	int r = replay_open(&m->replay, o->replay, o->quiet);

	spec->recording = m->replay.reader;
	if (r == 0)
		r = notices_opened(&m->notices, &m->collector, collector_open(&m->collector, spec));
	if (r)
		return r;
	if (o->verbose)
		log_notice(false, "%s: recorded by zmem-bpf %s", o->replay,
			   recording_reader_info(m->replay.reader)->tool);
	/* Users are those of the recording. */
	return read_query(m);
}

static int open_collector(struct measure *m, const struct collect_spec *asked)
{
	const struct options *o = m->options;
	struct collect_spec spec = *asked;
	int r;

	if (o->replay) {
		r = open_replay(m, &spec);
	} else {
		/* A wrong option is told before anything is opened. */
		r = read_query(m);
		if (r == 0)
			r = notices_opened(&m->notices, &m->collector,
					   collector_open(&m->collector, &spec));
	}
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
	struct collector *c = &m->collector;

	return collector_turn_to(c, frame) < 0 ? log_error("%s: %s", m->replay.path, c->why) : 0;
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
