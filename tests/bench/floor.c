// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * floor [FILE]: reads /proc/PID/FILE of every process and discards it: the minimum time of any tool
 * that reads this file. Without FILE: the minimum time of starting and ending a program.
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
