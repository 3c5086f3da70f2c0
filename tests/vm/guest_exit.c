// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* guest_exit RC: ends the guest; qemu (isa-debug-exit) then exits with (16 + RC) * 2 + 1. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/io.h>
#include <sys/reboot.h>
#include <unistd.h>

#define DEBUG_EXIT_PORT 0xf4

int main(int argc, char **argv)
{
	int rc = argc > 1 ? atoi(argv[1]) : 0;

	/* Lockdown forbids ports: then a word says it, and the machine is switched off. */
	if (ioperm(DEBUG_EXIT_PORT, 1, 1)) {
		printf("guest exit %d\n", rc);
		fflush(stdout);
		sync();
		reboot(RB_POWER_OFF);
		return 1;
	}
	outb(16 + (rc ? 1 : 0), DEBUG_EXIT_PORT);
	pause();
	return 1;
}
