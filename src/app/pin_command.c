// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* zmem-bpf pin GROUP, zmem-bpf unpin. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "app/commands.h"
#include "app/message.h"
#include "base/cleanup.h"
#include "zmem/pin.h"
#include "zmem/source.h"

static int tell(const struct diag *diag, int error)
{
	const struct diag_note *n = source_reason(diag);

	return message_error("%s%s%s%s", n && n->why ? n->why : strerror(-error),
			     n && n->todo ? " (" : "", n && n->todo ? n->todo : "",
			     n && n->todo ? ")" : "");
}

int command_pin(const struct options *o)
{
	cleanup(diag_clear) struct diag diag = {};
	cleanup_free char *refusal = NULL;
	struct procfs proc = {.fd = -1};
	gid_t group;
	int r;

	if (!o->word_count)
		return message_usage("pin: it needs a GROUP");
	if (pin_group(o->words[0], &group) < 0)
		return message_usage("pin %s: there is no such group", o->words[0]);
	procfs_open(&proc, "/proc");
	r = pin_make(group, &proc, &diag, &refusal);
	if (proc.fd >= 0)
		procfs_close(&proc);
	if (o->verbose)
		message_diag(&diag, true);
	if (r < 0)
		return tell(&diag, r);
	if (refusal)
		message_note(o->quiet, "pinned without PSS: %s", refusal);
	return EXIT_DONE;
}

int command_unpin(const struct options *o)
{
	cleanup(diag_clear) struct diag diag = {};
	int r = pin_remove(&diag);

	if (r == -ENOENT && o->verbose)
		message_note(o->quiet, "there is no pin at " PIN_PLACE);
	return r < 0 && r != -ENOENT ? tell(&diag, r) : EXIT_DONE;
}
