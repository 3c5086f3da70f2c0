// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A recorded source, put on a tape and played from it. Trusts nothing that is on the tape: a record
 * is one that record_decode takes, of the process it is said to be of.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/parse.h"
#include "source/record_decode.h"
#include "source/source_replay.h"

/* Those of x86-64 and of other machines that Linux runs on: 4 KiB to 256 KiB. */
#define PAGE_MIN 4096
#define PAGE_MAX (256 * 1024)

#define LIST	 "records"

static struct tape_key record_key(pid_t pid)
{
	struct tape_key key;

	snprintf(key.text, sizeof(key.text), "%d/record", pid);
	return key;
}

/* ---- recording ---- */

void recorded_keep_record(struct tape *tape, const void *record)
{
	struct zmem_record r = {};

	if (!tape_recording(tape))
		return;
	memcpy(&r, record, ZMEM_RECORD_SHORT);
	tape_put(tape, record_key(r.pid).text, 0, record, r.size);
}

void recorded_keep_missing(struct tape *tape, pid_t pid, int error)
{
	if (tape_recording(tape))
		tape_put(tape, record_key(pid).text, error, NULL, 0);
}

int recorded_keep_list(struct tape *tape, const struct snapshot *snapshot)
{
	cleanup_free pid_t *pids = NULL;

	if (!tape_recording(tape))
		return 0;
	pids = calloc(snapshot->count + 1, sizeof(*pids));
	if (!pids)
		return -ENOMEM;
	for (size_t i = 0; i < snapshot->count; i++)
		pids[i] = snapshot->process[i].pid;
	return tape_put_pids(tape, LIST, pids, snapshot->count);
}

static void keep_note(struct tape *tape, const struct diag_note *note)
{
	char error[16];

	snprintf(error, sizeof(error), "%d", -note->error);
	tape_put_string(tape, "diag/what", note->subject);
	tape_put_string(tape, "diag/error", error);
	tape_put_string(tape, "diag/why", note->reason ? note->reason : "");
	tape_put_string(tape, "diag/todo", note->hint ? note->hint : "");
}

void recorded_keep_facts(struct tape *tape, const struct recorded_facts *facts,
			 const struct diag *diag)
{
	tape_put_string(tape, "source/name", facts->name);
	tape_put_string(tape, "source/origin", facts->origin == FROM_BPF ? "bpf" : "proc");
	tape_put_u64(tape, "source/page_size", facts->page_size);
	if (facts->pss_refusal)
		tape_put_string(tape, "source/pss_refusal", facts->pss_refusal);
	for (int i = 0; i < diag->count; i++)
		keep_note(tape, &diag->note[i]);
}

void recorded_keep_ram(struct tape *tape, uint64_t bytes)
{
	tape_put_u64(tape, "source/ram_bytes", bytes);
}

/* ---- playing ---- */

static void take_notes(struct tape *tape, struct diag *diag)
{
	while (diag->count < DIAG_NOTES && tape_has_next(tape, "diag/what")) {
		const char *what = tape_next_string(tape, "diag/what");
		const char *why = tape_next_string(tape, "diag/why");
		const char *todo = tape_next_string(tape, "diag/todo");
		uint64_t error = 0;

		tape_next_u64(tape, "diag/error", &error);
		diag_add(diag, what ? what : "", -(int)(error % 4096), todo && *todo ? todo : NULL,
			 "%s", why ? why : "");
	}
}

int recorded_take_facts(struct tape *tape, struct recorded_facts *ret, struct diag *diag)
{
	const char *name = tape_next_string(tape, "source/name");
	const char *origin = tape_next_string(tape, "source/origin");
	uint64_t page_size = 0;

	tape_next_u64(tape, "source/page_size", &page_size);
	if (!name || !origin || page_size < PAGE_MIN || page_size > PAGE_MAX ||
	    (page_size & (page_size - 1)))
		return -EBADMSG;
	if (strcmp(origin, "bpf") != 0 && strcmp(origin, "proc") != 0)
		return -EBADMSG;
	*ret = (struct recorded_facts){
		.name = name,
		.origin = strcmp(origin, "bpf") == 0 ? FROM_BPF : FROM_PROC,
		.page_size = (uint32_t)page_size,
		.pss_refusal = tape_next_string(tape, "source/pss_refusal"),
	};
	take_notes(tape, diag);
	return 0;
}

struct recorded_state {
	struct tape *tape;
	struct decode_limits limits;
	bool leave_pages;
};

struct playing {
	struct recorded_state *state;
	struct snapshot *snapshot;
};

static int recorded_open(const struct procfs *proc, struct diag *diag, void **ret_state)
{
	struct recorded_state *state = calloc(1, sizeof(*state));
	uint64_t page_size = PAGE_MIN;

	(void)diag;
	if (!state)
		return -ENOMEM;
	state->tape = proc->tape;
	tape_next_u64(proc->tape, "source/page_size", &page_size);
	state->limits.page_size = (uint32_t)page_size;
	tape_next_u64(proc->tape, "source/ram_bytes", &state->limits.ram_bytes);
	*ret_state = state;
	return 0;
}

void recorded_leave_pages(void *state)
{
	struct recorded_state *s = state;

	s->leave_pages = true;
}

static int recorded_revisit(void *state, pid_t pid, struct snapshot *snapshot)
{
	struct recorded_state *s = state;
	struct zmem_pss_record r = {};
	struct tape_reading reading;

	if (tape_next(s->tape, record_key(pid).text, &reading) == TAPE_NONE ||
	    reading.error == -ESRCH)
		return -ESRCH;
	if (reading.error || !reading.len || reading.len > sizeof(r) ||
	    record_size(reading.data, reading.len) != (long)reading.len)
		return -EBADMSG;
	memcpy(&r, reading.data, reading.len);
	if (r.record.pid != pid)
		return -EBADMSG;
	if (s->leave_pages && (r.record.valid & ZMEM_VALID_PAGES)) {
		r.record.valid &= ~(uint32_t)ZMEM_VALID_PAGES;
		r.record.size = sizeof(r.record);
	}
	return record_decode_one(&r, &s->limits, snapshot);
}

static int recorded_one(void *arg, pid_t pid)
{
	struct playing *r = arg;
	int err = recorded_revisit(r->state, pid, r->snapshot);

	return err == -ESRCH ? 0 : err;
}

static int recorded_collect(void *state, unsigned readers, struct snapshot *snapshot)
{
	struct playing r = {state, snapshot};
	int err;

	(void)readers;
	err = tape_next_pids(r.state->tape, LIST, recorded_one, &r);
	return err == -ENOENT ? -EBADMSG : err;
}

const struct source_ops source_recorded = {
	.name = "a recording",
	.origin = FROM_BPF,
	.pss = true,
	.open = recorded_open,
	.collect = recorded_collect,
	.revisit = recorded_revisit,
	.close = free,
};
