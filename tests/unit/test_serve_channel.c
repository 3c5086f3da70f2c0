// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Messages of the channel. test_model_snapshot_codec.c has the snapshots that they pass. */
#include "unit.h"

#include "serve/channel.h"

TEST(channel)
{
	static struct event_record kill, sent = {.time_ms = 1767225599987};
	char longest[EVENT_TEXT] = "";
	cleanup(strbuf_done) struct strbuf bytes = {0};
	struct answer answer = {.kind = ANSWER_DOCUMENT, .size = 5, .collected.collections = 7},
		      got;
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
	assert_int_equal(got.collected.collections, 7);
	assert_int_equal(channel_map(arrived, 4, &map), -EBADMSG);
	assert_int_equal(channel_map(arrived, 5, &map), 0);
	assert_memory_equal(map, "hello", 5);
	close(arrived);
	close(memfd);
	/* A kill comes without a request; its texts and its time arrive. */
	event_set(&sent, EVENT_KIND, EVENT_OOM_KILL);
	event_set(&sent, EVENT_PID, 4711);
	for (int m = EVENT_COMM; m < EVENT_TEXTS_END; m++)
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
