// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* slabinfo_read(), vmallocinfo_read(), vmalloc_mappable(), driver_pages_read(): sums by name. */
#include "test_proc.h"

#include "base/strbuf.h"
#include "proc/kernel_memory.h"
#include "proc_tree.h"

#define PAGE 4096

static struct name_sums sums;

static uint64_t sum_of(const char *name)
{
	for (size_t i = 0; i < sums.count; i++)
		if (strcmp(sums.item[i].name, name) == 0)
			return sums.item[i].bytes;
	return 0;
}

static void clear(void)
{
	sums = (struct name_sums){};
}

/* The sums of a file with this text alone. */
static void read_text(int (*read_sums)(int proc_fd, uint32_t page_size, struct name_sums *ret),
		      const char *name, const char *text, size_t len)
{
	cleanup(proc_tree_done) struct proc_tree t;

	proc_tree_init(&t);
	proc_tree_put(&t, name, text, len);
	clear();
	assert_int_equal(read_sums(t.proc.fd, PAGE, &sums), 0);
}

TEST(slab_caches)
{
	static const char text[] =
		"slabinfo - version: 2.1\n"
		"# name <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : tunables\n"
		"dentry 900 1000 192 21 2 : tunables 0 0 0 : slabdata 48 50 0\n"
		"empty 0 0 192 21 1 : tunables 0 0 0 : slabdata 0 0 0\n"
		"odd 1 1 1 1 x : tunables 0 0 0 : slabdata 1 1 0\n"
		"kmalloc-8k 4 4 8192 4 8 : tunables 0 0 0 : slabdata 1 1 0\n"
		"cut 4 4 8192 4 8 : tunables 0 0 0 : slabdata 1 1";

	read_text(slabinfo_read, "slabinfo", text, strlen(text));
	assert_int_equal(sums.count, 2);
	assert_int_equal(sum_of("dentry"), 50 * 2 * PAGE);
	assert_int_equal(sum_of("kmalloc-8k"), 8 * PAGE);
}

TEST(areas)
{
	static const char text[] =
		"0x01-0x02 20480 kernel_clone+0xb8/0x400 pages=4 vmalloc N0=4\n"
		"0x01-0x02 20480 dup_task_struct+0xb8/0x400 pages=4 vmalloc N0=4\n"
		"0x01-0x02 8192 unpurged vm_area\n"
		"0x01-0x02 8192 acpi_os_map_iomem+0x1bc/0x1e0 phys=0x00000000000a0000 ioremap\n"
		"0x01-0x02 8192 htab_map_alloc+0xf6/0x5a0 pages=1 vmalloc N0=1\n"
		"0x01-0x02 12288 htab_map_alloc+0x2e4/0x5a0 pages=2 vmalloc N0=2\n"
		"0x01-0x02 12288 store+0x4f/0x160 [zram] pages=256 vmalloc vpages N0=256\n"
		"0x01-0x02 12288 store+0x4f/0x160 pages=x vmalloc\n"
		"\n";

	read_text(vmallocinfo_read, "vmallocinfo", text, strlen(text));
	assert_int_equal(sums.count, 2);
	assert_int_equal(sum_of("htab_map_alloc"), 3 * PAGE);
	assert_int_equal(sum_of("store [zram]"), 256 * PAGE);
	name_sums_sort(&sums);
	assert_string_equal(sums.item[0].name, "store [zram]");
}

TEST(captured)
{
	size_t len;
	cleanup_free char *slab = fixture("slabinfo-6.18", &len);

	read_text(slabinfo_read, "slabinfo", slab, len);
	assert_int_equal(sums.count, 5);
	assert_true(sum_of("ext4_inode_cache") > sum_of("kmalloc-4k"));
}

/* Names that are too long are cut, and names without room are summed. */
TEST(bounds)
{
	cleanup(strbuf_done) struct strbuf text = {};
	char name[RAM_NAME];

	for (int i = 0; i < NAME_SUMS_MAX + 3; i++)
		strbuf_printf(&text, "0-1 1 f%d+0 pages=1\n", i);
	strbuf_puts(&text, "0-1 1 f1+0 pages=5\n");
	read_text(vmallocinfo_read, "vmallocinfo", text.data, text.len);
	assert_int_equal(sums.count, NAME_SUMS_MAX);
	assert_int_equal(sums.others, 3 * PAGE);
	assert_int_equal(sum_of("f1"), 6 * PAGE);
	strbuf_clear(&text);
	strbuf_puts(&text, "0-1 1 ");
	strbuf_fill(&text, 'n', 200);
	strbuf_puts(&text, "+0 pages=1\n");
	read_text(vmallocinfo_read, "vmallocinfo", text.data, text.len);
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(sum_of(name), PAGE);
}

TEST(files)
{
	cleanup(proc_tree_done) struct proc_tree t;

	proc_tree_init(&t);
	clear();
	assert_int_equal(slabinfo_read(t.proc.fd, PAGE, &sums), -ENOENT);
	assert_int_equal(driver_pages_read(t.proc.fd, &sums), -ENOENT);
	proc_tree_sh(&t,
		     "echo 'a 1 1 8 1 3 : tunables 0 0 0 : slabdata 2 2 0' >slabinfo; "
		     "printf '%%s\\n' '7f00-7f01 rw-s 0 00:0e 1 /x' 'Rss: 4 kB' 'VmFlags: rd mm' "
		     "'7f01-7f02 rw-s 0 00:0e 1     anon_inode:bpf-map' 'Size: 8 kB' 'Rss: 8 kB' "
		     "'VmFlags: rd wr mm' '7f03-7f04 rw-s 0 00:0e 1     /dev/gpu 0' 'Rss: 20 kB' "
		     "'VmFlags: rd mm' '7f04-7f05 rw-s 0 00:0e 1 /dev/sda' 'Rss: 24 kB' "
		     "'VmFlags: rd' '7f02-7f03 r--p 0 00:0e 1' 'Rss: 16 kB' 'VmFlags: mm' >smaps; "
		     "grep - smaps >maps");
	assert_int_equal(slabinfo_read(t.proc.fd, PAGE, &sums), 0);
	assert_int_equal(sum_of("a"), 6 * PAGE);
	clear();
	assert_int_equal(driver_pages_read(t.proc.fd, &sums), 0);
	assert_int_equal(sums.count, 2);
	assert_int_equal(sum_of("anon_inode:bpf-map"), 8192);
	assert_int_equal(sum_of("/dev/gpu 0"), 20480);
	/* Nothing is a device: smaps is not read. */
	proc_tree_sh(&t, "rm smaps; echo '7f00-7f01 rw-s 0 00:0e 1 /dev/shm/x' >maps");
	assert_int_equal(driver_pages_read(t.proc.fd, &sums), 0);
	assert_int_equal(vmalloc_mappable(t.proc.fd, PAGE), 0);
	proc_tree_sh(
		&t,
		"printf '%%s\\n' '0-1 12288 array_map_alloc+0x1/0x2 pages=2 vmalloc user N0=2' "
		"'1-2 8192 user+0x1/0x2 pages=1 vmalloc N0=1' '2-3 8192 ring+0x1/0x2 vmap user' "
		"'3-4 8192 f+0x1/0x2 pages=5 vmalloc user vpages' >vmallocinfo");
	assert_int_equal(vmalloc_mappable(t.proc.fd, PAGE), 7 * PAGE);
}
