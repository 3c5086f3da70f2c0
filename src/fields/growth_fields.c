// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The fields of growth by stack. */
#include "fields/growth_fields.h"

#include "fields/define.h"

#define NAME_MAX_BYTES .max = {1024}, .max_hex = {1024}, .flags = FIELD_HEX

/* ---- counters ---- */

#define ROW const int64_t *r = row

KEY(anon, "anon_bytes", CHANGE, value_number(true, r[GROWTH_ANON]), "RssAnon");
KEY(file, "file_bytes", CHANGE, value_number(true, r[GROWTH_FILE]), "RssFile");
KEY(shmem, "shmem_bytes", CHANGE, value_number(true, r[GROWTH_SHMEM]), "RssShmem");
KEY(swap, "swap_bytes", CHANGE, value_number(true, r[GROWTH_SWAP]), "VmSwap");
FIELDS(growth_counters, &field_anon, &field_file, &field_shmem, &field_swap);

/* ---- frames, by their numbers ---- */

#undef ROW
#define ROW                                                                                        \
	const struct growth_rows *rows = of;                                                       \
	const struct growth_frame *r = &rows->growth->frame[*(const uint32_t *)row]

KEY(function, "function", TEXT, value_text(r->name),
    "null: no function is known that contains the address", NAME_MAX_BYTES);
KEY(module, "module", TEXT, value_text(r->module),
    "the last component of the file; null: in no file", NAME_MAX_BYTES);
KEY(offset, "offset", NUMBER, value_amount(true, r->offset),
    "of the function, or of an address without a name: in the file's own terms; without a file "
    "the address");
KEY(allocator, "allocator", BOOL, value_bool(true, r->allocator),
    "of an allocator, or of the C library");
static FIELDS(frames, &field_function, &field_module, &field_offset, &field_allocator);

/* ---- stacks, and rows of the table ---- */

#undef ROW
#define ROW                                                                                        \
	const struct growth_rows *rows = of;                                                       \
	const struct growth_stack *r = row;                                                        \
	(void)rows

static struct value share_of(int64_t net, int64_t grown)
{
	return (struct value){.known = net > 0,
			      .percent = net > 0 ? 100.0 * (double)net / (double)grown : 0};
}

COLUMN(net, "net_bytes", "GROWTH", CHANGE, value_number(true, growth_sum(r->net)),
       "over all counters");
COLUMN(share, "share", "SHARE", PERCENT, share_of(growth_sum(r->net), rows->grown),
       "its share of what the rows grew that grew");
COLUMN(recent, "recent_bytes", "PER_S", CHANGE, value_number(true, r->recent),
       "net, since the last report", .flags = FIELD_SINCE);
COLUMN(gross, "gross_bytes", "ADDED", BYTES, value_bytes(true, r->gross),
       "what was added, without what was given back");
COLUMN(resident, "resident_bytes", "STILL", BYTES,
       value_bytes(rows->growth->resident_known, r->resident),
       "of the pages that were added those that are in RAM or swap now; null: not known");
COLUMN(code, "code", "CODE", TEXT, value_text(rows->code), "the place, and its callers");
KEY(changes, "changes", AMOUNT, value_amount(true, r->changes), "how often it added or gave back");
OBJECT(by_counter, "net", &growth_counters, r->net, "by counter");
KEY(truncated, "truncated", BOOL, value_bool(true, r->truncated),
    "there are callers that are not in frames");
ROWS(frames, "frames", &frames, uint32_t, true, r->frame, r->frames, "the innermost first");
static FIELDS(stacks, &field_net, &field_gross, &field_resident, &field_recent, &field_changes,
	      &field_by_counter, &field_truncated, &field_frames);
FIELDS(growth_columns, &field_net, &field_share, &field_recent, &field_gross, &field_resident,
       &field_code);

/* ---- processes ---- */

#undef ROW
#define ROW const struct growth_target *r = row

KEY(pid, "pid", NUMBER, value_number(true, r->pid), "process id");
KEY(name, "name", TEXT, value_text(r->name), "program", NAME_MAX_BYTES);
KEY(ended, "ended", BOOL, value_bool(true, r->ended), "whether it ended before the report");
KEY(execs, "execs", AMOUNT, value_number(true, r->execs),
    "how often it executed another program meanwhile");
static FIELDS(processes, &field_pid, &field_name, &field_ended, &field_execs);

/* ---- moments ---- */

#undef ROW
#define ROW const struct growth_point *r = row

KEY(time, "time_ms", TIME, value_number(true, r->time_ms), "since the epoch");
KEY(point_anon, "anon_bytes", CHANGE, value_number(true, r->net[GROWTH_ANON]), "RssAnon");
KEY(point_file, "file_bytes", CHANGE, value_number(true, r->net[GROWTH_FILE]), "RssFile");
KEY(point_shmem, "shmem_bytes", CHANGE, value_number(true, r->net[GROWTH_SHMEM]), "RssShmem");
KEY(point_swap, "swap_bytes", CHANGE, value_number(true, r->net[GROWTH_SWAP]), "VmSwap");
static FIELDS(points, &field_time, &field_point_anon, &field_point_file, &field_point_shmem,
	      &field_point_swap);

/* ---- the document ---- */

#undef ROW
#define ROW const struct growth *r = row

KEY(start, "start_ms", TIME, value_number(true, r->start_ms), "since the epoch");
KEY(duration, "duration_us", AMOUNT, value_amount(true, r->duration_us), "since the beginning");
KEY(recently, "recent_us", AMOUNT, value_amount(true, r->recent_us), "since the last report");
KEY(mode, "stacks_by", TEXT, value_text(growth_mode_name(r->mode)),
    "by tables of the programs or by frame pointers");
ROWS(processes, "processes", &processes, struct growth_target, true, r->target, r->targets,
     "those whose memory was counted", .flags = FIELD_LINES | FIELD_END_LINE);
KEY(no_room, "processes_without_room", AMOUNT, value_amount(true, r->no_room),
    "processes that could not be counted");
static FIELDS(target, &field_start, &field_duration, &field_recently, &field_mode, &field_processes,
	      &field_no_room);

#define LEFT_OUT(reason) value_amount(true, r->names_left_out[GROWTH_OUT_##reason])
KEY(timeout, "timeout", AMOUNT, LEFT_OUT(TIMEOUT),
    "the file, or the process, did not answer in time");
KEY(denied, "denied", AMOUNT, LEFT_OUT(DENIED), "the user of the process may not read the file");
KEY(limit, "limit", AMOUNT, LEFT_OUT(LIMIT), "the file or the name costs too much time or memory");
KEY(busy, "busy", AMOUNT, LEFT_OUT(BUSY), "too many files do not answer: no more are tried");
static FIELDS(left_out, &field_timeout, &field_denied, &field_limit, &field_busy);

KEY(change_sum, "counter_change_bytes", CHANGE, value_number(true, growth_sum(r->change)),
    "how the kernel's counters changed, exact");
KEY(stacks_sum, "stacks_bytes", CHANGE, value_number(true, growth_sum(r->accounted)),
    "the sum of net_bytes");
KEY(lost, "lost_events", AMOUNT, value_amount(true, r->lost),
    "changes for whose stacks there was no room: later stacks stand for them, or none");
KEY(events, "events", AMOUNT, value_amount(true, r->events), "changes");
KEY(sampled, "sampled_events", AMOUNT, value_amount(true, r->sampled),
    "changes whose stack was not taken: those of a random sample of pages stand for them");
KEY(sampled_bytes, "sampled_bytes", CHANGE, value_number(true, r->sampled_bytes),
    "the net bytes of changes without a stack, for which other stacks stand");
KEY(each, "every_change", BOOL, value_bool(true, r->each),
    "false before Linux 6.2, where a page fault in 64 is an event");
OBJECT(left_out, "names_left_out", &left_out, r,
       "addresses without a name, by the reason for which their file was not read");
OBJECT(begin, "begin", &growth_counters, r->begin, "the counters at the beginning");
OBJECT(change, "change", &growth_counters, r->change, "since then");
OBJECT(stack_sums, "stacks", &growth_counters, r->accounted, "the sums of all stacks");
static FIELDS(accounted, &field_change_sum, &field_stacks_sum, &field_lost, &field_events,
	      &field_sampled, &field_sampled_bytes, &field_each, &field_left_out, &field_begin,
	      &field_change, &field_stack_sums);

OBJECT(target, "target", &target, r, "the processes, and how long they were watched");
OBJECT(accounted, "accounted", &accounted, r, "whether the stacks explain the counters");
ROWS(points, "history", &points, struct growth_point, true, r->point, r->points,
     "what all stacks have added, less what they gave back, at moments of the run: the first is "
     "its beginning, the last its end");
ROWS(stacks, "stacks", &stacks, struct growth_stack, true, r->stack, r->stacks,
     "the largest net growth first", .flags = FIELD_LINES | FIELD_END_LINE);
FIELDS(growth_document, &field_target, &field_accounted, &field_points, &field_stacks);
