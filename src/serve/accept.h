/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which of our two texts of metrics an Accept header would rather have. Pure. */
#ifndef ZMEM_SERVE_ACCEPT_H
#define ZMEM_SERVE_ACCEPT_H

#include <stdbool.h>

/* OpenMetrics for who names it and does not like text/plain better; NULL: there is no header. */
bool accept_open_metrics(const char *accept);

#endif
