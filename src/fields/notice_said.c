// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a session says of a snapshot on stderr: what was not read, and why. */
#include "fields/notice_said.h"

#include "fields/define.h"
#include "fields/result_fields.h"

#define ROW const struct notice_said *r = row

static uint64_t left_out(const struct collection *c)
{
	uint64_t sum = 0;

	for (int b = 0; b < MEMCG_BOUNDS; b++)
		sum += c->cgroups_left_out[b];
	return sum;
}

SAID(recording, TEXT, value_text(r->recording));
SAID(freed, TEXT, value_text(r->freed));
SAID(pages, TEXT, value_text(r->pages));
SAID(kernel, TEXT, value_text(r->kernel));
SAID(gpu, TEXT, value_text(r->snapshot->gpu.reason));
SAID(readable, AMOUNT, value_unsigned(true, r->readable));
SAID(verified, AMOUNT, value_unsigned(true, r->verified));
FLAG(pss_of_kernel, r->pss_of_kernel);
SAID(pss, TEXT, value_text(r->snapshot->pss_fallback_reason));
SAID(ptrace, TEXT, value_text(r->ptrace));
SAID(collection, OBJECT, value_row(&r->snapshot->collection), .fields = &collection_fields);
SAID(left, AMOUNT, value_unsigned(true, left_out(&r->snapshot->collection)));
SAID(deepest, AMOUNT, value_signed(true, MEMCG_DEPTH_MAX));
FLAG(accounting, r->snapshot->system.delay_accounting_known);
static FIELDS(notice, &field_recording, &field_accounting, &field_freed, &field_pages, &field_gpu,
	      &field_kernel, &field_readable, &field_verified, &field_pss_of_kernel, &field_pss,
	      &field_ptrace, &field_collection, &field_left, &field_deepest);

#define NO_DELAYS                                                                                  \
	"[{?accounting}kernel.task_delayacct is 0 (sysctl kernel.task_delayacct=1 is for "         \
	"processes that start after it)||this kernel does not account delays]"

SENTENCES(
	notices_said, &notice, NULL, "{recording}: it holds no command lines (record -o +cmdline)",
	"swap-ins are not known: " NO_DELAYS,
	"the time that processes lose to memory is not known: " NO_DELAYS,
	"FREED is not known: {freed}",
	"LAZYFREE (but from smaps_rollup), HUGETLB_PSS, THP_REST and nodes are not known: {pages}",
	"memory of GPUs is not known: {gpu}", "KERNEL is not known: {kernel}",
	"--verify: of {readable} of {verified} process{es} smaps_rollup may be read, the others "
	"are other users'",
	"SWAP_PSS from swap slots differed from smaps_rollup: swap slots are not used any more, "
	"and SWAP_RAM is not known",
	"PSS [{?pss_of_kernel}is not known||comes from smaps_rollup]: {pss}",
	"PSS of {collection.denied} process{es} is denied: {ptrace}",
	"/proc hides processes of others: {ptrace}",
	"memory cgroups left out: {left} ({collection.cgroups_left_out.depth} below level "
	"{deepest}, {collection.cgroups_left_out.bytes} for lack of memory, "
	"{collection.cgroups_left_out.time} for lack of time): their groups have the values of "
	"the nearest cgroup above",
	"no thread could be started (pids.max, ulimit -u, ulimit -v): /proc is read without a "
	"deadline, and waits for processes that are stuck");
