// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * thrash MIB: four processes touch random pages of a working set of MIB MiB until standard input
 * ends. A working set larger than RAM keeps the machine swapping. Prints READY once all was
 * written.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define PROCESSES 4
#define PAGE	  4096

/* Half of each page is noise: zram compresses it to half its size. */
static void write_page(char *page, uint64_t *seed)
{
	for (size_t i = 0; i < PAGE / 2; i += sizeof(*seed)) {
		*seed = *seed * 6364136223846793005u + 1442695040888963407u;
		memcpy(page + i, seed, sizeof(*seed));
	}
}

__attribute__((noreturn)) static void touch_for_ever(size_t pages, int ready)
{
	char *vma = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	uint64_t seed = (uint64_t)getpid();

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (vma == MAP_FAILED)
		_exit(1);
	for (size_t i = 0; i < pages; i++)
		write_page(vma + i * PAGE, &seed);
	if (write(ready, "", 1) != 1)
		_exit(1);
	for (;;)
		write_page(vma + (seed >> 20) % pages * PAGE, &seed);
}

int main(int argc, char **argv)
{
	size_t pages = argc == 2 ? strtoull(argv[1], NULL, 10) * (1048576 / PAGE) : 0;
	char buf[PROCESSES];
	int ready[2];

	if (!pages || pipe(ready) < 0)
		return 2;
	for (int i = 0; i < PROCESSES; i++) {
		if (fork() == 0)
			touch_for_ever(pages / PROCESSES, ready[1]);
	}
	close(ready[1]);
	for (int i = 0; i < PROCESSES; i++) {
		if (read(ready[0], buf, 1) != 1)
			return 1;
	}
	puts("READY");
	fflush(stdout);
	while (read(0, buf, sizeof(buf)) > 0)
		;
	return 0;
}
