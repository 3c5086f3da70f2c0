// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * guest_exit RC: ends the guest. On x86-64 qemu (isa-debug-exit) then exits with (16 + RC) * 2 + 1;
 * where there is no such port, or lockdown forbids it, a word says it, and the machine is switched
 * off.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/reboot.h>
#include <unistd.h>
#ifdef __x86_64__
#include <sys/io.h>
#endif

#define DEBUG_EXIT_PORT 0xf4

static void exit_by_port(int rc)
{
#ifdef __x86_64__
	if (ioperm(DEBUG_EXIT_PORT, 1, 1))
		return;
	outb(16 + (rc ? 1 : 0), DEBUG_EXIT_PORT);
	pause();
#else
	(void)rc;
#endif
}

int main(int argc, char **argv)
{
	int rc = argc > 1 ? atoi(argv[1]) : 0;

	exit_by_port(rc);
	printf("guest exit %d\n", rc);
	fflush(stdout);
	sync();
	reboot(RB_POWER_OFF);
	return 1;
}
