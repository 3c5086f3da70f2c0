// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The machine's totals less the sums of the processes. */
#include "unit.h"

#include "collect/balance.h"

#define MIB UINT64_C(1048576)

static struct process *add(struct snapshot *s, pid_t pid)
{
	struct process *p = snapshot_add(s);

	assert_non_null(p);
	p->pid = pid;
	p->kind = PROCESS_USER;
	p->pss_source = PSS_FROM_KERNEL;
	p->mm_key = (uint64_t)pid;
	p->mm_owner = true;
	process_set(p, COUNTER_PSS, 6 * MIB);
	process_set(p, COUNTER_PSS_ANON, 3 * MIB);
	process_set(p, COUNTER_PSS_FILE, 2 * MIB);
	process_set(p, COUNTER_PSS_SHMEM, MIB);
	process_set(p, COUNTER_SWAP_PSS, MIB);
	return p;
}

static void set_meminfo(struct snapshot *s, int field, uint64_t value)
{
	s->system.meminfo.have |= (__typeof__(s->system.meminfo.have))1 << field;
	s->system.meminfo.value[field] = value;
}

static struct snapshot filled(void)
{
	struct snapshot made = {}, *s = &made;

	add(s, 1);
	add(s, 2);
	/* A thread group with the address space of another process. */
	add(s, 3)->mm_owner = false;
	set_meminfo(s, MEMINFO_ANON, 7 * MIB);
	set_meminfo(s, MEMINFO_MAPPED, 5 * MIB);
	set_meminfo(s, MEMINFO_SHMEM, 100 * MIB);
	set_meminfo(s, MEMINFO_SWAP_TOTAL, 10 * MIB);
	set_meminfo(s, MEMINFO_SWAP_FREE, 7 * MIB);
	return made;
}

TEST(reconcile)
{
	cleanup(snapshot_done) struct snapshot s = filled();

	balance_reconcile(&s);
	assert_true(s.balance.residual_known);
	assert_int_equal(s.balance.anon_residual, (int64_t)MIB);
	assert_int_equal(s.balance.mapped_residual, -(int64_t)MIB);
	assert_true(s.balance.swap_unattributed_known);
	assert_int_equal(s.balance.swap_unattributed, MIB);
	assert_true(s.balance.shmem_not_in_pss_known);
	assert_int_equal(s.balance.shmem_not_in_pss,
			 100 * MIB - 2 * s.process[0].value[COUNTER_PSS_SHMEM]);
	set_meminfo(&s, MEMINFO_SHMEM, 0);
	balance_reconcile(&s);
	assert_int_equal(s.balance.shmem_not_in_pss, 0);
	/* One process without PSS: no sum is complete. */
	s.process[1].have &= ~(COUNTER_BIT(COUNTER_PSS_FILE) | COUNTER_BIT(COUNTER_SWAP_PSS) |
			       COUNTER_BIT(COUNTER_PSS_SHMEM));
	balance_reconcile(&s);
	assert_false(s.balance.shmem_not_in_pss_known);
	assert_false(s.balance.residual_known);
	assert_false(s.balance.swap_unattributed_known);
}

TEST(no_swap)
{
	cleanup(snapshot_done) struct snapshot s = filled();

	balance_no_swap(&s);
	assert_false(process_has(&s.process[0], COUNTER_SWAP_SHMEM));
	assert_false(process_has(&s.process[0], COUNTER_SWAP_RAM));
	set_meminfo(&s, MEMINFO_SWAP_FREE, 10 * MIB);
	s.process[1].pss_source = PSS_FROM_NOTHING;
	process_set(&s.process[0], COUNTER_SWAP, 0);
	process_set(&s.process[1], COUNTER_SWAP, 0);
	balance_no_swap(&s);
	assert_true(process_has(&s.process[0], COUNTER_SWAP_SHMEM));
	assert_int_equal(s.process[0].value[COUNTER_SWAP_SHMEM], 0);
	/* Whatever is known of PSS. */
	assert_true(process_has(&s.process[1], COUNTER_SWAP_SHMEM));
	for (size_t i = 0; i < s.count; i++) {
		assert_int_equal(process_has(&s.process[i], COUNTER_SWAP_RAM),
				 s.process[i].kind == PROCESS_USER &&
					 process_has(&s.process[i], COUNTER_SWAP));
		assert_int_equal(s.process[i].value[COUNTER_SWAP_RAM], 0);
	}
	assert_true(process_has(&s.process[0], COUNTER_SWAP_RAM));
}

TEST(report)
{
	cleanup(snapshot_done) struct snapshot s = filled();
	struct result result = {.snapshot = &s};
	struct system_report r;

	balance_reconcile(&s);
	balance_report(&result, &r);
	assert_int_equal(r.processes, 2);
	assert_int_equal(r.pss_missing, 0);
	assert_true(r.pss_mapped_known && r.pss_anon_known && r.swap_pss_known);
	assert_int_equal(r.pss_mapped, 6 * MIB);
	assert_int_equal(r.pss_anon, 6 * MIB);
	assert_int_equal(r.swap_pss, 2 * MIB);
	assert_int_equal(r.swap_used, 3 * MIB);
	assert_int_equal(r.unattributed, MIB);
	/* Sums that cannot be subtracted are not known. */
	process_set(&s.process[0], COUNTER_PSS_FILE, UINT64_MAX);
	process_set(&s.process[0], COUNTER_SWAP_PSS, (uint64_t)1 << 62);
	s.process[1].have &= ~COUNTER_BIT(COUNTER_PSS);
	balance_report(&result, &r);
	assert_int_equal(r.pss_missing, 1);
	assert_false(r.pss_mapped_known);
	assert_false(r.swap_pss_known);
}
