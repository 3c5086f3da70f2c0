// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads symbols by libelf. The file may be of any user: libelf checks its structure. */
#include "code/symbols.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/cleanup.h"

#define FILE_MAX     ((off_t)4 << 30)
#define PIECE	     ((size_t)64 << 10)
#define CHECKED_MAX  ((off_t)1 << 30)	   /* of a file with a checksum that decides */
#define NAMES_MAX    (1u << 20)		   /* of the names of sections */
#define UNPACKED_MAX ((uint64_t)256 << 20) /* of all compressed sections */
#define HOLES	     16			   /* a file may be so many times as large as on the disk */
#define NOTES_MAX    (4u << 20) /* of all sections that are looked into; libelf keeps them */

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define HOST_DATA ELFDATA2LSB
#else
#define HOST_DATA ELFDATA2MSB
#endif

/* libelf allocates for all sections that the header promises, so it is looked at before. */
static bool has_sane_header(int fd)
{
	Elf64_Ehdr e;

	return pread(fd, &e, sizeof(e), 0) == sizeof(e) &&
	       memcmp(e.e_ident, ELFMAG, SELFMAG) == 0 && e.e_ident[EI_CLASS] == ELFCLASS64 &&
	       e.e_ident[EI_DATA] == HOST_DATA &&
	       /* 0 with sections: more than 65,279, and no linker makes such a program. */
	       (e.e_shnum || !e.e_shoff) && e.e_phnum != PN_XNUM;
}

Elf *elf_open_file(int fd)
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

/* libelf reads a section as a whole; a compressed one may become any size. */
static bool may_read(const GElf_Shdr *shdr, uint64_t max)
{
	return shdr->sh_size <= max && !(shdr->sh_flags & SHF_COMPRESSED);
}

const char *elf_section_name(Elf *elf, const GElf_Shdr *section)
{
	GElf_Shdr names;
	size_t number;

	if (elf_getshdrstrndx(elf, &number) < 0 || !gelf_getshdr(elf_getscn(elf, number), &names) ||
	    !may_read(&names, NAMES_MAX))
		return NULL;
	return elf_strptr(elf, number, section->sh_name);
}

/*
 * libdw reads each section with debugging symbols as a whole, and decompresses it. A program may
 * say that its sections have any size: they have holes on the disk, or become large when they are
 * decompressed. No compressing file system makes a program so small.
 */
Elf *elf_open_tables(int fd)
{
	cleanup(elf_done) Elf *elf = elf_open_file(fd);
	uint64_t size = 0, unpacked = 0;
	Elf_Scn *section = NULL;
	GElf_Shdr shdr;
	GElf_Chdr chdr;
	struct stat st;

	while (elf && (section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &shdr) || shdr.sh_type == SHT_NOBITS)
			continue;
		size += shdr.sh_size < FILE_MAX ? shdr.sh_size : FILE_MAX;
		if (shdr.sh_flags & SHF_COMPRESSED && gelf_getchdr(section, &chdr))
			unpacked += chdr.ch_size < FILE_MAX ? chdr.ch_size : FILE_MAX;
	}
	if (fstat(fd, &st) < 0 || unpacked > UNPACKED_MAX ||
	    size / HOLES > (uint64_t)st.st_blocks * 512 + NAMES_MAX)
		return NULL;
	return TAKE_PTR(elf);
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
	uint64_t left = NOTES_MAX;
	Elf_Scn *section = NULL;
	GElf_Shdr shdr;

	while ((section = elf_nextscn(elf, section))) {
		const char *name;

		if (!gelf_getshdr(section, &shdr) || shdr.sh_type == SHT_NOBITS)
			continue;
		if (shdr.sh_type == SHT_SYMTAB)
			f->has_symtab = true;
		name = elf_section_name(elf, &shdr);
		if (name && (strcmp(name, ".debug_line") == 0 || strcmp(name, ".zdebug_line") == 0))
			f->has_lines = true;
		if (shdr.sh_type != SHT_NOTE && (!name || strcmp(name, ".gnu_debuglink") != 0))
			continue;
		if (!may_read(&shdr, left))
			continue;
		left -= shdr.sh_size;
		if (shdr.sh_type == SHT_NOTE)
			read_note(elf_getdata(section, NULL), f);
		else
			read_debug_link(elf_getdata(section, NULL), f);
	}
}

static void add_segment(struct elf_facts *f, const GElf_Phdr *p, bool *first)
{
	if (*first)
		f->first_vaddr = p->p_align ? p->p_vaddr & -p->p_align : p->p_vaddr;
	*first = false;
	if (p->p_flags & PF_X && f->segments < SEGMENTS_MAX)
		f->segment[f->segments++] =
			(struct elf_segment){p->p_offset, p->p_filesz, p->p_vaddr};
}

int elf_read_facts(int fd, struct elf_facts *ret)
{
	cleanup(elf_done) Elf *elf = elf_open_file(fd);
	struct elf_facts f = {};
	bool first = true;
	size_t count;
	GElf_Phdr p;

	if (!elf || elf_getphdrnum(elf, &count) < 0)
		return -ENOEXEC;
	for (size_t i = 0; i < count; i++) {
		if (gelf_getphdr(elf, (int)i, &p) && p.p_type == PT_LOAD)
			add_segment(&f, &p, &first);
	}
	read_sections(elf, &f);
	*ret = f;
	return 0;
}

int elf_find_vaddr(const struct elf_facts *facts, uint64_t offset, uint64_t *ret)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < facts->segments; i++) {
		const struct elf_segment *s = &facts->segment[i];

		/* A page of a file may be in two segments. */
		if (offset < (s->offset & -page) || offset >= s->offset + s->size)
			continue;
		*ret = s->vaddr - s->offset + offset;
		return 0;
	}
	return -ENOENT;
}

bool elf_find_offset(const struct elf_segment *segment, size_t count, uint64_t vaddr, uint64_t *ret,
		     uint64_t *ret_left)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t at = vaddr - segment[i].vaddr;

		if (at >= segment[i].size)
			continue;
		*ret = segment[i].offset + at;
		*ret_left = segment[i].size - at;
		return true;
	}
	return false;
}

size_t elf_read_code(int fd, const struct elf_facts *facts, uint64_t vaddr, void *buf, size_t len)
{
	uint64_t offset, left;
	ssize_t n;

	if (!elf_find_offset(facts->segment, facts->segments, vaddr, &offset, &left))
		return 0;
	n = pread(fd, buf, len < left ? len : left, (off_t)offset);
	return n > 0 ? (size_t)n : 0;
}

static bool has_checksum(int fd, uint32_t checksum)
{
	char buf[16384];
	uLong crc = 0;
	off_t at = 0;
	ssize_t n = -1;

	while (at < CHECKED_MAX && (n = pread(fd, buf, sizeof(buf), at)) > 0) {
		/* Not crc32(): a static libelf has its own, and both cannot be linked. */
		crc = crc32_z(crc, (const Bytef *)buf, (size_t)n);
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

/* ---- tables of symbols ---- */

bool symbol_budget_spend(uint64_t *left, uint64_t amount)
{
	if (*left < amount) {
		*left = 0;
		return false;
	}
	*left -= amount;
	return true;
}

size_t elf_read_some(int fd, uint64_t offset, void *buf, size_t len, struct symbol_budget *budget)
{
	ssize_t n = offset <= INT64_MAX && symbol_budget_spend(&budget->bytes, len)
			    ? pread(fd, buf, len, (off_t)offset)
			    : 0;

	return n > 0 ? (size_t)n : 0;
}

bool symbol_table_find(Elf *elf, unsigned type, struct symbol_table *ret)
{
	Elf_Scn *section = NULL;
	GElf_Shdr shdr, names;

	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &shdr) || shdr.sh_type != type ||
		    shdr.sh_entsize != sizeof(Elf64_Sym) || !may_read(&shdr, INT64_MAX) ||
		    !gelf_getshdr(elf_getscn(elf, shdr.sh_link), &names) ||
		    names.sh_type != SHT_STRTAB || !may_read(&names, INT64_MAX))
			continue;
		*ret = (struct symbol_table){shdr.sh_offset, shdr.sh_size, names.sh_offset,
					     names.sh_size};
		return true;
	}
	return false;
}

int symbol_table_each(int fd, const struct symbol_table *t, struct symbol_budget *budget,
		      void (*fn)(void *arg, const Elf64_Sym *symbol), void *arg)
{
	cleanup_free Elf64_Sym *piece = malloc(PIECE);
	const size_t at_once = PIECE / sizeof(*piece);
	uint64_t left = t->size / sizeof(*piece), at = t->offset;

	if (!piece)
		return -ENOMEM;
	while (left && budget->bytes && budget->steps) {
		size_t want = left < at_once ? left : at_once;
		size_t have = elf_read_some(fd, at, piece, want * sizeof(*piece), budget) /
			      sizeof(*piece);

		if (!have || !symbol_budget_spend(&budget->steps, have))
			break;
		for (size_t i = 0; i < have; i++)
			fn(arg, &piece[i]);
		left -= have;
		at += have * sizeof(*piece);
	}
	return budget->bytes && budget->steps ? 0 : -EFBIG;
}

/* ---- names ---- */

/*
 * The tables are read once, and only what is the best so far for a wanted address is kept. So the
 * number of symbols costs no memory either.
 */

/* Bytes with which most names end; longer ones that differ later are equal. */
#define SHORT_NAME 128

/* Where an ELF file has its names. */
struct name_table {
	int fd;
	uint64_t offset, size;
};

/* The best symbol so far for an address. */
struct candidate {
	uint64_t start, size; /* size 0: none, or one without a size */
	struct name_table names;
	uint32_t name; /* offset in it; 0: there is none */
	uint16_t section;
	bool global;
	bool function; /* by its type */
};

/* What is known of an address. */
struct searched {
	struct candidate best; /* that contains it */
	struct candidate near; /* without a size, between the address before and this one */
	uint64_t passed;       /* no name from before: another symbol ends, or is, there */
};

struct search {
	const struct code_name *wanted; /* by address */
	const struct code_span *span;
	struct searched *item; /* one for each */
	size_t count;
	struct name_table names; /* of the table that is searched */
	struct symbol_budget *budget;
};

/* Reads the beginning of a name, up to cap - 1 bytes. Returns its length, 0: it has none. */
static size_t read_name(const struct name_table *t, uint32_t at, char *buf, size_t cap,
			struct symbol_budget *budget)
{
	uint64_t left = at < t->size ? t->size - at : 0;
	size_t want = left < cap - 1 ? (size_t)left : cap - 1;

	buf[elf_read_some(t->fd, t->offset + at, buf, want, budget)] = '\0';
	return strlen(buf);
}

static bool is_function(const Elf64_Sym *s)
{
	int type = ELF64_ST_TYPE(s->st_info);

	return type == STT_FUNC || type == STT_GNU_IFUNC;
}

/* What names code, or is in the way of another name: what has a size, and labels. */
static bool is_wanted(const Elf64_Sym *s)
{
	return s->st_name && s->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(s->st_info) != STT_TLS &&
	       (s->st_size || is_function(s) || ELF64_ST_TYPE(s->st_info) == STT_NOTYPE);
}

/* "malloc" rather than "__libc_malloc", then the first by the alphabet. */
static bool has_better_name(const struct search *s, const struct candidate *c,
			    const struct candidate *best)
{
	char name[SHORT_NAME], best_name[SHORT_NAME];

	if (!read_name(&c->names, c->name, name, sizeof(name), s->budget))
		return false;
	if (!read_name(&best->names, best->name, best_name, sizeof(best_name), s->budget))
		return true;
	if (strspn(name, "_") != strspn(best_name, "_"))
		return strspn(name, "_") < strspn(best_name, "_");
	return strcmp(name, best_name) < 0;
}

/* The innermost one is the best. */
static bool is_better(const struct search *s, const struct candidate *c,
		      const struct candidate *best)
{
	if (!best->name || c->start != best->start)
		return !best->name || c->start > best->start;
	if (c->size != best->size)
		return c->size < best->size;
	if (c->global != best->global)
		return c->global;
	return has_better_name(s, c, best);
}

/* Labels that say how to read what follows: $x, code and not data (AArch64); .annobin_… (annobin).
 */
static bool is_mark(const struct search *s, const struct candidate *c)
{
	char name[2];

	return !c->function && !c->global &&
	       read_name(&c->names, c->name, name, sizeof(name), s->budget) &&
	       (*name == '$' || *name == '.');
}

/* Where the function of an address begins that another table knows. */
static uint64_t known_begin(const struct search *s, size_t i)
{
	return s->wanted[i].address < s->span[i].end ? s->span[i].start : UINT64_MAX;
}

/* A function rather than a label, where both are at one address. */
static bool is_nearer(const struct search *s, const struct candidate *c, size_t i)
{
	const struct candidate *near = &s->item[i].near;
	uint64_t begin = known_begin(s, i);

	if (!near->name || c->start != near->start)
		/* The name of what another table knows is that of its beginning. */
		return !near->name || c->start == begin ||
		       (near->start != begin && c->start > near->start);
	if (c->function != near->function)
		return c->function;
	return is_better(s, c, near);
}

static void try_near(struct search *s, const struct candidate *c)
{
	size_t i = code_names_from(s->wanted, s->count, c->start);

	if (i < s->count && is_nearer(s, c, i) && !is_mark(s, c))
		s->item[i].near = *c;
}

static void note_passed(struct searched *item, uint64_t address)
{
	item->passed = address > item->passed ? address : item->passed;
}

static void try_symbol(void *arg, const Elf64_Sym *sym)
{
	struct search *s = arg;
	const struct candidate c = {
		.start = sym->st_value,
		.size = sym->st_size,
		.names = s->names,
		.name = sym->st_name,
		.section = sym->st_shndx,
		.global = ELF64_ST_BIND(sym->st_info) == STB_GLOBAL,
		.function = is_function(sym),
	};
	size_t i;

	if (!is_wanted(sym))
		return;
	i = code_names_from(s->wanted, s->count, c.start);
	if (!c.size) {
		try_near(s, &c);
		return;
	}
	for (; i < s->count && s->wanted[i].address - c.start < c.size; i++) {
		if (!symbol_budget_spend(&s->budget->steps, 1))
			return;
		if (!c.function)
			note_passed(&s->item[i], c.start + 1);
		else if (is_better(s, &c, &s->item[i].best))
			s->item[i].best = c;
	}
	if (i < s->count)
		note_passed(&s->item[i], c.start + c.size);
}

/* ---- symbols without a size ---- */

static bool is_in_section(Elf *elf, const struct candidate *c, uint64_t address)
{
	GElf_Shdr shdr;

	return gelf_getshdr(elf_getscn(elf, c->section), &shdr) && shdr.sh_flags & SHF_EXECINSTR &&
	       c->start >= shdr.sh_addr && address >= shdr.sh_addr &&
	       address - shdr.sh_addr < shdr.sh_size;
}

/*
 * If no symbol contains an address, chooses the nearest one before it: in its section, not before
 * the end of a symbol with a size, and within what another table knows as the function of the
 * address.
 */
static void choose_near(struct search *s, Elf *elf)
{
	struct candidate near = {};
	uint64_t passed = 0;

	for (size_t i = 0; i < s->count; i++) {
		struct searched *item = &s->item[i];
		const struct code_span *span = &s->span[i];
		uint64_t address = s->wanted[i].address;
		uint64_t from = address < span->end ? span->start : span->end;

		passed = item->passed > passed ? item->passed : passed;
		if (item->near.name && near.start != known_begin(s, i))
			near = item->near;
		if (!item->best.name && near.name && near.start >= from && near.start >= passed &&
		    is_in_section(elf, &near, address))
			item->best = near;
	}
}

/* Searches the table of one type. Returns 1 if there was one, 0, or a negative errno. */
static int search_table(struct search *s, int fd, unsigned type)
{
	cleanup(elf_done) Elf *elf = fd < 0 ? NULL : elf_open_file(fd);
	struct symbol_table t;
	int r;

	if (!elf || !symbol_table_find(elf, type, &t))
		return 0;
	s->names = (struct name_table){fd, t.names_offset, t.names_size};
	r = symbol_table_each(fd, &t, s->budget, try_symbol, s);
	if (r == 0)
		choose_near(s, elf);
	return r < 0 ? r : 1;
}

static bool is_same(const struct candidate *a, const struct candidate *b)
{
	return a->start == b->start && a->size == b->size && a->name == b->name &&
	       a->names.fd == b->names.fd && a->names.offset == b->names.offset;
}

/* Reads the names of the best symbols. */
static int read_names(const struct search *s, struct code_name *wanted, struct arena *names)
{
	char name[SYMBOL_NAME_MAX + 1];

	for (size_t i = 0; i < s->count; i++) {
		const struct candidate *best = &s->item[i].best;
		size_t len;

		if (!best->name)
			continue;
		wanted[i].start = best->start;
		/* Neighbours are often in one function. */
		if (i && is_same(best, &s->item[i - 1].best)) {
			wanted[i].name = wanted[i - 1].name;
			continue;
		}
		len = read_name(&best->names, best->name, name, SHORT_NAME, s->budget);
		if (len == SHORT_NAME - 1)
			len = read_name(&best->names, best->name, name,
					SYMBOL_NAME_MAX + !!best->size, s->budget);
		if (!len)
			continue;
		if (!best->size)
			name[len++] = '~';
		wanted[i].name = arena_strndup(names, name, len);
		if (!wanted[i].name)
			return -ENOMEM;
	}
	return 0;
}

int symbols_name(int fd, int debug_fd, struct code_name *wanted, const struct code_span *span,
		 size_t count, struct symbol_budget *budget, struct arena *names)
{
	cleanup_free struct searched *item = calloc(count + 1, sizeof(*item));
	struct search s = {
		.wanted = wanted, .span = span, .item = item, .count = count, .budget = budget};
	int r;

	if (!item)
		return -ENOMEM;
	r = search_table(&s, fd, SHT_SYMTAB);
	/* .symtab has all that .dynsym has. */
	if (r == 0)
		r = search_table(&s, debug_fd, SHT_SYMTAB);
	if (r == 0)
		r = search_table(&s, fd, SHT_DYNSYM);
	if (r >= 0)
		r = read_names(&s, wanted, names);
	/* What a candidate could not take may have made another one the best. */
	if (r == 0 && (!budget->bytes || !budget->steps))
		r = -EFBIG;
	for (size_t i = 0; r < 0 && i < count; i++)
		wanted[i].name = NULL;
	return r;
}
