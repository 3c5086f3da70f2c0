// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "proc/kernel_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/parse.h"
#include "proc/lines.h"

#define PAGES_MAX ((uint64_t)1 << 40)

struct reading {
	struct name_sums *sums;
	uint32_t page_size;
};

void name_sums_add(struct name_sums *sums, const char *name, size_t len, uint64_t bytes)
{
	struct ram_part *item;

	len = len < RAM_NAME ? len : RAM_NAME - 1;
	for (size_t i = 0; i < sums->count; i++) {
		item = &sums->item[i];
		if (strlen(item->name) == len && memcmp(item->name, name, len) == 0) {
			item->bytes += bytes;
			return;
		}
	}
	if (sums->count == NAME_SUMS_MAX) {
		sums->others += bytes;
		return;
	}
	item = &sums->item[sums->count++];
	*item = (struct ram_part){.bytes = bytes};
	memcpy(item->name, name, len);
}

static void add(struct reading *r, struct text_part name, uint64_t pages)
{
	size_t len = strnlen(name.s, name.len);

	if (pages && len)
		name_sums_add(r->sums, name.s, len, pages * r->page_size);
}

static int compare_bytes(const void *a, const void *b)
{
	const struct ram_part *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return strcmp(x->name, y->name);
}

void name_sums_sort(struct name_sums *sums)
{
	qsort(sums->item, sums->count, sizeof(*sums->item), compare_bytes);
}

/*
 * "name active objects size perslab pagesperslab : tunables a b c : slabdata active slabs shared"
 */
static void add_cache(void *arg, struct text_part line)
{
	struct reading *r = arg;
	struct text_part name = line_word(&line), word;
	uint64_t pages = 0, slabs = 0;

	for (int i = 0; i < 5; i++)
		word = line_word(&line);
	if (parse_u64(word.s, word.len, PAGES_MAX, &pages) < 0)
		return;
	do {
		word = line_word(&line);
	} while (word.len && !part_is(word, "slabdata"));
	line_word(&line);
	word = line_word(&line);
	if (parse_u64(word.s, word.len, PAGES_MAX, &slabs) == 0 && pages <= 1024)
		add(r, name, pages * slabs);
}

int slabinfo_read(int proc_fd, uint32_t page_size, struct name_sums *ret)
{
	struct reading r = {ret, page_size};

	return lines_read(proc_fd, "slabinfo", add_cache, &r);
}

/* kernel/fork.c: functions that allocate kernel stacks begin so, by what the compiler inlined. */
static const char stacks[] =
	"alloc_thread_stack_node,dup_task,copy_process,kernel_clone,create_io_thread";

/* "0xBEGIN-0xEND SIZE FUNCTION+0xOFFSET/0xSIZE [MODULE] pages=N vmalloc N0=N" */
static void add_area(void *arg, struct text_part line)
{
	struct reading *r = arg;
	struct text_part name, word, module = {};
	char text[2 * RAM_NAME];
	uint64_t pages = 0;
	const char *plus;

	line_word(&line);
	line_word(&line);
	name = line_word(&line);
	while ((word = line_word(&line)).len) {
		if (*word.s == '[')
			module = word;
		if (part_cut_prefix(&word, "pages="))
			parse_u64(word.s, word.len, PAGES_MAX, &pages);
	}
	plus = memchr(name.s, '+', name.len);
	name.len = plus ? (size_t)(plus - name.s) : name.len;
	if (part_begins_any(name, stacks))
		return;
	if (module.len) {
		snprintf(text, sizeof(text), "%.*s %.*s", (int)name.len, name.s, (int)module.len,
			 module.s);
		name = part_of(text);
	}
	add(r, name, pages);
}

int vmallocinfo_read(int proc_fd, uint32_t page_size, struct name_sums *ret)
{
	struct reading r = {ret, page_size};

	return lines_read(proc_fd, "vmallocinfo", add_area, &r);
}

/* Adds areas that processes can map: they say "user" (VM_USERMAP). */
static void add_mappable(void *arg, struct text_part line)
{
	uint64_t *sum = arg, pages = 0;
	struct text_part word;

	while ((word = line_word(&line)).len) {
		if (part_cut_prefix(&word, "pages="))
			parse_u64(word.s, word.len, PAGES_MAX, &pages);
		else if (part_is(word, "user"))
			*sum += pages;
	}
}

uint64_t vmalloc_mappable(int proc_fd, uint32_t page_size)
{
	uint64_t pages = 0;

	return lines_read(proc_fd, "vmallocinfo", add_mappable, &pages) < 0 ? 0 : pages * page_size;
}

struct mappings {
	struct name_sums *sums;
	char name[RAM_NAME]; /* of the mapping that the lines are of; empty: it is no device */
	uint64_t bytes;
	bool any;
};

/* "ADDRESS-ADDRESS rw-s OFFSET DEVICE INODE   NAME" */
static void begin_mapping(struct mappings *m, struct text_part line)
{
	for (int i = 0; i < 5; i++)
		line_word(&line);
	while (line.len && *line.s == ' ')
		line = part_behind(line, 1);
	*m->name = '\0';
	m->bytes = 0;
	if (!part_begins_any(line, "/dev/,socket:,anon_inode:") || part_begins(line, "/dev/shm/"))
		return;
	m->any = true;
	line.len = line.len < RAM_NAME ? line.len : RAM_NAME - 1;
	memcpy(m->name, line.s, line.len);
	m->name[line.len] = '\0';
}

static void parse_maps_line(void *arg, struct text_part line)
{
	begin_mapping(arg, line);
}

/* The first line of a mapping begins with its address; a line with a value with a capital. */
static void parse_smaps_line(void *arg, struct text_part line)
{
	struct mappings *m = arg;
	struct text_part flag;
	uint64_t kb = 0;

	if (!line.len)
		return;
	if (*line.s < 'A' || *line.s > 'Z') {
		begin_mapping(m, line);
	} else if (part_cut_prefix(&line, "Rss:")) {
		line = line_word(&line);
		if (parse_u64(line.s, line.len, PAGES_MAX, &kb) == 0)
			m->bytes = kb * 1024;
	} else if (part_cut_prefix(&line, "VmFlags:")) {
		while ((flag = line_word(&line)).len)
			if (part_is(flag, "mm") && *m->name && m->bytes)
				name_sums_add(m->sums, m->name, strlen(m->name), m->bytes);
	}
}

int driver_pages_read(int pid_fd, struct name_sums *ret)
{
	struct mappings m = {.sums = ret};
	int r = lines_read(pid_fd, "maps", parse_maps_line, &m);

	return r < 0 || !m.any ? r : lines_read(pid_fd, "smaps", parse_smaps_line, &m);
}
