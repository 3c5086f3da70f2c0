/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of C++ and Rust as their programmers write them. */
#ifndef ZMEM_DEMANGLE_DEMANGLE_H
#define ZMEM_DEMANGLE_DEMANGLE_H

#include <stdbool.h>

#include "base/strbuf.h"

/*
 * Rust's first scheme: _ZN, lengths and names, a name of h and 16 hexadecimal digits, E. Writes the
 * path without the hash. Returns false, and writes nothing, if the name is another one. Pure.
 */
bool demangle_rust(const char *name, struct strbuf *out);
/* Rust's second scheme, v0: _R and a path. Likewise. */
bool demangle_rust_v0(const char *name, struct strbuf *out);
/*
 * C++ by libstdc++, where it can be loaded, without the parameters. Likewise. It has no bound: call
 * it in a helper (demangler.h).
 */
bool demangle_cxx(const char *name, struct strbuf *out);
/* Loads libstdc++, which a helper cannot. */
void demangle_load(void);
/*
 * Names of Rust; other names are written as they are, without their version. Returns true if the
 * name may be one of C++: then demangle_cxx() has a better text.
 */
bool demangle(const char *name, struct strbuf *out);

#endif
