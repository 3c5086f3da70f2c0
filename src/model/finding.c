// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/finding.h"

#include "base/array.h"

#define C (1 << FINDING_CRITICAL)
#define W (1 << FINDING_WARNING)
#define H (1 << FINDING_HINT)

static const struct {
	const char *key;
	unsigned levels;
} all[FINDING_KEYS] = {
#define ZMEM_FINDING(id, key, levels, ...) {key, levels},
#include "model/finding.def"
#undef ZMEM_FINDING
};

_Static_assert(FINDING_KEYS <= 64, "struct findings has no bit for each");

const char *finding_key_name(enum finding_key key)
{
	return all[key].key;
}

const char *finding_level_name(enum finding_level level)
{
	static const char *const name[] = {"critical", "warning", "hint"};

	return name[level];
}

bool finding_can_be(enum finding_key key, enum finding_level level)
{
	return all[key].levels >> level & 1;
}

size_t findings_down_to(const struct findings *f, enum finding_level level)
{
	size_t count = 0;

	while (count < f->count && f->item[count].level <= level)
		count++;
	return count;
}
