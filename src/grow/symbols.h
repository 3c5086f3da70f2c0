/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions of an ELF file: .symtab, .dynsym, and the separate file with debugging symbols. An
 * address has the name of the function that contains it, or none: never that of the nearest one.
 */
#ifndef ZMEM_GROW_SYMBOLS_H
#define ZMEM_GROW_SYMBOLS_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbols;

#define BUILD_ID_MAX 64

struct elf_facts {
	uint64_t first_vaddr; /* of the first loaded segment, by its alignment */
	uint8_t build_id[BUILD_ID_MAX];
	size_t build_id_len;  /* 0: it has none */
	char debug_link[256]; /* .gnu_debuglink; "": it has none */
	uint32_t debug_crc;
	bool has_symtab;
};

/*
 * The open file, NULL if it is no ELF file of ours or its headers promise too much. It is read, not
 * mapped. The caller ends it.
 */
Elf *elf_open(int fd);
/* Reads facts of the open file. Returns 0, or a negative errno if it is no ELF file of ours. */
int elf_read_facts(int fd, struct elf_facts *ret);
/* The address in the file's own terms of the code at `offset`. Returns 0, or -ENOENT. */
int elf_find_vaddr(int fd, uint64_t offset, uint64_t *ret);
/* Whether the open file is the one with the debugging symbols of these facts. */
bool elf_is_debug_of(int fd, const struct elf_facts *facts);

/* Reads the symbols of an open file, and adds those of its debug file; -1: there is none. */
int symbols_read(int fd, int debug_fd, struct symbols **ret);
/* The function that contains the address, NULL if none is known; *ret_start: its beginning. */
const char *symbols_find(const struct symbols *s, uint64_t vaddr, uint64_t *ret_start);
void symbols_free(struct symbols *s);

#endif
