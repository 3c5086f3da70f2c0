// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The entry point of zmem-bpf. */
#include "command/run.h"

int main(int argc, char **argv)
{
	return commands_run(argc, argv);
}
