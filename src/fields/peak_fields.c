// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The fields of the peak of a command. */
#include "fields/peak_fields.h"

#include "fields/define.h"

static const char *peak_method_name(enum peak_method method)
{
	return method == PEAK_EXACT ? "exact" : "sample";
}

/* ---- processes ---- */

#define NAME_MAX_BYTES .max = {96}, .max_hex = {16}, .flags = FIELD_HEX
#define ROW	       const struct peak_process *r = row

static bool has_memory_at_peak(const void *row, const void *of)
{
	ROW;

	(void)of;
	return r->at.rss || r->at.swap;
}

COLUMN_AS(at_peak, "at_peak", "rss_bytes", "AT_PEAK", BYTES, value_bytes(true, r->at.rss),
	  "RSS at the peak of all", .flags = FIELD_KNOWN);
COLUMN_AS(swap, "swap", "swap_bytes", "SWAP", BYTES, value_bytes(true, r->at.swap),
	  "swap entries then", .flags = FIELD_KNOWN);
COLUMN_AS(pss, "pss", "pss_bytes", "PSS", BYTES, value_bytes(r->pss_known, r->pss),
	  "PSS at peak.pss_offset_us. Null if it was not read then");
COLUMN_AS(peak, "peak", "peak_bytes", "PEAK", BYTES, value_bytes(!r->shared, r->most),
	  "the highest RSS of its own. Null if its memory was always that of its parent (vfork), "
	  "or no sample met it");
COLUMN_AS(pid, "pid", "pid", "PID", NUMBER, value_signed(true, r->pid), "process id",
	  .flags = FIELD_KNOWN);
COLUMN_AS(ppid, "ppid", "ppid", "PPID", NUMBER, value_signed(true, r->ppid),
	  "the process that forked it; 0: not known", .flags = FIELD_KNOWN);
COLUMN_AS(name, "name", "name", "NAME", TEXT, value_text(r->name), "comm", NAME_MAX_BYTES);
FIELDS(peak_columns, &field_at_peak, &field_swap, &field_pss, &field_peak, &field_pid, &field_ppid,
       &field_name);
static FIELDS(holders, &field_pid, &field_name, &field_at_peak, &field_swap, &field_pss);
static FIELDS(processes, &field_pid, &field_ppid, &field_name, &field_peak);

/* ---- the curve ---- */

#undef ROW
#define ROW const struct peak_point *r = row

JSON_KNOWN(point_offset, "offset_us", AMOUNT, value_unsigned(true, r->offset_us),
	   "since the beginning");
JSON_KNOWN(point_rss, "rss_bytes", BYTES, value_bytes(true, r->rss),
	   "the highest sum since the item before");
static FIELDS(points, &field_point_offset, &field_point_rss);

/* ---- the peak, and the document ---- */

#undef ROW
#define ROW const struct peak *r = row

JSON_FIELD(time, "time_ms", TIME, value_signed(!r->unseen, r->time_ms),
	   "when it was, since the epoch. Null, as the next ones, if no sample met any memory");
JSON_FIELD(offset, "offset_us", AMOUNT, value_unsigned(!r->unseen, r->offset_us),
	   "the same since the beginning");
JSON_FIELD(rss, "rss_bytes", BYTES, value_bytes(!r->unseen, r->at.rss),
	   "the sum of RSS; memory of processes that share an address space is once in it, pages "
	   "that several address spaces map are in it for each");
JSON_FIELD(anon, "rss_anon_bytes", BYTES, value_bytes(!r->unseen, r->at.anon),
	   "the anonymous part");
JSON_FIELD(file, "rss_file_bytes", BYTES, value_bytes(!r->unseen, r->at.file), "pages of files");
JSON_FIELD(shmem, "rss_shmem_bytes", BYTES, value_bytes(!r->unseen, r->at.shmem),
	   "shared memory and tmpfs");
JSON_FIELD(swapped, "swap_bytes", BYTES, value_bytes(!r->unseen, r->at.swap),
	   "swap entries at that moment, which are not in rss_bytes");
JSON_FIELD(error, "error_bytes", BYTES, value_bytes(r->error_known, r->error),
	   "how far rss_bytes may be off: before Linux 6.2 each thread holds back up to 63 pages. "
	   "Null of samples: they may have missed any peak");
JSON_FIELD(held_by, "processes_count", AMOUNT, value_unsigned(!r->unseen, r->held_by),
	   "processes that were there");
JSON_FIELD(all_pss, "pss_bytes", BYTES, value_bytes(r->pss_known, r->pss),
	   "PSS of all, read at the highest sum that was met");
JSON_FIELD(pss_offset, "pss_offset_us", AMOUNT, value_unsigned(r->pss_known, r->pss_offset_us),
	   "when that was");
JSON_FIELD(pss_rss, "pss_rss_bytes", BYTES, value_bytes(r->pss_known, r->pss_rss),
	   "the sum of RSS at that moment");
JSON_FIELD(pss_reason, "pss_reason", TEXT, value_text(r->pss_reason),
	   "why there is no PSS. Null if there is");
ROWS(holders, "processes", &holders, struct peak_process, true, r->process, r->processes,
     "those that held memory then, the largest first", FIELD_KNOWN | FIELD_LINES | FIELD_END_LINE,
     .shown = has_memory_at_peak);
static FIELDS(peak, &field_time, &field_offset, &field_rss, &field_anon, &field_file, &field_shmem,
	      &field_swapped, &field_error, &field_held_by, &field_all_pss, &field_pss_offset,
	      &field_pss_rss, &field_pss_reason, &field_holders);

JSON_FIELD(exit_code, "exit_code", NUMBER, value_signed(r->exit_code >= 0, r->exit_code),
	   "of the command, 128 + the signal if it was killed. Null without a command");
JSON_FIELD(killed_by, "signal", NUMBER, value_signed(r->signal, r->signal),
	   "that killed the command");
JSON_KNOWN(duration, "duration_us", AMOUNT, value_unsigned(true, r->duration_us),
	   "from the beginning to the end");
JSON_KNOWN(
	method, "method", TEXT, value_text(peak_method_name(r->method)),
	"exact: each change of a counter was added when it was made. sample: /proc was read again "
	"and again");
JSON_FIELD(interval, "interval_us", AMOUNT,
	   value_unsigned(r->method == PEAK_SAMPLE, r->interval_us),
	   "between samples. Null if it is exact");
JSON_KNOWN(all, "processes_count", AMOUNT, value_unsigned(true, r->all),
	   "all processes, those with a row and those without one");
JSON_KNOWN(still, "processes_left", AMOUNT, value_unsigned(true, r->still),
	   "those that ran on when it ended");
JSON_KNOWN(no_room, "without_room", AMOUNT, value_unsigned(true, r->no_room),
	   "address spaces that are not in the sum, because there were too many at once");
JSON_KNOWN(lost, "lost_messages", AMOUNT, value_unsigned(true, r->lost),
	   "processes of which only the sum tells");
JSON_KNOWN(missed, "missed_events", AMOUNT, value_unsigned(true, r->missed),
	   "changes that came within another one on the same CPU: the next change there has them");
OBJECT(peak_of_all, "peak", &peak, r, "the highest sum, and what held it");
ROWS(processes, "processes", &processes, struct peak_process, true, r->process, r->processes,
     "at most 4,096, those with the highest peaks; the largest part of the peak of all first",
     FIELD_KNOWN | FIELD_LINES | FIELD_END_LINE);
ROWS(points, "history", &points, struct peak_point, true, r->point, r->points,
     "the curve: at most 1,000 items, none of which hides a higher sum", FIELD_KNOWN);
FIELDS(peak_document, &field_exit_code, &field_killed_by, &field_duration, &field_method,
       &field_interval, &field_all, &field_still, &field_no_room, &field_lost, &field_missed,
       &field_peak_of_all, &field_processes, &field_points);
