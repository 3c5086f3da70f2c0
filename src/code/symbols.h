/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The symbols of an ELF file: .symtab, .dynsym, and the separate file with debugging symbols. An
 * address has the name of the function that contains it. Assembler code often has symbols without a
 * size: an address behind one of these has its name with a '~', for that is a guess, unless it is
 * known that this function ended before.
 */
#ifndef ZMEM_CODE_SYMBOLS_H
#define ZMEM_CODE_SYMBOLS_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "code/code_space.h"

#define BUILD_ID_MAX 64

#define SEGMENTS_MAX 16

struct elf_facts {
	uint64_t first_vaddr; /* of the first loaded segment, by its alignment */
	/* The loaded segments with code; of more than there is room for, the first ones. */
	struct elf_segment {
		uint64_t offset, size; /* in the file */
		uint64_t vaddr;
	} segment[SEGMENTS_MAX];
	uint32_t segments;
	uint8_t build_id[BUILD_ID_MAX];
	size_t build_id_len;  /* 0: it has none */
	char debug_link[256]; /* .gnu_debuglink; "": it has none */
	uint32_t debug_crc;
	bool has_symtab;
	bool has_lines; /* .debug_line: it was built with debugging information */
};

/*
 * The open file, NULL if it is no ELF file of ours or its headers promise too much. It is read, not
 * mapped. The caller ends it.
 */
Elf *elf_open_file(int fd);
/* The same for libdw: NULL also if the sections of the file would cost too much. */
Elf *elf_open_tables(int fd);
/* Ends it: a cleanup function. */
static inline void elf_done(Elf **elf)
{
	elf_end(*elf);
}

/* Reads facts of the open file. Returns 0, or a negative errno if it is no ELF file of ours. */
int elf_read_facts(int fd, struct elf_facts *ret);
/* The address in the file's own terms of the page with code at `offset`. Returns 0, or -ENOENT. */
int elf_find_vaddr(const struct elf_facts *facts, uint64_t offset, uint64_t *ret);
/*
 * Finds where an address of the file is in the file: in the segment that has it. *ret_left: how
 * many bytes of the segment follow. False: no segment has it.
 */
bool elf_find_offset(const struct elf_segment *segment, size_t count, uint64_t vaddr, uint64_t *ret,
		     uint64_t *ret_left);
/* Reads up to `len` bytes of code at such an address. Returns how many. */
size_t elf_read_code(int fd, const struct elf_facts *facts, uint64_t vaddr, void *buf, size_t len);
/* Whether the open file is the one with the debugging symbols of these facts. */
bool elf_is_debug_of(int fd, const struct elf_facts *facts);

#define SYMBOL_NAME_MAX 4095 /* bytes; longer names are cut */

/* What reading may still cost; both become less. */
struct symbol_budget {
	uint64_t bytes; /* of files */
	uint64_t steps; /* symbols, and addresses that one contains */
};

/* Takes an amount from what is left. If that is not enough, nothing is left. */
bool symbol_budget_spend(uint64_t *left, uint64_t amount);

/* Reads up to `len` bytes of a file, which are taken from the budget. Returns how many. */
size_t elf_read_some(int fd, uint64_t offset, void *buf, size_t len, struct symbol_budget *budget);

/* A table of symbols, and of their names; compressed ones are none. */
struct symbol_table {
	uint64_t offset, size; /* in the file */
	uint64_t names_offset, names_size;
};

/*
 * Finds the table of this type, SHT_SYMTAB or SHT_DYNSYM. Of several the first one counts: no
 * linker makes two.
 */
bool symbol_table_find(Elf *elf, unsigned type, struct symbol_table *ret);
/*
 * Calls fn for each symbol. The table is read in pieces, so that its size costs no memory. Returns
 * 0, -ENOMEM, or -EFBIG if the budget was not enough.
 */
int symbol_table_each(int fd, const struct symbol_table *t, struct symbol_budget *budget,
		      void (*fn)(void *arg, const Elf64_Sym *symbol), void *arg);

/* The name of a section of the open file; NULL: none is known. */
const char *elf_section_name(Elf *elf, const GElf_Shdr *section);

/* Where a function begins and ends; end 0: none is known. */
struct code_span {
	uint64_t start, end;
};

/*
 * Names addresses, which are in ascending order and have no name, by an open file and its debug
 * file (-1: there is none). Of several functions around an address the innermost counts. `span`:
 * for each address the last function that begins there or before, as another table knows it. The
 * names are in the arena. Returns 0 or a negative errno, and then nothing has a name: -ENOMEM;
 * -EFBIG if the budget was not enough.
 */
int symbols_name(int fd, int debug_fd, struct code_name *wanted, const struct code_span *span,
		 size_t count, struct symbol_budget *budget, struct arena *names);

#endif
