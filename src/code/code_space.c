// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "code/code_space.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

int code_space_add(struct code_space *s, const struct image *image)
{
	if (s->count >= IMAGES_MAX)
		return 0;
	if (!array_room(&s->image, s->count, &s->capacity, 64))
		return -ENOMEM;
	s->image[s->count++] = *image;
	return 0;
}

static bool ends_before(const void *item, const void *address)
{
	const struct image *image = item;

	return image->end <= *(const uint64_t *)address;
}

const struct image *code_space_find(const struct code_space *s, uint64_t address)
{
	size_t i = count_before(s->image, s->count, sizeof(*s->image), ends_before, &address);

	return i < s->count && s->image[i].start <= address ? &s->image[i] : NULL;
}

void code_space_done(struct code_space *s)
{
	free(s->image);
	*s = (struct code_space){};
}

/* ---- names by address ---- */

size_t code_names_from(const struct code_name *item, size_t count, uint64_t address)
{
	return count_before(item, count, sizeof(*item), is_leading_u64_below, &address);
}

const struct code_name *code_names_find(const struct code_name *item, size_t count,
					uint64_t address)
{
	size_t i = code_names_from(item, count, address);

	return i < count && item[i].address == address ? &item[i] : NULL;
}

void code_names_sort(struct code_name *item, size_t count)
{
	if (count)
		qsort(item, count, sizeof(*item), compare_leading_u64);
}
