// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "fields/gpu_fields.h"

#include "fields/define.h"

#define NAME(text) value_text(*(text) ? (text) : NULL)

#define ROW	   const struct gpu_part *r = row
JSON_KNOWN(part_kind, "kind", TEXT, value_text(gpu_kind_name(r->kind)),
	   "client: an open file of a GPU; dmabuf: an open buffer; nvml: what libnvidia-ml says of "
	   "the process on a GPU of NVIDIA");
JSON_FIELD(part_device, "device", TEXT, NAME(r->device),
	   "the GPU, as in lspci. Null if it is none");
JSON_FIELD(part_driver, "driver", TEXT, NAME(r->driver),
	   "its driver; of a dmabuf the one that made it. Null if it does not tell");
JSON_FIELD(part_id, "id", NUMBER, value_unsigned(r->has_id, r->id),
	   "the number of the client, of a dmabuf its inode");
JSON_FIELD(part_region, "region", TEXT, NAME(r->region),
	   "the memory that it is in, as the driver calls it: vram0, gtt, system; usedGpuMemory of "
	   "nvml");
JSON_FIELD(part_resident, "resident_bytes", BYTES, value_bytes(r->resident_known, r->resident),
	   "the memory of the client in this region. Null if the driver does not tell");
JSON_FIELD(part_shared, "shared_bytes", BYTES, value_bytes(r->shared_known, r->shared),
	   "buffers of the client that others may hold, too, resident or not");
JSON_FIELD(part_share, "share_bytes", BYTES, value_bytes(r->resident_known, r->share),
	   "what the process counts of it: resident_bytes divided by the holders");
JSON_KNOWN(part_holders, "holders", AMOUNT, value_signed(true, r->holders),
	   "processes that hold it");
FIELDS(gpu_part_fields, &field_part_kind, &field_part_device, &field_part_driver, &field_part_id,
       &field_part_region, &field_part_resident, &field_part_shared, &field_part_share,
       &field_part_holders);

#undef ROW
#define ROW const struct gpu_region *r = row
COLUMN(device, "device", "GPU", TEXT, NAME(r->device), "the GPU, as in lspci");
COLUMN(driver, "driver", "DRIVER", TEXT, NAME(r->driver), "its driver");
COLUMN(region, "region", "REGION", TEXT, NAME(r->region), "the memory, as the driver calls it");
COLUMN(in_ram, "in_ram", "IN RAM", BOOL, value_bool(true, r->in_ram),
       "true if it is memory of the machine, not of the device", .flags = FIELD_KNOWN);
COLUMN(clients, "clients", "CLIENTS", AMOUNT, value_signed(true, r->clients),
       "clients of processes", .flags = FIELD_KNOWN);
COLUMN(resident, "resident_bytes", "SIZE", BYTES, value_bytes(true, r->resident),
       "what they hold; a buffer that several clients share counts for each", .flags = FIELD_KNOWN);
COLUMN(least, "least_bytes", "AT LEAST", BYTES, value_bytes(true, r->least),
       "the same if all that they share is the same buffers: not less than this is held",
       .flags = FIELD_KNOWN);
static FIELDS(gpu_region_fields, &field_device, &field_driver, &field_region, &field_in_ram,
	      &field_clients, &field_resident, &field_least);
FIELDS(gpu_columns, &field_resident, &field_least, &field_clients, &field_in_ram, &field_region,
       &field_driver, &field_device);

#undef ROW
#define ROW	    const struct gpu_parts *r = row
#define SUM(member) (r->sums ? r->sums->member : 0)
JSON_FIELD(reason, "reason", TEXT, value_text(r->reason),
	   "why nothing is known, or not that of NVIDIA. Null if it is");
ROWS(regions, "regions", &gpu_region_fields, struct gpu_region, r->sums,
     r->sums ? r->sums->item : NULL, SUM(count), "each region of each GPU that a process uses", 0);
JSON_FIELD(silent, "silent_clients", AMOUNT, value_signed(r->sums, SUM(silent)),
	   "clients of which the driver tells no size");
JSON_FIELD(buffers, "dmabufs", AMOUNT, value_signed(r->sums, SUM(buffers)),
	   "dma-bufs that processes have open");
JSON_FIELD(buffer_bytes, "dmabuf_bytes", BYTES, value_bytes(r->sums, SUM(buffer_bytes)),
	   "their size. It may be memory that also counts elsewhere, as of a memfd or a region");
JSON_FIELD(unheld, "unheld_dmabufs", AMOUNT,
	   value_signed(r->sums && r->sums->unheld_known, SUM(unheld)),
	   "others, of which no process has a descriptor: one maps them, or a driver has them. "
	   "Null before Linux 6.16, and without BPF");
JSON_FIELD(unheld_bytes, "unheld_dmabuf_bytes", BYTES,
	   value_bytes(r->sums && r->sums->unheld_known, SUM(unheld_bytes)), "their size");
FIELDS(gpu_machine_fields, &field_reason, &field_regions, &field_silent, &field_buffers,
       &field_buffer_bytes, &field_unheld, &field_unheld_bytes);
