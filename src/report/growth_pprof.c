// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A profile as pprof reads it: the protocol buffer perftools.profiles.Profile
 * (github.com/google/pprof, proto/profile.proto). A field is a key, number << 3 | type, and a
 * varint or a length with as many bytes.
 */
#include <errno.h>

#include "base/cleanup.h"
#include "base/string_table.h"
#include "report/growth.h"
#include "report/growth_text.h"

enum profile_field {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRINGS = 6,
	PROFILE_TIME_NS = 9,
	PROFILE_DURATION_NS = 10,
	PROFILE_DEFAULT_TYPE = 14,
};

struct profile {
	struct strbuf *out;
	struct string_table strings;
	struct strbuf names; /* of frames that have none of their own, each terminated */
	int error;
};

static void put_varint(struct strbuf *out, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		strbuf_putc(out, (char)(v | 0x80));
	strbuf_putc(out, (char)v);
}

static void put_number(struct strbuf *out, unsigned field, uint64_t v)
{
	put_varint(out, field << 3);
	put_varint(out, v);
}

static void put_bytes(struct strbuf *out, unsigned field, const void *data, size_t len)
{
	put_varint(out, field << 3 | 2);
	put_varint(out, len);
	strbuf_put(out, data, len);
}

static void put_message(struct strbuf *out, unsigned field, struct strbuf *message)
{
	strbuf_take_error(out, message);
	put_bytes(out, field, message->data, message->len);
	strbuf_clear(message);
}

static uint64_t string_number(struct profile *p, const char *text)
{
	uint32_t number = 0;

	if (string_table_number(&p->strings, text, &number) < 0)
		p->error = 1;
	return number;
}

static void put_type(struct profile *p, struct strbuf *m, const char *type, const char *unit)
{
	put_number(m, 1, string_number(p, type));
	put_number(m, 2, string_number(p, unit));
	put_message(p->out, PROFILE_SAMPLE_TYPE, m);
}

/* Locations are the frames, numbered from 1. */
static void put_sample(struct profile *p, struct strbuf *m, const struct growth *g,
		       const struct growth_stack *s)
{
	cleanup(strbuf_done) struct strbuf packed = {};

	for (size_t i = 0; i < s->frames; i++)
		put_varint(&packed, s->frame[i] + 1);
	put_message(m, 1, &packed);
	put_varint(&packed, (uint64_t)growth_sum(s->net));
	put_varint(&packed, s->gross);
	put_varint(&packed, s->changes);
	if (g->resident_known)
		put_varint(&packed, s->resident);
	if (g->heap.known) {
		put_varint(&packed, growth_held(s));
		put_varint(&packed, s->allocated);
	}
	put_message(m, 2, &packed);
	put_message(p->out, PROFILE_SAMPLE, m);
}

/* Each frame is a location with one line of one function, all of the same number. */
static void put_frame(struct profile *p, struct strbuf *m, uint64_t number, uint64_t name,
		      const struct growth_frame *f)
{
	cleanup(strbuf_done) struct strbuf line = {};
	const char *file = f->source ? f->source : f->module;

	put_number(m, 1, number);
	put_number(m, 3, f->offset);
	put_number(&line, 1, number);
	if (f->source)
		put_number(&line, 2, f->line);
	put_message(m, 4, &line);
	put_message(p->out, PROFILE_LOCATION, m);
	put_number(m, 1, number);
	put_number(m, 2, name);
	put_number(m, 3, name);
	put_number(m, 4, string_number(p, file ? file : ""));
	put_message(p->out, PROFILE_FUNCTION, m);
}

/* Names of addresses without one. They stay where they are: the table borrows them. */
static bool make_names(struct profile *p, const struct growth *g)
{
	for (size_t i = 0; i < g->frame_count; i++) {
		const struct growth_frame *f = &g->frame[i];

		if (f->name)
			continue;
		growth_put_frame(&p->names, f);
		strbuf_putc(&p->names, '\0');
	}
	return strbuf_error(&p->names) == 0;
}

/* What a reader sees first. Of processes that have ended, nothing is still there. */
static const char *default_type(const struct growth *g)
{
	bool still = false;

	for (size_t i = 0; g->resident_known && i < g->stacks; i++)
		still |= g->stack[i].resident > 0;
	return g->heap.known ? "held" : still ? "still" : "growth";
}

void render_growth_pprof(struct strbuf *out, const struct growth *g)
{
	struct profile p = {.out = out, .strings.seed = (uint32_t)g->start_ms};
	cleanup(strbuf_done) struct strbuf m = {};
	const char *unnamed;

	if (!make_names(&p, g))
		p.error = 1;
	unnamed = p.names.data;
	string_number(&p, ""); /* number 0 */
	put_type(&p, &m, "growth", "bytes");
	put_type(&p, &m, "added", "bytes");
	put_type(&p, &m, "changes", "count");
	if (g->resident_known)
		put_type(&p, &m, "still", "bytes");
	if (g->heap.known) {
		put_type(&p, &m, "held", "bytes");
		put_type(&p, &m, "allocated", "bytes");
	}
	for (size_t i = 0; i < g->stacks; i++)
		put_sample(&p, &m, g, &g->stack[i]);
	for (size_t i = 0; p.error == 0 && i < g->frame_count; i++) {
		const struct growth_frame *f = &g->frame[i];
		const char *name = f->name ? f->name : unnamed;

		if (!f->name)
			unnamed += strlen(unnamed) + 1;
		put_frame(&p, &m, i + 1, string_number(&p, name), f);
	}
	put_number(out, PROFILE_TIME_NS, (uint64_t)g->start_ms * 1000000);
	put_number(out, PROFILE_DURATION_NS, g->duration_us * 1000);
	put_number(out, PROFILE_DEFAULT_TYPE, string_number(&p, default_type(g)));
	for (size_t i = 0; i < p.strings.count; i++)
		put_bytes(out, PROFILE_STRINGS, p.strings.item[i], strlen(p.strings.item[i]));
	if (p.error && !out->error)
		out->error = -ENOMEM;
	string_table_done(&p.strings);
	strbuf_done(&p.names);
}
