// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is said of a peak: its fields in JSON, and values of sentences alone. */
#include "fields/peak_said.h"

#include <string.h>

#include "fields/define.h"
#include "fields/peak_fields.h"

#define ROW const struct peak *r = row

SAID(pss_later_us, AMOUNT,
     value_unsigned(!r->unseen && r->pss_known && r->pss_offset_us > r->offset_us,
		    r->pss_offset_us - r->offset_us));
SAID(pss_before_us, AMOUNT,
     value_unsigned(!r->unseen && r->pss_known && r->pss_offset_us <= r->offset_us,
		    r->offset_us - r->pss_offset_us));
SAID(signal_name, TEXT, value_text(r->signal ? strsignal(r->signal) : NULL));
SAID(runs_on, AMOUNT, value_unsigned(r->exit_code >= 0, r->still));
SAID(held_nothing, AMOUNT, value_unsigned(true, peak_holds_nothing(r)));
static FIELDS(also, &field_pss_later_us, &field_pss_before_us, &field_signal_name, &field_runs_on,
	      &field_held_nothing);

SENTENCES(peak_when_said, &peak_document, &also,
	  "{peak.offset_us} after the start, by {peak.processes_count} process{es}");
SENTENCES(peak_time_said, &peak_document, NULL, " ({peak.time_ms})");
SENTENCES(peak_pss_said, &peak_document, &also,
	  "[{pss_later_us} later, ||{pss_before_us} before, ]when RSS was {peak.pss_rss_bytes}");
SENTENCES(
	peak_end_said, &peak_document, &also,
	"time     {duration_us}, {processes_count} process{es}"
	"[, killed by signal {signal} ({signal_name})||, exit code {exit_code}]",
	"sampled every {interval_us} from /proc: what came and went in between is not in it",
	"RSS may be off by {peak.error_bytes+}: before Linux 6.2 threads hold back a part of it",
	"it was more: {without_room+} address space{s} {is/are} not in the sum, there were too many "
	"at once",
	"{lost_messages+} process{es} {has/have} no row: there was no room",
	"{runs_on+} process{es} {runs/run} on");
/* Of the page. */
SENTENCES(peak_page_said, &peak_document, NULL,
	  "[{peak.rss_bytes}, {peak.offset_us} after the start||not known]");
SENTENCES(peak_nothing_said, &peak_document, &also, "{held_nothing+} that held nothing then");
SENTENCES(peak_length_said, &peak_document, NULL, "{duration_us}");
