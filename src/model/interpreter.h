/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Interpreters and other programs that run what their arguments name. */
#ifndef ZMEM_MODEL_INTERPRETER_H
#define ZMEM_MODEL_INTERPRETER_H

#include "model/part.h"

struct interpreter;

/* NULL: it is none. With or without a version: "python3.11", no "node_exporter", no "php-fpm". */
const struct interpreter *interpreter_find(part name);
/* Whether its arguments are understood; if not, it is comm that tells a script. */
bool interpreter_has_options(const struct interpreter *i);
/* Whether a program that it runs may call itself what it likes (setproctitle). */
bool interpreter_has_titles(const struct interpreter *i);
/* BusyBox and the like: a program for each name it has. */
bool is_multi_call(part name);
/* The dynamic loader, which runs its argument. */
bool is_loader(part name);
extern const struct interpreter *const interpreter_loader;

/* Finds what is run; `w` is behind argv[0], and then behind what was found. */
bool interpreter_script(const struct interpreter *i, struct words *w, part *ret);

#endif
