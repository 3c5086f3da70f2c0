// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finds the frames of a recording by the heads of its parts, also behind what is damaged. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "recording/recording_reader_internal.h"

#define SEARCH_CHUNK (64 * 1024)

/* The next part behind something that is none. Returns 1 and *ret, 0 or a negative errno. */
static int find_part(const struct recording_reader *r, uint64_t at, uint64_t *ret)
{
	cleanup_free char *chunk = malloc(SEARCH_CHUNK);

	if (!chunk)
		return -ENOMEM;
	while (r->size - at >= RECORDING_PART_SIZE) {
		size_t len = r->size - at < SEARCH_CHUNK ? r->size - at : SEARCH_CHUNK;
		const char *end = chunk + len, *found = chunk;
		int error = recording_read_at(r, at, chunk, len);

		if (error < 0)
			return error;
		while ((found = memmem(found, (size_t)(end - found), "PART", 4)) &&
		       end - found >= RECORDING_PART_SIZE) {
			if (is_part(found)) {
				*ret = at + (uint64_t)(found - chunk);
				return 1;
			}
			found++;
		}
		/* What begins at the end of a chunk is seen whole in the next one. */
		at += len - (RECORDING_PART_SIZE - 1);
	}
	return 0;
}

static int add_frame(struct recording_reader *r, const struct frame *f)
{
	struct frame *frame, *last;

	if (r->info.frames >= NO_FRAME)
		return -EFBIG;
	frame = grow_items(r->frame, r->info.frames, &r->capacity, 64, sizeof(*frame));
	if (!frame)
		return -ENOMEM;
	r->frame = frame;
	frame = &r->frame[r->info.frames];
	last = r->info.frames ? frame - 1 : NULL;
	*frame = *f;
	if (f->is_corrupt)
		frame->time_ms = last ? last->time_ms : 0;
	frame->key = f->is_delta ? (last ? last->key : NO_FRAME) : (uint32_t)r->info.frames;
	r->info.frames++;
	return 0;
}

/* A part whose header is whole. Returns 1 if more may follow, 0, or a negative errno. */
static int read_part(struct recording_reader *r, const char *head)
{
	struct frame f = {
		.at = r->info.end,
		.time_ms = (int64_t)wire_get64(head + 16),
		.size = wire_get32(head + 8),
		.raw_size = wire_get32(head + 12),
		.is_delta = head[4] == PART_DELTA,
	};
	uint64_t end = f.at + RECORDING_PART_SIZE + f.size;
	int error = 0;

	if (end > r->size) {
		r->info.torn = true;
		return 0;
	}
	r->info.end = end;
	if (head[4] == PART_END) {
		r->info.ended = true;
		r->info.torn = end != r->size;
		return 0;
	}
	if (head[4] == PART_KEY || head[4] == PART_DELTA)
		error = add_frame(r, &f);
	return error < 0 ? error : 1;
}

/* Something that is no part: the rest of one that was not written whole, or damage. */
static int skip_damage(struct recording_reader *r)
{
	const struct frame hole = {.at = r->info.end, .is_delta = true, .is_corrupt = true};
	uint64_t next = 0;
	int error = find_part(r, r->info.end, &next);

	if (error <= 0) {
		r->info.torn = error == 0;
		return error;
	}
	r->info.end = next;
	error = add_frame(r, &hole);
	return error < 0 ? error : 1;
}

int recording_find_frames(struct recording_reader *r, char why[RECORDING_WHY])
{
	char head[RECORDING_PART_SIZE];
	int error = 1;

	while (error > 0 && r->info.end < r->size) {
		bool whole = r->size - r->info.end >= sizeof(head);

		error = whole ? recording_read_at(r, r->info.end, head, sizeof(head)) : 0;
		if (error < 0)
			break;
		error = whole && is_part(head) ? read_part(r, head) : skip_damage(r);
	}
	if (error == -ENOMEM)
		return no_memory(why);
	return error < 0 ? refuse(why, error, "%s", strerror(-error)) : 0;
}
