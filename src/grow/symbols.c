// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads symbols by libelf. The file may be anybody's: libelf checks its structure. */
#include "grow/symbols.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/array.h"
#include "base/cleanup.h"

#define FILE_MAX    ((off_t)4 << 30)
#define SYMBOLS_MAX (8u << 20)
#define SECTION_MAX ((uint64_t)512 << 20) /* of what is read: symbols, their names */
#define CHECKED_MAX ((off_t)1 << 30)	  /* of a file whose checksum decides */
#define NAMES_MAX   (1u << 20)		  /* of the names of sections */
/* A symbol may contain others: so many before an address are looked at. */
#define NESTED_MAX 16

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define HOST_DATA ELFDATA2LSB
#else
#define HOST_DATA ELFDATA2MSB
#endif

struct symbol {
	uint64_t start, size;
	const char *name; /* of the ELF file */
	bool global;
};

struct symbols {
	Elf *elf[2];
	struct symbol *item;
	size_t count, capacity;
};

/* libelf allocates for all sections that the header promises, so it is looked at before. */
static bool has_sane_header(int fd)
{
	Elf64_Ehdr e;

	return pread(fd, &e, sizeof(e), 0) == sizeof(e) &&
	       memcmp(e.e_ident, ELFMAG, SELFMAG) == 0 && e.e_ident[EI_CLASS] == ELFCLASS64 &&
	       e.e_ident[EI_DATA] == HOST_DATA &&
	       /* 0 with sections: there are more than 65,279, and no linker makes such a program.
		*/
	       (e.e_shnum || !e.e_shoff) && e.e_phnum != PN_XNUM;
}

Elf *elf_open(int fd)
{
	struct stat st;
	Elf *elf;

	if (elf_version(EV_CURRENT) == EV_NONE || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    st.st_size > FILE_MAX || !has_sane_header(fd))
		return NULL;
	/* Read, not mapped: a file that is truncated meanwhile would end the program. */
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) != ELF_K_ELF) {
		elf_end(elf);
		return NULL;
	}
	return elf;
}

static void end_elf(Elf **elf)
{
	elf_end(*elf);
}

/* libelf reads a section as a whole; a compressed one may become any size. */
static bool may_read(const GElf_Shdr *shdr, uint64_t max)
{
	return shdr->sh_size <= max && !(shdr->sh_flags & SHF_COMPRESSED);
}

static bool may_read_strings(Elf *elf, size_t section, uint64_t max)
{
	GElf_Shdr shdr;

	return gelf_getshdr(elf_getscn(elf, section), &shdr) && may_read(&shdr, max);
}

static const char *section_name(Elf *elf, GElf_Shdr *shdr)
{
	size_t names;

	if (elf_getshdrstrndx(elf, &names) < 0 || !may_read_strings(elf, names, NAMES_MAX))
		return NULL;
	return elf_strptr(elf, names, shdr->sh_name);
}

/* ---- facts ---- */

static void read_note(Elf_Data *data, struct elf_facts *f)
{
	size_t at = 0, name_at, desc_at;
	GElf_Nhdr n;

	while (data && at < data->d_size && (at = gelf_getnote(data, at, &n, &name_at, &desc_at))) {
		const char *bytes = data->d_buf;

		if (n.n_type != NT_GNU_BUILD_ID || n.n_namesz != 4 ||
		    memcmp(bytes + name_at, "GNU", 4) != 0 || n.n_descsz > BUILD_ID_MAX)
			continue;
		memcpy(f->build_id, bytes + desc_at, n.n_descsz);
		f->build_id_len = n.n_descsz;
	}
}

/* A name, padded to 4 bytes, and a checksum of the file. */
static void read_debug_link(const Elf_Data *data, struct elf_facts *f)
{
	size_t len, crc_at;

	if (!data || !data->d_buf)
		return;
	len = strnlen(data->d_buf, data->d_size);
	crc_at = (len + 4) & ~(size_t)3;
	if (!len || len >= sizeof(f->debug_link) || crc_at + 4 > data->d_size ||
	    memchr(data->d_buf, '/', len))
		return;
	memcpy(f->debug_link, data->d_buf, len + 1);
	memcpy(&f->debug_crc, (const char *)data->d_buf + crc_at, 4);
}

static void read_sections(Elf *elf, struct elf_facts *f)
{
	Elf_Scn *section = NULL;
	GElf_Shdr shdr;

	while ((section = elf_nextscn(elf, section))) {
		const char *name;

		if (!gelf_getshdr(section, &shdr) || shdr.sh_type == SHT_NOBITS)
			continue;
		if (shdr.sh_type == SHT_SYMTAB)
			f->has_symtab = true;
		if (!may_read(&shdr, NAMES_MAX))
			continue;
		name = section_name(elf, &shdr);
		if (shdr.sh_type == SHT_NOTE)
			read_note(elf_getdata(section, NULL), f);
		else if (name && strcmp(name, ".gnu_debuglink") == 0)
			read_debug_link(elf_getdata(section, NULL), f);
	}
}

int elf_read_facts(int fd, struct elf_facts *ret)
{
	cleanup(end_elf) Elf *elf = elf_open(fd);
	struct elf_facts f = {};
	size_t count;
	GElf_Phdr p;

	if (!elf || elf_getphdrnum(elf, &count) < 0)
		return -ENOEXEC;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_LOAD)
			continue;
		f.first_vaddr = p.p_align ? p.p_vaddr & -p.p_align : p.p_vaddr;
		break;
	}
	read_sections(elf, &f);
	*ret = f;
	return 0;
}

int elf_find_vaddr(int fd, uint64_t offset, uint64_t *ret)
{
	cleanup(end_elf) Elf *elf = elf_open(fd);
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	size_t count;
	GElf_Phdr p;

	if (!elf || elf_getphdrnum(elf, &count) < 0)
		return -ENOENT;
	for (size_t i = 0; i < count; i++) {
		/* A page of a file may be in two segments. */
		if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_LOAD || !(p.p_flags & PF_X) ||
		    offset < (p.p_offset & -page) || offset >= p.p_offset + p.p_filesz)
			continue;
		*ret = p.p_vaddr - p.p_offset + offset;
		return 0;
	}
	return -ENOENT;
}

static bool has_checksum(int fd, uint32_t checksum)
{
	char buf[16384];
	uLong crc = crc32(0, NULL, 0);
	off_t at = 0;
	ssize_t n = -1;

	while (at < CHECKED_MAX && (n = pread(fd, buf, sizeof(buf), at)) > 0) {
		crc = crc32(crc, (const Bytef *)buf, (uInt)n);
		at += n;
	}
	return n == 0 && crc == checksum;
}

bool elf_is_debug_of(int fd, const struct elf_facts *facts)
{
	struct elf_facts own;

	if (elf_read_facts(fd, &own) < 0)
		return false;
	if (facts->build_id_len && own.build_id_len)
		return facts->build_id_len == own.build_id_len &&
		       memcmp(facts->build_id, own.build_id, own.build_id_len) == 0;
	return *facts->debug_link && has_checksum(fd, facts->debug_crc);
}

/* ---- symbols ---- */

static bool is_function(const GElf_Sym *s)
{
	int type = GELF_ST_TYPE(s->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC) && s->st_size &&
	       s->st_shndx != SHN_UNDEF;
}

static int add_symbol(struct symbols *s, const GElf_Sym *sym, const char *name)
{
	struct symbol *moved = grow_items(s->item, s->count, &s->capacity, 1024, sizeof(*s->item));

	if (!moved)
		return -ENOMEM;
	s->item = moved;
	s->item[s->count++] = (struct symbol){
		.start = sym->st_value,
		.size = sym->st_size,
		.name = name,
		.global = GELF_ST_BIND(sym->st_info) == STB_GLOBAL,
	};
	return 0;
}

static int add_table(struct symbols *s, Elf *elf, Elf_Scn *section, const GElf_Shdr *shdr)
{
	size_t count = shdr->sh_entsize ? shdr->sh_size / shdr->sh_entsize : 0;
	Elf_Data *data;
	GElf_Sym sym;
	int r = 0;

	if (!may_read(shdr, SECTION_MAX) || !may_read_strings(elf, shdr->sh_link, SECTION_MAX))
		return 0;
	data = elf_getdata(section, NULL);

	for (size_t i = 0; r == 0 && data && i < count && s->count < SYMBOLS_MAX; i++) {
		const char *name;

		if (!gelf_getsym(data, (int)i, &sym) || !is_function(&sym))
			continue;
		name = elf_strptr(elf, shdr->sh_link, sym.st_name);
		if (name && *name)
			r = add_symbol(s, &sym, name);
	}
	return r;
}

/* Adds the tables of one type. Returns 1 if there was one, 0, or a negative errno. */
static int add_tables(struct symbols *s, Elf *elf, unsigned type)
{
	Elf_Scn *section = NULL;
	GElf_Shdr shdr;
	int r = 0, found = 0;

	while (r == 0 && elf && (section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &shdr) || shdr.sh_type != type)
			continue;
		r = add_table(s, elf, section, &shdr);
		found = 1;
	}
	return r < 0 ? r : found;
}

/* By address; of several at one address the best name last. */
static int compare(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	if (x->global != y->global)
		return x->global ? 1 : -1;
	/* "malloc" rather than "__libc_malloc". */
	return strspn(x->name, "_") != strspn(y->name, "_")
		       ? (strspn(x->name, "_") > strspn(y->name, "_") ? -1 : 1)
		       : strcmp(y->name, x->name);
}

int symbols_read(int fd, int debug_fd, struct symbols **ret)
{
	struct symbols *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->elf[0] = elf_open(fd);
	s->elf[1] = debug_fd < 0 ? NULL : elf_open(debug_fd);
	r = s->elf[0] ? add_tables(s, s->elf[0], SHT_SYMTAB) : -ENOEXEC;
	/* .symtab has all that .dynsym has. */
	if (r == 0)
		r = add_tables(s, s->elf[1], SHT_SYMTAB);
	if (r == 0)
		r = add_tables(s, s->elf[0], SHT_DYNSYM);
	if (r < 0) {
		symbols_free(s);
		return r;
	}
	if (s->count)
		qsort(s->item, s->count, sizeof(*s->item), compare);
	*ret = s;
	return 0;
}

const char *symbols_find(const struct symbols *s, uint64_t vaddr, uint64_t *ret_start)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->item[middle].start <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i-- > 0 && low - i <= NESTED_MAX;) {
		if (vaddr - s->item[i].start >= s->item[i].size)
			continue;
		*ret_start = s->item[i].start;
		return s->item[i].name;
	}
	return NULL;
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	elf_end(s->elf[0]);
	elf_end(s->elf[1]);
	free(s->item);
	free(s);
}
