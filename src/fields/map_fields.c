// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The fields of mappings and of sums of them. */
#include "fields/map_fields.h"

#include "fields/define.h"
#include "fields/descriptor_fields.h"

#define NAME_MAX_BYTES .max = {4096}, .max_hex = {4096}

/* The counters `c` of a row; `p` begins the names of their fields. */
#define COUNTERS(X, p)                                                                             \
	X(p, SIZE, size, "SIZE", "address space, resident or not")                                 \
	X(p, RSS, rss, "RSS", "resident pages")                                                    \
	X(p, PSS, pss, "PSS", "resident pages, each divided by its mappings")                      \
	X(p, PRIVATE, private, "PRIVATE",                                                          \
	  "resident pages, clean or modified, that are mapped once")                               \
	X(p, SHARED, shared, "SHARED",                                                             \
	  "resident pages, clean or modified, that are mapped more than once")                     \
	X(p, SWAP, swap, "SWAP", "swap entries of private memory")                                 \
	X(p, SWAP_PSS, swap_pss, "SWAP_PSS",                                                       \
	  "swap entries, each divided by the processes that share it")                             \
	X(p, LOCKED, locked, "LOCKED", "pages locked by mlock")                                    \
	X(p, THP, thp, "THP",                                                                      \
	  "memory in transparent huge pages: anonymous memory, shared memory and files")           \
	X(p, HUGETLB, hugetlb, "HUGETLB",                                                          \
	  "hugetlb pages, private and shared; those of several processes have no sum")             \
	X(p, LAZYFREE, lazyfree, "LAZYFREE",                                                       \
	  "freed by madvise(MADV_FREE), but resident until the kernel needs the memory")
/* The part of rss on each NUMA node, with --by-node; without it there is no such key. */
#define NODE(p, n)                                                                                 \
	FIELD_BY(get_##p##_counter, MAPS_NODE0 + n, p##_node##n, "node" #n, "node" #n "_bytes",    \
		 "NODE" #n, BYTES, "the part of rss on NUMA node " #n ", with --by-node",          \
		 .flags = FIELD_SUMS | FIELD_OPTIONAL);
#define NODE_ITEM(p, n) &field_##p##_node##n,
#define COUNTER(p, id, name, heading, help)                                                        \
	FIELD_BY(get_##p##_counter, MAPS_##id, p##_##name, #name, #name "_bytes", heading, BYTES,  \
		 help, .flags = FIELD_SUMS);
/* The fields of ROW. Huge pages that are mapped in part are read where there are some; otherwise
 * there is no such key. */
#define COUNTER_FIELDS(p)                                                                          \
	static struct value get_##p##_counter(const struct field *f, const void *row,              \
					      const void *of)                                      \
	{                                                                                          \
		ROW;                                                                               \
		(void)r, (void)of;                                                                 \
		return value_bytes(map_has(c, (enum map_counter)f->counter),                       \
				   c->value[f->counter]);                                          \
	}                                                                                          \
	COUNTERS(COUNTER, p)                                                                       \
	FIELD_BY(get_##p##_counter, MAPS_THP_REST, p##_thp_rest, "thp_rest", "thp_rest_bytes",     \
		 "THP_REST", BYTES,                                                                \
		 "the rest of huge pages that it maps in part: no process maps it, and it is not " \
		 "free; shared ones divided",                                                      \
		 .flags = FIELD_SUMS | FIELD_OPTIONAL);                                            \
	EACH_NODE(NODE, p)
#define ITEM(p, id, name, heading, help) &field_##p##_##name,
#define LAST(name)			 &field_##name

/* ---- rows ---- */

#define ROW                                                                                        \
	const struct mapping *r = *(struct mapping *const *)row;                                   \
	const struct map_counters *c = &r->counters;                                               \
	(void)c

COUNTER_FIELDS(row)
COLUMN(pid, "pid", "PID", NUMBER, value_signed(true, r->pid), "process id", .flags = FIELD_KNOWN);
COLUMN(address, "address", "ADDRESS", ADDRESS, value_bytes(true, r->start),
       "first and last address of the mapping", .flags = FIELD_KNOWN);
JSON_KNOWN(start, "start", ADDRESS, value_bytes(true, r->start), "its first address");
JSON_KNOWN(end, "end", ADDRESS, value_bytes(true, r->end), "the address behind its last one");
COLUMN(perm, "perm", "PERM", TEXT, value_text(r->perm),
       "permissions: read, write, execute, shared or private", .flags = FIELD_KNOWN);
COLUMN_AS(procs, "procs", "processes", "PROCS", AMOUNT, value_signed(true, r->processes),
	  "processes that have such mappings", .flags = FIELD_KNOWN);
COLUMN_AS(maps, "maps", "mappings", "MAPS", AMOUNT, value_signed(true, r->mappings),
	  "the number of mappings", .flags = FIELD_KNOWN);
COLUMN(kind, "kind", "KIND", TEXT, value_text(r->name),
       "heap, stack, anon (all other private memory without a file), other (such as [vdso]), or the "
       "kind of its file, as of files: file, tmpfs, memfd, sysv, shared_anon, drm, hugetlb, ramfs or "
       "secretmem",
       .flags = FIELD_KNOWN);
COLUMN(name, "name", "NAME", TEXT,
       ((struct value){.known = true, .text = r->name, .cut = r->name_cut}),
       "path of the file, or the kernel's name: [heap], [stack], [anon] and others", NAME_MAX_BYTES,
       .flags = FIELD_KNOWN | FIELD_CUT_TRUE | FIELD_HEX);
COLUMN_AS(group, "name", "group", "NAME", TEXT, value_text(r->group),
	  "what its processes have in common. Null if they have none", NAME_MAX_BYTES,
	  .flags = FIELD_CUT_BOOL | FIELD_HEX);

FIELDS(map_fields, &field_pid, &field_address, &field_perm, &field_procs, &field_maps, &field_kind,
       COUNTERS(ITEM, row) & field_row_thp_rest, EACH_NODE(NODE_ITEM, row) LAST(name));
FIELDS(map_counters, COUNTERS(ITEM, row));
FIELDS(map_identity, &field_pid, &field_start, &field_group, &field_name);

static FIELDS(each_columns, &field_pid, &field_address, &field_perm,
	      COUNTERS(ITEM, row) & field_row_thp_rest, EACH_NODE(NODE_ITEM, row) LAST(name));
static FIELDS(file_columns, &field_procs, &field_maps, COUNTERS(ITEM, row) LAST(name));
static FIELDS(kind_columns, &field_procs, &field_maps, &field_kind,
	      COUNTERS(ITEM, row) LAST(group));
const struct fields *const map_columns[] = {[MAP_ROWS_EACH] = &each_columns,
					    [MAP_ROWS_FILES] = &file_columns,
					    [MAP_ROWS_KINDS] = &kind_columns};

static FIELDS(each, &field_pid, &field_start, &field_end, &field_perm, &field_name,
	      COUNTERS(ITEM, row) & field_row_thp_rest, EACH_NODE(NODE_ITEM, row));
static FIELDS(files, &field_procs, &field_maps, &field_name, COUNTERS(ITEM, row));
static FIELDS(kinds, &field_group, &field_kind, &field_procs, &field_maps, COUNTERS(ITEM, row));

/* ---- processes ---- */

#undef ROW
#define ROW                                                                                        \
	const struct maps_process *r = row;                                                        \
	const struct map_counters *c = &r->total;                                                  \
	(void)c

COUNTER_FIELDS(process)
JSON_KNOWN(process_pid, "pid", NUMBER, value_signed(true, r->process->pid), "process id");
JSON_FIELD(process_name, "name", TEXT,
	   value_text(r->process->name ? r->process->name : r->process->comm), "program",
	   NAME_MAX_BYTES, .flags = FIELD_KNOWN | FIELD_CUT_TRUE | FIELD_HEX);
JSON_KNOWN(status, "status", TEXT, value_text(pss_status_name(r->status)),
	   "ok, or why its mappings were not read");
JSON_KNOWN(owner, "mm_owner", BOOL, value_bool(true, r->process->mm_owner),
	   "true for the process that counts its address space in totals");
JSON_FIELD(
	source, "total_source", TEXT,
	value_text(r->status != PSS_OK ? NULL
		   : r->total_exact    ? "smaps_rollup"
				       : "smaps"),
	"smaps_rollup: its PSS is rounded only once. smaps: the mappings changed while they were read, or there is --mapping");
JSON_FIELD(process_kernel, "kernel_bytes", BYTES,
	   value_bytes(process_has(r->process, COUNTER_KERNEL), r->process->value[COUNTER_KERNEL]),
	   "kernel memory that it holds by descriptors, read if processes are named by number");
ROWS(process_objects, "descriptors", &kernel_object_fields, struct kernel_object,
     process_has(r->process, COUNTER_KERNEL), r->object, r->objects,
     "the largest that lead to kernel memory", 0);
JSON_FIELD(process_maps, "mappings", AMOUNT, value_unsigned(r->status == PSS_OK, r->mappings),
	   "the number of mappings");
static FIELDS(processes, &field_process_pid, &field_process_name, &field_status, &field_owner,
	      &field_source, &field_process_maps, &field_process_kernel, &field_process_objects,
	      COUNTERS(ITEM, process) & field_process_thp_rest, EACH_NODE(NODE_ITEM, process));

/* ---- the document ---- */

#undef ROW
#define ROW                                                                                        \
	const struct maps_report *r = row;                                                         \
	const struct map_counters *c = &r->total;                                                  \
	(void)c
#define COUNT(status) maps_report_count(r, PSS_##status)
#define STATUS(name, json, status, help)                                                           \
	JSON_KNOWN(name, json, AMOUNT, value_unsigned(true, COUNT(status)), help)

JSON_KNOWN(complete, "complete", BOOL,
	   value_bool(true, COUNT(OK) + COUNT(SKIPPED) + COUNT(GONE) + COUNT(KERNEL_THREAD) ==
				    r->process_count),
	   "true if only kernel threads and ended processes are missing");
JSON_KNOWN(count, "processes", AMOUNT, value_unsigned(true, r->process_count),
	   "processes that were chosen");
STATUS(read, "read", OK, "processes with mappings that were read");
STATUS(shared_mm, "shared_mm", SKIPPED,
       "processes that were not read, because another process with the same address space was");
STATUS(gone, "gone", GONE, "processes that have ended");
STATUS(denied, "denied", DENIED, "processes that may not be read");
STATUS(timeout, "timeout", TIMEOUT, "processes that are stuck");
STATUS(kernel_threads, "kernel_threads", KERNEL_THREAD, "they have no mappings");
STATUS(unsupported, "unsupported", UNSUPPORTED, "processes with a smaps that cannot be read here");
static FIELDS(collection, &field_complete, &field_count, &field_read, &field_shared_mm, &field_gone,
	      &field_denied, &field_timeout, &field_kernel_threads, &field_unsupported);

COUNTER_FIELDS(all)
JSON_KNOWN(all_maps, "mappings", AMOUNT, value_unsigned(true, r->mappings),
	   "the number of mappings");
static FIELDS(totals, &field_all_maps, COUNTERS(ITEM, all) & field_all_thp_rest,
	      EACH_NODE(NODE_ITEM, all));

#define LINES FIELD_KNOWN | FIELD_LINES | FIELD_END_LINE
#define MAPPINGS(name, key, help)                                                                  \
	ROWS(name, key, &name, struct mapping *, true, r->rows, r->row_count, help, LINES)
OBJECT(collection, "collection", &collection, r, "what was read");
OBJECT(totals, "totals", &totals, r,
       "sums over all mappings, shown or not; each address space counts once");
ROWS(processes, "processes", &processes, struct maps_process, true, r->process, r->process_count,
     "those that were chosen", LINES);
JSON_KNOWN(group_by, "group_by", TEXT, value_text(r->group->key),
	   "what the processes of a row share");
MAPPINGS(each, "mappings", "one by one");
MAPPINGS(files, "files", "mappings with one name");
MAPPINGS(kinds, "groups", "mappings of a group of processes that are of one kind");

FIELDS(maps_measured, &field_collection, &field_totals);
static FIELDS(of_each, &field_collection, &field_totals, &field_processes, &field_each);
static FIELDS(of_files, &field_collection, &field_totals, &field_processes, &field_files);
static FIELDS(of_kinds, &field_collection, &field_totals, &field_processes, &field_group_by,
	      &field_kinds);
const struct fields *const map_document[] = {
	[MAP_ROWS_EACH] = &of_each, [MAP_ROWS_FILES] = &of_files, [MAP_ROWS_KINDS] = &of_kinds};
