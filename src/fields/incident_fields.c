// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The fields of events, and of what held the memory then. */
#include "fields/incident_fields.h"

#include <string.h>

#include "base/parse.h"
#include "fields/change_fields.h"
#include "fields/define.h"
#include "model/account.h"
#include "model/incident.h"

#define NAME_MAX_BYTES .max = {1024}
#define GROUPS_MAX     10
#define POINT_GROUPS   12

static size_t at_most(size_t count, size_t most)
{
	return count < most ? count : most;
}

/* ---- groups of processes ---- */

#define ROW const struct group_change *r = row

JSON_FIELD(group, "group", TEXT, value_text(r->group), "null: processes without it",
	   NAME_MAX_BYTES);
JSON_FIELD(procs, "procs", AMOUNT, value_signed(true, r->procs_after), "its processes");
JSON_FIELD(held, "anon_swap_bytes", BYTES, value_bytes(true, r->after),
	   "anonymous memory in RAM, and swap");
JSON_FIELD(missing, "missing_processes", AMOUNT, value_signed(true, r->missing),
	   "processes with counters that were not read");
static FIELDS(sizes, &field_group, &field_procs, &field_held, &field_missing);

/* The keys of groups by several columns. They have columns of their own in the incident alone. */
static struct value key_of(const struct incident *i, const struct group_change *r, const char *key,
			   const char *text)
{
	bool several = i && i->group_by && strchr(i->group_by, ',');

	return value_text(several && r->member && parse_has_item(i->group_by, key) ? text : NULL);
}

#define KEY(name, json, text)                                                                      \
	JSON_FIELD(name, json, TEXT, key_of(of, r, json, r->member ? (text) : NULL),               \
		   "of groups by several columns", .flags = FIELD_OPTIONAL, NAME_MAX_BYTES)
KEY(key_name, "name", r->member->name);
KEY(key_app, "app", r->member->app);
KEY(key_cmdline, "cmdline", r->member->cmdline);
KEY(key_user, "user", r->member->user);
KEY(key_unit, "unit", r->member->unit);
KEY(key_container, "container", name_of_pod_part(r->member->container));
KEY(key_pod, "pod", name_of_pod_part(r->member->pod));
KEY(key_namespace, "namespace", r->member->namespace);
KEY(key_cgroup, "cgroup", r->member->cgroup);
#define KEYS                                                                                       \
	&field_key_name, &field_key_app, &field_key_cmdline, &field_key_user, &field_key_unit,     \
		&field_key_container, &field_key_pod, &field_key_namespace, &field_key_cgroup
static FIELDS(sizes_asked, &field_group, KEYS, &field_procs, &field_held, &field_missing);

JSON_FIELD(before, "before_bytes", BYTES, value_bytes(true, r->before),
	   "at the beginning of that time");
JSON_FIELD(after, "after_bytes", BYTES, value_bytes(true, r->after), "at its end");
JSON_FIELD(change, "change_bytes", CHANGE, value_signed(true, group_change_of(r)), "above 0");
static FIELDS(growths, &field_group, KEYS, &field_procs, &field_before, &field_after, &field_change,
	      &field_missing);

JSON_FIELD(shown_name, "name", TEXT, value_text(r->group ? r->group : "(none)"), "program",
	   NAME_MAX_BYTES);
JSON_FIELD(shown_bytes, "bytes", BYTES, value_bytes(true, r->after),
	   "anonymous memory in RAM, and swap");
static FIELDS(shown, &field_shown_name, &field_shown_bytes);

/* ---- cgroups that reached a limit ---- */

#undef ROW
#define ROW const struct limit_events *r = row

JSON_FIELD(limited, "cgroup", TEXT, value_text(r->cgroup), "its path", NAME_MAX_BYTES,
	   .flags = FIELD_KNOWN);
JSON_FIELD(killed, "oom_kills", AMOUNT, value_unsigned(true, r->oom_kills),
	   "processes that were killed in it or below it");
JSON_FIELD(max, "max", AMOUNT, value_unsigned(true, r->max), "how often its limit was reached");
JSON_FIELD(high, "high", AMOUNT, value_unsigned(true, r->high),
	   "how often memory.high was exceeded. 0 in cgroup v1, which has none");
JSON_KNOWN(since_made, "since_made", BOOL, value_bool(true, r->since_made),
	   "true if the snapshot before does not have it: the counts are those since it was made");
static FIELDS(limited, &field_limited, &field_killed, &field_max, &field_high, &field_since_made);

/* ---- cgroups of which tasks waited ---- */

#undef ROW
#define ROW const struct incident_stall *r = row

JSON_FIELD(waited, "cgroup", TEXT, value_text(r->cgroup), "its path", NAME_MAX_BYTES,
	   .flags = FIELD_KNOWN);
JSON_KNOWN(waited_kind, "kind", TEXT, value_text(r->kind),
	   "what name is of: container, pod, unit or cgroup");
JSON_FIELD(waited_name, "name", TEXT, value_text(r->name), "its name, or the path", NAME_MAX_BYTES,
	   .flags = FIELD_KNOWN);
JSON_KNOWN(waited_some, "psi_some_avg10_hundredths", RATIO, value_unsigned(true, r->some),
	   "the highest share of ten seconds in which some of its tasks waited, in hundredths of a "
	   "percent");
JSON_KNOWN(waited_full, "psi_full_avg10_hundredths", RATIO, value_unsigned(true, r->full),
	   "likewise all of them");
static FIELDS(waited, &field_waited, &field_waited_kind, &field_waited_name, &field_waited_some,
	      &field_waited_full);

/* ---- files of shared memory ---- */

#undef ROW
#define ROW const struct shared_file *r = row

JSON_FIELD(file_name, "name", TEXT, value_text(r->name),
	   "its path, or its name; of a long one the end", NAME_MAX_BYTES, .flags = FIELD_KNOWN);
JSON_KNOWN(file_kind, "kind", TEXT, value_text(file_kind_name(r->kind)), "as of files");
JSON_KNOWN(file_resident, "resident_bytes", BYTES, value_bytes(true, r->resident), "in RAM");
JSON_KNOWN(file_swapped, "swapped_bytes", BYTES, value_bytes(true, r->swapped), "in swap");
JSON_FIELD(file_cgroup, "cgroup", TEXT, value_text(r->cgroup),
	   "the memory cgroup that its last page in RAM is charged to", NAME_MAX_BYTES);
static FIELDS(files, &field_file_name, &field_file_kind, &field_file_resident, &field_file_swapped,
	      &field_file_cgroup);

/* ---- a point of a chart ---- */

#undef ROW
#define ROW const struct snapshot *r = row

static struct value ram_used(const struct snapshot *s)
{
	struct account_sums sums = {};
	bool known = account_sums(&s->system, &sums);

	return value_bytes(known, sums.used);
}

JSON_FIELD(then, "time_ms", TIME, value_signed(true, r->time_ms), "of the snapshot");
JSON_FIELD(swap_used, "swap_used_bytes", BYTES, value_swap_used(r), "SwapTotal less SwapFree");
#define PROGRAMS ((const struct group_changes *)of)
JSON_FIELD(ram_used, "ram_used_bytes", BYTES, ram_used(r),
	   "RAM that is neither free nor can be freed");
ROWS(programs, "groups", &shown, struct group_change, true, PROGRAMS->item,
     at_most(PROGRAMS->count, POINT_GROUPS), "the largest programs", 0);
FIELDS(incident_point_fields, &field_then, &field_ram_used, &field_swap_used, &field_programs);

/* ---- what an incident says of its time ---- */

#undef ROW
#define ROW const struct incident *r = row

JSON_KNOWN(since, "since_ms", TIME, value_signed(true, r->baseline->time_ms),
	   "ten minutes before, or the beginning of the recording");
ROWS(cgroups, "cgroups", &limited, struct limit_events, true, r->limit,
     at_most(r->limits, GROUPS_MAX), "most kills first", FIELD_KNOWN);
static FIELDS(limits, &field_since, &field_cgroups);

#define LARGEST(name, json, key)                                                                   \
	ROWS(name, json, &sizes, struct group_change, true, r->largest[key].item,                  \
	     at_most(r->largest[key].count, GROUPS_MAX), "what held most, most first",             \
	     FIELD_KNOWN)
LARGEST(largest_name, "name", INCIDENT_NAME);
LARGEST(largest_unit, "unit", INCIDENT_UNIT);
LARGEST(largest_container, "container", INCIDENT_CONTAINER);
ROWS(largest_asked, "group", &sizes_asked, struct group_change, r->group_by,
     r->largest[INCIDENT_ASKED].item, at_most(r->largest[INCIDENT_ASKED].count, GROUPS_MAX),
     "with -g: by these columns", FIELD_OPTIONAL);
static FIELDS(largest, &field_largest_name, &field_largest_unit, &field_largest_container,
	      &field_largest_asked);

#undef ROW
#define ROW                                                                                        \
	const struct group_change *r = row;                                                        \
	const struct incident *i = of;                                                             \
	(void)i

JSON_FIELD(shmem, "shmem_bytes", BYTES, value_bytes(true, incident_shmem_of(i, r)),
	   "shared memory that they map; what is shared counts for each");
static FIELDS(inside_sizes, &field_group, KEYS, &field_procs, &field_held, &field_shmem,
	      &field_missing);

#undef ROW
#define ROW const struct incident *r = row
#define LARGEST_INSIDE(name, json, known)                                                          \
	ROWS(name, json, &inside_sizes, struct group_change, known, r->largest_inside.item,        \
	     at_most(r->largest_inside.count, GROUPS_MAX), "what held most, most first",           \
	     FIELD_OPTIONAL)
LARGEST_INSIDE(inside_name, "name", !r->group_by);
LARGEST_INSIDE(inside_asked, "group", r->group_by);
static FIELDS(largest_inside, &field_inside_name, &field_inside_asked);

static size_t count_grown(const struct group_changes *g)
{
	size_t count = 0;

	while (count < at_most(g->count, GROUPS_MAX) && group_change_of(&g->item[count]) > 0)
		count++;
	return count;
}

#define GREW(name, json, of_whom, window)                                                          \
	ROWS(name, json, &growths, struct group_change, r->grew_known[window],                     \
	     r->of_whom[window].item, count_grown(&r->of_whom[window]),                            \
	     "largest growth first. Null if the recording does not reach back that far", 0)
GREW(minute, "1m", grew, INCIDENT_MINUTE);
GREW(ten_minutes, "10m", grew, INCIDENT_TEN_MINUTES);
GREW(hour, "1h", grew, INCIDENT_HOUR);
GREW(recorded_rows, "rows", grew, INCIDENT_RECORDED);
JSON_KNOWN(seconds, "seconds", AMOUNT, value_signed(true, r->recorded_ms / 1000),
	   "since the recording or the machine began");
static FIELDS(recorded_all, &field_seconds, &field_recorded_rows);
#define RECORDED(name, all)                                                                        \
	JSON_FIELD(name, "recorded", OBJECT,                                                       \
		   value_row(r->grew_known[INCIDENT_RECORDED] ? r : NULL),                         \
		   "the same over all that was recorded. Null if an hour was", .fields = &(all))
RECORDED(all_recorded, recorded_all);
static FIELDS(grew, &field_minute, &field_ten_minutes, &field_hour, &field_all_recorded);

GREW(inside_minute, "1m", grew_inside, INCIDENT_MINUTE);
GREW(inside_ten_minutes, "10m", grew_inside, INCIDENT_TEN_MINUTES);
GREW(inside_hour, "1h", grew_inside, INCIDENT_HOUR);
GREW(inside_rows, "rows", grew_inside, INCIDENT_RECORDED);
static FIELDS(recorded_inside, &field_seconds, &field_inside_rows);
RECORDED(inside_recorded, recorded_inside);
static FIELDS(grew_inside, &field_inside_minute, &field_inside_ten_minutes, &field_inside_hour,
	      &field_inside_recorded);

/* ---- events ---- */

#undef ROW
#define ROW                                                                                        \
	const struct event_record *r = row;                                                        \
	const struct incident *i = of;                                                             \
	(void)i

/* NULL: it is not known. */
static struct value amount_of(const struct event_record *e, enum event_member m)
{
	return value_unsigned(e && event_has(e, m), e ? event_number(e, m) : 0);
}

static struct value bytes_of(const struct event_record *e, enum event_member m)
{
	return value_bytes(e && event_has(e, m), e ? event_number(e, m) : 0);
}

static struct value get_member(const struct field *f, const void *row, const void *of)
{
	enum event_member m = (enum event_member)f->counter;

	(void)of;
	return f->type == FIELD_TEXT	? value_text(event_text(row, m))
	       : f->type == FIELD_BYTES ? bytes_of(row, m)
					: amount_of(row, m);
}

/* The members of event.def: field_event_PID and so on. */
#define MEMBER(id, type, key, help, ...)                                                           \
	FIELD_BY(get_member, EVENT_##id, event_##id, NULL, key, NULL, type, help, __VA_ARGS__);
#define EXACT "exact"
#define PARTS                                                                                      \
	"without the parts that CPUs hold back, as the kernel's own lines show it before Linux 7.0"
#define MEMBER_NONE(...)
#define MEMBER_AMOUNT				MEMBER
#define MEMBER_BYTES				MEMBER
#define MEMBER_NUMBER				MEMBER
#define MEMBER_TIME				MEMBER
#define MEMBER_TEXT(...)			MEMBER(__VA_ARGS__, NAME_MAX_BYTES)
#define ZMEM_EVENT(id, number, type, key, help) MEMBER_##type(id, type, key, help)
#include "model/event.def"
#undef ZMEM_EVENT

JSON_FIELD(oom_score_adj, "oom_score_adj", AMOUNT,
	   value_signed(event_has(r, EVENT_OOM_SCORE_ADJ),
			(int64_t)event_number(r, EVENT_OOM_SCORE_ADJ)),
	   "how readily the kernel kills the process");
static FIELDS(victim, &field_event_PID, &field_event_UID, &field_event_USER, &field_event_COMM,
	      &field_event_NAME, &field_event_CGROUP, &field_event_CGROUP_REASON, &field_event_UNIT,
	      &field_event_CONTAINER, &field_event_POD, &field_event_NAMESPACE,
	      &field_oom_score_adj, &field_event_RSS_ANON, &field_event_RSS_FILE,
	      &field_event_RSS_SHMEM, &field_event_SWAP, &field_event_PGTABLES,
	      &field_event_RSS_ANON_COUNT, &field_event_RSS_FILE_COUNT,
	      &field_event_RSS_SHMEM_COUNT, &field_event_SWAP_COUNT);

static const char *constraint_source(const struct event_record *e)
{
	if (!event_text(e, EVENT_CONSTRAINT))
		return NULL;
	switch (event_number(e, EVENT_SOURCE)) {
	case EVENT_FROM_COUNTS:
		return "memory.events";
	case EVENT_FROM_KERNEL:
		return "kernel";
	default:
		return "log";
	}
}

/* Their number, or if they were not counted, those of which it is known. */
static struct value unread(const struct incident *i, bool counted)
{
	uint32_t count;
	bool known = incident_unread(i, &count);

	return value_signed(counted ? known : !known && count, count);
}

JSON_KNOWN(number, "number", NUMBER, value_signed(true, i->number),
	   "the number for --at event:N. 1 is the newest");
JSON_KNOWN(kill, "kind", TEXT, value_text("oom_kill"), "");
JSON_FIELD(time, "time_ms", TIME, value_signed(true, r->time_ms), "since the epoch");
JSON_FIELD(
	constraint_source, "constraint_source", TEXT, value_text(constraint_source(r)),
	"kernel: the call that killed. log: the kernel's log. memory.events: inferred from the counts of "
	"the victim's cgroups");
JSON_FIELD(constraint_reason, "constraint_reason", TEXT,
	   value_text(event_text(r, EVENT_CONSTRAINT) ? NULL : event_no_constraint(r)),
	   "why the constraint is not known");
JSON_FIELD(usage, "usage_bytes", BYTES,
	   value_bytes(event_level_at_limit(r),
		       event_level_at_limit(r) ? event_usage_of(r, event_level_at_limit(r)) : 0),
	   "what was charged to that limit at the moment of the kill");

static FIELDS(filled_by, &field_event_PART_ANON, &field_event_PART_FILE, &field_event_PART_SHMEM,
	      &field_event_PART_KERNEL, &field_event_PART_SLAB, &field_event_PART_PAGETABLES,
	      &field_event_PART_SOCK, &field_event_PART_SWAP, &field_event_PARTS_MS);
JSON_FIELD(
	filled_by, "filled_by", OBJECT, value_row(event_has(r, EVENT_PARTS_MS) ? r : NULL),
	"memory.stat of that cgroup right after the kill, when memory of the victim may have been "
	"freed. Null if it was not read",
	.fields = &filled_by);

#undef ROW
#define ROW const struct incident_charge *r = row
JSON_KNOWN(
	charge_part, "part", TEXT, value_text(incident_part_name(r->part)),
	"other: freed before it was read, or a kind that memory.stat does not have. not read: the same, "
	"or memory of processes that were not read");
JSON_KNOWN(charge_bytes, "bytes", BYTES, value_bytes(true, r->bytes), "of that part");
JSON_KNOWN(charge_least, "at_least", BOOL, value_bool(true, incident_is_part(of, r->part)),
	   "true if it may be more: processes of that cgroup were not read");
static FIELDS(charge, &field_charge_part, &field_charge_bytes, &field_charge_least);

#undef ROW
#define ROW const struct event_level *r = row
#define LEVEL(name, json, member, help)                                                            \
	JSON_FIELD(name, json, BYTES, value_bytes(r->member != EVENT_UNLIMITED, r->member), help)
LEVEL(level_usage, "usage_bytes", usage, "what was charged to it");
LEVEL(level_limit, "limit_bytes", limit, "null: none");
LEVEL(level_swap, "swap_usage_bytes", swap_usage, "swap; in cgroup v1 memory and swap");
LEVEL(level_swap_limit, "swap_limit_bytes", swap_limit, "null: none");
static FIELDS(level, &field_level_usage, &field_level_limit, &field_level_swap,
	      &field_level_swap_limit);

#undef ROW
#define ROW                                                                                        \
	const struct event_record *r = row;                                                        \
	const struct incident *i = of;                                                             \
	(void)i
ROWS(levels, "levels", &level, struct event_level, true, r->level, r->levels,
     "the memory cgroup of the victim and those above it, from the lowest one up to the root, at the "
     "moment of the kill. Empty if they were not read",
     FIELD_KNOWN);
ROWS(charges, "charges", &charge, struct incident_charge, i->charges, i->charge, i->charges,
     "what was charged to that cgroup at its limit, the largest part first: filled_by, and what it "
     "does not have. Null if it is not known",
     0);
OBJECT(victim, "victim", &victim, r, "the process that was killed");
JSON_KNOWN(late, "processes_late", BOOL, value_bool(true, event_number(r, EVENT_LATE)),
	   "true if the time was over before the last process");
JSON_KNOWN(table, "table", BOOL, value_bool(true, event_number(r, EVENT_TABLE)),
	   "true if the recording has the table of that moment, not the victim alone");
JSON_FIELD(
	unread, "processes_unread", AMOUNT, unread(i, true),
	"processes for which there was no time, without zombies. Null if they were not counted, or if "
	"the victim alone was read");
JSON_FIELD(unread_least, "processes_unread_least", AMOUNT, unread(i, false),
	   "if processes_unread is null, there were more than so many. Null: no number is known");
JSON_FIELD(earlier, "processes_earlier", AMOUNT,
	   value_signed(i->during &&event_number(r, EVENT_TABLE),
			i->during ? i->during->collection.earlier : 0),
	   "processes among them that have the values of the snapshot before");
JSON_FIELD(group_kills, "group_kills", AMOUNT,
	   value_unsigned(i->burst.calls == 1 && i->burst.groups, i->burst.kills),
	   "processes that were killed as a group (memory.oom.group), of which this one was the "
	   "first. Null of all others");
JSON_KNOWN(count, "count", AMOUNT, value_unsigned(true, i->burst.kills),
	   "kills that this event stands for in the list: of its group, or of the same program and "
	   "workload, also with others between them. 0: another event stands for it");
JSON_FIELD(span, "span_ms", AMOUNT,
	   value_signed(i->burst.kills > 1, i->burst.until_ms - i->burst.since_ms),
	   "from the first of these kills to the last one. Null of a single one");
JSON_FIELD(
	workload, "workload", TEXT, value_text(i->workload),
	"the pod, container or unit of the victim by its name, a pod without one by its uid, else its "
	"cgroup",
	NAME_MAX_BYTES);
JSON_FIELD(
	limit_before, "limit_before_bytes", BYTES, value_bytes(i->limit_before, i->limit_before),
	"what the limit was before it was lowered, in the newest snapshot of the hour that has a higher "
	"one. Null if there is none");
JSON_FIELD(limit_before_ms, "limit_before_ms", AMOUNT,
	   value_signed(i->limit_before, i->limit_before_ms), "how long before the kill that was");
JSON_FIELD(
	table_age, "table_age_ms", AMOUNT, value_signed(i->during, i->table_age_ms),
	"how much older than the kill the processes are: 0 if it has a table of its own. Within a second "
	"they are those of the kill or the snapshot before, without those killed since");
JSON_FIELD(limits, "limits", OBJECT, value_row(i->during && i->baseline ? i : NULL),
	   "cgroups that reached a limit, most kills first. Null if there is no snapshot before",
	   .fields = &limits);
OBJECT(largest, "largest", &largest, i, "the groups that held most, most first");
OBJECT(grew, "grew", &grew, i, "the groups that had grown most over that time");
#define INSIDE(name, json, all, help)                                                              \
	JSON_FIELD(name, json, OBJECT, value_row(incident_has_inside(i) ? i : NULL), help,         \
		   .fields = &(all))
INSIDE(held_inside, "largest_in_cgroup", largest_inside,
       "the programs that held most in the cgroup that reached its limit. Null if it is not known");
INSIDE(grown_inside, "grew_in_cgroup", grew_inside,
       "the programs of that cgroup that had grown most. Null if it is not known");
ROWS(ram, "ram", &change_ram_fields, struct ram_change, i->ram.known, i->ram.item, i->ram.count,
     "the classes of RAM that changed over ten minutes, or since the recording began, the largest "
     "change first. Null without two censuses",
     0);
JSON_FIELD(ram_time, "ram_time_ms", TIME, value_signed(i->ram.known, i->ram.after_ms),
	   "of the second census, which may be after the event");
JSON_FIELD(ram_span, "ram_span_ms", AMOUNT,
	   value_signed(i->ram.known, i->ram.after_ms - i->ram.before_ms),
	   "the time between the two censuses");
JSON_FIELD(machine, "system", OBJECT, value_row(i->during), "the machine then",
	   .fields = &incident_system_fields);
JSON_FIELD(
	where, "where", OBJECT, value_row(i->where.parts ? i : NULL),
	"where the machine's RAM was. Null of a kill for the limit of a cgroup, or if it is not known",
	.fields = &incident_where_fields);
JSON_FIELD(
	exempt, "exempt_processes", AMOUNT, value_unsigned(i->where.exempt_known, i->where.exempt),
	"processes with oom_score_adj -1000, which the kernel does not kill: of the machine; of no_victim "
	"those in the cgroup. Null of a kill for the limit of a cgroup, or if not all were read");
JSON_FIELD(exempt_bytes, "exempt_bytes", BYTES,
	   value_bytes(i->where.exempt_known, i->where.exempt_bytes),
	   "their anonymous memory and swap");
ROWS(files, "files", &files, struct shared_file, i->files_ms, i->file, i->files,
     "the largest files of shared memory and tmpfs of the cgroup that reached its limit, or of the "
     "machine, the largest first. Of the machine, if no cgroup of a file is known. Null if they were "
     "not listed",
     0);
JSON_FIELD(files_time, "files_time_ms", TIME, value_signed(i->files_ms, i->files_ms),
	   "when they were listed");
JSON_FIELD(files_reason, "files_reason", TEXT,
	   value_text(i->files_ms ? NULL : "no list was recorded at that time"),
	   "why they are not known");
#define OF_FILES &field_files, &field_files_time, &field_files_reason

#define OF_KILL                                                                                    \
	&field_kill, &field_time, &field_event_CONSTRAINT, &field_constraint_source,               \
		&field_constraint_reason, &field_event_LIMIT_CGROUP, &field_event_LIMIT,           \
		&field_event_GFP, &field_event_ORDER, &field_usage, &field_event_LIMIT_OWNER,      \
		&field_filled_by, &field_levels, &field_victim, &field_event_LISTED,               \
		&field_event_LOST, &field_late, &field_table, &field_event_MISSED,                 \
		&field_event_TOOK_NS
#define OF_TIME                                                                                    \
	&field_limits, &field_largest, &field_grew, &field_ram, &field_ram_time, &field_ram_span,  \
		&field_machine, &field_where, &field_exempt, &field_exempt_bytes
FIELDS(incident_fields, &field_event_ID, &field_time, OF_TIME);
FIELDS(kill_fields, OF_KILL);
FIELDS(incident_kill_fields, &field_number, &field_event_ID, &field_count, &field_span,
       &field_workload, OF_KILL, &field_limit_before, &field_limit_before_ms, &field_table_age,
       &field_unread, &field_unread_least, &field_earlier, &field_group_kills, &field_charges,
       &field_held_inside, &field_grown_inside, OF_FILES, OF_TIME);

static FIELDS(sender, &field_event_SENDER_PID, &field_event_SENDER_UID, &field_event_SENDER_COMM,
	      &field_event_SENDER_NAME, &field_event_SENDER_UNIT, &field_event_SENDER_CONTAINER);

JSON_KNOWN(signal, "signal", NUMBER, amount_of(r, EVENT_SIGNAL_NUMBER), "9: SIGKILL. 15: SIGTERM");
JSON_KNOWN(signal_kind, "kind", TEXT, value_text("signal"), "");
OBJECT(sender, "sender", &sender, r,
       "the process that sent it. Null in all parts if it is not known");
OBJECT(receiver, "victim", &victim, r, "the process that received it");
JSON_KNOWN(
	receivers, "receivers_count", AMOUNT, value_unsigned(true, i->burst.kills),
	"processes that got this signal from this sender, of the same workload, one shortly after the "
	"other; this event is the first one. 0: another event stands for it");
JSON_FIELD(receivers_bytes, "receivers_bytes", BYTES, value_bytes(i->burst.kills, i->burst.bytes),
	   "their anonymous memory and swap");
JSON_FIELD(signals_missed_all, "signals_missed_all", AMOUNT,
	   value_unsigned(i->burst.kills, i->burst.missed), "signals_missed of all these events");
FIELDS(incident_signal_fields, &field_event_ID, &field_receivers, &field_receivers_bytes,
       &field_signals_missed_all, &field_workload, &field_signal_kind, &field_time, &field_signal,
       &field_sender, &field_receiver, &field_event_LIMIT, &field_event_SIGNALS_MISSED, OF_TIME);

/* Bits are enum pressure_cause. */
static const char *const causes[] = {"stall", "available", "swap", "refaults", NULL};

static const struct event_record *worst_of(const struct incident *i)
{
	return i->end ? i->end : i->event;
}

JSON_FIELD(
	plenty, "machine_short", BOOL, value_bool(true, !event_number(worst_of(i), EVENT_PLENTY)),
	"false: tasks waited while a fifth of the RAM or more was available, as for the limit of a "
	"cgroup",
	.flags = FIELD_KNOWN);
JSON_FIELD(waiting_cgroup, "cgroup", TEXT, value_text(incident_waiting_cgroup(i)),
	   "the cgroup that reached its limits most meanwhile, if the machine was not short",
	   NAME_MAX_BYTES);
JSON_KNOWN(pressure, "kind", TEXT, value_text("pressure"), "");
JSON_FIELD(end, "end_time_ms", TIME, amount_of(i->end, EVENT_ENDED),
	   "the last sign of the shortage. Null if no end was recorded");
JSON_FIELD(
	causes, "causes", WORDS,
	value_signed(true, (int64_t)event_number(worst_of(i), EVENT_CAUSES)),
	"stall: tasks waited for memory (PSI). available: little RAM was available. swap: little swap "
	"was free. refaults: much was read again, which is looked at without PSI",
	.flags = FIELD_KNOWN, .words = causes);
/* The worst snapshot may have less, if no end was recorded. */
static struct value least(const struct incident *i, enum event_member m, enum meminfo_counter c)
{
	const struct value known = bytes_of(worst_of(i), m);
	const struct value then = i->during ? value_meminfo(i->during, c) : known;

	return then.known && (!known.known || then.bytes < known.bytes) ? then : known;
}

#define LEAST "the least of the whole time"
JSON_FIELD(available_least, "memory_available_least_bytes", BYTES,
	   least(i, EVENT_AVAILABLE, MEMINFO_AVAILABLE), LEAST);
JSON_FIELD(swap_free_least, "swap_free_least_bytes", BYTES,
	   least(i, EVENT_SWAP_FREE, MEMINFO_SWAP_FREE), LEAST);
JSON_FIELD(stalled, "stalled_us", AMOUNT, amount_of(i->end, EVENT_STALLED_US),
	   "while some task waited for memory");
JSON_FIELD(refaulted, "refaulted_bytes", BYTES, bytes_of(i->end, EVENT_REFAULTED),
	   "read again soon after it was dropped or swapped out");
JSON_FIELD(kills, "oom_kills", AMOUNT, amount_of(i->end, EVENT_KILLS), "in this time");
JSON_FIELD(
	worst, "worst", OBJECT, value_row(i->during),
	"the snapshot with the least available memory or, if the machine was not short, with the highest "
	"PSI. What held most and what had grown is of it. Null without a snapshot",
	.fields = &incident_worst_fields);
ROWS(stalled_cgroups, "stalled_cgroups", &waited, struct incident_stall, i->stalls_known, i->stall,
     i->stalls,
     "the lowest cgroups of which tasks waited for 5 % of ten seconds or more, the longest first. "
     "Null if no snapshot has PSI of cgroups (cgroup v1, older recordings)",
     0);
JSON_KNOWN(goes_on, "goes_on", BOOL, value_bool(true, i->goes_on && i->recorded_now),
	   "true if it was not over, and the recording goes on");
FIELDS(incident_pressure_fields, &field_number, &field_event_ID, &field_pressure, &field_time,
       &field_end, &field_goes_on, &field_worst, &field_plenty, &field_waiting_cgroup,
       &field_causes, &field_available_least, &field_swap_free_least, &field_stalled,
       &field_refaulted, &field_kills, &field_stalled_cgroups, OF_FILES, OF_TIME);

JSON_KNOWN(unrecorded_kind, "kind", TEXT, value_text("kills_unrecorded"), "");
JSON_FIELD(since_then, "since_ms", TIME, amount_of(r, EVENT_SINCE),
	   "the last snapshot before them, or when the machine booted");
JSON_FIELD(unrecorded_kills, "oom_kills", AMOUNT, amount_of(r, EVENT_KILLS),
	   "processes that the kernel killed meanwhile, by its own count");
JSON_FIELD(unrecorded_cgroup, "cgroup", TEXT, value_text(event_text(r, EVENT_LIMIT_CGROUP)),
	   "the lowest cgroup that had all of them. Null if there is none, or it is not known",
	   NAME_MAX_BYTES);
JSON_KNOWN(unrecorded_time, "time_ms", TIME, value_signed(true, r->time_ms),
	   "when the recording went on");
FIELDS(incident_unrecorded_fields, &field_number, &field_event_ID, &field_unrecorded_kind,
       &field_unrecorded_time, &field_since_then, &field_unrecorded_kills, &field_unrecorded_cgroup,
       OF_TIME);

JSON_KNOWN(no_victim_kind, "kind", TEXT, value_text("no_victim"), "");
JSON_FIELD(no_victim_since, "since_ms", TIME, amount_of(r, EVENT_SINCE),
	   "the first time of those that are counted");
JSON_FIELD(
	no_victim_processes, "processes", AMOUNT,
	value_unsigned(i->where.exempt_known, i->where.processes),
	"processes in that cgroup in the snapshot. Null if it is not known, or without a snapshot");
FIELDS(incident_no_victim_fields, &field_number, &field_event_ID, &field_no_victim_kind,
       &field_time, &field_no_victim_since, &field_event_TIMES, &field_event_LIMIT_CGROUP,
       &field_no_victim_processes, OF_TIME);
