// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is said of an event: its fields in JSON, and values that only sentences have. */
#include "fields/incident_said.h"

#include <string.h>
#include <time.h>

#include "fields/change_fields.h"
#include "fields/define.h"
#include "fields/incident_fields.h"
#include "model/incident.h"

#define ROW                                                                                        \
	const struct event_record *r = row;                                                        \
	const struct incident *i = of;                                                             \
	(void)i

static bool has_end(const struct incident *i)
{
	return i->end && event_has(i->end, EVENT_ENDED);
}

/* ---- headings ---- */

SAID(lasted_ms, AMOUNT,
     value_signed(has_end(i) && (int64_t)i->end->number[EVENT_ENDED] >= r->time_ms,
		  has_end(i) ? (int64_t)i->end->number[EVENT_ENDED] - r->time_ms : 0));
SAID(no_end, TEXT,
     value_text(has_end(i) ? NULL
		: i->goes_on
			? (i->recorded_now ? "it goes on" : "not over at the end of the recording")
			: "no end was recorded"));
SAID(signal_name, TEXT,
     value_text(event_number(r, EVENT_SIGNAL_NUMBER) == 9 ? "SIGKILL" : "SIGTERM"));
FLAG(several, i->burst.kills > 1);
static FIELDS(heading, &field_lasted_ms, &field_no_end, &field_signal_name, &field_several);

SENTENCES(kill_heading, &incident_kill_fields, NULL,
	  "[event:{number+}  ]OOM kill at {time_ms}[  (event:{id})]");
SENTENCES(signal_heading, &incident_signal_fields, &heading,
	  "{signal_name} at {time_ms}[  (event:{id})]");
SENTENCES(signal_line, &incident_signal_fields, &heading,
	  "[{sender.name|60}||an unknown process] sent {signal_name} to "
	  "[{?several}[{workload}||an unknown cgroup]: {receivers_count} processes"
	  "||[{victim.name|60}||an unknown process][ (PID {victim.pid})]]"
	  "[, {receivers_bytes+}]"
	  "[, and {signals_missed_all+} more that {was/were} only counted]");
#define UNRECORDED "{oom_kills} OOM kill{s} not recorded"
SENTENCES(unrecorded_line, &incident_unrecorded_fields, NULL,
	  UNRECORDED ", {since_ms|16} to then[, in {cgroup}]");
SENTENCES(unrecorded_heading, &incident_unrecorded_fields, NULL,
	  "[event:{number+}  ]" UNRECORDED "[  (event:{id})]");
SENTENCES(unrecorded_said, &incident_unrecorded_fields, NULL,
	  "  between {since_ms} and {time_ms}: no recorder ran, or it could not watch kills",
	  "  all of them were in {cgroup+}");
SENTENCES(no_victim_line, &incident_no_victim_fields, NULL,
	  "no process could be killed[ in {cgroup}]");
SENTENCES(no_victim_heading, &incident_no_victim_fields, NULL,
	  "[event:{number+}  ]no process could be killed[  (event:{id})]");
SENTENCES(no_victim_said, &incident_no_victim_fields, NULL,
	  "  out of memory: {cgroup~}, {times} time{s} or more between {since_ms} and {time_ms}",
	  "  its processes: [{!processes}none, so something else fills it||{processes}[, "
	  "{exempt_processes+} of them with oom_score_adj -1000, which the kernel does not kill: "
	  "{exempt_bytes}]]");
/* A machine that has memory is not short of it: tasks waited for the limit of a cgroup. */
#define SHORTAGE "[{?machine_short}memory was short||tasks [of {cgroup} ]waited for memory]"
SENTENCES(pressure_heading, &incident_pressure_fields, &heading,
	  "[event:{number+}  ]" SHORTAGE
	  "[ for {lasted_ms},] from {time_ms}[  (event:{id})][; {no_end}]");
SENTENCES(pressure_line, &incident_pressure_fields, &heading,
	  SHORTAGE "[ for {lasted_ms}][; {no_end}]");

static bool on_one_day(int64_t a_ms, int64_t b_ms)
{
	const time_t a = a_ms / 1000, b = b_ms / 1000;
	struct tm x, y;

	return localtime_r(&a, &x) && localtime_r(&b, &y) && x.tm_year == y.tm_year &&
	       x.tm_yday == y.tm_yday;
}

SAID(equal_kills, AMOUNT, value_unsigned(i->burst.calls > 1, i->burst.kills));
SAID(equal_missed, AMOUNT, value_unsigned(true, i->burst.missed));
SAID(equal_groups, AMOUNT, value_unsigned(true, i->burst.groups));
SAID(equal_since, TIME, value_signed(true, i->burst.since_ms));
SAID(equal_until, TIME, value_signed(true, i->burst.until_ms));
FLAG(one_day, on_one_day(i->burst.since_ms, i->burst.until_ms));
FLAG(one_minute, i->burst.since_ms / 60000 == i->burst.until_ms / 60000);
static FIELDS(equal, &field_equal_kills, &field_equal_missed, &field_equal_groups,
	      &field_equal_since, &field_equal_until, &field_one_day, &field_one_minute);

SENTENCES(kill_stands_for, &incident_kill_fields, &equal,
	  "[{equal_kills+} kill{s}[ in {equal_groups+} group{s}] "
	  "[{?one_minute}at {equal_until|5}"
	  "||from [{?one_day}{equal_since|5}||{equal_since|16}] to {equal_until|5}]"
	  "[, and {equal_missed+} more that {was/were} only counted]"
	  "||{group_kills+} process{es} killed as a group]");

/* ---- the limit ---- */

static const char *limit_of(const struct event_record *e)
{
	const char *constraint = event_text(e, EVENT_CONSTRAINT);

	return constraint && strcmp(constraint, "none") == 0 ? "the machine's memory" : constraint;
}

/* Part of the kernel's memory that is most of it. */
static uint64_t most_of_kernel(const struct incident *i, enum event_member m)
{
	uint64_t kernel = 0;

	for (size_t n = 0; n < i->charges; n++)
		kernel += i->charge[n].part == PART_KERNEL ? i->charge[n].bytes : 0;
	return event_number(i->event, m) > kernel / 2 ? event_number(i->event, m) : 0;
}

static const struct event_level *swap_level(const struct event_record *e)
{
	const struct event_level *level = event_level_at_limit(e);
	bool shown =
		level && event_number(e, EVENT_V2) && level->swap_usage != EVENT_UNLIMITED &&
		(level->swap_usage || (level->swap_limit && level->swap_limit != EVENT_UNLIMITED));

	return shown ? level : NULL;
}

SAID(limit_of, TEXT, value_text(limit_of(r)));
FLAG(of_swap, event_level_at_limit(r) && event_limit_is_memsw(r, event_level_at_limit(r)));
FLAG(from_counts, event_number(r, EVENT_SOURCE) == EVENT_FROM_COUNTS);
FLAG(from_log, event_has(r, EVENT_SOURCE) && event_number(r, EVENT_SOURCE) == EVENT_FROM_LOG);
/* A limit that was lowered may be far below what is charged. */
static uint64_t usage_above(const struct event_record *e)
{
	const struct event_level *level = event_level_at_limit(e);
	uint64_t usage = level ? event_usage_of(e, level) : 0, limit = event_number(e, EVENT_LIMIT);

	return event_has(e, EVENT_LIMIT) && usage > limit + limit / 16 ? usage : 0;
}

SAID(usage_above, BYTES, value_bytes(true, usage_above(r)));
SAID(swap_usage, BYTES, value_bytes(swap_level(r), swap_level(r) ? swap_level(r)->swap_usage : 0));
SAID(swap_limit, BYTES,
     value_bytes(swap_level(r) && swap_level(r)->swap_limit != EVENT_UNLIMITED,
		 swap_level(r) ? swap_level(r)->swap_limit : 0));

#undef ROW
#define ROW                                                                                        \
	const struct incident_charge *r = row;                                                     \
	const struct incident *i = of;                                                             \
	(void)i
SAID(part, TEXT, value_text(incident_part_name(r->part)));
SAID(bytes, BYTES, value_bytes(true, r->bytes));
FLAG(at_least, incident_is_part(i, r->part));
SAID(page_tables, BYTES,
     value_bytes(r->part == PART_KERNEL, most_of_kernel(i, EVENT_PART_PAGETABLES)));
SAID(slab, BYTES, value_bytes(r->part == PART_KERNEL, most_of_kernel(i, EVENT_PART_SLAB)));
static FIELDS(charge, &field_part, &field_at_least, &field_bytes, &field_page_tables, &field_slab);
#undef ROW
#define ROW                                                                                        \
	const struct event_record *r = row;                                                        \
	const struct incident *i = of;                                                             \
	(void)i
ROWS(charges, "charges", &charge, struct incident_charge, i->charges, i->charge, i->charges, "", 0);
#define FILES_OLD_MS 5000

/* Whether the files are a part of the limit worth naming. */
static bool are_worth(const struct incident *i)
{
	const struct meminfo *m = i->during ? &i->during->system.meminfo : NULL;
	uint64_t limit = incident_short_cgroup(i) ? event_number(i->event, EVENT_LIMIT)
			 : m			  ? m->value[MEMINFO_TOTAL]
						  : 0;
	uint64_t sum = 0;

	for (size_t n = 0; n < i->files; n++)
		sum += i->file[n].resident + i->file[n].swapped;
	return sum && sum >= limit / 16;
}

FLAG(worth, are_worth(i));
FLAG(of_machine, i->files_of_machine);
SAID(files_before_ms, AMOUNT,
     value_signed(r->time_ms - i->files_ms > FILES_OLD_MS, r->time_ms - i->files_ms));
FLAG(after_kill, i->files_ms >= r->time_ms && !incident_is_pressure(i));
#define FILES                                                                                      \
	"{?worth}  files[{?of_machine} of the machine]: "                                          \
	"{files*3: {name|100} {resident_bytes}[ and {swapped_bytes+} in swap]}"                    \
	"[ ({files_before_ms} before)||{?after_kill} (after the kill)]"

static FIELDS(limit, &field_limit_of, &field_of_swap, &field_from_counts, &field_from_log,
	      &field_usage_above, &field_swap_usage, &field_swap_limit, &field_charges,
	      &field_worth, &field_of_machine, &field_files_before_ms, &field_after_kill);

SENTENCES(
	kill_limit_said, &incident_kill_fields, &limit,
	"  limit reached: [{limit_of}[ {cgroup}][ ({limit_owner})]"
	"[, {limit_bytes}[{?of_swap} of memory and swap]"
	"[ (was {limit_before_bytes+} {limit_before_ms} before)]]"
	"[, {usage_above+} in use][{?from_counts} (from memory.events)||{?from_log} (from the kernel's log)]"
	"||not known ({constraint_reason})]",
	"  filled by: {charges: {part}[ {?at_least}at least] {bytes}[ (page tables {page_tables+})|| (slab {slab+})]}"
	"[; swap {swap_usage}[ of {swap_limit}]]",
	FILES);

#undef ROW
#define ROW const struct level_said *r = row
SAID(level_path, TEXT, value_text(r->path));
SAID(level_usage, BYTES, value_bytes(r->level->usage != EVENT_UNLIMITED, r->level->usage));
SAID(level_limit, BYTES, value_bytes(r->level->limit != EVENT_UNLIMITED, r->level->limit));
static FIELDS(level, &field_level_path, &field_level_usage, &field_level_limit);
SENTENCES(kill_level_said, &level, NULL,
	  "  {level_path} uses {level_usage~} of its limit {level_limit}");

/* ---- processes ---- */

#undef ROW
#define ROW                                                                                        \
	const struct event_record *r = row;                                                        \
	const struct incident *i = of;                                                             \
	(void)i

static bool is_listed(const struct event_record *e)
{
	return event_number(e, EVENT_TABLE) || event_number(e, EVENT_LISTED) > 1;
}

/* The table of a kill that is not one of a burst. Frames are recorded in order of time. */
static const char *no_table(const struct incident *i)
{
	const struct event_record *e = i->event;

	if (event_number(e, EVENT_TABLE) || event_number(e, EVENT_LISTED) <= 1 || !i->during)
		return NULL;
	return i->during->time_ms > e->time_ms ? "a later snapshot was recorded before it"
					       : "kills had used up their room in the recording";
}

SAID(container_part, TEXT, value_text(name_of_pod_part(event_text(r, EVENT_CONTAINER))));
SAID(unit_part, TEXT, value_text(name_of_pod_part(event_text(r, EVENT_UNIT))));
SAID(own_limit, BYTES,
     value_bytes(!event_text(r, EVENT_CONSTRAINT) && event_has(r, EVENT_LIMIT),
		 event_number(r, EVENT_LIMIT)));
FLAG(listed, is_listed(r));
FLAG(left_out, is_listed(r) && !event_number(r, EVENT_TABLE));
SAID(no_table, TEXT, value_text(no_table(i)));
FLAG(held_any, event_has(r, EVENT_RSS_ANON) || event_has(r, EVENT_RSS_FILE) ||
		       event_has(r, EVENT_RSS_SHMEM) || event_has(r, EVENT_SWAP) ||
		       event_has(r, EVENT_PGTABLES));
/* Of a whole table there is nothing to say. */
FLAG(partly, !is_listed(r) || !event_number(r, EVENT_TABLE) || event_number(r, EVENT_LOST) ||
		     event_number(r, EVENT_LATE) || event_number(r, EVENT_MISSED));
static bool is_same_cgroup(const struct event_record *e)
{
	const char *cgroup = event_text(e, EVENT_CGROUP),
		   *limit = event_text(e, EVENT_LIMIT_CGROUP);

	return cgroup && limit && strcmp(cgroup, limit) == 0;
}

FLAG(same_cgroup, is_same_cgroup(r));
static FIELDS(victim, &field_same_cgroup, &field_partly, &field_equal_kills, &field_several,
	      &field_held_any, &field_container_part, &field_unit_part, &field_own_limit,
	      &field_listed, &field_left_out, &field_no_table);

#define VICTIM(how)                                                                                \
	"  " how ": {victim.name~|60}[, PID {victim.pid}][, user {victim.user}]"                   \
	"[, oom_score_adj {victim.oom_score_adj}]",                                                \
		"  it held:[, anon {victim.rss_anon_bytes}][, file {victim.rss_file_bytes}]"       \
		"[, shmem {victim.rss_shmem_bytes}][, swap {victim.swap_bytes}]"                   \
		"[, page tables {victim.pgtables_bytes}][{!held_any} not known]",                  \
		"  its cgroup: [{?same_cgroup}the one of the limit||{victim.cgroup~}]"             \
		"[ (container {container_part}[ of pod {victim.pod}])"                             \
		"|| (unit {unit_part}[ of pod {victim.pod}])][ ({victim.cgroup_reason})]"          \
		"[, limit {own_limit}]"

/* What was not read is said, because a table must not hide it. */
SENTENCES(
	kill_victim_said, &incident_kill_fields, &victim,
	"{?equal_kills}  the newest of {equal_kills} kills of this program[ in {workload}], in {span_ms}",
	"  failed allocation: {gfp}[, order {order}]",
	"  killed as a group: {group_kills+} process{es}, of which this one was the first",
	VICTIM("killed"),
	"{?partly}  [{?listed}{processes_recorded} process{es} {was/were} read in the kernel at that moment"
	"||within a second of another kill: only the victim was read]"
	"[; {?left_out}the table of this kill was not recorded[: {no_table}]]"
	"[; {processes_lost+} did not fit the buffer]"
	"[; {?processes_late}[{processes_unread+} other{s} {was/were}"
	"||more than {processes_unread_least+} other{s} {was/were}||others were] not read in time"
	"[ ({processes_earlier+} {has/have} the values of the snapshot before)]]"
	"[; {kills_missed+} earlier kill{s} {has/have} only a count]");

/* Of an unknown process, the recorder saw no PID. */
SENTENCES(
	signal_said, &incident_signal_fields, &victim,
	"  sent by: [{sender.name~|60}, PID {sender.pid}, uid {sender.uid~}||not known (a process "
	"outside of the recorder's PID namespace, or one that ended)][, unit {sender.unit}]"
	"[, container {sender.container}]",
	"{?several}  to [{workload}||an unknown cgroup]: {receivers_count} processes"
	"[, {receivers_bytes}]; the first of them follows",
	"  {signals_missed_all+} more signal{s} {was/were} only counted", VICTIM("received by"));

/* ---- a shortage ---- */

FLAG(stalled, event_number(i->end ? i->end : r, EVENT_CAUSES) & 1);
FLAG(little_ram, event_number(i->end ? i->end : r, EVENT_CAUSES) >> 1 & 1);
FLAG(little_swap, event_number(i->end ? i->end : r, EVENT_CAUSES) >> 2 & 1);
FLAG(read_again, event_number(i->end ? i->end : r, EVENT_CAUSES) >> 3 & 1);
/* At its beginning the last snapshot may be of before. */
static bool worst_is_known(const struct incident *i)
{
	return i->during && i->during->time_ms >= i->event->time_ms;
}

SAID(worst_when, TIME, value_signed(worst_is_known(i), i->during ? i->during->time_ms : 0));
SAID(worst_full, RATIO,
     value_signed(worst_is_known(i) && i->during->system.pressure.known &&
			  i->during->system.pressure.full_avg10,
		  i->during ? i->during->system.pressure.full_avg10 : 0));
static FIELDS(shortage, &field_stalled, &field_little_ram, &field_little_swap, &field_read_again,
	      &field_worst_when, &field_worst_full, &field_worth, &field_of_machine,
	      &field_files_before_ms, &field_after_kill);

SENTENCES(
	pressure_signs_said, &incident_pressure_fields, &shortage,
	"{?causes}  signs:[, {?stalled}tasks waited for memory][, {?little_ram}little RAM was available]"
	"[, {?little_swap}little swap was free][, {?read_again}much was read back (refaults)]",
	"  at the worst[ ({worst_when})]: RAM available {memory_available_least_bytes~}"
	"[, swap free {swap_free_least_bytes}][, PSI full avg10 {worst_full} %]",
	"  highest PSI some avg10: "
	"{stalled_cgroups*5: {kind} {name} {psi_some_avg10_hundredths} %}",
	FILES,
	"  meanwhile: {oom_kills} OOM kill{s}[, some task waited for {stalled_us}]"
	"[, {refaulted_bytes} was read back]");

/* ---- the machine at that time ---- */

SAID(ram, OBJECT, value_row(i->ram.known ? &i->ram : NULL), .fields = &ram_changes_fields);
SAID(where_when, TIME,
     value_signed(i->during && i->where.time_ms < i->during->time_ms, i->where.time_ms));
/* Less explains no shortage. */
#define WORTH(name, member)                                                                        \
	SAID(name, BYTES,                                                                          \
	     value_bytes(i->during && i->where.member >=                                           \
					      i->during->system.meminfo.value[MEMINFO_TOTAL] / 16, \
			 i->where.member))
WORTH(large_pool, pool);
WORTH(large_locked, locked);
FLAG(no_victim, incident_is_no_victim(i));
FLAG(of_cgroup, incident_is_of_cgroup(i));
/* A signal, and a kill of a burst, has the snapshot before it. */
#define THEN_OLD_MS 1000
SAID(then_when, TIME,
     value_signed(i->during && !incident_is_pressure(i) &&
			  r->time_ms - i->during->time_ms >= THEN_OLD_MS,
		  i->during ? i->during->time_ms : 0));
static FIELDS(machine, &field_no_victim, &field_of_cgroup, &field_then_when, &field_ram,
	      &field_where_when, &field_large_pool, &field_large_locked);

SENTENCES(
	incident_machine_said, &incident_fields, &machine,
	"  RAM[ at {then_when}]: {system.memory_total_bytes~}, available {system.memory_available_bytes~}; "
	"[{!system.swap_total_bytes}no swap"
	"||swap {system.swap_used_bytes} of {system.swap_total_bytes}"
	"[, {system.swap_unattributed_bytes+} of no process]||swap not known]"
	"[; zram uses {system.zram_bytes} of RAM]",
	"  RAM use[ at {where_when}]: {where.parts*6: {title} {bytes}}"
	"[; of it no kill frees the pool of huge pages, {large_pool+}]"
	"[; processes have locked {large_locked+} in RAM]",
	"{!no_victim}  exempt from OOM kills (oom_score_adj -1000): {exempt_processes+} process{es}, "
	"{exempt_bytes}",
	"{!of_cgroup}  RAM by class at {ram_time_ms}, change in {ram_span_ms}: "
	"[{ram.large*5: {change_bytes} {title}}||no class changed much]");

/* ---- headings of its tables ---- */

#undef ROW
#define ROW const struct incident_table *r = row
FLAG(cut, r->cut);
SAID(path, TEXT, value_text(r->path));
FLAG(all, r->all);
SAID(by, TEXT, value_text(r->by));
SAID(over_ms, AMOUNT, value_signed(true, r->over_ms));
SAID(before_ms, AMOUNT, value_signed(r->before_ms > 0, r->before_ms));
FLAG(less, r->less);
static FIELDS(tables, &field_cut, &field_path, &field_all, &field_by, &field_over_ms,
	      &field_before_ms, &field_less);
/* Of a kill that has no table of its own. */
#define AGE "[, {before_ms} before[{?less}, without those killed since]]"

SENTENCES(
	incident_limited_said, &tables, NULL,
	"  cgroups with processes that reached a limit in the {over_ms} before (kills, limit hits, "
	"high hits):");
SENTENCES(incident_largest_said, &tables, NULL,
	  "  held most[{?cut} of those that were read], by {by}" AGE
	  " (anonymous memory and swap; processes):");
SENTENCES(incident_inside_said, &tables, NULL,
	  "  in {path|60}[, {?cut}of those that were read][, by {by}]" AGE
	  " (anonymous memory and swap; shared memory; processes):");
SENTENCES(incident_unread_said, &tables, NULL,
	  "  in {path|60}: not read (nothing was recorded in the second before the kill)");
SENTENCES(incident_grew_said, &tables, NULL,
	  "  grew[ in {path|60}] in the {over_ms} before[, {?all}which is all that was recorded] "
	  "(anonymous memory and swap; processes):");
