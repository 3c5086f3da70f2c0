// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * pluglab FIRST SECOND: loads a library, calls run_it() of it, which touches 4 MiB, and says
 * whether it is where the other one was; each when a line comes. The first one is unloaded just
 * before the second one is loaded.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIZE ((size_t)4 << 20)

static void say(const char *text)
{
	char line[32];

	puts(text);
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		exit(0);
}

static void *run(const char *path, char *at, void **ret_library)
{
	void *library = dlopen(path, RTLD_NOW);
	void *function = library ? dlsym(library, "run_it") : NULL;

	if (!function) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	((void (*)(char *, size_t))function)(at, SIZE);
	*ret_library = library;
	return function;
}

int main(int argc, char **argv)
{
	char *at = mmap(NULL, 2 * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *library, *first, *second;
	char ready[32];

	if (argc != 3 || at == MAP_FAILED)
		return 1;
	madvise(at, 2 * SIZE, MADV_NOHUGEPAGE);
	snprintf(ready, sizeof(ready), "READY %d", getpid());
	say(ready);
	first = run(argv[1], at, &library);
	say("FIRST");
	dlclose(library);
	second = run(argv[2], at + SIZE, &library);
	say(first == second ? "SAME" : "ELSEWHERE");
	return 0;
}
