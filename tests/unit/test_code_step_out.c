// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Leaving a function by its instructions: each case is code, and where its return has to be. */
#include "unit.h"

#include "code/step_out.h"

#define CODE  0x1000
#define CALL  0x100 /* in the code: what calls the function */
#define STACK 0x7000
#define WORDS 64

struct machine {
	unsigned char code[0x200];
	uint64_t stack[WORDS];
};

static size_t read_code(void *arg, uint64_t address, unsigned char *buf, size_t len)
{
	const struct machine *m = arg;
	size_t at = address - CODE;

	if (address < CODE || at >= sizeof(m->code))
		return 0;
	if (len > sizeof(m->code) - at)
		len = sizeof(m->code) - at;
	memcpy(buf, m->code + at, len);
	return len;
}

static bool read_word(void *arg, uint64_t address, uint64_t *ret)
{
	const struct machine *m = arg;

	if (address < STACK || address % 8 || (address - STACK) / 8 >= WORDS)
		return false;
	*ret = m->stack[(address - STACK) / 8];
	return true;
}

/*
 * Where the function returns: the index of the word on the stack, -1: nowhere. All words are behind
 * a call, and each has another register: so it is known which one was taken.
 */
static int leave(const char *code, size_t len, uint64_t reg[STEP_REGS])
{
	struct machine m = {};
	const struct step_from from = {&m, read_code, read_word};
	uint64_t ip = CODE;

	memcpy(m.code, code, len);
	memset(m.code + len, 0xf4, 8);
	for (size_t i = 0; i < WORDS / 2; i++) {
		m.code[CALL + i * 5] = 0xe8;
		m.stack[i] = CODE + CALL + i * 5 + 5;
	}
	for (unsigned i = 0; i < STEP_REGS; i++)
		reg[i] = i == STEP_SP ? STACK : 1000 + i;
	if (!step_out(&from, &ip, reg)) {
		assert_int_equal(ip, CODE);
		assert_int_equal(reg[STEP_SP], STACK);
		return -1;
	}
	assert_int_equal((ip - CODE - CALL) % 5, 0);
	return (int)((ip - CODE - CALL) / 5) - 1;
}

#define LEAVE(code, reg) leave(code, sizeof(code) - 1, reg)

/* The return is at this word, and the stack pointer behind it. */
#define EXPECT(code, word)                                                                         \
	do {                                                                                       \
		uint64_t reg_[STEP_REGS];                                                          \
		assert_int_equal(LEAVE(code, reg_), word);                                         \
		assert_true((word) < 0 || reg_[STEP_SP] == STACK + 8 * (word) + 8);                \
	} while (0)

TEST(stack_pointer)
{
	EXPECT("\xc3", 0);
	EXPECT("\xf3\xc3", 0);
	EXPECT("\x48\x83\xc4\x18\xc3", 3);		       /* add $24,%rsp */
	EXPECT("\x48\x81\xc4\x18\x00\x00\x00\xc3", 3);	       /* the same, long */
	EXPECT("\x48\x83\xec\x08\x48\x83\xc4\x18\xc3", 2);     /* sub $8,%rsp; add $24,%rsp */
	EXPECT("\x5b\x5d\x41\x5c\x41\x5f\xc3", 4);	       /* pop %rbx, %rbp, %r12, %r15 */
	EXPECT("\x48\x8d\x64\x24\x10\xc3", 2);		       /* lea 16(%rsp),%rsp */
	EXPECT("\x55\x48\x89\xe5\x48\x83\xec\x40\xc9\xc3", 0); /* push %rbp; mov; sub; leave */
	EXPECT("\x48\x83\xfc\x10\x58\xc3", 1);		       /* cmp $16,%rsp; pop %rax */
	EXPECT("\xe8\x00\x00\x00\x00\xff\xd0\x58\xc3", 1);     /* calls come back */
	EXPECT("\x6a\x01\x68\x00\x00\x00\x00\x5b\x58\xc3",
	       0);			/* push $1; push $0; pop %rbx, %rax */
	EXPECT("\xff\x37\x58\xc3", 0);	/* push (%rdi); pop %rax */
	EXPECT("\xff\x37\x5b\xc3", -1); /* pop %rbx: it is not known */
	EXPECT("\x48\x8d\xb8\x00\x00\x00\x00\x0f\x11\x07\xc5\xf8\x77\xc3", 0);
	/* rep stos; movabs; nopw; vmovdqu with EVEX; pshufd; ret */
	EXPECT("\xf3\x48\xab\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08\x66\x0f\x1f\x44\x00\x00"
	       "\x62\xe1\xfe\x28\x7f\x47\x01\x66\x0f\x70\xc0\x00\xc3",
	       0);
}

TEST(other_stacks)
{
	EXPECT("\x48\x83\xe4\xf0\xc3", -1);		/* and $-16,%rsp */
	EXPECT("\x48\x89\xc4\xc3", -1);			/* mov %rax,%rsp */
	EXPECT("\x48\x8b\x63\x38\xc3", -1);		/* mov 56(%rbx),%rsp */
	EXPECT("\x48\x01\xc4\xc3", -1);			/* add %rax,%rsp */
	EXPECT("\x48\x29\xc4\xc3", -1);			/* sub %rax,%rsp */
	EXPECT("\x48\x94\xc3", -1);			/* xchg %rax,%rsp */
	EXPECT("\x5c\xc3", -1);				/* pop %rsp */
	EXPECT("\xc9\xc3", -1);				/* leave; %rbp is no frame */
	EXPECT("\x48\x83\xc4\x07\xc3", -1);		/* an address that is none of a word */
	EXPECT("\x48\x81\xc4\x00\x01\x00\x00\xc3", -1); /* a word that is behind no call */
	EXPECT("\x48\x81\xc4\x00\x10\x00\x00\xc3", -1); /* one that is not in the copy */
	EXPECT("\x48\x83\xec\x08\xc3", -1);		/* below the stack */
}

TEST(jumps)
{
	EXPECT("\xeb\x01\x58\xc3", 0); /* over pop %rax */
	EXPECT("\xe9\x01\x00\x00\x00\x58\xc3", 0);
	EXPECT("\x75\x01\x58\xc3", 1); /* it goes on at first */
	EXPECT("\x75\x01\xf4\xc3", 0); /* unless that ends */
	EXPECT("\x0f\x85\x02\x00\x00\x00\x0f\x0b\xc3", 0);
	EXPECT("\x75\x02\xff\xe0\xc3", 0);		   /* jmp *%rax */
	EXPECT("\x48\x01\x07\x74\x02\xeb\xf9\x58\xc3", 1); /* a loop */
	EXPECT("\x48\xff\xc9\x75\xfb\xc3", 0);		   /* one that ends by itself */
	EXPECT("\xeb\xfe", -1);
	EXPECT("\xf4", -1);
	EXPECT("\xcc", -1);
	EXPECT("\xeb\x70\xc3", -1); /* zeros, up to the end of the code */
}

/* What a function keeps for its caller comes back. */
TEST(registers)
{
	uint64_t reg[STEP_REGS];

	assert_int_equal(LEAVE("\x5b\x48\x83\xc4\x08\x5d\xc3", reg), 3);
	assert_int_equal(reg[3], CODE + CALL + 5);
	assert_int_equal(reg[STEP_BP], CODE + CALL + 15);
	assert_int_equal(reg[12], 1012);
	/* Go: mov %rbp,40(%rsp); lea 40(%rsp),%rbp; mov 40(%rsp),%rbp; add $48,%rsp */
	assert_int_equal(LEAVE("\x48\x89\x6c\x24\x28\x48\x8d\x6c\x24\x28\x48\x8b\x6c\x24\x28"
			       "\x48\x83\xc4\x30\xc3",
			       reg),
			 6);
	assert_int_equal(reg[STEP_BP], 1005);
	/* push %rbp; mov %rsp,%rbp; push %rbx; mov 8(%rbp) is none; mov -8(%rbp),%rbx; leave */
	assert_int_equal(LEAVE("\x55\x48\x89\xe5\x53\x31\xdb\x48\x8b\x5d\xf8\xc9\xc3", reg), 0);
	assert_int_equal(reg[3], 1003);
	assert_int_equal(reg[STEP_BP], 1005);
	/* ret $16 */
	assert_int_equal(LEAVE("\xc2\x10\x00", reg), 0);
	assert_int_equal(reg[STEP_SP], STACK + 24);
}

/* A return of each kind of call, and of none. */
TEST(calls)
{
	static const struct {
		const char *code;
		size_t len;
		bool call;
	} calls[] = {
		{"\xe8\x01\x02\x03\x04", 5, true},
		{"\xff\xd0", 2, true},
		{"\x41\xff\xd4", 3, true},
		{"\xff\x53\x10", 3, true},
		{"\xff\x54\xc3\x10", 4, true},
		{"\xff\x15\x01\x02\x03\x04", 6, true},
		{"\xff\x94\xc3\x01\x02\x03\x04", 7, true},
		{"\xff\xe0", 2, false},
		{"\xe9\x01\x02\x03\x04", 5, false},
		{"\x90", 1, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		struct machine m = {.code = {0xc3}, .stack = {CODE + CALL + 16}};
		const struct step_from from = {&m, read_code, read_word};
		uint64_t ip = CODE, reg[STEP_REGS] = {[STEP_SP] = STACK};

		memcpy(m.code + CALL + 16 - calls[i].len, calls[i].code, calls[i].len);
		assert_int_equal(step_out(&from, &ip, reg), calls[i].call);
	}
}
