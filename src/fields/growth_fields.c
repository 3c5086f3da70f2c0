// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The fields of growth by stack. */
#include "fields/growth_fields.h"

#include "fields/define.h"

#define NAME_MAX_BYTES .max = {1024}, .max_hex = {1024}, .flags = FIELD_HEX
/* Names of C++ have the arguments of their templates. */
#define FUNCTION_MAX 16384

/* ---- counters ---- */

#define ROW const int64_t *r = row

JSON_KNOWN(anon, "anon_bytes", CHANGE, value_signed(true, r[GROWTH_ANON]), "RssAnon");
JSON_KNOWN(file, "file_bytes", CHANGE, value_signed(true, r[GROWTH_FILE]), "RssFile");
JSON_KNOWN(shmem, "shmem_bytes", CHANGE, value_signed(true, r[GROWTH_SHMEM]), "RssShmem");
JSON_KNOWN(swap, "swap_bytes", CHANGE, value_signed(true, r[GROWTH_SWAP]), "VmSwap");
FIELDS(growth_counters, &field_anon, &field_file, &field_shmem, &field_swap);

/* ---- frames ---- */

#undef ROW
#define ROW const struct growth_frame *r = row

JSON_FIELD(function, "function", TEXT, value_text(r->name),
	   "null if no function is known that contains the address. With a ~ at its end it is the "
	   "nearest symbol before the address, which has no size",
	   .max = {FUNCTION_MAX}, .max_hex = {FUNCTION_MAX}, .flags = FIELD_HEX);
JSON_FIELD(module, "module", TEXT, value_text(r->module),
	   "the last component of the file. Null if it is in no file, as JIT code", NAME_MAX_BYTES);
JSON_KNOWN(
	offset, "offset", NUMBER, value_unsigned(true, r->offset),
	"of the function in the file, also of one without a name if the table for unwinding has it. "
	"Else: of the address in the file. Without a file: the address");
JSON_KNOWN(
	allocator, "allocator", BOOL, value_bool(true, r->allocator),
	"true if it only passes memory on: of an allocator, the C library, a container, or of "
	"Python's interpreter where functions of Python have names; or a function of the program "
	"that calls an allocator for many callers");
/* Most documents have no lines: there are no keys then, for frames are many. */
JSON_FIELD(
	inlined, "inlined", BOOL, value_bool(r->inlined, true),
	"true if it was compiled into the function that follows. It is there if lines were asked "
	"for (-o +line), and only then such functions are frames",
	.flags = FIELD_OPTIONAL);
JSON_FIELD(source, "source", TEXT, value_text(r->source),
	   "the path of the source. It is there with line: if lines were asked for (-o +line), and "
	   "debugging information has it",
	   .max = {1024}, .max_hex = {1024}, .flags = FIELD_HEX | FIELD_OPTIONAL);
JSON_FIELD(source_line, "line", NUMBER, value_unsigned(r->source, r->line),
	   "the line in it, where the function allocates or calls", .flags = FIELD_OPTIONAL);
static FIELDS(frames, &field_function, &field_module, &field_offset, &field_allocator,
	      &field_inlined, &field_source, &field_source_line);

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

/* How far from what is shown the truth may be. */
static uint64_t error_of(const struct growth *g, const struct growth_stack *s)
{
	struct growth_bounds held = growth_held_bounds(g, s);
	uint64_t sum = growth_held(s);

	if (!g->heap.known)
		return growth_error(s->variance);
	return sum - held.least > held.most - sum ? sum - held.least : held.most - sum;
}

/* A second kind is told if it is more than a tenth. */
static const char *kind_of(const struct growth_stack *s)
{
	static const char *const words[GROWTH_COUNTERS][GROWTH_COUNTERS] = {
		{"anon", "anon+file", "anon+shmem", "anon+swap"},
		{"file+anon", "file", "file+shmem", "file+swap"},
		{"shmem+anon", "shmem+file", "shmem", "shmem+swap"},
		{"swap+anon", "swap+file", "swap+shmem", "swap"},
	};
	int sign = growth_sum(s->net) < 0 ? -1 : 1, first = 0, second = 0;
	int64_t size[GROWTH_COUNTERS];

	for (int i = 0; i < GROWTH_COUNTERS; i++) {
		size[i] = sign * s->net[i];
		first = size[i] > size[first] ? i : first;
	}
	if (size[first] <= 0)
		return NULL;
	/* Any other than the first. */
	second = first ? 0 : 1;
	for (int i = 0; i < GROWTH_COUNTERS; i++)
		second = i != first && size[i] > size[second] ? i : second;
	if (size[second] <= (size[first] + size[second]) / 10)
		second = first;
	return words[first][second];
}

COLUMN_AS(
	resident, "still", "resident_bytes", "STILL", BYTES,
	value_bytes(rows->growth->resident_known, r->resident),
	"of the pages that were added those that are in RAM or swap now. Null if not known; a lower "
	"bound if resident_at_least is true");
COLUMN_AS(net, "growth", "net_bytes", "GROWTH", CHANGE, value_signed(true, growth_sum(r->net)),
	  "over all counters: what it added, less what it gave back", .flags = FIELD_KNOWN);
COLUMN_AS(error, "error", "error_bytes", "\xc2\xb1", BYTES,
	  value_bytes(true, error_of(rows->growth, r)),
	  "how far net_bytes (with --malloc, held_bytes) may be off, in 95 of 100 cases. 0 if "
	  "nothing was sampled",
	  .flags = FIELD_KNOWN);
COLUMN(share, "share", "SHARE", PERCENT, share_of(growth_sum(r->net), rows->grown),
       "its share of what the rows grew that grew");
COLUMN_AS(recent, "per_s", "recent_bytes", "PER_S", CHANGE, value_signed(true, r->recent),
	  "net, since the last report", .flags = FIELD_SINCE | FIELD_KNOWN);
COLUMN_AS(gross, "added", "gross_bytes", "ADDED", BYTES, value_bytes(true, r->gross),
	  "what was added", .flags = FIELD_KNOWN);
COLUMN_AS(copied, "copied", "copied_bytes", "COPIED", BYTES,
	  value_bytes(rows->growth->copied_known, r->copied),
	  "pages that were shared with another process, and copied when it wrote to them. They are "
	  "not in net_bytes: USS grows, and RSS does not. Null if not known");
COLUMN_AS(
	held, "held", "held_bytes", "HELD", BYTES,
	value_bytes(rows->growth->heap.known, growth_held(r)),
	"with --malloc: of what allocators gave it, what is not freed: an estimate. If at_least of malloc "
	"is true, held_least_bytes is the limit that holds",
	.flags = FIELD_OPTIONAL);
COLUMN_AS(held_least, "held_least", "held_least_bytes", "LEAST", BYTES,
	  value_bytes(rows->growth->heap.known, growth_held_bounds(rows->growth, r).least),
	  "with --malloc: held_bytes is not less, in 97 of 100 cases", .flags = FIELD_OPTIONAL);
COLUMN_AS(held_most, "held_most", "held_most_bytes", "MOST", BYTES,
	  value_bytes(rows->growth->heap.known && !rows->growth->heap.at_least,
		      growth_held_bounds(rows->growth, r).most),
	  "with --malloc: held_bytes is not more, in 97 of 100 cases. Null if blocks are missing",
	  .flags = FIELD_OPTIONAL);
COLUMN_AS(allocated, "allocated", "allocated_bytes", "ALLOCATED", BYTES,
	  value_bytes(rows->growth->heap.known, r->allocated),
	  "with --malloc: what allocators gave it", .flags = FIELD_OPTIONAL);
JSON_FIELD(net_error, "net_error_bytes", BYTES,
	   value_bytes(rows->growth->heap.known, growth_error(r->variance)),
	   "with --malloc: how far net_bytes may be off", .flags = FIELD_OPTIONAL);
COLUMN(kind, "kind", "KIND", TEXT, value_text(kind_of(r)),
       "the counter that changed most: anon, file, shmem or swap. A second one that has more than "
       "a tenth stands behind it");
COLUMN(line, "line", "LINE", TEXT, value_text(rows->line),
       "the line of the place, where debugging information has it");
COLUMN(code, "code", "CODE", TEXT, value_text(rows->code), "the place, and its callers");
JSON_KNOWN(changes, "changes", AMOUNT, value_unsigned(true, r->changes),
	   "how often it added or gave back");
OBJECT(by_counter, "net", &growth_counters, r->net, "by counter");
JSON_KNOWN(truncated, "truncated", BOOL, value_bool(true, r->truncated),
	   "true if there are callers that are not in frames");
JSON_FIELD(stack_frames, "frames", NUMBERS, value_rows(true, r->frame, r->frames),
	   "the innermost first: numbers of items of the list frames, from 0 on",
	   .row_size = sizeof(uint32_t), .flags = FIELD_KNOWN);
static FIELDS(stacks, &field_net, &field_error, &field_gross, &field_resident, &field_recent,
	      &field_copied, &field_held, &field_held_least, &field_held_most, &field_allocated,
	      &field_net_error, &field_changes, &field_by_counter, &field_truncated,
	      &field_stack_frames);
FIELDS(growth_columns, &field_resident, &field_net, &field_error, &field_share, &field_recent,
       &field_gross, &field_copied, &field_held, &field_held_least, &field_held_most,
       &field_allocated, &field_kind, &field_line, &field_code);

void growth_list_usual(struct field_list *ret, bool heap, bool rate)
{
	static const struct field *const pages[] = {&field_resident, &field_net,    &field_error,
						    &field_gross,    &field_copied, &field_kind,
						    &field_code};
	static const struct field *const blocks[] = {
		&field_held, &field_held_least, &field_held_most, &field_allocated,
		&field_net,  &field_copied,	&field_code};

	*ret = (struct field_list){};
	if (heap)
		field_list_append(ret, blocks, ARRAY_SIZE(blocks));
	else
		field_list_append(ret, pages, ARRAY_SIZE(pages));
	/* Behind growth. */
	for (size_t i = 0; rate && i < ret->count; i++) {
		if (ret->item[i] == &field_net)
			field_list_insert(ret, i + 1, &field_recent);
	}
}

bool growth_column_has(const struct field *f, const struct growth *g)
{
	/* If each block was counted, the bounds are the sum. If blocks are missing, HELD is the
	 * lower one, and there is no other. */
	if (f == &field_held_least || f == &field_held_most)
		return !g->heap.known || (g->heap.mean_most > 1 && !g->heap.at_least);
	for (size_t i = 0; i < g->stacks; i++) {
		const struct growth_stack *s = &g->stack[i];

		if ((f != &field_error || error_of(g, s)) && (f != &field_copied || s->copied))
			return true;
	}
	return g->stacks == 0;
}

const struct field *growth_usual_key(const struct growth *g)
{
	return g->heap.known ? &field_held_least : g->resident_known ? &field_resident : &field_net;
}

/* ---- processes ---- */

#undef ROW
#define ROW const struct growth_target *r = row

JSON_KNOWN(pid, "pid", NUMBER, value_signed(true, r->pid), "process id");
JSON_FIELD(name, "name", TEXT, value_text(r->name), "program", NAME_MAX_BYTES);
JSON_KNOWN(ended, "ended", BOOL, value_bool(true, r->ended), "whether it ended before the report");
JSON_KNOWN(execs, "execs", AMOUNT, value_signed(true, r->execs),
	   "how often it executed another program meanwhile");
static FIELDS(processes, &field_pid, &field_name, &field_ended, &field_execs);

/* ---- moments ---- */

#undef ROW
#define ROW const struct growth_point *r = row

JSON_KNOWN(time, "time_ms", TIME, value_signed(true, r->time_ms), "since the epoch");
JSON_KNOWN(point_anon, "anon_bytes", CHANGE, value_signed(true, r->net[GROWTH_ANON]), "RssAnon");
JSON_KNOWN(point_file, "file_bytes", CHANGE, value_signed(true, r->net[GROWTH_FILE]), "RssFile");
JSON_KNOWN(point_shmem, "shmem_bytes", CHANGE, value_signed(true, r->net[GROWTH_SHMEM]),
	   "RssShmem");
JSON_KNOWN(point_swap, "swap_bytes", CHANGE, value_signed(true, r->net[GROWTH_SWAP]), "VmSwap");
static FIELDS(points, &field_time, &field_point_anon, &field_point_file, &field_point_shmem,
	      &field_point_swap);

/* ---- the document ---- */

#undef ROW
#define ROW const struct growth *r = row

JSON_KNOWN(start, "start_ms", TIME, value_signed(true, r->start_ms),
	   "the beginning, since the epoch");
JSON_KNOWN(duration, "duration_us", AMOUNT, value_unsigned(true, r->duration_us),
	   "the time since then");
JSON_KNOWN(recently, "recent_us", AMOUNT, value_unsigned(true, r->recent_us),
	   "the time since the last report");
JSON_KNOWN(mode, "stacks_by", TEXT, value_text(r->mode == GROWTH_FP ? "fp" : "dwarf"),
	   "by tables of the programs or by frame pointers");
ROWS(processes, "processes", &processes, struct growth_target, true, r->target, r->targets,
     "those with memory that was counted", FIELD_KNOWN | FIELD_LINES | FIELD_END_LINE);
JSON_KNOWN(no_room, "processes_without_room", AMOUNT, value_unsigned(true, r->no_room),
	   "processes that could not be counted");
static FIELDS(target, &field_start, &field_duration, &field_recently, &field_mode, &field_processes,
	      &field_no_room);

#define LEFT_OUT(reason) value_unsigned(true, r->names_left_out[GROWTH_OUT_##reason])
JSON_KNOWN(timeout, "timeout", AMOUNT, LEFT_OUT(TIMEOUT),
	   "the file, or the process, did not answer in time");
JSON_KNOWN(denied, "denied", AMOUNT, LEFT_OUT(DENIED),
	   "the user of the process may not read the file");
JSON_KNOWN(limit, "limit", AMOUNT, LEFT_OUT(LIMIT),
	   "the file or the name costs too much time or memory");
JSON_KNOWN(busy, "busy", AMOUNT, LEFT_OUT(BUSY), "too many files do not answer: no more are tried");
static FIELDS(left_out, &field_timeout, &field_denied, &field_limit, &field_busy);

JSON_KNOWN(
	lines_left_out, "lines_left_out", AMOUNT, value_unsigned(true, r->lines_left_out),
	"addresses without a line: the debugging information of their file costs too much time or "
	"memory");
JSON_KNOWN(change_sum, "counter_change_bytes", CHANGE, value_signed(true, growth_sum(r->change)),
	   "how the kernel's counters changed, exactly");
JSON_KNOWN(stacks_sum, "stacks_bytes", CHANGE, value_signed(true, growth_sum(r->accounted)),
	   "the sum of net_bytes");
JSON_KNOWN(lost, "lost_events", AMOUNT, value_unsigned(true, r->lost),
	   "changes with stacks for which there was no room: later stacks stand for them, or none");
JSON_KNOWN(events, "events", AMOUNT, value_unsigned(true, r->events), "all changes");
JSON_KNOWN(
	sampled, "sampled_events", AMOUNT, value_unsigned(true, r->sampled),
	"changes with a stack that was not taken: those of a random sample of pages stand for them");
JSON_KNOWN(sampled_bytes, "sampled_bytes", CHANGE, value_signed(true, r->sampled_bytes),
	   "the net bytes of changes without a stack, for which other stacks stand");
JSON_KNOWN(at_least, "resident_at_least", BOOL,
	   value_bool(true, r->resident_known && r->resident_least),
	   "true if resident_bytes of a stack may be more: some of the pages that were added have "
	   "no address");
JSON_KNOWN(each, "every_change", BOOL, value_bool(true, r->each),
	   "false before Linux 6.2, where a page fault in 64 is an event");
OBJECT(left_out, "names_left_out", &left_out, r,
       "addresses without a name, by the reason for which their file was not read");
OBJECT(begin, "begin", &growth_counters, r->begin, "the counters at the beginning");
OBJECT(change, "change", &growth_counters, r->change, "since then");
OBJECT(stack_sums, "stacks", &growth_counters, r->accounted, "the sums of all stacks");
static FIELDS(accounted, &field_change_sum, &field_stacks_sum, &field_lost, &field_events,
	      &field_sampled, &field_sampled_bytes, &field_at_least, &field_each, &field_left_out,
	      &field_lines_left_out, &field_begin, &field_change, &field_stack_sums);

/* ---- what allocators say ---- */

#undef ROW
#define ROW const struct growth_allocator *r = row

JSON_KNOWN(allocator_name, "name", TEXT, value_text(r->name), "of the allocator");
JSON_FIELD(allocator_version, "version", TEXT, value_text(r->version), "null if it is not known");
JSON_FIELD(allocator_file, "file", TEXT, value_text(r->file), "its path", .max = {4096},
	   .max_hex = {4096}, .flags = FIELD_HEX);
JSON_KNOWN(allocator_functions, "functions", AMOUNT, value_unsigned(true, r->functions),
	   "how many are probed");
static FIELDS(allocators, &field_allocator_name, &field_allocator_version, &field_allocator_file,
	      &field_allocator_functions);

#undef ROW
#define ROW const struct growth_not_probed *r = row

JSON_FIELD(not_probed_function, "function", TEXT, value_text(r->function),
	   "of an allocator. Null: all");
JSON_FIELD(not_probed_file, "file", TEXT, value_text(r->file), "with functions. Null: any");
JSON_FIELD(not_probed_pid, "pid", NUMBER, value_signed(r->pid, r->pid),
	   "of a process. Null: of each");
JSON_KNOWN(not_probed_reason, "reason", TEXT, value_text(r->reason), "why");
static FIELDS(not_probed_fields, &field_not_probed_function, &field_not_probed_file,
	      &field_not_probed_pid, &field_not_probed_reason);

#undef ROW
#define ROW const struct growth *r = row

JSON_KNOWN(sample_bytes, "sample_bytes", BYTES, value_bytes(true, r->heap.sample_bytes),
	   "one sample in so many bytes, on average. 1: each block");
JSON_KNOWN(heap_calls, "calls", AMOUNT, value_unsigned(true, r->heap.calls),
	   "of functions that allocate or free");
JSON_KNOWN(heap_samples, "samples", AMOUNT, value_unsigned(true, r->heap.samples),
	   "blocks with a stack of their own");
JSON_KNOWN(heap_rate, "rate_per_s", AMOUNT, value_unsigned(true, r->heap.rate),
	   "calls in a second");
JSON_FIELD(
	heap_price, "price_ns", AMOUNT, value_unsigned(r->heap.price_ns, r->heap.price_ns),
	"what a call costs the process because of its probe, on average. Null if it is not known");
JSON_FIELD(
	heap_speed_least, "speed_least_percent", PERCENT,
	((struct value){.known = r->heap.price_ns, .percent = 100 * r->heap.speed_least}),
	"at least that part of the CPU time of the processes was their own, and not of probes: by "
	"the price. Null if that is not known");
JSON_FIELD(heap_speed_most, "speed_most_percent", PERCENT,
	   ((struct value){.known = r->heap.price_ns, .percent = 100 * r->heap.speed_most}),
	   "likewise, at most");
JSON_KNOWN(
	heap_at_least, "at_least", BOOL, value_bool(true, r->heap.at_least),
	"true if blocks are missing, so that held_bytes may be more: there was no room for them, "
	"or no probe");
JSON_KNOWN(not_counted, "calls_not_counted", AMOUNT, value_unsigned(true, r->heap.not_counted),
	   "calls that were seen, without their blocks: made while a call on another stack had not "
	   "returned (coroutines), or by threads that refuse system calls (Wine). A probe of their "
	   "return could end the program");
ROWS(allocator_list, "allocators", &allocators, struct growth_allocator, true, r->heap.allocator,
     r->heap.allocators, "files with functions that are probed", FIELD_KNOWN);
ROWS(not_probed, "not_probed", &not_probed_fields, struct growth_not_probed, true,
     r->heap.not_probed, r->heap.not_probeds,
     "what allocates unseen, because a probe of its return could end the program", FIELD_KNOWN);
static FIELDS(heap, &field_sample_bytes, &field_heap_calls, &field_heap_samples, &field_heap_rate,
	      &field_heap_price, &field_heap_speed_least, &field_heap_speed_most,
	      &field_heap_at_least, &field_not_counted, &field_allocator_list, &field_not_probed);

OBJECT(target, "target", &target, r, "what was watched");
OBJECT(accounted, "accounted", &accounted, r, "whether the stacks explain the counters");
JSON_FIELD(heap, "malloc", OBJECT, value_row(r->heap.known ? r : NULL),
	   "what the allocators of the processes say. Null without --malloc", .fields = &heap);
ROWS(points, "history", &points, struct growth_point, true, r->point, r->points,
     "what all stacks have added, less what they gave back, at moments of the run. The first is "
     "its beginning, the last its end",
     FIELD_KNOWN);
ROWS(frame_list, "frames", &frames, struct growth_frame, true, r->frame, r->frame_count,
     "the functions, or lines of them, of all stacks", FIELD_KNOWN | FIELD_LINES | FIELD_END_LINE);
ROWS(stacks, "stacks", &stacks, struct growth_stack, true, r->stack, r->stacks,
     "the largest net growth first", FIELD_KNOWN | FIELD_LINES | FIELD_END_LINE);
FIELDS(growth_head, &field_target, &field_accounted, &field_heap, &field_points);
FIELDS(growth_document, &field_target, &field_accounted, &field_heap, &field_points,
       &field_frame_list, &field_stacks);
