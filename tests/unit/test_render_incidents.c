// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What incidents says of memory that was short: how long, without an end, and without swap. */
#include "unit.h"

#include <time.h>

#include "base/strbuf.h"
#include "render/incidents.h"

#define BEGAN 1763781255000 /* 2025-11-22 03:14:15 UTC */

struct sample {
	struct event_record event, end;
	struct snapshot then;
	struct incident incident;
};

static int begin(void **state)
{
	struct sample *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	setenv("TZ", "UTC", 1);
	tzset();
	s->event.time_ms = BEGAN;
	event_set(&s->event, EVENT_KIND, EVENT_PRESSURE);
	event_set(&s->event, EVENT_AVAILABLE, 64 << 20);
	s->incident = (struct incident){.number = 1, .event = &s->event};
	*state = s;
	return 0;
}

static int end(void **state)
{
	free(*state);
	return 0;
}

static void check(const struct incident *i, const char *line, const char *first)
{
	const struct table_style style = {.header = true};
	struct strbuf out = {};
	char *rest;

	render_incident_line(&out, i, &style);
	assert_string_equal(strbuf_str(&out), line);
	strbuf_clear(&out);
	render_incident(&out, i, 5, &style);
	rest = strstr(strbuf_str(&out), "\n  signs:");
	assert_non_null(rest);
	*rest = '\0';
	assert_string_equal(strbuf_str(&out), first);
	strbuf_done(&out);
}

TEST_WITH(end, begin, end)
{
	struct sample *s = *state;

	check(&s->incident, "    1  2025-11-22 03:14:15Z  memory was short; no end was recorded\n",
	      "event:1  memory was short from 2025-11-22 03:14:15Z; no end was recorded");
	s->incident.goes_on = true;
	check(&s->incident,
	      "    1  2025-11-22 03:14:15Z  memory was short; not over at the end of the recording\n",
	      "event:1  memory was short from 2025-11-22 03:14:15Z; not over at the end of the "
	      "recording");
	event_set(&s->end, EVENT_ENDED, BEGAN + 10000);
	s->incident.end = &s->end;
	s->incident.goes_on = false;
	check(&s->incident, "    1  2025-11-22 03:14:15Z  memory was short for 10 s\n",
	      "event:1  memory was short for 10 s, from 2025-11-22 03:14:15Z");
}

static void check_machine(struct sample *s, const char *expected)
{
	const struct table_style style = {.header = true};
	struct strbuf out = {};

	s->incident.then = &s->then;
	render_incident(&out, &s->incident, 5, &style);
	if (!strstr(strbuf_str(&out), expected))
		fail_msg("no '%s' in '%s'", expected, strbuf_str(&out));
	strbuf_done(&out);
}

static void set_swap(struct meminfo *m, uint64_t bytes)
{
	m->have |= 1U << MEMINFO_SWAP_TOTAL | 1U << MEMINFO_SWAP_FREE;
	m->value[MEMINFO_SWAP_TOTAL] = m->value[MEMINFO_SWAP_FREE] = bytes;
}

TEST_WITH(swap, begin, end)
{
	struct sample *s = *state;
	struct meminfo *m = &s->then.system.meminfo;

	check_machine(s, "; swap - of -\n");
	set_swap(m, 0);
	check_machine(s, "; no swap\n");
	set_swap(m, 1 << 20);
	check_machine(s, "; swap 0 of 1.00 MiB\n");
}
