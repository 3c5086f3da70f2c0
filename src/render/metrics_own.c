// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Knows the names that the field has for a process's own cost, and ours. */
#include "render/metrics_own.h"

#include <stdio.h>

#include "base/array.h"

#define FAMILY(name_, type_, unit_, help_)                                                         \
	(&(const struct metric_family){                                                            \
		.name = (name_), .type = (type_), .unit = (unit_), .help = (help_)})

static void put_processes(struct metrics_writer *w, const struct metrics_own *own)
{
	size_t n = ARRAY_SIZE(own->process);

	metrics_family(w, FAMILY("process_cpu_seconds", METRIC_COUNTER, "seconds",
				 "CPU time of this program's processes."));
	for (size_t i = 0; i < n; i++) {
		metrics_sample(w);
		metrics_label(w, "role", own->process[i].role);
		metrics_fixed(w, own->process[i].cpu_us, 1000000);
	}
	metrics_family(w, FAMILY("process_resident_memory_bytes", METRIC_GAUGE, "bytes",
				 "Resident memory of this program's processes."));
	for (size_t i = 0; i < n; i++) {
		if (!own->process[i].resident)
			continue;
		metrics_sample(w);
		metrics_label(w, "role", own->process[i].role);
		metrics_u64(w, own->process[i].resident);
	}
	metrics_family(w, FAMILY("process_open_fds", METRIC_GAUGE, NULL,
				 "Open file descriptors of this program's processes."));
	for (size_t i = 0; i < n; i++) {
		metrics_sample(w);
		metrics_label(w, "role", own->process[i].role);
		metrics_u64(w, own->process[i].fds);
	}
	metrics_family(w, FAMILY("process_start_time_seconds", METRIC_GAUGE, "seconds",
				 "Start time of this program since the Unix epoch."));
	if (own->start_ms < 0)
		return;
	metrics_sample(w);
	metrics_fixed(w, (uint64_t)own->start_ms, 1000);
}

static void put_requests(struct metrics_writer *w, const struct metrics_own *own)
{
	metrics_family(w, FAMILY("zmem_http_requests", METRIC_COUNTER, NULL,
				 "HTTP requests answered, by status code."));
	for (size_t i = 0; i < ARRAY_SIZE(own->answered) && own->answered[i].code; i++) {
		char code[16];

		snprintf(code, sizeof(code), "%u", own->answered[i].code);
		metrics_sample(w);
		metrics_label(w, "code", code);
		metrics_u64(w, own->answered[i].count);
	}
	metrics_family(
		w, FAMILY("zmem_http_connections", METRIC_GAUGE, NULL, "Open HTTP connections."));
	metrics_known(w, true, own->connections);
}

void metrics_put_own(struct metrics_writer *w, const struct metrics_own *own)
{
	metrics_family(w, FAMILY("zmem_collections", METRIC_COUNTER, NULL,
				 "Collections since the start."));
	metrics_known(w, true, own->collections);
	metrics_family(w, FAMILY("zmem_collect_failures", METRIC_COUNTER, NULL,
				 "Collections that failed since the start."));
	metrics_known(w, true, own->failures);
	metrics_family(w, FAMILY("zmem_groups_tracked", METRIC_GAUGE, NULL,
				 "Groups tracked to choose those with series, at most four for "
				 "each of these."));
	metrics_known(w, true, own->groups_tracked);
	metrics_family(w, FAMILY("zmem_groups_error_bytes", METRIC_GAUGE, "bytes",
				 "Upper bound of an untracked group's PSS and swap, as a mean "
				 "over the last minutes."));
	metrics_known(w, own->groups_error >= 0 && own->groups_error < 9e15,
		      (uint64_t)own->groups_error);
	put_requests(w, own);
	put_processes(w, own);
}
