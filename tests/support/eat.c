// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * eat [KIB [thread | sleep]]: touches KIB KiB of shared anonymous memory (0), then private memory
 * page by page until it is killed. With "thread" a second thread does, after the first one has
 * ended; with "sleep" it locks that memory and sleeps.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define STEP (1 << 20)

static size_t shared_bytes;
static bool sleeps;

static void *eat(void *arg)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *vma;

	/* The first thread must have ended when memory is short. */
	if (arg)
		pthread_join(*(pthread_t *)arg, NULL);
	if (shared_bytes) {
		vma = mmap(NULL, shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			   -1, 0);
		if (vma == MAP_FAILED)
			_exit(1);
		memset(vma, 1, shared_bytes);
		/* Others must not push it out. */
		if (sleeps && mlock(vma, shared_bytes))
			_exit(1);
	}
	while (sleeps)
		pause();
	for (;;) {
		vma = mmap(NULL, STEP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (vma == MAP_FAILED)
			_exit(1);
		for (size_t i = 0; i < STEP; i += page)
			vma[i] = 1;
	}
}

int main(int argc, char **argv)
{
	static pthread_t first;
	pthread_t second;

	if (argc > 1)
		shared_bytes = strtoul(argv[1], NULL, 10) * 1024;
	sleeps = argc > 2 && strcmp(argv[2], "sleep") == 0;
	if (argc < 3 || sleeps)
		eat(NULL);
	first = pthread_self();
	if (pthread_create(&second, NULL, eat, &first))
		return 1;
	pthread_exit(NULL);
}
