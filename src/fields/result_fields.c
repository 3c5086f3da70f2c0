// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Fields of a result beside those of its rows. src/dist/documents.txt says what they mean. */
#include "fields/result_fields.h"

#include "fields/define.h"
#include "fields/process_fields.h"

#define COUNT(name, json, member)                                                                  \
	JSON_FIELD(name, json, AMOUNT, value_unsigned(true, r->member), "")

/* ---- how complete it is ---- */

#define ROW const struct cross_check *r = row
COUNT(checked, "checked", checked);
COUNT(same, "same", same);
COUNT(moved, "moved", moved);
COUNT(different, "different", different);
COUNT(check_gone, "gone", gone);
COUNT(check_ended, "ended", ended);
COUNT(check_denied, "denied", denied);
COUNT(check_unread, "unread", unread);
COUNT(check_self, "self", self);
COUNT(snapshots_ago, "snapshots_ago", snapshots_ago);
static FIELDS(check, &field_checked, &field_same, &field_moved, &field_different, &field_check_gone,
	      &field_check_ended, &field_check_denied, &field_check_unread, &field_check_self,
	      &field_snapshots_ago);

#undef ROW
#define ROW const struct collection *r = row
COUNT(depth, "depth", cgroups_left_out[MEMCG_BOUND_DEPTH]);
COUNT(bytes, "bytes", cgroups_left_out[MEMCG_BOUND_BYTES]);
COUNT(time, "time", cgroups_left_out[MEMCG_BOUND_TIME]);
static FIELDS(left_out, &field_depth, &field_bytes, &field_time);

/* The first ones; 0 is behind the last. */
static struct value not_seen_pids(const struct collection *r)
{
	const uint32_t count = collection_pids(r);

	/* An old recording does not have them. */
	return value_rows(r->not_seen_known && (count || !r->not_seen), r->not_seen_pid, count);
}

JSON_FIELD(complete, "complete", BOOL, value_bool(true, r->complete), "");
COUNT(duration_us, "duration_us", duration_us);
COUNT(seen, "processes_seen", seen);
COUNT(reported, "reported", reported);
COUNT(filtered, "filtered", filtered);
COUNT(kernel_threads, "kernel_threads", kernel_threads);
COUNT(zombies, "zombies", zombies);
COUNT(gone, "gone", gone);
COUNT(denied, "denied", denied);
COUNT(timeout, "timeout", timeout);
COUNT(raced, "raced", raced);
JSON_FIELD(not_seen, "not_seen", AMOUNT, value_unsigned(r->not_seen_known, r->not_seen), "");
JSON_FIELD(not_seen_least, "not_seen_least", AMOUNT,
	   value_unsigned(!r->not_seen_known && r->not_seen, r->not_seen), "");
JSON_FIELD(not_seen_pids, "not_seen_pids", NUMBERS, not_seen_pids(r), "",
	   .row_size = sizeof(pid_t));
COUNT(earlier, "earlier", earlier);
JSON_FIELD(shared_mm, "shared_mm", AMOUNT, value_unsigned(!r->shared_mm_unknown, r->shared_mm), "");
JSON_FIELD(cross_check, "cross_check", OBJECT,
	   value_row(r->cross_check.done ? &r->cross_check : NULL), "", .fields = &check);
OBJECT(left_out, "cgroups_left_out", &left_out, r, "");
JSON_FIELD(dying, "cgroups_dying", AMOUNT, value_unsigned(r->cgroups_dying, r->cgroups_dying), "");
FIELDS(collection_fields, &field_complete, &field_duration_us, &field_seen, &field_reported,
       &field_filtered, &field_kernel_threads, &field_zombies, &field_gone, &field_denied,
       &field_timeout, &field_raced, &field_not_seen, &field_not_seen_least, &field_not_seen_pids,
       &field_earlier, &field_shared_mm, &field_cross_check, &field_left_out, &field_dying);

/* ---- since an earlier snapshot ---- */

#undef ROW
#define ROW                                                                                        \
	const struct result *r = row;                                                              \
	const struct delta *d = r->delta;                                                          \
	(void)d
#define KNOWN(name, json, value) JSON_FIELD(name, json, AMOUNT, value_unsigned(d->known, value), "")

COUNT(tick, "tick", delta->tick);
COUNT(missed, "ticks_missed", delta->missed);
JSON_FIELD(delta, "delta", TEXT, value_text(d->from_start ? "start" : "last"), "");
JSON_FIELD(since, "since_ms", TIME, value_signed(d->known, d->since_ms), "");
KNOWN(started, "started", d->counts.started);
KNOWN(ended, "ended", d->counts.ended);
KNOWN(changed, "changed", d->counts.changed);
COUNT(not_written, "rows_not_written", others_count);
FIELDS(watch_fields, &field_tick, &field_missed, &field_delta, &field_since, &field_started,
       &field_ended, &field_changed, &field_not_written);
JSON_FIELD(own_cpu, "own_cpu_us", AMOUNT, value_unsigned(d->cost.known, d->cost.cpu_us), "");
JSON_FIELD(own_resident, "own_resident_bytes", BYTES,
	   value_bytes(d->cost.known, d->cost.resident_bytes), "");
FIELDS(watch_cost_fields, &field_own_cpu, &field_own_resident);
JSON_FIELD(from_start, "from_start", BOOL, value_bool(true, d->from_start), "");
static FIELDS(tick, &field_own_cpu, &field_own_resident, &field_from_start);

SENTENCES(
	tick_said, &watch_fields, &tick,
	"[, changes [{?from_start}since||per second since] {since_ms}; {started} started, {ended} "
	"ended, {changed} changed][; {ticks_missed+} snapshot{s} missed]"
	"[; zmem-bpf uses {own_cpu_us} of CPU a snapshot and {own_resident_bytes}]");
