// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* --help and -o help, made from the tables of options and columns. */
#include <stdio.h>

#include "app/commands.h"
#include "app/message.h"
#include "zmem/column.h"

int help_text(void)
{
	struct option_info info;

	printf("usage: zmem-bpf [snapshot] [OPTION]...   who holds RAM and swap, process by process\n"
	       "       zmem-bpf compare [OPTION]...      the same processes by BPF and by /proc\n"
	       "       zmem-bpf system [OPTION]...       the machine: RAM, swap, do the books close?\n"
	       "       zmem-bpf maps PID... [OPTION]...  one process by mapping, or files by who maps them\n"
	       "       zmem-bpf watch [OPTION]...        a snapshot every second, with what has changed\n"
	       "       zmem-bpf record FILE [OPTION]...  snapshots for --replay FILE\n"
	       "       zmem-bpf top [OPTION]...          live, with keys (? shows them)\n"
	       "       zmem-bpf serve [OPTION]...        HTTP: metrics for Prometheus, JSON, a live page\n"
	       "       zmem-bpf doctor [-v]              what works on this machine, and why not\n\n");
	for (size_t i = 0; options_info(i, &info); i++) {
		char text[48], letter[8] = "    ";

		if (info.letter)
			snprintf(letter, sizeof(letter), "-%c, ", info.letter);
		snprintf(text, sizeof(text), "%s--%s%s%s", letter, info.name,
			 info.argument ? " " : "", info.argument ? info.argument : "");
		printf("  %-26s %s\n", text, info.help);
	}
	printf("\nNot measured is '-' in tables, null in JSON and empty in CSV, never 0:\n"
	       "pss_status says why.\n"
	       "Exit codes: 0 done, 1 failure, 2 usage, 3 a pid or user is not there,\n"
	       "4 compare or --verify found a difference it cannot explain.\n");
	return message_stdout_done();
}

int help_columns(bool changes)
{
	for (size_t i = 0; i < column_count; i++)
		printf("%-14s %s\n", column_table[i]->key, column_table[i]->help);
	for (size_t i = 0; changes && i < COUNTERS_OF_PROCESS; i++)
		printf("%-14s %s\n", column_changes[i]->key, column_changes[i]->help);
	return message_stdout_done();
}
