// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Asks in batches. If a helper is lost with one, its names are asked for one by one. */
#include "demangle/demangler.h"

#include <string.h>

#include "base/cleanup.h"
#include "demangle/demangle.h"

#define TEXT_MAX ((size_t)4095) /* bytes; longer texts are cut */
#define NOBODY	 65534

/*
 * The request has names, each with its NUL. The answer has as many texts as fit, each with its NUL:
 * an empty text if the name cannot be demangled.
 */
static int answer(void *state, struct helper_message *request, struct helper_message *ret)
{
	const char *name = request->data, *end = name + request->len;

	(void)state;
	if (!request->len || end[-1])
		return -EBADMSG;
	while (name < end && HELPER_DATA - ret->len > TEXT_MAX) {
		cleanup(strbuf_done) struct strbuf text = {};
		size_t len;

		demangle_cxx(name, &text);
		len = text.len < TEXT_MAX ? text.len : TEXT_MAX;
		message_put(ret, strbuf_str(&text), len);
		message_put(ret, "", 1);
		name += strlen(name) + 1;
	}
	return 0;
}

static const struct helper_kind kind = {
	.answer = answer,
	.memory = (size_t)256 << 20,
	.limits = {.cpu_us = 200000, .idle_us = 1000000},
};

void demangler_init(struct demangler *d, struct helpers *shared)
{
	helper_init(&d->helper, &kind, NOBODY, NOBODY, NULL, shared);
	d->losses = 0;
}

/* Returns how many names of the beginning were answered, or a negative errno. */
static ssize_t call_helper(struct demangler *d, const char *const *name, size_t count,
			   int (*fn)(void *arg, size_t i, const char *text), void *arg,
			   size_t first)
{
	struct helper_message *request = &d->helper.request, *texts = &d->helper.answer;
	size_t sent = 0, done = 0, pos = 0;
	int r;

	helper_begin(&d->helper, 0);
	for (; sent < count; sent++) {
		size_t len = strlen(name[first + sent]) + 1;

		if (len > HELPER_DATA - request->len)
			break;
		message_put(request, name[first + sent], len);
	}
	r = helper_call(&d->helper, 0);
	if (r < 0)
		return r;
	while (done < sent && pos < texts->len) {
		const char *text = texts->data + pos;
		size_t len = strnlen(text, texts->len - pos);

		if (len == texts->len - pos)
			return -EBADMSG;
		r = *text ? fn(arg, first + done, text) : 0;
		if (r < 0)
			return r;
		pos += len + 1;
		done++;
	}
	return done ? (ssize_t)done : -EBADMSG;
}

int demangler_run(struct demangler *d, const char *const *name, size_t count,
		  int (*fn)(void *arg, size_t i, const char *text), void *arg)
{
	size_t one_by_one = 0; /* up to here */
	int r = 0;

	for (size_t i = 0; r == 0 && i < count;) {
		ssize_t n = -EBUSY;

		if (d->losses < DEMANGLER_LOSSES)
			n = call_helper(d, name, i < one_by_one ? 1 : count - i, fn, arg, i);
		if (n > 0) {
			i += (size_t)n;
		} else if (n == -ENOMEM) {
			r = -ENOMEM;
		} else if (helper_lost((int)n) && i >= one_by_one && count - i > 1) {
			one_by_one = count;
		} else {
			d->losses++;
			r = fn(arg, i++, NULL);
		}
	}
	return r;
}
