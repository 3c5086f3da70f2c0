// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The parts of grow that need no kernel: names, stacks, pages, symbols of this program. */
#include "unit.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "code/address_space.h"
#include "code/code_file.h"
#include "demangle/demangle.h"
#include "grow/touched.h"
#include "model/stack_table.h"
#include "privilege/privilege.h"
#include "temp_directory.h"

/* ---- names ---- */

/* A name that is refused writes nothing. */
static void check_name(bool (*demangle)(const char *, struct strbuf *), const char *name,
		       const char *expected)
{
	cleanup(strbuf_done) struct strbuf out = {};
	bool is = demangle(name, &out);

	assert_string_equal(strbuf_str(&out), expected ? expected : "");
	assert_int_equal(is, expected != NULL);
}

#define check_rust(name, expected) check_name(demangle_rust, name, expected)
#define check_v0(name, expected)   check_name(demangle_rust_v0, name, expected)

TEST(rust)
{
	check_rust("_ZN4leak8Sessions5login17hb4819d4e83affbaeE", "leak::Sessions::login");
	check_rust("_ZN3std2rt10lang_start28_$u7b$$u7b$closure$u7d$$u7d$17h71acb6ed29efb28bE",
		   "std::rt::lang_start::{{closure}}");
	check_rust("_ZN63_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..clone..Clone$GT$5clone17h"
		   "0123456789abcdefE",
		   "<alloc::vec::Vec<T> as core::clone::Clone>::clone");
	/* C++, a hash that is none, lengths that lie, no end. */
	check_rust("_ZN4shop4Cart3addEi", NULL);
	check_rust("_ZN4leak5login17hb4819d4e83affbagE", NULL);
	check_rust("_ZN99leak5login17hb4819d4e83affbaeE", NULL);
	check_rust("_ZN18446744073709551615a", NULL);
	check_rust("_ZN4leak17hb4819d4e83affbae", NULL);
	check_rust("_ZN17hb4819d4e83affbaeE", NULL);
	check_rust("_ZN", NULL);
	check_rust("main", NULL);
}

/* Names of rustc 1.63 and 1.95, then one for each other production of RFC 2603. */
TEST(rust_v0)
{
	static const char *const names[][2] = {
		{"_RNvCsgXg7Y2wCWAF_4leak4main", "leak::main"},
		{"_RNvMCsbmNqQUJIY6D_4leakNtB2_8Sessions5login", "<leak::Sessions>::login"},
		{"_RINvNtC4leaku8gre_xja0f6fllen_kvaNCNvB4_4main0E", NULL},
		{"_RNvNvMsi_NtCs1_3std4testNtB7_4Test3runs_5inner",
		 "<std::test::Test>::run::inner"},
		{"_RNvXs_C4leakNtB4_8SessionsINtB4_4KeepKj1000_E4keep",
		 "<leak::Sessions as leak::Keep<4096>>::keep"},
		{"_RNvYNtC4leak8SessionsNtB4_4Keep4keep", "<leak::Sessions as leak::Keep>::keep"},
		{"_RNCNvC4leak4main0", "leak::main::{closure#0}"},
		{"_RNCNvC4leak4mains_0.llvm.123", "leak::main::{closure#1}"},
		{"_RNSNvC4leak4main6vtable", "leak::main::{shim:vtable#0}"},
		{"_RNvC6_123foo3bar", "123foo::bar"},
		{"_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
		 "utf8_idents::საჭმელად_გემრიელი_სადილი"},
		{"_RINvC1a1fabcdefhijlmnopstuvxyzE",
		 "a::f::<i8, bool, char, f64, str, f32, u8, isize, usize, i32, u32, i128, u128, _, i16, "
		 "u16, (), ..., i64, u64, !>"},
		{"_RINvC1a1fAhj3_ShTETaETabERaQaPaOaE",
		 "a::f::<[u8; 3], [u8], (), (i8,), (i8, bool), &i8, &mut i8, *const i8, *mut i8>"},
		{"_RINvC1a1fFEuFUKCaEbFK6systemEuE",
		 "a::f::<fn(), unsafe extern \"C\" fn(i8) -> bool, extern \"system\" fn()>"},
		{"_RINvC1a1fFG_RL0_aEuDG_INtC1b1tRL0_aEp1OaC1cEL_E",
		 "a::f::<for<'a> fn(&'a i8), dyn for<'a> b::t<&'a i8, O = i8> + c>"},
		{"_RINvC1a1fL_KpKb1_Kc61_Kc27_Kln2a_Ko123456789abcdef01_E",
		 "a::f::<'_, _, true, 'a', '\\'', -42, 0x123456789abcdef01>"},
		{"_RINvC1a1fKRe616263_KAhj1_h2_EKTh1_EKVNtC1b1SS1xh5_EE", NULL},
		{"_RINvC1a1fKRe616263_KAh1_h2_EKTh1_EKVNtC1b1SS1xh5_EKVNtC1b1UUE",
		 "a::f::<\"abc\", {[1, 2]}, {(1,)}, {b::S { x: 5 }}, {b::U}>"},
		/* Wrong ones. */
		{"_R", NULL},
		{"_Rust_function", NULL},
		{"_RC", NULL},
		{"_RNvC4leak9main", NULL},
		{"_RNvC4leak4mainX", NULL},
		{"_RNvB_4main", NULL},
		{"_RNvB9_4main", NULL},
		{"_RINvC1a1fL0_E", NULL},
		{"_RINvC1a1fKcd800_E", NULL},
		{"_RINvC1a1fKb2_E", NULL},
		{"_RNvCszzzzzzzzzzzzzzzz_1a1f", NULL},
		{"_RNvC99999999999999999999999a1f", NULL},
		{"_RINvC1a1fFGzzzzzz_EuE", NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		check_v0(names[i][0], names[i][1]);
}

/* A short name that stands for an endless one, and one of many levels. */
TEST(rust_v0_bounds)
{
	cleanup(strbuf_done) struct strbuf name = {}, again = {};

	/* Each tuple is twice the one before. */
	strbuf_puts(&name, "_RINvC1a1fTaaE");
	for (unsigned i = 0, at = 8; i < 60; i++) {
		static const char digit[] =
			"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
		unsigned here = (unsigned)name.len - 2, n = at - 1;
		char back[4] = {n >= 62 ? digit[n / 62] : digit[n], n >= 62 ? digit[n % 62] : '_',
				n >= 62 ? '_' : '\0'};

		strbuf_printf(&name, "TB%sB%sE", back, back);
		at = here;
	}
	strbuf_putc(&name, 'E');
	check_v0(strbuf_str(&name), NULL);
	strbuf_puts(&again, "_RINvC1a1f");
	strbuf_fill(&again, 'S', 100000);
	strbuf_puts(&again, "aE");
	check_v0(strbuf_str(&again), NULL);
}

TEST(other_names)
{
	static const char *const names[][2] = {
		{"main", "main"},
		{"__libc_start_main@@GLIBC_2.34", "__libc_start_main"},
		{"remember.constprop.0", "remember.constprop.0"},
		{"_Zbroken", "_Zbroken"},
		{"_ZN4leak5login17hb4819d4e83affbaeE.llvm.1", "leak::login"},
		{"_RNvC4leak5login.llvm.1", "leak::login"},
		{"_Rust", "_Rust"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		cleanup(strbuf_done) struct strbuf out = {};

		demangle(names[i][0], &out);
		assert_string_equal(strbuf_str(&out), names[i][1]);
	}
}

TEST(cxx)
{
	static const char *const names[][2] = {
		{"_Z3usei", "use"},
		{"_ZN12_GLOBAL__N_16hiddenEi", "(anonymous namespace)::hidden"},
		{"_ZN12_GLOBAL__N_16hiddenE", "(anonymous namespace)::hidden"},
		{"_ZN1A4makeIlEET_PFS1_iE", "long A::make<long>"},
		{"_ZN1AcviEv", "A::operator int"},
		{"_ZNK1A4growEi", "A::grow"},
		{"_ZNO1AclEc", "A::operator()"},
		{"_ZZ3useiENKUliE_clEi", "use(int)::{lambda(int)#1}::operator()"},
		{"_ZZ3useiENKUlvE0_clEv", "use(int)::{lambda()#2}::operator()"},
		{"_ZZ3useiE1a", "use(int)::a"},
		{"_ZSt4moveIRiEONSt16remove_referenceIT_E4typeEOS2_",
		 "std::remove_reference<int&>::type&& std::move<int&>"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		cleanup(strbuf_done) struct strbuf out = {};

		assert_true(demangle_cxx(names[i][0], &out));
		assert_string_equal(strbuf_str(&out), names[i][1]);
	}
}

/* ---- the table of stacks ---- */

TEST(stacks)
{
	cleanup(stack_table_done) struct stack_table t = {};
	uint32_t code[3], stack, again;

	for (uint32_t i = 0; i < 20000; i++) {
		struct code c = {.file = i % 7, .vaddr = i};

		assert_int_equal(stack_table_code(&t, &c, &code[i % 3]), 0);
		assert_int_equal(code[i % 3], i);
		assert_int_equal(stack_table_stack(&t, &code[i % 3], 1, false, &stack), 0);
		assert_int_equal(stack, i);
		assert_int_equal(stack_table_stack(&t, &code[i % 3], 1, false, &again), 0);
		assert_int_equal(again, stack);
	}
	assert_int_equal(stack_table_stack(&t, code, 3, true, &again), 0);
	assert_int_equal(again, 20000);
	assert_int_equal(stack_table_label(&t, "[one]", &code[0]), 0);
	assert_int_equal(stack_table_label(&t, "[two]", &code[1]), 0);
	assert_int_equal(stack_table_label(&t, "[one]", &code[2]), 0);
	assert_int_equal(code[0], code[2]);
	assert_int_not_equal(code[0], code[1]);
}

/* What has no room is counted with a label, for which there is room. */
TEST(full_table)
{
	cleanup(stack_table_done) struct stack_table t = {};
	uint32_t code, stack;

	for (uint32_t i = 0; i < STACKS_MAX; i++) {
		assert_int_equal(stack_table_code(&t, &(struct code){.vaddr = i}, &code), 0);
		assert_int_equal(stack_table_stack(&t, &code, 1, false, &stack), 0);
	}
	assert_int_equal(stack_table_stack(&t, &code, 1, true, &stack), -ENOSPC);
	assert_int_equal(stack_table_label(&t, "[one]", &code), 0);
	assert_int_equal(stack_table_stack(&t, &code, 1, false, &stack), 0);
}

/* ---- pages that are still there ---- */

static void add_bytes(void *arg, uint32_t stack, uint64_t bytes)
{
	((uint64_t *)arg)[stack] += bytes;
}

/* A pagemap with a page in RAM, one in swap, and one that is gone. */
IN_DIRECTORY(touched)
{
	static const uint64_t entry[] = {0, UINT64_C(1) << 63, UINT64_C(1) << 62, 0};
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct address_space space = {.pid_fd = open(".", O_PATH | O_CLOEXEC)};
	cleanup(touched_done) struct touched t = {};
	struct process_reader *from = calloc(1, sizeof(*from));
	uint64_t bytes[ARRAY_SIZE(entry)] = {};
	struct helpers helpers = {.hurry_fd = -1};
	cleanup_fclose FILE *f = fopen("pagemap", "w");

	assert_int_equal(fwrite(entry, sizeof(entry), 1, f), 1);
	fflush(f);
	assert_non_null(from);
	process_reader_init(from, &helpers);
	/* A page that was touched twice belongs to the second stack. */
	for (uint32_t i = 0; i < ARRAY_SIZE(entry); i++) {
		touched_add(&t, &space, from, (struct touched_page){i + 1, 2, 1});
		touched_add(&t, &space, from, (struct touched_page){i + 1, i, 1});
	}
	assert_int_equal(touched_check(&t, &space, from, add_bytes, bytes), 0);
	assert_int_equal(t.count, 2);
	assert_int_equal(bytes[0], page);
	assert_int_equal(bytes[1], page);
	assert_int_equal(bytes[2], 0);
	close(space.pid_fd);
	helper_done(&from->helper);
	free(from);
}

/* Pages that are added and moved at random, beside an array with one entry for each page. */
#define MODEL 4096

static void assert_same(const struct touched *t, const uint32_t *model)
{
	size_t count = 0;

	for (size_t i = 0; i < MODEL; i++)
		count += model[i] != 0;
	assert_int_equal(t->count, count);
	for (size_t i = 0; i < t->slots; i++) {
		if (t->slot[i].page)
			assert_int_equal(t->slot[i].stack, model[t->slot[i].page]);
	}
}

TEST(touched_moves)
{
	static uint32_t model[MODEL], moved[MODEL];
	const struct address_space no_space = {.pid_fd = -1};
	cleanup(touched_done) struct touched t = {};
	uint32_t seed = 1;

	touched_move(&t, 1, 2, 1);
	for (uint32_t turn = 1; turn < 3000; turn++) {
		uint32_t page, to, count;

		seed = seed * 1664525 + 1013904223;
		page = 1 + (seed >> 8) % (MODEL / 2 - 600);
		count = 1 + (seed >> 20) % 512;
		if (turn % 8) {
			model[page] = turn;
			touched_add(&t, &no_space, NULL, (struct touched_page){page, turn, 1});
			continue;
		}
		to = turn % 16 ? page + MODEL / 2 : page;
		page = turn % 16 ? page : page + MODEL / 2;
		memcpy(moved, &model[page], count * sizeof(*moved));
		memset(&model[page], 0, count * sizeof(*model));
		memcpy(&model[to], moved, count * sizeof(*moved));
		touched_move(&t, page, to, count);
		assert_same(&t, model);
	}
	assert_true(t.count > 100);
	/* Many more pages than there are. */
	touched_move(&t, 1, UINT64_C(1) << 32, UINT64_C(1) << 30);
	for (size_t i = 0; i < t.slots; i++)
		assert_true(!t.slot[i].page || t.slot[i].page >= UINT64_C(1) << 32);
	assert_int_equal(t.dropped, 0);
}

/* ---- symbols ---- */

__attribute__((noinline)) static int a_function(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}
enum { A_FUNCTION_END = __LINE__ - 1 };

struct named {
	const char *want;
	unsigned count;
};

static int count_name(void *arg, size_t i, uint64_t start, const char *name)
{
	struct named *n = arg;

	(void)start;
	assert_true(i == 1 || i == 3);
	assert_string_equal(name, n->want);
	n->count++;
	return 0;
}

/* With MSan libdw, which is loaded and not built for it, ends with SIGSEGV. */
#ifdef TESTS_MSAN_H
#define LINES_ASKED 0
#else
#define LINES_ASKED 2
#endif

static int count_line(void *arg, size_t i, uint64_t line, const char *source)
{
	struct named *n = arg;
	size_t len = strlen(source), want = strlen(n->want);

	assert_true(i == 1 || i == 3);
	assert_true(len >= want && strcmp(source + len - want, n->want) == 0);
	assert_uint_in_range(line, A_FUNCTION_END - 4, A_FUNCTION_END);
	n->count++;
	return 0;
}

/* A process like this one. Root's helpers read none with more capabilities than they have. */
static pid_t without_capabilities(void)
{
	int ready[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (privilege_leave(getuid(), getgid()) == 0 && write(ready[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return pid;
}

/*
 * This program, by the helpers: its own addresses have their names and lines, and none behind them
 * has.
 */
TEST(symbols)
{
	const pid_t pid = without_capabilities();
	struct code_sources sources;
	struct libdw dw;
	char why[256];
	struct address_space space;
	struct procfs proc;
	const struct image *image;
	uint64_t address = (uint64_t)(uintptr_t)a_function;
	struct named named = {.want = "a_function"}, line = {.want = "test_grow_parts.c"};
	struct program_file *file;
	size_t files;

	assert_int_equal(a_function(1), 2);
	assert_int_equal(libdw_load(&dw, why, sizeof(why)), 0);
	assert_int_equal(code_sources_open(&sources, &dw), 0);
	assert_int_equal(procfs_open(&proc, "/proc"), 0);
	assert_int_equal(address_space_open(&space, &proc, pid, 0, &sources), 0);
	image = code_space_find(&space.code, address);
	assert_non_null(image);
	assert_int_not_equal(image->file, NO_FILE);
	file = sources.files.item[image->file];
	address -= image->base;
	assert_int_equal(code_file_ready(&sources, image->file), 0);
	assert_int_equal(code_reader_name(file->reader, CODE_NAMES, image->file,
					  (uint64_t[]){UINT64_MAX, address + 2, 1, address, 1}, 5,
					  count_name, &named),
			 0);
	assert_int_equal(named.count, 2);
	assert_true(file->facts.has_lines);
	for (int i = 0; i < LINES_ASKED; i++)
		assert_int_equal(
			code_reader_name(file->reader, CODE_LINES, image->file,
					 (uint64_t[]){UINT64_MAX, address + 2, 1, address, 1}, 5,
					 count_line, &line),
			0);
	assert_int_equal(line.count, 2 * LINES_ASKED);
	assert_null(code_space_find(&space.code, 1));
	/* The same files, not twice. */
	files = sources.files.count;
	assert_int_equal(address_space_update(&space, &sources), 0);
	assert_int_equal(sources.files.count, files);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	address_space_close(&space);
	code_sources_close(&sources);
	procfs_close(&proc);
}

/* Functions that were compiled into another one, in the text of its line. */
TEST(inlined)
{
	char text[] = "/a/b.c\001f\00112\001/a/c.h\001g<x>\0010\001";
	char bad[] = "/a/b.c\001f\001x\001/a/c.h", none[] = "/a/b.c";
	char *rest = lines_end_path(text);
	struct inlined i;

	assert_string_equal(text, "/a/b.c");
	assert_true(lines_take_inlined(&rest, &i));
	assert_string_equal(i.name, "f");
	assert_int_equal(i.line, 12);
	assert_string_equal(i.source, "/a/c.h");
	assert_true(lines_take_inlined(&rest, &i));
	assert_string_equal(i.name, "g<x>");
	assert_int_equal(i.line, 0);
	assert_string_equal(i.source, "");
	assert_false(lines_take_inlined(&rest, &i));
	rest = lines_end_path(bad);
	assert_false(lines_take_inlined(&rest, &i));
	rest = lines_end_path(none);
	assert_false(lines_take_inlined(&rest, &i));
}

/* What a file costs is taken from the budget, and what is known costs nothing. */
TEST(budget)
{
	struct code_file file = CODE_FILE_CLOSED;
	struct symbol_budget budget = {1 << 28, 1 << 24}, before;
	struct code_name wanted[] = {{.address = 4096}, {.address = 1}};
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_int_equal(code_file_open(&file, fd, "/test", -1, false), 0);
	assert_int_equal(code_file_look_up(&file, wanted, 1, &budget), 0);
	assert_true(budget.bytes < 1 << 28);
	assert_true(budget.steps < 1 << 24);
	before = budget;
	assert_int_equal(code_file_look_up(&file, wanted, 1, &budget), 0);
	assert_memory_equal(&budget, &before, sizeof(budget));
	budget.bytes = 1000;
	assert_int_equal(code_file_look_up(&file, &wanted[1], 1, &budget), -EFBIG);
	assert_null(wanted[1].name);
	code_file_close(&file);
}

/* The symbol around an address; what it costs is bounded as in the program. */
static const char *name_one(int fd, int debug_fd, uint64_t vaddr, int *ret_error)
{
	static struct arena names;
	struct code_name wanted = {.address = vaddr};
	struct symbol_budget budget = {1 << 28, 1 << 24};
	int r;

	arena_clear(&names);
	r = functions_name(fd, debug_fd, &wanted, 1, &budget, &names);
	if (ret_error)
		*ret_error = r;
	return wanted.name;
}

/* Headers that promise what libelf would allocate: the file is small, or has holes. */
TEST(promises)
{
	static const char names[] = "\0.symtab";
	struct {
		Elf64_Ehdr e;
		Elf64_Shdr section[3];
		char names[sizeof(names)];
	} file = {
		.e = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		      .e_type = ET_DYN,
		      .e_version = EV_CURRENT,
		      .e_ehsize = sizeof(Elf64_Ehdr),
		      .e_shentsize = sizeof(Elf64_Shdr),
		      .e_shoff = sizeof(Elf64_Ehdr),
		      .e_shnum = 3,
		      .e_shstrndx = 2},
		.section = {{},
			    {.sh_name = 1, .sh_type = SHT_SYMTAB, .sh_entsize = sizeof(Elf64_Sym)},
			    {.sh_type = SHT_STRTAB, .sh_size = sizeof(names)}},
	};
	cleanup_close int fd = memfd_create("file", MFD_CLOEXEC);
	struct elf_facts facts;
	int error;

	memcpy(file.names, names, sizeof(names));
	file.section[2].sh_offset = offsetof(__typeof__(file), names);
	file.section[1].sh_link = 2;
	file.section[1].sh_offset = 4096;
	file.section[1].sh_size = (uint64_t)3 << 30;
	assert_int_equal(pwrite(fd, &file, sizeof(file), 0), sizeof(file));
	assert_int_equal(ftruncate(fd, (off_t)4 << 30), 0);
	assert_int_equal(elf_read_facts(fd, &facts), 0);
	assert_true(facts.has_symtab);
	assert_null(name_one(fd, -1, 0, &error));
	assert_int_equal(error, -EFBIG);
	/* A compressed table of names, which becomes any size. */
	file.section[1].sh_size = sizeof(Elf64_Sym);
	file.section[2].sh_flags = SHF_COMPRESSED;
	assert_int_equal(pwrite(fd, &file, sizeof(file), 0), sizeof(file));
	assert_null(name_one(fd, -1, 0, &error));
	assert_int_equal(error, 0);
	/* 60 million sections. */
	file.e.e_shnum = 0;
	file.section[0].sh_size = 60000000;
	assert_int_equal(pwrite(fd, &file, sizeof(file), 0), sizeof(file));
	assert_int_equal(elf_read_facts(fd, &facts), -ENOEXEC);
	/* A byte more than is read of any file. */
	file.e.e_shnum = 3;
	assert_int_equal(pwrite(fd, &file, sizeof(file), 0), sizeof(file));
	assert_int_equal(ftruncate(fd, ((off_t)4 << 30) + 1), 0);
	assert_int_equal(elf_read_facts(fd, &facts), -ENOEXEC);
}
