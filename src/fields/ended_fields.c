// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "fields/ended_fields.h"

#include "fields/define.h"

#define NAME_BYTES .max = {1024}

const struct ended_processes ended_unknown;

#define ROW const struct ended_row *r = row

JSON_FIELD(name, "name", TEXT, value_text(r->name), "as COMM of the process", NAME_BYTES,
	   .flags = FIELD_KNOWN);
JSON_KNOWN(count, "count", AMOUNT, value_unsigned(true, r->count), "processes");
JSON_KNOWN(peak, "peak_bytes", BYTES, value_bytes(true, r->peak),
	   "the highest resident memory that one of them had since its exec");
JSON_FIELD(cgroup, "cgroup", TEXT, value_text(r->cgroup),
	   "the path of their cgroup, which may be deleted by now. Null if it is not known",
	   NAME_BYTES);
static FIELDS(rows, &field_name, &field_count, &field_peak, &field_cgroup);

#undef ROW
#define ROW const struct ended_processes *r = row

ROWS(ended, "ended", &rows, struct ended_row, r->over_ms, r->row, r->count,
     "the processes that ended, by name and cgroup, the highest peak first. Null if the recording "
     "does not have them",
     0);
JSON_FIELD(over, "ended_ms", AMOUNT, value_unsigned(r->over_ms, r->over_ms),
	   "the time in which they ended, as far as it was recorded");
JSON_FIELD(all, "ended_count", AMOUNT, value_unsigned(r->over_ms, ended_count(r)),
	   "all processes that ended in this time");
JSON_FIELD(others, "ended_other_count", AMOUNT, value_unsigned(r->over_ms, r->others),
	   "of them those in no row: with a peak below 4 MiB, or behind the 32 highest");
JSON_FIELD(others_peak, "ended_other_peak_bytes", BYTES,
	   value_bytes(r->over_ms && r->others, r->others_peak),
	   "the highest peak of those. Null if there are none");
JSON_FIELD(missed, "ended_missed_count", AMOUNT, value_unsigned(r->over_ms, r->missed),
	   "ends of threads that were not looked at. Mostly 0");
FIELDS(ended_fields, &field_ended, &field_over, &field_all, &field_others, &field_others_peak,
       &field_missed);

#define LINE_ROWS 3
ROWS(highest, "highest", &rows, struct ended_row, true, r->row,
     r->count < LINE_ROWS ? r->count : LINE_ROWS, "", 0);
static FIELDS(line, &field_highest);

SENTENCES(ended_line, &ended_fields, &line,
	  "ended in the {ended_ms} before: {ended_count} process{es}"
	  "[, highest peaks {highest: {name} {peak_bytes}}]");
#define OF_THEM "[{!ended_count}no process||{ended_count+} process{es} (highest peak; processes):]"
SENTENCES(ended_before_said, &ended_fields, NULL, "  ended in the {ended_ms} before: " OF_THEM);
SENTENCES(ended_between_said, &ended_fields, NULL,
	  "began and ended, or ended, between the two (recorded: {ended_ms}): " OF_THEM);
SENTENCES(ended_missed_said, &ended_fields, NULL,
	  "    not looked at: {ended_missed_count+} thread{s} that ended");
