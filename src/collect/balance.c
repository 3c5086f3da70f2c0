// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sums over all processes of a snapshot, shown or not; each address space counts once. */
#include "collect/balance.h"

static void set_zero(struct snapshot *s, enum counter c)
{
	for (size_t i = 0; i < s->count; i++) {
		if (s->process[i].kind == PROCESS_USER && process_has(&s->process[i], COUNTER_RSS))
			process_set(&s->process[i], c, 0);
	}
}

void balance_no_pages(struct snapshot *s)
{
	const struct meminfo *m = &s->system.meminfo;

	if (meminfo_has(m, MEMINFO_HUGETLB) && !m->value[MEMINFO_HUGETLB])
		set_zero(s, COUNTER_HUGETLB_PSS);
	if (s->system.partly_mapped.known && !s->system.partly_mapped.bytes)
		set_zero(s, COUNTER_THP_REST);
}

void balance_no_swap(struct snapshot *s)
{
	uint64_t used;

	if (!meminfo_swap_used(&s->system.meminfo, &used) || used)
		return;
	for (size_t i = 0; i < s->count; i++) {
		struct process *p = &s->process[i];

		if (p->kind != PROCESS_USER || !process_has(p, COUNTER_SWAP))
			continue;
		process_set(p, COUNTER_SWAP_SHMEM, 0);
		process_set_swap_costs(p, &(struct swap_costs){});
	}
}

/* The number of processes that a narrowed recording (record --pid …) lacks. */
static size_t not_recorded(const struct snapshot *s)
{
	const struct collection *c = &s->collection;
	size_t there = (size_t)c->kernel_threads + c->zombies;

	for (size_t i = 0; i < s->count; i++)
		there += s->process[i].kind == PROCESS_USER;
	return c->seen > there ? c->seen - there : 0;
}

/* Larger sums are absurd. Two smaller ones can be added, and subtracted from any value. */
#define SUM_MAX ((uint64_t)1 << 62)

/* Sum of a counter over all processes. False if one of them does not have it, or it is absurd. */
static bool sum_of(const struct snapshot *s, enum counter c, uint64_t *ret)
{
	uint64_t sum = 0;

	if (not_recorded(s))
		return false;
	for (size_t i = 0; i < s->count; i++) {
		const struct process *p = &s->process[i];

		if (p->kind != PROCESS_USER || !p->mm_owner)
			continue;
		if (!process_has(p, c) || __builtin_add_overflow(sum, p->value[c], &sum))
			return false;
	}
	*ret = sum;
	return sum < SUM_MAX;
}

void balance_reconcile(struct snapshot *s)
{
	const struct meminfo *m = &s->system.meminfo;
	struct machine_balance *ret = &s->balance;
	uint64_t used, sum, anon, file, shmem;

	*ret = (struct machine_balance){};
	if (meminfo_swap_used(m, &used) && sum_of(s, COUNTER_SWAP_PSS, &sum)) {
		ret->swap_unattributed = used > sum ? used - sum : 0;
		ret->swap_unattributed_known = true;
	}
	if (meminfo_has(m, MEMINFO_SHMEM) && sum_of(s, COUNTER_PSS_SHMEM, &shmem)) {
		ret->shmem_not_in_pss =
			m->value[MEMINFO_SHMEM] > shmem ? m->value[MEMINFO_SHMEM] - shmem : 0;
		ret->shmem_not_in_pss_known = true;
	}
	if (!meminfo_has(m, MEMINFO_ANON) || !meminfo_has(m, MEMINFO_MAPPED) ||
	    !sum_of(s, COUNTER_PSS_ANON, &anon) || !sum_of(s, COUNTER_PSS_FILE, &file) ||
	    !sum_of(s, COUNTER_PSS_SHMEM, &shmem))
		return;
	ret->anon_residual = (int64_t)(m->value[MEMINFO_ANON] - anon);
	ret->mapped_residual = (int64_t)(m->value[MEMINFO_MAPPED] - file - shmem);
	ret->residual_known = true;
}

void balance_report(const struct result *result, struct system_report *ret)
{
	const struct snapshot *s = result->snapshot;
	struct system_report r = {.snapshot = s, .balance = result};
	uint64_t file, shmem;

	account_split(&s->system, &r.account);
	r.ram = s->system.ram;
	r.processes = r.pss_missing = not_recorded(s);
	for (size_t i = 0; i < s->count; i++) {
		const struct process *p = &s->process[i];

		if (p->kind != PROCESS_USER || !p->mm_owner)
			continue;
		r.processes++;
		r.pss_missing += !process_has(p, COUNTER_PSS);
	}
	r.swap_used_known = meminfo_swap_used(&s->system.meminfo, &r.swap_used);
	r.swap_pss_known = sum_of(s, COUNTER_SWAP_PSS, &r.swap_pss);
	r.swap_shmem_known = sum_of(s, COUNTER_SWAP_SHMEM, &r.swap_shmem);
	r.swap_ram_known = sum_of(s, COUNTER_SWAP_RAM, &r.swap_ram);
	r.pss_anon_known = sum_of(s, COUNTER_PSS_ANON, &r.pss_anon);
	r.pss_mapped_known =
		sum_of(s, COUNTER_PSS_FILE, &file) && sum_of(s, COUNTER_PSS_SHMEM, &shmem);
	r.pss_mapped = r.pss_mapped_known ? file + shmem : 0;
	r.unattributed_known = s->balance.swap_unattributed_known;
	r.unattributed = s->balance.swap_unattributed;
	*ret = r;
	if (!r.ram) {
		ram_from_counters(&(struct ram_sources){.system = &s->system,
							.after = &s->system.meminfo,
							.zones = &(struct zones){},
							.page_size = s->host.page_size},
				  "the recording has no page frames at this moment",
				  &ret->counters);
		ret->ram = &ret->counters;
	}
}
