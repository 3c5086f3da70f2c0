// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The only file that includes the pages. */
#include "report/page_parts.h"

#include "report/parts.inc"
