// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "fields/descriptor_fields.h"

#include "fields/define.h"

/* ---- kinds ---- */

#define ROW const struct kernel_share *r = row
JSON_KNOWN(
	kernel_kind, "kind", TEXT, value_text(kernel_kind_table[r->kind].key),
	"what it is: file (open files and the table of descriptors), pipe, tcp, udp, unix, netlink, "
	"socket (of other families), packet_ring, xdp, bpf_map, bpf_prog, io_uring, perf, epoll, "
	"inotify, kvm");
JSON_KNOWN(kernel_bytes, "bytes", BYTES, value_bytes(true, r->bytes),
	   "its size; shared ones divided");
JSON_KNOWN(
	kernel_mapped, "mapped_bytes", BYTES, value_bytes(true, r->mapped),
	"other memory, which the processes that map it have in their rss_file; shared ones divided");
JSON_KNOWN(kernel_descriptors, "descriptors", AMOUNT, value_signed(true, r->descriptors),
	   "descriptors that lead to it");
FIELDS(kernel_part_fields, &field_kernel_kind, &field_kernel_bytes, &field_kernel_mapped,
       &field_kernel_descriptors);

bool kernel_part_shown(const void *row, const void *of)
{
	const struct kernel_share *r = row;

	(void)of;
	return r->descriptors || r->bytes;
}

/* ---- objects ---- */

#undef ROW
#define ROW const struct kernel_object *r = row
JSON_KNOWN(object_descriptor, "descriptor", NUMBER, value_signed(true, r->fd),
	   "the number of the descriptor, the lowest of several");
JSON_KNOWN(object_kind, "kind", TEXT, value_text(kernel_kind_table[r->kind].key),
	   "what it is, as in kernel_parts");
JSON_KNOWN(object_bytes, "bytes", BYTES, value_bytes(true, r->bytes), "its size");
JSON_KNOWN(object_mapped, "mapped_bytes", BYTES, value_bytes(true, r->mapped),
	   "other memory, which the processes that map it have in their rss_file");
JSON_KNOWN(object_processes, "processes", AMOUNT, value_signed(true, r->processes),
	   "processes that hold it");
FIELDS(kernel_object_fields, &field_object_descriptor, &field_object_kind, &field_object_bytes,
       &field_object_mapped, &field_object_processes);

/* ---- all of the machine ---- */

#undef ROW
#define ROW const struct kernel_map *r = row
JSON_KNOWN(map_id, "id", NUMBER, value_signed(true, r->id), "its number, as bpftool shows it");
JSON_FIELD(map_name, "name", TEXT, value_text(*r->name ? r->name : NULL), "its name");
JSON_FIELD(map_bytes, "bytes", BYTES, value_bytes(r->sized, r->bytes),
	   "its size. Null if it could not be read");
JSON_FIELD(map_path, "path", TEXT, value_text(r->path),
	   "the file below /sys/fs/bpf that holds it. Null if none was found", .flags = FIELD_HEX);
JSON_FIELD(map_program, "program", TEXT, value_text(*r->program ? r->program : NULL),
	   "the name of a program of BPF that uses it. Null if none was found");
static FIELDS(maps, &field_map_id, &field_map_name, &field_map_bytes, &field_map_path,
	      &field_map_program);

#undef ROW
#define ROW const struct kernel_held *r = row
JSON_FIELD(held_reason, "reason", TEXT, value_text(r->reason),
	   "why it is not known. Null if it is");
JSON_FIELD(held_bytes, "bytes", BYTES, value_bytes(r->known, kernel_shares_sum(&r->all)),
	   "the sum of kernel_bytes of all processes that were read");
JSON_FIELD(held_unread, "unread_processes", AMOUNT, value_unsigned(r->known, r->left_out),
	   "processes that were not read, for lack of time or because a size is not known");
ROWS(held_kinds, "kinds", &kernel_part_fields, struct kernel_share, r->known, r->all.kind,
     KERNEL_KINDS, "the parts of bytes", 0, .shown = kernel_part_shown);
JSON_FIELD(maps_reason, "bpf_maps_reason", TEXT, value_text(r->unheld.reason),
	   "why the next ones are not known. Null if they are");
JSON_FIELD(maps_count, "bpf_maps_of_no_process", AMOUNT,
	   value_unsigned(r->unheld.known, r->unheld.count),
	   "maps of BPF that no process has a descriptor of");
JSON_FIELD(maps_bytes, "bpf_maps_bytes", BYTES, value_bytes(r->unheld.known, r->unheld.bytes),
	   "their size");
ROWS(maps, "bpf_maps", &maps, struct kernel_map, r->unheld.known, r->unheld.item, r->unheld.count,
     "the maps of no process, the largest first", 0);
FIELDS(kernel_held_fields, &field_held_reason, &field_held_bytes, &field_held_unread,
       &field_held_kinds, &field_maps_reason, &field_maps_count, &field_maps_bytes, &field_maps);
