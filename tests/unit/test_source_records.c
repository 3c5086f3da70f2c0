// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Records that kernels wrote (fixtures/records, made by tests/vm/record), and the decoded values in
 * golden/records_KERNEL.txt.
 */
#include "unit.h"

#include <inttypes.h>
#include <sys/types.h>

#include "base/file.h"
#include "base/strbuf.h"
#include "golden.h"
#include "decode_records.h"

/* The guests' page size and memory. */
static const struct decode_limits limits = {.page_size = 4096, .ram_bytes = 1ull << 30};

static void put_name(struct strbuf *out, const char *name)
{
	for (; *name; name++)
		strbuf_printf(out, *name > ' ' && *name < 0x7f ? "%c" : "\\%02x",
			      (unsigned char)*name);
	strbuf_putc(out, ' ');
}

static void print_process(struct strbuf *out, const struct process *p)
{
	strbuf_printf(out, "%d %d %u ", p->pid, p->ppid, p->threads);
	put_name(out, p->comm);
	put_name(out, p->name);
	strbuf_printf(out, "kind=%d mm=%u/%d flags=%d%d%d%d pss=%s", p->kind, p->mm_id, p->mm_owner,
		      p->leader_exited, p->forked, p->name_cut, p->pages_unknown,
		      pss_status_name(p->pss_status));
	for (int c = 0; c < COUNTERS_OF_PROCESS; c++) {
		if (process_has(p, c))
			strbuf_printf(out, " %s=%" PRIu64, counter_table[c].key, p->value[c]);
	}
	strbuf_putc(out, '\n');
}

static void check_kernel(const char *kernel)
{
	cleanup(snapshot_done) struct snapshot s = {.host.page_size = 4096};
	cleanup(strbuf_done) struct strbuf out = {};
	static char data[1 << 16];
	unsigned threads = 0;
	char path[256], golden[64];
	ssize_t len;

	snprintf(path, sizeof(path), TESTS_DIR "/fixtures/records/%s", kernel);
	len = file_read(AT_FDCWD, path, data, sizeof(data));
	assert_true(len > 0 && (size_t)len < sizeof(data) - 1);
	assert_int_equal(decode_records(data, (size_t)len, &limits, &s), len);
	assert_int_equal(snapshot_finish(&s), 0);
	for (size_t i = 0; i < s.count; i++) {
		const struct process *p = &s.process[i];

		if (p->kind != PROCESS_KTHREAD || p->pid < 4) {
			print_process(&out, p);
			continue;
		}
		threads++;
		assert_true(p->ppid == 2 && !p->have && p->threads == 1);
		assert_int_equal(p->pss_status, PSS_KERNEL_THREAD);
		assert_string_equal(p->name, p->comm);
	}
	strbuf_printf(&out, "and %u kernel threads\n", threads);
	snprintf(golden, sizeof(golden), "records_%s.txt", kernel);
	golden_check(golden, &out);
}

/* The kernel counts per thread: no page tables are walked. */
TEST(6_1)
{
	check_kernel("6.1");
}

TEST(6_12)
{
	check_kernel("6.12");
}

TEST(7_3)
{
	check_kernel("7.3");
}
