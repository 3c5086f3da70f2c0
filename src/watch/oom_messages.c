// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Puts messages together to kills, and names of cgroups to paths. */
#include "watch/oom_messages.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "source/cgroup_path.h"

#define BYTES_MAX (64u << 20)

union message {
	struct zmem_oom_head head; /* of each message */
	struct zmem_oom_record record;
	/* If head.what says so. */
	struct zmem_oom_end end;
	struct zmem_oom_limits limits;
	struct zmem_oom_unread unread;
};

/* Signals come between the messages of a kill. */
static void add_signal(struct oom_messages *m, const void *data, size_t len)
{
	struct zmem_oom_signal signal = {};

	if (len < offsetof(struct zmem_oom_signal, names) || len > sizeof(signal) ||
	    m->signals.len > BYTES_MAX || !strbuf_reserve(&m->signals, sizeof(signal)))
		return;
	memcpy(&signal, data, len);
	/* Its names are not those of the message. */
	if (len !=
	    offsetof(struct zmem_oom_signal, names) +
		    ((uint64_t)signal.path.words + signal.root.words) * sizeof(*signal.names))
		signal.path = signal.root = (struct zmem_oom_path){};
	strbuf_put(&m->signals, &signal, sizeof(signal));
}

void oom_messages_add(struct oom_messages *m, const void *data, size_t len)
{
	uint32_t size = (uint32_t)len;
	struct zmem_oom_head head;

	if (len < sizeof(head))
		return;
	memcpy(&head, data, sizeof(head));
	if (head.what == ZMEM_OOM_SIGNAL) {
		add_signal(m, data, len);
		return;
	}
	if (len > sizeof(union message))
		return;
	if (m->bytes.len > BYTES_MAX || !strbuf_reserve(&m->bytes, sizeof(size) + len))
		return;
	strbuf_put(&m->bytes, &size, sizeof(size));
	strbuf_put(&m->bytes, data, len);
}

static int decode(const struct oom_messages *m, const struct zmem_record *r, struct snapshot *s)
{
	struct zmem_pss_record record;

	if (record_size(r, sizeof(*r)) <= 0)
		return -EBADMSG;
	record_copy(r, &record);
	return record_decode_one(&record, &m->limits, s);
}

static int add_process(const struct oom_messages *m, const struct zmem_oom_record *r,
		       struct oom_kill *kill, struct snapshot *s)
{
	static const enum zmem_rss order[] = {ZMEM_RSS_ANON, ZMEM_RSS_FILE, ZMEM_RSS_SHMEM,
					      ZMEM_RSS_SWAP};
	int err = decode(m, &r->record, s);

	if (err == 0 && r->head.what != ZMEM_OOM_PROCESS) {
		kill->pid = r->record.pid;
		kill->counts_known = true;
		for (size_t i = 0; i < ARRAY_SIZE(order); i++)
			kill->count[i] = (uint64_t)r->count[order[i]] * m->limits.page_size;
	}
	return err;
}

/* ---- cgroups ---- */

/* `names`: of the path, then of the reader's root. */
static void read_cgroup(const struct zmem_oom_path *path, const struct zmem_oom_path *root,
			const __u64 *names, struct oom_cgroup *ret)
{
	struct oom_cgroup cgroup = {};

	cgroup.status = cgroup_path_read(path, names, cgroup.path, cgroup.memory);
	if (cgroup.status == ZMEM_OOM_PATH_KNOWN)
		cgroup.status = cgroup_path_read(root, names + path->words, cgroup.root, NULL);
	*ret = cgroup.status == ZMEM_OOM_PATH_KNOWN ? cgroup
						    : (struct oom_cgroup){.status = cgroup.status};
}

/* ---- kills ---- */

/* Whether the message is as long as it says, which is at most sizeof(*end). */
static bool end_is_whole(const struct zmem_oom_end *end, uint32_t size)
{
	return size >= offsetof(struct zmem_oom_end, names) &&
	       end->victim.words <= ZMEM_OOM_PATH_WORDS && end->root.words <= ZMEM_OOM_PATH_WORDS &&
	       size == offsetof(struct zmem_oom_end, names) +
			       (end->victim.words + end->root.words) * sizeof(*end->names);
}

static void end_kill(struct oom_messages *m, const struct zmem_oom_end *end, struct oom_kill *kill)
{
	kill->boottime_ns = end->boottime_ns;
	kill->took_ns = end->took_ns;
	kill->kernel_pid = end->pid;
	kill->kernel_tid = end->tid;
	kill->table = end->table;
	kill->lost = end->lost;
	kill->late = end->late;
	kill->unread = end->unread;
	kill->counted = end->counted;
	kill->unread_list = m->unread;
	kill->unread_listed = m->unread_count;
	kill->missed = end->head.kill - m->kills - 1;
	read_cgroup(&end->victim, &end->root, end->names, &kill->cgroup);
	m->kills = end->head.kill;
}

/* ---- limits ---- */

/* PAGE_COUNTER_MAX, or more than any memory. */
static uint64_t limit_bytes(uint64_t pages, uint32_t page_size)
{
	return pages < UINT64_C(1) << 50 ? pages * page_size : UINT64_MAX;
}

static int read_limits(const struct oom_messages *m, const struct zmem_oom_limits *from,
		       uint32_t size, struct oom_limits *ret)
{
	const uint32_t page = m->limits.page_size;

	if (size < offsetof(struct zmem_oom_limits, level) || from->count > ZMEM_OOM_LEVELS + 1 ||
	    size != offsetof(struct zmem_oom_limits, level) + from->count * sizeof(*from->level))
		return -EBADMSG;
	ret->call = from->call;
	ret->constraint = from->constraint;
	ret->order = from->order;
	ret->at = from->at < from->count ? (int)from->at : -1;
	ret->v2 = from->v2;
	ret->group = from->group;
	ret->count = from->count;
	for (uint32_t i = 0; i < from->count; i++) {
		const struct zmem_oom_level *level = &from->level[i];

		ret->level[i] = (struct oom_level){
			limit_bytes(level->usage, page), limit_bytes(level->max, page),
			limit_bytes(level->swap_usage, page), limit_bytes(level->swap_max, page)};
	}
	return 0;
}

/* ---- processes that were not read ---- */

static int read_unread(struct oom_messages *m, const struct zmem_oom_unread *from, uint32_t size)
{
	if (size != sizeof(*from) || from->count > ZMEM_OOM_LIST)
		return -EBADMSG;
	for (size_t i = 0; i < from->count; i++) {
		/* Processes without a pid here are only counted. */
		if (!from->process[i].pid || from->process[i].pid > INT32_MAX)
			continue;
		if (!array_room(&m->unread, m->unread_count, &m->unread_room, 256))
			return -ENOMEM;
		m->unread[m->unread_count++] = (struct oom_unread){
			(pid_t)from->process[i].pid, from->process[i].start_boottime_ns};
	}
	return 0;
}

/* Reads one message into the kill. Returns 1 at its end, 0, or a negative errno. */
static int read_message(struct oom_messages *m, const union message *message, uint32_t size,
			struct oom_kill *kill, struct snapshot *s)
{
	switch (message->head.what) {
	case ZMEM_OOM_END:
		if (!end_is_whole(&message->end, size))
			return -EBADMSG;
		end_kill(m, &message->end, kill);
		return 1;
	case ZMEM_OOM_LIMITS:
		return read_limits(m, &message->limits, size, &kill->limits);
	case ZMEM_OOM_UNREAD:
		return read_unread(m, &message->unread, size);
	default:
		return size == sizeof(message->record) ? add_process(m, &message->record, kill, s)
						       : -EBADMSG;
	}
}

/* Drops messages up to `used`. What is left of an incomplete kill waits for its end. */
static void drop_used(struct oom_messages *m, size_t used)
{
	/* Without memory the end of the kill was dropped as well. */
	if (used == m->bytes.len || strbuf_error(&m->bytes)) {
		strbuf_done(&m->bytes);
	} else if (used) {
		memmove(m->bytes.data, m->bytes.data + used, m->bytes.len - used);
		m->bytes.len -= used;
	}
	m->used = 0;
}

int oom_messages_next(struct oom_messages *m, struct oom_kill *ret, struct snapshot *snapshot)
{
	size_t at = m->used, begin = at; /* of the kill */
	uint32_t size, number = 0;
	int r = 0;

	snapshot_clear(snapshot);
	*ret = (struct oom_kill){};
	for (; r == 0 && at < m->bytes.len; at += size) {
		union message message = {};

		memcpy(&size, m->bytes.data + at, sizeof(size));
		at += sizeof(size);
		memcpy(&message, m->bytes.data + at, size);
		/* The kill before it lost its end. */
		if (message.head.kill != number) {
			snapshot_clear(snapshot);
			*ret = (struct oom_kill){};
			m->unread_count = 0;
			number = message.head.kill;
			begin = at - sizeof(size);
		}
		r = read_message(m, &message, size, ret, snapshot);
	}
	if (r) {
		m->used = at;
		return r;
	}
	drop_used(m, begin);
	snapshot_clear(snapshot);
	*ret = (struct oom_kill){};
	return 0;
}

/* ---- signals ---- */

int oom_messages_next_signal(struct oom_messages *m, struct oom_kill *ret,
			     struct snapshot *snapshot)
{
	struct zmem_oom_signal message;
	int32_t missed;
	int r;

	snapshot_clear(snapshot);
	*ret = (struct oom_kill){};
	if (m->signals.len < sizeof(message)) {
		strbuf_done(&m->signals);
		return 0;
	}
	memcpy(&message, m->signals.data, sizeof(message));
	m->signals.len -= sizeof(message);
	memmove(m->signals.data, m->signals.data + sizeof(message), m->signals.len);
	r = add_process(m, &message.receiver, ret, snapshot);
	if (r == 0 && message.sender.kind) {
		r = decode(m, &message.sender, snapshot);
		ret->sender = message.sender.pid;
	}
	ret->signal = (int)message.signal;
	ret->cgroup_number = message.cgroup;
	read_cgroup(&message.path, &message.root, message.names, &ret->cgroup);
	ret->boottime_ns = message.boottime_ns;
	/* Messages of two CPUs may come in another order. */
	missed = (int32_t)(message.receiver.head.kill - m->signals_over);
	if (missed > 0) {
		ret->missed = (uint32_t)missed;
		m->signals_over += (uint32_t)missed;
	}
	return r < 0 ? r : 1;
}

void oom_messages_done(struct oom_messages *m)
{
	strbuf_done(&m->bytes);
	free(m->unread);
	strbuf_done(&m->signals);
}
