// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* When memory is short, by the files of a /proc that no kernel wrote. */
#include "unit.h"

#include "temp_directory.h"
#include "watch/pressure_watch.h"

#define SECOND UINT64_C(1000000)

static const struct pressure_limits usual = {.left = 5, .stall = 10};

static struct procfs proc;
static struct pressure_watch w;

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
static void begin(const char *path)
{
	write_meminfo(500, 500, 1000);
	proc = (struct procfs){.fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
	assert_true(proc.fd >= 0);
	pressure_watch_open(&w, path, &usual);
}

static struct pressure_look look(uint64_t us, bool told)
{
	struct pressure_look now;

	pressure_watch_look(&w, &proc, us, told, false, &now);
	return now;
}

static void check_look(unsigned seconds, unsigned causes)
{
	assert_int_equal(look(seconds * SECOND, false).causes, causes);
}

IN_DIRECTORY(levels)
{
	struct pressure_look now;

	begin("missing");
	assert_int_equal(w.error, -ENOENT);
	check_look(1, 0);
	write_meminfo(49, 500, 1000);
	check_look(2, PRESSURE_AVAILABLE);
	write_meminfo(50, 49, 1000);
	check_look(3, PRESSURE_SWAP);
	/* Without swap none is missing. */
	write_meminfo(500, 0, 0);
	now = look(4 * SECOND, false);
	assert_int_equal(now.causes, 0);
	assert_true(now.available_known && now.available == 500 * 1024 && !now.swap_free_known);
	assert_true(!now.stalled_known && !now.refaulted_known);
	unlink("meminfo");
	now = look(5 * SECOND, false);
	assert_true(!now.causes && !now.available_known);
	procfs_close(&proc);
}

IN_DIRECTORY(stalls)
{
	begin("missing");
	write_stalled(1000000);
	check_look(1, 0);
	write_stalled(1099999);
	check_look(2, 0);
	write_stalled(1199999);
	check_look(3, PRESSURE_STALL);
	/* Of two seconds. */
	write_stalled(1300000);
	check_look(5, 0);
	/* Refaults count only without PSI. */
	write_refaults(0);
	check_look(6, 0);
	write_refaults(1000000);
	check_look(7, 0);
	unlink("pressure/memory");
	check_look(8, 0);
	write_refaults(1000000 + 4000);
	check_look(9, 0);
	write_refaults(1000000 + 9000);
	check_look(10, PRESSURE_REFAULTS);
	procfs_close(&proc);
}

/* A file in place of the kernel's takes the text of the trigger. */
IN_DIRECTORY(trigger)
{
	char text[64] = "";

	put("trigger", "%s", "");
	begin("trigger");
	assert_true(w.fd >= 0 && w.error == 0);
	assert_int_equal(pread(w.fd, text, sizeof(text), 0), 20);
	assert_string_equal(text, "some 200000 2000000");
	/* It tells of stalls, so the stalled time is not looked at. */
	write_stalled(0);
	check_look(1, 0);
	write_stalled(900000);
	check_look(2, 0);
	assert_int_equal(look(2 * SECOND + 1, true).causes, PRESSURE_STALL);
	pressure_watch_lost(&w);
	assert_int_equal(w.fd, -1);
	write_stalled(1900000);
	check_look(4, PRESSURE_STALL);
	/* What cannot be written to is no trigger, and without a limit there is none. */
	pressure_watch_open(&w, "/dev/full", &usual);
	assert_true(w.fd == -1 && w.error == -ENOSPC);
	pressure_watch_open(&w, "trigger", &(const struct pressure_limits){.left = 5});
	assert_true(w.fd < 0 && w.error == -EINVAL);
	procfs_close(&proc);
}
