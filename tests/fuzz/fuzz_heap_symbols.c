// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Programs, their tables of functions, and their files with debugging symbols: what is read of them
 * stays within the budget, a function does not begin behind its address, and a part of the budget
 * never finds another name than the whole.
 */
#include <sys/mman.h>

#include "code/function_search.h"
#include "code/functions.h"
#include "fuzz.h"
#include "heap/allocators.h"

#define BYTES (8 << 20)
#define STEPS 100000

static int put(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	FUZZ_CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	return fd;
}

/* Some that small programs have, in ascending order. */
static const uint64_t address[] = {0,	     1,	       16,	 0x100,	   0x1000,
				   0x1008,   0x1010,   0x1018,	 0x1080,   0x1234,
				   0x401000, 0x401010, 0x401080, 0x401234, UINT64_MAX};

#define ADDRESSES (sizeof(address) / sizeof(*address))

static int name(int fd, uint64_t steps, struct code_name *wanted, struct arena *names)
{
	struct symbol_budget budget = {.bytes = BYTES, .steps = steps};
	int r;

	for (size_t i = 0; i < ADDRESSES; i++)
		wanted[i] = (struct code_name){.address = address[i]};
	r = functions_name(fd, fd, wanted, ADDRESSES, &budget, names);

	FUZZ_CHECK(budget.bytes <= BYTES && budget.steps <= steps);
	for (size_t i = 0; i < ADDRESSES; i++) {
		FUZZ_CHECK(r == 0 || (!wanted[i].name && !wanted[i].start));
		FUZZ_CHECK(wanted[i].start <= wanted[i].address);
		FUZZ_CHECK(!wanted[i].name || (strlen(wanted[i].name) <= SYMBOL_NAME_MAX &&
					       wanted[i].start <= wanted[i].address));
	}
	return r;
}

/* What is found is a function of the list, and the same budget is enough again. */
static void find(int fd, const struct elf_facts *facts)
{
	static const char *const name[] = {"main", "malloc", "_start"};
	const struct function_names wanted = {name, 3, 1};
	struct symbol_budget budget = {.bytes = BYTES, .steps = STEPS};
	struct found_function found[64];
	struct probe_place place[PROBES_MAX];
	int n = functions_find(fd, facts, &wanted, &budget, found, 64);

	FUZZ_CHECK(n <= 64 && budget.bytes <= BYTES && budget.steps <= STEPS);
	for (int i = 0; i < n; i++)
		FUZZ_CHECK(found[i].i < 3 && found[i].spot.at < found[i].size);
	if (n > 0)
		FUZZ_CHECK(allocator_places(facts, found, (size_t)n, place) <= PROBES_MAX);
}

const unsigned fuzz_changes = 2000;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct code_name all[ADDRESSES], part[ADDRESSES];
	struct arena names = {};
	struct elf_facts facts;
	int fd = put(data, size);
	uint64_t vaddr;
	Elf *elf;

	if (elf_read_facts(fd, &facts) == 0) {
		FUZZ_CHECK(facts.segments <= SEGMENTS_MAX && facts.build_id_len <= BUILD_ID_MAX);
		FUZZ_CHECK(strnlen(facts.debug_link, sizeof(facts.debug_link)) <
			   sizeof(facts.debug_link));
		FUZZ_CHECK(!strchr(facts.debug_link, '/'));
		elf_find_vaddr(&facts, 0x1000, &vaddr);
		elf_is_debug_of(fd, &facts);
		find(fd, &facts);
	}
	elf = elf_open_tables(fd);
	if (elf)
		elf_end(elf);
	if (name(fd, STEPS, all, &names) == 0 && name(fd, 8, part, &names) == 0) {
		for (size_t i = 0; i < ADDRESSES; i++)
			FUZZ_CHECK(!part[i].name == !all[i].name && part[i].start == all[i].start &&
				   (!all[i].name || strcmp(part[i].name, all[i].name) == 0));
	}
	arena_done(&names);
	close(fd);
	return 0;
}
