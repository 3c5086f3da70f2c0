// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* zmem-bpf files: every file with pages in RAM or in swap, and what the kernel counts of them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/parse.h"
#include "command/table.h"
#include "enrich/enrich.h"
#include "query/files.h"
#include "query/pattern.h"
#include "report/report.h"
#include "session/log.h"
#include "session/output.h"
#include "session/secure.h"
#include "source/census_source.h"
#include "source/files_source.h"
#include "source/holders_source.h"
#include "source/source.h"
#include "source/swap_source.h"
#include "write/format.h"

/* Lines of a terminal that are not rows: header, the others, the total, two sums, the prompt. */
#define LINES_AROUND	  6
#define PAGE_ROWS	  10000 /* files of a page, unless --all */
#define TOTAL_COLUMNS	  200	/* columns of the total, which is not cut */

#define NAMES_DEADLINE_MS 100 /* a stuck process keeps its comm: a name is not worth a second */

struct files_command {
	const struct options *o;
	struct files_query query;
	struct field_list columns;
	struct files_source *source;
	struct holders_source *holders;
	struct procfs proc;
	struct snapshot snapshot; /* host and meminfo alone */
	struct file_set set;
	struct files_result result;
	struct files_report report;
	struct file_charge *charge; /* of all rows */
	struct output out;
};

static void files_command_done(struct files_command *c)
{
	pattern_free(c->query.filter);
	files_source_close(c->source);
	holders_source_close(c->holders);
	if (c->proc.fd >= 0)
		procfs_close(&c->proc);
	snapshot_done(&c->snapshot);
	file_set_done(&c->set);
	files_result_done(&c->result);
	free(c->charge);
	output_close(&c->out);
}

/* A name that is no column. */
static int refuse(const struct files_command *c, const char *option, struct field_error bad)
{
	return log_usage(c->o, "%s: files%s has no column '%.*s'", option,
			 c->query.group != FILE_GROUP_NONE ? " --group-by" : "", (int)bad.len,
			 bad.name);
}

static int read_query(struct files_command *c)
{
	const struct options *o = c->o;
	const char *key = options_group_key(o), *why;
	const struct fields *columns;
	struct field_error bad;
	int r = 0;

	for (int i = FILE_GROUP_FS; key && i < FILE_GROUPS; i++) {
		if (strcmp(key, file_group_name((enum file_group)i)) == 0)
			c->query.group = (enum file_group)i;
	}
	columns = file_columns(c->query.group != FILE_GROUP_NONE);
	if (o->sort && field_list_parse_keys(&c->query.keys, columns, o->sort, &bad) < 0)
		return refuse(c, "--sort", bad);
	if (o->filter)
		r = pattern_compile(o->filter, &c->query.filter, &why);
	if (r == -EINVAL)
		return log_usage(o, "--filter %s: %s", o->filter, why);
	file_list_usual(&c->columns, c->query.group != FILE_GROUP_NONE);
	if (o->columns && field_list_parse(&c->columns, columns, o->columns, &bad) < 0)
		return refuse(c, "--columns", bad);
	c->query.reverse = o->reverse;
	c->query.min = o->min == MIN_DEFAULT ? 0 : o->min;
	return r < 0 ? log_error("reading --filter: out of memory") : 0;
}

static size_t rows_shown(const struct files_command *c)
{
	const struct output *out = &c->out;
	size_t fit = output_rows(out->width, out->height, LINES_AROUND, TOTAL_COLUMNS);

	if (c->o->total)
		return 0;
	if (c->o->top)
		return (size_t)c->o->top;
	if (c->o->all)
		return SIZE_MAX;
	if (c->o->format == FORMAT_HTML)
		return PAGE_ROWS;
	return fit && c->o->format == FORMAT_TABLE ? fit : SIZE_MAX;
}

/* With capabilities of the file alone, the user has no right to names of files. */
static int check_rights(void)
{
	if (getauxval(AT_SECURE))
		return log_error("files: names of files are private (run as root)");
	return 0;
}

static int open_source(struct files_command *c)
{
	cleanup(diag_clear) struct diag diag = {};
	int r = files_source_open(&diag, &c->source);

	return r < 0 ? log_refusal(diag.count ? &diag.note[0] : NULL, r) : 0;
}

static int read_files(struct files_command *c)
{
	uint64_t start = clock_us(CLOCK_MONOTONIC);
	int r = files_source_read(c->source, &c->proc, &c->set);

	if (r == -ENOTSUP)
		return log_error("files: this kernel's lists of files are not understood");
	if (r < 0)
		return log_errno(r, "reading the lists of files");
	machine_read(&c->proc, &c->snapshot.host, &c->snapshot.system);
	c->snapshot.time_ms = (int64_t)(clock_ns(CLOCK_REALTIME) / 1000000);
	if (c->o->verbose)
		log_notice(c->o->quiet,
			   "%zu files of %u file systems in %u visits of at most %u steps, %.1f ms",
			   c->set.count, c->set.systems, files_source_visits(c->source),
			   files_source_steps(c->source),
			   (double)(clock_us(CLOCK_MONOTONIC) - start) / 1000);
	return 0;
}

/*
 * What the swapped files take in RAM: in documents, and in tables on request. What cannot be read
 * stays unknown.
 */
static void read_swap(struct files_command *c)
{
	cleanup(diag_clear) struct diag why = {};
	const struct field *swap_ram = file_field("swap_ram");
	bool asked = c->o->format != FORMAT_TABLE || field_list_has(&c->columns, swap_ram) ||
		     field_list_has(&c->query.keys, swap_ram);
	struct swap_source *swap = NULL;
	bool swapped = false;

	for (size_t i = 0; i < c->set.count && !swapped; i++)
		swapped = c->set.file[i].swapped;
	if (!asked || !swapped || swap_source_open(NULL, &why, &swap) < 0)
		return;
	if (swap_source_begin(swap, &c->snapshot.system) == 0)
		swap_source_files(swap, &c->set);
	if (c->o->verbose && swap_source_cost_refusal(swap))
		log_notice(c->o->quiet, "SWAP_RAM is not known: %s",
			   swap_source_cost_refusal(swap));
	swap_source_close(swap);
}

/* Chooses the rows. */
static int run_query(struct files_command *c)
{
	int r;

	c->report = (struct files_report){
		.snapshot = &c->snapshot,
		.columns = &c->columns,
		.columns_chosen = c->o->columns && *c->o->columns != '+',
		.group = c->query.group != FILE_GROUP_NONE ? options_group_key(c->o) : NULL,
	};
	c->query.shown = rows_shown(c);
	r = files_run(&c->set, &c->query, &c->result, &c->report);
	if (r == -E2BIG)
		return log_usage(c->o, "--filter: " PATTERN_EXPENSIVE);
	return r < 0 ? log_errno(r, "sorting the files") : 0;
}

/* Documents have the pids alone. Names that cannot be read stay unknown. */
static int name_holders(struct files_command *c)
{
	cleanup_free struct cached_file **files =
		calloc(c->report.row_count + 1, sizeof(struct cached_file *));
	struct proc_pool *pool;
	int r;

	if (c->o->format != FORMAT_TABLE || c->proc.fd < 0)
		return 0;
	pool = files ? proc_pool_new(&c->proc, 0, NAMES_DEADLINE_MS) : NULL;
	for (size_t i = 0; pool && i < c->report.row_count; i++)
		files[i] = &c->set.file[c->report.rows[i] - c->set.file];
	r = pool ? enrich_holders(pool, &c->set, files, c->report.row_count,
				  c->o->wide ? UINT32_MAX : FILE_HOLDERS_SHOWN)
		 : -ENOMEM;
	proc_pool_free(pool);
	return r < 0 ? log_errno(r, "reading the names of processes") : 0;
}

/* Finds the processes that hold the files that are shown. */
static int read_holders(struct files_command *c)
{
	cleanup(diag_clear) struct diag diag = {};
	struct files_report *report = &c->report;
	int r;

	if (!field_list_has(&c->columns, file_field("holders")))
		return 0;
	for (size_t i = 0; i < report->row_count; i++)
		c->set.file[report->rows[i] - c->set.file].wanted = true;
	r = holders_source_open(&diag, &c->holders);
	if (r < 0)
		return log_refusal(diag.count ? &diag.note[0] : NULL, r);
	r = holders_source_read(c->holders, &c->set);
	if (r < 0)
		return log_errno(r, "reading the holders of files");
	report->holders = true;
	return name_holders(c);
}

/* What census_source_files() finds. */
struct charge_list {
	struct files_command *c;
	struct file_charge *item;
	size_t count, capacity;
};

static int add_charge(void *arg, size_t row, const struct file_charge *charge)
{
	struct charge_list *all = arg;
	struct file_charge *item;

	if (!array_room(&all->item, all->count, &all->capacity, 64))
		return -ENOMEM;
	item = &all->item[all->count];
	*item = *charge;
	item->row = row;
	if (charge->cgroup) {
		item->cgroup =
			arena_strndup(&all->c->set.arena, charge->cgroup, strlen(charge->cgroup));
		if (!item->cgroup)
			return -ENOMEM;
	}
	all->count++;
	return 0;
}

/* By row, and the largest first. */
static int compare_charges(const void *a, const void *b)
{
	const struct file_charge *x = a, *y = b;

	return x->row != y->row ? ORDER_OF(x->row, y->row) : ORDER_OF(y->bytes, x->bytes);
}

/* "/a", "/a (deleted)", or of several "/a 12 MiB, /b 3 MiB"; NULL without memory. */
static const char *charges_text(struct arena *arena, const struct file_charge *charge, size_t count)
{
	cleanup(strbuf_done) struct strbuf text = {};

	for (size_t i = 0; i < count; i++) {
		char size[FORMAT_MAX];
		int len = (int)format_size(size, charge[i].bytes);

		strbuf_printf(&text, "%s%s%s", i ? ", " : "",
			      charge[i].cgroup ? charge[i].cgroup : "none",
			      charge[i].deleted ? " (deleted)" : "");
		if (count > 1)
			strbuf_printf(&text, " %.*s", len, size);
	}
	return strbuf_error(&text) ? NULL : arena_strndup(arena, text.data, text.len);
}

/* Stores the cgroups of each row. */
static int set_charges(struct files_command *c, struct file_charge *all, size_t count)
{
	qsort(all, count, sizeof(*all), compare_charges);
	for (size_t row = 0; row < c->report.row_count && row < CENSUS_FILES_MAX; row++)
		c->set.file[c->report.rows[row] - c->set.file].charges_known = true;
	for (size_t i = 0, end; i < count; i = end) {
		struct cached_file *f = &c->set.file[c->report.rows[all[i].row] - c->set.file];

		for (end = i; end < count && all[end].row == all[i].row; end++)
			f->charge_count++;
		f->charge = &all[i];
		f->charged = charges_text(&c->set.arena, f->charge, f->charge_count);
		if (!f->charged)
			return -ENOMEM;
	}
	return 0;
}

static int count_charges(struct files_command *c, struct census_source *census,
			 struct charge_list *all)
{
	static struct zones zones;
	const struct files_report *report = &c->report;
	uint64_t *mapping = calloc(report->row_count + 1, sizeof(*mapping));
	int r = mapping ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < report->row_count; i++)
		mapping[i] = report->rows[i]->mapping;
	zones_read(c->proc.fd, &zones);
	if (r == 0)
		r = census_source_files(census, &zones, mapping, report->row_count, add_charge,
					all);
	free(mapping);
	return r < 0 ? r : set_charges(c, all->item, all->count);
}

/* Which cgroups the files that are shown are charged to. */
static int read_cgroups(struct files_command *c)
{
	const struct source_request request = {.choice = SOURCE_BPF, .pin = PIN_NOT, .pss = true};
	cleanup(diag_clear) struct diag diag = {};
	struct charge_list all = {.c = c};
	struct source *engine = NULL;
	struct census_source *census = NULL;
	int r;

	if (!field_list_has(&c->columns, file_field("cgroup")))
		return 0;
	r = source_open(&request, &c->proc, &diag, &engine);
	if (r == 0)
		r = census_source_open(engine, &diag, &census);
	if (r < 0) {
		r = log_refusal(diag_newest(&diag), r);
	} else {
		r = count_charges(c, census, &all);
		r = r < 0 ? log_errno(r, "reading the cgroups of files") : 0;
	}
	c->charge = all.item;
	census_source_close(census);
	source_close(engine);
	c->report.cgroups = r == 0;
	return r;
}

static int show(struct files_command *c)
{
	const struct table_style style = output_style(c->o, c->out.color, c->out.width);

	switch (c->o->format) {
	case FORMAT_JSON:
		render_files_json(&c->out.buf, &c->report);
		break;
	case FORMAT_NDJSON:
		render_files_ndjson(&c->out.buf, &c->report);
		break;
	case FORMAT_HTML:
		render_files_page(&c->out.buf, &c->report);
		break;
	case FORMAT_CSV:
	case FORMAT_TSV:
		render_files_csv(&c->out.buf, &c->report, &style);
		break;
	default:
		render_files_table(&c->out.buf, &c->report, &style);
	}
	return output_finish(&c->out);
}

int command_files(const struct options *o)
{
	cleanup(files_command_done) struct files_command c = {
		.o = o, .proc.fd = -1, .out.file.fd = -1};
	int r = read_query(&c);

	procfs_open(&c.proc, "/proc");
	if (r == 0)
		r = check_rights();
	if (r == 0)
		r = open_source(&c);
	if (r == 0)
		r = output_open(&c.out, o);
	if (r == 0)
		r = read_files(&c);
	if (r == 0)
		read_swap(&c);
	if (r == 0)
		r = run_query(&c);
	if (r == 0)
		r = read_holders(&c);
	if (r == 0)
		r = read_cgroups(&c);
	if (r == 0)
		r = secure_loaded(o->output, 0);
	return r ? r : show(&c);
}
