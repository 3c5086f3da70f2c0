// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Format 2 of recordings: frames come back in any order; every damage is refused and named. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>
#include <zstd.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "model/snapshot_codec.h"
#include "random_snapshot.h"
#include "recording/recording_file.h"
#include "recording/wire.h"

#define FRAMES	  11
#define KEY_EVERY 4

static const struct recording_options options = {"9.8.7", RECORDING_CMDLINES, KEY_EVERY, 1};

struct recorded_frames {
	struct snapshot frame[FRAMES]; /* as they were given */
	struct strbuf bytes;
	size_t end[FRAMES + 1]; /* of the header and of each frame */
};

static void record(struct recorded_frames *f, size_t count, bool finish)
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

/* A frame's texts are those of all before it. */
static void forget(struct recorded_frames *f)
{
	for (size_t i = FRAMES; i-- > 0;)
		snapshot_done(&f->frame[i]);
	strbuf_done(&f->bytes);
}

static void check_frame(struct recording_reader *r, const struct recorded_frames *f, size_t i)
{
	const struct snapshot *s = NULL;
	char why[RECORDING_WHY] = "";

	assert_int_equal(recording_reader_frame(r, i, &s, why), 0);
	assert_true(same_snapshot(s, &f->frame[i]));
	assert_int_equal(recording_reader_time(r, i), f->frame[i].time_ms);
}

static void test_frames(void **state)
{
	static const size_t order[] = {0, 1, 2, 10, 9, 3, 4, 5, 6, 7, 8, 9, 10, 0, 10, 10, 3};
	struct recording_reader *r = NULL;
	char why[RECORDING_WHY] = "";
	struct recorded_frames f;

	(void)state;
	record(&f, 40, true);
	assert_int_equal(recording_reader_open_memory(f.bytes.data, f.bytes.len, &r, why), 0);
	assert_string_equal(recording_reader_info(r)->tool, "9.8.7");
	assert_int_equal(recording_reader_info(r)->flags, RECORDING_CMDLINES);
	assert_int_equal(recording_reader_info(r)->frames, FRAMES);
	assert_true(recording_reader_info(r)->ended);
	assert_false(recording_reader_info(r)->torn);
	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		check_frame(r, &f, order[i]);
	recording_reader_free(r);
	forget(&f);
}

/* Differences are smaller than the frames that stand alone. */
static void test_size(void **state)
{
	struct recorded_frames f;

	(void)state;
	record(&f, 200, false);
	for (size_t i = 1; i < FRAMES; i++) {
		size_t size = f.end[i + 1] - f.end[i], key = f.end[1] - f.end[0];

		if (i % KEY_EVERY)
			assert_true(size < key);
	}
	forget(&f);
}

static void test_file(void **state)
{
	char path[] = "/tmp/zmem-recording-XXXXXX", why[RECORDING_WHY] = "";
	cleanup_close int fd = mkstemp(path);
	struct recording_reader *r = NULL;
	const struct snapshot *s;
	struct recorded_frames f;
	int pipes[2];

	(void)state;
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
	/* It becomes shorter under our eyes. */
	assert_int_equal(ftruncate(fd, (off_t)f.end[2]), 0);
	check_frame(r, &f, 1);
	assert_int_equal(recording_reader_frame(r, 3, &s, why), -EBADMSG);
	assert_non_null(strstr(why, "frame 3 at byte"));
	recording_reader_free(r);
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(recording_reader_open(pipes[0], &r, why), -EINVAL);
	close(pipes[0]);
	close(pipes[1]);
	forget(&f);
}

/* Each frame of a damaged recording is refused, or is as it was. */
static void check_damaged(const char *data, size_t len, const struct recorded_frames *f)
{
	struct recording_reader *r = NULL;
	char why[RECORDING_WHY] = "";
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
		/* Frames are counted on behind what is corrupt. */
		assert_true(same_snapshot(s, &f->frame[s->time_ms / 1000]));
	}
	recording_reader_free(r);
}

static void test_cut(void **state)
{
	struct recorded_frames f;

	(void)state;
	record(&f, 4, true);
	for (size_t len = 0; len < f.bytes.len; len++) {
		cleanup_free char *copy = malloc(len + 1);
		struct recording_reader *r = NULL;
		char why[RECORDING_WHY] = "";
		size_t whole = 0;

		memcpy(copy, f.bytes.data, len);
		check_damaged(copy, len, &f);
		if (len < f.end[0])
			continue;
		/* Every whole frame is there; that something is missing is known. */
		while (whole < FRAMES && f.end[whole + 1] <= len)
			whole++;
		assert_int_equal(recording_reader_open_memory(copy, len, &r, why), 0);
		assert_int_equal(recording_reader_info(r)->frames, whole);
		assert_int_equal(recording_reader_info(r)->end, f.end[whole]);
		assert_int_equal(recording_reader_info(r)->torn, len != f.end[whole]);
		assert_false(recording_reader_info(r)->ended);
		recording_reader_free(r);
	}
	forget(&f);
}

static void test_flipped(void **state)
{
	struct recorded_frames f;

	(void)state;
	record(&f, 4, true);
	for (size_t i = 0; i < f.bytes.len; i++) {
		f.bytes.data[i] ^= (char)(1 << i % 8);
		check_damaged(f.bytes.data, f.bytes.len, &f);
		f.bytes.data[i] ^= (char)(1 << i % 8);
	}
	forget(&f);
}

/* A byte of frame 3 is wrong: those before it and those from the next key frame on are there. */
static void check_named(size_t at, bool hole)
{
	struct recording_reader *r = NULL;
	char why[RECORDING_WHY] = "", named[64];
	const struct snapshot *s;
	struct recorded_frames f;

	record(&f, 10, true);
	f.bytes.data[f.end[2] + at] ^= 1;
	snprintf(named, sizeof(named), "frame 3 at byte %zu is corrupt", f.end[2]);
	assert_int_equal(recording_reader_open_memory(f.bytes.data, f.bytes.len, &r, why), 0);
	assert_int_equal(recording_reader_info(r)->frames, FRAMES);
	assert_true(recording_reader_info(r)->ended);
	for (size_t i = 0; i < FRAMES; i++) {
		if (i != 2 && i != 3) {
			check_frame(r, &f, i);
			continue;
		}
		assert_int_equal(recording_reader_frame(r, i, &s, why), -EBADMSG);
		assert_string_equal(why, named);
		assert_int_equal(recording_reader_time(r, 2), hole ? 1000 : 2000);
	}
	recording_reader_free(r);
	forget(&f);
}

static void test_named(void **state)
{
	(void)state;
	check_named(RECORDING_PART_SIZE + 7, false); /* its payload */
	check_named(9, true);			     /* its length */
	check_named(0, true);			     /* its mark */
}

static void set_crcs(char *part)
{
	uint32_t size = wire_get32(part + 8);

	wire_set32(part + 24, wire_crc(part + RECORDING_PART_SIZE, size, NULL, 0));
	wire_set32(part + 28, wire_crc(part, 28, NULL, 0));
}

static int open_with(const struct strbuf *bytes, struct recording_reader **ret, char *why)
{
	return recording_reader_open_memory(bytes->data, bytes->len, ret, why);
}

/* A small frame that claims to be large is refused before memory is taken for it. */
static void test_bomb(void **state)
{
	const size_t large = (size_t)RECORDING_RAW_MAX + 1;
	struct recording_reader *r = NULL;
	char why[RECORDING_WHY] = "", *zeros = calloc(1, large);
	char payload[64 * 1024], part[RECORDING_PART_SIZE] = "PART";
	const struct snapshot *s;
	struct recorded_frames f;

	(void)state;
	record(&f, 4, false);
	/* One size in its part, another in the frame of zstd; then the same that is too large. */
	for (int what = 0; what < 2; what++) {
		cleanup(strbuf_done) struct strbuf bytes = {};
		size_t n = ZSTD_compress(payload, sizeof(payload), zeros, large, 1);

		assert_false(ZSTD_isError(n));
		part[4] = PART_KEY;
		wire_set32(part + 8, (uint32_t)n);
		wire_set32(part + 12, what ? (uint32_t)large : 100);
		strbuf_put(&bytes, f.bytes.data, f.end[0]);
		strbuf_put(&bytes, part, sizeof(part));
		strbuf_put(&bytes, payload, n);
		set_crcs(bytes.data + f.end[0]);
		assert_int_equal(open_with(&bytes, &r, why), 0);
		assert_int_equal(recording_reader_info(r)->frames, 1);
		assert_int_equal(recording_reader_frame(r, 0, &s, why), -EBADMSG);
		assert_non_null(strstr(why, "frame 1 at byte 36 is corrupt"));
		recording_reader_free(r);
	}
	free(zeros);
	forget(&f);
}

static void set_header_crc(struct strbuf *bytes)
{
	uint32_t size = wire_get32(bytes->data + 12);

	wire_set32(bytes->data + size - 4, wire_crc(bytes->data, size - 4, NULL, 0));
}

/* A longer header and parts of another kind are a newer minor version's. */
static void test_newer_minor(void **state)
{
	cleanup(strbuf_done) struct strbuf bytes = {};
	char part[RECORDING_PART_SIZE + 5] = "PART", why[RECORDING_WHY] = "";
	struct recording_reader *r = NULL;
	struct recorded_frames f;

	(void)state;
	record(&f, 4, true);
	part[4] = 77;
	wire_set32(part + 8, 5);
	memcpy(part + RECORDING_PART_SIZE, "event", 5);
	set_crcs(part);
	strbuf_put(&bytes, f.bytes.data, 32);
	strbuf_puts(&bytes, "new....crc.");
	bytes.data[10] = 1;
	wire_set32(bytes.data + 12, (uint32_t)bytes.len);
	set_header_crc(&bytes);
	for (size_t i = 0; i < FRAMES; i++) {
		strbuf_put(&bytes, part, sizeof(part));
		strbuf_put(&bytes, f.bytes.data + f.end[i], f.end[i + 1] - f.end[i]);
	}
	assert_int_equal(open_with(&bytes, &r, why), 0);
	assert_int_equal(recording_reader_info(r)->minor, 1);
	assert_int_equal(recording_reader_info(r)->frames, FRAMES);
	assert_false(recording_reader_info(r)->torn);
	for (size_t i = 0; i < FRAMES; i++)
		check_frame(r, &f, i);
	recording_reader_free(r);
	forget(&f);
}

static void check_refused(const struct strbuf *bytes, int error, const char *words)
{
	struct recording_reader *r = NULL;
	char why[RECORDING_WHY] = "";

	assert_int_equal(open_with(bytes, &r, why), error);
	assert_null(r);
	if (!strstr(why, words))
		fail_msg("%s: not in: %s", words, why);
}

static void test_formats(void **state)
{
	cleanup(strbuf_done) struct strbuf old = {}, other = {};
	struct recorded_frames f;
	char why[RECORDING_WHY];

	(void)state;
	record(&f, 4, true);
	recording_begin(&old, "0.1.0");
	recording_end(&old, 0);
	check_refused(&old, -ENOTSUP, "it has format 1, which zmem-bpf 0.1.0 can show");
	/* And the other way round: what reads format 1 knows that this one is newer. */
	assert_int_equal(recording_check_header(f.bytes.data, f.bytes.len, why), -ENOTSUP);
	wire_set16(f.bytes.data + 8, RECORDING_MAJOR + 1);
	check_refused(&f.bytes, -ENOTSUP, "it has format 3, this zmem-bpf reads format 2");
	wire_set16(f.bytes.data + 8, RECORDING_MAJOR);
	f.bytes.data[17] = '\n';
	check_refused(&f.bytes, -EBADMSG, "its header is corrupt");
	set_header_crc(&f.bytes);
	check_refused(&f.bytes, -EBADMSG, "its header is corrupt");
	check_refused(&other, -EBADMSG, "it is empty");
	strbuf_puts(&other, "#!/bin/sh\n");
	check_refused(&other, -EBADMSG, "it is not a recording of zmem-bpf");
	strbuf_clear(&other);
	strbuf_put(&other, RECORDING_MAGIC, 5);
	check_refused(&other, -EBADMSG, "it is cut off after 5 bytes");
	forget(&f);
}

/* What cannot be written leaves the recording as it was. */
static void test_impossible(void **state)
{
	cleanup(snapshot_done) struct snapshot s = {};
	cleanup(strbuf_done) struct strbuf bytes = {};
	struct recording_reader *r = NULL;
	struct recording_writer w;
	char why[RECORDING_WHY] = "";
	const struct snapshot *got;
	size_t len;

	(void)state;
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
	assert_int_equal(open_with(&bytes, &r, why), 0);
	assert_int_equal(recording_reader_info(r)->frames, 2);
	assert_int_equal(recording_reader_frame(r, 1, &got, why), 0);
	assert_int_equal(got->process[1].pid, 3);
	recording_reader_free(r);
}

/* A delta frame at the beginning has nothing that it could be a difference to. */
static void test_no_key(void **state)
{
	cleanup(strbuf_done) struct strbuf bytes = {};
	struct recording_reader *r = NULL;
	char why[RECORDING_WHY] = "";
	const struct snapshot *s;
	struct recorded_frames f;

	(void)state;
	record(&f, 4, true);
	strbuf_put(&bytes, f.bytes.data, f.end[0]);
	strbuf_put(&bytes, f.bytes.data + f.end[1], f.bytes.len - f.end[1]);
	assert_int_equal(open_with(&bytes, &r, why), 0);
	assert_int_equal(recording_reader_info(r)->frames, FRAMES - 1);
	assert_int_equal(recording_reader_frame(r, 0, &s, why), -EBADMSG);
	assert_string_equal(why, "frame 1 at byte 36 has no key frame");
	assert_int_equal(recording_reader_frame(r, KEY_EVERY - 1, &s, why), 0);
	assert_true(same_snapshot(s, &f.frame[KEY_EVERY]));
	recording_reader_free(r);
	forget(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames),	cmocka_unit_test(test_size),
		cmocka_unit_test(test_file),	cmocka_unit_test(test_cut),
		cmocka_unit_test(test_flipped), cmocka_unit_test(test_named),
		cmocka_unit_test(test_bomb),	cmocka_unit_test(test_newer_minor),
		cmocka_unit_test(test_formats), cmocka_unit_test(test_impossible),
		cmocka_unit_test(test_no_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
