// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* zmem-bpf: per-process memory and swap, collected in the kernel. */
#include "cli/commands.h"

int main(int argc, char **argv)
{
	return commands_run(argc, argv);
}
