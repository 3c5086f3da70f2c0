// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Snapshots from the frames of a recording. */
#include "collect/collect_recording.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"

/* Takes back what count_statuses() counted: it counts again, among the rows of the query. */
static void uncount_statuses(struct snapshot *s)
{
	struct collection *found = &s->collection;

	for (size_t i = 0; i < s->count; i++) {
		const struct process *p = &s->process[i];

		if (p->kind != PROCESS_USER)
			continue;
		found->gone -= found->gone && p->pss_status == PSS_GONE;
		found->denied -= found->denied && p->pss_status == PSS_DENIED;
		found->timeout -= found->timeout && p->pss_status == PSS_TIMEOUT;
		found->raced -= found->raced && (p->raced || p->pss_status == PSS_RACED);
	}
	found->complete = true;
}

int collector_turn_to(struct collector *c, uint32_t frame)
{
	int r = recording_reader_copy(c->spec.recording, frame - 1, &c->snapshot, c->why);

	if (r == 0)
		uncount_statuses(&c->snapshot);
	return r;
}

/* Whether the recording was made with PSS. */
static enum pss_choice recorded_pss(const struct snapshot *s)
{
	bool skipped = false;

	for (size_t i = 0; i < s->count; i++) {
		const struct process *p = &s->process[i];

		if (p->kind == PROCESS_USER && p->pss_status != PSS_SKIPPED)
			return PSS_AUTO;
		skipped |= p->kind == PROCESS_USER;
	}
	return skipped ? PSS_NONE : PSS_AUTO;
}

static uint32_t last_frame(const struct collector *c)
{
	return (uint32_t)recording_reader_info(c->spec.recording)->frames;
}

static int find_in_frame(const struct snapshot *s, const char *name, uid_t *ret_uid)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct process *p = &s->process[i];

		if (p->user && strcmp(p->user, name) == 0) {
			*ret_uid = p->uid;
			return 0;
		}
	}
	return -ENOENT;
}

int collector_find_user(struct collector *c, const char *name, uid_t *ret_uid)
{
	cleanup(snapshot_done) struct snapshot last = {};
	char why[RECORDING_WHY];
	int r;

	if (!collector_replays(c)) {
		if (!c->users)
			c->users = user_table_new();
		return c->users ? user_find(c->users, name, ret_uid) : -ENOMEM;
	}
	if (find_in_frame(&c->snapshot, name, ret_uid) == 0)
		return 0;
	r = recording_reader_copy(c->spec.recording, last_frame(c) - 1, &last, why);
	if (r < 0)
		return r == -ENOMEM ? r : -ENOENT;
	return find_in_frame(&last, name, ret_uid);
}

int collect_open_recording(struct collector *c)
{
	int r = collector_turn_to(c, c->spec.continuous ? 1 : last_frame(c));

	c->self = 0;
	c->spec.pss = recorded_pss(&c->snapshot);
	return r;
}
