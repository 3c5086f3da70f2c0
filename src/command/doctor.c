// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * zmem-bpf doctor: first a verdict in one sentence and the one thing to do, then a row for each
 * part that a snapshot uses. With -v, every way to read counters is tried by itself.
 */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "command/table.h"
#include "doctor/doctor.h"
#include "session/log.h"
#include "write/text.h"

#define NAME_WIDTH    16 /* of a part: CAP_SYS_PTRACE */
#define VARIANT_WIDTH 30 /* of a way to read counters: bpf with pages (probe reads) */

/* Snapshots need nothing; another command may. */
static void end_verdict(struct doctor *d)
{
	size_t len = strlen(d->verdict);
	bool failed = d->rows.failed || d->watched.failed;

	snprintf(d->verdict + len, sizeof(d->verdict) - len, "%s.",
		 !d->best ? ""
		 : failed ? "; rows with \"no\" say what is missing"
			  : "; nothing needs to be done");
}

static int print_all(struct doctor *d)
{
	cleanup(strbuf_done) struct strbuf out = {};
	char hint[256];

	end_verdict(d);
	text_put_folded(&out, d->verdict, 0, DOCTOR_WIDTH);
	if (d->hint) {
		snprintf(hint, sizeof(hint), "To do: %s", d->hint);
		text_put_folded(&out, hint, 0, DOCTOR_WIDTH);
	}
	strbuf_putc(&out, '\n');
	strbuf_puts(&out, strbuf_str(&d->rows.text));
	strbuf_puts(&out, strbuf_str(&d->watched.text));
	if (d->verbose) {
		strbuf_puts(&out, "\nevery way to read counters, the best one first:\n");
		strbuf_puts(&out, strbuf_str(&d->variants.text));
		strbuf_puts(&out, strbuf_str(&d->dropped.text));
	}
	if (strbuf_error(&d->rows.text) || strbuf_error(&d->watched.text) ||
	    strbuf_error(&d->variants.text) || strbuf_error(&d->dropped.text) || strbuf_error(&out))
		return log_error("doctor: out of memory");
	fwrite(out.data, 1, out.len, stdout);
	return log_stdout_done();
}

int command_doctor(const struct options *o)
{
	cleanup(doctor_done) struct doctor d = {
		.proc.fd = -1,
		.verbose = o->verbose,
		.rows.width = NAME_WIDTH,
		.watched.width = NAME_WIDTH,
		.variants.width = VARIANT_WIDTH,
		.dropped.width = VARIANT_WIDTH,
	};
	int r;

	procfs_open(&d.proc, "/proc");
	for (int i = 0; i < PRIVILEGE_COUNT; i++)
		d.held[i] = privilege_held(i);
	doctor_add_kernel(&d);
	/* Before capabilities are dropped. */
	doctor_add_files(&d);
	doctor_add_gpus(&d);
	doctor_add_kernel_memory(&d);
	doctor_add_frames(&d);
	doctor_add_swap(&d);
	for (size_t i = 0; d.verbose && source_variant(i); i++)
		doctor_try_variant(&d, source_variant(i));
	doctor_add_recorder(&d);
	doctor_add_grow(&d);
	doctor_add_peak(&d);
	doctor_check_source(&d, o->held);
	doctor_add_proc(&d);
	doctor_add_pin(&d);
	doctor_add_serve(&d);
	r = print_all(&d);
	if (r == EXIT_DONE && !d.works)
		return log_error("no source of counters works here");
	return r;
}
