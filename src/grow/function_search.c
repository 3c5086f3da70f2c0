// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads the names of all symbols at once: a search for names looks at each of them. */
#include "grow/function_search.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

#define PIECE	  ((size_t)64 << 10)
#define NAMES_MAX ((uint64_t)256 << 20)
#define FILE_MAX  ((uint64_t)4 << 30)

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#else
#define OWN_MACHINE EM_AARCH64
#endif

struct search {
	int fd;
	Elf *elf;
	const struct elf_facts *facts;
	const char *const *name;
	size_t names;
	struct symbol_budget *budget;
	struct found_function *found;
	size_t count, cap;
};

static void end_elf(Elf **elf)
{
	elf_end(*elf);
}

static void read_code(const struct search *s, struct found_function *f)
{
	for (size_t i = 0; i < s->facts->segments; i++) {
		const struct elf_segment *segment = &s->facts->segment[i];
		uint64_t at = f->vaddr - segment->vaddr;

		if (at >= segment->size)
			continue;
		if (pread(s->fd, f->code, sizeof(f->code), (off_t)(segment->offset + at)) < 0)
			memset(f->code, 0, sizeof(f->code));
		return;
	}
}

/* Of a section with instructions: a segment with code may have data as well. */
static bool is_code(const struct search *s, const Elf64_Sym *sym)
{
	Elf_Scn *section = sym->st_shndx < SHN_LORESERVE ? elf_getscn(s->elf, sym->st_shndx) : NULL;
	GElf_Shdr shdr;

	return section && gelf_getshdr(section, &shdr) && shdr.sh_flags & SHF_EXECINSTR;
}

static void try_symbol(struct search *s, const Elf64_Sym *sym, const char *name)
{
	if (ELF64_ST_TYPE(sym->st_info) != STT_FUNC || !sym->st_size ||
	    sym->st_shndx == SHN_UNDEF || ELF64_ST_BIND(sym->st_info) == STB_LOCAL)
		return;
	for (size_t i = 0; i < s->names && s->count < s->cap; i++) {
		if (strcmp(s->name[i], name) != 0)
			continue;
		if (!is_code(s, sym))
			return;
		s->found[s->count] = (struct found_function){
			.i = (uint32_t)i, .vaddr = sym->st_value, .size = sym->st_size};
		read_code(s, &s->found[s->count++]);
		return;
	}
}

/* Leaves out what begins inside of this function. */
static void try_overlap(struct search *s, const Elf64_Sym *sym, const char *name)
{
	size_t kept = 0;

	(void)name;
	if (ELF64_ST_TYPE(sym->st_info) != STT_FUNC || sym->st_shndx == SHN_UNDEF)
		return;
	for (size_t i = 0; i < s->count; i++) {
		if (s->found[i].vaddr <= sym->st_value ||
		    s->found[i].vaddr - sym->st_value >= sym->st_size)
			s->found[kept++] = s->found[i];
	}
	s->count = kept;
}

static bool spend(struct search *s, uint64_t bytes, uint64_t steps)
{
	if (s->budget->bytes < bytes || s->budget->steps < steps)
		return false;
	s->budget->bytes -= bytes;
	s->budget->steps -= steps;
	return true;
}

static void each_symbol(struct search *s, const GElf_Shdr *shdr, const char *text, size_t len,
			void (*fn)(struct search *s, const Elf64_Sym *sym, const char *name))
{
	cleanup_free Elf64_Sym *piece = malloc(PIECE);
	uint64_t left = shdr->sh_size / sizeof(*piece), at = shdr->sh_offset;

	while (piece && left) {
		size_t want = left < PIECE / sizeof(*piece) ? left : PIECE / sizeof(*piece), have;
		ssize_t n = pread(s->fd, piece, want * sizeof(*piece), (off_t)at);

		have = n > 0 ? (size_t)n / sizeof(*piece) : 0;
		if (!have)
			return;
		for (size_t i = 0; i < have; i++) {
			if (piece[i].st_name < len)
				fn(s, &piece[i], text + piece[i].st_name);
		}
		left -= have;
		at += have * sizeof(*piece);
	}
}

static int search_table(struct search *s, const GElf_Shdr *shdr, const GElf_Shdr *names)
{
	uint64_t symbols = shdr->sh_size / sizeof(Elf64_Sym);
	cleanup_free char *text = NULL;
	ssize_t len;

	if (!spend(s, names->sh_size + shdr->sh_size, symbols))
		return -EFBIG;
	text = malloc(names->sh_size + 1);
	if (!text)
		return -ENOMEM;
	len = pread(s->fd, text, names->sh_size, (off_t)names->sh_offset);
	if (len <= 0)
		return 0;
	text[len] = '\0';
	each_symbol(s, shdr, text, (size_t)len, try_symbol);
	if (!s->count)
		return 0;
	if (!spend(s, shdr->sh_size, symbols)) {
		s->count = 0;
		return -EFBIG;
	}
	each_symbol(s, shdr, text, (size_t)len, try_overlap);
	return 0;
}

/* Returns 1 if there was a table of this type, 0, or a negative errno. */
static int search_tables(struct search *s, unsigned type)
{
	Elf_Scn *section = NULL;
	GElf_Shdr shdr, names;

	while ((section = elf_nextscn(s->elf, section))) {
		int r;

		if (!gelf_getshdr(section, &shdr) || shdr.sh_type != type ||
		    shdr.sh_entsize != sizeof(Elf64_Sym) || shdr.sh_flags & SHF_COMPRESSED ||
		    !gelf_getshdr(elf_getscn(s->elf, shdr.sh_link), &names) ||
		    names.sh_type != SHT_STRTAB || names.sh_flags & SHF_COMPRESSED ||
		    names.sh_size > NAMES_MAX || shdr.sh_offset > FILE_MAX ||
		    shdr.sh_size > FILE_MAX || names.sh_offset > FILE_MAX)
			continue;
		r = search_table(s, &shdr, &names);
		return r < 0 ? r : 1;
	}
	return 0;
}

int functions_find(int fd, const struct elf_facts *facts, const char *const *name, size_t names,
		   struct symbol_budget *budget, struct found_function *ret, size_t cap)
{
	cleanup(end_elf) Elf *elf = elf_open_file(fd);
	struct search s = {.fd = fd,
			   .elf = elf,
			   .facts = facts,
			   .name = name,
			   .names = names,
			   .budget = budget,
			   .found = ret,
			   .cap = cap};
	GElf_Ehdr header;
	int r;

	/* An emulator maps code of another machine as code (box64, qemu-user). */
	if (!elf || !gelf_getehdr(elf, &header) || header.e_machine != OWN_MACHINE)
		return 0;
	r = search_tables(&s, SHT_SYMTAB);
	if (r == 0)
		r = search_tables(&s, SHT_DYNSYM);
	return r < 0 ? r : (int)s.count;
}
