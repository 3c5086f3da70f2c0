// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Measures as the options ask, and completes each snapshot as it is recorded. */
#include "recorder/recorder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "collect/collect_rows.h"
#include "model/ram.h"
#include "session/log.h"
#include "session/query_args.h"

/* A census takes longer than most snapshots, and its classes change slowly. */
#define CENSUS_EVERY 10

void recorder_close(struct recorder *r)
{
	recording_writer_done(&r->writer);
	process_list_done(&r->all);
	ended_watch_close(r->ended);
	session_close(&r->session);
	output_close(&r->file);
}

struct recording_options recorder_options(const struct options *o)
{
	return (struct recording_options){
		.tool = ZMEM_VERSION,
		.flags = options_columns_need(o) & NEEDS_CMDLINE ? RECORDING_CMDLINES : 0,
	};
}

/* It takes six for good, and more while it loads. */
#define ENDED_FILES 64

/* Without it there are snapshots alone. */
static void watch_ended(struct recorder *r, const struct options *o)
{
	cleanup(diag_clear) struct diag diag = {};
	struct rlimit files = {};
	int err = o->source == SOURCE_PROC || o->pinned ? -ENOTSUP : 0;

	/* One snapshot has none before it. */
	if (o->no_ended || r->selects || (!o->keep && o->count <= 1))
		return;
	if (err == 0 && (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_cur < ENDED_FILES))
		err = -EMFILE;
	if (err == 0)
		err = ended_watch_open(&diag, &r->ended);
	if (err < 0 && o->keep)
		log_notice(o->quiet, "peaks of processes that ended are not recorded: %s",
			   o->source == SOURCE_PROC ? "with --source proc no BPF program is loaded"
			   : o->pinned		    ? "with --pinned no BPF program is loaded"
						    : diag_reason(&diag, err));
}

void recorder_turn_ended(struct recorder *r)
{
	if (r->ended)
		ended_watch_turn(r->ended);
}

const struct ended_processes *recorder_read_ended(struct recorder *r)
{
	const struct ended_processes *ended = NULL;
	int err = r->ended ? ended_watch_read(r->ended, &ended) : 0;

	/* Until Linux 5.18, maps can be read with CAP_BPF alone where others may not use BPF. */
	if (err < 0 && err != -EAGAIN && err != -ENOMEM) {
		log_notice(r->options.quiet, "peaks of processes that ended are not recorded: %s",
			   strerror(-err));
		ended_watch_close(r->ended);
		r->ended = NULL;
	}
	return ended;
}

void recorder_keep_ended(struct recorder *r)
{
	if (r->ended)
		ended_watch_keep(r->ended);
}

int recorder_open(struct recorder *r, const struct options *o)
{
	struct collect_spec spec = session_spec(o);

	/* All names that any format shows. */
	spec.names = NEEDS_USER | NEEDS_CGROUP | NEEDS_PROGRAM | NEEDS_APP;
	spec.ram = RAM_SUMS;
	spec.waits = o->keep || o->count > 1;
	/* Names of files are private, as check_rights() of files has it. */
	spec.shared_files = o->keep && !getauxval(AT_SECURE);
	r->selects = query_args_selection(o, r->selection, sizeof(r->selection));
	watch_ended(r, o);
	return session_open(&r->session, &r->options, &spec);
}

int recorder_collect(struct recorder *r, struct result *ret)
{
	struct collector *c = &r->session.collector;
	const struct ram *ram;
	int err;

	c->spec.ram = r->census_in ? RAM_UNASKED : RAM_SUMS;
	recorder_turn_ended(r);
	err = session_collect(&r->session, ret);
	if (err)
		return err;
	c->snapshot.system.ended = recorder_read_ended(r);
	ram = c->snapshot.system.ram;
	if (ram_is_counted(ram) && ram->taken_ms != r->census_ms) {
		r->census_ms = ram->taken_ms;
		r->census_in = CENSUS_EVERY;
	} else {
		/* The census was not due yet: it is in another snapshot. */
		c->snapshot.system.ram = NULL;
	}
	r->census_in -= r->census_in > 0;
	err = session_read_memcgs(&r->session, !r->session.options->keep ? MEMCGS_DETAILS
					       : r->stalls		 ? MEMCGS_STALLS
									 : MEMCGS_FIGURES);
	return err < 0 ? log_errno(err, "reading memory cgroups") : 0;
}

void recorder_forget_cmdlines(struct recorder *r)
{
	const struct process_list *processes = &r->session.collector.rows.matched;
	const bool keeps = options_columns_need(&r->options) & NEEDS_CMDLINE;

	for (size_t i = 0; !keeps && i < processes->count; i++)
		processes->item[i]->cmdline = NULL;
}

/* Reads the names of processes that are no rows: --pid of a replay may show them. */
static int name_all(struct recorder *r)
{
	struct collector *c = &r->session.collector;
	int err = process_list_reserve(&r->all, c->snapshot.count);

	if (err < 0)
		return err;
	for (size_t i = 0; i < c->snapshot.count; i++)
		r->all.item[r->all.count++] = &c->snapshot.process[i];
	return collect_names(c, &c->snapshot, c->spec.names, 0, &r->all);
}

static int by_place(const void *pa, const void *pb)
{
	const struct process *a = *(struct process *const *)pa, *b = *(struct process *const *)pb;

	return ORDER_OF(a, b);
}

/* Removes the processes that the filters refused from the snapshot. */
static void drop_others(struct collector *c)
{
	struct snapshot *snapshot = &c->snapshot;
	struct process_list *chosen = &c->rows.matched;

	qsort(chosen->item, chosen->count, sizeof(*chosen->item), by_place);
	for (size_t i = 0; i < chosen->count; i++)
		snapshot->process[i] = *chosen->item[i];
	snapshot->count = chosen->count;
	chosen->count = 0;
}

int recorder_complete(struct recorder *r)
{
	struct collector *c = &r->session.collector;
	int err = 0;

	c->snapshot.selection = r->selects ? r->selection : NULL;
	if (r->selects)
		drop_others(c);
	else
		err = name_all(r);
	return err;
}
