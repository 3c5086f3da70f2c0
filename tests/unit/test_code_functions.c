// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The function of an address: by the table for unwinding, by the table of Go, and by symbols
 * without a size. The files are made here; those of linkers and of Go: live/test_grow_names.py.
 */
#include "unit.h"

#include <dwarf.h>
#include <errno.h>
#include <gelf.h>
#include <sys/mman.h>

#include "code/function_search.h"
#include "code/functions.h"

#define TEXT	  0x1000 /* the code; addresses are offsets in the file */
#define TEXT_SIZE 0x100
#define HEADER	  0x2000 /* .eh_frame_hdr */
#define FRAMES	  0x2800 /* .eh_frame */
#define TABLE	  0x3000 /* .gopclntab */
#define TABLE_END 0x3400
#define RELA	  0x3400
#define SYMBOLS	  0x3800
#define STRINGS	  0x3c00
#define SECTIONS  0x4000
#define FILE_SIZE 0x5000

enum { NONE, CODE, GO, RELOCATIONS, SYMTAB, STRTAB, NUMBERS };

static union {
	Elf64_Ehdr e;
	char data[FILE_SIZE];
} file;

static void put(size_t at, const void *data, size_t len)
{
	assert_true(at + len <= sizeof(file));
	memcpy(file.data + at, data, len);
}

static void put32(size_t at, uint32_t value)
{
	put(at, &value, sizeof(value));
}

static void put64(size_t at, uint64_t value)
{
	put(at, &value, sizeof(value));
}

static Elf64_Shdr *section(int number)
{
	return (Elf64_Shdr *)(void *)(file.data + SECTIONS) + number;
}

/* Appends a text to the strings. Returns its place. */
static uint32_t put_string(const char *text)
{
	Elf64_Shdr *s = section(STRTAB);
	uint32_t at = (uint32_t)s->sh_size;

	put(s->sh_offset + at, text, strlen(text) + 1);
	s->sh_size += strlen(text) + 1;
	return at;
}

/* A program with code alone. */
static void begin_file(void)
{
	Elf64_Phdr *p = (void *)(file.data + sizeof(file.e));

	memset(&file, 0, sizeof(file));
	file.e = (Elf64_Ehdr){
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_DYN,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(file.e),
		.e_phoff = sizeof(file.e),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 2,
		.e_shoff = SECTIONS,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = NUMBERS,
		.e_shstrndx = STRTAB,
	};
	p[0] = (Elf64_Phdr){.p_type = PT_LOAD, .p_filesz = SYMBOLS, .p_flags = PF_R | PF_X};
	*section(STRTAB) = (Elf64_Shdr){
		.sh_type = SHT_STRTAB, .sh_offset = STRINGS, .sh_size = 1, .sh_addralign = 1};
	*section(CODE) = (Elf64_Shdr){
		.sh_name = put_string(".text"),
		.sh_type = SHT_PROGBITS,
		.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		.sh_addr = TEXT,
		.sh_offset = TEXT,
		.sh_size = TEXT_SIZE,
		.sh_addralign = 1,
	};
}

/* The function of an address. Returns its name, "-" if it has none, or NULL after an error. */
static const char *find(uint64_t address, uint64_t *ret_start)
{
	static struct arena names;
	struct symbol_budget budget = {1 << 20, 1 << 10};
	struct code_name wanted[] = {{.address = 1}, {.address = address}};
	int fd = memfd_create("file", MFD_CLOEXEC), r;

	assert_int_equal(write(fd, &file, sizeof(file)), sizeof(file));
	arena_clear(&names);
	r = functions_name(fd, -1, wanted, ARRAY_SIZE(wanted), &budget, &names);
	close(fd);
	assert_null(wanted[0].name);
	assert_int_equal(wanted[0].start, 0);
	*ret_start = wanted[1].start;
	return r < 0 ? NULL : wanted[1].name ? wanted[1].name : "-";
}

static void expect(uint64_t address, const char *name, uint64_t start)
{
	uint64_t got;
	const char *found = find(address, &got);

	assert_non_null(found);
	assert_string_equal(found, name);
	assert_int_equal(got, start);
}

/* ---- the table for unwinding ---- */

static size_t frames_end;

/* Common to all functions: how their addresses are encoded. */
static void put_common(const char *augmentation, size_t len, uint8_t encoding)
{
	char bytes[64] = {[8] = 1};
	size_t at = 9;

	memcpy(bytes + at, augmentation, len);
	at += len;
	bytes[at++] = 1;    /* alignment of code */
	bytes[at++] = 0x78; /* of data: -8 */
	bytes[at++] = 16;   /* register of the return address */
	bytes[at++] = 1;    /* length of what follows */
	bytes[at++] = (char)encoding;
	put(FRAMES, bytes, sizeof(bytes));
	put32(FRAMES, 60);
	frames_end = FRAMES + sizeof(bytes);
}

static void put_function(uint32_t number, uint32_t start, uint32_t size)
{
	Elf64_Phdr *p = (void *)(file.data + sizeof(file.e));
	size_t at = frames_end;

	put32(at, 20);
	put32(at + 4, (uint32_t)(at + 4 - FRAMES));
	put32(at + 8, start - (uint32_t)(at + 8));
	put32(at + 12, size);
	frames_end += 24;
	put32(HEADER + 12 + number * 8, start - HEADER);
	put32(HEADER + 16 + number * 8, (uint32_t)(at - HEADER));
	put32(HEADER + 8, number + 1);
	p[1] = (Elf64_Phdr){
		.p_type = PT_GNU_EH_FRAME,
		.p_offset = HEADER,
		.p_vaddr = HEADER,
		.p_filesz = 12 + (number + 1) * 8,
	};
}

#define PCREL (DW_EH_PE_pcrel | DW_EH_PE_sdata4)

/* Three functions, two of which follow each other. */
static void begin_unwinding(void)
{
	begin_file();
	put(HEADER,
	    (const uint8_t[]){1, PCREL, DW_EH_PE_udata4, DW_EH_PE_datarel | DW_EH_PE_sdata4}, 4);
	put_common("zR", 3, PCREL);
	put_function(0, TEXT + 0x10, 0x10);
	put_function(1, TEXT + 0x20, 0x10);
	put_function(2, TEXT + 0x80, 0x40);
}

TEST(unwinding)
{
	begin_unwinding();
	expect(TEXT + 0x0f, "-", 0);
	expect(TEXT + 0x10, "-", TEXT + 0x10);
	expect(TEXT + 0x1f, "-", TEXT + 0x10);
	expect(TEXT + 0x20, "-", TEXT + 0x20);
	expect(TEXT + 0x30, "-", 0);
	expect(TEXT + 0xbf, "-", TEXT + 0x80);
	expect(TEXT + 0xc0, "-", 0);
	expect(UINT64_MAX, "-", 0);
	/* Without sections, as sstrip leaves it. */
	file.e.e_shoff = file.e.e_shnum = file.e.e_shstrndx = 0;
	expect(TEXT + 0x9f, "-", TEXT + 0x80);
}

/* What is not understood, or lies, tells of no function. */
TEST(bad_unwinding)
{
	static const struct {
		size_t at;
		uint32_t value;
	} bad[] = {
		{HEADER, 0x3b031b02},			      /* another version */
		{HEADER, 0x3b0b1b01},			      /* a count of another size */
		{HEADER, 0x3c031b01},			      /* entries of another size */
		{HEADER, 0x3b03ff01},			      /* .eh_frame at no address */
		{HEADER + 8, UINT32_MAX},		      /* more entries than there are */
		{HEADER + 12 + 16 + 4, UINT32_MAX / 2},	      /* an FDE that is not in the file */
		{HEADER + 12 + 16 + 4, FRAMES + 64 - HEADER}, /* one of another function */
		{FRAMES + 64 + 48, 0},			      /* of no length */
		{FRAMES + 64 + 48, UINT32_MAX},		      /* of 64 bits */
		{FRAMES + 64 + 52, 0},			      /* it is its own CIE */
		{FRAMES + 64 + 52, UINT32_MAX / 2},	      /* a CIE that is not in the file */
		{FRAMES + 64 + 60, 0},			      /* a function of no size */
		{FRAMES + 8, 0x52717a01},		      /* an augmentation that is unknown */
		{FRAMES + 8, 0x52657a01},
		{FRAMES + 8, 0x00527a02}, /* another version */
	};

	begin_unwinding();
	file.data[HEADER] = 2;
	expect(TEXT + 0x9f, "-", 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		begin_unwinding();
		put32(bad[i].at, bad[i].value);
		expect(TEXT + 0x9f, "-", 0);
	}
	for (int encoding = 0; encoding < 256; encoding++) {
		uint64_t start;

		begin_unwinding();
		put_common("zR", 3, (uint8_t)encoding);
		assert_string_equal(find(TEXT + 0x9f, &start), "-");
		if (encoding == PCREL)
			assert_int_equal(start, TEXT + 0x80);
		assert_true(!start || start == TEXT + 0x80);
	}
	/* Entries that are in no order. */
	begin_unwinding();
	put_function(2, TEXT + 0x08, 0x08);
	expect(TEXT + 0x1f, "-", TEXT + 0x10);
}

/* ---- symbols without a size ---- */

static void put_symbol(const char *name, uint64_t value, uint64_t size, int type, int bind)
{
	Elf64_Shdr *s = section(SYMTAB);
	Elf64_Sym sym = {
		.st_name = put_string(name),
		.st_info = ELF64_ST_INFO(bind, type),
		.st_shndx = CODE,
		.st_value = value,
		.st_size = size,
	};

	*s = (Elf64_Shdr){
		.sh_type = SHT_SYMTAB,
		.sh_offset = SYMBOLS,
		.sh_size = s->sh_size + sizeof(sym),
		.sh_link = STRTAB,
		.sh_entsize = sizeof(sym),
		.sh_addralign = 1,
	};
	put(SYMBOLS + s->sh_size - sizeof(sym), &sym, sizeof(sym));
}

#define put_label(name, value) put_symbol(name, value, 0, STT_NOTYPE, STB_LOCAL)

TEST(nearest)
{
	begin_file();
	put_symbol("memcpy", TEXT + 0x10, 0, STT_FUNC, STB_GLOBAL);
	put_label("a_label", TEXT + 0x10);
	put_label("$x", TEXT + 0x18);
	put_label(".mark", TEXT + 0x19);
	put_symbol("sized", TEXT + 0x40, 0x10, STT_FUNC, STB_GLOBAL);
	put_label("in_sized", TEXT + 0x48);
	put_label("behind", TEXT + 0x60);
	put_symbol("data", TEXT + 0x70, 8, STT_OBJECT, STB_GLOBAL);
	expect(TEXT + 0x0f, "-", 0);
	expect(TEXT + 0x10, "memcpy~", TEXT + 0x10);
	expect(TEXT + 0x3f, "memcpy~", TEXT + 0x10);
	expect(TEXT + 0x4f, "sized", TEXT + 0x40);
	/* What is behind the end of a symbol is not known, nor is what its labels name. */
	expect(TEXT + 0x50, "-", 0);
	expect(TEXT + 0x6f, "behind~", TEXT + 0x60);
	expect(TEXT + 0x70, "-", 0);
	expect(TEXT + 0x78, "-", 0);
	/* Not behind the end of the section, and not in another one. */
	put_label("last", TEXT + 0x80);
	expect(TEXT + TEXT_SIZE - 1, "last~", TEXT + 0x80);
	expect(TEXT + TEXT_SIZE, "-", 0);
	section(CODE)->sh_flags = SHF_ALLOC;
	expect(TEXT + TEXT_SIZE - 1, "-", 0);
}

/* How many functions of these names are found. */
static int search(struct found_function *ret)
{
	static const char *const name[] = {"malloc", "free", "calloc", "je_free"};
	const struct function_names names = {name, ARRAY_SIZE(name), 3};
	const struct elf_facts facts = {.segments = 1, .segment = {{0, SYMBOLS, 0}}};
	struct symbol_budget budget = {1 << 20, 1 << 10};
	int fd = memfd_create("file", MFD_CLOEXEC), r;

	assert_int_equal(write(fd, &file, sizeof(file)), sizeof(file));
	r = functions_find(fd, &facts, &names, &budget, ret, 4);
	close(fd);
	return r;
}

/* For this machine. */
static void begin_code(void)
{
	begin_file();
#if defined(__x86_64__)
	file.e.e_machine = EM_X86_64;
#else
	file.e.e_machine = EM_AARCH64;
#endif
}

TEST(by_name)
{
	struct found_function found[4];

	begin_code();
	/* Two names of one function are two. */
	put_symbol("malloc", TEXT + 0x10, 0x10, STT_FUNC, STB_GLOBAL);
	put_symbol("other", TEXT + 0x10, 0x10, STT_FUNC, STB_LOCAL);
	put_symbol("free", TEXT + 0x20, 0x10, STT_FUNC, STB_WEAK);
	put_symbol("calloc", TEXT + 0x40, 0, STT_FUNC, STB_GLOBAL);
	put_symbol("calloc", TEXT + 0x50, 8, STT_OBJECT, STB_GLOBAL);
	put_symbol("calloc", TEXT + 0x60, 8, STT_FUNC, STB_LOCAL);
	assert_int_equal(search(found), 2);
	assert_int_equal(found[0].vaddr, TEXT + 0x10);
	assert_int_equal(found[1].vaddr, TEXT + 0x20);
	/* It begins inside of another function. */
	put_symbol("around", TEXT + 0x1f, 2, STT_FUNC, STB_LOCAL);
	assert_int_equal(search(found), 1);
	assert_int_equal(found[0].i, 0);
	/* Data, though in a segment with code. */
	section(CODE)->sh_flags = SHF_ALLOC;
	assert_int_equal(search(found), 0);
	section(CODE)->sh_flags |= SHF_EXECINSTR;
	assert_int_equal(search(found), 1);
	/* Code of another machine. */
	file.e.e_machine = EM_RISCV;
	assert_int_equal(search(found), 0);
}

/* test rdi, je: the spot is the second one, if no other function begins before it. */
TEST(by_name_spot)
{
	const struct probe_spot first = probe_spot_first();
	struct found_function found[4];

	begin_code();
	put_symbol("free", TEXT + 0x20, 7, STT_FUNC, STB_GLOBAL);
	put(TEXT + 0x20, "\x48\x85\xff\x74\x01\x90\xc3", 7);
	assert_int_equal(search(found), 1);
#if defined(__x86_64__)
	assert_int_equal(found[0].spot.at, 3);
	assert_int_equal(found[0].spot.flags, SPOT_EMULATED);
#endif
	put_symbol("other", TEXT + 0x24, 0x10, STT_FUNC, STB_LOCAL);
	assert_int_equal(search(found), 1);
	put_symbol("another", TEXT + 0x23, 0x10, STT_FUNC, STB_LOCAL);
	assert_int_equal(search(found), 1);
	assert_memory_equal(&found[0].spot, &first, sizeof(first));
}

/* The version that is found with this budget. `at`: where the file has one, behind its end. */
static const char *version(uint64_t bytes, off_t at)
{
	static char text[CODE_VERSION_MAX];
	struct symbol_budget budget = {.bytes = bytes};
	int fd = memfd_create("file", MFD_CLOEXEC), r;

	assert_int_equal(write(fd, &file, sizeof(file)), sizeof(file));
	if (at) {
		assert_int_equal(ftruncate(fd, 2 * at), 0);
		assert_int_equal(pwrite(fd, "5.2.1-0-gea6b3e97", 17, at), 17);
	}
	r = jemalloc_version(fd, &budget, text);
	close(fd);
	return r == 0 ? text : r == -EFBIG ? "too large" : r == -ENOENT ? "none" : "?";
}

TEST(version_text)
{
	static const char *const none[] = {"5.3.0-0",	 "5.3.0-0-h12",
					   "5.3-0-g12",	 "v5.3.0-0-g12",
					   "5..0-0-g12", "50000000000.3.0000-0-g12"};

	begin_code();
	assert_string_equal(version(UINT64_MAX, 0), "none");
	*section(GO) = (Elf64_Shdr){
		.sh_name = put_string(".rodata"),
		.sh_type = SHT_PROGBITS,
		.sh_flags = SHF_ALLOC,
		.sh_offset = TABLE,
		.sh_size = TABLE_END - TABLE,
		.sh_addralign = 1,
	};
	put(TABLE + 1, "5.3.1-12-g54eaed1d", 18);
	assert_string_equal(version(TABLE_END - TABLE, 0), "5.3.1");
	assert_string_equal(version(TABLE_END - TABLE - 1, 0), "too large");
	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		memset(file.data + TABLE, 0, TABLE_END - TABLE);
		put(TABLE + 1, none[i], strlen(none[i]));
		assert_string_equal(version(UINT64_MAX, 0), "none");
	}
	/* It begins in one piece that is read, of 64 KiB, and ends in the next one. */
	section(GO)->sh_offset = FILE_SIZE;
	section(GO)->sh_size = 128 << 10;
	for (off_t at = 0; at < 40; at++)
		assert_string_equal(version(UINT64_MAX, FILE_SIZE + (64 << 10) - at), "5.2.1");
}

TEST(nearest_and_unwinding)
{
	begin_unwinding();
	put_symbol("first", TEXT + 0x10, 0, STT_FUNC, STB_GLOBAL);
	put_label("loop", TEXT + 0x18);
	put_label("inside", TEXT + 0x88);
	expect(TEXT + 0x1f, "first~", TEXT + 0x10);
	expect(TEXT + 0x17, "first~", TEXT + 0x10);
	/* Another function, which has no name. */
	expect(TEXT + 0x20, "-", TEXT + 0x20);
	/* Code of no function, behind functions. */
	expect(TEXT + 0x40, "-", 0);
	put_label("free", TEXT + 0x38);
	expect(TEXT + 0x40, "free~", TEXT + 0x38);
	/* No symbol is at its beginning: the nearest one inside. */
	expect(TEXT + 0x9f, "inside~", TEXT + 0x88);
	expect(TEXT + 0x87, "-", TEXT + 0x80);
	expect(TEXT + 0xd0, "-", 0);
}

/* ---- Go ---- */

#define GO_NAMES       0x80  /* in the table */
#define GO_FUNCTIONS   0x100 /* likewise, for versions with an offset */
#define GO_DESCRIPTION 0x180

struct version {
	uint32_t magic;
	bool relative;
	size_t names, functions; /* words of the header that have these; 0: none */
};

static const struct version versions[] = {
	{0xfffffffb, false, 0, 0},
	{0xfffffffa, false, 3, 7},
	{0xfffffff0, true, 4, 8},
	{0xfffffff1, true, 4, 8},
};

static const char *const go_name[] = {"main.main", "main.(*Sessions).Login", "main.serve[...]"};

/* Functions of 0x40 bytes at the beginning of the code. */
static void begin_go(const struct version *v, const char *name)
{
	size_t table = TABLE + (v->functions ? GO_FUNCTIONS : 16);
	size_t base = v->functions ? table : TABLE, names = TABLE + (v->names ? GO_NAMES : 0);
	size_t text = names + (v->names ? 0 : GO_NAMES);

	begin_file();
	*section(GO) = (Elf64_Shdr){
		.sh_name = put_string(name),
		.sh_type = SHT_PROGBITS,
		.sh_flags = SHF_ALLOC,
		.sh_addr = TABLE,
		.sh_offset = TABLE,
		.sh_size = TABLE_END - TABLE,
		.sh_addralign = 32,
	};
	put32(TABLE, v->magic);
	put32(TABLE + 4, 0x08010000);
	put64(TABLE + 8, ARRAY_SIZE(go_name));
	if (v->names)
		put64(TABLE + v->names * 8, GO_NAMES);
	if (v->functions)
		put64(TABLE + v->functions * 8, GO_FUNCTIONS);
	if (v->relative)
		put64(TABLE + 24, TEXT);
	for (uint32_t i = 0; i <= ARRAY_SIZE(go_name); i++) {
		uint32_t description = TABLE + GO_DESCRIPTION + i * 16 - (uint32_t)base;

		if (v->relative) {
			put32(table + i * 8, i * 0x40);
			put32(table + i * 8 + 4, description);
		} else {
			put64(table + i * 16, TEXT + i * 0x40);
			put64(table + i * 16 + 8, description);
		}
		if (i == ARRAY_SIZE(go_name))
			break;
		put32(base + description + (v->relative ? 4 : 8), (uint32_t)(text - names));
		put(text, go_name[i], strlen(go_name[i]) + 1);
		text += strlen(go_name[i]) + 1;
	}
}

static void expect_go(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(go_name); i++) {
		expect(TEXT + i * 0x40, go_name[i], TEXT + i * 0x40);
		expect(TEXT + i * 0x40 + 0x3f, go_name[i], TEXT + i * 0x40);
	}
	expect(TEXT - 1, "-", 0);
	expect(TEXT + 0xc0, "-", 0);
}

TEST(go)
{
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		begin_go(&versions[i], ".gopclntab");
		expect_go();
		begin_go(&versions[i], ".data.rel.ro.gopclntab");
		expect_go();
		/* A symbol knows better. */
		put_symbol("a_symbol", TEXT + 0x50, 0x10, STT_FUNC, STB_GLOBAL);
		expect(TEXT + 0x50, "a_symbol", TEXT + 0x50);
		expect(TEXT + 0x4f, go_name[1], TEXT + 0x40);
	}
}

/* The beginning of the code, where the header does not have it. */
TEST(go_text)
{
	begin_go(&versions[3], ".gopclntab");
	put64(TABLE + 24, 0);
	/* Other code is behind that of Go. */
	expect(TEXT, "-", 0);
	section(CODE)->sh_size = 0xc0 + 8;
	expect_go();
	section(CODE)->sh_size = 0xc0 - 1;
	expect(TEXT, "-", 0);
	/* It is relocated. */
	section(CODE)->sh_size = TEXT_SIZE;
	*section(RELOCATIONS) = (Elf64_Shdr){
		.sh_type = SHT_RELA, .sh_offset = RELA, .sh_size = 48, .sh_entsize = 24};
	put64(RELA + 16, TEXT + 1);
	put64(RELA + 24, TABLE + 24);
	put64(RELA + 40, TEXT);
	expect_go();
	/* To an address that is none of the code. */
	put64(RELA + 40, 0x8000);
	expect(TEXT, "-", 0);
	put64(TABLE + 24, 0x8000);
	expect(TEXT, "-", 0);
}

/* The linker of C puts the table among other data. */
TEST(go_in_data)
{
	begin_go(&versions[3], ".data.rel.ro");
	expect(TEXT, "-", 0);
	section(RELOCATIONS)->sh_type = SHT_PROGBITS;
	section(RELOCATIONS)->sh_name = put_string(".go.buildinfo");
	expect_go();
	section(GO)->sh_addr = section(GO)->sh_offset = TABLE - 0x400;
	section(GO)->sh_size += 0x400;
	expect_go();
	/* Where no table begins. */
	section(GO)->sh_addr = section(GO)->sh_offset = TABLE - 0x410;
	expect(TEXT, "-", 0);
}

TEST(bad_go)
{
	static const struct {
		size_t at;
		uint32_t value;
	} bad[] = {
		{TABLE, 0xfffffff2},	 /* a version that is not known */
		{TABLE + 4, 0x08010001}, /* what is always 0 */
		{TABLE + 4, 0x04010000}, /* addresses of 32 bits */
		{TABLE + 4, 0x08030000}, /* instructions of 3 bytes */
		{TABLE + 8, 0},		 /* no functions */
		{TABLE + 8, UINT32_MAX}, /* more than there is room for */
		{TABLE + 12, UINT32_MAX},
		{TABLE + 32, TABLE_END - TABLE}, /* names behind the end */
		{TABLE + 36, UINT32_MAX},
		{TABLE + 64, TABLE_END - TABLE}, /* the functions */
		{TABLE + 68, UINT32_MAX},
		{TABLE + GO_FUNCTIONS + 4, UINT32_MAX}, /* a description */
		{TABLE + GO_FUNCTIONS + 4, TABLE_END - TABLE},
		{TABLE + GO_DESCRIPTION + 4, UINT32_MAX}, /* a name */
		{TABLE + GO_DESCRIPTION + 4, TABLE_END - TABLE},
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		begin_go(&versions[3], ".gopclntab");
		put32(bad[i].at, bad[i].value);
		expect(TEXT + 0x20, "-", 0);
	}
	/* A name goes to the end of the section. */
	begin_go(&versions[3], ".gopclntab");
	memset(file.data + TABLE_END - 4, 'x', 8);
	put32(TABLE + GO_DESCRIPTION + 4, TABLE_END - 4 - TABLE - GO_NAMES);
	expect(TEXT + 0x20, "xxxx", TEXT);
}
