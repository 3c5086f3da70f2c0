// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The instruction of a function where a probe costs least: beginnings of functions of allocators.
 */
#include "unit.h"

#include "code/probe_spot.h"
#include "code/x86.h"

/* Words of struct pt_regs. */
enum { R12 = 3, BP, BX, AX = 10, DX = 12, SI, DI };

static void expect_spot(const char *code, size_t len, uint32_t at, unsigned flags,
			const uint8_t *word)
{
	struct probe_spot spot = probe_spot_x86((const uint8_t *)code, len);

	assert_int_equal(spot.at, at);
	assert_int_equal(spot.flags, flags);
	for (size_t i = 0; i < SPOT_ARGUMENTS; i++)
		assert_int_equal(spot.word[i], word[i]);
}

#define SPOT(code, at, flags, ...)                                                                 \
	expect_spot(code, sizeof(code) - 1, at, flags, (const uint8_t[]){__VA_ARGS__})
#define FIRST(code)                                                                                \
	do {                                                                                       \
		struct probe_spot first_ = probe_spot_first();                                     \
		expect_spot(code, sizeof(code) - 1, 0, 0, first_.word);                            \
	} while (0)

/* Those that are done by the kernel, and alike ones that are not. */
TEST(emulated)
{
	SPOT("\x53", 0, SPOT_EMULATED, DI, SI, DX);			/* push rbx */
	SPOT("\x41\x57", 0, SPOT_EMULATED, DI, SI, DX);			/* push r15 */
	SPOT("\xe9\x00\x01\x00\x00", 0, SPOT_EMULATED, DI, SI, DX);	/* jmp */
	SPOT("\xeb\x10", 0, SPOT_EMULATED, DI, SI, DX);			/* jmp */
	SPOT("\xe8\x00\x01\x00\x00\xc3", 0, SPOT_EMULATED, DI, SI, DX); /* call */
	SPOT("\x90\xc3", 0, SPOT_EMULATED, DI, SI, DX);			/* nop */
	FIRST("\xc3");							/* ret */
	FIRST("\x40\x53\xc3");						/* push with another REX */
	FIRST("\x66\xe8\x00\x00\x00\x00\xc3");				/* call with a prefix */
	FIRST("\x48\xe9\x00\x01\x00\x00");
	FIRST("\x6a\x00\xc3"); /* push of a number */
	FIRST("\xe3\x10\xc3"); /* jrcxz */
	FIRST("\xff\xe0");     /* to an address that is not known */
	/* Longer nops, also with a prefix, and endbr64 are passed. */
	SPOT("\xf3\x0f\x1e\xfa\x0f\x1f\x44\x00\x00\x66\x90\x53", 11, SPOT_EMULATED, DI, SI, DX);
	/* rdsspq, which looks alike, writes a register. */
	FIRST("\xf3\x48\x0f\x1e\xcf\x53");
}

TEST(allocators)
{
	/* malloc, free, calloc and posix_memalign of glibc 2.36 */
	SPOT("\x41\x54\x55\x53\x48\x89\xfb\x48\x83\xec\x10", 0, SPOT_EMULATED, DI, SI, DX);
	SPOT("\x48\x85\xff\x0f\x84\xbf\x00\x00\x00\x55", 3, SPOT_EMULATED, DI, SI, DX);
	SPOT("\x41\x55\x48\x89\xf8\x41\x54\x55\x53", 0, SPOT_EMULATED, DI, SI, DX);
	SPOT("\x80\x3d\x01\x02\x14\x00\x00\x41\x54\x49\x89\xd4", 7, SPOT_EMULATED, DI, SI, DX);
	/* free of a distribution with endbr64 */
	SPOT("\xf3\x0f\x1e\xfa\x48\x85\xff\x0f\x84\xbf\x00\x00\x00", 7, SPOT_EMULATED, DI, SI, DX);
	/* malloc and free of musl 1.2 */
	SPOT("\xe9\x6b\x19\x00\x00", 0, SPOT_EMULATED, DI, SI, DX);
	SPOT("\xe9\xbb\x0a\x00\x00", 0, SPOT_EMULATED, DI, SI, DX);
	/* malloc and free of jemalloc 5.3 */
	SPOT("\x48\x81\xff\x00\x10\x00\x00\x0f\x87\x93\x00\x00\x00", 7, SPOT_EMULATED, DI, SI, DX);
	SPOT("\x48\x89\xf8\x48\x8b\x15\x0e\x53\x0a\x00\x48\x89\xf9\x48\xc1\xe8\x1a\x48\x81\xe1"
	     "\x00\x00\x00\xc0\x25\xf0\x00\x00\x00\x64\x48\x03\x04\x25\x00\x00\x00\x00\x48\x01\xd0"
	     "\x48\x3b\x88\xb0\x01\x00\x00\x0f\x85\x8a\x00\x00\x00",
	     48, SPOT_EMULATED, DI, SI, SPOT_LOST);
	/* malloc and posix_memalign of gperftools 2.10 */
	SPOT("\x48\x8b\x05\x59\xab\x00\x00\x48\x85\xc0\x75\x75", 10, SPOT_EMULATED, DI, SI, DX);
	SPOT("\x48\x8d\x46\xff\x48\x83\xc8\x07\x48\x85\xf0\x75\x2b", 11, SPOT_EMULATED, DI, SI, DX);
	/* malloc, calloc and realloc of mimalloc 2.0: the arguments are in other registers */
	SPOT("\x48\x8b\x05\x49\xb4\x00\x00\x48\x89\xfe\x64\x48\x8b\x38\x48\x81\xfe\x00\x04\x00\x00"
	     "\x77\x29",
	     21, SPOT_EMULATED, SI, SPOT_LOST, DX);
	SPOT("\x48\x8b\x15\xc9\xad\x00\x00\x48\x89\xf8\x64\x48\x8b\x3a\x48\x83\xf8\x01\x74\x08", 18,
	     SPOT_EMULATED, AX, SI, SPOT_LOST);
	SPOT("\x48\x8b\x05\x49\xa9\x00\x00\x48\x89\xf2\x48\x89\xfe\x64\x48\x8b\x00\x48\x89\xc7\xe9"
	     "\xf7\x4e\xff\xff",
	     20, SPOT_EMULATED, SI, DX, SPOT_LOST);
}

TEST(arguments)
{
	/* The third one is overwritten: by mul, by a part of its register, by an addition. */
	SPOT("\x48\xf7\xe6\x74\x10", 3, SPOT_EMULATED, DI, SI, SPOT_LOST);
	SPOT("\xb2\x01\x74\x10", 2, SPOT_EMULATED, DI, SI, SPOT_LOST);
	SPOT("\xb6\x01\x74\x10", 2, SPOT_EMULATED, DI, SI, SPOT_LOST); /* dh */
	SPOT("\x48\x83\xc2\x01\x74\x10", 4, SPOT_EMULATED, DI, SI, SPOT_LOST);
	/* sil, with REX, and setcc. */
	SPOT("\x40\xb6\x01\x74\x10", 3, SPOT_EMULATED, DI, SPOT_LOST, DX);
	SPOT("\x40\x0f\x94\xc7\x74\x10", 4, SPOT_EMULATED, SPOT_LOST, SI, DX);
	/* 32 bits are no copy; a copy of a copy is one. */
	SPOT("\x89\xf8\x31\xff\x74\x10", 4, SPOT_EMULATED, SPOT_LOST, SI, DX);
	SPOT("\x48\x89\xf8\x49\x89\xc4\x31\xff\x31\xc0\x74\x10", 10, SPOT_EMULATED, R12, SI, DX);
	SPOT("\x48\x8b\xc7\x31\xff\x74\x10", 5, SPOT_EMULATED, AX, SI, DX);
	/* One takes the register of another one. */
	SPOT("\x48\x89\xf7\x74\x10", 3, SPOT_EMULATED, SPOT_LOST, SI, DX);
	/* What is compared, or stored, stays. */
	SPOT("\x48\x39\xf7\x48\x89\x7c\x24\xf8\xa8\x01\x74\x10", 10, SPOT_EMULATED, DI, SI, DX);
}

/* The stack pointer is another one, or not known. */
TEST(stack)
{
	SPOT("\x48\x83\xec\x18\x48\x85\xff\x74\x10", 7, SPOT_EMULATED | SPOT_MOVED, DI, SI, DX);
	SPOT("\x48\x81\xec\x18\x01\x00\x00\x74\x10", 7, SPOT_EMULATED | SPOT_MOVED, DI, SI, DX);
	FIRST("\x48\x83\xe4\xf0\x53");
	FIRST("\x48\x89\xc4\x53");
	FIRST("\x48\x8d\x64\x24\xf8\x53");
	FIRST("\x58\x53"); /* pop */
}

/* A call would be counted twice, and what is not known is not passed. */
TEST(not_straight)
{
	/* The jump leads behind the beginning, to the spot, and to the beginning itself. */
	FIRST("\x48\x85\xff\x90\x74\x05\x48\xff\xcf\xeb\xf7\xc3");
	SPOT("\x48\x85\xff\x90\x74\x05\x48\xff\xcf\xeb\xf5\xc3", 3, SPOT_EMULATED, DI, SI, DX);
	SPOT("\x48\x85\xff\x90\x74\x05\x48\xff\xcf\xeb\xf9\xc3", 3, SPOT_EMULATED, DI, SI, DX);
	FIRST("\x48\x85\xff\x74\x01\xc3\x0f\x84\xf7\xff\xff\xff\xc3");
	/* At the beginning that does not matter. */
	SPOT("\x53\x48\x85\xff\xeb\xfa", 0, SPOT_EMULATED, DI, SI, DX);
	/* An instruction that is cut off. */
	FIRST("\x48\x85\xff\x74\x01\xc3\x0f\x84\xf7");
	FIRST("\x0f\xa2\x53");		   /* cpuid */
	FIRST("\x48\x87\xfe\x53");	   /* xchg */
	FIRST("\xc5\xf8\x57\xc0\x53");	   /* VEX */
	FIRST("\xf3\x48\xa5\x53");	   /* rep movs */
	FIRST("\xf0\x48\x0f\xb1\x37\x53"); /* cmpxchg */
	FIRST("");
}

TEST(decoder)
{
	struct x86_instruction n;

	assert_true(
		x86_decode((const unsigned char *)"\x64\x48\x8b\x04\x25\x28\x00\x00\x00", 9, &n));
	assert_int_equal(n.len, 9);
	assert_true(n.prefixed && n.wide && n.indexed && n.mod == 0);
	assert_int_equal(n.displacement, 0x28);
	assert_false(
		x86_decode((const unsigned char *)"\x64\x48\x8b\x04\x25\x28\x00\x00\x00", 8, &n));
	assert_true(x86_decode((const unsigned char *)"\x0f\x85\xfa\xff\xff\xff", 6, &n));
	assert_true(x86_is_conditional(&n) && !x86_is_jump(&n) && !n.prefixed);
	assert_int_equal(n.immediate, -6);
	/* A prefix that is of no use beside REX. */
	assert_true(x86_decode((const unsigned char *)"\x66\x48\x81\xff\x00\x10\x00\x00", 8, &n));
	assert_int_equal(n.len, 8);
	assert_true(x86_decode((const unsigned char *)"\x66\x81\xff\x00\x10\x00\x00", 7, &n));
	assert_int_equal(n.len, 5);
	assert_true(x86_decode((const unsigned char *)"\x49\x89\xd4", 3, &n));
	assert_true(n.reg == X86_DX && n.rm == 12 && n.mod == 3 && n.rex == 0x49);
}
