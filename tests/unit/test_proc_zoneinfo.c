// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* zoneinfo_parse(): the end of RAM. */
#include "test_proc.h"

#include "model/system.h"

static uint64_t parse(const char *text)
{
	return zoneinfo_parse(text, strlen(text));
}

/* A machine of 24 GiB: its Normal zone begins at 4 GiB. */
TEST(captured)
{
	size_t len;
	cleanup_free char *text = fixture("zoneinfo-6.18", &len);

	assert_int_equal(zoneinfo_parse(text, len), 1048576 + 5505024);
}

TEST(zones)
{
	assert_int_equal(parse(""), 0);
	assert_int_equal(parse("Node 0, zone Normal\n spanned 10\n start_pfn: 5\n"), 15);
	/* Nodes in any order. */
	assert_int_equal(parse("Node 1, zone Normal\n        spanned  100\n  start_pfn:  900\n"
			       "Node 0, zone Normal\n        spanned  900\n  start_pfn:  0\n"),
			 1000);
	/* An empty zone does not count. */
	assert_int_equal(parse("Node 0, zone Movable\n spanned 0\n start_pfn: 99\n"), 0);
	/* Memory of devices is not RAM. */
	assert_int_equal(parse("Node 0, zone Normal\n spanned 10\n start_pfn: 5\n"
			       "Node 0, zone   Device\n spanned 10\n start_pfn: 500\n"),
			 15);
}

TEST(hostile)
{
	/* An incomplete line is ignored. */
	assert_int_equal(parse("Node 0, zone Normal\n spanned 10\n start_pfn: 5"), 0);
	assert_int_equal(parse("Node 0, zone Normal\n spanned x\n start_pfn: 5\n"), 0);
	assert_int_equal(parse("spanned\nstart_pfn:\n"), 0);
	assert_int_equal(parse("Node 0, zone Normal\n spanned 18446744073709551615\n"
			       " start_pfn: 5\n"),
			 0);
	/* Values of a zone do not leak into the next. */
	assert_int_equal(parse("Node 0, zone DMA\n spanned 10\n"
			       "Node 0, zone Normal\n start_pfn: 5\n"),
			 0);
}

/* Longer than one read: with many CPUs every zone has a line for each. */
TEST(long_file)
{
	char dir[] = "/tmp/zoneinfo.XXXXXX", path[64];
	FILE *f;
	int fd;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/zoneinfo", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("Node 0, zone Normal\n        spanned  1000\n", f);
	for (int i = 0; i < 20000; i++)
		fprintf(f, "    cpu: %d\n", i);
	fputs("  start_pfn:           24\n", f);
	fclose(f);
	fd = open(dir, O_RDONLY | O_DIRECTORY);
	assert_int_equal(zoneinfo_read(fd), 1024);
	unlink(path);
	assert_int_equal(zoneinfo_read(fd), 0);
	close(fd);
	rmdir(dir);
}
