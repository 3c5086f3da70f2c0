/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Findings as lines and in JSON, and the commands that go on from them. */
#ifndef ZMEM_REPORT_FINDINGS_H
#define ZMEM_REPORT_FINDINGS_H

#include "findings/findings.h"
#include "write/json_writer.h"
#include "write/line.h"
#include "write/say.h"
#include "write/style.h"

/* So many stand in the first lines of a screen. */
#define FINDINGS_FIRST 3

/* "AT ITS LIMIT: container web (300M): …", without its end; the title has the color of the level.
 */
void finding_put(struct line *l, const struct finding *f, enum said_sizes sizes);
/* The arguments of the command that shows more, without "zmem-bpf"; nothing if there is none. */
void finding_put_run(struct line *l, const struct finding *f);
/* The same as finding_put() in lines of its own, folded to the width of the style. */
void finding_print(struct strbuf *out, const struct finding *f, const struct table_style *style);
/*
 * Those down to a level likewise, at most `most` of
 * them, and a line that says how many more there are.
 */
void findings_print(struct strbuf *out, const struct findings *all, enum finding_level least,
		    size_t most, const struct table_style *style);
/* Those down to a level, as an array. */
void json_put_findings(struct json_writer *w, const struct findings *all, enum finding_level least);
/* The key "findings" of a snapshot, in which they are looked for. */
void json_found(struct json_writer *w, const struct snapshot *s, const struct result *rows,
		enum finding_level least);
/*
 * "next: " and up to four of their commands, which are of this machine now, each once, without
 * `self`, the arguments of the one that runs; nothing if there is none.
 */
void findings_print_next(struct strbuf *out, const struct findings *all, enum finding_level least,
			 const char *self, unsigned width);

#endif
