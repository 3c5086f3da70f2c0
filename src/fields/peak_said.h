/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is said of a peak. Rows are struct peak. */
#ifndef ZMEM_FIELDS_PEAK_SAID_H
#define ZMEM_FIELDS_PEAK_SAID_H

#include "fields/sentence.h"

extern const struct sentences peak_when_said, peak_time_said, peak_pss_said, peak_end_said;
/* About the page: its curve, and the processes that are behind a line. */
extern const struct sentences peak_page_said, peak_nothing_said, peak_length_said;

#endif
