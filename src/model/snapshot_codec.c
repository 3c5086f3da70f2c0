// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Encodes and decodes a snapshot column by column. One function serves both directions, so that
 * they cannot differ. snapshot_format.h lists the columns.
 */
#include "model/snapshot_codec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/column_codec.h"
#include "model/snapshot_format.h"

#define HEADER_SIZE 8

/* The reference of a frame that needs none. */
static const struct snapshot empty_reference;

struct codec {
	struct column_codec columns;
	struct snapshot *s;
	const struct snapshot *reference; /* empty if the frame stands alone */
	/* One column: values of the rows, and values of the rows of the reference. */
	uint64_t *value, *reference_value;
	const char **text, **reference_text, **predicted;
	size_t room;
};

/* A table with structs as rows. */
struct table {
	void *row;
	const void *reference;
	size_t stride;
	struct codec_rows rows;
};

static bool codec_writes(const struct codec *k)
{
	return k->columns.out;
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* ---- members of structs ---- */

/* Makes room for columns of `count` rows. */
static void codec_reserve(struct codec *k, size_t count)
{
	struct column_codec *c = &k->columns;

	if (c->error || count <= k->room)
		return;
	k->value = codec_alloc(c, count, sizeof(*k->value));
	k->reference_value = codec_alloc(c, count, sizeof(*k->reference_value));
	k->text = codec_alloc(c, count, sizeof(*k->text));
	k->reference_text = codec_alloc(c, count, sizeof(*k->reference_text));
	k->predicted = codec_alloc(c, count, sizeof(*k->predicted));
	k->room = count;
}

static void *cell(const struct table *t, size_t i, const struct member *m)
{
	return (char *)t->row + i * t->stride + m->offset;
}

static const void *reference_cell(const struct table *t, size_t i, const struct member *m)
{
	return (const char *)t->reference + i * t->stride + m->offset;
}

static uint64_t get_int(const void *at, const struct member *m)
{
	uint64_t v = 0;

	memcpy(&v, at, m->size);
	if (m->is_signed && m->size == sizeof(int32_t))
		return (uint64_t)(int64_t)(int32_t)(uint32_t)v;
	return v;
}

static bool fits(uint64_t v, const struct member *m)
{
	if (m->limit)
		return v < m->limit;
	if (m->size == sizeof(uint64_t))
		return true;
	if (m->is_signed)
		return (int64_t)v == (int32_t)v;
	return v >> (8 * m->size) == 0;
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "members are copied from their lowest byte");

/* Writes or reads a member of each row. */
static void code_int(struct codec *k, const struct table *t, const struct member *m)
{
	for (size_t i = 0; codec_writes(k) && i < t->rows.count; i++) {
		k->value[i] = get_int(cell(t, i, m), m);
		if (!fits(k->value[i], m))
			codec_bad(&k->columns);
	}
	for (size_t i = 0; i < t->rows.reference_count; i++)
		k->reference_value[i] = get_int(reference_cell(t, i, m), m);
	codec_ints(&k->columns, m->id, k->value, k->reference_value, &t->rows);
	if (codec_writes(k) || k->columns.error)
		return;
	for (size_t i = 0; i < t->rows.count; i++) {
		if (!fits(k->value[i], m)) {
			codec_bad(&k->columns);
			return;
		}
		memcpy(cell(t, i, m), &k->value[i], m->size);
	}
}

static const char *get_text(const void *at, const struct member *m)
{
	const char *chars = at;

	if (m->kind != MEMBER_CHARS)
		return *(const char *const *)at;
	return *chars ? chars : NULL;
}

static bool set_text(void *at, const struct member *m, const char *text)
{
	size_t len = text ? strlen(text) : 0;

	if (m->kind != MEMBER_CHARS) {
		*(const char **)at = text;
		return true;
	}
	if (len > m->size)
		return false;
	if (text)
		memcpy(at, text, len + 1);
	return true;
}

static void code_text(struct codec *k, const struct table *t, const struct member *m)
{
	const char *const *predicted = m->kind == MEMBER_NAME ? k->predicted : NULL;

	for (size_t i = 0; codec_writes(k) && i < t->rows.count; i++) {
		k->text[i] = get_text(cell(t, i, m), m);
		if (predicted && !k->text[i])
			k->text[i] = predicted[i];
	}
	for (size_t i = 0; i < t->rows.reference_count; i++)
		k->reference_text[i] = get_text(reference_cell(t, i, m), m);
	codec_texts(&k->columns, m->id, k->text, k->reference_text, predicted, &t->rows);
	if (codec_writes(k) || k->columns.error)
		return;
	for (size_t i = 0; i < t->rows.count; i++) {
		if (!set_text(cell(t, i, m), m, k->text[i])) {
			codec_bad(&k->columns);
			return;
		}
	}
}

static void code_members(struct codec *k, const struct table *t, const struct member *member,
			 size_t count)
{
	codec_reserve(k, larger(t->rows.count, t->rows.reference_count));
	for (size_t i = 0; !k->columns.error && i < count; i++) {
		if (member[i].kind == MEMBER_INT)
			code_int(k, t, &member[i]);
		else
			code_text(k, t, &member[i]);
	}
}

#define MEMBERS(table) (table), ARRAY_SIZE(table)

/* A struct that a frame has once. */
static void code_struct(struct codec *k, void *row, const void *reference,
			const struct member *member, size_t count)
{
	const struct table t = {
		.row = row,
		.reference = reference,
		.rows = {.count = 1, .reference_count = k->reference != &empty_reference},
	};

	code_members(k, &t, member, count);
}

/* Structs, of which the reference had others at the same places. */
static void code_array(struct codec *k, size_t stride, void *row, size_t rows,
		       const void *reference, size_t reference_rows, const struct member *member,
		       size_t count)
{
	const struct table t = {
		.row = row,
		.reference = reference,
		.stride = stride,
		.rows = {.count = rows, .reference_count = reference_rows},
	};

	code_members(k, &t, member, count);
}

/* Room in the snapshot for what is read. NULL while writing, and with k->columns.error. */
static void *alloc_to_read(struct codec *k, size_t count, size_t size)
{
	struct column_codec *c = &k->columns;
	void *p = NULL;

	if (codec_writes(k) || c->error || !codec_count_memory(c, count + 1, size))
		return NULL;
	p = arena_zalloc(&k->s->arena, count + 1, size);
	if (!p)
		codec_fail(c, -ENOMEM);
	return p;
}

/* A copy in the snapshot of what was read; NULL likewise. */
static void *copy_read(struct codec *k, const void *from, size_t size)
{
	void *copy = alloc_to_read(k, 1, size);

	return copy ? memcpy(copy, from, size) : NULL;
}

/* ---- the machine ---- */

static uint64_t meminfo_values(const struct meminfo *m, uint64_t *value)
{
	uint64_t have = 0;

	memset(value, 0, MEMINFO_NUMBERS * sizeof(*value));
	for (int f = 0; f < MEMINFO_COUNTERS; f++) {
		if (!meminfo_has(m, f))
			continue;
		have |= UINT64_C(1) << meminfo_number[f];
		value[meminfo_number[f]] = m->value[f];
	}
	return have;
}

static void code_meminfo(struct codec *k)
{
	struct meminfo *m = &k->s->system.meminfo;
	uint64_t have = meminfo_values(m, k->value);
	uint64_t before = meminfo_values(&k->reference->system.meminfo, k->reference_value);
	struct codec_rows rows = {MEMINFO_NUMBERS, MEMINFO_NUMBERS, NULL, false};

	codec_ints(&k->columns, ID_MEMINFO, k->value, k->reference_value, &rows);
	rows.count = rows.reference_count = 1;
	codec_ints(&k->columns, ID_MEMINFO_HAVE, &have, &before, &rows);
	for (int f = 0; !codec_writes(k) && f < MEMINFO_COUNTERS; f++) {
		if (!(have >> meminfo_number[f] & 1))
			continue;
		m->have |= UINT32_C(1) << f;
		m->value[f] = k->value[meminfo_number[f]];
	}
}

/* Swap devices, and lines of meminfo. */
static void code_lists(struct codec *k)
{
	const struct system_info *before = &k->reference->system;
	struct system_info *system = &k->s->system;
	struct meminfo *m = &system->meminfo;

	code_array(k, sizeof(*system->swap), system->swap, system->swap_count, before->swap,
		   before->swap_count, MEMBERS(swap_members));
	code_array(k, sizeof(*system->zram), system->zram, system->zram_count, before->zram,
		   before->zram_count, MEMBERS(zram_members));
	code_array(k, sizeof(*m->unplaced), m->unplaced, m->unplaced_count,
		   before->meminfo.unplaced, before->meminfo.unplaced_count,
		   MEMBERS(unplaced_members));
}

/* The figures of a census by their numbers in the format, and the parts in that order. */
static size_t number_figures(const struct ram *ram, struct ram_figure ret[RAM_NUMBERS],
			     struct ram_part *ret_part)
{
	size_t parts = 0;

	memset(ret, 0, RAM_NUMBERS * sizeof(*ret));
	for (int i = 0; i < RAM_FIGURES; i++)
		ret[ram_number[i]] = ram->figure[i];
	for (int n = 0; n < RAM_NUMBERS; n++) {
		for (int p = 0; p < ret[n].parts; p++)
			ret_part[parts++] = ram->part[ret[n].part + p];
	}
	return parts;
}

/* Where the parts of each figure that was read are. Returns how many there are. */
static size_t place_parts(struct codec *k, struct ram_figure figure[RAM_NUMBERS])
{
	size_t parts = 0;

	for (int n = 0; n < RAM_NUMBERS; n++) {
		figure[n].part = (uint16_t)parts;
		parts += figure[n].parts;
		if (parts <= RAM_PARTS_MAX)
			continue;
		codec_bad(&k->columns);
		return 0;
	}
	return parts;
}

static void code_figures(struct codec *k, const struct ram *before, struct ram *ram)
{
	struct ram_figure figure[RAM_NUMBERS], reference[RAM_NUMBERS];
	struct ram_part *part = codec_alloc(&k->columns, 2 * RAM_PARTS_MAX, sizeof(*part));
	size_t parts, before_parts;

	if (!part)
		return;
	parts = number_figures(ram, figure, part);
	before_parts = number_figures(before, reference, part + RAM_PARTS_MAX);
	code_array(k, sizeof(*figure), figure, RAM_NUMBERS, reference, RAM_NUMBERS,
		   MEMBERS(ram_figure_members));
	if (!codec_writes(k))
		parts = ram->parts = place_parts(k, figure);
	code_array(k, sizeof(*part), part, parts, part + RAM_PARTS_MAX, before_parts,
		   MEMBERS(ram_part_members));
	if (codec_writes(k))
		return;
	memcpy(ram->part, part, ram->parts * sizeof(*part));
	for (int i = 0; i < RAM_FIGURES; i++) {
		ram->figure[i] = figure[ram_number[i]];
		ram->figure[i].class = (enum ram_class)i;
	}
}

/* A census. Counters in its place follow from others. */
static void code_ram(struct codec *k)
{
	static const struct ram none;
	struct system_info *system = &k->s->system;
	struct ram *ram = codec_alloc(&k->columns, 1, sizeof(*ram));
	const struct ram *before = k->reference->system.ram;

	if (!ram_is_counted(before))
		before = &none;
	if (ram && codec_writes(k) && ram_is_counted(system->ram))
		*ram = *system->ram;
	code_struct(k, ram, before, &ram_method, 1);
	if (k->columns.error || ram->method == RAM_NONE)
		return;
	if (!ram_is_counted(ram))
		codec_bad(&k->columns);
	code_struct(k, ram, before, MEMBERS(ram_members));
	code_figures(k, before, ram);
	if (codec_writes(k))
		return;
	ram->known = true;
	system->ram = copy_read(k, ram, sizeof(*ram));
}

static void code_shared(struct codec *k)
{
	static const struct shared_files none;
	struct system_info *system = &k->s->system;
	struct shared_files *files = codec_alloc(&k->columns, 1, sizeof(*files));
	const struct shared_files *before =
		k->reference->system.shared ? k->reference->system.shared : &none;

	if (files && codec_writes(k) && system->shared)
		*files = *system->shared;
	code_struct(k, files, before, MEMBERS(shared_members));
	if (k->columns.error)
		return;
	code_array(k, sizeof(*files->file), files->file, files->count, before->file, before->count,
		   MEMBERS(shared_file_members));
	for (uint32_t i = 0; !k->columns.error && i < files->count; i++) {
		if (!files->file[i].name || !file_kind_is_shmem(files->file[i].kind) ||
		    !files->taken_ms)
			codec_bad(&k->columns);
	}
	if (!codec_writes(k) && files->taken_ms)
		system->shared = copy_read(k, files, sizeof(*files));
}

static void code_ended(struct codec *k)
{
	static const struct ended_processes none;
	struct system_info *system = &k->s->system;
	struct ended_processes *ended = codec_alloc(&k->columns, 1, sizeof(*ended));
	const struct ended_processes *before =
		k->reference->system.ended ? k->reference->system.ended : &none;

	if (ended && codec_writes(k) && system->ended)
		*ended = *system->ended;
	code_struct(k, ended, before, MEMBERS(ended_members));
	if (k->columns.error)
		return;
	code_array(k, sizeof(*ended->row), ended->row, ended->count, before->row, before->count,
		   MEMBERS(ended_row_members));
	for (uint32_t i = 0; !k->columns.error && i < ended->count; i++) {
		if (!ended->row[i].name || !ended->over_ms)
			codec_bad(&k->columns);
	}
	if (!codec_writes(k) && ended->over_ms)
		system->ended = copy_read(k, ended, sizeof(*ended));
}

static struct gpu_head gpu_head_of(const struct gpu_parts *gpu)
{
	const struct gpu_regions *sums = gpu->sums;

	return (struct gpu_head){.count = gpu->count,
				 .known = sums,
				 .none = gpu->none,
				 .unheld_known = sums && sums->unheld_known,
				 .unheld = sums ? sums->unheld : 0,
				 .unheld_bytes = sums ? sums->unheld_bytes : 0,
				 .reason = gpu->reason};
}

static bool is_gpu_name(const char *name)
{
	while (*name > ' ' && *name <= '~')
		name++;
	return !*name;
}

static bool is_gpu_part(const struct gpu_part *p, const struct gpu_part *last)
{
	return p->pid > 0 && (!last || last->pid <= p->pid) && p->holders &&
	       p->resident <= GPU_BYTES_MAX && p->share <= p->resident && is_gpu_name(p->driver) &&
	       is_gpu_name(p->device) && is_gpu_name(p->region);
}

/* The parts; the sums over regions follow from them. */
static void read_gpu_sums(struct codec *k, const struct gpu_head *head, const struct gpu_part *part)
{
	struct gpu_parts *gpu = &k->s->gpu;
	struct gpu_regions *sums = NULL;

	for (size_t i = 0; i < head->count; i++) {
		if (!is_gpu_part(&part[i], i ? &part[i - 1] : NULL))
			codec_bad(&k->columns);
	}
	if (head->known)
		sums = alloc_to_read(k, 1, sizeof(*sums));
	if (k->columns.error)
		return;
	if (sums) {
		gpu_sum_regions(part, head->count, sums);
		sums->unheld_known = head->unheld_known;
		sums->unheld = head->unheld;
		sums->unheld_bytes = head->unheld_bytes;
	}
	*gpu = (struct gpu_parts){part, head->count, head->reason, sums, head->none};
}

static void code_gpu(struct codec *k)
{
	const struct gpu_parts *gpu = &k->s->gpu, *before = &k->reference->gpu;
	struct gpu_head head = gpu_head_of(gpu), head_before = gpu_head_of(before);
	struct gpu_part *part = (struct gpu_part *)gpu->item;

	code_struct(k, &head, &head_before, MEMBERS(gpu_members));
	if (!codec_writes(k))
		part = alloc_to_read(k, head.count, sizeof(*part));
	if (k->columns.error)
		return;
	code_array(k, sizeof(*part), part, head.count, before->item, before->count,
		   MEMBERS(gpu_part_members));
	if (!codec_writes(k) && !k->columns.error)
		read_gpu_sums(k, &head, part);
}

static bool is_held(const struct kernel_share *share)
{
	return share->descriptors || share->bytes || share->mapped;
}

/* What a process holds that is recorded: it has the sum as well. NULL: nothing is known. */
static const struct kernel_shares *stored_shares(const struct process *p)
{
	return process_has(p, COUNTER_KERNEL) ? p->kernel : NULL;
}

/* Lists what the processes of a snapshot hold. */
static struct kernel_row *list_kernel(struct codec *k, const struct snapshot *s, uint64_t *ret)
{
	struct kernel_row *row;
	uint64_t count = 0;

	for (size_t i = 0; i < s->count; i++)
		count += stored_shares(&s->process[i]) ? KERNEL_KINDS : 0;
	row = codec_alloc(&k->columns, count, sizeof(*row));
	count = 0;
	for (size_t i = 0; row && i < s->count; i++) {
		const struct kernel_shares *shares = stored_shares(&s->process[i]);

		for (int kind = 0; shares && kind < KERNEL_KINDS; kind++) {
			if (is_held(&shares->kind[kind]))
				row[count++] =
					(struct kernel_row){s->process[i].pid, shares->kind[kind]};
		}
	}
	*ret = count;
	return row;
}

/* Each kind once for each process. */
static void read_kernel(struct codec *k, const struct kernel_row *row, uint64_t count)
{
	struct snapshot *s = k->s;

	for (size_t i = 0; i < s->count; i++) {
		struct kernel_shares *shares;

		if (!process_has(&s->process[i], COUNTER_KERNEL))
			continue;
		shares = alloc_to_read(k, 1, sizeof(*shares));
		if (!shares)
			return;
		kernel_shares_clear(shares);
		s->process[i].kernel = shares;
	}
	for (uint64_t i = 0; i < count; i++) {
		struct process *p = snapshot_find(s, row[i].pid);
		struct kernel_share *share;

		if (!p || !p->kernel || !is_held(&row[i].share)) {
			codec_bad(&k->columns);
			return;
		}
		share = (struct kernel_share *)&p->kernel->kind[row[i].share.kind];
		if (is_held(share)) {
			codec_bad(&k->columns);
			return;
		}
		*share = row[i].share;
	}
	for (size_t i = 0; i < s->count; i++)
		kernel_shares_add(&s->kernel.all, s->process[i].kernel);
}

/* Behind the processes, which have them. */
static void code_kernel(struct codec *k)
{
	const struct kernel_held *held = &k->s->kernel, *before = &k->reference->kernel;
	struct kernel_head head = {0, held->left_out, held->known, held->reason};
	struct kernel_head head_before = {0, before->left_out, before->known, before->reason};
	struct kernel_row *row_before = list_kernel(k, k->reference, &head_before.count);
	struct kernel_row *row = codec_writes(k) ? list_kernel(k, k->s, &head.count) : NULL;

	if (k->columns.error)
		return;
	code_struct(k, &head, &head_before, MEMBERS(kernel_members));
	if (!codec_writes(k))
		row = alloc_to_read(k, head.count, sizeof(*row));
	if (k->columns.error)
		return;
	code_array(k, sizeof(*row), row, head.count, row_before, head_before.count,
		   MEMBERS(kernel_row_members));
	if (codec_writes(k) || k->columns.error)
		return;
	k->s->kernel = (struct kernel_held){
		.reason = head.reason, .known = head.known, .left_out = head.left_out};
	read_kernel(k, row, head.count);
}

/* Codes the paths first, then the values, relative to those of the same path. */
static void code_memcgs(struct codec *k)
{
	struct snapshot *s = k->s;
	const struct snapshot *reference = k->reference;
	struct column_codec *c = &k->columns;
	uint32_t *match;
	struct table t = {
		.reference = reference->memcg,
		.stride = sizeof(struct memcg),
		.rows = {.count = s->memcg_count, .reference_count = reference->memcg_count},
	};

	/* Each memcg has a path of its own. */
	if (!codec_writes(k) && s->memcg_count > c->string_count + reference->memcg_count)
		codec_bad(c);
	if (c->error)
		return;
	if (!codec_writes(k))
		s->memcg = alloc_to_read(k, s->memcg_count, sizeof(*s->memcg));
	match = codec_alloc(c, s->memcg_count, sizeof(*match));
	t.row = s->memcg;
	code_members(k, &t, &memcg_path, 1);
	t.rows.match = match;
	for (size_t i = 0; !c->error && i < s->memcg_count; i++) {
		const struct memcg *m = &s->memcg[i], *same;

		if (!m->path || (i && strcmp(m[-1].path, m->path) >= 0)) {
			codec_bad(c);
			return;
		}
		same = snapshot_find_memcg(reference, m->path);
		match[i] = same ? (uint32_t)(same - reference->memcg) : CODEC_NO_ROW;
	}
	code_members(k, &t, MEMBERS(memcg_members));
	for (int i = 0; i < MEMCG_DETAILS; i++) {
		unsigned number = counter_table[COUNTER_MEM_HIGH + i].number;
		const struct member detail =
			INT(ID_MEMCG_DETAIL + number, struct memcg, detail[i], 0);

		if (number != NOT_STORED)
			code_members(k, &t, &detail, 1);
	}
}

/* ---- the rows ---- */

/* Finds the row of the reference for each process. */
static void match_rows(struct codec *k, uint32_t *match)
{
	const struct snapshot *s = k->s, *reference = k->reference;
	size_t at = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct process *p = &s->process[i];

		if (p->pid <= (i ? s->process[i - 1].pid : 0) || p->pid > PID_MAX)
			codec_bad(&k->columns);
		while (at < reference->count && reference->process[at].pid < p->pid)
			at++;
		match[i] = CODEC_NO_ROW;
		if (at < reference->count && reference->process[at].pid == p->pid &&
		    reference->process[at].start_ns == p->start_ns)
			match[i] = (uint32_t)at;
	}
}

/*
 * Writes which rows of the reference have ended, then the pids of new processes. Sets `match`: the
 * row of the reference that each row continues.
 */
static void write_rows(struct codec *k, uint32_t *match)
{
	struct codec_rows rows = {};
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
		if ((uint64_t)p->pid <= last || (uint64_t)p->pid > PID_MAX) {
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

	if (!codec_count_memory(&k->columns, count + 1, sizeof(*process)))
		return;
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

/* Reads the rows and returns `match`. NULL: see k->columns.error. */
static uint32_t *read_rows(struct codec *k)
{
	struct codec_rows rows = {};
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

	for (int c = 0; c < COUNTERS_OF_PROCESS; c++) {
		if (process_has(p, c) && counter_table[c].number != NOT_STORED)
			have |= UINT64_C(1) << counter_table[c].number;
	}
	if (rss_is_derived(p))
		have &= ~(UINT64_C(1) << counter_table[COUNTER_RSS].number);
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
	uint64_t bit = UINT64_C(1) << counter_table[c].number;
	const struct process *before = k->reference->process;
	struct process *p = k->s->process;

	for (size_t i = 0; codec_writes(k) && i < rows->count; i++)
		k->value[i] = have[i] & bit ? p[i].value[c] - expected(&p[i], c) : 0;
	for (size_t i = 0; i < rows->reference_count; i++)
		k->reference_value[i] =
			reference_have[i] & bit ? before[i].value[c] - expected(&before[i], c) : 0;
	/* A value that a row no longer has is a difference, too. */
	codec_ints(&k->columns, ID_COUNTER + counter_table[c].number, k->value, k->reference_value,
		   rows);
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
	for (int c = 0; c < COUNTERS_OF_PROCESS; c++) {
		if (counter_table[c].number != NOT_STORED && c != COUNTER_PSS)
			code_counter(k, rows, c, have, reference_have);
	}
	/* PSS comes last, because its prediction needs its parts. */
	code_counter(k, rows, COUNTER_PSS, have, reference_have);
}

static void code_processes(struct codec *k, const uint32_t *match)
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

	for (size_t i = 0; i < t.rows.count; i++)
		k->predicted[i] = k->s->process[i].comm;
	code_members(k, &t, MEMBERS(process_members));
	for (size_t i = 0; !k->columns.error && i < t.rows.count; i++) {
		if (!codec_writes(k) && !k->s->process[i].name)
			codec_bad(&k->columns);
	}
	code_mm(k, &t.rows);
	code_counters(k, &t.rows);
}

/* Derives values that are not stored. */
static void derive_processes(struct codec *k)
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

/* ---- snapshots ---- */

/* Codes everything but the rows. `match`: the row of the reference that each row continues. */
static void code_snapshot(struct codec *k, const uint32_t *match)
{
	if (k->columns.error)
		return;
	code_struct(k, k->s, k->reference, MEMBERS(machine_members));
	code_meminfo(k);
	code_lists(k);
	code_ram(k);
	code_memcgs(k);
	code_shared(k);
	code_ended(k);
	code_gpu(k);
	if (!k->columns.error)
		code_processes(k, match);
	if (!k->columns.error)
		code_kernel(k);
}

int snapshot_encode(const struct snapshot *s, const struct snapshot *reference, struct strbuf *out)
{
	/* Encoding does not modify the snapshot. */
	struct codec k = {.s = (struct snapshot *)s,
			  .reference = reference ? reference : &empty_reference};
	const char head[HEADER_SIZE] = {
		'Z', 'S', 'N', 'P', SNAPSHOT_CODEC_MAJOR, SNAPSHOT_CODEC_MINOR, reference != NULL};
	size_t before = out->len, rows = larger(s->count, k.reference->count);
	uint32_t *match;
	int r;

	rows = larger(larger(rows, MEMINFO_NUMBERS), s->memcg_count);
	column_codec_write(&k.columns, out, rows, (uintptr_t)&k ^ (uint64_t)s->time_ms << 16);
	codec_reserve(&k, rows);
	match = codec_alloc(&k.columns, s->count, sizeof(*match));
	strbuf_put(out, head, sizeof(head));
	if (!k.columns.error)
		write_rows(&k, match);
	code_snapshot(&k, match);
	column_codec_end(&k.columns, ID_STRINGS);
	r = k.columns.error ? k.columns.error : strbuf_error(out);
	column_codec_done(&k.columns);
	if (r < 0)
		out->len = before;
	return r;
}

static int check_header(const unsigned char *at, size_t len, bool has_reference)
{
	if (len < HEADER_SIZE || memcmp(at, SNAPSHOT_CODEC_MAGIC, 4) != 0)
		return -EBADMSG;
	if (at[4] != SNAPSHOT_CODEC_MAJOR)
		return -ENOTSUP;
	return at[6] > has_reference || at[7] ? -EBADMSG : 0;
}

/* Resets everything but the memory. */
static void reset_snapshot(struct snapshot *s)
{
	snapshot_clear(s);
	*s = (struct snapshot){.process = s->process,
			       .capacity = s->capacity,
			       .idle = s->idle,
			       .arena = s->arena,
			       .scratch = s->scratch};
}

int snapshot_decode(const void *data, size_t len, const struct snapshot *reference,
		    struct codec_memory *memory, struct snapshot *s)
{
	struct codec k = {.s = s, .reference = &empty_reference};
	const unsigned char *at = data;
	int r = check_header(at, len, reference != NULL);
	uint32_t *match;

	reset_snapshot(s);
	if (r < 0)
		return r;
	if (at[6])
		k.reference = reference;
	column_codec_read(&k.columns, at + HEADER_SIZE, len - HEADER_SIZE, ID_STRINGS, &s->arena,
			  memory);
	codec_reserve(&k, MEMINFO_NUMBERS);
	match = k.columns.error ? NULL : read_rows(&k);
	code_snapshot(&k, match);
	if (!k.columns.error)
		derive_processes(&k);
	r = k.columns.error;
	column_codec_done(&k.columns);
	if (r < 0)
		reset_snapshot(s);
	return r;
}
