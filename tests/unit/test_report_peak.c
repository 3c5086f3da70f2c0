// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The renderers of the peak of a command against golden files. */
#include "golden.h"
#include "sample.h"

#include "report/peak.h"

#define PROCESSES 5

struct fixture {
	struct sample sample;
	struct peak_process process[PROCESSES];
	struct peak_point point[4];
	struct peak peak;
};

static const struct table_style usual = {.header = true};
static const struct table_style exact = {.header = true, .bytes = true, .width = 80};

static struct peak_process process(pid_t pid, pid_t ppid, const char *name, uint64_t rss,
				   uint64_t most)
{
	struct peak_process p = {
		.pid = pid, .ppid = ppid, .at = {.rss = rss, .anon = rss}, .most = most};

	snprintf(p.name, sizeof(p.name), "%s", name);
	return p;
}

static void peak_init(struct fixture *f)
{
	static char *command[] = {"make", "-j8", "\xff\x1b[31m", "</script>", NULL};

	*f = (struct fixture){};
	sample_init(&f->sample);
	f->process[0] = process(1241, 1203, "cc1plus", 900 * MIB, 1100 * MIB);
	f->process[0].pss = 850 * MIB;
	f->process[0].pss_known = true;
	f->process[1] = process(1242, 1204, "\xff\x1b[31m</script>", 100 * MIB, 100 * MIB);
	f->process[1].at.swap = 7 * MIB;
	f->process[2] = process(1200, 1100, "make", 3 * MIB, 3 * MIB);
	f->process[3] = process(1243, 1200, "ld", 0, 700 * MIB);
	f->process[4] = process(1244, 0, "sh", 0, 0);
	f->process[4].shared = true;
	f->point[0] = (struct peak_point){10000, 2 * MIB};
	f->point[1] = (struct peak_point){20000, 1003 * MIB};
	f->point[2] = (struct peak_point){30000, 700 * MIB};
	f->point[3] = (struct peak_point){3754321000, 0};
	f->peak = (struct peak){
		.snapshot = &f->sample.snapshot,
		.command = command,
		.exit_code = 2,
		.duration_us = 3754321000,
		.time_ms = f->sample.snapshot.time_ms - 3754306,
		.offset_us = 14999,
		.at = {.rss = 1003 * MIB,
		       .anon = 900 * MIB,
		       .file = 100 * MIB,
		       .shmem = 3 * MIB,
		       .swap = 7 * MIB},
		.held_by = 3,
		.error_known = true,
		.pss_known = true,
		.pss = 860 * MIB,
		.pss_rss = 990 * MIB,
		.pss_offset_us = 74000000,
		.all = 1532,
		.process = f->process,
		.processes = PROCESSES,
		.point = f->point,
		.points = ARRAY_SIZE(f->point),
	};
}

FIXTURE(peak_init, no_end)

static void check_table(const char *name, const struct fixture *f, size_t rows,
			const struct table_style *style)
{
	golden_render(name, render_peak_table, &f->peak, rows, style);
}

FIXTURE_TEST(table)
{
	check_table("peak.txt", f, 10, &usual);
	check_table("peak_rows.txt", f, 2, &exact);
}

/* What is not known, and what is not in the sum, is said. */
FIXTURE_TEST(doubts)
{
	f->peak.pss_known = false;
	f->peak.pss_reason = "it ended before PSS could be read";
	f->peak.pss_offset_us = 0;
	f->peak.error = 4 * MIB;
	f->peak.no_room = 3;
	f->peak.lost = 2;
	f->peak.still = 1;
	f->peak.exit_code = 143;
	f->peak.signal = 15;
	for (int i = 0; i < PROCESSES; i++) {
		f->process[i].at.swap = 0;
		f->process[i].pss_known = false;
	}
	f->peak.at.swap = 0;
	check_table("peak_doubts.txt", f, 10, &usual);
	golden_json("peak_doubts.json", render_peak_json, &f->peak);
	/* Samples, of processes that ran. */
	f->peak.method = PEAK_SAMPLE;
	f->peak.interval_us = 85000;
	f->peak.error_known = false;
	f->peak.error = f->peak.no_room = f->peak.lost = f->peak.still = 0;
	f->peak.command = NULL;
	f->peak.exit_code = -1;
	f->peak.signal = 0;
	f->peak.processes = 0;
	check_table("peak_sampled.txt", f, 10, &usual);
	golden_json("peak_sampled.json", render_peak_json, &f->peak);
	/* No sample met it. */
	f->peak.unseen = true;
	check_table("peak_unseen.txt", f, 10, &usual);
	golden_json("peak_unseen.json", render_peak_json, &f->peak);
}

FIXTURE_TEST(documents)
{
	cleanup(strbuf_done) struct strbuf out = {};

	golden_json("peak.json", render_peak_json, &f->peak);
	/* Names of others are text in the page, and no markup. */
	render_peak_html(&out, &f->peak);
	assert_int_equal(strbuf_error(&out), 0);
	assert_null(strstr(strbuf_str(&out), "31m</script>"));
	assert_non_null(strstr(strbuf_str(&out), "&lt;/script&gt;"));
	assert_non_null(strstr(strbuf_str(&out), "<summary>2 that held nothing then<"));
	assert_non_null(strstr(strbuf_str(&out),
			       "<path d=\"M0 240V239.5H0.0V10.0H0.0V79.5H0.0V240.0"
			       "H1000.0V240Z\"/>"));
}
