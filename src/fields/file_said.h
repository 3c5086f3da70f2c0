/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is said of files, and of mappings. */
#ifndef ZMEM_FIELDS_FILE_SAID_H
#define ZMEM_FIELDS_FILE_SAID_H

#include "fields/sentence.h"

/* Rows are struct files_report: how its sums compare with the kernel's; its rows; how it was read.
 */
extern const struct sentences file_accounts_said, file_total_said, file_unsure_said;
/* Rows are pointers to struct cached_file, of struct file_texts: a file, and what holds it. */
extern const struct sentences file_held_said;
/* Rows are struct maps_report. */
extern const struct sentences maps_said;

#endif
