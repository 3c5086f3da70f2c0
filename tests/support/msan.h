/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * With SAN=memory every C file of the program and of its unit tests includes this header first.
 * MSan sees what the program writes and what the C library writes. It does not see what other
 * libraries write, nor what a raw system call writes. So three kinds of functions are replaced:
 * - A library writes to the program's memory: the bytes that it wrote are marked, and no other.
 * - A library reads data of the program: the data is checked (msan_check).
 * - A library hands its own memory to the C library: MSan checks nothing meanwhile (msan_library).
 */
#ifndef TESTS_MSAN_H
#define TESTS_MSAN_H

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <dlfcn.h>
#include <gelf.h>
#include <malloc.h>
#include <sanitizer/msan_interface.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

/* serve limits its files and its memory. A sanitizer needs more, so sandbox.h does not. */
#define SANITIZED 1

/* A unit test defines bpf_map_lookup_elem() as a macro of its own. */
#pragma clang diagnostic ignored "-Wmacro-redefined"

/* A constructor of a library may call our code before MSan is ready. So MSan starts first. */
void __msan_init(void);
__attribute__((section(".preinit_array"), used)) static void (*msan_first)(void) = __msan_init;

#define msan_check(data, size) __msan_check_mem_is_initialized(data, size)

/*
 * For a library that hands its own memory to functions of the C library. MSan checks the arguments
 * of these functions, and does not know that the library has written there.
 */
#define msan_library(call)                                                                         \
	({                                                                                         \
		__typeof__(call) msan_ret;                                                         \
                                                                                                   \
		__msan_scoped_disable_interceptor_checks();                                        \
		msan_ret = (call);                                                                 \
		__msan_scoped_enable_interceptor_checks();                                         \
		msan_ret;                                                                          \
	})

/* The result of a call that has written `*to` if the result is `wanted`: "== 0" or "!= NULL". */
#define msan_fills(to, wanted, call)                                                               \
	({                                                                                         \
		__typeof__(call) msan_got = msan_library(call);                                    \
                                                                                                   \
		if (msan_got wanted)                                                               \
			__msan_unpoison(to, sizeof(*(to)));                                        \
		msan_got;                                                                          \
	})

/* The call has written `n` bytes. A negative `n` is an error, of zstd as well. */
static inline size_t msan_wrote(void *to, size_t n)
{
	if ((ssize_t)n > 0)
		__msan_unpoison(to, n);
	return n;
}

/* The call has written a text, or returns NULL. */
static inline char *msan_wrote_text(char *text)
{
	if (text)
		__msan_unpoison_string(text);
	return text;
}

/* ---- the kernel and the C library ---- */

/* Of the system calls that are made directly, these fill memory. */
static inline long msan_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	long r = syscall(number, a, b, c, d, e, f);

	if (r == 0 && (number == SYS_getsockname || number == SYS_getpeername)) {
		__msan_unpoison((void *)c, sizeof(unsigned));
		__msan_unpoison((void *)b, *(const unsigned *)c);
	}
	return number == SYS_read || number == SYS_getdents64
		       ? (long)msan_wrote((void *)b, (size_t)r)
		       : r;
}
#define MSAN_SYSCALL(number, a, b, c, d, e, f, ...)                                                \
	msan_syscall(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define syscall(...) MSAN_SYSCALL(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)

static inline struct mallinfo2 msan_mallinfo2(void)
{
	struct mallinfo2 info = mallinfo2();

	__msan_unpoison(&info, sizeof(info));
	return info;
}
#define mallinfo2() msan_mallinfo2()

/* ---- libstdc++, which is loaded for the names of C++ ---- */

static char *(*msan_real_demangle)(const char *name, char *buf, size_t *len, int *status);

static inline char *msan_demangle(const char *name, char *buf, size_t *len, int *status)
{
	return msan_wrote_text(msan_library(msan_real_demangle(name, buf, len, status)));
}

static inline void *msan_dlsym(void *library, const char *name)
{
	void *function = dlsym(library, name);

	if (!function || strcmp(name, "__cxa_demangle") != 0)
		return function;
	memcpy(&msan_real_demangle, &function, sizeof(function));
	return (void *)(uintptr_t)msan_demangle;
}
#define dlsym(library, name) msan_dlsym(library, name)

/* ---- zlib ---- */

static inline int msan_zip(int (*function)(z_stream *z, int flush), z_stream *z, int flush)
{
	unsigned char *out = z->next_out;
	int r;

	msan_check(z->next_in, z->avail_in);
	r = function(z, flush);
	__msan_unpoison(z, sizeof(*z));
	__msan_unpoison(out, (size_t)(z->next_out - out));
	return r;
}
#define inflate(z, flush)	 msan_zip(inflate, z, flush)
#define deflate(z, flush)	 msan_zip(deflate, z, flush)
#define crc32(crc, data, size)	 (msan_check(data, size), crc32(crc, data, size))
#define crc32_z(crc, data, size) (msan_check(data, size), crc32_z(crc, data, size))

/* ---- zstd ---- */

#define ZSTD_compress(to, room, data, size, level)                                                 \
	(msan_check(data, size), msan_wrote(to, ZSTD_compress(to, room, data, size, level)))
#define ZSTD_compress2(ctx, to, room, data, size)                                                  \
	(msan_check(data, size), msan_wrote(to, ZSTD_compress2(ctx, to, room, data, size)))
#define ZSTD_compress_usingDict(ctx, to, room, data, size, base, base_size, level)                 \
	(msan_check(data, size), msan_check(base, base_size),                                      \
	 msan_wrote(to,                                                                            \
		    ZSTD_compress_usingDict(ctx, to, room, data, size, base, base_size, level)))
#define ZSTD_decompress_usingDict(ctx, to, room, data, size, base, base_size)                      \
	(msan_check(data, size), msan_check(base, base_size),                                      \
	 msan_wrote(to, ZSTD_decompress_usingDict(ctx, to, room, data, size, base, base_size)))
#define ZSTD_decompressDCtx(ctx, to, room, data, size)                                             \
	(msan_check(data, size), msan_wrote(to, ZSTD_decompressDCtx(ctx, to, room, data, size)))

/* ---- libelf ---- */

static inline Elf_Data *msan_elf_getdata(Elf_Scn *section, Elf_Data *before)
{
	Elf_Data *data = msan_library(elf_getdata(section, before));

	if (data) {
		__msan_unpoison(data, sizeof(*data));
		__msan_unpoison(data->d_buf, data->d_buf ? data->d_size : 0);
	}
	return data;
}
#define elf_getdata(section, before) msan_elf_getdata(section, before)

#define elf_strptr(elf, section, at) msan_wrote_text(msan_library(elf_strptr(elf, section, at)))
#define gelf_getnote(data, at, note, name_at, text_at)                                             \
	msan_fills(text_at, != 0,                                                                  \
		   msan_fills(name_at, != 0,                                                       \
			      msan_fills(note, != 0,                                               \
					 gelf_getnote(data, at, note, name_at, text_at))))

#define elf_begin(fd, command, other) msan_library(elf_begin(fd, command, other))
#define elf_getphdrnum(elf, to)	      msan_fills(to, == 0, elf_getphdrnum(elf, to))
#define elf_getshdrstrndx(elf, to)    msan_fills(to, == 0, elf_getshdrstrndx(elf, to))
#define gelf_getehdr(elf, to)	      msan_fills(to, != NULL, gelf_getehdr(elf, to))
#define gelf_getphdr(elf, at, to)     msan_fills(to, != NULL, gelf_getphdr(elf, at, to))
#define gelf_getshdr(section, to)     msan_fills(to, != NULL, gelf_getshdr(section, to))
#define gelf_getchdr(section, to)     msan_fills(to, != NULL, gelf_getchdr(section, to))
#define gelf_getsym(data, at, to)     msan_fills(to, != NULL, gelf_getsym(data, at, to))

/* ---- libbpf: `key` and `value` have the type of what is in the map ---- */

#define bpf_map_lookup_elem(fd, key, value)                                                        \
	msan_fills(value, == 0, bpf_map_lookup_elem(fd, key, value))
#define bpf_map_update_elem(fd, key, value, flags)                                                 \
	(msan_check(key, sizeof(*(key))), msan_check(value, sizeof(*(value))),                     \
	 bpf_map_update_elem(fd, key, value, flags))

static inline struct btf *msan_load_btf(void)
{
	struct btf *btf = msan_library(btf__load_vmlinux_btf());
	uint32_t size = 0;
	const void *data = btf ? btf__raw_data(btf, &size) : NULL;

	if (data)
		__msan_unpoison(data, size);
	return btf;
}
#define btf__load_vmlinux_btf() msan_load_btf()
#define btf__find_by_name_kind(btf, name, kind)                                                    \
	msan_library(btf__find_by_name_kind(btf, name, kind))

#define bpf_object__open_mem(data, size, opts) msan_library(bpf_object__open_mem(data, size, opts))
#define bpf_object__load(object)	       msan_library(bpf_object__load(object))
#define bpf_object__find_map_by_name(object, name)                                                 \
	msan_library(bpf_object__find_map_by_name(object, name))
#define bpf_object__find_program_by_name(object, name)                                             \
	msan_library(bpf_object__find_program_by_name(object, name))
#define bpf_prog_load(...)    msan_library(bpf_prog_load(__VA_ARGS__))
#define ring_buffer__new(...) msan_library(ring_buffer__new(__VA_ARGS__))

#endif
