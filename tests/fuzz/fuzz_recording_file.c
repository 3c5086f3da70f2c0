// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A recording of format 2 from any bytes, first as it is, then with repaired checksums: otherwise
 * nothing behind the first checksum would be reached. Frames are equal whether read forward or
 * backward.
 */
#include <errno.h>

#include "fuzz.h"
#include "model/snapshot_codec.h"
#include "recording/recording_file.h"
#include "recording/recording_internal.h"

#define FRAMES_MAX 64 /* the number of frames that are checked */

/* Repairs the checksums of all parts. */
static void repair(char *data, size_t len)
{
	size_t at = len < RECORDING_HEAD_SIZE ? 0 : get_le32(data + 12);

	if (at < RECORDING_HEAD_SIZE || at > len)
		return;
	put_le32(data + at - 4, crc_of(data, at - 4));
	while (len - at >= RECORDING_PART_SIZE && memcmp(data + at, "PART", 4) == 0) {
		char *part = data + at;
		uint32_t size = get_le32(part + 8);
		bool whole = size <= len - at - RECORDING_PART_SIZE;

		if (whole)
			put_le32(part + 24, crc_of(part + RECORDING_PART_SIZE, size));
		put_le32(part + 28, crc_of(part, 28));
		if (!whole)
			return;
		at += RECORDING_PART_SIZE + size;
	}
}

/* Appends the frame as bytes and returns 0, or returns the error. */
static int frame_bytes(struct recording_reader *r, size_t i, struct strbuf *out)
{
	char why[RECORDING_REASON] = "";
	const struct snapshot *s;
	int error = recording_reader_frame(r, i, &s, why);

	if (error < 0) {
		FUZZ_CHECK(error == -EBADMSG || error == -ENOTSUP);
		FUZZ_CHECK(*why && strlen(why) < sizeof(why));
		return error;
	}
	FUZZ_CHECK(s->time_ms == recording_reader_time(r, i));
	FUZZ_CHECK(snapshot_encode(s, NULL, out) == 0);
	return 0;
}

static void check(const char *data, size_t len)
{
	struct recording_reader *forward, *backward;
	char why[RECORDING_REASON] = "";
	const struct recording_info *info;
	struct strbuf bytes[FRAMES_MAX] = {};
	int error[FRAMES_MAX];
	size_t count;
	int r = recording_reader_open_memory(data, len, &forward, why);

	if (r < 0) {
		FUZZ_CHECK((r == -EBADMSG || r == -ENOTSUP) && *why);
		return;
	}
	FUZZ_CHECK(recording_reader_open_memory(data, len, &backward, why) == 0);
	info = recording_reader_info(forward);
	FUZZ_CHECK(info->end <= len);
	FUZZ_CHECK(info->torn || info->end == len);
	count = info->frames < FRAMES_MAX ? info->frames : FRAMES_MAX;
	for (size_t i = 0; i < count; i++)
		error[i] = frame_bytes(forward, i, &bytes[i]);
	for (size_t i = count; i-- > 0;) {
		struct strbuf again = {};

		FUZZ_CHECK(frame_bytes(backward, i, &again) == error[i]);
		FUZZ_CHECK(again.len == bytes[i].len);
		FUZZ_CHECK(!again.len || memcmp(again.data, bytes[i].data, again.len) == 0);
		strbuf_done(&again);
		strbuf_done(&bytes[i]);
	}
	recording_reader_free(forward);
	recording_reader_free(backward);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *repaired = malloc(size + 1);

	check((const char *)data, size);
	FUZZ_CHECK(repaired);
	if (size)
		memcpy(repaired, data, size);
	repair(repaired, size);
	check(repaired, size);
	free(repaired);
	return 0;
}
