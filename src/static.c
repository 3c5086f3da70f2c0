// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the static program has instead of parts of its libraries. A linker takes an object from an
 * archive if it defines a name that is still missing. The names here are not missing, so the linker
 * leaves their objects out. All are weak: if an object is needed for another name, the library's
 * own definitions count, and the program is larger.
 */
#include <search.h>
#include <stddef.h>
#include <stdint.h>

#define WEAK __attribute__((weak))

/* For what is never called. A call would be a bug, and ends the program. */
static void absent(void)
{
	__builtin_trap();
}

#define ABSENT(name) WEAK __attribute__((alias("absent"))) void name(void)

/* For what is called and has nothing to do. */
static void *nothing(void)
{
	return NULL;
}

#define NOTHING(name) WEAK __attribute__((alias("nothing"))) void *name(void)

/* For what a file of another program may reach. The value is an error of zlib and of zstd. */
static size_t refuse(void)
{
	return (size_t)-1;
}

#define REFUSES(name) WEAK __attribute__((alias("refuse"))) size_t name(void)

/* ---- libelf ---- */

/*
 * elfutils 0.192 moved the tree of raw chunks of an ELF file from libelf.a to a library that Debian
 * 13 does not ship. These do what libelf expects: an empty tree at first, and freed nodes at the
 * end.
 */
struct search_tree {
	void *root;
};

void eu_search_tree_init(struct search_tree *tree);
void eu_search_tree_fini(struct search_tree *tree, void (*free_node)(void *));

WEAK void eu_search_tree_init(struct search_tree *tree)
{
	tree->root = NULL;
}

WEAK void eu_search_tree_fini(struct search_tree *tree, void (*free_node)(void *))
{
	tdestroy(tree->root, free_node);
}

/* zlib's part that compresses sections. Nothing here writes such files. */
REFUSES(deflate);
REFUSES(deflateInit_);
REFUSES(deflateEnd);

/* ---- libdw ---- */

/* Files of other architectures. No thread here has their registers. */
NOTHING(alpha_init);
NOTHING(arc_init);
NOTHING(bpf_init);
NOTHING(csky_init);
NOTHING(hexagon_init);
NOTHING(i386_init);
NOTHING(ia64_init);
NOTHING(loongarch_init);
NOTHING(m68k_init);
NOTHING(mips_init);
NOTHING(ppc64_init);
NOTHING(ppc_init);
NOTHING(riscv_init);
NOTHING(s390_init);
NOTHING(sh_init);
NOTHING(sparc_init);
NOTHING(arm_init);
#if !defined(__x86_64__)
NOTHING(x86_64_init);
#endif
#if !defined(__aarch64__)
NOTHING(aarch64_init);
#endif

/* For this architecture: disassembly, results of functions, core files, stopped threads. */
ABSENT(x86_64_disasm);
ABSENT(x86_64_set_initial_registers_tid);
ABSENT(x86_64_return_value_location);
ABSENT(x86_64_core_note);
ABSENT(x32_core_note);
ABSENT(aarch64_return_value_location);
ABSENT(aarch64_core_note);
ABSENT(aarch64_set_initial_registers_tid);

/* Packed files, and files of a server. The program gives libdw open files alone. */
REFUSES(__libdw_gunzip);
REFUSES(__libdw_bunzip2);
REFUSES(__libdw_unlzma);
REFUSES(__libdw_unzstd);
REFUSES(__libdwfl_debuginfod_find_executable);
REFUSES(__libdwfl_debuginfod_find_debuginfo);
NOTHING(__libdwfl_debuginfod_end);

/* ---- libbpf ---- */

/* The configuration of the kernel, which no BPF program here reads. */
NOTHING(gzopen);
NOTHING(gzopen64);
NOTHING(gzgets);
NOTHING(gzclose);

/* USDT probes. libbpf prepares them for each object; none here has any. */
NOTHING(usdt_manager_new);
NOTHING(usdt_manager_free);
ABSENT(usdt_manager_attach_usdt);

/* The writer of light skeletons. bpftool has written them at build time. */
NOTHING(bpf_gen__free);
ABSENT(bpf_gen__init);
ABSENT(bpf_gen__finish);
ABSENT(bpf_gen__load_btf);
ABSENT(bpf_gen__map_create);
ABSENT(bpf_gen__map_freeze);
ABSENT(bpf_gen__map_update_elem);
ABSENT(bpf_gen__populate_outer_map);
ABSENT(bpf_gen__prog_load);
ABSENT(bpf_gen__record_attach_target);
ABSENT(bpf_gen__record_extern);
ABSENT(bpf_gen__record_relo_core);

/* ---- libzstd: recordings are written with one strategy; these are the others ---- */

#define STRATEGY(name)                                                                             \
	ABSENT(ZSTD_compressBlock_##name);                                                         \
	ABSENT(ZSTD_compressBlock_##name##_extDict);                                               \
	ABSENT(ZSTD_compressBlock_##name##_dictMatchState)
#define STRATEGY_OF_ROWS(name)                                                                     \
	STRATEGY(name);                                                                            \
	ABSENT(ZSTD_compressBlock_##name##_row);                                                   \
	ABSENT(ZSTD_compressBlock_##name##_extDict_row);                                           \
	ABSENT(ZSTD_compressBlock_##name##_dictMatchState_row);                                    \
	ABSENT(ZSTD_compressBlock_##name##_dedicatedDictSearch);                                   \
	ABSENT(ZSTD_compressBlock_##name##_dedicatedDictSearch_row)

STRATEGY(fast);
ABSENT(ZSTD_fillHashTable);
STRATEGY_OF_ROWS(greedy);
STRATEGY_OF_ROWS(lazy);
STRATEGY_OF_ROWS(lazy2);
STRATEGY(btlazy2);
ABSENT(ZSTD_dedicatedDictSearch_lazy_loadDictionary);
ABSENT(ZSTD_insertAndFindFirstIndex);
ABSENT(ZSTD_row_update);
STRATEGY(btopt);
STRATEGY(btultra);
ABSENT(ZSTD_compressBlock_btultra2);
ABSENT(ZSTD_updateTree);

/* Frames of zstd 0.5 to 0.7. No recording has them, but a damaged file may look as if. */
void refuse_frame(const void *data, size_t size, size_t *ret_packed, uint64_t *ret_size);

WEAK void refuse_frame(const void *data, size_t size, size_t *ret_packed, uint64_t *ret_size)
{
	(void)data;
	(void)size;
	*ret_packed = refuse();
	*ret_size = (uint64_t)-2; /* ZSTD_CONTENTSIZE_ERROR */
}

#define LEGACY(version)                                                                            \
	WEAK __attribute__((alias("refuse_frame"))) void ZSTD##version##_findFrameSizeInfoLegacy(  \
		const void *, size_t, size_t *, uint64_t *);                                       \
	REFUSES(ZSTD##version##_getFrameParams);                                                   \
	NOTHING(ZSTD##version##_createDCtx);                                                       \
	NOTHING(ZSTD##version##_freeDCtx);                                                         \
	REFUSES(ZSTD##version##_decompress_usingDict);                                             \
	NOTHING(ZBUFF##version##_createDCtx);                                                      \
	NOTHING(ZBUFF##version##_freeDCtx);                                                        \
	REFUSES(ZBUFF##version##_decompressInitDictionary);                                        \
	REFUSES(ZBUFF##version##_decompressContinue)

LEGACY(v05);
LEGACY(v06);
LEGACY(v07);

/* ---- libtinfo ---- */

/* A search for standard capabilities by name. ncurses searches by name only for extended ones. */
NOTHING(_nc_find_type_entry);

/* ---- libc: what takes the most, and is never called ---- */

/* The program reads no number as float or long double, and prints none with %a. */
ABSENT(__strtof_internal);
ABSENT(__strtold_internal);
ABSENT(__strtof128_internal);
ABSENT(__printf_fphex);

/*
 * Loading of shared libraries. libc loads one for a character set other than UTF-8, and it would
 * have to be of exactly this libc. So there is no search path, and no library asks for executable
 * stacks.
 */
NOTHING(__gconv_find_shlib);
NOTHING(__gconv_release_shlib);
NOTHING(_dl_init_paths);
NOTHING(_dl_mcount_wrapper_check);
ABSENT(__nptl_change_stack_perm);
ABSENT(_dl_make_stacks_executable);
ABSENT(_dl_fixup);
ABSENT(_dl_profile_fixup);

/* ---- libgcc: unwinding, see src/static.ld ---- */

ABSENT(_Unwind_ForcedUnwind);
ABSENT(_Unwind_GetCFA);
ABSENT(_Unwind_Resume);
ABSENT(__gcc_personality_v0);
