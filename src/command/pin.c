// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* zmem-bpf pin [GROUP], zmem-bpf pin --remove, zmem-bpf unpin. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "command/table.h"
#include "session/log.h"
#include "source/pin.h"
#include "source/source.h"

int command_pin(const struct options *o)
{
	cleanup(diag_clear) struct diag diag = {};
	cleanup_free char *refusal = NULL;
	struct procfs proc = {.fd = -1};
	gid_t group = PIN_FOR_ROOT;
	int r;

	if (o->remove)
		return o->word ? log_usage(o, "pin --remove: it takes no GROUP") : command_unpin(o);
	if (o->word && pin_group(o->word, &group) < 0)
		return log_usage(o, "pin %s: there is no such group", o->word);
	procfs_open(&proc, "/proc");
	r = pin_make(group, &proc, &diag, &refusal);
	if (proc.fd >= 0)
		procfs_close(&proc);
	if (o->verbose)
		log_diag(&diag, true);
	if (r < 0)
		return log_refusal(source_reason(&diag), r);
	if (refusal)
		log_notice(o->quiet, "pinned without PSS: %s", refusal);
	return EXIT_DONE;
}

int command_unpin(const struct options *o)
{
	cleanup(diag_clear) struct diag diag = {};
	int r = pin_remove(&diag);

	if (r == -ENOENT && o->verbose)
		log_notice(o->quiet, "there is no pin at " PIN_PLACE);
	return r < 0 && r != -ENOENT ? log_refusal(source_reason(&diag), r) : EXIT_DONE;
}
