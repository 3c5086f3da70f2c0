// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is said of the machine: its fields in JSON, and values of sentences alone. */
#include "fields/system_said.h"

#include "fields/define.h"

#define ROW const struct system_report *r = row

/* ---- how RAM was counted ---- */

static struct value age_of(const struct system_report *r)
{
	int64_t ms = r->snapshot->time_ms - r->ram->taken_ms;

	/* Of a recording, where not each snapshot has a census. */
	return value_signed(r->snapshot->recorded && ms >= 0 && ram_is_counted(r->ram), ms);
}

FLAG(exact, r->ram->method == RAM_EXACT);
FLAG(sample, r->ram->method == RAM_SAMPLE);
FLAG(counters, r->ram->method == RAM_COUNTERS);
SAID(age_ms, AMOUNT, age_of(r));
static FIELDS(method, &field_exact, &field_sample, &field_counters, &field_age_ms);

SENTENCES(
	system_method_said, &system_document, &method,
	"{?exact}Each page frame was counted, in {ram.duration_us}[, {age_ms} before this snapshot].",
	"{?sample}A sample of the page frames was counted, in {ram.duration_us}"
	"[, {age_ms} before this snapshot]; --exact counts all.",
	"{?counters}These are counters of the kernel; {ram.reason}.");
/* ---- cgroups and nodes ---- */

FLAG(charged, r->ram->cgroups);
FLAG(listed, r->ram->cgroup);
SAID(no_nodes, TEXT,
     value_text(r->ram->node		       ? NULL
		: r->ram->method == RAM_SAMPLE ? "a sample has none (--exact)"
		: *r->ram->reason	       ? r->ram->reason
					       : "their zones overlap"));
SAID(nodes_left, AMOUNT,
     value_signed(r->ram->node && r->ram->nodes > NODES_SHOWN,
		  (int64_t)r->ram->nodes - NODES_SHOWN));
static FIELDS(parts, &field_charged, &field_listed, &field_no_nodes, &field_nodes_left);

/* A kernel with memory cgroups charges its first pages to the one at the root. */
SENTENCES(system_no_cgroups_said, &system_document, &parts,
	  "{!listed}The memory of cgroups is not known: {ram.reason}.",
	  "{?listed}{!charged}No page is charged to a memory cgroup: the kernel uses none.");
SENTENCES(system_no_nodes_said, &system_document, &parts, "The nodes are not known: {no_nodes}.");
SENTENCES(
	system_nodes_said, &system_document, &parts,
	"Memory without a mark, such as kernel stacks and vmalloc, is in unnamed kernel pages here.",
	"{nodes_left} further node{s}: --json has {it/them}.");

/* ---- GPUs ---- */

static uint64_t sum_of_regions(const struct gpu_regions *all, bool in_ram)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; all && i < all->count; i++)
		sum += all->item[i].in_ram == in_ram ? all->item[i].resident : 0;
	return sum;
}

static bool has_gpus(const struct gpu_regions *all)
{
	return all && (all->count || all->silent || all->buffers || all->unheld);
}

#define GPUS r->snapshot->gpu.sums
SAID(gpu_ram, BYTES, value_bytes(has_gpus(GPUS), sum_of_regions(GPUS, true)));
SAID(gpu_own, BYTES, value_bytes(has_gpus(GPUS), sum_of_regions(GPUS, false)));
static FIELDS(gpus, &field_gpu_ram, &field_gpu_own);

SENTENCES(system_gpus_said, &system_document, &gpus,
	  "GPUs hold {gpu_ram} of RAM and {gpu_own} of their own for processes"
	  "[, and what the drivers of {gpu.silent_clients+} client{s} do not tell]"
	  "[; {gpu.dmabufs+} dma-buf{s} {is/are} open: {gpu.dmabuf_bytes}]"
	  "[; {gpu.unheld_dmabufs+} dma-buf{s} {has/have} no descriptor in a process: "
	  "{gpu.unheld_dmabuf_bytes}] (zmem-bpf -o +gpu,dmabuf -s gpu,dmabuf)");

/* ---- kernel memory by descriptor ---- */

#define HELD  r->snapshot->kernel
#define LARGE ((uint64_t)8 << 20) /* more than programs that just ended leave behind */
FLAG(all, r->all);
FLAG(large, r->all || HELD.unheld.bytes >= LARGE);
FLAG(no_maps, HELD.unheld.known && !HELD.unheld.count);
static FIELDS(held, &field_all, &field_large, &field_no_maps);

SENTENCES(
	system_held_said, &system_document, &held,
	"{?all}Processes hold {descriptors.bytes} of kernel memory by descriptors (zmem-bpf -o +kernel "
	"-s kernel).",
	"{descriptors.unread_processes+} process{es} {is/are} not among those that hold kernel memory by "
	"descriptors: {it/they} could not be read, or not in time.",
	"What processes hold by descriptors is not known: {descriptors.reason}.",
	"{?all}{?no_maps}Each map of BPF has a descriptor in a process.",
	"{?large}{descriptors.bpf_maps_of_no_process+} map{s} of BPF {has/have} no descriptor in a "
	"process and {takes/take} {descriptors.bpf_maps_bytes}"
	"[: {descriptors.bpf_maps*3: [{path}||program {program}||map {id}][ {bytes}]}].",
	"{?all}Which maps of BPF have no process is not known: {descriptors.bpf_maps_reason}.");

/* ---- in lines of top and doctor ---- */

SENTENCES(ram_deleted_said, &ram_fields, NULL,
	  "{deleted_cgroups+} deleted cgroup{s} still {holds/hold} {deleted_cgroup_bytes}");

#undef ROW
#define ROW const struct ram *r = row
SAID(first, TIME, value_signed(true, ((const struct ram *)of)->taken_ms));
static FIELDS(state, &field_first);

SENTENCES(ram_state_said, &ram_fields, &state,
	  "RAM by [page frames, counted {time_ms|8}; changes since {first|8}"
	  "||counters of the kernel: {reason}]");
