/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The pages of src/report/page, which the Makefile assembles, in parts. */
#ifndef ZMEM_REPORT_PAGE_PARTS_H
#define ZMEM_REPORT_PAGE_PARTS_H

#include "base/unpack.h"

/* Before the host's name, up to the total, between the total and the data, and after the data. */
#define PAGE_PARTS(page)                                                                           \
	extern const struct packed page##_head, page##_title, page##_body, page##_tail

PAGE_PARTS(page);
PAGE_PARTS(past);
PAGE_PARTS(grow);
PAGE_PARTS(peak);
PAGE_PARTS(files);
/* The pages of serve, and their content security policies. */
PAGE_PARTS(live);
PAGE_PARTS(live_files);
extern const struct packed live_policy, live_files_policy;

#endif
