/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where the machine's RAM is, as JSON. */
#ifndef ZMEM_RENDER_JSON_ACCOUNT_H
#define ZMEM_RENDER_JSON_ACCOUNT_H

#include "render/json_writer.h"
#include "zmem/account.h"

/* "memory":{…}, "kernel":{…} and "user":{…}, a line each; a part that is not known is null. */
void json_account(struct json_writer *w, const struct account *a);

#endif
