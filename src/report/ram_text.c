// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/ram_text.h"

#include "write/format.h"

#define SHOWN 5

void ram_changes_text(struct strbuf *out, const struct ram_changes *changes, bool exact)
{
	char size[FORMAT_MAX];

	for (size_t i = 0; i < changes->large && i < SHOWN; i++) {
		const struct ram_change *c = &changes->item[i];
		bool grew = c->after > c->before;

		strbuf_printf(out, "%s%c", i ? ", " : "", grew ? '+' : '-');
		strbuf_put(out, size,
			   format_bytes(size, grew ? c->after - c->before : c->before - c->after,
					exact));
		strbuf_printf(out, " %s", ram_class_table[c->class].title);
	}
	if (!changes->large)
		strbuf_puts(out, "no class changed much");
}
