// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads the names of all symbols at once: a search for names looks at each of them. */
#include "code/function_search.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/parse.h"

#define PIECE	  ((size_t)64 << 10)
#define NAMES_MAX ((uint64_t)256 << 20)
#define FILE_MAX  ((uint64_t)4 << 30)
/* A larger function is not looked through. */
#define CODE_MAX ((size_t)64 << 10)

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#else
#define OWN_MACHINE EM_AARCH64
#endif

struct search {
	int fd;
	Elf *elf;
	const struct elf_facts *facts;
	const struct function_names *names;
	uint32_t *sorted; /* their numbers, in the order of the names */
	uint8_t *code;	  /* CODE_MAX bytes */
	struct symbol_budget *budget;
	struct found_function *found;
	size_t count, cap;
};

static void end_elf(Elf **elf)
{
	elf_end(*elf);
}

static size_t read_code(const struct search *s, const struct found_function *f)
{
	size_t want = f->size < CODE_MAX ? f->size : CODE_MAX;

	for (size_t i = 0; i < s->facts->segments; i++) {
		const struct elf_segment *segment = &s->facts->segment[i];
		uint64_t at = f->vaddr - segment->vaddr;
		ssize_t n;

		if (at >= segment->size)
			continue;
		n = pread(s->fd, s->code, want, (off_t)(segment->offset + at));
		return n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static void find_spot(const struct search *s, struct found_function *f)
{
	size_t len = read_code(s, f);

	memcpy(f->code, s->code, len < sizeof(f->code) ? len : sizeof(f->code));
	f->spot = probe_spot_first();
#if defined(__x86_64__)
	f->spot = probe_spot_x86(s->code, len);
	/* What was not read may jump there. */
	if (f->spot.at && len < f->size)
		f->spot = probe_spot_first();
#endif
}

/* Of a section with instructions: a segment with code may have data as well. */
static bool is_code(const struct search *s, const Elf64_Sym *sym)
{
	Elf_Scn *section = sym->st_shndx < SHN_LORESERVE ? elf_getscn(s->elf, sym->st_shndx) : NULL;
	GElf_Shdr shdr;

	return section && gelf_getshdr(section, &shdr) && shdr.sh_flags & SHF_EXECINSTR;
}

/* The place of a name in the sorted list, or of the first one behind it. */
static size_t find_name(const struct search *s, const char *name)
{
	size_t low = 0, high = s->names->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (strcmp(s->names->name[s->sorted[middle]], name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void try_symbol(struct search *s, const Elf64_Sym *sym, const char *name)
{
	struct found_function *f;
	size_t place;

	if (ELF64_ST_TYPE(sym->st_info) != STT_FUNC || !sym->st_size ||
	    sym->st_shndx == SHN_UNDEF || s->count == s->cap)
		return;
	place = find_name(s, name);
	if (place == s->names->count || strcmp(s->names->name[s->sorted[place]], name) != 0 ||
	    (ELF64_ST_BIND(sym->st_info) == STB_LOCAL && s->sorted[place] < s->names->locals) ||
	    !is_code(s, sym))
		return;
	f = &s->found[s->count++];
	*f = (struct found_function){
		.i = s->sorted[place], .vaddr = sym->st_value, .size = sym->st_size};
	find_spot(s, f);
}

/* Leaves out what begins inside of this function; and what begins before its spot may jump there.
 */
static void try_overlap(struct search *s, const Elf64_Sym *sym, const char *name)
{
	size_t kept = 0;

	(void)name;
	if (ELF64_ST_TYPE(sym->st_info) != STT_FUNC || sym->st_shndx == SHN_UNDEF)
		return;
	for (size_t i = 0; i < s->count; i++) {
		struct found_function *f = &s->found[i];

		if (f->vaddr > sym->st_value && f->vaddr - sym->st_value < sym->st_size)
			continue;
		if (sym->st_value > f->vaddr && sym->st_value - f->vaddr <= f->spot.at)
			f->spot = probe_spot_first();
		s->found[kept++] = *f;
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

/* Each step puts one name among those before it: they are few. */
static void sort_names(struct search *s)
{
	for (size_t i = 0, at; i < s->names->count; i++) {
		for (at = i; at && strcmp(s->names->name[i], s->names->name[s->sorted[at - 1]]) < 0;
		     at--)
			s->sorted[at] = s->sorted[at - 1];
		s->sorted[at] = (uint32_t)i;
	}
}

int functions_find(int fd, const struct elf_facts *facts, const struct function_names *names,
		   struct symbol_budget *budget, struct found_function *ret, size_t cap)
{
	cleanup(end_elf) Elf *elf = elf_open_file(fd);
	cleanup_free uint32_t *sorted = calloc(names->count + 1, sizeof(*sorted));
	cleanup_free uint8_t *code = malloc(CODE_MAX);
	struct search s = {.fd = fd,
			   .elf = elf,
			   .facts = facts,
			   .names = names,
			   .sorted = sorted,
			   .code = code,
			   .budget = budget,
			   .found = ret,
			   .cap = cap};
	GElf_Ehdr header;
	int r;

	/* An emulator maps code of another machine as code (box64, qemu-user). */
	if (!elf || !gelf_getehdr(elf, &header) || header.e_machine != OWN_MACHINE)
		return 0;
	if (!sorted || !code)
		return -ENOMEM;
	sort_names(&s);
	r = search_tables(&s, SHT_SYMTAB);
	if (r == 0)
		r = search_tables(&s, SHT_DYNSYM);
	return r < 0 ? r : (int)s.count;
}

/* ---- a version ---- */

#define VERSION_BEGIN 32 /* as long as it may be until its hash */

/* "5.3.0-0-g": three numbers, and one more. *ret: how long the first three are. */
static bool is_version(const char *s, size_t len, size_t *ret)
{
	static const char behind[] = "..--";
	size_t pos = 0;

	for (size_t i = 0; behind[i]; i++) {
		size_t start = pos;

		while (pos < len && is_digit(s[pos]))
			pos++;
		if (pos == start || pos >= len || s[pos++] != behind[i])
			return false;
		if (i == 2)
			*ret = pos - 1;
	}
	return pos < len && s[pos] == 'g';
}

/* A text of the data begins where another one ends. */
static bool find_version(const char *data, size_t len, char ret[CODE_VERSION_MAX])
{
	size_t size = 0;

	for (size_t at = 1; at < len; at++) {
		if (data[at - 1] || !is_digit(data[at]) ||
		    !is_version(data + at, len - at, &size) || size >= CODE_VERSION_MAX)
			continue;
		memcpy(ret, data + at, size);
		ret[size] = '\0';
		return true;
	}
	return false;
}

static int search_data(int fd, const GElf_Shdr *shdr, char ret[CODE_VERSION_MAX])
{
	cleanup_free char *piece = malloc(PIECE);
	uint64_t left = shdr->sh_size, at = shdr->sh_offset;

	while (piece && left > VERSION_BEGIN) {
		ssize_t n = pread(fd, piece, left < PIECE ? left : PIECE, (off_t)at);

		if (n <= VERSION_BEGIN)
			return -ENOENT;
		if (find_version(piece, (size_t)n, ret))
			return 0;
		/* The next piece begins with the end of this one. */
		left -= (uint64_t)n - VERSION_BEGIN;
		at += (uint64_t)n - VERSION_BEGIN;
	}
	return piece ? -ENOENT : -ENOMEM;
}

int jemalloc_version(int fd, struct symbol_budget *budget, char ret[CODE_VERSION_MAX])
{
	cleanup(end_elf) Elf *elf = elf_open_file(fd);
	Elf_Scn *section = NULL;
	GElf_Shdr shdr;

	while (elf && (section = elf_nextscn(elf, section))) {
		const char *name =
			gelf_getshdr(section, &shdr) ? elf_section_name(elf, &shdr) : NULL;

		if (!name || strcmp(name, ".rodata") != 0 || shdr.sh_type != SHT_PROGBITS ||
		    shdr.sh_flags & SHF_COMPRESSED || shdr.sh_offset > FILE_MAX)
			continue;
		if (shdr.sh_size > NAMES_MAX || budget->bytes < shdr.sh_size)
			return -EFBIG;
		budget->bytes -= shdr.sh_size;
		return search_data(fd, &shdr, ret);
	}
	return -ENOENT;
}
