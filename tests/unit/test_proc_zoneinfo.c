// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* zoneinfo_parse(): the end of RAM. */
#include "test_proc.h"

#include "model/system.h"
#include "proc_tree.h"

/* A machine of 24 GiB: its Normal zone begins at 4 GiB. */
TEST(captured)
{
	size_t len;
	cleanup_free char *text = fixture("zoneinfo-6.18", &len);

	assert_int_equal(zoneinfo_parse(text, len), 1048576 + 5505024);
}

#define NORMAL "Node 0, zone Normal\n"

TEST(zones)
{
	static const struct {
		const char *text;
		uint64_t end;
	} cases[] = {
		{"", 0},
		{NORMAL " spanned 10\n start_pfn: 5\n", 15},
		/* Nodes in any order. */
		{"Node 1, zone Normal\n        spanned  100\n  start_pfn:  900\n" NORMAL
		 "        spanned  900\n  start_pfn:  0\n",
		 1000},
		/* An empty zone does not count, and memory of devices is not RAM. */
		{"Node 0, zone Movable\n spanned 0\n start_pfn: 99\n", 0},
		{NORMAL " spanned 10\n start_pfn: 5\n"
			"Node 0, zone   Device\n spanned 10\n start_pfn: 500\n",
		 15},
		/* An incomplete line is ignored. */
		{NORMAL " spanned 10\n start_pfn: 5", 0},
		{NORMAL " spanned x\n start_pfn: 5\n", 0},
		{"spanned\nstart_pfn:\n", 0},
		{NORMAL " spanned 18446744073709551615\n start_pfn: 5\n", 0},
		/* Values of a zone do not leak into the next. */
		{"Node 0, zone DMA\n spanned 10\n" NORMAL " start_pfn: 5\n", 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(zoneinfo_parse(cases[i].text, strlen(cases[i].text)),
				 cases[i].end);
}

/* Longer than one read: with many CPUs every zone has a line for each. */
TEST(long_file)
{
	cleanup(proc_tree_done) struct proc_tree t;

	proc_tree_init(&t);
	assert_int_equal(zoneinfo_read(t.proc.fd), 0);
	proc_tree_sh(&t,
		     "(echo 'Node 0, zone Normal\n        spanned  1000'; "
		     "seq -f '    cpu: %%g' 0 19999; echo '  start_pfn:           24') >zoneinfo");
	assert_int_equal(zoneinfo_read(t.proc.fd), 1024);
}
