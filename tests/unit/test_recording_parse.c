// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The file: to the byte, and every way in which it can be damaged or lie. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "recording/wire.h"
#include "zmem/record.h"
#include "recording/recording.h"

/* What include/zmem/recording.h says, by hand. */
static const unsigned char golden[] = {
	0x89, 'Z',  'M',  'E',	'M', '\r', '\n', 0x1a,			       /* magic */
	1,    0,    0,	  0,						       /* format */
	2,    0,    0,	  0,						       /* records */
	'0',  '.',  '1',  '.',	'0', 0,	   0,	 0,    0, 0, 0, 0,	       /* tool */
	0xc1, 0x98, 0xd6, 0xfc,						       /* crc */
	'C',  'H',  'A',  'P',	0,   0,	   0,	 0,			       /* frame 0 */
	's',  'e',  's',  's',	'i', 'o',  'n',	 0,    0, 0, 0, 0, 0, 0, 0, 0, /* name */
	0,    0,    0,	  0,						       /* readings */
	0,    0,    0,	  0,						       /* length */
	0xbb, 0xd7, 0x30, 0xea,						       /* crc */
	'C',  'H',  'A',  'P',	1,   0,	   0,	 0,			       /* frame 1 */
	's',  'n',  'a',  'p',	's', 'h',  'o',	 't',  0, 0, 0, 0, 0, 0, 0, 0, /* name */
	2,    0,    0,	  0,						       /* readings */
	33,   0,    0,	  0,						       /* length */
	0xab, 0x24, 0x2e, 0xc4,						       /* crc */
	2,    0,    0,	  0,	3,   0,	   0,	 0,	     /* 2 bytes, key of 3, no error */
	'1',  '/',  'x',  0,	'h', 'i',  0,		     /* key, data */
	0,    0,    0,	  0,	8,   0,	   3,	 0,	     /* no bytes, key of 8, ESRCH */
	'1',  '/',  's',  't',	'a', 't',  'u',	 's',  0, 0, /* key, data */
	'E',  'N',  'D',  '\n', 2,   0,	   0,	 0,	     /* chapters */
	0x94, 0x85, 0x1b, 0x64,				     /* crc */
};

#define AT_CHAPTER RECORDING_HEADER_SIZE
#define AT_FRAME   (AT_CHAPTER + RECORDING_CHAPTER_SIZE)
#define AT_READING (AT_FRAME + RECORDING_CHAPTER_SIZE)

static void make_golden(struct strbuf *out)
{
	struct tape *t = tape_blank();

	recording_begin(out, "0.1.0");
	tape_take_chapter(t, 0, "session", out);
	tape_put_string(t, "1/x", "hi");
	tape_put(t, "1/status", -ESRCH, NULL, 0);
	tape_take_chapter(t, 1, "snapshot", out);
	recording_end(out, 2);
	tape_free(t);
}

static void test_golden(void **state)
{
	cleanup(strbuf_done) struct strbuf file = {};
	cleanup(recording_done) struct recording rec = {};
	char why[RECORDING_WHY];

	(void)state;
	make_golden(&file);
	assert_int_equal(file.len, sizeof(golden));
	assert_memory_equal(file.data, golden, sizeof(golden));
	assert_int_equal(recording_parse(golden, sizeof(golden), &rec, why), 0);
	assert_int_equal(rec.frames, 1);
	assert_int_equal(rec.chapters, 2);
	assert_int_equal(rec.readings, 2);
	assert_string_equal(rec.chapter[1].name, "snapshot");
	assert_int_equal(rec.chapter[1].first, 0);
	assert_int_equal(rec.chapter[1].count, 2);
	assert_string_equal(rec.reading[0].key, "1/x");
	assert_string_equal(rec.reading[0].reading.data, "hi");
	assert_int_equal(rec.reading[1].reading.error, -ESRCH);
}

/* The text is refused with `error`, in words of which `word` is one. It is where nothing is
 * behind it, so that a sanitizer sees whoever looks. */
static void refuse(const void *data, size_t len, int error, const char *word)
{
	struct recording rec = {.frames = 77};
	char why[RECORDING_WHY] = "";
	char *copy = malloc(len ? len : 1);

	memcpy(copy, data, len);
	assert_int_equal(recording_parse(copy, len, &rec, why), error);
	assert_int_equal(rec.frames, 77);
	assert_true(strlen(why) > 5);
	assert_null(strchr(why, '\n'));
	if (word && !strstr(why, word))
		fail_msg("'%s' is not in '%s'", word, why);
	free(copy);
}

static void test_truncated(void **state)
{
	(void)state;
	for (size_t len = 0; len < sizeof(golden); len++)
		refuse(golden, len, -EBADMSG, len ? "cut off" : "empty");
}

static void test_flipped(void **state)
{
	unsigned char copy[sizeof(golden)];
	char why[RECORDING_WHY];
	struct recording rec;

	(void)state;
	memcpy(copy, golden, sizeof(copy));
	for (size_t bit = 0; bit < sizeof(copy) * 8; bit++) {
		copy[bit / 8] ^= (unsigned char)(1u << bit % 8);
		assert_true(recording_parse(copy, sizeof(copy), &rec, why) < 0);
		copy[bit / 8] ^= (unsigned char)(1u << bit % 8);
	}
	assert_int_equal(recording_parse(copy, sizeof(copy), &rec, why), 0);
	recording_done(&rec);
}

/* ---- lies: whoever wrote them also wrote the right checksums ---- */

struct lie {
	unsigned char data[sizeof(golden) + 64];
	size_t len;
};

static struct lie golden_lie(void)
{
	struct lie l = {.len = sizeof(golden)};

	memcpy(l.data, golden, sizeof(golden));
	return l;
}

static void seal_chapter(struct lie *l, size_t at, size_t length)
{
	char *c = (char *)l->data + at;

	wire_set32(c + 32, wire_crc(c, 32, c + RECORDING_CHAPTER_SIZE, length));
}

static void seal_header(struct lie *l)
{
	char *c = (char *)l->data;

	wire_set32(c + 28, wire_crc(c, 28, NULL, 0));
}

static void test_versions(void **state)
{
	struct lie l = golden_lie();

	(void)state;
	l.data[8] = 2;
	refuse(l.data, l.len, -ENOTSUP, "made by a newer zmem-bpf (format 2; this one reads 1)");
	/* What a newer one has behind its number nobody here knows. */
	memset(l.data + 12, 0xff, l.len - 12);
	refuse(l.data, l.len, -ENOTSUP, "newer");
	refuse(l.data, 12, -ENOTSUP, "newer");
	l = golden_lie();
	l.data[8] = 0;
	seal_header(&l);
	refuse(l.data, l.len, -EBADMSG, "damaged");
	l = golden_lie();
	l.data[12] = ZMEM_RECORD_VERSION + 1;
	refuse(l.data, l.len, -EBADMSG, "damaged");
	seal_header(&l);
	refuse(l.data, l.len, -ENOTSUP, "a newer zmem-bpf (records 3; this one reads 2)");
	l.data[12] = ZMEM_RECORD_VERSION - 1;
	seal_header(&l);
	refuse(l.data, l.len, -ENOTSUP, "an older zmem-bpf (records 1");
	l = golden_lie();
	l.data[17] = '\033';
	seal_header(&l);
	refuse(l.data, l.len, -EBADMSG, "damaged");
	refuse("{\"schema\":", 10, -EBADMSG, "not a recording");
	refuse("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 33, -EBADMSG,
	       "not a recording");
}

/* Sets `size` bytes of frame 1 and its checksum. */
static void lie_frame(size_t at, uint64_t value, size_t size, const char *word)
{
	struct lie l = golden_lie();

	memcpy(l.data + at, &value, size);
	seal_chapter(&l, AT_FRAME, 33);
	refuse(l.data, l.len, -EBADMSG, word);
}

static void test_lies_of_lengths(void **state)
{
	static const uint32_t lengths[] = {0,
					   1,
					   3,
					   25,
					   26,
					   0x7fffffff,
					   0x80000000,
					   0xfffffffe,
					   0xffffffff,
					   RECORDING_DATA_MAX,
					   RECORDING_DATA_MAX + 1};
	static const uint16_t key_lengths[] = {0, 2, 4, 63, 64, 0x7fff, 0xffff};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		lie_frame(AT_READING, lengths[i], 4, "damaged");
		/* Of the chapter: more than there is is cut off. */
		lie_frame(AT_FRAME + 28, lengths[i], 4, lengths[i] > 45 ? "cut off" : "damaged");
	}
	for (size_t i = 0; i < ARRAY_SIZE(key_lengths); i++)
		lie_frame(AT_READING + 4, key_lengths[i], 2, "damaged");
	lie_frame(AT_FRAME + 24, 0, 4, "damaged");
	lie_frame(AT_FRAME + 24, 1, 4, "damaged");
	lie_frame(AT_FRAME + 24, 3, 4, "damaged");
	lie_frame(AT_FRAME + 24, 0xffffffff, 4, "damaged");
}

static void test_lies_of_readings(void **state)
{
	(void)state;
	lie_frame(AT_READING + 6, 3, 2,
		  "a reading at byte 104");	       /* an error, and data all the same */
	lie_frame(AT_READING + 8, '\n', 1, "damaged"); /* no key for a terminal */
	lie_frame(AT_READING + 9, 0, 1, "damaged");
	lie_frame(AT_READING + 9, 0x7f, 1, "damaged");
	lie_frame(AT_READING + 10, ' ', 1, "damaged");
	lie_frame(AT_READING + 11, 'x', 1, "damaged"); /* not terminated */
	lie_frame(AT_READING + 14, 'x', 1, "damaged");
	lie_frame(AT_FRAME + 8, '\033', 1, "damaged"); /* a chapter's name */
	lie_frame(AT_FRAME + 23, 'x', 1, "damaged");   /* something behind its end */
	lie_frame(AT_FRAME + 4, 0, 1, "there is nothing in it");
	lie_frame(AT_FRAME + 4, 2, 1, "damaged"); /* frame 2 without frame 1 */
	lie_frame(AT_FRAME + 4, 0xffffffff, 4, "damaged");
	lie_frame(AT_FRAME, 'c', 1, "no chapter");
}

static void test_end(void **state)
{
	struct lie l = golden_lie();
	char *end = (char *)l.data + l.len - RECORDING_END_SIZE;

	(void)state;
	wire_set32(end + 4, 1);
	wire_set32(end + 8, wire_crc(end, 8, NULL, 0));
	refuse(l.data, l.len, -EBADMSG, "its end");
	l = golden_lie();
	refuse(l.data, l.len + 1, -EBADMSG, "more than belongs to it");
	memcpy(l.data + l.len, end, RECORDING_END_SIZE);
	refuse(l.data, l.len + RECORDING_END_SIZE, -EBADMSG, "more than belongs to it");
}

/* Chapters of these frames, named a, b, c … if `named`, else all alike. */
static int parse_frames(const uint32_t *frame, size_t count, bool named)
{
	cleanup(strbuf_done) struct strbuf file = {};
	struct tape *t = tape_blank();
	struct recording rec;
	char why[RECORDING_WHY];
	int r;

	recording_begin(&file, "x");
	for (size_t i = 0; i < count; i++) {
		const char name[] = {(char)('a' + (named ? i : 0)), '\0'};

		tape_take_chapter(t, frame[i], name, &file);
	}
	recording_end(&file, (uint32_t)count);
	r = recording_parse(file.data, file.len, &rec, why);
	if (r == 0)
		recording_done(&rec);
	tape_free(t);
	return r;
}

static void test_frames(void **state)
{
	static const uint32_t good[] = {0, 1, 2, 3}, session[] = {0}, none[] = {1},
			      back[] = {0, 1, 2, 1}, gap[] = {0, 1, 3}, twice[] = {0, 1, 1};
	uint32_t many[RECORDING_CHAPTERS_MAX + 2] = {0};

	(void)state;
	for (size_t i = 1; i < ARRAY_SIZE(many); i++)
		many[i] = 1;
	assert_int_equal(parse_frames(good, 4, false), 0);
	assert_int_equal(parse_frames(session, 1, false), -EBADMSG);
	assert_int_equal(parse_frames(none, 1, false), -EBADMSG);
	assert_int_equal(parse_frames(back, 4, true), -EBADMSG);
	assert_int_equal(parse_frames(gap, 3, false), -EBADMSG);
	assert_int_equal(parse_frames(twice, 3, false), -EBADMSG);
	assert_int_equal(parse_frames(twice, 3, true), 0);
	assert_int_equal(parse_frames(many, ARRAY_SIZE(many) - 1, true), 0);
	assert_int_equal(parse_frames(many, ARRAY_SIZE(many), true), -EBADMSG);
	assert_int_equal(parse_frames(NULL, 0, false), -EBADMSG);
}

static void test_check_header(void **state)
{
	char why[RECORDING_WHY];

	(void)state;
	/* As soon as there is a header, nobody has to read on to know. */
	assert_int_equal(recording_check_header(golden, RECORDING_HEADER_SIZE, why), 0);
	assert_int_equal(recording_check_header("x", 1, why), -EBADMSG);
	assert_int_equal(recording_check_header(NULL, 0, why), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_flipped),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_lies_of_lengths),
		cmocka_unit_test(test_lies_of_readings),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_check_header),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
