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
