/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is said of a finding, and its fields in JSON. Rows are struct finding. */
#ifndef ZMEM_FIELDS_FINDING_SAID_H
#define ZMEM_FIELDS_FINDING_SAID_H

#include "fields/sentence.h"
#include "model/finding.h"

/* A sentence for each key, and the arguments of zmem-bpf that show more. */
extern const struct sentences finding_said, finding_run;
/* Beside "text" and "run", which are written. */
extern const struct fields finding_fields;

/* "AT ITS LIMIT" */
const char *finding_title(enum finding_key key);

#endif
