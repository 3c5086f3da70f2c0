// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is said below the table of growth: its fields in JSON, and values of sentences alone. */
#include "fields/growth_said.h"

#include "fields/define.h"
#include "fields/growth_fields.h"

#define ROW                                                                                        \
	const struct growth *r = row;                                                              \
	const struct growth_all *all = of;                                                         \
	(void)all

static int64_t count_ended(const struct growth *g)
{
	int64_t ended = 0;

	for (size_t i = 0; i < g->targets; i++)
		ended += g->target[i].ended;
	return ended;
}

#define MOVED(counter) (r->change[GROWTH_##counter] || r->accounted[GROWTH_##counter])
FLAG(anon, MOVED(ANON));
FLAG(file, MOVED(FILE));
FLAG(shmem, MOVED(SHMEM));
FLAG(swap, MOVED(SWAP));
FLAG(any, MOVED(ANON) || MOVED(FILE) || MOVED(SHMEM) || MOVED(SWAP));
FLAG(alone_ended, r->targets == 1 && r->target[0].ended);
SAID(several, AMOUNT, value_signed(r->targets > 1, (int64_t)r->targets));
SAID(ended, AMOUNT, value_signed(true, count_ended(r)));
FLAG(heap, r->heap.known);
FLAG(still_least, r->resident_least && r->resident_known && !r->heap.known);
static FIELDS(doubts, &field_anon, &field_file, &field_shmem, &field_swap, &field_any,
	      &field_alone_ended, &field_several, &field_ended, &field_heap, &field_still_least);

SENTENCES(
	growth_accounted_said, &growth_head, &doubts,
	"{accounted.stacks_bytes} of {accounted.counter_change_bytes} accounted for[{?any}:"
	"[, {?anon}RssAnon {accounted.stacks.anon_bytes} of {accounted.change.anon_bytes}]"
	"[, {?file}RssFile {accounted.stacks.file_bytes} of {accounted.change.file_bytes}]"
	"[, {?shmem}RssShmem {accounted.stacks.shmem_bytes} of {accounted.change.shmem_bytes}]"
	"[, {?swap}VmSwap {accounted.stacks.swap_bytes} of {accounted.change.swap_bytes}]]"
	"; {target.duration_us}[, {?alone_ended}up to the end of the process]"
	"[, {several} processes, {ended} of which ended]"
	"[; {accounted.sampled_events+} of the {accounted.events} change{s} {has/have} no stack: "
	"those of a random sample of pages stand for {it/them}[{!heap} (--sample 1 takes all)]]"
	"[; there was no room for the stacks of {accounted.lost_events+} change{s}: "
	"{a later stack stands/later stacks stand} for {it/them}]"
	"[; {?still_least}STILL is at least what is shown]"
	"[; {target.processes_without_room+} process{es} not counted: there was no room]"
	"[; {accounted.names_left_out.timeout+} address{es} without a name: their files do not answer]"
	"[; {accounted.names_left_out.denied+} address{es} without a name: the user of the process may "
	"not read their files]"
	"[; {accounted.names_left_out.limit+} address{es} without a name: their files cost too much time "
	"or memory]"
	"[; {accounted.names_left_out.busy+} address{es} without a name: too many files do not answer]"
	"[; {accounted.lines_left_out+} address{es} without a line: the debugging information of their "
	"files costs too much time or memory]"
	"[; {!accounted.every_change}this kernel tells of every 64th page fault of a thread alone "
	"(Linux 6.2): the sum is exact, the stacks are a sample]");

#define SLOWED 0.95 /* of its speed: less is told */

FLAG(sampled, r->heap.mean_most > 1);
FLAG(slowed, r->heap.known && r->heap.price_ns && r->heap.speed_least < SLOWED);
SAID(took_least, AMOUNT, value_signed(true, (int64_t)(100.5 - 100 * r->heap.speed_most)));
SAID(took_most, AMOUNT, value_signed(true, (int64_t)(100.5 - 100 * r->heap.speed_least)));
static FIELDS(heap_said, &field_heap, &field_sampled, &field_slowed, &field_took_least,
	      &field_took_most);

/* First which of two questions the table answers, and the other one. */
SENTENCES(
	growth_heap_said, &growth_head, &heap_said,
	"{!heap}By the code that first touched the pages. What malloc gave and is not freed: "
	"grow --malloc",
	"{?heap}By the code that got memory of malloc that is not freed, "
	"[{?sampled}one sample in {malloc.sample_bytes}||each block], {malloc.rate_per_s} call{s} "
	"a second[ at {malloc.price_ns}]. The code that first touched the pages: grow without "
	"--malloc",
	"Probed: {malloc.allocators; {name}[ {version}] in {file}, {functions} function{s}}",
	"{?slowed}The probes slowed the program down: they took {took_least} to {took_most} % of its "
	"CPU time",
	"HELD lacks blocks of {malloc.calls_not_counted+} call{s} on other stacks (coroutines) or by "
	"threads that refuse system calls (Wine): a probe of their return could end the program");

#define OUTSIDE_PART  10 /* of the growth: so much more than blocks is told */
#define OUTSIDE_LEAST (1 << 20)

/* Memory that grew without blocks: of other allocators, or mapped. */
static struct value outside(const struct growth *g, const struct growth_all *all)
{
	const int64_t grew = g->change[GROWTH_ANON];
	const uint64_t held = all->held_most;
	bool known = g->heap.known && !g->heap.at_least && grew >= OUTSIDE_LEAST &&
		     held + (uint64_t)grew / OUTSIDE_PART < (uint64_t)grew;

	return value_bytes(known, (uint64_t)grew - held);
}

SAID(outside, BYTES, outside(r, all));
SAID(grew, BYTES, value_bytes(r->change[GROWTH_ANON] > 0, (uint64_t)r->change[GROWTH_ANON]));
FLAG(python, r->unnamed_python);
FLAG(node, r->unnamed_node);
FLAG(java, r->unnamed_java);
FLAG(dotnet, r->unnamed_dotnet);
FLAG(copied, all->copied);
static FIELDS(hints, &field_outside, &field_grew, &field_python, &field_node, &field_java,
	      &field_dotnet, &field_copied);

/* How frames of a language get names. */
#define NAMELESS(flag, language, how) "{?" flag "}" language " frames have no names: " how
SENTENCES(
	growth_hints_said, &growth_head, &hints,
	"RssAnon grew by {grew}, at least {outside} more than these blocks: other memory (mmap, "
	"pools, another allocator), or what the allocator has beside its blocks. grow without "
	"--malloc shows the code",
	NAMELESS("python", "Python", "start it with python3 -X perf (3.12+)"),
	NAMELESS("node", "JavaScript",
		 "start it with node --perf-basic-prof --interpreted-frames-native-stack"),
	NAMELESS("java", "Java",
		 "run jcmd PID Compiler.perfmap before the end (JDK 17+), or start it with "
		 "java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit; with "
		 "-XX:+PreserveFramePointer callers are known"),
	NAMELESS("dotnet", ".NET", "start it with DOTNET_PerfMapEnabled=1"),
	"{?copied}COPIED pages were shared with another process before: USS grew by them, and RSS "
	"did not");

/* ---- what HELD lacks ---- */

#undef ROW
#define ROW const struct growth_lack *r = row
SAID(lack_pid, NUMBER, value_signed(r->first->pid, r->first->pid));
SAID(lack_of, TEXT, value_text(r->first->function ? r->first->function : r->first->file));
SAID(lack_more, AMOUNT, value_signed(true, (int64_t)r->more));
SAID(lack_reason, TEXT, value_text(r->first->reason));
static FIELDS(lack, &field_lack_pid, &field_lack_of, &field_lack_more, &field_lack_reason);

SENTENCES(
	growth_lack_said, &lack, NULL,
	"HELD lacks blocks of [process {lack_pid}||{lack_of}][ and {lack_more+} more]: {lack_reason}");
