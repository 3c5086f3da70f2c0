// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The layout file of top: any bytes give a usable layout, which is the same when read again. */
#include "fuzz.h"
#include "top/layout.h"
#include "top/view.h"

static void check_usable(const struct layout *l)
{
	struct view_settings set = {.interval_ms = 1000};
	struct view v;

	column_list_default(&set.columns[0], NULL);
	set.order.keys = (struct column_list){.item = {column_find("pss", 3)}, .count = 1};
	layout_apply(l, 0, &set);
	FUZZ_CHECK(set.interval_ms >= 100 && set.interval_ms <= 86400000);
	FUZZ_CHECK(set.columns[0].count && set.columns[0].count <= COLUMNS_MAX);
	FUZZ_CHECK(set.order.keys.count && set.order.keys.count <= COLUMNS_MAX);
	FUZZ_CHECK(!column_list_misplaced(&set.columns[set.group != NULL], set.group));
	FUZZ_CHECK(!column_list_misplaced(&set.order.keys, set.group));
	FUZZ_CHECK(!set.group || (group_possible(set.group) && !set.tree && set.columns[1].count));
	view_init(&v, &set);
	FUZZ_CHECK(v.list.fitting.count);
	view_done(&v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strbuf text = {}, twice = {};
	struct layout l, again;
	unsigned lines = 1;

	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	FUZZ_CHECK(layout_parse((const char *)data, size, &l) <= lines);
	check_usable(&l);
	layout_write(&l, &text);
	FUZZ_CHECK(layout_parse(text.data, text.len, &again) == 0);
	layout_write(&again, &twice);
	FUZZ_CHECK(text.len == twice.len && memcmp(text.data, twice.data, text.len) == 0);
	strbuf_done(&text);
	strbuf_done(&twice);
	return 0;
}
