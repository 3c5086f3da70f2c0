// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A snapshot on the wire: the same comes out; what is cut or changed is refused or harmless. */
#include "golden.h"
#include "sample.h"

#include <errno.h>
#include <malloc.h>

#include "serve/channel.h"
#include "serve/wire.h"
#include "zmem/render.h"

static void fill(struct sample *s)
{
	struct process *p;

	sample_init(s);
	s->snapshot.fallback_reason = "CAP_BPF is missing";
	s->snapshot.collection = (struct collection){.duration_us = 1234,
						     .seen = 4,
						     .gone = 1,
						     .complete = true,
						     .cross_check = {3, 2, 1}};
	s->snapshot.system.swaps_known = true;
	s->snapshot.system.swap_count = 1;
	s->snapshot.system.swap[0] =
		(struct swap_device){"/dev/zram0", SWAP_PARTITION, false, 9, 8, -2};
	p = sample_add(s, 1, 0, "root", "systemd");
	sample_counters(p, 12 * MIB, 0);
	p->cgroup = "/init.scope";
	p->unit = "init.scope";
	p->controlled = true;
	p = sample_add(s, 20, 1000, NULL, "a\xff\n\"b");
	sample_counters(p, 7 * MIB, 3 * MIB);
	p->cmdline = "";
	p->cmdline_truncated = true;
	p->pss_status = PSS_DENIED;
	p = sample_add(s, 21, 33, "www", "x");
	p->kind = PROCESS_KTHREAD;
	s->snapshot.process = s->process;
}

static void encode(const struct sample *s, struct strbuf *out)
{
	struct controller c[] = {
		{"/a", COUNTER_BIT(COUNTER_MEM_CURRENT), 5, 0},
		{"/b", COUNTER_BIT(COUNTER_MEM_CURRENT) | COUNTER_BIT(COUNTER_MEM_LIMIT), 6, 7}};
	const struct shot shot = {.snapshot = s->snapshot,
				  .books = s->result,
				  .controller = c,
				  .controller_count = 2};

	wire_encode(&shot, out);
	assert_int_equal(strbuf_error(out), 0);
}

/* All that JSON has to say of it. */
static void put_json(const struct snapshot *snapshot, const struct result *books,
		     struct strbuf *out)
{
	struct process *rows[SAMPLE_MAX];
	struct result r = *books;

	r.snapshot = snapshot;
	r.rows = rows;
	r.row_count = snapshot->count;
	for (size_t i = 0; i < snapshot->count; i++)
		rows[i] = &snapshot->process[i];
	render_json(out, &r);
}

static void test_same(void **state)
{
	cleanup(strbuf_done) struct strbuf wire = {0}, before = {0}, after = {0}, again = {0};
	struct sample s;
	struct shot shot;

	(void)state;
	fill(&s);
	encode(&s, &wire);
	assert_int_equal(wire_decode(wire.data, wire.len, &shot), 0);
	put_json(&s.snapshot, &s.result, &before);
	shot.books.pss = s.result.pss;
	put_json(&shot.snapshot, &shot.books, &after);
	assert_string_equal(strbuf_str(&before), strbuf_str(&after));
	assert_int_equal(shot.controller_count, 2);
	assert_string_equal(shot.controller[1].path, "/b");
	assert_int_equal(shot.controller[1].limit, 7);
	assert_string_equal(shot.snapshot.system.swap[0].name, "/dev/zram0");
	assert_true(shot.snapshot.process[1].cmdline_truncated);
	/* Not a byte gets lost. */
	wire_encode(&shot, &again);
	assert_int_equal(again.len, wire.len);
	assert_memory_equal(again.data, wire.data, wire.len);
	shot_done(&shot);
}

#define MANY 1000

/* Who has no name is called what the kernel calls him, wherever the table has moved to meanwhile.
 */
static void test_nameless(void **state)
{
	cleanup(strbuf_done) struct strbuf wire = {0};
	struct process *many = calloc(MANY, sizeof(*many));
	struct sample s;
	struct shot shot;

	(void)state;
	assert_non_null(many);
	/* What grows on the heap's end may stay where it is; a mapping has its neighbours. */
	mallopt(M_MMAP_THRESHOLD, 4096);
	fill(&s);
	for (int i = 0; i < MANY; i++)
		many[i] = (struct process){.pid = i + 1, .comm = "nameless"};
	s.snapshot.process = many;
	s.snapshot.count = MANY;
	encode(&s, &wire);
	free(many);
	assert_int_equal(wire_decode(wire.data, wire.len, &shot), 0);
	assert_int_equal(shot.snapshot.count, MANY);
	for (int i = 0; i < MANY; i++)
		assert_ptr_equal(shot.snapshot.process[i].name, shot.snapshot.process[i].comm);
	shot_done(&shot);
}

static void test_cut(void **state)
{
	cleanup(strbuf_done) struct strbuf wire = {0};
	struct sample s;
	struct shot shot;

	(void)state;
	fill(&s);
	encode(&s, &wire);
	for (size_t len = 0; len < wire.len; len++) {
		cleanup_free char *copy = malloc(len + 1);

		memcpy(copy, wire.data, len);
		assert_int_equal(wire_decode(copy, len, &shot), -EBADMSG);
	}
	strbuf_putc(&wire, 0);
	assert_int_equal(wire_decode(wire.data, wire.len, &shot), -EBADMSG);
}

/* Whatever a byte becomes, what is taken can be shown. */
static void test_changed(void **state)
{
	cleanup(strbuf_done) struct strbuf wire = {0};
	size_t taken = 0, refused = 0;
	struct sample s;

	(void)state;
	fill(&s);
	encode(&s, &wire);
	for (size_t i = 0; i < wire.len; i++) {
		char was = wire.data[i];
		struct shot shot;
		int r;

		wire.data[i] ^= (char)0xff;
		r = wire_decode(wire.data, wire.len, &shot);
		if (r == 0) {
			cleanup(strbuf_done) struct strbuf out = {0};

			assert_true(shot.snapshot.count <= SAMPLE_MAX);
			put_json(&shot.snapshot, &shot.books, &out);
			shot_done(&shot);
			taken++;
		} else {
			assert_int_equal(r, -EBADMSG);
			refused++;
		}
		wire.data[i] = was;
	}
	assert_true(taken && refused);
}

/* Numbers of address spaces are places in a table; a sum is not collected; paths are in order. */
static void test_refused(void **state)
{
	struct controller c[] = {{"/b"}, {"/a"}};
	struct sample s;

	(void)state;
	for (int what = 0; what < 4; what++) {
		cleanup(strbuf_done) struct strbuf wire = {0};
		struct shot shot, given;
		int r;

		fill(&s);
		given = (struct shot){.snapshot = s.snapshot, .books = s.result, .controller = c};
		s.process[0].mm_id = what == 1 ? 4 : 3;
		s.process[1].have |= what == 2 ? COUNTER_BIT(COUNTER_COUNT) : 0;
		given.controller_count = what == 3 ? 2 : 1;
		/* The writer may have noticed. */
		wire_encode(&given, &wire);
		wire.error = 0;
		r = wire_decode(wire.data, wire.len, &shot);
		assert_int_equal(r, what ? -EBADMSG : 0);
		if (r == 0)
			shot_done(&shot);
	}
}

static void test_channel(void **state)
{
	cleanup(strbuf_done) struct strbuf bytes = {0};
	struct answer answer = {.kind = ANSWER_SNAPSHOT, .size = 5, .collections = 7}, got;
	int pair[2], memfd, arrived;
	const char *map;
	uint32_t age;

	(void)state;
	strbuf_puts(&bytes, "hello");
	assert_int_equal(channel_pair(pair), 0);
	assert_int_equal(channel_asked(pair[0], &age), -EAGAIN);
	assert_int_equal(channel_ask(pair[1], 250), 0);
	assert_int_equal(channel_asked(pair[0], &age), 0);
	assert_int_equal(age, 250);
	assert_int_equal(channel_answered(pair[1], &got, &arrived), -EAGAIN);
	memfd = channel_seal(&bytes);
	assert_true(memfd >= 0);
	/* Nobody can change it any more. */
	assert_int_equal(write(memfd, "x", 1), -1);
	assert_int_equal(ftruncate(memfd, 0), -1);
	assert_int_equal(channel_answer(pair[0], &answer, memfd), 0);
	assert_int_equal(channel_answered(pair[1], &got, &arrived), 0);
	assert_int_equal(got.collections, 7);
	assert_int_equal(channel_map(arrived, 4, &map), -EBADMSG);
	assert_int_equal(channel_map(arrived, 5, &map), 0);
	assert_memory_equal(map, "hello", 5);
	close(arrived);
	close(memfd);
	/* A snapshot without one, garbage, and nobody there. */
	assert_int_equal(channel_answer(pair[0], &answer, -1), 0);
	assert_int_equal(channel_answered(pair[1], &got, &arrived), -EBADMSG);
	assert_int_equal(write(pair[1], "garbage!", 8), 8);
	assert_int_equal(channel_asked(pair[0], &age), -EBADMSG);
	assert_int_equal(write(pair[1], "short", 5), 5);
	assert_int_equal(channel_asked(pair[0], &age), -EBADMSG);
	close(pair[1]);
	assert_int_equal(channel_asked(pair[0], &age), -EPIPE);
	assert_int_equal(channel_answer(pair[0], &answer, -1), -EPIPE);
	close(pair[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),	cmocka_unit_test(test_cut),
		cmocka_unit_test(test_changed), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_channel), cmocka_unit_test(test_nameless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
