// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* When memory is short, by the files of a /proc that no kernel wrote. */
#include "unit.h"

#include "source/pressure_watch.h"
#include "temp_directory.h"

#define SECOND UINT64_C(1000000)

static const struct pressure_limits usual = {.left = 5, .stall = 10};

__attribute__((format(printf, 2, 3))) static void put(const char *path, const char *format, ...)
{
	cleanup_fclose FILE *f = fopen(path, "w");
	va_list args;

	assert_non_null(f);
	va_start(args, format);
	vfprintf(f, format, args);
	va_end(args);
}

static void write_meminfo(unsigned available, unsigned swap_free, unsigned swap)
{
	put("meminfo",
	    "MemTotal: 1000 kB\nMemAvailable: %u kB\nSwapTotal: %u kB\nSwapFree: %u kB\n",
	    available, swap, swap_free);
}

static void write_stalled(unsigned us)
{
	mkdir("pressure", 0700);
	put("pressure/memory",
	    "some avg10=0.00 avg60=0.00 avg300=0.00 total=%u\n"
	    "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
	    us);
}

static void write_refaults(unsigned pages)
{
	put("vmstat", "workingset_refault_anon %u\nworkingset_refault_file 0\n", pages);
}

/* The machine that all tests begin with. */
static void begin(struct procfs *proc, struct pressure_watch *w, const char *path)
{
	write_meminfo(500, 500, 1000);
	*proc = (struct procfs){.fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
	assert_true(proc->fd >= 0);
	pressure_watch_open(w, path, &usual);
}

static unsigned look(struct pressure_watch *w, const struct procfs *proc, uint64_t us, bool told)
{
	struct pressure_look now;

	pressure_watch_look(w, proc, us, told, false, &now);
	return now.causes;
}

IN_DIRECTORY(levels)
{
	struct pressure_watch w;
	struct pressure_look now;
	struct procfs proc;

	begin(&proc, &w, "missing");
	assert_int_equal(w.error, -ENOENT);
	assert_int_equal(look(&w, &proc, SECOND, false), 0);
	write_meminfo(49, 500, 1000);
	assert_int_equal(look(&w, &proc, 2 * SECOND, false), PRESSURE_AVAILABLE);
	write_meminfo(50, 49, 1000);
	assert_int_equal(look(&w, &proc, 3 * SECOND, false), PRESSURE_SWAP);
	/* Without swap none is missing. */
	write_meminfo(500, 0, 0);
	pressure_watch_look(&w, &proc, 4 * SECOND, false, false, &now);
	assert_int_equal(now.causes, 0);
	assert_true(now.available_known && now.available == 500 * 1024 && !now.swap_free_known);
	assert_true(!now.stalled_known && !now.refaulted_known);
	unlink("meminfo");
	pressure_watch_look(&w, &proc, 5 * SECOND, false, false, &now);
	assert_true(!now.causes && !now.available_known);
	procfs_close(&proc);
}

IN_DIRECTORY(stalls)
{
	struct pressure_watch w;
	struct procfs proc;

	begin(&proc, &w, "missing");
	write_stalled(1000000);
	assert_int_equal(look(&w, &proc, SECOND, false), 0);
	write_stalled(1099999);
	assert_int_equal(look(&w, &proc, 2 * SECOND, false), 0);
	write_stalled(1199999);
	assert_int_equal(look(&w, &proc, 3 * SECOND, false), PRESSURE_STALL);
	/* Of two seconds. */
	write_stalled(1300000);
	assert_int_equal(look(&w, &proc, 5 * SECOND, false), 0);
	/* Refaults count only without PSI. */
	write_refaults(0);
	assert_int_equal(look(&w, &proc, 6 * SECOND, false), 0);
	write_refaults(1000000);
	assert_int_equal(look(&w, &proc, 7 * SECOND, false), 0);
	unlink("pressure/memory");
	assert_int_equal(look(&w, &proc, 8 * SECOND, false), 0);
	write_refaults(1000000 + 4000);
	assert_int_equal(look(&w, &proc, 9 * SECOND, false), 0);
	write_refaults(1000000 + 9000);
	assert_int_equal(look(&w, &proc, 10 * SECOND, false), PRESSURE_REFAULTS);
	procfs_close(&proc);
}

/* A file in place of the kernel's takes the text of the trigger. */
IN_DIRECTORY(trigger)
{
	struct pressure_watch w;
	struct procfs proc;
	char text[64] = "";

	put("trigger", "%s", "");
	begin(&proc, &w, "trigger");
	assert_true(w.fd >= 0 && w.error == 0);
	assert_int_equal(pread(w.fd, text, sizeof(text), 0), 20);
	assert_string_equal(text, "some 200000 2000000");
	/* It tells of stalls, so the stalled time is not looked at. */
	write_stalled(0);
	assert_int_equal(look(&w, &proc, SECOND, false), 0);
	write_stalled(900000);
	assert_int_equal(look(&w, &proc, 2 * SECOND, false), 0);
	assert_int_equal(look(&w, &proc, 2 * SECOND + 1, true), PRESSURE_STALL);
	pressure_watch_lost(&w);
	assert_int_equal(w.fd, -1);
	write_stalled(1900000);
	assert_int_equal(look(&w, &proc, 4 * SECOND, false), PRESSURE_STALL);
	/* What cannot be written to is no trigger, and without a limit there is none. */
	pressure_watch_open(&w, "/dev/full", &usual);
	assert_true(w.fd == -1 && w.error == -ENOSPC);
	pressure_watch_open(&w, "trigger", &(const struct pressure_limits){.left = 5});
	assert_true(w.fd < 0 && w.error == -EINVAL);
	procfs_close(&proc);
}
