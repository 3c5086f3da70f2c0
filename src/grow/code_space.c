// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "grow/code_space.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

int code_space_add(struct code_space *s, const struct image *image)
{
	struct image *moved;

	if (s->count >= IMAGES_MAX)
		return 0;
	moved = grow_items(s->image, s->count, &s->capacity, 64, sizeof(*s->image));
	if (!moved)
		return -ENOMEM;
	s->image = moved;
	s->image[s->count++] = *image;
	return 0;
}

const struct image *code_space_find(const struct code_space *s, uint64_t address)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->image[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < s->count && s->image[low].start <= address ? &s->image[low] : NULL;
}

void code_space_done(struct code_space *s)
{
	free(s->image);
	*s = (struct code_space){};
}
