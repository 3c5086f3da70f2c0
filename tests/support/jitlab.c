// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A program that makes code while it runs, as a JIT does: a function that calls back, and the
 * function that is called touches 4 MiB. It is built without frame pointers.
 *   jitlab CODE MEMORY [fork]   prints "READY pid address", and for each line of its input calls
 *                               the code and prints "DONE"
 * CODE: frame (with a frame pointer), trampoline (without one, as CPython has it), mess (the
 * register of the frame pointer leads to data). MEMORY: anon, zero, memfd, file (one on a disk).
 * fork: a child calls it. Tests write the perf map.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096
#define SIZE (4 * 1024 * 1024)
#ifdef __clang__
#define noinline __attribute__((noinline))
#else
#define noinline __attribute__((noinline, noclone))
#endif

/* The function to call is the fourth argument. */
typedef int (*code_fn)(volatile long *data, long b, long c, int (*call)(void));

static const struct {
	const char *name;
	unsigned char code[32];
	size_t size;
} codes[] = {
#if defined(__x86_64__)
	/* push %rbp; mov %rsp, %rbp; call *%rcx; pop %rbp; ret */
	{"frame", {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd1, 0x5d, 0xc3}, 8},
	/* sub $8, %rsp; call *%rcx; add $8, %rsp; ret */
	{"trampoline", {0x48, 0x83, 0xec, 8, 0xff, 0xd1, 0x48, 0x83, 0xc4, 8, 0xc3}, 11},
	/* push %rbp; mov %rdi, %rbp; call *%rcx; pop %rbp; ret */
	{"mess", {0x55, 0x48, 0x89, 0xfd, 0xff, 0xd1, 0x5d, 0xc3}, 8},
#elif defined(__aarch64__)
	/* stp x29, x30, [sp, #-16]!; mov x29, sp; blr x3; ldp x29, x30, [sp], #16; ret */
	{"frame",
	 {0xfd, 0x7b, 0xbf, 0xa9, 0xfd, 0x03, 0x00, 0x91, 0x60, 0x00,
	  0x3f, 0xd6, 0xfd, 0x7b, 0xc1, 0xa8, 0xc0, 0x03, 0x5f, 0xd6},
	 20},
#endif
};

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static int open_memory(const char *name)
{
	char path[] = "/tmp/jitlab-XXXXXX";
	int fd;

	if (strcmp(name, "anon") == 0)
		return -1;
	if (strcmp(name, "zero") == 0)
		return open("/dev/zero", O_RDWR);
	if (strcmp(name, "memfd") == 0)
		fd = memfd_create("jitlab", 0);
	else if ((fd = mkstemp(path)) >= 0)
		unlink(path);
	if (fd < 0 || ftruncate(fd, PAGE) < 0)
		fail(name);
	return fd;
}

static code_fn make_code(const char *name, const char *memory)
{
	int fd = open_memory(memory);
	int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
	unsigned char *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (p == MAP_FAILED)
		fail("mmap");
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		if (strcmp(codes[i].name, name) != 0)
			continue;
		memcpy(p, codes[i].code, codes[i].size);
		if (mprotect(p, PAGE, PROT_READ | PROT_EXEC) < 0)
			fail("mprotect");
		__builtin___clear_cache((char *)p, (char *)p + PAGE);
		return (code_fn)(uintptr_t)p;
	}
	fail("no such code");
	return NULL;
}

static noinline int site_touch(void)
{
	volatile char *p =
		mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		fail("mmap");
	for (size_t i = 0; i < SIZE; i += PAGE)
		p[i] = 1;
	return 1;
}

/* What it does with the result keeps it from being a jump. */
static noinline int run_code(code_fn code)
{
	volatile long data[4] = {0, 0x12345, 0, 0};

	data[0] = (long)(data + 2);
	return code(data, 0, 0, site_touch) + 1;
}

static noinline int run_child(code_fn code)
{
	pid_t pid = fork();
	int status = 0;

	if (pid < 0)
		fail("fork");
	if (pid == 0)
		_exit(run_code(code) != 2);
	return waitpid(pid, &status, 0) == pid && status == 0;
}

int main(int argc, char **argv)
{
	char line[16];
	code_fn code;

	if (argc < 3)
		return 2;
	code = make_code(argv[1], argv[2]);
	printf("READY %d %lx\n", getpid(), (unsigned long)(uintptr_t)code);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		if (argc > 3 ? !run_child(code) : run_code(code) != 2)
			return 1;
		printf("DONE\n");
		fflush(stdout);
	}
	return 0;
}
