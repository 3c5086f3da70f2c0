// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Encodes the processes of a snapshot: which there are, their address spaces, their counters. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/snapshot_codec_internal.h"

/* ---- the rows ---- */

/* Finds the row of the reference for each process. */
static void match_rows(struct codec *k, uint32_t *match)
{
	const struct snapshot *s = k->s, *reference = k->reference;
	size_t at = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct process *p = &s->process[i];

		if (p->pid <= (i ? s->process[i - 1].pid : 0))
			codec_bad(&k->columns);
		while (at < reference->count && reference->process[at].pid < p->pid)
			at++;
		match[i] = CODEC_NO_ROW;
		if (at < reference->count && reference->process[at].pid == p->pid &&
		    reference->process[at].start_ns == p->start_ns)
			match[i] = (uint32_t)at;
	}
}

/* Writes which rows of the reference have ended, then the pids of new processes. */
void write_rows(struct codec *k, uint32_t *match)
{
	struct codec_rows rows = {.match = k->no_match};
	uint64_t head[3] = {0, k->reference->count, (uint64_t)k->reference->time_ms};

	match_rows(k, match);
	for (size_t i = 0; i < k->s->count; i++)
		head[0] += match[i] == CODEC_NO_ROW;
	rows.count = ARRAY_SIZE(head);
	codec_ints(&k->columns, ID_ROWS, head, NULL, &rows);
	for (size_t i = 0; i < k->reference->count; i++)
		k->value[i] = 1;
	for (size_t i = 0; i < k->s->count; i++) {
		if (match[i] != CODEC_NO_ROW)
			k->value[match[i]] = 0;
	}
	rows.count = k->reference->count;
	codec_ints(&k->columns, ID_GONE, k->value, NULL, &rows);
	rows.count = 0;
	for (size_t i = 0; i < k->s->count; i++) {
		if (match[i] == CODEC_NO_ROW)
			k->value[rows.count++] = (uint64_t)k->s->process[i].pid;
	}
	rows.chained = true;
	codec_ints(&k->columns, ID_PIDS, k->value, NULL, &rows);
}

/* Makes the rows in the order of pids: rows of the reference that have not ended, and new ones. */
static void merge_rows(struct codec *k, uint64_t *gone, const uint64_t *pid, size_t begun,
		       uint32_t *match)
{
	const struct snapshot *reference = k->reference;
	size_t at = 0, next = 0;
	uint64_t last = 0;

	for (size_t i = 0; i < k->s->count; i++) {
		struct process *p = &k->s->process[i];

		while (at < reference->count && gone[at])
			at++;
		match[i] = CODEC_NO_ROW;
		if (next == begun ||
		    (at < reference->count && (uint64_t)reference->process[at].pid < pid[next])) {
			p->pid = reference->process[at].pid;
			match[i] = (uint32_t)at++;
		} else {
			p->pid = (pid_t)pid[next++];
		}
		if ((uint64_t)p->pid <= last || (uint64_t)p->pid > INT_MAX) {
			codec_bad(&k->columns);
			return;
		}
		last = (uint64_t)p->pid;
	}
}

static void add_rows(struct codec *k, size_t count)
{
	struct snapshot *s = k->s;
	struct process *process = s->process;

	if (count > s->capacity || !process) {
		process = reallocarray(NULL, count + 1, sizeof(*process));
		if (!process) {
			codec_fail(&k->columns, -ENOMEM);
			return;
		}
		free(s->process);
		s->process = process;
		s->capacity = count + 1;
	}
	memset(process, 0, count * sizeof(*process));
	s->count = count;
}

uint32_t *read_rows(struct codec *k)
{
	struct codec_rows rows = {.match = k->no_match};
	size_t before = k->reference->count, kept = 0;
	uint32_t *match = NULL;
	uint64_t head[3], *gone;

	rows.count = ARRAY_SIZE(head);
	codec_ints(&k->columns, ID_ROWS, head, NULL, &rows);
	/* A pid takes at least a byte, since no difference is 0. */
	if (k->columns.error || head[1] != before || head[2] != (uint64_t)k->reference->time_ms ||
	    head[0] > codec_block_len(&k->columns, ID_PIDS)) {
		codec_bad(&k->columns);
		return NULL;
	}
	codec_reserve(k, larger(before + head[0], MEMINFO_NUMBERS));
	gone = codec_alloc(&k->columns, before, sizeof(*gone));
	match = codec_alloc(&k->columns, before + head[0], sizeof(*match));
	if (k->columns.error)
		return NULL;
	rows.match = k->no_match;
	rows.count = before;
	codec_ints(&k->columns, ID_GONE, gone, NULL, &rows);
	for (size_t i = 0; i < before; i++)
		kept += !gone[i];
	rows.count = head[0];
	rows.chained = true;
	codec_ints(&k->columns, ID_PIDS, k->value, NULL, &rows);
	if (!k->columns.error)
		add_rows(k, kept + head[0]);
	if (!k->columns.error)
		merge_rows(k, gone, k->value, head[0], match);
	return match;
}

/* ---- processes ---- */

/* 0: first row with its address space; n: the same as n rows before; -1: unknown. */
static void mm_values(struct codec *k, const struct snapshot *s, uint64_t *value)
{
	uint32_t *first, most = 0;

	for (size_t i = 0; i < s->count; i++)
		most = larger(most, s->process[i].mm_id);
	/* mm_ids are at most the number of processes. */
	if (most > INT_MAX / 256) {
		codec_bad(&k->columns);
		return;
	}
	first = codec_alloc(&k->columns, most, sizeof(*first));
	for (size_t i = 0; first && i < s->count; i++) {
		uint32_t id = s->process[i].mm_id;

		value[i] = id ? 0 : UINT64_MAX;
		if (id && first[id])
			value[i] = i + 1 - first[id];
		else if (id)
			first[id] = (uint32_t)i + 1;
	}
}

static void code_mm(struct codec *k, const struct codec_rows *rows)
{
	struct process *p = k->s->process;
	uint32_t last = 0;

	if (codec_writes(k))
		mm_values(k, k->s, k->value);
	mm_values(k, k->reference, k->reference_value);
	codec_ints(&k->columns, ID_MM, k->value, k->reference_value, rows);
	for (size_t i = 0; !codec_writes(k) && !k->columns.error && i < rows->count; i++) {
		uint64_t v = k->value[i];

		if (v == 0)
			p[i].mm_id = ++last;
		else if (v <= i && p[i - v].mm_id)
			p[i].mm_id = p[i - v].mm_id;
		else if (v != UINT64_MAX)
			codec_bad(&k->columns);
	}
}

static bool has_all(const struct process *p, enum counter a, enum counter b, enum counter c)
{
	counter_mask all = COUNTER_BIT(a) | COUNTER_BIT(b) | COUNTER_BIT(c);

	return (p->have & all) == all;
}

/* True if process_derive() computes RSS. */
static bool rss_is_derived(const struct process *p)
{
	const uint64_t *v = p->value;
	uint64_t sum;

	return has_all(p, COUNTER_RSS_ANON, COUNTER_RSS_FILE, COUNTER_RSS_SHMEM) &&
	       !__builtin_add_overflow(v[COUNTER_RSS_ANON], v[COUNTER_RSS_FILE], &sum) &&
	       !__builtin_add_overflow(sum, v[COUNTER_RSS_SHMEM], &sum);
}

/* The set of counters that are stored, by their number in the format. */
static uint64_t stored_counters(const struct process *p)
{
	uint64_t have = 0;

	for (int c = 0; c < COUNTER_COUNT; c++) {
		if (process_has(p, c) && counter_number[c] != NOT_STORED)
			have |= UINT64_C(1) << counter_number[c];
	}
	if (rss_is_derived(p))
		have &= ~(UINT64_C(1) << counter_number[COUNTER_RSS]);
	return have;
}

/* PSS is nearly the sum of its parts: only the rest is stored. */
static uint64_t expected(const struct process *p, enum counter c)
{
	if (c != COUNTER_PSS || !has_all(p, COUNTER_PSS_ANON, COUNTER_PSS_FILE, COUNTER_PSS_SHMEM))
		return 0;
	return p->value[COUNTER_PSS_ANON] + p->value[COUNTER_PSS_FILE] +
	       p->value[COUNTER_PSS_SHMEM];
}

static void code_counter(struct codec *k, const struct codec_rows *rows, enum counter c,
			 const uint64_t *have, const uint64_t *reference_have)
{
	uint64_t bit = UINT64_C(1) << counter_number[c];
	const struct process *before = k->reference->process;
	struct process *p = k->s->process;

	for (size_t i = 0; codec_writes(k) && i < rows->count; i++)
		k->value[i] = have[i] & bit ? p[i].value[c] - expected(&p[i], c) : 0;
	for (size_t i = 0; i < rows->reference_count; i++)
		k->reference_value[i] =
			reference_have[i] & bit ? before[i].value[c] - expected(&before[i], c) : 0;
	/* A value that a row no longer has is a difference, too. */
	codec_ints(&k->columns, ID_COUNTER + counter_number[c], k->value, k->reference_value, rows);
	for (size_t i = 0; !codec_writes(k) && !k->columns.error && i < rows->count; i++) {
		if (have[i] & bit)
			process_set(&p[i], c, k->value[i] + expected(&p[i], c));
		else if (k->value[i])
			codec_bad(&k->columns);
	}
}

static void code_counters(struct codec *k, struct codec_rows *rows)
{
	size_t count = rows->count, before = rows->reference_count;
	uint64_t *have = codec_alloc(&k->columns, count, sizeof(*have));
	uint64_t *reference_have = codec_alloc(&k->columns, before, sizeof(*have));

	if (k->columns.error)
		return;
	for (size_t i = 0; codec_writes(k) && i < count; i++)
		have[i] = stored_counters(&k->s->process[i]);
	for (size_t i = 0; i < before; i++)
		reference_have[i] = stored_counters(&k->reference->process[i]);
	codec_ints(&k->columns, ID_HAVE, have, reference_have, rows);
	rows->chained = false;
	for (int c = 0; c < COUNTER_COUNT; c++) {
		if (counter_number[c] != NOT_STORED && c != COUNTER_PSS)
			code_counter(k, rows, c, have, reference_have);
	}
	/* PSS comes last, because its prediction needs its parts. */
	code_counter(k, rows, COUNTER_PSS, have, reference_have);
}

void code_processes(struct codec *k, const uint32_t *match)
{
	struct table t = {
		.row = k->s->process,
		.reference = k->reference->process,
		.stride = sizeof(struct process),
		.rows = {.count = k->s->count,
			 .reference_count = k->reference->count,
			 .match = match,
			 .chained = true},
	};

	for (size_t i = 0; !k->columns.error && i < ARRAY_SIZE(process_members); i++) {
		const struct member *m = &process_members[i];

		if (m->kind == MEMBER_INT) {
			code_int(k, &t, m);
			continue;
		}
		/* The name mostly equals the comm, which comes earlier. */
		for (size_t n = 0; n < t.rows.count; n++)
			k->predicted[n] = k->s->process[n].comm;
		code_text(k, &t, m,
			  m->offset == offsetof(struct process, name) ? k->predicted : NULL);
	}
	for (size_t i = 0; !k->columns.error && i < t.rows.count; i++) {
		if (!codec_writes(k) && !k->s->process[i].name)
			codec_bad(&k->columns);
	}
	code_mm(k, &t.rows);
	code_counters(k, &t.rows);
}

void derive_processes(struct codec *k)
{
	struct snapshot *s = k->s;
	struct process **row = codec_alloc(&k->columns, s->count, sizeof(*row));

	for (size_t i = 0; row && i < s->count; i++) {
		row[i] = &s->process[i];
		process_derive(row[i]);
	}
	if (row && snapshot_own_mm(s, row, s->count) < 0)
		codec_fail(&k->columns, -ENOMEM);
}
