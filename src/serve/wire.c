// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * One description of each struct serves both ways: its members in their order, each written or
 * read. Knows what a member may hold; adding one is a line here and a new WIRE_VERSION.
 */
#include "serve/wire.h"

#include <errno.h>
#include <stdlib.h>

#define WIRE_MAGIC   UINT64_C(0x657269776d656d7a) /* "zmemwire" */
#define WIRE_VERSION 2
#define NO_TEXT	     UINT32_MAX

/* Of one on the wire, at least: nobody has memory for more than could be there. */
#define PROCESS_MIN    64
#define CONTROLLER_MIN 16

struct wire {
	struct strbuf *out; /* NULL: it is read */
	const char *at, *end;
	bool bad;
};

static void put_bytes(struct wire *w, void *v, size_t len)
{
	if (w->out) {
		strbuf_put(w->out, v, len);
	} else if (w->bad || (size_t)(w->end - w->at) < len) {
		w->bad = true;
		memset(v, 0, len);
	} else {
		memcpy(v, w->at, len);
		w->at += len;
	}
}

#define NUMBER(w, v) put_bytes(w, &(v), sizeof(v))

/* Nothing but 0 to limit - 1. */
static uint32_t put_small(struct wire *w, uint32_t v, uint32_t limit)
{
	put_bytes(w, &v, sizeof(v));
	if (v < limit)
		return v;
	w->bad = true;
	return 0;
}

#define ENUM(w, v, limit) ((v) = (__typeof__(v))put_small(w, (uint32_t)(v), limit))
#define BOOL(w, v)	  ((v) = put_small(w, (v), 2))

/* An array that holds a string. */
static void put_chars(struct wire *w, char *s, size_t cap)
{
	put_bytes(w, s, cap);
	if (!w->out && s[cap - 1]) {
		w->bad = true;
		s[cap - 1] = '\0';
	}
}

#define CHARS(w, v) put_chars(w, v, sizeof(v))

static void put_text(struct wire *w, const char **s)
{
	uint32_t len = w->out && *s ? (uint32_t)strlen(*s) : NO_TEXT;

	NUMBER(w, len);
	if (w->out) {
		if (*s)
			strbuf_put(w->out, *s, len + 1);
		return;
	}
	*s = NULL;
	if (w->bad || len == NO_TEXT)
		return;
	if (len >= (size_t)(w->end - w->at) || memchr(w->at, 0, (size_t)len + 1) != w->at + len) {
		w->bad = true;
		return;
	}
	*s = w->at;
	w->at += len + 1;
}

/* ---- the machine ---- */

static void put_host(struct wire *w, struct host_info *h)
{
	CHARS(w, h->name);
	CHARS(w, h->boot_id);
	CHARS(w, h->kernel_release);
	CHARS(w, h->arch);
	NUMBER(w, h->page_size);
	NUMBER(w, h->cpus);
	NUMBER(w, h->boot_ms);
}

static void put_swap(struct wire *w, struct swap_device *d)
{
	CHARS(w, d->name);
	ENUM(w, d->kind, SWAP_FILE + 1);
	BOOL(w, d->name_cut);
	NUMBER(w, d->size);
	NUMBER(w, d->used);
	NUMBER(w, d->priority);
}

static void put_system(struct wire *w, struct system_info *s)
{
	NUMBER(w, s->meminfo.have);
	NUMBER(w, s->meminfo.value);
	BOOL(w, s->swaps_known);
	s->swap_count = put_small(w, (uint32_t)s->swap_count, SWAP_MAX + 1);
	for (size_t i = 0; i < s->swap_count; i++)
		put_swap(w, &s->swap[i]);
	s->zram_count = put_small(w, (uint32_t)s->zram_count, ZRAM_MAX + 1);
	for (size_t i = 0; i < s->zram_count; i++) {
		CHARS(w, s->zram[i].name);
		NUMBER(w, s->zram[i].stat);
	}
}

static void put_collection(struct wire *w, struct collection *c)
{
	struct cross_check *check = &c->cross_check;

	NUMBER(w, c->duration_us);
	NUMBER(w, c->seen);
	NUMBER(w, c->reported);
	NUMBER(w, c->filtered);
	NUMBER(w, c->kernel_threads);
	NUMBER(w, c->zombies);
	NUMBER(w, c->gone);
	NUMBER(w, c->denied);
	NUMBER(w, c->timeout);
	NUMBER(w, c->raced);
	NUMBER(w, c->shared_mm);
	BOOL(w, c->shared_mm_unknown);
	BOOL(w, c->hidden);
	BOOL(w, c->complete);
	NUMBER(w, check->checked);
	NUMBER(w, check->same);
	NUMBER(w, check->moved);
	NUMBER(w, check->different);
	NUMBER(w, check->gone);
	BOOL(w, check->done);
}

static void put_books(struct wire *w, struct result *r)
{
	BOOL(w, r->swap_unattributed_known);
	NUMBER(w, r->swap_unattributed);
	BOOL(w, r->residual_known);
	NUMBER(w, r->anon_residual);
	NUMBER(w, r->mapped_residual);
}

/* ---- processes ---- */

/* Only the figures that it has. */
static void put_counters(struct wire *w, counter_mask *have, uint64_t *value)
{
	NUMBER(w, *have);
	if (*have >> COUNTER_COUNT)
		w->bad = true;
	for (int c = 0; c < COUNTER_COUNT; c++) {
		if (*have & COUNTER_BIT(c))
			NUMBER(w, value[c]);
	}
}

static void put_process(struct wire *w, struct process *p)
{
	NUMBER(w, p->pid);
	NUMBER(w, p->ppid);
	NUMBER(w, p->uid);
	NUMBER(w, p->threads);
	NUMBER(w, p->oom_score_adj);
	NUMBER(w, p->start_ns);
	NUMBER(w, p->mm_id);
	/* A sum is made, not collected. */
	ENUM(w, p->kind, PROCESS_SUM);
	BOOL(w, p->mm_owner);
	BOOL(w, p->raced);
	BOOL(w, p->leader_exited);
	BOOL(w, p->starting);
	BOOL(w, p->pages_odd);
	BOOL(w, p->forked);
	BOOL(w, p->sharing_known);
	NUMBER(w, p->write_protect_seq);
	NUMBER(w, p->ksm_pages);
	ENUM(w, p->counters_source, FROM_PROC + 1);
	ENUM(w, p->pss_source, PSS_FROM_BOTH + 1);
	ENUM(w, p->pss_status, PSS_STATUS_COUNT);
	put_counters(w, &p->have, p->value);
	CHARS(w, p->comm);
	BOOL(w, p->name_cut);
	put_text(w, &p->name);
	put_text(w, &p->user);
	put_text(w, &p->cgroup);
	put_text(w, &p->unit);
	put_text(w, &p->container);
	NUMBER(w, p->unit_path);
	NUMBER(w, p->container_path);
	BOOL(w, p->controlled);
	BOOL(w, p->program_known);
	put_text(w, &p->cmdline);
	BOOL(w, p->cmdline_truncated);
}

static void put_controller(struct wire *w, struct controller *c)
{
	put_text(w, &c->path);
	NUMBER(w, c->have);
	NUMBER(w, c->current);
	NUMBER(w, c->limit);
	w->bad |= !w->out && !c->path;
}

/* How many come, that there may be so many in what is left. */
static uint32_t put_count(struct wire *w, size_t count, size_t each)
{
	uint32_t n = (uint32_t)count;

	NUMBER(w, n);
	if (!w->out && (w->bad || n > (size_t)(w->end - w->at) / each)) {
		w->bad = true;
		return 0;
	}
	return n;
}

static int put_processes(struct wire *w, struct snapshot *s)
{
	uint32_t count = put_count(w, s->count, PROCESS_MIN);

	for (uint32_t i = 0; i < count && !w->bad; i++) {
		struct process *p = w->out ? &s->process[i] : snapshot_add(s);

		if (!p)
			return -ENOMEM;
		put_process(w, p);
		/* They are numbers of a table. */
		w->bad |= p->mm_id > count;
	}
	/* Only now they stay where they are. */
	for (size_t i = 0; !w->out && i < s->count; i++) {
		if (!s->process[i].name)
			s->process[i].name = s->process[i].comm;
	}
	return 0;
}

static int put_controllers(struct wire *w, struct shot *s)
{
	uint32_t count = put_count(w, s->controller_count, CONTROLLER_MIN);

	if (!w->out) {
		s->controller = calloc(count + 1, sizeof(*s->controller));
		if (!s->controller)
			return -ENOMEM;
		s->controller_count = count;
	}
	for (uint32_t i = 0; i < count && !w->bad; i++) {
		put_controller(w, &s->controller[i]);
		/* They are searched. */
		w->bad |= i && !w->bad &&
			  strcmp(s->controller[i - 1].path, s->controller[i].path) >= 0;
	}
	return 0;
}

/* ---- all of it ---- */

static int put_shot(struct wire *w, struct shot *shot)
{
	struct snapshot *s = &shot->snapshot;
	uint64_t magic = WIRE_MAGIC;
	uint32_t version = WIRE_VERSION;
	int r;

	NUMBER(w, magic);
	NUMBER(w, version);
	if (magic != WIRE_MAGIC || version != WIRE_VERSION)
		w->bad = true;
	NUMBER(w, s->time_ms);
	put_host(w, &s->host);
	put_system(w, &s->system);
	ENUM(w, s->counters_source, FROM_PROC + 1);
	BOOL(w, s->pinned);
	put_text(w, &s->fallback_reason);
	put_text(w, &s->pss_fallback_reason);
	put_collection(w, &s->collection);
	put_books(w, &shot->books);
	r = put_processes(w, s);
	if (r == 0)
		r = put_controllers(w, shot);
	if (r < 0)
		return r;
	return w->bad || (!w->out && w->at != w->end) ? -EBADMSG : 0;
}

void wire_encode(const struct shot *shot, struct strbuf *out)
{
	struct wire w = {.out = out};
	/* What is written is not changed, but by the values that it has. */
	int r = put_shot(&w, (struct shot *)shot);

	if (r < 0 && !out->error)
		out->error = r;
}

int wire_decode(const char *data, size_t len, struct shot *ret)
{
	struct wire w = {.at = data, .end = data + len};
	struct shot shot = {};
	int r = put_shot(&w, &shot);

	if (r < 0) {
		shot_done(&shot);
		return r;
	}
	*ret = shot;
	return 0;
}

void shot_done(struct shot *shot)
{
	snapshot_done(&shot->snapshot);
	free(shot->controller);
	*shot = (struct shot){};
}
