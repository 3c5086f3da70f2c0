// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The fields of the machine at an event. */
#include "fields/incident_fields.h"

#include "fields/define.h"
#include "model/incident.h"

struct value value_meminfo(const struct snapshot *s, enum meminfo_counter c)
{
	return value_bytes(meminfo_has(&s->system.meminfo, c), s->system.meminfo.value[c]);
}

struct value value_swap_used(const struct snapshot *s)
{
	uint64_t used = 0;
	bool known = meminfo_swap_used(&s->system.meminfo, &used);

	return value_bytes(known, used);
}

static uint64_t zram_used(const struct snapshot *s)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s->system.zram_count; i++)
		sum += s->system.zram[i].stat.used;
	return sum;
}

#define ROW const struct snapshot *r = row

JSON_FIELD(then, "time_ms", TIME, value_signed(true, r->time_ms), "of the snapshot");
JSON_FIELD(total, "memory_total_bytes", BYTES, value_meminfo(r, MEMINFO_TOTAL), "MemTotal");
JSON_FIELD(available, "memory_available_bytes", BYTES, value_meminfo(r, MEMINFO_AVAILABLE),
	   "MemAvailable");
JSON_FIELD(swap_total, "swap_total_bytes", BYTES, value_meminfo(r, MEMINFO_SWAP_TOTAL),
	   "SwapTotal");
JSON_FIELD(swap_used, "swap_used_bytes", BYTES, value_swap_used(r), "SwapTotal less SwapFree");
JSON_FIELD(unattributed, "swap_unattributed_bytes", BYTES,
	   value_bytes(r->balance.swap_unattributed_known, r->balance.swap_unattributed),
	   "swap in use that is in no process. Null at the moment of a kill, which has no PSS");
JSON_FIELD(zram, "zram_bytes", BYTES, value_bytes(r->system.zram_count, zram_used(r)),
	   "the RAM that zram takes. Null without zram");
FIELDS(incident_system_fields, &field_then, &field_total, &field_available, &field_swap_total,
       &field_swap_used, &field_unattributed, &field_zram);

JSON_FIELD(swap_free, "swap_free_bytes", BYTES, value_meminfo(r, MEMINFO_SWAP_FREE), "SwapFree");
JSON_FIELD(
	some, "psi_some_avg10_hundredths", AMOUNT,
	value_unsigned(r->system.pressure.known, r->system.pressure.some_avg10),
	"PSI: the share of 10 s in which some task waited for memory, in hundredths of a percent");
JSON_FIELD(full, "psi_full_avg10_hundredths", AMOUNT,
	   value_unsigned(r->system.pressure.known, r->system.pressure.full_avg10),
	   "likewise all tasks");
FIELDS(incident_worst_fields, &field_then, &field_available, &field_swap_free, &field_some,
       &field_full);

/* ---- where the RAM was ---- */

#undef ROW
#define ROW const struct incident_ram_part *r = row
JSON_KNOWN(part, "part", TEXT, value_text(r->key), "which one");
JSON_KNOWN(title, "title", TEXT, value_text(r->title), "what the text calls it");
JSON_KNOWN(bytes, "bytes", BYTES, value_bytes(true, r->bytes), "its size");
static FIELDS(parts, &field_part, &field_title, &field_bytes);

#undef ROW
#define ROW const struct incident *r = row
JSON_KNOWN(where_then, "time_ms", TIME, value_signed(true, r->where.time_ms),
	   "of the snapshot: that of the kill, or the one before if less RAM was available then");
ROWS(where_parts, "parts", &parts, struct incident_ram_part, true, r->where.part, r->where.parts,
     "the parts of RAM, which add up to all of it, the largest first", FIELD_KNOWN);
JSON_KNOWN(pool, "hugetlb_bytes", BYTES, value_bytes(true, r->where.pool),
	   "the pool of huge pages, which no kill frees");
JSON_KNOWN(locked, "mlocked_bytes", BYTES, value_bytes(true, r->where.locked),
	   "memory that processes have locked in RAM");
FIELDS(incident_where_fields, &field_where_then, &field_where_parts, &field_pool, &field_locked);
