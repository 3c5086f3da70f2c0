// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Format 2 of recordings: frames come back in any order; other formats are refused by name. */
#include "unit.h"

#include "recorded_frames.h"

TEST(frames)
{
	static const size_t order[] = {0, 1, 2, 10, 9, 3, 4, 5, 6, 7, 8, 9, 10, 0, 10, 10, 3};
	cleanup(reader_done) struct recording_reader *r = NULL;
	cleanup(forget) struct recorded_frames f;

	record(&f, 40, true);
	r = opened(f.bytes.data, f.bytes.len);
	assert_string_equal(recording_reader_info(r)->tool, "9.8.7");
	assert_int_equal(recording_reader_info(r)->flags, RECORDING_CMDLINES);
	assert_int_equal(recording_reader_info(r)->frames, FRAMES);
	assert_true(recording_reader_info(r)->ended);
	assert_false(recording_reader_info(r)->torn);
	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		check_frame(r, &f, order[i]);
	/* Delta frames are smaller than key frames. */
	for (size_t i = 1; i < FRAMES; i++)
		assert_true(i % KEY_EVERY == 0 || f.end[i + 1] - f.end[i] < f.end[1] - f.end[0]);
}

TEST(file)
{
	char path[] = "/tmp/zmem-recording-XXXXXX", why[RECORDING_REASON] = "";
	cleanup_close int fd = mkstemp(path);
	struct recording_reader *r = NULL;
	cleanup(forget) struct recorded_frames f;
	int pipes[2];

	assert_true(fd >= 0);
	unlink(path);
	record(&f, 40, false);
	assert_int_equal(write(fd, f.bytes.data, f.bytes.len), f.bytes.len);
	assert_int_equal(recording_reader_open(fd, &r, why), 0);
	assert_false(recording_reader_info(r)->ended);
	assert_false(recording_reader_info(r)->torn);
	assert_int_equal(recording_reader_info(r)->end, f.bytes.len);
	for (size_t i = FRAMES; i-- > 0;)
		check_frame(r, &f, i);
	/* A file says no interval: its last two frames are a second apart. */
	assert_false(recording_reader_ended(r, 1000 * FRAMES + 750));
	assert_true(recording_reader_ended(r, 1000 * FRAMES + 751));
	/* The file becomes shorter while it is read. */
	assert_int_equal(ftruncate(fd, (off_t)f.end[2]), 0);
	check_frame(r, &f, 1);
	assert_bad(r, 3, "snapshot 3 at byte");
	recording_reader_free(r);
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(recording_reader_open(pipes[0], &r, why), -EINVAL);
	close(pipes[0]);
	close(pipes[1]);
}

static void set_header_crc(struct strbuf *bytes)
{
	uint32_t size = get_le32(bytes->data + 12);

	put_le32(bytes->data + size - 4, crc_of(bytes->data, size - 4));
}

/* A clock that was set back within a file. */
TEST(clock)
{
	static const int64_t times[] = {10000, 11000, 12000, 4000, 5000, 20000, 11500};
	static const struct {
		int64_t at;
		size_t frame;
	} moments[] = {{4000, 3},  {4999, 3},  {9999, 4},  {10500, 0},
		       {12000, 2}, {19999, 2}, {20000, 5}, {11999, 6}};
	cleanup(strbuf_done) struct strbuf bytes = {};
	cleanup(reader_done) struct recording_reader *r = NULL;
	struct snapshot s = {};
	struct recording_writer w;
	size_t at = 0;

	assert_int_equal(recording_writer_init(&w, &options, &bytes), 0);
	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		s.time_ms = times[i];
		assert_int_equal(recording_writer_append(&w, &s), 0);
	}
	recording_writer_done(&w);
	r = opened(bytes.data, bytes.len);
	assert_false(recording_reader_find(r, 3999, &at));
	for (size_t i = 0; i < ARRAY_SIZE(moments); i++) {
		assert_true(recording_reader_find(r, moments[i].at, &at));
		assert_int_equal(at, moments[i].frame);
	}
}

/* A newer minor version has a longer header and parts of other kinds. */
TEST(newer_minor)
{
	cleanup(strbuf_done) struct strbuf bytes = {};
	char part[RECORDING_PART_SIZE + 5] = "PART";
	cleanup(reader_done) struct recording_reader *r = NULL;
	cleanup(forget) struct recorded_frames f;

	record(&f, 4, true);
	part[4] = 77;
	put_le32(part + 8, 5);
	memcpy(part + RECORDING_PART_SIZE, "event", 5);
	set_crcs(part);
	strbuf_put(&bytes, f.bytes.data, 32);
	strbuf_puts(&bytes, "new....crc.");
	bytes.data[10] = 1;
	put_le32(bytes.data + 12, (uint32_t)bytes.len);
	set_header_crc(&bytes);
	for (size_t i = 0; i < FRAMES; i++) {
		strbuf_put(&bytes, part, sizeof(part));
		strbuf_put(&bytes, f.bytes.data + f.end[i], f.end[i + 1] - f.end[i]);
	}
	r = opened(bytes.data, bytes.len);
	assert_int_equal(recording_reader_info(r)->minor, 1);
	assert_int_equal(recording_reader_info(r)->frames, FRAMES);
	assert_false(recording_reader_info(r)->torn);
	for (size_t i = 0; i < FRAMES; i++)
		check_frame(r, &f, i);
}

static void check_refused(const struct strbuf *bytes, int error, const char *words)
{
	struct recording_reader *r = NULL;
	char why[RECORDING_REASON] = "";

	assert_int_equal(recording_reader_open_memory(bytes->data, bytes->len, &r, why), error);
	assert_null(r);
	if (!strstr(why, words))
		fail_msg("%s: not in: %s", words, why);
}

TEST(formats)
{
	/* Format 1: its number in 32 bits, the versions of records and of the program, a crc. */
	static const char one[] = RECORDING_MAGIC "\1\0\0\0\6\0\0\0"
						  "0.1.9\0\0\0\0\0\0\0"
						  "crc.";
	static const char plain[] =
		"recorded by zmem-bpf 0.1 in format 1: zmem-bpf 0.1 can show it";
	cleanup(strbuf_done) struct strbuf old = {}, other = {};
	cleanup(forget) struct recorded_frames f;

	record(&f, 4, true);
	strbuf_put(&old, one, 32);
	check_refused(&old, -ENOTSUP,
		      "recorded by zmem-bpf 0.1.9 in format 1: zmem-bpf 0.1 can show it");
	old.data[17] = '\33';
	check_refused(&old, -ENOTSUP, plain);
	old.len = 12;
	check_refused(&old, -ENOTSUP, plain);
	put_le16(f.bytes.data + 8, RECORDING_MAJOR + 1);
	check_refused(&f.bytes, -ENOTSUP, "it has format 3, this zmem-bpf reads format 2");
	put_le16(f.bytes.data + 8, RECORDING_MAJOR);
	f.bytes.data[17] = '\n';
	check_refused(&f.bytes, -EBADMSG, "its header is corrupt");
	set_header_crc(&f.bytes);
	check_refused(&f.bytes, -EBADMSG, "its header is corrupt");
	check_refused(&other, -EBADMSG, "it is empty");
	strbuf_puts(&other, "#!/bin/sh\n");
	check_refused(&other, -EBADMSG, "it is not a recording of zmem-bpf");
	old.len = 5;
	check_refused(&old, -EBADMSG, "it is cut off after 5 bytes");
}

/* A snapshot that cannot be written leaves the recording unchanged. */
TEST(impossible)
{
	cleanup(snapshot_done) struct snapshot s = {};
	cleanup(strbuf_done) struct strbuf bytes = {};
	cleanup(reader_done) struct recording_reader *r = NULL;
	struct recording_writer w;
	size_t len;

	snapshot_add(&s)->pid = 1;
	snapshot_add(&s)->pid = 2;
	assert_int_equal(recording_writer_init(&w, &options, &bytes), 0);
	assert_int_equal(recording_writer_append(&w, &s), 0);
	len = bytes.len;
	s.process[1].pid = 1;
	assert_int_equal(recording_writer_append(&w, &s), -EINVAL);
	assert_int_equal(bytes.len, len);
	s.process[1].pid = 3;
	assert_int_equal(recording_writer_append(&w, &s), 0);
	recording_writer_done(&w);
	r = opened(bytes.data, bytes.len);
	assert_int_equal(recording_reader_info(r)->frames, 2);
	assert_int_equal(frame_of(r, 1)->process[1].pid, 3);
}
