// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* zones_read(): the zones and the end of RAM; zones_spans(). */
#include "test_proc.h"

#include "base/strbuf.h"
#include "model/zones.h"
#include "proc_tree.h"

static struct zones zones;

static uint64_t end_of(const char *text, size_t len)
{
	cleanup(proc_tree_done) struct proc_tree t;

	proc_tree_init(&t);
	proc_tree_put(&t, "zoneinfo", text, len);
	zones_read(t.proc.fd, &zones);
	return zones.end;
}

/* A machine of 24 GiB: its Normal zone begins at 4 GiB. */
TEST(captured)
{
	size_t len;
	cleanup_free char *text = fixture("zoneinfo-6.18", &len);

	assert_int_equal(end_of(text, len), 1048576 + 5505024);
	assert_int_equal(zones.count, 3);
	assert_int_equal(zones.zone[1].start, 4096);
	assert_int_equal(zones.zone[1].spanned, 1044480);
	assert_int_equal(zones.zone[1].present, 782336);
	assert_int_equal(zones_present(&zones), 3998 + 782336 + 5505024);
	assert_int_equal(zones.listed, 0);
	assert_int_equal(zones.zone[2].free, 875440);
	assert_int_equal(zones.zone[2].managed, 1507328);
	/* The largest number in parentheses and "high" of each zone, no more than it has. */
	assert_int_equal(zones.reserve, 9728);
}

/* "high" is a watermark, "high:" belongs to lists of CPUs. */
TEST(watermarks)
{
	static const char text[] =
		"Node 1, zone   Normal\n  pages free     6789\n        boost    0\n        min      5\n"
		"        low      6\n        high     77\n        spanned  9000\n        present  9000\n"
		"        managed  8000\n        protection: (0, 200, 150)\n"
		"  pagesets\n    cpu: 0\n              count: 3\n"
		"              high: 1\n  start_pfn:           100\n";

	assert_int_equal(end_of(text, sizeof(text) - 1), 9100);
	assert_int_equal(zones.zone[0].node, 1);
	assert_int_equal(zones.zone[0].free, 6789);
	assert_int_equal(zones.zone[0].high, 77);
	assert_int_equal(zones.listed, 3);
	assert_int_equal(zones.reserve, 200 + 77);
}

#define NORMAL "Node 0, zone Normal\n"

/* Longer than one read: with many CPUs every zone has a line for each. */
TEST(long_file)
{
	cleanup(proc_tree_done) struct proc_tree t;

	proc_tree_init(&t);
	zones_read(t.proc.fd, &zones);
	assert_int_equal(zones.end, 0);
	proc_tree_sh(&t,
		     "(echo 'Node 0, zone Normal\n        spanned  1000'; "
		     "seq -f '    cpu: %%g' 0 19999; echo '  start_pfn:           24') >zoneinfo");
	zones_read(t.proc.fd, &zones);
	assert_int_equal(zones.end, 1024);
}

/* More zones than there is room for. */
TEST(many_zones)
{
	cleanup(strbuf_done) struct strbuf text = {};

	for (int i = 0; i <= ZONES_MAX; i++)
		strbuf_printf(&text, "Node %d, zone Normal\n spanned 10\n start_pfn: %d\n", i,
			      10 * i);
	assert_int_equal(end_of(text.data, text.len), 10 * (ZONES_MAX + 1));
	assert_int_equal(zones.count, ZONES_MAX);
	assert_true(zones.cut);
}

/* What processors keep is of all zones but those of devices. */
TEST(lists)
{
	static const char text[] = NORMAL "  pagesets\n    cpu: 0\n              count:    7\n"
					  "    cpu: 1\n              count:    5\n"
					  " spanned 10\n start_pfn: 0\n"
					  "Node 0, zone Device\n count: 100\n";

	end_of(text, strlen(text));
	assert_int_equal(zones.listed, 12);
}

static size_t spans_of(const struct zone *zone, size_t count, struct frame_span *ret, bool *mixed)
{
	zones = (struct zones){.count = count};
	memcpy(zones.zone, zone, count * sizeof(*zone));
	return zones_spans(&zones, ret, mixed);
}

TEST(spans)
{
	struct frame_span span[ZONES_MAX];
	bool mixed;

	/* Zones of a node that touch or overlap are one; a gap divides. */
	assert_int_equal(spans_of((const struct zone[]){{100, 50}, {0, 100}, {140, 20}, {200, 1}},
				  4, span, &mixed),
			 2);
	assert_false(mixed);
	assert_int_equal(span[0].first, 0);
	assert_int_equal(span[0].end, 160);
	assert_int_equal(span[1].first, 200);
	/* Nodes side by side. */
	assert_int_equal(
		spans_of((const struct zone[]){{0, 100}, {100, 100, .node = 1}}, 2, span, &mixed),
		2);
	assert_false(mixed);
	assert_int_equal(span[1].node, 1);
	/* Nodes that overlap: each frame once, and of no known node. */
	assert_int_equal(
		spans_of((const struct zone[]){{0, 100}, {50, 100, .node = 1}}, 2, span, &mixed),
		1);
	assert_true(mixed);
	assert_int_equal(span[0].end, 150);
}
