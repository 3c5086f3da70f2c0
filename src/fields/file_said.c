// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is said of files and of mappings: their fields in JSON, and values of sentences alone. */
#include "fields/file_said.h"

#include "fields/define.h"
#include "fields/descriptor_fields.h"
#include "fields/file_fields.h"
#include "fields/map_fields.h"
#include "model/maps.h"

#define ROW const struct files_report *r = row

static struct value difference_of(const struct files_report *r, enum file_account account)
{
	uint64_t kernel = 0;
	bool known = files_kernel_sum(&r->snapshot->system.meminfo, account, &kernel);

	return value_signed(known, (int64_t)(kernel - r->account[account].resident));
}

SAID(shmem_difference, CHANGE, difference_of(r, FILE_IN_SHMEM));
SAID(cache_difference, CHANGE, difference_of(r, FILE_IN_CACHE));
FLAG(has_huge, r->account[FILE_IN_HUGETLB].files);
static FIELDS(accounts, &field_shmem_difference, &field_cache_difference, &field_has_huge);

SENTENCES(file_accounts_said, &file_measured, &accounts,
	  "shared memory, tmpfs: {totals.shmem_listed_bytes} in RAM"
	  "[ (kernel: {totals.shmem_bytes}, difference {shmem_difference})]"
	  "[, {totals.shmem_swapped_bytes+} in swap]",
	  "{?has_huge}files of huge pages: {totals.hugetlb_listed_bytes} in RAM"
	  "[ of a pool of {totals.hugetlb_pool_bytes}]",
	  "page cache: {totals.cache_listed_bytes} in RAM"
	  "[ (kernel: {totals.cache_bytes}, difference {cache_difference})]"
	  "[, {totals.cache_unevictable_bytes+} of it cannot be freed (ramfs)]");
SENTENCES(file_total_said, &file_measured, NULL, "total of {totals.files} file{s}");
/* Of all files, whatever the filters choose. */
SENTENCES(
	file_unsure_said, &file_measured, NULL,
	"{?collection.not_listed}cannot be listed, if this machine has any: {collection.not_listed}",
	"{collection.unsure+} of the {collection.file_systems} file system{s} changed while "
	"{it was/they were} read");

#undef ROW
#define ROW                                                                                        \
	const struct cached_file *r = *(const struct cached_file *const *)row;                     \
	struct file_texts *texts = (void *)of;                                                     \
	(void)texts
SAID(state, TEXT, value_text(file_state(r, texts->state)));
SAID(seen, AMOUNT, value_signed(r->holders_known && r->holders_hidden, r->holder_count));
static FIELDS(held, &field_state, &field_seen);

SENTENCES(file_held_said, &file_held_fields, &held,
	  "in RAM {resident_bytes}  in swap {swapped_bytes}[  size {size_bytes}]",
	  "kind {kind}  device {device}  inode {inode}[  {?state}{state}][  mount {mount}]",
	  "[{?holders_count}{holders_count} process{es} {has/have} it open or {maps/map} it"
	  "||{!holders_count}no process of this pid namespace has it open or maps it"
	  "||{seen} process{es}, and others that are not seen here, hold it"
	  "||holders: too many mappings to be read]");

/* ---- mappings ---- */

#undef ROW
#define ROW const struct maps_report *r = row

/* Processes with mappings that count. `summed`: those of which PSS is a sum of whole kB. */
static int64_t count_processes(const struct maps_report *r, bool summed)
{
	int64_t counted = 0, sums = 0;

	for (size_t i = 0; i < r->process_count; i++) {
		const struct maps_process *p = &r->process[i];

		counted += p->counted && (p->mappings || !r->filtered);
		/* The values of some mappings have no other total. */
		sums += p->counted && !p->total_exact && !r->filtered;
	}
	return summed ? sums : counted;
}

static int64_t count_sharing(const struct maps_report *r)
{
	int64_t shared = 0;

	for (size_t i = 0; i < r->process_count; i++)
		shared += r->process[i].process->kind == PROCESS_USER &&
			  !r->process[i].process->mm_owner;
	return shared;
}

SAID(counted, AMOUNT, value_signed(true, count_processes(r, false)));
SAID(summed, AMOUNT, value_signed(true, count_processes(r, true)));
SAID(sharing, AMOUNT, value_signed(true, count_sharing(r)));
static const struct maps_process *only_process(const struct maps_report *r)
{
	return r->process_count == 1 ? r->process : NULL;
}

static struct value value_kernel(const struct maps_process *p)
{
	return value_bytes(p && process_has(p->process, COUNTER_KERNEL),
			   p ? p->process->value[COUNTER_KERNEL] : 0);
}

SAID(kernel_bytes, BYTES, value_kernel(only_process(r)));

static struct value value_objects(const struct maps_process *p)
{
	return value_rows(p && p->objects, p ? p->object : NULL, p ? p->objects : 0);
}

JSON_FIELD(kernel_objects, "kernel_objects", ROWS, value_objects(only_process(r)), "",
	   .fields = &kernel_object_fields, .row_size = sizeof(struct kernel_object));
static FIELDS(maps, &field_counted, &field_summed, &field_sharing, &field_kernel_bytes,
	      &field_kernel_objects);

SENTENCES(maps_said, &maps_measured, &maps,
	  "{totals.mappings} mapping{s} of {counted} process{es}"
	  "[; {sharing+} sharing the memory of another process][; {collection.gone+} gone]"
	  "[; {collection.denied+} denied][; {collection.timeout+} timeout]"
	  "[; {collection.kernel_threads+} kernel_thread][; {collection.unsupported+} unsupported]"
	  "[; {summed+} changed while read: PSS is a sum of whole kB]",
	  "kernel memory by descriptors {kernel_bytes}: {kernel_objects*4: {kind}[ {bytes+}]"
	  "[ {mapped_bytes+} mapped] (descriptor {descriptor})}");
