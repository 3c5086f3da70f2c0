/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The parts of the name of a function, as demanglers write it. Pure. */
#ifndef ZMEM_MODEL_FUNCTION_NAME_H
#define ZMEM_MODEL_FUNCTION_NAME_H

#include "base/parse.h"

/*
 * The name without the type of its result, which a template of C++ has before it:
 * "void std::vector<int>::push_back<int>" is std::vector<int>::push_back<int>. A blank in brackets,
 * behind "operator" or before "const" begins no name.
 */
struct text_part function_name_part(const char *text);
/*
 * The bracket that closes the one at text[at], '<', '(', '[' or '{'; the length of the text if none
 * does. "->" closes nothing.
 */
size_t function_name_close(struct text_part text, size_t at);
/* True if the arguments of a template begin at text[at], and not an operator or a path of Rust. */
bool function_name_has_arguments(struct text_part text, size_t at);

#endif
