// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * turns MODE: a process that switches between two programs: large ("L", with 2 MiB of anonymous
 * memory) and small ("S"). It execs itself, so its pid stays. Each byte of standard input names the
 * next program; a byte on standard output confirms the switch. "E" execs the current one again.
 * MODE is the first.
 */
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <unistd.h>

#define LARGE (2 << 20)

int main(int argc, char **argv)
{
	char mode = argc > 1 ? argv[1][0] : 'S', want;
	char next[2] = "S";

	/* Address randomization would vary the pages that a program touches at its start. */
	if (!(personality(0xffffffff) & ADDR_NO_RANDOMIZE)) {
		personality(ADDR_NO_RANDOMIZE);
		execl("/proc/self/exe", "turns", argv[1], NULL);
		return 1;
	}
	if (mode == 'L') {
		char *memory = mmap(NULL, LARGE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

		if (memory == MAP_FAILED)
			return 1;
	}
	do {
		if (write(1, "", 1) != 1 || read(0, &want, 1) != 1)
			return 0;
	} while (want == mode);
	next[0] = want == 'E' ? mode : want;
	execl("/proc/self/exe", "turns", next, NULL);
	return 1;
}
