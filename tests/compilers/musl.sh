#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The program compiles against musl, with the headers of the kernel and of the other libraries that this machine
# has. It is not linked: Debian has these libraries for glibc alone.
. "$(dirname "$0")/../support/lib.sh"

o=$O/compilers/musl-gcc headers=$O/compilers/musl-gcc/headers
mkdir -p "$headers/sys"
for header in asm asm-generic linux bpf curses.h dwarf.h elfutils gelf.h libelf.h microhttpd.h ncurses_dll.h nlist.h sys/capability.h term.h \
	unctrl.h zconf.h zlib.h zstd.h zstd_errors.h; do
	for there in /usr/include/$header "/usr/include/$(gcc -print-multiarch)/$header"; do
		[ ! -e "$there" ] || ln -sfn "$there" "$headers/$header"
	done
done
run_expect 0 'compiles against musl, without a warning' make --no-print-directory -j"$(nproc)" O="$o" CC=musl-gcc \
	CPPFLAGS="-idirafter $headers" WERROR=-Werror objects
