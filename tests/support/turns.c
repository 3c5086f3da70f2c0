// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * turns MODE: a process that becomes the other of two programs when it is told to: large ("L", with
 * 2 MiB of anonymous memory) or small ("S"). It is this one, exec'ed again: no process is started.
 * Each byte of standard input says which it is to be, and is answered by one on standard output as
 * soon as it is. "E" execs as it is. MODE is the first one.
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

	/* Where addresses are random, so is how many pages a program touches at its start. */
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
