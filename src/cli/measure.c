// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Fills in spec and query from the options, and says what the collector noticed. */
#include "cli/measure.h"

#include <errno.h>
#include <string.h>

#include "cli/log.h"
#include "cli/query_args.h"
#include "cli/secure.h"
#include "collect/session_tape.h"

struct collect_spec measure_spec(const struct options *o)
{
	int verify = o->verify;

	/* Of a recording, all that were compared. */
	if (verify == VERIFY_DEFAULT)
		verify = o->replay ? VERIFY_ALL : VERIFY_USUAL;
	return (struct collect_spec){
		.pss = (enum pss_choice)o->pss,
		.source = (enum source_choice)o->source,
		.pin = o->pinned ? PIN_MUST : PIN_MAY,
		/* A command that stays is in no hurry, and leaves the other CPUs alone. */
		.readers = o->continuous ? 1 : 0,
		.continuous = o->continuous,
		.verify = verify,
	};
}

static int read_query(struct measure *m, struct user_table *users)
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
	struct user_table *users = m->options->users ? user_table_new() : NULL;
	int r;

	if (m->options->users && !users)
		return log_error("starting: out of memory");
	r = read_query(m, users);
	user_table_free(users);
	return r;
}

static int open_replay(struct measure *m)
{
	int r = replay_open(&m->replay, m->options->replay);

	return r ? r : replay_turn_to(&m->replay, 0, "session");
}

static int open_collector(struct measure *m, const struct collect_spec *asked)
{
	const struct options *o = m->options;
	struct collect_spec spec = *asked;
	int r = o->replay ? open_replay(m) : read_query_first(m);

	if (r)
		return r;
	if (o->replay)
		spec.tape = m->replay.tape;
	r = notices_opened(&m->notices, &m->collector, collector_open(&m->collector, &spec));
	/* Users of a recording are those that it names. */
	if (r == 0 && o->replay)
		r = measure_turn_to(m, m->replay.recording.frames);
	if (r == 0 && o->replay)
		r = read_query(m, m->collector.users);
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
	bool compares = strcmp(m->options->command, "compare") == 0;
	int r = replay_turn_to(&m->replay, frame, compares ? CHAPTER_COMPARE : CHAPTER_SNAPSHOT);

	if (r == 0)
		user_table_play(m->collector.users, m->replay.tape);
	return r;
}

int measure_turn_to_last(struct measure *m)
{
	uint32_t frames = m->replay.recording.frames;

	if (!m->options->replay)
		return 0;
	if (frames > 1)
		log_notice(m->options->quiet, "%s: frame %u of %u", m->options->replay, frames,
			   frames);
	return measure_turn_to(m, frames);
}

static int finish(struct measure *m, int r)
{
	notices_collected(&m->notices, &m->collector);
	return r < 0 ? notices_failed(&m->notices, &m->collector, r) : 0;
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
