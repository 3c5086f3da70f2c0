/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The changes of classes of RAM in words. */
#ifndef ZMEM_REPORT_RAM_TEXT_H
#define ZMEM_REPORT_RAM_TEXT_H

#include "base/strbuf.h"
#include "model/ram_change.h"

/* "+3.00 GiB slab, -2.98 GiB free": the largest ones, or "no class changed much". */
void ram_changes_text(struct strbuf *out, const struct ram_changes *changes, bool exact);

#endif
