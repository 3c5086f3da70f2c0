// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The fields of the machine. */
#include "fields/system_fields.h"

#include "fields/define.h"
#include "fields/descriptor_fields.h"
#include "fields/gpu_fields.h"
#include "model/files.h"

bool swap_rest(const struct system_report *r, int64_t *ret)
{
	const struct system_info *s = &r->snapshot->system;

	if (!r->unattributed_known || !s->files.shmem_known || !s->swap_cache.known)
		return false;
	*ret = (int64_t)(r->unattributed - s->files.shmem_swapped - s->swap_cache.bytes);
	return true;
}

static struct value value_ratio(bool known, uint64_t larger, uint64_t smaller)
{
	uint64_t hundredths = 0;

	known = known && account_ratio(larger, smaller, &hundredths);
	return value_unsigned(known, hundredths);
}

/* A value less a sum. */
static struct value value_rest(bool known, uint64_t value, uint64_t sum)
{
	return value_signed(known, (int64_t)(value - sum));
}

/* A size that tables show as a number with a sign. */
static struct value value_size(uint64_t bytes)
{
	return value_bytes(bytes <= INT64_MAX, bytes);
}

#define NO_NOTE .note = ""

/* ---- the parts of RAM ---- */

#define ROW const struct account *r = row
#define PART(id, name, json, type, help)                                                           \
	JSON_FIELD(name, json, type,                                                               \
		   value_signed(account_has(r, ACCOUNT_##id), r->value[ACCOUNT_##id]), help)

PART(TOTAL, total, "total_bytes", BYTES, "MemTotal: the sum of the other parts");
PART(KERNEL, kernel, "kernel_bytes", BYTES, "the sum of the values in kernel");
PART(USER, user, "user_bytes", BYTES, "the sum of the values in user");
PART(CACHE, cache, "cache_bytes", BYTES, "Cached and Buffers less Shmem, mapped or not");
PART(HUGETLB, hugetlb, "hugetlb_bytes", BYTES, "Hugetlb");
PART(FREE, free, "free_bytes", BYTES,
     "MemFree and the free pages on lists of CPUs (/proc/zoneinfo)");
PART(UNACCOUNTED, unaccounted, "unaccounted_bytes", CHANGE,
     "MemTotal less the other parts: pages without a counter. Negative if counters lag");
static FIELDS(memory, &field_total, &field_kernel, &field_user, &field_cache, &field_hugetlb,
	      &field_free, &field_unaccounted);

PART(SLAB_RECLAIMABLE, slab_reclaimable, "slab_reclaimable_bytes", BYTES, "SReclaimable");
PART(SLAB_UNRECLAIMABLE, slab_unreclaimable, "slab_unreclaimable_bytes", BYTES, "SUnreclaim");
PART(PAGE_TABLES, page_tables, "page_tables_bytes", BYTES, "PageTables");
PART(SEC_PAGE_TABLES, sec_page_tables, "secondary_page_tables_bytes", BYTES,
     "SecPageTables: of KVM and IOMMUs");
PART(STACKS, stacks, "stacks_bytes", BYTES, "KernelStack");
PART(VMALLOC, vmalloc, "vmalloc_bytes", BYTES, "VmallocUsed less KernelStack");
PART(PERCPU, percpu, "percpu_bytes", BYTES, "Percpu");
PART(COMPRESSED_SWAP, compressed_swap, "compressed_swap_bytes", BYTES, "memory of zram and zswap");
PART(GPU_ACTIVE, gpu_active, "gpu_active_bytes", BYTES, "GPUActive");
PART(GPU_RECLAIM, gpu_reclaim, "gpu_reclaim_bytes", BYTES, "GPUReclaim: kept for the next use");
PART(OTHER, other, "other_bytes", BYTES,
     "KReclaimable without slab, Bounce, WritebackTmp, HardwareCorrupted");
static FIELDS(kernel, &field_slab_reclaimable, &field_slab_unreclaimable, &field_page_tables,
	      &field_sec_page_tables, &field_stacks, &field_vmalloc, &field_percpu,
	      &field_compressed_swap, &field_gpu_active, &field_gpu_reclaim, &field_other);

PART(ANON, anon, "anon_bytes", BYTES, "AnonPages");
PART(SHMEM, shmem, "shmem_bytes", BYTES, "Shmem: shared memory and tmpfs, mapped or not");
static FIELDS(user, &field_anon, &field_shmem);

/* ---- RAM by class ---- */

#undef ROW
#define ROW const struct ram_part *r = row

JSON_KNOWN(part_name, "name", TEXT, value_text(r->name), "what it is, or what allocated it");
JSON_KNOWN(part_bytes, "bytes", BYTES, value_bytes(true, r->bytes), "its size");
JSON_FIELD(part_pid, "pid", NUMBER, value_signed(r->pid, r->pid),
	   "the process that has it. Null if there is none, or if it is not known");
JSON_FIELD(part_process, "process", TEXT, value_text(r->pid ? r->process : NULL), "its name");
static FIELDS(parts, &field_part_name, &field_part_bytes, &field_part_pid, &field_part_process);

#undef ROW
#define ROW const struct ram_figure *r = row

static const struct ram *ram_of(const struct ram_figure *f)
{
	return (const struct ram *)((const char *)(f - f->class) - offsetof(struct ram, figure));
}

static bool class_exists(const void *row, const void *of)
{
	(void)of;
	return ((const struct ram_figure *)row)->exists || ((const struct ram_figure *)row)->reason;
}

JSON_KNOWN(class, "class", TEXT, value_text(ram_class_table[r->class].key),
	   "its name; zmem-bpf-system(1) explains each");
JSON_FIELD(class_bytes, "bytes", BYTES, value_bytes(r->known, r->bytes),
	   "its size. Null if it was not measured");
JSON_FIELD(class_error, "error_bytes", BYTES, value_bytes(r->known && r->sampled, r->error),
	   "of a sample: with a probability of 95 % the size is not further off");
JSON_FIELD(class_counter, "counter", TEXT, value_text(ram_counter_name(ram_of(r), r->class)),
	   "the counters of the kernel that count the same. Null if there are none");
JSON_FIELD(
	class_counter_bytes, "counter_bytes", BYTES, value_bytes(r->has_counter, r->counter),
	"what they say: of two readings, before and after the frames were counted, the nearer one");
JSON_FIELD(class_reason, "reason", TEXT, value_text(r->reason),
	   "why it was not measured, or what it lacks");
ROWS(class_parts, "parts", &parts, struct ram_part, true, ram_of(r)->part + r->part, r->parts,
     "some of it by name. Parts may overlap and need not add up", FIELD_KNOWN);
static FIELDS(classes, &field_class, &field_class_bytes, &field_class_error, &field_class_counter,
	      &field_class_counter_bytes, &field_class_reason, &field_class_parts);

#undef ROW
#define ROW const struct ram *r = row

static struct value largest_error(const struct ram *r)
{
	uint64_t most = 0;

	for (int i = 0; i < RAM_CLASSES; i++)
		if (r->figure[i].known && r->figure[i].error > most)
			most = r->figure[i].error;
	return value_bytes(r->method == RAM_SAMPLE, most);
}

JSON_KNOWN(
	method, "method", TEXT, value_text(ram_method_name(r->method)),
	"how it was measured. exact: each page frame was counted. sample: some were. counters: none was, and the values "
	"are counters of the kernel");
JSON_FIELD(ram_reason, "reason", TEXT, value_text(*r->reason ? r->reason : NULL),
	   "why the frames were not counted. Null if they were");
JSON_FIELD(frames, "frames_bytes", BYTES, value_bytes(r->known, r->frames),
	   "all RAM: the sum of the classes");
JSON_FIELD(ram_error, "error_bytes", BYTES, largest_error(r),
	   "of a sample: the largest error of a class");
JSON_FIELD(ram_duration, "duration_us", AMOUNT,
	   value_unsigned(r->method != RAM_COUNTERS, r->duration_us),
	   "how long it took to count the frames");
JSON_FIELD(
	taken, "time_ms", TIME, value_signed(ram_is_counted(r), r->taken_ms),
	"when they were counted, since the epoch. In a series one count serves several snapshots");
JSON_FIELD(deleted_cgroups, "deleted_cgroups", AMOUNT,
	   value_unsigned(r->deleted_known, r->deleted_cgroups),
	   "memory cgroups that were removed and still hold memory");
JSON_FIELD(deleted_bytes, "deleted_cgroup_bytes", BYTES,
	   value_bytes(r->deleted_known, r->deleted_bytes), "what they hold");
/* On a line each, and in the line of a snapshot. */
#define CLASSES(name, flags)                                                                       \
	ROWS(name, "classes", &classes, struct ram_figure, true, r->figure, RAM_CLASSES,           \
	     "what the frames are. No frame is in two classes", FIELD_KNOWN | (flags),             \
	     .shown = class_exists)
#define OF_WHICH(name, flags)                                                                      \
	ROWS(name, "of_which", &classes, struct ram_figure, true, r->figure + RAM_CLASSES,         \
	     RAM_FIGURES - RAM_CLASSES, "memory that is in the classes as well",                   \
	     FIELD_KNOWN | (flags), .shown = class_exists)
CLASSES(ram_classes, FIELD_LINES);
OF_WHICH(of_which, FIELD_LINES);
CLASSES(ram_classes_line, 0);
OF_WHICH(of_which_line, 0);
#define RAM_HEAD                                                                                   \
	&field_method, &field_ram_reason, &field_frames, &field_ram_error, &field_ram_duration,    \
		&field_taken, &field_deleted_cgroups, &field_deleted_bytes
FIELDS(ram_fields, RAM_HEAD, &field_ram_classes, &field_of_which);
static FIELDS(ram_line, RAM_HEAD, &field_ram_classes_line, &field_of_which_line);

#undef ROW
#define ROW const struct ram_node_class *r = row

JSON_KNOWN(node_class, "class", TEXT, value_text(ram_class_table[r->class].key),
	   "as in ram. Memory without a mark, such as vmalloc, is in unnamed_kernel");
JSON_KNOWN(node_class_bytes, "bytes", BYTES, value_bytes(true, r->bytes), "its size");
static FIELDS(node_classes, &field_node_class, &field_node_class_bytes);

#undef ROW
#define ROW const struct ram_node *r = row

JSON_KNOWN(node_number, "node", NUMBER, value_signed(true, r->node), "its number");
JSON_KNOWN(node_frames, "frames_bytes", BYTES, value_bytes(true, r->frames), "its RAM");
ROWS(node_parts, "classes", &node_classes, struct ram_node_class, true, r->class, r->classes,
     "what it holds", FIELD_KNOWN);
static FIELDS(nodes, &field_node_number, &field_node_frames, &field_node_parts);

#undef ROW
#define ROW const struct census_cgroup *r = row

COLUMN(cgroup_total, "bytes", "TOTAL", BYTES, value_bytes(true, census_cgroup_bytes(r)),
       "the sum of the next four", .flags = FIELD_KNOWN);
COLUMN(cgroup_anon, "anon_bytes", "ANON", BYTES, value_bytes(true, r->bytes[ZMEM_CHARGE_ANON]),
       "anonymous memory", .flags = FIELD_KNOWN);
COLUMN(cgroup_cache, "page_cache_bytes", "CACHE", BYTES,
       value_bytes(true, r->bytes[ZMEM_CHARGE_FILE]), "page cache", .flags = FIELD_KNOWN);
COLUMN(cgroup_shmem, "shmem_bytes", "SHMEM", BYTES, value_bytes(true, r->bytes[ZMEM_CHARGE_SHMEM]),
       "shared memory and tmpfs", .flags = FIELD_KNOWN);
COLUMN(cgroup_kernel, "kernel_bytes", "KERNEL", BYTES,
       value_bytes(true, r->bytes[ZMEM_CHARGE_KERNEL]),
       "pages of the kernel, without slab, which is charged by object", .flags = FIELD_KNOWN);
COLUMN(cgroup_deleted, "deleted", "DELETED", BOOL, value_bool(true, r->deleted),
       "true if its directory was removed", .flags = FIELD_KNOWN);
COLUMN(cgroup_path, "cgroup", "CGROUP", TEXT, value_text(r->path),
       "its path from the root of the hierarchy. Null if it is not known", .flags = FIELD_HEX);
static FIELDS(cgroups, &field_cgroup_path, &field_cgroup_deleted, &field_cgroup_total,
	      &field_cgroup_anon, &field_cgroup_cache, &field_cgroup_shmem, &field_cgroup_kernel);
FIELDS(system_cgroups, &field_cgroup_total, &field_cgroup_anon, &field_cgroup_cache,
       &field_cgroup_shmem, &field_cgroup_kernel, &field_cgroup_deleted, &field_cgroup_path);

/* ---- values that overlap several parts ---- */

#undef ROW
#define ROW const struct meminfo_line *r = row

JSON_KNOWN(line_name, "name", TEXT, value_text(r->name), "its name in the file");
JSON_KNOWN(line_bytes, "bytes", BYTES, value_bytes(true, r->bytes), "its value");
static FIELDS(lines, &field_line_name, &field_line_bytes);

#undef ROW
#define ROW                                                                                        \
	const struct system_info *r = row;                                                         \
	const struct meminfo *m = &r->meminfo;                                                     \
	(void)m
#define MEMINFO(id) value_bytes(meminfo_has(m, MEMINFO_##id), m->value[MEMINFO_##id])

COLUMN(available, "available_bytes", "  available", BYTES, MEMINFO(AVAILABLE), "MemAvailable",
       .note = "MemAvailable: without swapping");
JSON_FIELD(cached, "cached_bytes", BYTES, MEMINFO(CACHED), "Cached: mapped or not, Shmem too");
COLUMN(buffers, "buffers_bytes", "  buffers", BYTES, MEMINFO(BUFFERS), "Buffers",
       .note = "Buffers: block devices");
COLUMN(mapped, "mapped_bytes", "  mapped", BYTES, MEMINFO(MAPPED),
       "Mapped: what processes map of files, shared memory and pages of drivers",
       .note = "Mapped: of cache, Shmem, drivers");
COLUMN(swap_cached, "swap_cached_bytes", "  swap cache", BYTES, MEMINFO(SWAP_CACHED),
       "SwapCached, mapped or not", .note = "SwapCached");
COLUMN(unevictable, "unevictable_bytes", "  unevictable", BYTES, MEMINFO(UNEVICTABLE),
       "Unevictable: what the kernel can neither free nor swap: locked pages, ramfs, secretmem",
       .note = "Unevictable: never freed or swapped");
COLUMN(mlocked, "mlocked_bytes", "    of which locked", BYTES, MEMINFO(MLOCKED),
       "Mlocked: pages of mlock(2), which are unevictable", .note = "Mlocked: by processes");
COLUMN(partly_mapped, "anon_partly_mapped_bytes", "  partly mapped", BYTES,
       value_bytes(r->partly_mapped.known, r->partly_mapped.bytes),
       "anonymous huge pages of which processes map a part, with their rest",
       .note = "nr_anon_partially_mapped: huge pages, whole");
JSON_FIELD(vmalloc_used, "vmalloc_used_bytes", BYTES, MEMINFO(VMALLOC_USED), "VmallocUsed");
JSON_FIELD(kernel_reclaimable, "kernel_reclaimable_bytes", BYTES, MEMINFO(KERNEL_RECLAIMABLE),
	   "KReclaimable");
JSON_FIELD(
	sockets, "sockets_bytes", BYTES, value_bytes(r->sockets.known, r->sockets.bytes),
	"TCP, UDP and FRAG of /proc/net/sockstat: in slab, or in no counter. Unix sockets have no "
	"counter");
ROWS(unplaced, "unplaced", &lines, struct meminfo_line, true, m->unplaced, m->unplaced_count,
     "other lines of /proc/meminfo: Balloon, and names that zmem-bpf does not know. They may be in "
     "unaccounted_bytes, in other lines or outside of MemTotal",
     FIELD_KNOWN | FIELD_LINES);
static FIELDS(across, &field_available, &field_cached, &field_buffers, &field_mapped,
	      &field_swap_cached, &field_unevictable, &field_mlocked, &field_partly_mapped,
	      &field_vmalloc_used, &field_kernel_reclaimable, &field_sockets, &field_unplaced);
FIELDS(system_across, &field_available, &field_mapped, &field_buffers, &field_swap_cached,
       &field_unevictable, &field_mlocked, &field_partly_mapped);

JSON_FIELD(zswap_pool, "pool_bytes", BYTES, MEMINFO(ZSWAP_POOL), "memory");
JSON_FIELD(zswap_stored, "stored_bytes", BYTES, MEMINFO(ZSWAP_STORED),
	   "what is in it, uncompressed");
JSON_FIELD(zswap_ratio, "ratio_percent", RATIO,
	   value_ratio(meminfo_has(m, MEMINFO_ZSWAP_POOL) && meminfo_has(m, MEMINFO_ZSWAP_STORED),
		       m->value[MEMINFO_ZSWAP_STORED], m->value[MEMINFO_ZSWAP_POOL]),
	   "stored to memory. Null if nothing is stored");
FIELDS(system_zswap, &field_zswap_pool, &field_zswap_stored, &field_zswap_ratio);

/* ---- files of the machine ---- */

static struct value kernel_less(const struct meminfo *m, enum file_account account, bool known,
				uint64_t sum)
{
	uint64_t kernel = 0;

	known = files_kernel_sum(m, account, &kernel) && known;
	return value_rest(known, kernel, sum);
}

JSON_FIELD(shmem_listed, "shmem_listed_bytes", BYTES,
	   value_bytes(r->files.shmem_known, r->files.shmem), "shared memory and tmpfs in RAM");
JSON_FIELD(shmem_residual, "shmem_residual_bytes", CHANGE,
	   kernel_less(m, FILE_IN_SHMEM, r->files.shmem_known, r->files.shmem),
	   "Shmem less shmem_listed_bytes");
JSON_FIELD(cache_listed, "cache_listed_bytes", BYTES,
	   value_bytes(r->files.cache_known, r->files.cache),
	   "page cache of all other files, without hugetlbfs");
JSON_FIELD(cache_residual, "cache_residual_bytes", CHANGE,
	   kernel_less(m, FILE_IN_CACHE, r->files.cache_known, r->files.cache),
	   "Cached + Buffers - Shmem less cache_listed_bytes");
JSON_FIELD(shmem_swapped, "shmem_swapped_bytes", BYTES,
	   value_bytes(r->files.shmem_known, r->files.shmem_swapped),
	   "shared memory and tmpfs in swap. It is a part of unattributed_bytes, as the next two");
COLUMN(swap_tmpfs, "swap_tmpfs_bytes", "    tmpfs", BYTES,
       value_bytes(r->files.shmem_known, r->files.swapped_tmpfs), "files of tmpfs in swap",
       .note = "zmem-bpf files -s swapped");
COLUMN(swap_unmapped, "swap_shmem_unmapped_bytes", "    shared memory", BYTES,
       value_bytes(r->files.shmem_known, r->files.swapped_unmapped),
       "other shared memory in swap that no process maps", .note = "not mapped");

#define UNMAPPED(kind) value_bytes(r->files.shmem_known, r->files.unmapped[FILE_##kind])
JSON_FIELD(tmpfs, "tmpfs", BYTES, UNMAPPED(TMPFS), "of a tmpfs, also of devtmpfs");
JSON_FIELD(memfd, "memfd", BYTES, UNMAPPED(MEMFD), "memfd_create(2)");
JSON_FIELD(sysv, "sysv", BYTES, UNMAPPED(SYSV), "shmget(2)");
JSON_FIELD(shared_anon, "shared_anon", BYTES, UNMAPPED(SHARED_ANON),
	   "anonymous memory that is shared (MAP_SHARED)");
JSON_FIELD(drm, "drm", BYTES, UNMAPPED(DRM), "buffers of graphics");
JSON_FIELD(others, "other", BYTES, UNMAPPED(OTHER), "other shared memory");
static FIELDS(unmapped, &field_tmpfs, &field_memfd, &field_sysv, &field_shared_anon, &field_drm,
	      &field_others);
OBJECT(shmem_unmapped, "shmem_unmapped_bytes", &unmapped, r,
       "shared memory and tmpfs in RAM, of files that no process maps, by kind");
FIELDS(system_files, &field_shmem_listed, &field_shmem_residual, &field_cache_listed,
       &field_cache_residual, &field_shmem_unmapped, &field_shmem_swapped, &field_swap_tmpfs,
       &field_swap_unmapped);

/* ---- devices ---- */

#undef ROW
#define ROW const struct swap_device *r = row

COLUMN(device_size, "size_bytes", "SIZE", BYTES, value_bytes(true, r->size), "its size",
       .flags = FIELD_KNOWN);
COLUMN(device_used, "used_bytes", "USED", BYTES, value_bytes(true, r->used), "what is in use",
       .flags = FIELD_KNOWN);
COLUMN(priority, "priority", "PRIORITY", AMOUNT, value_signed(true, r->priority),
       "the kernel uses devices with a higher one first", .flags = FIELD_KNOWN);
COLUMN(kind, "kind", "KIND", TEXT, value_text(swap_kind_name(r->kind)),
       "null if it is of another kind");
COLUMN(device, "name", "SWAP DEVICE", TEXT,
       ((struct value){.known = true, .text = r->name, .cut = r->name_cut}), "its first 255 bytes",
       .flags = FIELD_HEX);
JSON_KNOWN(name_truncated, "name_truncated", BOOL, value_bool(true, r->name_cut),
	   "true if name is cut");
static FIELDS(devices, &field_device, &field_name_truncated, &field_kind, &field_device_size,
	      &field_device_used, &field_priority);
FIELDS(system_devices, &field_device_size, &field_device_used, &field_priority, &field_kind,
       &field_device);

#undef ROW
#define ROW const struct zram_device *r = row

COLUMN(stored, "stored_bytes", "STORED", BYTES, value_size(r->stat.stored),
       "the size of the data, uncompressed");
COLUMN(compressed, "compressed_bytes", "COMPRESSED", BYTES, value_size(r->stat.compressed),
       "the size of the data, compressed");
COLUMN(used, "used_bytes", "MEMORY", BYTES, value_size(r->stat.used), "memory");
COLUMN(ratio, "ratio_percent", "RATIO", RATIO,
       value_ratio(true, r->stat.stored, r->stat.compressed),
       "stored to compressed. Null if nothing is compressed");
COLUMN(zram_name, "name", "COMPRESSED BY", TEXT, value_text(r->name), "the device",
       .flags = FIELD_KNOWN);
static FIELDS(zram, &field_zram_name, &field_stored, &field_compressed, &field_used);
static FIELDS(zram_ratio, &field_zram_name, &field_stored, &field_compressed, &field_used,
	      &field_ratio);
FIELDS(system_compressed, &field_stored, &field_compressed, &field_used, &field_ratio,
       &field_zram_name);

/* ---- sums over all processes, and the document ---- */

static struct value rest_of_swap(const struct system_report *r)
{
	int64_t rest = 0;
	bool known = swap_rest(r, &rest);

	return value_signed(known, rest);
}

#undef ROW
#define ROW                                                                                        \
	const struct system_report *r = row;                                                       \
	const struct system_info *s = &r->snapshot->system;                                        \
	const struct meminfo *m = &s->meminfo;                                                     \
	(void)m

COLUMN(swap_total, "total_bytes", "total", BYTES, MEMINFO(SWAP_TOTAL), "SwapTotal", NO_NOTE);
COLUMN(swap_free, "free_bytes", "free", BYTES, MEMINFO(SWAP_FREE), "SwapFree", NO_NOTE);
COLUMN(swap_used, "used_bytes", "used", BYTES, value_bytes(r->swap_used_known, r->swap_used),
       "total_bytes less free_bytes", NO_NOTE);
COLUMN(swap_pss, "swap_pss_bytes", "  of processes", BYTES,
       value_bytes(r->swap_pss_known, r->swap_pss),
       "the sum over all processes. Null unless it is known for each",
       .note = "SwapPss: shared entries divided");
COLUMN(unattributed, "unattributed_bytes", "  unattributed", BYTES,
       value_bytes(r->unattributed_known, r->unattributed),
       "in use and in no SwapPss of a process: swapped shared memory and tmpfs, swap cache",
       .note = "shmem, tmpfs and swap cache");
COLUMN(swap_shmem, "swap_shmem_bytes", "    shared memory", BYTES,
       value_bytes(r->swap_shmem_known, r->swap_shmem),
       "swapped shared memory that processes map. It counts once for each process that maps it",
       .note = "mapped; once for each process");
COLUMN(swap_cache, "swap_cache_bytes", "    swap cache", BYTES,
       value_bytes(s->swap_cache.known, s->swap_cache.bytes),
       "a part of unattributed_bytes: slots that only the swap cache has",
       .note = "of no process and no file");
COLUMN(rest, "rest_bytes", "    others", CHANGE, rest_of_swap(r),
       "unattributed_bytes less shmem_swapped_bytes and swap_cache_bytes: what changed meanwhile",
       .note = "changed meanwhile");
COLUMN(swap_ram, "swap_ram_bytes", "  RAM for processes", BYTES,
       value_bytes(r->swap_ram_known, r->swap_ram),
       "what the swap of all processes takes in RAM, compressed, in zram and zswap",
       .note = "compressed: zmem-bpf -s swap_ram");
COLUMN(swap_ram_files, "swap_ram_files_bytes", "  RAM for files", BYTES,
       value_bytes(s->files.swap_ram_known, s->files.swap_ram),
       "likewise of shared memory and tmpfs", .note = "zmem-bpf files -s swap_ram");
FIELDS(system_swap, &field_swap_total, &field_swap_free, &field_swap_used, &field_swap_pss,
       &field_unattributed, &field_swap_shmem, &field_swap_cache, &field_rest, &field_swap_ram,
       &field_swap_ram_files);

#define LESS(id, sum) value_rest(r->sum##_known &&meminfo_has(m, id), m->value[id], r->sum)
JSON_FIELD(pss_anon, "pss_anon_bytes", BYTES, value_bytes(r->pss_anon_known, r->pss_anon),
	   "the sum over all processes. Null unless each has it");
JSON_FIELD(anon_residual, "anon_residual_bytes", CHANGE, LESS(MEMINFO_ANON, pss_anon),
	   "AnonPages less pss_anon_bytes");
JSON_FIELD(pss_mapped, "pss_mapped_bytes", BYTES, value_bytes(r->pss_mapped_known, r->pss_mapped),
	   "likewise, of pss_file and pss_shmem");
JSON_FIELD(mapped_residual, "mapped_residual_bytes", CHANGE, LESS(MEMINFO_MAPPED, pss_mapped),
	   "Mapped less that sum");
JSON_FIELD(shmem_rest, "shmem_not_in_pss_bytes", BYTES,
	   value_bytes(r->snapshot->balance.shmem_not_in_pss_known,
		       r->snapshot->balance.shmem_not_in_pss),
	   "Shmem less pss_shmem of all processes: it is in no page table of a process");
JSON_KNOWN(processes, "processes", AMOUNT, value_unsigned(true, r->processes),
	   "processes with memory of their own. Processes that share an address space count once");
JSON_KNOWN(pss_missing, "pss_missing_processes", AMOUNT, value_unsigned(true, r->pss_missing),
	   "processes without PSS among them");
JSON_KNOWN(denied, "denied_processes", AMOUNT, value_unsigned(true, r->snapshot->collection.denied),
	   "processes with a PSS that the kernel denies. With hidepid they are in no sum");
JSON_KNOWN(hidden, "hidden_processes", BOOL, value_bool(true, r->snapshot->collection.hidden),
	   "true if /proc hides some processes: the residuals include their memory");
static FIELDS(books, &field_pss_anon, &field_anon_residual, &field_pss_mapped,
	      &field_mapped_residual, &field_shmem_rest, &field_processes, &field_pss_missing,
	      &field_denied, &field_hidden);

JSON_FIELD(ram_object, "ram", OBJECT, value_row(r->ram),
	   "where the RAM is. Null if the machine does not tell how much it has",
	   .fields = &ram_fields);
ROWS(all_cgroups, "cgroups", &cgroups, struct census_cgroup, r->cgroups && r->ram->cgroup,
     r->ram->cgroup, r->ram->cgroups,
     "the memory cgroups that page frames are charged to, largest first. Null without --by "
     "cgroup, and if the frames were not counted",
     FIELD_LINES);
ROWS(all_nodes, "nodes", &nodes, struct ram_node, r->nodes && r->ram->node, r->ram->node,
     r->ram->nodes,
     "the same classes for each node. Null without --by node, of a sample, and if the frames "
     "were not counted",
     FIELD_LINES);
OBJECT(memory, "memory", &memory, &r->account,
       "MemTotal in parts that do not overlap. A part that the kernel does not report is null, "
       "and in unaccounted_bytes");
OBJECT(kernel_parts, "kernel", &kernel, &r->account, "the parts of kernel_bytes");
OBJECT(user_parts, "user", &user, &r->account, "the parts of user_bytes");
OBJECT(across, "across", &across, s, "values of the kernel that overlap with several parts");
OBJECT(swap, "swap", &system_swap, r, "what is in swap");
ROWS(devices, "swap_devices", &devices, struct swap_device, s->swaps_known, s->swap, s->swap_count,
     "null if they were not read", FIELD_LINES);
ROWS(zram, "zram", &zram_ratio, struct zram_device, true, s->zram, s->zram_count,
     "the zram devices", FIELD_KNOWN | FIELD_LINES);
OBJECT(zswap, "zswap", &system_zswap, s, "compressed swap in RAM");
OBJECT(files, "files", &system_files, s,
       "the values of the machine against the sums over all cached files (zmem-bpf files). Null "
       "without BPF");
OBJECT(books, "books", &books, r, "the values of the machine against the sums over all processes");
#define GPU_HELP                                                                                   \
	"memory of GPUs that processes hold, where it was asked for. That of in_ram is also in "   \
	"other parts of RAM: shmem_bytes, or the kernel's"
JSON_FIELD(gpu, "gpu", OBJECT,
	   value_row(r->snapshot->gpu.sums || r->snapshot->gpu.reason ? &r->snapshot->gpu : NULL),
	   GPU_HELP, .fields = &gpu_machine_fields);
JSON_FIELD(
	held, "descriptors", OBJECT,
	value_row(r->snapshot->kernel.known || r->snapshot->kernel.reason ? &r->snapshot->kernel
									  : NULL),
	"memory of the kernel that processes hold by descriptors, as the column kernel has it by "
	"process. Null of a recording that does not have it",
	.fields = &kernel_held_fields);
FIELDS(system_parts, &field_memory, &field_kernel_parts, &field_user_parts);
FIELDS(system_document, &field_ram_object, &field_all_cgroups, &field_all_nodes, &field_memory,
       &field_kernel_parts, &field_user_parts, &field_across, &field_swap, &field_devices,
       &field_zram, &field_zswap, &field_gpu, &field_held, &field_files, &field_books);

/* ---- in a snapshot ---- */

#undef ROW
#define ROW                                                                                        \
	const struct snapshot *r = row;                                                            \
	const struct system_info *s = &r->system;                                                  \
	const struct machine_balance *balance = &r->balance;                                       \
	const struct meminfo *m = &s->meminfo;                                                     \
	(void)balance, (void)m

JSON_FIELD(all_memory, "memory_total_bytes", BYTES, MEMINFO(TOTAL), "all RAM (MemTotal)");
JSON_FIELD(all_available, "memory_available_bytes", BYTES, MEMINFO(AVAILABLE),
	   "RAM available without swapping (MemAvailable)");
JSON_FIELD(all_anon, "anon_bytes", BYTES, MEMINFO(ANON),
	   "anonymous memory of processes (AnonPages)");
JSON_FIELD(all_mapped, "mapped_bytes", BYTES, MEMINFO(MAPPED),
	   "page cache that processes map, shared memory included (Mapped)");
JSON_FIELD(all_shmem, "shmem_bytes", BYTES, MEMINFO(SHMEM), "shared memory and tmpfs (Shmem)");
JSON_FIELD(all_swap, "swap_total_bytes", BYTES, MEMINFO(SWAP_TOTAL), "all swap space (SwapTotal)");
JSON_FIELD(all_swap_free, "swap_free_bytes", BYTES, MEMINFO(SWAP_FREE),
	   "unused swap space (SwapFree)");
JSON_FIELD(
	all_unattributed, "swap_unattributed_bytes", BYTES,
	value_bytes(balance->swap_unattributed_known, balance->swap_unattributed),
	"swap in use that is in no swap_pss_bytes of a process: shared memory, tmpfs, swap cache");
JSON_FIELD(all_swap_tmpfs, "swap_tmpfs_bytes", BYTES,
	   value_bytes(s->files.shmem_known, s->files.swapped_tmpfs),
	   "a part of it: files of tmpfs. Null unless files were read, as zmem-bpf-serve(8) does");
JSON_FIELD(all_swap_unmapped, "swap_shmem_unmapped_bytes", BYTES,
	   value_bytes(s->files.shmem_known, s->files.swapped_unmapped),
	   "a part of it: other shared memory that no process maps. Null unless files were read");
JSON_FIELD(all_swap_cache, "swap_cache_bytes", BYTES,
	   value_bytes(s->swap_cache.known, s->swap_cache.bytes),
	   "a part of it: slots that only the swap cache has. Null unless swap slots were read");
JSON_FIELD(
	all_shmem_rest, "shmem_not_in_pss_bytes", BYTES,
	value_bytes(balance->shmem_not_in_pss_known, balance->shmem_not_in_pss),
	"shmem_bytes less pss_shmem_bytes of all processes: shared memory and tmpfs in RAM that is in "
	"no page table of a process. A process may map the file and not have touched its pages");
JSON_FIELD(
	all_anon_residual, "anon_residual_bytes", CHANGE,
	value_signed(balance->residual_known, balance->anon_residual),
	"anon_bytes less pss_anon_bytes of all processes. It is not 0 if processes are hidden or "
	"values changed meanwhile. Null unless every process has its PSS");
JSON_FIELD(all_mapped_residual, "mapped_residual_bytes", CHANGE,
	   value_signed(balance->residual_known, balance->mapped_residual),
	   "likewise, mapped_bytes less pss_file_bytes and pss_shmem_bytes");
JSON_FIELD(all_zswap_pool, "zswap_pool_bytes", BYTES, MEMINFO(ZSWAP_POOL), "RAM that zswap uses");
JSON_FIELD(all_zswap_stored, "zswap_stored_bytes", BYTES, MEMINFO(ZSWAP_STORED),
	   "uncompressed size of the data in zswap");
JSON_FIELD(
	psi_some, "psi_some_avg10_hundredths", AMOUNT,
	value_unsigned(s->pressure.known, s->pressure.some_avg10),
	"memory pressure: hundredths of a percent of the last ten seconds in which some task waited "
	"for memory. Null if the kernel has no PSI");
JSON_FIELD(psi_full, "psi_full_avg10_hundredths", AMOUNT,
	   value_unsigned(s->pressure.known, s->pressure.full_avg10),
	   "likewise, in which all tasks waited that were not idle");
JSON_FIELD(psi_some_total, "psi_some_total_us", AMOUNT,
	   value_unsigned(s->pressure.known, s->pressure.some_total_us),
	   "the same as time since boot");
JSON_FIELD(psi_full_total, "psi_full_total_us", AMOUNT,
	   value_unsigned(s->pressure.known, s->pressure.full_total_us),
	   "the same as time since boot");
JSON_FIELD(
	swapped_in, "swapped_in_bytes", BYTES, value_bytes(s->swapped.known, s->swapped.in),
	"bytes read from swap devices since boot (pswpin). Pages that only zswap held are not counted");
JSON_FIELD(swapped_out, "swapped_out_bytes", BYTES, value_bytes(s->swapped.known, s->swapped.out),
	   "bytes written to swap devices since boot (pswpout)");
JSON_FIELD(oom_kills, "oom_kills", AMOUNT, value_unsigned(s->oom_kills.known, s->oom_kills.count),
	   "processes that OOM kills ended since boot, of the machine and of cgroups (oom_kill of "
	   "/proc/vmstat)");
JSON_FIELD(delay_accounting, "delay_accounting", BOOL,
	   value_bool(s->delay_accounting_known, s->delay_accounting),
	   "kernel.task_delayacct: whether the kernel counts swap-ins of each process");
JSON_FIELD(max_map_count, "max_map_count", AMOUNT,
	   value_unsigned(s->max_map_count, s->max_map_count),
	   "vm.max_map_count: the most mappings that the kernel allows a process");
JSON_FIELD(counted_ram, "ram", OBJECT, value_row(ram_is_counted(s->ram) ? s->ram : NULL),
	   "where the RAM is, as in zmem.system. Null unless the page frames were counted, as "
	   "zmem-bpf-serve(8) and zmem-bpf-record(1) do now and then",
	   .fields = &ram_line);
FIELDS(system_ram, &field_counted_ram);
/* Where there is no GPU there is nothing to say. */
JSON_FIELD(all_gpu, "gpu", OBJECT,
	   value_row(r->gpu.sums || (r->gpu.reason && !r->gpu.none) ? &r->gpu : NULL), GPU_HELP,
	   .fields = &gpu_machine_fields, .flags = FIELD_OPTIONAL);
ROWS(all_zram, "zram", &zram, struct zram_device, true, s->zram, s->zram_count, "the zram devices",
     FIELD_KNOWN);
FIELDS(system_values, &field_all_memory, &field_all_available, &field_all_anon, &field_all_mapped,
       &field_all_shmem, &field_all_swap, &field_all_swap_free, &field_all_unattributed,
       &field_all_swap_tmpfs, &field_all_swap_unmapped, &field_all_swap_cache,
       &field_all_shmem_rest, &field_all_anon_residual, &field_all_mapped_residual,
       &field_all_zswap_pool, &field_all_zswap_stored, &field_psi_some, &field_psi_full,
       &field_psi_some_total, &field_psi_full_total, &field_swapped_in, &field_swapped_out,
       &field_oom_kills, &field_max_map_count, &field_delay_accounting, &field_all_zram,
       &field_all_gpu);
