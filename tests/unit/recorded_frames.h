/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A recording of random frames, and the frames themselves. */
#ifndef TESTS_RECORDED_FRAMES_H
#define TESTS_RECORDED_FRAMES_H

#include "unit.h"

#include "random_snapshot.h"
#include "recording/recording_file.h"
#include "recording/recording_internal.h"

#define FRAMES	  11
#define KEY_EVERY 4

static const struct recording_options options = {
	.tool = "9.8.7", .flags = RECORDING_CMDLINES, .key_every = KEY_EVERY};

struct recorded_frames {
	struct snapshot frame[FRAMES]; /* before encoding */
	struct strbuf bytes;
	size_t end[FRAMES + 1]; /* of the header and of each frame */
};

static inline void record(struct recorded_frames *f, size_t count, bool finish)
{
	struct random r = {99};
	struct recording_writer w;

	*f = (struct recorded_frames){};
	assert_int_equal(recording_writer_init(&w, &options, &f->bytes), 0);
	f->end[0] = f->bytes.len;
	for (size_t i = 0; i < FRAMES; i++) {
		if (i)
			random_next(&r, &f->frame[i - 1], &f->frame[i]);
		else
			random_snapshot(&r, &f->frame[i], count);
		f->frame[i].time_ms = 1000 * (int64_t)i;
		assert_int_equal(recording_writer_append(&w, &f->frame[i]), 0);
		f->end[i + 1] = f->bytes.len;
	}
	if (finish)
		assert_int_equal(recording_writer_finish(&w), 0);
	recording_writer_done(&w);
}

/* Texts of a frame belong to it or to an earlier frame. */
static inline void forget(struct recorded_frames *f)
{
	for (size_t i = FRAMES; i-- > 0;)
		snapshot_done(&f->frame[i]);
	strbuf_done(&f->bytes);
}

/* The snapshot of a frame that can be read. */
static inline const struct snapshot *frame_of(struct recording_reader *r, size_t i)
{
	const struct snapshot *s = NULL;
	char why[RECORDING_REASON] = "";

	if (recording_reader_frame(r, i, &s, why) < 0)
		fail_msg("%s", why);
	return s;
}

static inline void check_frame(struct recording_reader *r, const struct recorded_frames *f,
			       size_t i)
{
	cleanup(snapshot_done) struct snapshot copy = {};
	char why[RECORDING_REASON] = "";

	assert_int_equal(recording_reader_copy(r, i, &copy, why), 0);
	assert_true(same_snapshot(&copy, &f->frame[i]));
	/* A change of the copy does not reach later frames. */
	for (size_t k = 0; k < copy.count; k++)
		copy.process[k] = (struct process){.pid = (pid_t)k + 1, .name = "another"};
	assert_true(same_snapshot(frame_of(r, i), &f->frame[i]));
	assert_int_equal(recording_reader_time(r, i), f->frame[i].time_ms);
}

static inline void set_crcs(char *part)
{
	uint32_t size = get_le32(part + 8);

	put_le32(part + 24, crc_of(part + RECORDING_PART_SIZE, size));
	put_le32(part + 28, crc_of(part, 28));
}

static inline void reader_done(struct recording_reader **r)
{
	recording_reader_free(*r);
}

/* Opens a recording that can be opened. */
static inline struct recording_reader *opened(const char *data, size_t len)
{
	struct recording_reader *r = NULL;
	char why[RECORDING_REASON] = "";

	if (recording_reader_open_memory(data, len, &r, why) < 0)
		fail_msg("%s", why);
	return r;
}

static inline void assert_bad(struct recording_reader *r, size_t frame, const char *words)
{
	char why[RECORDING_REASON] = "";
	const struct snapshot *s;

	assert_int_equal(recording_reader_frame(r, frame, &s, why), -EBADMSG);
	if (!strstr(why, words))
		fail_msg("%s: not in: %s", words, why);
}

#endif
