// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Calls the library as a program would; the only file of the bench that opens a source. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "bench.h"

int engine_open(struct engine *e, bool pss, unsigned readers)
{
	const struct source_request request = {
		.choice = SOURCE_BPF, .pss = pss, .readers = readers, .memos = true};
	cleanup(diag_clear) struct diag diag = {};
	int r;

	*e = (struct engine){};
	r = procfs_open(&e->proc, "/proc");
	if (r < 0) {
		fprintf(stderr, "bench: /proc: %s\n", strerror(-r));
		return r;
	}
	r = source_open(&request, &e->proc, &diag, &e->source);
	if (r < 0) {
		const struct diag_note *why = source_reason(&diag);

		fprintf(stderr, "bench: BPF (be root): %s\n",
			why && why->reason ? why->reason : strerror(-r));
		procfs_close(&e->proc);
		return r;
	}
	e->open = true;
	return 0;
}

int engine_collect(struct engine *e)
{
	return source_collect(e->source, &e->snapshot);
}

size_t engine_pss_count(const struct engine *e, size_t *ret_processes)
{
	size_t n = 0;

	*ret_processes = 0;
	for (size_t i = 0; i < e->snapshot.count; i++) {
		*ret_processes += e->snapshot.process[i].kind == PROCESS_USER;
		n += e->snapshot.process[i].pss_source == PSS_FROM_KERNEL;
	}
	return n;
}

int engine_open_pss(struct engine *e, unsigned readers)
{
	size_t processes;
	int r = engine_open(e, true, readers);

	if (r < 0)
		return r;
	r = engine_collect(e);
	if (r == 0 && engine_pss_count(e, &processes) == 0)
		r = -EOPNOTSUPP;
	if (r < 0) {
		fprintf(stderr, "bench: no PSS from the kernel: %s\n", strerror(-r));
		engine_close(e);
	}
	return r;
}

void engine_close(struct engine *e)
{
	if (!e->open)
		return;
	snapshot_done(&e->snapshot);
	source_close(e->source);
	procfs_close(&e->proc);
	e->open = false;
}
