// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Messages of the channel; a passed snapshot gives the same output in every view. */
#include "golden.h"
#include "sample.h"

#include "model/snapshot_codec.h"
#include "serve/channel.h"
#include "render/render.h"

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
	for (size_t i = 0; i < s->snapshot.count; i++)
		process_derive(&s->process[i]);
}

/* The snapshot as JSON, with all columns. */
static void put_json(const struct snapshot *snapshot, const struct result *like, struct strbuf *out)
{
	struct process *rows[SAMPLE_MAX];
	struct result r = *like;

	r.snapshot = snapshot;
	r.rows = rows;
	r.row_count = snapshot->count;
	for (size_t i = 0; i < snapshot->count; i++)
		rows[i] = &snapshot->process[i];
	render_json(out, &r);
}

TEST(same)
{
	cleanup(strbuf_done) struct strbuf bytes = {0}, before = {0}, after = {0};
	cleanup(snapshot_done) struct snapshot got = {};
	struct memcg memcg[] = {{"/a", true, false, 5, 0}, {"/b", true, true, 6, 7}};
	struct sample s;

	fill(&s);
	s.snapshot.memcg = memcg;
	s.snapshot.memcg_count = 2;
	assert_int_equal(snapshot_encode(&s.snapshot, NULL, &bytes), 0);
	assert_int_equal(snapshot_decode(bytes.data, bytes.len, NULL, &got), 0);
	put_json(&s.snapshot, &s.result, &before);
	put_json(&got, &s.result, &after);
	assert_string_equal(strbuf_str(&before), strbuf_str(&after));
	assert_int_equal(got.memcg_count, 2);
	assert_string_equal(got.memcg[1].path, "/b");
	assert_int_equal(got.memcg[1].limit, 7);
	assert_string_equal(got.system.swap[0].name, "/dev/zram0");
	assert_true(got.process[1].cmdline_truncated);
}

TEST(channel)
{
	static struct event_record kill, sent = {.time_ms = 1767225599987};
	char longest[EVENT_TEXT] = "";
	cleanup(strbuf_done) struct strbuf bytes = {0};
	struct answer answer = {.kind = ANSWER_DOCUMENT, .size = 5, .collections = 7}, got;
	int pair[2], memfd, arrived;
	const char *map;
	enum document document;
	uint32_t age;

	memset(longest, 'x', sizeof(longest) - 1);
	strbuf_puts(&bytes, "hello");
	assert_int_equal(channel_pair(pair), 0);
	assert_int_equal(channel_receive_request(pair[0], &document, &age), -EAGAIN);
	assert_int_equal(channel_send_request(pair[1], DOCUMENT_FILES, 250), 0);
	assert_int_equal(channel_receive_request(pair[0], &document, &age), 0);
	assert_int_equal(document, DOCUMENT_FILES);
	assert_int_equal(age, 250);
	/* No other documents exist. */
	assert_int_equal(channel_send_request(pair[1], DOCUMENTS, 250), 0);
	assert_int_equal(channel_receive_request(pair[0], &document, &age), -EBADMSG);
	assert_int_equal(channel_receive_answer(pair[1], &got, &arrived, &kill), -EAGAIN);
	memfd = channel_seal(&bytes);
	assert_true(memfd >= 0);
	/* A sealed memfd cannot change. */
	assert_int_equal(write(memfd, "x", 1), -1);
	assert_int_equal(ftruncate(memfd, 0), -1);
	assert_int_equal(channel_send_answer(pair[0], &answer, memfd), 0);
	assert_int_equal(channel_receive_answer(pair[1], &got, &arrived, &kill), 0);
	assert_int_equal(got.collections, 7);
	assert_int_equal(channel_map(arrived, 4, &map), -EBADMSG);
	assert_int_equal(channel_map(arrived, 5, &map), 0);
	assert_memory_equal(map, "hello", 5);
	close(arrived);
	close(memfd);
	/* A kill comes without a request; its texts and its time arrive. */
	event_set(&sent, EVENT_KIND, EVENT_OOM_KILL);
	event_set(&sent, EVENT_PID, 4711);
	for (int m = EVENT_COMM; m < EVENT_MEMBERS; m++)
		event_set_text(&sent, (enum event_member)m, longest);
	assert_int_equal(channel_send_kill(pair[0], &sent), 0);
	assert_int_equal(channel_receive_answer(pair[1], &got, &arrived, &kill), 0);
	assert_int_equal(got.kind, ANSWER_KILL);
	assert_int_equal(arrived, -1);
	assert_int_equal(kill.time_ms, sent.time_ms);
	assert_int_equal(kill.number[EVENT_PID], 4711);
	assert_string_equal(event_text(&kill, EVENT_POD), longest);
	/* Those for which there is no room must be sent again; the others are not lost. */
	for (unsigned i = 0;; i++) {
		event_set(&sent, EVENT_PID, i);
		if (channel_send_kill(pair[0], &sent) == -EAGAIN) {
			while (i--)
				assert_int_equal(
					channel_receive_answer(pair[1], &got, &arrived, &kill), 0);
			break;
		}
	}
	assert_int_equal(channel_receive_answer(pair[1], &got, &arrived, &kill), -EAGAIN);
	/* An unknown document, a kill without an event, a document without a memfd, garbage, and a
	 * closed channel. */
	answer.kind = ANSWER_FAILED;
	answer.document = DOCUMENTS;
	assert_int_equal(channel_send_answer(pair[0], &answer, -1), 0);
	assert_int_equal(channel_receive_answer(pair[1], &got, &arrived, &kill), -EBADMSG);
	answer.document = DOCUMENT_FILES;
	snprintf(answer.failed, sizeof(answer.failed), "no lists");
	assert_int_equal(channel_send_answer(pair[0], &answer, -1), 0);
	assert_int_equal(channel_receive_answer(pair[1], &got, &arrived, &kill), 0);
	assert_string_equal(got.failed, "no lists");
	answer.kind = ANSWER_KILL;
	assert_int_equal(channel_send_answer(pair[0], &answer, -1), 0);
	assert_int_equal(channel_receive_answer(pair[1], &got, &arrived, &kill), -EBADMSG);
	answer.kind = ANSWER_DOCUMENT;
	assert_int_equal(channel_send_answer(pair[0], &answer, -1), 0);
	assert_int_equal(channel_receive_answer(pair[1], &got, &arrived, &kill), -EBADMSG);
	assert_int_equal(write(pair[1], "garbage!", 8), 8);
	assert_int_equal(channel_receive_request(pair[0], &document, &age), -EBADMSG);
	assert_int_equal(write(pair[1], "short", 5), 5);
	assert_int_equal(channel_receive_request(pair[0], &document, &age), -EBADMSG);
	close(pair[1]);
	assert_int_equal(channel_receive_request(pair[0], &document, &age), -EPIPE);
	assert_int_equal(channel_send_answer(pair[0], &answer, -1), -EPIPE);
	close(pair[0]);
}
