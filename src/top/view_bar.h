/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A bar of several parts. Each has a character of its own, since there may be no colours. */
#ifndef ZMEM_TOP_VIEW_BAR_H
#define ZMEM_TOP_VIEW_BAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "render/line.h"

struct bar_part {
	const char *name;
	char sign;
	enum line_attr attr;
	bool known;
	int64_t bytes;
	bool rare; /* told last */
};

/* In brackets; what is not known, or below 0, has no room in it. */
void bar_put(struct line *l, const struct bar_part *part, size_t count, uint64_t total,
	     unsigned width);
/* The part's character and name, and a blank: a value follows. */
void bar_put_name(struct line *l, const struct bar_part *part);

#endif
