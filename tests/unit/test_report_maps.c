// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Both renderers of mappings against golden files. */
#include "golden.h"
#include "sample.h"

#include "report/report.h"

#define ROWS	  5
#define PROCESSES 4

struct fixture {
	struct sample sample;
	struct maps_process process[PROCESSES];
	struct mapping mapping[ROWS];
	struct mapping *rows[ROWS];
	struct maps_report report;
};

static struct map_counters counters(uint64_t size, uint64_t rss, uint64_t pss, uint64_t private)
{
	struct map_counters f = {.have = MAPS_COUNTERS_SMAPS};

	f.value[MAPS_SIZE] = size;
	f.value[MAPS_RSS] = rss;
	f.value[MAPS_PSS] = pss;
	f.value[MAPS_PRIVATE] = private;
	f.value[MAPS_SHARED] = rss - private;
	return f;
}

static void set_mapping(struct fixture *f, int i, uint64_t start, const char *perm,
			const char *name, struct map_counters counters)
{
	f->mapping[i] = (struct mapping){.start = start,
					 .end = start + counters.value[MAPS_SIZE],
					 .pid = 100,
					 .mappings = 1,
					 .processes = 1,
					 .name = name,
					 .counters = counters};
	memcpy(f->mapping[i].perm, perm, 4);
	f->rows[i] = &f->mapping[i];
}

static void put_process(struct fixture *f, int i, pid_t pid, const char *name,
			enum pss_status status)
{
	struct process *p = &f->sample.process[i];

	p->pid = pid;
	p->name = name;
	p->kind = status == PSS_KERNEL_THREAD ? PROCESS_KTHREAD : PROCESS_USER;
	p->mm_owner = p->kind == PROCESS_USER;
	f->process[i] = (struct maps_process){.process = p, .status = status};
}

static void counter_init(struct fixture *f)
{
	*f = (struct fixture){};
	sample_init(&f->sample);
	set_mapping(f, 0, 0x400000, "r-xp", "/usr/bin/big text",
		    counters(4 * MIB, 4 * MIB, 4 * MIB, 0));
	f->mapping[0].counters.value[MAPS_THP] = 2 * MIB;
	f->mapping[0].counters.value[MAPS_LOCKED] = 4 * MIB;
	set_mapping(f, 1, 0x55d0c0000000, "rw-p", "[heap]",
		    counters(MIB, 512 * KIB, 500 * KIB, 256 * KIB));
	f->mapping[1].counters.value[MAPS_SWAP] = 64 * KIB;
	f->mapping[1].counters.value[MAPS_SWAP_PSS] = 32 * KIB;
	set_mapping(f, 2, 0x7f0000000000, "rw-s", "/tmp/\x1b[31m\xff\nRss: 9 (deleted)",
		    counters(8 * KIB, 0, 0, 0));
	set_mapping(f, 3, 0x7f0000200000, "rw-s", "/anon_hugepage (deleted)",
		    counters(2 * MIB, 0, 0, 0));
	f->mapping[3].counters.value[MAPS_HUGETLB] = 2 * MIB;
	set_mapping(f, 4, 0xffffffffff600000, "--xp", "[vsyscall]", counters(4 * KIB, 0, 0, 0));
	f->mapping[4].name_cut = true;
	f->mapping[4].counters.have &= ~(1u << MAPS_SWAP_PSS | 1u << MAPS_HUGETLB);
	put_process(f, 0, 100, "big", PSS_OK);
	f->process[0].counted = f->process[0].total_exact = true;
	f->process[0].mappings = ROWS;
	f->process[0].total = MAPS_COUNTERS_ZERO;
	for (int i = 0; i < ROWS; i++)
		map_counters_add(&f->process[0].total, &f->mapping[i].counters);
	f->report = (struct maps_report){
		.snapshot = &f->sample.snapshot,
		.process = f->process,
		.process_count = 1,
		.rows = f->rows,
		.row_count = ROWS,
		.total = f->process[0].total,
		.mappings = ROWS,
	};
}

/* Several processes, some of which cannot be read; not all rows are shown. */
static void counter_several(struct fixture *f)
{
	counter_init(f);
	put_process(f, 1, 2, "kthreadd", PSS_KERNEL_THREAD);
	put_process(f, 2, 300, "\x1b[31m\xff", PSS_DENIED);
	put_process(f, 3, 400, "big", PSS_SKIPPED);
	f->sample.process[3].mm_owner = false;
	f->process[0].total_exact = false;
	f->report.process_count = PROCESSES;
	f->report.several = true;
	f->report.row_count = 2;
	f->report.others_count = ROWS - 2;
	f->report.others = MAPS_COUNTERS_ZERO;
	for (int i = 2; i < ROWS - 1; i++)
		map_counters_add(&f->report.others, &f->mapping[i].counters);
}

static void counter_files(struct fixture *f)
{
	counter_several(f);
	f->report.kind = MAP_ROWS_FILES;
	f->mapping[0].processes = 12;
	f->mapping[0].mappings = 60;
}

static void counter_groups(struct fixture *f)
{
	static const char *const kind[ROWS] = {"heap", "stack", "anon", "file", "other"};
	static const char *const group[ROWS] = {"big", "\x1b[31m\xff", NULL, "big", "big"};

	counter_files(f);
	f->report.kind = MAP_ROWS_KINDS;
	f->report.group = process_field("name");
	for (int i = 0; i < ROWS; i++) {
		f->mapping[i].name = kind[i];
		f->mapping[i].group = group[i];
	}
	f->report.row_count = 3;
}

static void check(const char *json, const char *table, const struct fixture *f,
		  struct table_style style)
{
	if (json)
		golden_json(json, render_maps_json, &f->report);
	golden_render(table, render_maps_table, &f->report, &style);
}

TEST(processes)
{
	struct fixture f;

	counter_init(&f);
	check("maps_ordinary.json", "maps_ordinary.txt", &f, (struct table_style){.header = true});
	/* A narrow terminal leaves out empty columns and the ends of addresses. */
	for (int i = 0; i < MAPS_COUNTERS; i++) {
		f.report.total.have |= 1u << i;
		f.report.total.value[i] = i == MAPS_SWAP || i == MAPS_HUGETLB ? 0 : MIB;
	}
	check(NULL, "maps_narrow.txt", &f, (struct table_style){.header = true, .width = 100});
	counter_several(&f);
	check("maps_several.json", "maps_several.txt", &f,
	      (struct table_style){.header = true, .width = 140, .color = true});
	/* Nothing. */
	counter_init(&f);
	f.report.process_count = f.report.row_count = f.report.mappings = 0;
	f.report.total = (struct map_counters){};
	check("maps_empty.json", "maps_empty.txt", &f, (struct table_style){.header = true});
}

TEST(files)
{
	struct fixture f;

	counter_files(&f);
	check("maps_files.json", "maps_files.txt", &f, (struct table_style){.bytes = true});
	f.report.row_count = 0;
	f.report.others_count = ROWS;
	check(NULL, "maps_total.txt", &f, (struct table_style){.header = true, .only_total = true});
	counter_groups(&f);
	check("maps_groups.json", "maps_groups.txt", &f, (struct table_style){.bytes = true});
}
