// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Every command, once: running them, help and completions come from it. */
#include "cli/commands_table.h"

#include <errno.h>
#include <stdio.h>

#include "cli/log.h"
#include "base/array.h"

#ifdef ZMEM_STATIC
int serve_check(char *why, size_t cap)
{
	snprintf(why, cap,
		 "the static program has none (libmicrohttpd cannot be linked statically: use the "
		 "shared one)");
	return -ENOTSUP;
}

int command_serve(const struct options *o)
{
	char why[160];

	(void)o;
	serve_check(why, sizeof(why));
	return log_error("serve: %s", why);
}
#endif

const struct command_entry command_table[] = {
	{{"snapshot", "[snapshot] [OPTION]...", "who holds RAM and swap, process by process"},
	 command_snapshot},
	{{"compare", "compare [OPTION]...", "the same processes by BPF and by /proc"},
	 command_compare},
	{{"system", "system [OPTION]...", "the machine: RAM, swap, do the books close?"},
	 command_system},
	{{"maps", "maps PID... [OPTION]...", "one process by mapping, or files by who maps them"},
	 command_maps},
	{{"watch", "watch [OPTION]...", "a snapshot every second, with what has changed"},
	 command_watch},
	{{"record", "record FILE [OPTION]...", "snapshots for --replay FILE"}, command_record},
	{{"top", "top [OPTION]...", "live, with keys (? shows them)"}, command_top},
	{{"serve", "serve [OPTION]...", "HTTP: metrics for Prometheus, JSON, a live page"},
	 command_serve},
	{{"pin", "pin GROUP", "leaves loaded programs for the members of a group (root)"},
	 command_pin},
	{{"unpin", "unpin", "takes them away (root)"}, command_unpin},
	{{"doctor", "doctor [-v]", "what works on this machine, and why not"}, command_doctor},
};
const size_t command_count = ARRAY_SIZE(command_table);

bool commands_info(size_t i, struct command_info *ret)
{
	if (i >= command_count)
		return false;
	*ret = command_table[i].info;
	return true;
}
