/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is said of cached files and of mappings below their tables. */
#ifndef ZMEM_FIELDS_FILE_SAID_H
#define ZMEM_FIELDS_FILE_SAID_H

#include "fields/sentence.h"

/* Rows are struct files_report. One sentence for each enum file_account: its sum. */
extern const struct sentences files_account_said;
extern const struct sentences files_missing_said;
/* Rows are struct maps_report. */
extern const struct sentences maps_said;

#endif
