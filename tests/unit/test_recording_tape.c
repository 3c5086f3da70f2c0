// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tapes: what was taken down is given back, by key and in its order, through a file. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "tape_round.h"

static void expect(struct tape *t, const char *key, enum tape_answer answer, int error,
		   const char *text)
{
	struct tape_reading r = {};

	assert_int_equal(tape_next(t, key, &r), answer);
	if (answer == TAPE_NONE)
		return;
	assert_int_equal(r.error, error);
	assert_int_equal(r.len, strlen(text));
	assert_string_equal(r.data, text);
}

static void test_order(void **state)
{
	cleanup(round_done) struct round r = {};
	struct tape *t = tape_blank();

	(void)state;
	assert_true(tape_recording(t));
	assert_false(tape_playing(t));
	tape_put_string(t, "812/status", "one");
	tape_put_string(t, "81/status", "other");
	tape_put(t, "812/status", -ESRCH, "ignored", 7);
	tape_put_string(t, "812/statusx", "longer key");
	tape_put_string(t, "812/status", "");
	tape_put_text(t, "812/stat", "no text", -EACCES);
	tape_put_text(t, "812/stat", "text and more", 4);
	round_play(&r, t);
	t = r.tape;
	assert_false(tape_recording(t));
	assert_true(tape_playing(t));
	assert_true(tape_has_next(t, "812/status"));
	expect(t, "812/status", TAPE_NEXT, 0, "one");
	expect(t, "812/status", TAPE_NEXT, -ESRCH, "");
	assert_true(tape_has_next(t, "812/status"));
	expect(t, "812/status", TAPE_NEXT, 0, "");
	assert_false(tape_has_next(t, "812/status"));
	expect(t, "812/status", TAPE_AGAIN, 0, "");
	expect(t, "812/status", TAPE_AGAIN, 0, "");
	expect(t, "81/status", TAPE_NEXT, 0, "other");
	expect(t, "812/statusx", TAPE_NEXT, 0, "longer key");
	expect(t, "812/stat", TAPE_NEXT, -EACCES, "");
	expect(t, "812/stat", TAPE_NEXT, 0, "text");
	expect(t, "812/sta", TAPE_NONE, 0, NULL);
	expect(t, "", TAPE_NONE, 0, NULL);
	expect(t, "zzz", TAPE_NONE, 0, NULL);
	assert_false(tape_has_next(t, "zzz"));
	/* From the beginning. */
	assert_int_equal(tape_turn_to(t, 1, "snapshot"), 0);
	expect(t, "812/status", TAPE_NEXT, 0, "one");
	/* What is played is not recorded. */
	tape_put_string(t, "new", "x");
	expect(t, "new", TAPE_NONE, 0, NULL);
}

static void test_values(void **state)
{
	cleanup(round_done) struct round r = {};
	struct tape *t = tape_blank();
	uint64_t v = 7;
	char buf[5];

	(void)state;
	tape_put_u64(t, "n", UINT64_MAX);
	tape_put_u64(t, "n", 0);
	tape_put_string(t, "bad", "12x");
	tape_put_string(t, "text", "123456");
	tape_put(t, "text", -EIO, NULL, 0);
	tape_put(t, "nul", 0, "a\0b", 3);
	round_play(&r, t);
	assert_true(tape_next_u64(r.tape, "n", &v));
	assert_true(v == UINT64_MAX);
	assert_true(tape_next_u64(r.tape, "n", &v));
	assert_int_equal(v, 0);
	assert_false(tape_next_u64(r.tape, "bad", &v));
	assert_false(tape_next_u64(r.tape, "none", &v));
	/* As a file: cut to the buffer and terminated. */
	assert_int_equal(tape_next_text(r.tape, "text", buf, sizeof(buf)), 4);
	assert_string_equal(buf, "1234");
	assert_int_equal(tape_next_text(r.tape, "text", buf, sizeof(buf)), -EIO);
	assert_null(tape_next_string(r.tape, "text"));
	assert_int_equal(tape_next_text(r.tape, "none", buf, sizeof(buf)), -ENOENT);
	assert_int_equal(tape_next_text(r.tape, "nul", buf, 0), -EINVAL);
	assert_int_equal(tape_next_text(r.tape, "nul", buf, sizeof(buf)), 3);
	assert_memory_equal(buf, "a\0b", 4);
	assert_null(tape_next_string(r.tape, "none"));
}

static void add_key(void *arg, const char *key, const struct tape_reading *reading)
{
	char *all = arg;

	strcat(strcat(all, key), reading->error ? "! " : " ");
}

static void test_each(void **state)
{
	cleanup(round_done) struct round r = {};
	struct tape *t = tape_blank();
	char all[64] = "";

	(void)state;
	tape_put_string(t, "user/2", "b");
	tape_put_string(t, "users", "no");
	tape_put(t, "user/10", -ENOENT, NULL, 0);
	tape_put_string(t, "usel", "no");
	round_play(&r, t);
	tape_each(r.tape, "user/", add_key, all);
	assert_string_equal(all, "user/10! user/2 ");
}

struct pids {
	pid_t pid[8];
	size_t count, stop;
};

static int add_pid(void *arg, pid_t pid)
{
	struct pids *p = arg;

	p->pid[p->count++] = pid;
	return p->count == p->stop ? 5 : 0;
}

static void test_pids(void **state)
{
	cleanup(round_done) struct round r = {};
	static const char bad[][8] = {"\2\0\0\0\1\0\0", "\1\0\0\0\1\0\0", "\0\0\0\0\1\0\0",
				      "\xff\xff\xff\xff\0\0\0"};
	struct tape *t = tape_blank();
	pid_t list[] = {4194304, 1, 17};
	struct pids p = {};

	(void)state;
	assert_int_equal(tape_put_pids(t, "list", list, 3), 0);
	assert_int_equal(tape_put_pids(t, "empty", list, 0), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		tape_put(t, "bad", 0, bad[i], 8);
	tape_put(t, "failed", -EIO, NULL, 0);
	round_play(&r, t);
	assert_int_equal(tape_next_pids(r.tape, "list", add_pid, &p), 0);
	assert_int_equal(p.count, 3);
	assert_int_equal(p.pid[0], 1);
	assert_int_equal(p.pid[1], 17);
	assert_int_equal(p.pid[2], 4194304);
	p = (struct pids){.stop = 2};
	assert_int_equal(tape_next_pids(r.tape, "list", add_pid, &p), 5);
	assert_int_equal(tape_next_pids(r.tape, "empty", add_pid, NULL), 0);
	assert_int_equal(tape_next_pids(r.tape, "none", add_pid, NULL), -ENOENT);
	assert_int_equal(tape_next_pids(r.tape, "failed", add_pid, NULL), -EIO);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		p = (struct pids){};
		assert_int_equal(tape_next_pids(r.tape, "bad", add_pid, &p), -EBADMSG);
	}
	/* Nobody records: nothing is asked of the list. */
	assert_int_equal(tape_put_pids(NULL, "list", NULL, 3), 0);
}

static void test_no_tape(void **state)
{
	(void)state;
	assert_false(tape_recording(NULL));
	assert_false(tape_playing(NULL));
	tape_put_string(NULL, "key", "text");
	tape_put_u64(NULL, "key", 1);
	tape_free(NULL);
}

static void test_too_large(void **state)
{
	static const char key[] =
		"0123456789012345678901234567890123456789012345678901234567890123";
	struct strbuf file = {};
	struct tape *t = tape_blank();
	char *data = calloc(1, RECORDING_DATA_MAX + 1);

	(void)state;
	_Static_assert(sizeof(key) - 1 == TAPE_KEY_MAX + 1, "one too long");
	tape_put(t, "most", 0, data, RECORDING_DATA_MAX);
	tape_put(t, key + 1, 0, NULL, 0);
	tape_take_chapter(t, 0, "session", &file);
	assert_int_equal(strbuf_error(&file), 0);
	/* An error is told once, and the next chapter is none the worse. */
	tape_put(t, "more", 0, data, RECORDING_DATA_MAX + 1);
	tape_take_chapter(t, 0, "session", &file);
	assert_int_equal(strbuf_error(&file), -EFBIG);
	strbuf_clear(&file);
	tape_put(t, key, 0, NULL, 0);
	tape_take_chapter(t, 0, "session", &file);
	assert_int_equal(strbuf_error(&file), -EFBIG);
	strbuf_clear(&file);
	tape_take_chapter(t, 0, "session", &file);
	assert_int_equal(strbuf_error(&file), 0);
	assert_int_equal(file.len, RECORDING_CHAPTER_SIZE);
	strbuf_done(&file);
	free(data);
	tape_free(t);
}

static void test_chapters(void **state)
{
	struct strbuf file = {};
	struct recording rec;
	struct tape *t = tape_blank(), *play;
	char why[RECORDING_WHY];
	static const struct {
		uint32_t frame;
		const char *name, *text;
	} chapter[] = {{0, "session", "a"},
		       {1, "snapshot", "b"},
		       {1, "compare", "c"},
		       {2, "snapshot", "d"}};

	(void)state;
	recording_begin(&file, "0.1.0");
	for (size_t i = 0; i < ARRAY_SIZE(chapter); i++) {
		tape_put_string(t, "key", chapter[i].text);
		tape_take_chapter(t, chapter[i].frame, chapter[i].name, &file);
	}
	recording_end(&file, ARRAY_SIZE(chapter));
	assert_int_equal(recording_parse(file.data, file.len, &rec, why), 0);
	assert_string_equal(rec.tool, "0.1.0");
	assert_int_equal(rec.frames, 2);
	assert_int_equal(rec.chapters, 4);
	play = tape_of(&rec);
	for (size_t i = ARRAY_SIZE(chapter); i--;) {
		assert_int_equal(tape_turn_to(play, chapter[i].frame, chapter[i].name), 0);
		expect(play, "key", TAPE_NEXT, 0, chapter[i].text);
		expect(play, "key", TAPE_AGAIN, 0, chapter[i].text);
	}
	assert_int_equal(tape_turn_to(play, 2, "compare"), -ENOENT);
	assert_int_equal(tape_turn_to(play, 3, "snapshot"), -ENOENT);
	/* Where it was, it still is. */
	expect(play, "key", TAPE_AGAIN, 0, "a");
	tape_free(play);
	tape_free(t);
	recording_done(&rec);
	strbuf_done(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),	 cmocka_unit_test(test_values),
		cmocka_unit_test(test_each),	 cmocka_unit_test(test_pids),
		cmocka_unit_test(test_no_tape),	 cmocka_unit_test(test_too_large),
		cmocka_unit_test(test_chapters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
