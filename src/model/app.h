/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What people call a program that runs: the main class or jar of java, the role of a process of
 * postgres, the pool of php-fpm, the profile of a browser; else its name (program.h). Only words at
 * known positions of a command line or of a title become a part of it.
 */
#ifndef ZMEM_MODEL_APP_H
#define ZMEM_MODEL_APP_H

#include <stdbool.h>
#include <stddef.h>

#define APP_MAX 255 /* bytes; a longer one is not used */

/* True if the app can only be found in the command line. The same arguments as in program.h. */
bool app_needs_cmdline(const char *exe, const char *comm);

/* Writes the app, terminated; any bytes. Returns its length. The same arguments as in program.h. */
size_t app_of(const char *exe, const char *comm, const char *cmdline, size_t len,
	      char ret[APP_MAX + 1]);

#endif
