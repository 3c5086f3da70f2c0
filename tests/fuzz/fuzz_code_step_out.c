// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Code that is followed to its return, whatever it is: it ends soon, a caller's stack is above, and
 * without a return nothing changes. Each half of the input is code and a stack.
 */
#include "code/probe_spot.h"
#include "code/step_out.h"
#include "fuzz.h"

#define CODE  0x1000
#define STACK 0x7000

struct machine {
	const uint8_t *code, *stack;
	size_t code_len, stack_len;
	unsigned reads;
};

static size_t read_code(void *arg, uint64_t address, unsigned char *buf, size_t len)
{
	struct machine *m = arg;
	uint64_t at = address - CODE;

	m->reads++;
	if (at >= m->code_len)
		return 0;
	if (len > m->code_len - at)
		len = m->code_len - at;
	memcpy(buf, m->code + at, len);
	return len;
}

static bool read_word(void *arg, uint64_t address, uint64_t *ret)
{
	struct machine *m = arg;
	uint64_t at = address - STACK;

	m->reads++;
	if (at >= m->stack_len || m->stack_len - at < sizeof(*ret))
		return false;
	memcpy(ret, m->stack + at, sizeof(*ret));
	return true;
}

/* Where a probe would stand in a function of this code. */
static void check_spot(const uint8_t *code, size_t size)
{
	struct probe_spot spot = probe_spot_x86(code, size);

	FUZZ_CHECK(!spot.at || (spot.at < size && spot.flags & SPOT_EMULATED));
	for (size_t i = 0; i < SPOT_ARGUMENTS; i++)
		FUZZ_CHECK(spot.word[i] <= SPOT_LOST);
}

const unsigned fuzz_changes = 20000;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct machine m = {data, data + size / 2, size / 2, size - size / 2, 0};
	const struct step_from from = {&m, read_code, read_word};
	uint64_t ip = CODE, reg[STEP_REGS], before[STEP_REGS];

	for (unsigned i = 0; i < STEP_REGS; i++)
		reg[i] = STACK + i * 8;
	reg[STEP_SP] = STACK;
	memcpy(before, reg, sizeof(before));
	if (step_out(&from, &ip, reg))
		FUZZ_CHECK(reg[STEP_SP] > STACK && ip != CODE);
	else
		FUZZ_CHECK(ip == CODE && memcmp(reg, before, sizeof(before)) == 0);
	FUZZ_CHECK(m.reads < 10000);
	check_spot(data, size);
	return 0;
}
