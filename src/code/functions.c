// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Both tables are sorted by where functions begin. They are searched in the file, so that neither
 * their size nor what they claim costs memory: whatever they are, a search reads 64 entries at
 * most.
 */
#include "code/functions.h"

#include <dwarf.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cleanup.h"

static bool read_all(int fd, uint64_t offset, void *buf, size_t len, struct symbol_budget *budget)
{
	return elf_read_some(fd, offset, buf, len, budget) == len;
}

/* ---- a sorted table ---- */

/* An entry is two numbers: where a function begins, less `base`, and what is known of it. */
struct start_table {
	int fd;
	uint64_t offset; /* in the file */
	uint64_t count;
	uint64_t base;
	bool wide; /* the numbers have 64 bits, else 32 with a sign */
	struct symbol_budget *budget;
};

struct start_entry {
	uint64_t start, value; /* the value without the base */
};

static bool read_entry(const struct start_table *t, uint64_t i, struct start_entry *ret)
{
	uint64_t wide[2];
	int32_t narrow[2];

	if (!symbol_budget_spend(&t->budget->steps, 1))
		return false;
	if (t->wide) {
		if (!read_all(t->fd, t->offset + i * sizeof(wide), wide, sizeof(wide), t->budget))
			return false;
		*ret = (struct start_entry){t->base + wide[0], wide[1]};
		return true;
	}
	if (!read_all(t->fd, t->offset + i * sizeof(narrow), narrow, sizeof(narrow), t->budget))
		return false;
	*ret = (struct start_entry){t->base + (uint64_t)(int64_t)narrow[0],
				    (uint64_t)(int64_t)narrow[1]};
	return true;
}

/* The last entry that begins at the address or before it. */
static bool find_entry(const struct start_table *t, uint64_t address, uint64_t *ret_i,
		       struct start_entry *ret)
{
	uint64_t low = 0, high = t->count;
	struct start_entry e;
	bool found = false;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (!read_entry(t, middle, &e))
			return false;
		if (e.start > address) {
			high = middle;
			continue;
		}
		*ret = e;
		*ret_i = middle;
		found = true;
		low = middle + 1;
	}
	return found;
}

/* ---- bytes of tables for unwinding ---- */

static void skip_leb(struct bytes *b)
{
	while (bytes_read(b, 1) & 0x80)
		;
}

/* The bytes of an encoded address; 0: none of those that are understood. */
static size_t encoded_size(unsigned encoding)
{
	static const uint8_t size[16] = {
		[DW_EH_PE_absptr] = 8, [DW_EH_PE_udata2] = 2, [DW_EH_PE_udata4] = 4,
		[DW_EH_PE_udata8] = 8, [DW_EH_PE_sdata2] = 2, [DW_EH_PE_sdata4] = 4,
		[DW_EH_PE_sdata8] = 8,
	};

	return encoding == DW_EH_PE_aligned ? 0 : size[encoding & 0x0f];
}

/* An address that is stored at `at`; 0: none. */
static uint64_t read_address(struct bytes *b, unsigned encoding, uint64_t at)
{
	size_t size = encoded_size(encoding);
	uint64_t base = (encoding & 0x70) == DW_EH_PE_pcrel ? at : 0;
	bool is_signed = encoding & 0x08;
	uint64_t value = is_signed ? (uint64_t)bytes_read_signed(b, size) : bytes_read(b, size);

	if (!size || encoding & DW_EH_PE_indirect || ((encoding & 0x70) && !base)) {
		b->bad = true;
		return 0;
	}
	return base + value;
}

/* ---- the table for unwinding ---- */

struct unwind_table {
	int fd;
	struct elf_segment loaded[SEGMENTS_MAX];
	size_t segments;
	struct start_table starts;
	struct symbol_budget *budget;
	/* How the last CIE encodes addresses. Many functions have the same one. */
	uint64_t cie;
	unsigned encoding;
};

/* Reads up to `len` bytes at an address of the file. Returns how many. */
static size_t read_loaded(const struct unwind_table *t, uint64_t vaddr, void *buf, size_t len)
{
	uint64_t offset, left;

	if (!elf_find_offset(t->loaded, t->segments, vaddr, &offset, &left))
		return 0;
	return elf_read_some(t->fd, offset, buf, len < left ? len : left, t->budget);
}

/*
 * .eh_frame_hdr, by its segment, which a program has without sections, too: version, three
 * encodings, the address of .eh_frame, the number of entries, and the entries. All linkers write
 * the encodings that are understood here (Linux Standard Base, "DWARF Extensions").
 */
static bool open_unwind_table(struct unwind_table *t)
{
	cleanup(elf_done) Elf *elf = elf_open_file(t->fd);
	struct {
		uint8_t version, frame, count, table;
		int32_t frame_at;
		uint32_t entries;
	} head;
	GElf_Phdr p, table = {};
	size_t count;

	if (!elf || elf_getphdrnum(elf, &count) < 0)
		return false;
	for (size_t i = 0; i < count && gelf_getphdr(elf, (int)i, &p); i++) {
		if (p.p_type == PT_LOAD && t->segments < SEGMENTS_MAX)
			t->loaded[t->segments++] =
				(struct elf_segment){p.p_offset, p.p_filesz, p.p_vaddr};
		else if (p.p_type == PT_GNU_EH_FRAME)
			table = p;
	}
	if (table.p_filesz < sizeof(head) ||
	    !read_all(t->fd, table.p_offset, &head, sizeof(head), t->budget) || head.version != 1 ||
	    encoded_size(head.frame) != 4 || head.count != DW_EH_PE_udata4 ||
	    head.table != (DW_EH_PE_datarel | DW_EH_PE_sdata4) ||
	    head.entries > (table.p_filesz - sizeof(head)) / 8)
		return false;
	t->starts = (struct start_table){
		.fd = t->fd,
		.offset = table.p_offset + sizeof(head),
		.count = head.entries,
		.base = table.p_vaddr,
		.budget = t->budget,
	};
	return true;
}

/* How the FDEs of a CIE encode addresses. */
static bool read_encoding(const unsigned char *data, size_t len, unsigned *ret)
{
	struct bytes b = {.data = data, .len = len};
	uint64_t size = bytes_read(&b, 4), id = bytes_read(&b, 4), version = bytes_read(&b, 1);
	const char *letter = (const char *)data + b.pos;

	if (b.bad || !size || size == UINT32_MAX || id || (version != 1 && version != 3) ||
	    !memchr(letter, '\0', len - b.pos))
		return false;
	b.pos += strlen(letter) + 1;
	skip_leb(&b); /* alignment of code */
	skip_leb(&b); /* of data */
	if (version == 1)
		bytes_read(&b, 1); /* register of the return address */
	else
		skip_leb(&b);
	*ret = DW_EH_PE_absptr;
	if (!*letter)
		return !b.bad;
	if (*letter++ != 'z')
		return false;
	skip_leb(&b); /* length of what follows */
	for (; *letter && !b.bad; letter++) {
		if (*letter == 'R') {
			*ret = (unsigned)bytes_read(&b, 1);
			return !b.bad;
		}
		if (*letter == 'L') {
			bytes_read(&b, 1);
		} else if (*letter == 'P') {
			size_t pointer = encoded_size((unsigned)bytes_read(&b, 1));

			bytes_read(&b, pointer);
			b.bad |= !pointer;
		} else if (*letter != 'S' && *letter != 'B') {
			return false;
		}
	}
	return !b.bad;
}

/* An FDE: length, distance to the CIE, where the function begins, and its size. */
static bool read_fde(struct unwind_table *t, uint64_t at, struct code_span *ret)
{
	unsigned char data[64];
	struct bytes b = {.data = data, .len = read_loaded(t, at, data, 24)};
	uint64_t size = bytes_read(&b, 4), cie = at + 4 - bytes_read(&b, 4);

	if (b.bad || size < 8 || size == UINT32_MAX || cie == at + 4)
		return false;
	if (t->cie != cie) {
		unsigned char common[64];

		t->cie = 0;
		if (!read_encoding(common, read_loaded(t, cie, common, sizeof(common)),
				   &t->encoding))
			return false;
		t->cie = cie;
	}
	ret->start = read_address(&b, t->encoding, at + b.pos);
	size = read_address(&b, t->encoding & 0x07, 0);
	ret->end = ret->start + size;
	return !b.bad && ret->end > ret->start;
}

/*
 * Finds, for each address in ascending order, the last function that begins there or before.
 * Returns 0, or -EFBIG if the budget was not enough.
 */
static int find_spans(int fd, const struct code_name *wanted, size_t count,
		      struct symbol_budget *budget, struct code_span *ret)
{
	struct unwind_table t = {.fd = fd, .budget = budget};

	if (!open_unwind_table(&t))
		return 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t address = wanted[i].address, number;
		struct start_entry e = {};

		/* Neighbours are often in one function. */
		if (i && address < ret[i - 1].end) {
			ret[i] = ret[i - 1];
			continue;
		}
		if (find_entry(&t.starts, address, &number, &e) &&
		    (!read_fde(&t, t.starts.base + e.value, &ret[i]) || ret[i].start != e.start))
			ret[i] = (struct code_span){};
	}
	return budget->bytes && budget->steps ? 0 : -EFBIG;
}

/* ---- Go ---- */

/*
 * The table that the runtime of Go has for its own stacks (src/runtime/symtab.go, pcHeader): a
 * header, sorted starts of functions with the places of their descriptions, and names.
 */
struct go_table {
	struct start_table starts;
	uint64_t offset, size;	   /* of the section, in the file */
	uint64_t names, functions; /* in the section */
	unsigned name_at;	   /* in a description */
};

#define GO_TABLE	".gopclntab" /* or the end of a name */
#define TEXT_AT		24	     /* in the header */
#define ALIGNED		64	     /* so far may .text go beyond its last function */
#define RELOCATIONS_MAX 4	     /* sections */
#define TABLE_ALIGN	32
#define PIECE		((size_t)64 << 10)

static bool ends_with(const char *text, const char *with)
{
	size_t len = strlen(text), end = strlen(with);

	return len >= end && strcmp(text + len - end, with) == 0;
}

/* Sections of a program of Go, in its file. */
struct go_sections {
	GElf_Shdr table, text;
	GElf_Shdr data; /* may have the table */
	GElf_Shdr relocations[RELOCATIONS_MAX];
	size_t relocated;
	bool go;
};

/* What the table begins with. */
struct go_head {
	uint32_t magic;
	uint8_t zero[2], quantum, pointer;
	uint64_t functions, word[7];
};

/* Magic numbers of src/internal/abi/symtab.go and src/debug/gosym/pclntab.go. */
#define GO_1_2	0xfffffffb
#define GO_1_16 0xfffffffa
#define GO_1_18 0xfffffff0
#define GO_1_20 0xfffffff1

static bool is_go_head(const struct go_head *h)
{
	return (h->magic == GO_1_2 || h->magic == GO_1_16 || h->magic == GO_1_18 ||
		h->magic == GO_1_20) &&
	       !h->zero[0] && !h->zero[1] && h->pointer == 8 &&
	       (h->quantum == 1 || h->quantum == 2 || h->quantum == 4);
}

static bool find_sections(int fd, struct go_sections *ret)
{
	cleanup(elf_done) Elf *elf = elf_open_file(fd);
	Elf_Scn *section = NULL;
	GElf_Shdr shdr;

	while (elf && (section = elf_nextscn(elf, section))) {
		const char *name;

		if (!gelf_getshdr(section, &shdr) || shdr.sh_type == SHT_NOBITS)
			continue;
		if (shdr.sh_type == SHT_RELA && ret->relocated < RELOCATIONS_MAX)
			ret->relocations[ret->relocated++] = shdr;
		name = elf_section_name(elf, &shdr);
		if (!name)
			continue;
		ret->go |= strcmp(name, ".go.buildinfo") == 0;
		if (strcmp(name, ".text") == 0)
			ret->text = shdr;
		else if (strcmp(name, ".data.rel.ro") == 0)
			ret->data = shdr;
		else if (ends_with(name, GO_TABLE))
			ret->table = shdr;
	}
	return ret->table.sh_size || (ret->go && ret->data.sh_size);
}

/* The linker of C puts the table of a program for any address among other data. */
static bool find_in_data(int fd, struct go_sections *s, struct symbol_budget *budget)
{
	cleanup_free char *piece = malloc(PIECE);
	uint64_t at = 0;

	while (piece && at < s->data.sh_size) {
		uint64_t left = s->data.sh_size - at;
		size_t have = elf_read_some(fd, s->data.sh_offset + at, piece,
					    left < PIECE ? (size_t)left : PIECE, budget);

		if (have < sizeof(struct go_head))
			return false;
		for (size_t i = 0; i + sizeof(struct go_head) <= have; i += TABLE_ALIGN) {
			struct go_head head;

			memcpy(&head, piece + i, sizeof(head));
			if (!is_go_head(&head))
				continue;
			s->table = s->data;
			s->table.sh_addr += at + i;
			s->table.sh_offset += at + i;
			s->table.sh_size -= at + i;
			return true;
		}
		/* What is cut here is whole in the next piece. */
		at += have < PIECE ? have : PIECE - 2 * TABLE_ALIGN;
	}
	return false;
}

/* The number that the dynamic loader writes to an address, 0: none. */
static uint64_t find_relocated(int fd, const GElf_Shdr *section, uint64_t at,
			       struct symbol_budget *budget)
{
	cleanup_free Elf64_Rela *piece = malloc(PIECE);
	const size_t at_once = PIECE / sizeof(*piece);
	uint64_t offset = section->sh_offset, left = section->sh_size / sizeof(*piece);

	while (piece && left) {
		size_t want = (left < at_once ? left : at_once) * sizeof(*piece);
		size_t have = elf_read_some(fd, offset, piece, want, budget) / sizeof(*piece);

		if (!have || !symbol_budget_spend(&budget->steps, have))
			return 0;
		for (size_t i = 0; i < have; i++) {
			if (piece[i].r_offset == at)
				return (uint64_t)piece[i].r_addend;
		}
		offset += have * sizeof(*piece);
		left -= have;
	}
	return 0;
}

/*
 * What is added to the starts of functions: the beginning of the code of Go. The header has it from
 * 1.18 on. For a program at any address it may be a relocation, and from 1.26 on it is 0: then it
 * is the beginning of .text, if .text ends with the last function and so has no other code.
 */
static uint64_t find_text(const struct go_table *t, const struct go_sections *s, uint64_t stored)
{
	struct symbol_budget *budget = t->starts.budget;
	struct start_entry last;

	for (size_t i = 0; !stored && i < s->relocated; i++)
		stored = find_relocated(t->starts.fd, &s->relocations[i],
					s->table.sh_addr + TEXT_AT, budget);
	if (stored)
		return stored - s->text.sh_addr < s->text.sh_size ? stored : 0;
	if (!read_entry(&t->starts, t->starts.count - 1, &last) || last.start > s->text.sh_size ||
	    s->text.sh_size - last.start >= ALIGNED)
		return 0;
	return s->text.sh_addr;
}

static bool open_go_table(int fd, struct symbol_budget *budget, struct go_table *ret)
{
	struct go_sections s = {};
	struct go_head head = {};
	uint64_t table;
	bool relative;

	if (!find_sections(fd, &s) || (!s.table.sh_size && !find_in_data(fd, &s, budget)) ||
	    s.table.sh_size < sizeof(head) || s.table.sh_flags & SHF_COMPRESSED ||
	    !read_all(fd, s.table.sh_offset, &head, sizeof(head), budget) || !is_go_head(&head))
		return false;
	*ret = (struct go_table){.offset = s.table.sh_offset, .size = s.table.sh_size};
	relative = head.magic == GO_1_18 || head.magic == GO_1_20;
	if (head.magic == GO_1_2) {
		table = 16;
	} else if (head.magic == GO_1_16) {
		ret->names = head.word[1];
		table = ret->functions = head.word[5];
	} else {
		ret->names = head.word[2];
		table = ret->functions = head.word[6];
	}
	/* Behind the last function there is where its code ends. */
	if (table > ret->size || head.functions >= (ret->size - table) / 8 || !head.functions)
		return false;
	ret->name_at = relative ? 4 : 8;
	ret->starts = (struct start_table){
		.fd = fd,
		.offset = ret->offset + table,
		.count = head.functions + 1,
		.wide = !relative,
		.budget = budget,
	};
	if (relative)
		ret->starts.base = find_text(ret, &s, head.word[1]);
	return !relative || ret->starts.base;
}

/* The name of a function, by the place of its description. NULL: none. */
static const char *read_go_name(const struct go_table *t, uint64_t description, struct arena *names)
{
	uint64_t at = t->functions + description;
	char text[SYMBOL_NAME_MAX + 1];
	uint32_t name;
	size_t len;

	if (at > t->size || t->size - at < t->name_at + sizeof(name) ||
	    !read_all(t->starts.fd, t->offset + at + t->name_at, &name, sizeof(name),
		      t->starts.budget))
		return NULL;
	at = t->names + name;
	if (at >= t->size)
		return NULL;
	len = t->size - at < SYMBOL_NAME_MAX ? (size_t)(t->size - at) : SYMBOL_NAME_MAX;
	len = elf_read_some(t->starts.fd, t->offset + at, text, len, t->starts.budget);
	len = strnlen(text, len);
	return len ? arena_strndup(names, text, len) : NULL;
}

/* Names the addresses that have no name. Returns 0, or -EFBIG if the budget was not enough. */
static int name_by_go(int fd, struct code_name *wanted, size_t count, struct symbol_budget *budget,
		      struct arena *names)
{
	const struct code_name *last = NULL;
	struct start_entry e = {}, next = {};
	struct go_table t;

	if (!open_go_table(fd, budget, &t))
		return budget->bytes && budget->steps ? 0 : -EFBIG;
	for (size_t i = 0; i < count; i++) {
		struct code_name *w = &wanted[i];
		uint64_t number;

		if (w->name)
			continue;
		if (last && w->address < next.start) {
			w->start = last->start;
			w->name = last->name;
			continue;
		}
		last = NULL;
		if (!find_entry(&t.starts, w->address, &number, &e) ||
		    number + 1 >= t.starts.count || !read_entry(&t.starts, number + 1, &next) ||
		    w->address >= next.start)
			continue;
		w->name = read_go_name(&t, e.value, names);
		if (!w->name)
			continue;
		w->start = e.start;
		last = w;
	}
	return budget->bytes && budget->steps ? 0 : -EFBIG;
}

/* ---- all together ---- */

int functions_name(int fd, int debug_fd, struct code_name *wanted, size_t count,
		   struct symbol_budget *budget, struct arena *names)
{
	cleanup_free struct code_span *span = calloc(count + 1, sizeof(*span));
	int r = span ? find_spans(fd, wanted, count, budget, span) : -ENOMEM;

	if (r == 0)
		r = symbols_name(fd, debug_fd, wanted, span, count, budget, names);
	if (r == 0)
		r = name_by_go(fd, wanted, count, budget, names);
	for (size_t i = 0; i < count; i++) {
		if (r < 0)
			wanted[i] = (struct code_name){.address = wanted[i].address};
		else if (!wanted[i].name && wanted[i].address < span[i].end)
			wanted[i].start = span[i].start;
	}
	return r;
}
