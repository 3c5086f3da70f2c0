// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * floor [FILE]: reads /proc/PID/FILE of every process and does nothing with it: what any tool that
 * does so cannot be faster than, started and ended as a tool is. Without FILE: that alone.
 */
#include "read_all.h"

int main(int argc, char **argv)
{
	if (argc > 2) {
		fprintf(stderr, "usage: floor [FILE]\n");
		return 2;
	}
	if (argc == 2)
		read_all(argv[1]);
	return 0;
}
