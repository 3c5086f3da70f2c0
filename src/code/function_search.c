// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads the names of all symbols at once: a search for names looks at each of them. */
#include "code/function_search.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
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
	const char *text; /* all names */
	size_t text_len;
	struct found_function *found;
	size_t count, cap;
};

static void find_spot(const struct search *s, struct found_function *f)
{
#if defined(__x86_64__)
	size_t want = f->size < CODE_MAX ? f->size : CODE_MAX;
	size_t len = elf_read_code(s->fd, s->facts, f->vaddr, s->code, want);

	f->spot = probe_spot_x86(s->code, len);
	/* What was not read may jump there. */
	if (f->spot.at && len < f->size)
		f->spot = probe_spot_first();
#else
	(void)s;
	f->spot = probe_spot_first();
#endif
}

/* Whether the symbol is in a section of instructions: segments with code may have data, too. */
static bool is_code(const struct search *s, const Elf64_Sym *sym)
{
	Elf_Scn *section = sym->st_shndx < SHN_LORESERVE ? elf_getscn(s->elf, sym->st_shndx) : NULL;
	GElf_Shdr shdr;

	return section && gelf_getshdr(section, &shdr) && shdr.sh_flags & SHF_EXECINSTR;
}

struct sought {
	const char *const *names;
	const char *name;
};

static bool is_name_before(const void *number, const void *arg)
{
	const struct sought *s = arg;

	return strcmp(s->names[*(const uint32_t *)number], s->name) < 0;
}

static int compare_names(const void *a, const void *b, void *arg)
{
	const char *const *names = arg;

	return strcmp(names[*(const uint32_t *)a], names[*(const uint32_t *)b]);
}

static void try_symbol(void *arg, const Elf64_Sym *sym)
{
	struct search *s = arg;
	struct found_function *f;
	const char *name;
	size_t place;

	if (ELF64_ST_TYPE(sym->st_info) != STT_FUNC || !sym->st_size ||
	    sym->st_shndx == SHN_UNDEF || s->count == s->cap || sym->st_name >= s->text_len)
		return;
	name = s->text + sym->st_name;
	place = count_before(s->sorted, s->names->count, sizeof(*s->sorted), is_name_before,
			     &(struct sought){s->names->name, name});
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
static void try_overlap(void *arg, const Elf64_Sym *sym)
{
	struct search *s = arg;
	size_t kept = 0;

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

static int search_table(struct search *s, const struct symbol_table *t,
			struct symbol_budget *budget)
{
	cleanup_free char *text = NULL;
	int r;

	if (t->names_size > NAMES_MAX)
		return 0;
	text = malloc(t->names_size + 1);
	if (!text)
		return -ENOMEM;
	s->text = text;
	s->text_len = elf_read_some(s->fd, t->names_offset, text, t->names_size, budget);
	text[s->text_len] = '\0';
	r = symbol_table_each(s->fd, t, budget, try_symbol, s);
	if (r == 0 && s->count)
		r = symbol_table_each(s->fd, t, budget, try_overlap, s);
	return r;
}

int functions_find(int fd, const struct elf_facts *facts, const struct function_names *names,
		   struct symbol_budget *budget, struct found_function *ret, size_t cap)
{
	cleanup(elf_done) Elf *elf = elf_open_file(fd);
	cleanup_free uint32_t *sorted = calloc(names->count + 1, sizeof(*sorted));
	cleanup_free uint8_t *code = malloc(CODE_MAX);
	struct search s = {.fd = fd,
			   .elf = elf,
			   .facts = facts,
			   .names = names,
			   .sorted = sorted,
			   .code = code,
			   .found = ret,
			   .cap = cap};
	struct symbol_table table;
	GElf_Ehdr header;
	int r = 0;

	/* An emulator maps code of another machine as code (box64, qemu-user). */
	if (!elf || !gelf_getehdr(elf, &header) || header.e_machine != OWN_MACHINE)
		return 0;
	if (!sorted || !code)
		return -ENOMEM;
	for (size_t i = 0; i < names->count; i++)
		sorted[i] = (uint32_t)i;
	sort_items(sorted, names->count, sizeof(*sorted), compare_names, (void *)names->name);
	if (symbol_table_find(elf, SHT_SYMTAB, &table) ||
	    symbol_table_find(elf, SHT_DYNSYM, &table))
		r = search_table(&s, &table, budget);
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
	cleanup(elf_done) Elf *elf = elf_open_file(fd);
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
