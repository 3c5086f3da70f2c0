/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a session says of its collector. Each notice is printed once. */
#ifndef ZMEM_SESSION_NOTICES_H
#define ZMEM_SESSION_NOTICES_H

#include "session/session.h"

/* The collector was opened, or `error` says why not. Returns 0, or an exit code after a message. */
int notices_opened(struct session *s, int error);
/* A snapshot was taken. */
void notices_collected(struct session *s);
/* Says that the filters choose no process, where the output does not say it. */
void notices_no_match(struct session *s);
/* Some of them: enum collect_notice. */
void notices_say(struct session *s, unsigned which);
/* Says why no snapshot could be taken. Returns an exit code. */
int notices_failed(const struct session *s, int error);

#endif
