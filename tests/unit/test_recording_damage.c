// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Corrupt recordings of format 2: corrupt frames are refused and named, others are unchanged. */
#include "unit.h"

#include <zstd.h>

#include "recorded_frames.h"

/* Each frame of a corrupt recording is refused or unchanged. */
static void check_damaged(const char *data, size_t len, const struct recorded_frames *f)
{
	cleanup(reader_done) struct recording_reader *r = NULL;
	char why[RECORDING_REASON] = "";
	int error = recording_reader_open_memory(data, len, &r, why);

	if (error < 0) {
		assert_true(error == -EBADMSG || error == -ENOTSUP);
		assert_true(*why);
		return;
	}
	assert_true(recording_reader_info(r)->frames <= FRAMES);
	assert_true(recording_reader_info(r)->end <= len);
	for (size_t i = 0; i < recording_reader_info(r)->frames; i++) {
		const struct snapshot *s = NULL;

		error = recording_reader_frame(r, i, &s, why);
		if (error < 0) {
			assert_int_equal(error, -EBADMSG);
			continue;
		}
		/* Frames behind corrupt bytes are still numbered. */
		assert_true(same_snapshot(s, &f->frame[s->time_ms / 1000]));
	}
}

TEST(cut)
{
	cleanup(forget) struct recorded_frames f;

	record(&f, 4, true);
	for (size_t len = 0; len < f.bytes.len; len++) {
		cleanup_free char *copy = malloc(len + 1);
		struct recording_reader *r;
		size_t whole = 0;

		memcpy(copy, f.bytes.data, len);
		check_damaged(copy, len, &f);
		if (len < f.end[0])
			continue;
		/* Every complete frame is readable, and the missing rest is reported. */
		while (whole < FRAMES && f.end[whole + 1] <= len)
			whole++;
		r = opened(copy, len);
		assert_int_equal(recording_reader_info(r)->frames, whole);
		assert_int_equal(recording_reader_info(r)->end, f.end[whole]);
		assert_int_equal(recording_reader_info(r)->torn, len != f.end[whole]);
		assert_false(recording_reader_info(r)->ended);
		recording_reader_free(r);
	}
}

TEST(flipped)
{
	cleanup(forget) struct recorded_frames f;

	record(&f, 4, true);
	for (size_t i = 0; i < f.bytes.len; i++) {
		f.bytes.data[i] ^= (char)(1 << i % 8);
		check_damaged(f.bytes.data, f.bytes.len, &f);
		f.bytes.data[i] ^= (char)(1 << i % 8);
	}
}

/* A byte of frame 3 is wrong: frames before it and from the next key frame on are readable. */
static void check_named(size_t at, bool hole)
{
	cleanup(reader_done) struct recording_reader *r = NULL;
	char named[64];
	cleanup(forget) struct recorded_frames f;

	record(&f, 10, true);
	f.bytes.data[f.end[2] + at] ^= 1;
	snprintf(named, sizeof(named), "the recording is corrupt: snapshot 3 at byte %zu",
		 f.end[2]);
	r = opened(f.bytes.data, f.bytes.len);
	assert_int_equal(recording_reader_info(r)->frames, FRAMES);
	assert_true(recording_reader_info(r)->ended);
	for (size_t i = 0; i < FRAMES; i++) {
		if (i != 2 && i != 3) {
			check_frame(r, &f, i);
			continue;
		}
		assert_bad(r, i, named);
		assert_int_equal(recording_reader_time(r, 2), hole ? 1000 : 2000);
	}
}

TEST(named)
{
	check_named(RECORDING_PART_SIZE + 7, false); /* its payload */
	check_named(9, true);			     /* its length */
	check_named(0, true);			     /* its mark */
}

/* A small frame that claims to be large is refused before memory is allocated. */
TEST(bomb)
{
	const size_t large = (size_t)RECORDING_RAW_MAX + 1;
	struct recording_reader *r;
	char payload[64 * 1024], part[RECORDING_PART_SIZE] = "PART", *zeros = calloc(1, large);
	cleanup(forget) struct recorded_frames f;

	record(&f, 4, false);
	/* One size in the part, another in the zstd frame; then the same, which is too large. */
	for (int what = 0; what < 2; what++) {
		cleanup(strbuf_done) struct strbuf bytes = {};
		size_t n = ZSTD_compress(payload, sizeof(payload), zeros, large, 1);

		assert_false(ZSTD_isError(n));
		part[4] = PART_KEY;
		put_le32(part + 8, (uint32_t)n);
		put_le32(part + 12, what ? (uint32_t)large : 100);
		strbuf_put(&bytes, f.bytes.data, f.end[0]);
		strbuf_put(&bytes, part, sizeof(part));
		strbuf_put(&bytes, payload, n);
		set_crcs(bytes.data + f.end[0]);
		r = opened(bytes.data, bytes.len);
		assert_int_equal(recording_reader_info(r)->frames, 1);
		assert_bad(r, 0, "the recording is corrupt: snapshot 1 at byte 36");
		recording_reader_free(r);
	}
	free(zeros);
}

/* A delta frame at the beginning has no reference. */
TEST(no_key)
{
	cleanup(strbuf_done) struct strbuf bytes = {};
	cleanup(reader_done) struct recording_reader *r = NULL;
	char why[RECORDING_REASON] = "";
	const struct snapshot *s;
	cleanup(forget) struct recorded_frames f;

	record(&f, 4, true);
	strbuf_put(&bytes, f.bytes.data, f.end[0]);
	strbuf_put(&bytes, f.bytes.data + f.end[1], f.bytes.len - f.end[1]);
	r = opened(bytes.data, bytes.len);
	assert_int_equal(recording_reader_info(r)->frames, FRAMES - 1);
	assert_bad(r, 0, "the recording is corrupt: snapshot 1 at byte 36 lacks the one before it");
	assert_int_equal(recording_reader_frame(r, KEY_EVERY - 1, &s, why), 0);
	assert_true(same_snapshot(s, &f.frame[KEY_EVERY]));
}
