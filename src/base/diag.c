// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Collects notes on steps that failed. It never prints. */
#include "base/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void diag_add(struct diag *d, const char *subject, int error, const char *hint, const char *reason,
	      ...)
{
	struct diag_note *note;
	va_list args;

	if (d->count >= DIAG_NOTES) {
		d->without_room++;
		return;
	}
	note = &d->note[d->count++];
	*note = (struct diag_note){.subject = subject, .error = error, .hint = hint};
	va_start(args, reason);
	/* On failure vasprintf() leaves its argument undefined. */
	if (vasprintf(&note->reason, reason, args) < 0)
		note->reason = NULL;
	va_end(args);
}

void diag_attach_log(struct diag *d, char *log)
{
	struct diag_note *newest = d->count && !d->without_room ? &d->note[d->count - 1] : NULL;

	/* The first log of a note stays. */
	if (!newest || newest->log)
		free(log);
	else
		newest->log = log;
}

const struct diag_note *diag_newest(const struct diag *d)
{
	return d->count ? &d->note[d->count - 1] : NULL;
}

const char *diag_why(const struct diag_note *n, int error)
{
	return n && n->reason ? n->reason : strerror(-error);
}

const char *diag_reason(const struct diag *d, int error)
{
	return diag_why(diag_newest(d), error);
}

void diag_text(char *buf, size_t size, const struct diag_note *n, int error)
{
	const char *hint = n ? n->hint : NULL;

	snprintf(buf, size, "%s%s%s%s", diag_why(n, error), hint ? " (" : "", hint ? hint : "",
		 hint ? ")" : "");
}

void diag_remove(struct diag *d)
{
	struct diag_note *newest;

	if (d->without_room || !d->count) {
		d->without_room -= d->without_room != 0;
		return;
	}
	newest = &d->note[--d->count];
	free(newest->reason);
	free(newest->log);
	*newest = (struct diag_note){0};
}

void diag_clear(struct diag *d)
{
	while (d->count || d->without_room)
		diag_remove(d);
}
