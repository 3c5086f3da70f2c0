// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Leaves functions of an allocator in all ways that a program has, for grow --malloc.
 *
 *   leavelab WAY    "READY PID", a line from stdin, the way; then a checksum of what it did, and it waits for the
 *                   end of stdin
 *   leavelab list   the ways
 *
 * With -DOWN it has an allocator of its own, mallocx(), which calls the program back.
 */
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif
#define ROUNDS	   1000
#define COROUTINES 8
#define TURNS	   200
#define STACK	   65536

typedef void (*function)(void);

static uint64_t sum;
static function inside; // what mallocx() calls, once
static void *volatile kept;
static const size_t too_much = SIZE_MAX / 4;

#ifdef OWN
extern "C" __attribute__((noinline)) void *mallocx(size_t size)
{
	void *block = malloc(size);
	const function call = inside;

	inside = nullptr;
	if (call)
		call();
	asm volatile("" : : : "memory"); // no jump in place of the return
	return block;
}
#define get mallocx
#else
#define get malloc
#endif

static void add(uint64_t value)
{
	sum = sum * 31 + value;
}

// Blocks that come back as they should.
static void use(int rounds)
{
	for (int i = 0; i < rounds; i++) {
		char *block = static_cast<char *>(get(static_cast<size_t>(100 + i)));

		kept = block;
		memset(block, i, static_cast<size_t>(100 + i));
		add(static_cast<uint8_t>(block[i % 100]));
		free(block);
		block = new char[static_cast<size_t>(50 + i)];
		kept = block;
		block[0] = static_cast<char>(i);
		add(static_cast<uint8_t>(block[0]));
		delete[] block;
	}
}

static void leave_by_return(void)
{
	use(10 * ROUNDS);
}

// ---- jumps ----

static jmp_buf place;
static sigjmp_buf signal_place;

static void jump(void)
{
	longjmp(place, 1);
}

static void leave_by_longjmp(void)
{
	for (volatile int i = 0; i < ROUNDS; i++) {
		inside = jump;
		if (!setjmp(place))
			kept = get(64);
		add(1);
		use(2);
	}
}

static void on_signal(int)
{
	siglongjmp(signal_place, 1);
}

static void raise_signal(void)
{
	raise(SIGUSR1);
}

static void leave_by_siglongjmp(void)
{
	signal(SIGUSR1, on_signal);
	for (volatile int i = 0; i < ROUNDS; i++) {
		inside = raise_signal;
		if (!sigsetjmp(signal_place, 1))
			kept = get(64);
		add(1);
		use(2);
	}
}

// ---- other stacks ----

static ucontext_t back, coroutine[COROUTINES];
alignas(16) static char stack[COROUTINES][STACK];
static int current;
static unsigned alive;

static void give_way(void)
{
	const int own = current;

	swapcontext(&coroutine[own], &back);
	current = own;
}

static void run_coroutine(int own)
{
	for (int i = 0; i < TURNS; i++) {
		current = own;
		inside = give_way;
		free(get(64));
		add(static_cast<uint64_t>(own) + 1);
	}
	alive &= ~(1U << own);
	swapcontext(&coroutine[own], &back);
}

static void leave_by_swapcontext(int count)
{
	static unsigned random = 1;

	alive = (1U << count) - 1;
	for (int i = 0; i < count; i++) {
		getcontext(&coroutine[i]);
		coroutine[i].uc_stack.ss_sp = stack[i];
		coroutine[i].uc_stack.ss_size = STACK;
		makecontext(&coroutine[i], reinterpret_cast<function>(run_coroutine), 1, i);
	}
	while (alive) {
		int i;

		random = random * 1103515245 + 12345;
		i = static_cast<int>(random >> 16) % count;
		if (!(alive >> i & 1))
			continue;
		current = i;
		swapcontext(&back, &coroutine[i]);
		use(1);
	}
}

static void leave_by_one_stack(void)
{
	leave_by_swapcontext(1);
}

static void leave_by_stacks(void)
{
	leave_by_swapcontext(COROUTINES);
}

// ---- exceptions ----

static void fail(bool array, bool aligned)
{
	try {
		kept = aligned ? operator new(too_much, std::align_val_t(256))
		       : array ? operator new[](too_much)
			       : operator new(too_much);
	} catch (const std::bad_alloc &) {
		add(7);
	}
}

static void leave_by_exception(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		fail(false, false);
		fail(true, false);
		fail(false, true);
		kept = operator new(too_much, std::nothrow);
		add(kept == nullptr);
		use(2);
	}
}

static void throw_own(void)
{
	throw std::bad_alloc();
}

static void leave_by_handler(void)
{
	std::set_new_handler(throw_own);
	for (int i = 0; i < ROUNDS; i++) {
		fail(false, false);
		kept = operator new(too_much, std::nothrow);
		add(kept == nullptr);
		use(2);
	}
	std::set_new_handler(jump);
	for (volatile int i = 0; i < ROUNDS; i++) {
		if (!setjmp(place))
			kept = operator new(too_much, std::nothrow);
		add(2);
		use(2);
	}
}

// ---- Syscall User Dispatch, as Wine uses it ----

static volatile char selector; // 1: SYSCALL_DISPATCH_FILTER_BLOCK

// System calls of the file with the C library alone are its own.
static void dispatch(void)
{
	const unsigned long own = reinterpret_cast<unsigned long>(getpid);
	unsigned long from, to, start = 0, size = 0;
	char line[512], mode[8];
	FILE *maps = fopen("/proc/self/maps", "re");

	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %7s", &from, &to, mode) == 3 && own - from < to - from) {
			start = from;
			size = to - from;
		}
	}
	if (maps)
		fclose(maps);
	// Before Linux 5.11 there is no such thing, and nothing to try.
	prctl(PR_SET_SYSCALL_USER_DISPATCH, 1, start, size, &selector);
}

static void use_dispatched(void)
{
	selector = 1;
	use(ROUNDS);
	selector = 0;
	use(ROUNDS);
}

static void dispatch_and_use(void)
{
	dispatch();
	use_dispatched();
}

// ---- seccomp: a filter that kills at the system call that the kernel makes behind a probed return (335, x86-64) ----

static void set_filter(void)
{
	struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 335, 0, 1),
				     BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
				     BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	const struct sock_fprog program = {sizeof(code) / sizeof(*code), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		perror("seccomp");
}

static void filter_and_use(void)
{
	set_filter();
	use(ROUNDS);
}

static void use_filtered(void)
{
	use(ROUNDS);
}

static const struct {
	const char *name;
	function way, before; // before: it is READY
} ways[] = {
	{"return", leave_by_return, nullptr},
	{"longjmp", leave_by_longjmp, nullptr},
	{"siglongjmp", leave_by_siglongjmp, nullptr},
	{"swapcontext", leave_by_one_stack, nullptr},
	{"coroutines", leave_by_stacks, nullptr},
	{"exception", leave_by_exception, nullptr},
	{"handler", leave_by_handler, nullptr},
	{"dispatch", use_dispatched, dispatch},
	{"dispatch-later", dispatch_and_use, nullptr},
	{"seccomp", use_filtered, set_filter},
	{"seccomp-later", filter_and_use, nullptr},
};

int main(int argc, char **argv)
{
	const char *name = argc == 2 ? argv[1] : "";

	for (const auto &w : ways) {
		if (strcmp(name, "list") == 0)
			puts(w.name);
		if (strcmp(name, w.name) != 0)
			continue;
		if (w.before)
			w.before();
		printf("READY %d\n", getpid());
		fflush(stdout);
		if (getchar() < 0)
			return 2;
		w.way();
		printf("%s %016llx\n", name, static_cast<unsigned long long>(sum));
		fflush(stdout);
		while (getchar() >= 0)
			;
	}
	return 0;
}
