// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Each row of model/finding.def: a machine on which it is true, one just below that, and one of
 * which it is not known. What is said of it, to the letter.
 */
#include "unit.h"

#include "fields/finding_said.h"
#include "findings_machine.h"
#include "report/findings.h"

static struct findings found;

/* "level key [pid] [in cgroup] [file] [bytes]", the sentence, and the command. */
static void put_found(struct strbuf *out, const struct finding *f)
{
	const struct said run = {&finding_run, f, NULL, SIZES_SHORT};
	struct line l = {.out = out};

	line_printf(&l, "%s %s", finding_level_name(f->level), finding_key_name(f->key));
	if (f->pid)
		line_printf(&l, " pid %d", f->pid);
	if (f->cgroup)
		line_printf(&l, " in %s", f->cgroup);
	if (f->file)
		line_printf(&l, " file %s", f->file);
	if (f->bytes_known)
		line_printf(&l, " %llu", (unsigned long long)f->bytes);
	line_end(&l);
	finding_put(&l, f, SIZES_SHORT);
	line_end(&l);
	line_printf(&l, "> ");
	assert_true(say_sentence(&l, &run, finding_run.text[f->key]));
	line_end(&l);
}

static bool is_known(enum finding_key key)
{
	return found.known >> key & 1;
}

static uint32_t subjects_of(const struct findings *all)
{
	uint32_t sum = 0;

	for (int key = 0; key < FINDING_KEYS; key++)
		for (int level = 0; level < FINDING_LEVELS; level++) {
			sum += all->subjects[key][level];
			assert_true(
				!all->subjects[key][level] ||
				finding_can_be((enum finding_key)key, (enum finding_level)level));
		}
	return sum;
}

/* What is found is this, and nothing else; the key was looked for. */
static void finds(const struct sample *s, enum finding_key key, const char *want)
{
	cleanup(strbuf_done) struct strbuf out = {};

	findings_find(&s->snapshot, &s->result, &found);
	assert_true(is_known(key));
	assert_int_equal(subjects_of(&found), found.count);
	for (size_t i = 0; i < found.count; i++)
		put_found(&out, &found.item[i]);
	assert_string_equal(strbuf_str(&out), want);
}

/* Nothing is found, and the key was not looked for. */
static void does_not_know(const struct sample *s, enum finding_key key)
{
	findings_find(&s->snapshot, &s->result, &found);
	assert_false(is_known(key));
	assert_int_equal(found.count, 0);
}

/* ---- cgroups ---- */

SAMPLE_TEST(cgroup_limit, sample_healthy)
{
	static const char reads_back[] =
		"critical cgroup_limit in /a/web 293601280\n"
		"AT ITS LIMIT: cgroup /a/web (300M): it reads back 14.0M a second that the kernel just took from it\n"
		"> cgroups\n";
	static const char waits[] =
		"critical cgroup_limit in /a/web 293601280\n"
		"AT ITS LIMIT: cgroup /a/web (300M): some of its tasks waited in 10.00 % of the last 10 s\n"
		"> cgroups\n";
	struct memcg m = memcg_of("/a/web", 280 * MIB, 300 * MIB);

	does_not_know(s, FINDING_CGROUP_LIMIT);
	set_memcgs(s, &m, 1);
	m.max_known = true;
	m.max = 1;
	memcg_set_detail(&m, COUNTER_LIMIT_HITS_S, 1);
	memcg_set_detail(&m, COUNTER_REFAULTS_S, 3584);
	/* A twentieth of its 71680 pages is read back in a second. */
	finds(s, FINDING_CGROUP_LIMIT, reads_back);
	memcg_set_detail(&m, COUNTER_PSI_SOME_10, 0);
	finds(s, FINDING_CGROUP_LIMIT, reads_back);
	memcg_set_detail(&m, COUNTER_REFAULTS_S, 3583);
	finds(s, FINDING_CGROUP_LIMIT, "");
	memcg_set_detail(&m, COUNTER_PSI_SOME_10, 1000);
	finds(s, FINDING_CGROUP_LIMIT, waits);
	memcg_set_detail(&m, COUNTER_REFAULTS_S, 0);
	finds(s, FINDING_CGROUP_LIMIT, waits);
	memcg_set_detail(&m, COUNTER_PSI_SOME_10, 999);
	finds(s, FINDING_CGROUP_LIMIT, "");
	/* Nothing tells what happens in it. */
	m.details = 0;
	does_not_know(s, FINDING_CGROUP_LIMIT);
}

SAMPLE_TEST(cgroup_limit_is_far, sample_healthy)
{
	struct memcg m = memcg_of("/a/web", 2625 * MIB / 10, 300 * MIB);

	set_memcgs(s, &m, 1);
	m.max_known = true;
	m.max = 1;
	memcg_set_detail(&m, COUNTER_PSI_SOME_10, 5000);
	memcg_set_detail(&m, COUNTER_REFAULTS_S, 1);
	finds(s, FINDING_CGROUP_LIMIT,
	      "critical cgroup_limit in /a/web 275251200\n"
	      "AT ITS LIMIT: cgroup /a/web (300M): some of its tasks waited in 50.00 % of the last 10 s\n"
	      "> cgroups\n");
	m.current--;
	finds(s, FINDING_CGROUP_LIMIT, "");
	m.current++;
	/* The machine is short of memory, and not the cgroup. */
	m.max = 0;
	finds(s, FINDING_CGROUP_LIMIT, "");
	m.max = 1;
	m.max_known = false;
	finds(s, FINDING_CGROUP_LIMIT, "");
	m.max_known = true;
	m.limit_known = false;
	finds(s, FINDING_CGROUP_LIMIT, "");
	/* A limit above all RAM is none. */
	m.limit_known = true;
	m.limit = m.current = TOTAL + 1;
	finds(s, FINDING_CGROUP_LIMIT, "");
	m.limit = m.current = TOTAL;
	finds(s, FINDING_CGROUP_LIMIT,
	      "critical cgroup_limit in /a/web 17179869184\n"
	      "AT ITS LIMIT: cgroup /a/web (16.0G): some of its tasks waited in 50.00 % of the last 10 s\n"
	      "> cgroups\n");
	/* A recording of some processes has their cgroups alone. */
	s->snapshot.selection = "--name web";
	does_not_know(s, FINDING_CGROUP_LIMIT);
	does_not_know(s, FINDING_CGROUP_HIGH);
	does_not_know(s, FINDING_CGROUP_FULL);
}

SAMPLE_TEST(cgroup_high, sample_healthy)
{
	static const char throttled[] =
		"critical cgroup_high in /a/web 220200960\n"
		"THROTTLED: cgroup /a/web is above its memory.high (200M), so the kernel slows its tasks: some waited in 10.00 % of the last 10 s\n"
		"> cgroups\n";
	struct memcg m[] = {memcg_of("/a", 210 * MIB, 0), memcg_of("/a/web", 210 * MIB, 0)};

	set_memcgs(s, m, 2);
	memcg_set_detail(&m[1], COUNTER_MEM_HIGH, 200 * MIB);
	memcg_set_detail(&m[1], COUNTER_PSI_SOME_10, 1000);
	memcg_set_detail(&m[1], COUNTER_HIGH_HITS_S, 1);
	finds(s, FINDING_CGROUP_HIGH, throttled);
	/* One sentence for one cgroup. */
	m[1].limit_known = m[1].max_known = true;
	m[1].max = 1;
	m[1].limit = 215 * MIB;
	memcg_set_detail(&m[1], COUNTER_MEM_ANON, 210 * MIB);
	memcg_set_detail(&m[1], COUNTER_MEM_SHMEM, 0);
	finds(s, FINDING_CGROUP_HIGH, throttled);
	m[1].limit_known = false;
	memcg_set_detail(&m[1], COUNTER_PSI_SOME_10, 999);
	finds(s, FINDING_CGROUP_HIGH, "");
	/* It was above it at an earlier time. */
	memcg_set_detail(&m[1], COUNTER_PSI_SOME_10, 1000);
	memcg_set_detail(&m[1], COUNTER_HIGH_HITS_S, 0);
	finds(s, FINDING_CGROUP_HIGH, "");
	m[1].high_known = true;
	m[1].high = 1;
	finds(s, FINDING_CGROUP_HIGH, throttled);
	/* It is that of the cgroup above, of which no more is known. */
	memcg_set_detail(&m[0], COUNTER_MEM_HIGH, 200 * MIB);
	does_not_know(s, FINDING_CGROUP_HIGH);
	memcg_set_detail(&m[0], COUNTER_PSI_SOME_10, 0);
	finds(s, FINDING_CGROUP_HIGH, "");
	memcg_set_detail(&m[0], COUNTER_MEM_HIGH, 200 * MIB + 1);
	finds(s, FINDING_CGROUP_HIGH, throttled);
}

SAMPLE_TEST(cgroup_full, sample_healthy)
{
	struct memcg m = memcg_of("/a/db", 290 * MIB, 300 * MIB);

	does_not_know(s, FINDING_CGROUP_FULL);
	set_memcgs(s, &m, 1);
	memcg_set_detail(&m, COUNTER_MEM_ANON, 290 * MIB);
	finds(s, FINDING_CGROUP_FULL, "");
	memcg_set_detail(&m, COUNTER_MEM_ANON, 200 * MIB);
	memcg_set_detail(&m, COUNTER_MEM_SHMEM, 85 * MIB);
	finds(s, FINDING_CGROUP_FULL,
	      "warning cgroup_full in /a/db 298844160\n"
	      "NEAR ITS LIMIT: cgroup /a/db (300M): 285M of it are anonymous and shared memory, "
	      "which cannot be dropped\n"
	      "> cgroups\n");
	memcg_set_detail(&m, COUNTER_MEM_SHMEM, 85 * MIB - 1);
	finds(s, FINDING_CGROUP_FULL, "");
	m.limit_known = false;
	memcg_set_detail(&m, COUNTER_MEM_SHMEM, 95 * MIB);
	finds(s, FINDING_CGROUP_FULL, "");
}

/* ---- the machine ---- */

SAMPLE_TEST(thrashing, sample_healthy)
{
	struct system_info *system = &s->snapshot.system;

	system->rates.refaulted = TOTAL / 4096;
	system->pressure.some_avg10 = 1000;
	finds(s, FINDING_THRASHING,
	      "critical thrashing 17179869184\n"
	      "THRASHING: the machine reads back 4.00M a second that it dropped a moment ago; some task waited in 10.00 % of the last 10 s\n"
	      "> top -s wait\n");
	system->pressure.some_avg10 = 999;
	finds(s, FINDING_THRASHING, "");
	system->pressure.some_avg10 = 1000;
	system->rates.refaulted--;
	finds(s, FINDING_THRASHING, "");
	/* A cgroup at its limit reads back, and the machine is not short of memory. */
	system->rates.refaulted = TOTAL;
	system->rates.scanned = 0;
	finds(s, FINDING_THRASHING, "");
	system->rates.scanned = 1;
	system->pressure.known = false;
	system->rates.refaulted = TOTAL / 16;
	finds(s, FINDING_THRASHING,
	      "critical thrashing 17179869184\n"
	      "THRASHING: the machine reads back 1.00G a second that it dropped a moment ago\n"
	      "> top -s wait\n");
	system->rates.refaulted--;
	finds(s, FINDING_THRASHING, "");
	system->rates.refaulted++;
	system->rates.known = false;
	does_not_know(s, FINDING_THRASHING);
}

SAMPLE_TEST(ram_full, sample_healthy)
{
	finds(s, FINDING_RAM_FULL, "");
	set_meminfo(s, MEMINFO_AVAILABLE, TOTAL / 20 - 1);
	finds(s, FINDING_RAM_FULL,
	      "warning ram_full 16320875726\n"
	      "RAM NEARLY FULL: 819M of 16.0G can still be used; 512M of swap is free\n"
	      "> system\n");
	/* Free swap makes up for what is missing, or does not. */
	set_meminfo(s, MEMINFO_AVAILABLE, TOTAL / 20 - GIB / 2);
	finds(s, FINDING_RAM_FULL,
	      "warning ram_full 16857746637\n"
	      "RAM NEARLY FULL: 307M of 16.0G can still be used; 512M of swap is free\n"
	      "> system\n");
	set_meminfo(s, MEMINFO_AVAILABLE, TOTAL / 20 - GIB / 2 - 1);
	finds(s, FINDING_RAM_FULL,
	      "critical ram_full 16857746638\n"
	      "RAM NEARLY FULL: 307M of 16.0G can still be used; 512M of swap is free\n"
	      "> system\n");
	set_meminfo(s, MEMINFO_SWAP_TOTAL, 0);
	set_meminfo(s, MEMINFO_SWAP_FREE, 0);
	set_meminfo(s, MEMINFO_AVAILABLE, TOTAL / 20 - 1);
	finds(s, FINDING_RAM_FULL,
	      "critical ram_full 16320875726\n"
	      "RAM NEARLY FULL: 819M of 16.0G can still be used\n"
	      "> system\n");
	forget_meminfo(s, MEMINFO_AVAILABLE);
	does_not_know(s, FINDING_RAM_FULL);
}

SAMPLE_TEST(oom_kills, sample_healthy)
{
	struct recent_kills *k = &s->snapshot.system.recent_kills;

	finds(s, FINDING_OOM_KILLS, "");
	/* Since boot, or since the series began: no recording has them. */
	k->count = 1;
	k->since_ms = s->snapshot.time_ms - 12 * 60 * 1000 - 345;
	finds(s, FINDING_OOM_KILLS,
	      "critical oom_kills\n"
	      "OOM KILLS: 1 process was killed for lack of memory in the last 12 min\n"
	      "> \n");
	*k = (struct recent_kills){.known = true,
				   .count = 3,
				   .recorded = true,
				   .last_ms = s->snapshot.time_ms - 125000,
				   .name = "java",
				   .cgroup = "/a/app"};
	finds(s, FINDING_OOM_KILLS,
	      "critical oom_kills in /a/app\n"
	      "OOM KILLS: 3 processes were killed for lack of memory in the last hour, the last "
	      "one at 23:57: java in /a/app\n"
	      "> incidents\n");
	k->unrecorded = 2;
	*k->cgroup = '\0';
	finds(s, FINDING_OOM_KILLS,
	      "critical oom_kills\n"
	      "OOM KILLS: 3 processes were killed for lack of memory in the last hour, the last "
	      "one at 23:57: java; 2 of them are not in the recording\n"
	      "> incidents\n");
	k->unrecorded = k->count;
	k->last_ms = 0;
	*k->name = '\0';
	finds(s, FINDING_OOM_KILLS,
	      "critical oom_kills\n"
	      "OOM KILLS: 3 processes were killed for lack of memory in the last hour; 3 of them are not in the recording\n"
	      "> incidents\n");
	k->known = false;
	does_not_know(s, FINDING_OOM_KILLS);
}

SAMPLE_TEST(swapping, sample_healthy)
{
	struct system_info *system = &s->snapshot.system;

	system->rates.swapped_in = MIB;
	system->pressure.some_avg10 = 100;
	finds(s, FINDING_SWAPPING,
	      "warning swapping 1610612736\n"
	      "SWAPPING: 1.00M a second are read from swap, 0 written\n"
	      "> top -s swap_pss\n");
	system->rates.swapped_out = 3 * MIB;
	for (size_t i = 0; i < 3; i++) {
		s->row[i].swapin_known = i != 1;
		s->row[i].swapin = i == 1 ? 900 : 20 - (uint32_t)i;
	}
	finds(s, FINDING_SWAPPING,
	      "warning swapping pid 812 1610612736\n"
	      "SWAPPING: 1.00M a second are read from swap, 3.00M written; most by firefox "
	      "(812): 20 pages a second\n"
	      "> top -s swap_pss\n");
	/* Swap in use is no fault, nor is it to read it once. */
	system->rates.swapped_in--;
	finds(s, FINDING_SWAPPING, "");
	system->rates.swapped_in++;
	system->pressure.some_avg10 = 99;
	finds(s, FINDING_SWAPPING, "");
	system->pressure.known = false;
	s->row[0].swapin = s->row[2].swapin = 0;
	finds(s, FINDING_SWAPPING,
	      "warning swapping 1610612736\n"
	      "SWAPPING: 1.00M a second are read from swap, 3.00M written\n"
	      "> top -s swap_pss\n");
	/* How much is in swap is not known. */
	forget_meminfo(s, MEMINFO_SWAP_FREE);
	finds(s, FINDING_SWAPPING,
	      "warning swapping\n"
	      "SWAPPING: 1.00M a second are read from swap, 3.00M written\n"
	      "> top -s swap_pss\n");
	system->rates.known = false;
	does_not_know(s, FINDING_SWAPPING);
}

/* A cgroup that swaps at its own limit is named, and not the machine with it. */
SAMPLE_TEST(swapping_at_a_limit, sample_healthy)
{
	static const char limit[] =
		"critical cgroup_limit in /a/web 293601280\n"
		"AT ITS LIMIT: cgroup /a/web (300M): some of its tasks waited in 50.00 % of the last 10 s\n"
		"> cgroups\n";
	struct system_info *system = &s->snapshot.system;
	struct memcg m = memcg_of("/a/web", 280 * MIB, 300 * MIB);
	char want[512];

	set_memcgs(s, &m, 1);
	m.max_known = true;
	m.max = 1;
	memcg_set_detail(&m, COUNTER_PSI_SOME_10, 5000);
	system->rates.swapped_in = MIB;
	system->rates.scanned = 0;
	system->pressure.some_avg10 = 100;
	finds(s, FINDING_SWAPPING, limit);
	/* The machine is short of memory as well. */
	system->rates.scanned = 1;
	snprintf(want, sizeof(want), "%s%s", limit,
		 "warning swapping 1610612736\n"
		 "SWAPPING: 1.00M a second are read from swap, 0 written\n"
		 "> top -s swap_pss\n");
	finds(s, FINDING_SWAPPING, want);
	system->rates.scanned = 0;
	memcg_set_detail(&m, COUNTER_PSI_SOME_10, 0);
	finds(s, FINDING_SWAPPING, strstr(want, "warning"));
}

static const char *swap_is_full(const char *level)
{
	static char text[128];

	snprintf(
		text, sizeof(text),
		"%s swap_full 1932735285\nSWAP NEARLY FULL: 205M of 2.00G are free\n> -s swap_pss\n",
		level);
	return text;
}

SAMPLE_TEST(swap_full, sample_healthy)
{
	set_meminfo(s, MEMINFO_SWAP_FREE, 2 * GIB / 10);
	set_meminfo(s, MEMINFO_AVAILABLE, TOTAL / 4);
	finds(s, FINDING_SWAP_FULL, "");
	set_meminfo(s, MEMINFO_SWAP_FREE, 2 * GIB / 10 - 1);
	finds(s, FINDING_SWAP_FULL,
	      "hint swap_full 1932735285\n"
	      "SWAP NEARLY FULL: 205M of 2.00G are free\n"
	      "> -s swap_pss\n");
	/* Little is available, and nothing needs it. */
	set_meminfo(s, MEMINFO_AVAILABLE, TOTAL / 4 - 1);
	s->snapshot.system.rates.swapped_out = 0;
	s->snapshot.system.pressure.some_avg10 = 99;
	finds(s, FINDING_SWAP_FULL, swap_is_full("hint"));
	s->snapshot.system.pressure.some_avg10 = 100;
	finds(s, FINDING_SWAP_FULL, swap_is_full("warning"));
	s->snapshot.system.pressure.some_avg10 = 0;
	s->snapshot.system.rates.swapped_out = 1;
	finds(s, FINDING_SWAP_FULL, swap_is_full("warning"));
	set_meminfo(s, MEMINFO_AVAILABLE, TOTAL / 4);
	finds(s, FINDING_SWAP_FULL, swap_is_full("hint"));
	/* RAM is nearly full as well: 5 %, here of 16 GiB. */
	set_meminfo(s, MEMINFO_AVAILABLE, 858993459);
	finds(s, FINDING_SWAP_FULL, swap_is_full("warning"));
	set_meminfo(s, MEMINFO_AVAILABLE, 858993458);
	finds(s, FINDING_SWAP_FULL,
	      "critical swap_full 1932735285\n"
	      "SWAP NEARLY FULL: 205M of 2.00G are free\n"
	      "> -s swap_pss\n"
	      "warning ram_full 16320875726\n"
	      "RAM NEARLY FULL: 819M of 16.0G can still be used; 205M of swap is free\n"
	      "> system\n");
	/* No swap is not a full one, and both values are not of one moment. */
	set_meminfo(s, MEMINFO_AVAILABLE, TOTAL / 2);
	set_meminfo(s, MEMINFO_SWAP_TOTAL, 0);
	does_not_know(s, FINDING_SWAP_FULL);
	set_meminfo(s, MEMINFO_SWAP_FREE, 0);
	finds(s, FINDING_SWAP_FULL, "");
	forget_meminfo(s, MEMINFO_SWAP_TOTAL);
	does_not_know(s, FINDING_SWAP_FULL);
}

/* A disk, and swap, which is told as such if it is the only one. */
SAMPLE_TEST(zram_full, sample_healthy)
{
	struct system_info *system = &s->snapshot.system;
	struct zram_device *d = &system->zram[0];

	d->size = GIB;
	d->stat = (struct zram_stat){GIB * 95 / 100, 200 * MIB, 210 * MIB};
	finds(s, FINDING_ZRAM_FULL,
	      "warning zram_full 1020054732\n"
	      "ZRAM NEARLY FULL: zram0: 973M of 1.00G are in use\n"
	      "> -s swap_ram\n");
	/* Another device is swap. */
	system->swap_count = 1;
	strcpy(system->swap[0].name, "/dev/zram1");
	finds(s, FINDING_ZRAM_FULL,
	      "warning zram_full 1020054732\n"
	      "ZRAM NEARLY FULL: zram0: 973M of 1.00G are in use\n"
	      "> -s swap_ram\n");
	d->stat.stored--;
	finds(s, FINDING_ZRAM_FULL, "");
	system->swap[0] = (struct swap_device){
		.name = "/dev/zram0", .kind = SWAP_PARTITION, .size = GIB, .used = GIB};
	system->swap_count = 1;
	finds(s, FINDING_ZRAM_FULL, "");
	system->swap[1] = (struct swap_device){.name = "/swapfile", .kind = SWAP_FILE, .size = GIB};
	system->swap_count = 2;
	finds(s, FINDING_ZRAM_FULL,
	      "warning zram_full 1073741824\n"
	      "ZRAM NEARLY FULL: zram0: 1.00G of 1.00G are in use\n"
	      "> -s swap_ram\n");
	system->swap[0].used = GIB / 2;
	finds(s, FINDING_ZRAM_FULL, "");
	/* Old recordings do not have the size of a disk. */
	d->stat.stored = GIB;
	d->size = 0;
	system->swap_count = 0;
	finds(s, FINDING_ZRAM_FULL, "");
	forget_meminfo(s, MEMINFO_TOTAL);
	does_not_know(s, FINDING_ZRAM_FULL);
}

SAMPLE_TEST(zram_poor, sample_healthy)
{
	struct zram_device *d = &s->snapshot.system.zram[0];

	d->stat = (struct zram_stat){TOTAL / 64, 180 * MIB, 192 * MIB};
	finds(s, FINDING_ZRAM_POOR,
	      "hint zram_poor 201326592\n"
	      "ZRAM SAVES LITTLE: zram0: 192M of RAM hold 256M of data\n"
	      "> -s swap_ram\n");
	d->stat.used--;
	finds(s, FINDING_ZRAM_POOR, "");
	d->stat = (struct zram_stat){TOTAL / 64 - 4, 250 * MIB, 250 * MIB};
	finds(s, FINDING_ZRAM_POOR, "");
	d->stat = (struct zram_stat){GIB, GIB, TOTAL / 20};
	finds(s, FINDING_ZRAM_POOR,
	      "warning zram_poor 858993459\n"
	      "ZRAM SAVES LITTLE: zram0: 819M of RAM hold 1.00G of data\n"
	      "> -s swap_ram\n");
	d->stat.used--;
	finds(s, FINDING_ZRAM_POOR,
	      "hint zram_poor 858993458\n"
	      "ZRAM SAVES LITTLE: zram0: 819M of RAM hold 1.00G of data\n"
	      "> -s swap_ram\n");
	forget_meminfo(s, MEMINFO_TOTAL);
	does_not_know(s, FINDING_ZRAM_POOR);
}

/* In an hour it takes a 24th of what is left. */
SAMPLE_TEST(grows, sample_healthy)
{
	const struct delta delta = {.known = true};
	struct row *row = &s->row[0];

	does_not_know(s, FINDING_GROWS);
	s->result.delta = &delta;
	finds(s, FINDING_GROWS, "");
	set_meminfo(s, MEMINFO_AVAILABLE, 12 * 24 * (3 * MIB));
	row->watched_ms = 5 * 60 * 1000;
	row->grown = 3 * MIB;
	row->ticks = row->grew_ticks = 300;
	row->stands_out = true;
	finds(s, FINDING_GROWS,
	      "warning grows pid 812 37748736\n"
	      "GROWS: firefox (812) grows by 36.0M an hour, seen for 5 min; 864M of RAM can still be used\n"
	      "> grow 812\n");
	row->watched_ms--;
	finds(s, FINDING_GROWS, "");
	row->watched_ms++;
	row->grown--;
	finds(s, FINDING_GROWS, "");
	row->grown++;
	row->stands_out = false;
	finds(s, FINDING_GROWS, "");
	row->stands_out = true;
	row->grew_ticks = 150;
	finds(s, FINDING_GROWS, "");
	row->grew_ticks = 300;
	row->grown = -row->grown;
	finds(s, FINDING_GROWS, "");
	row->grown = -row->grown;
	/* A kernel thread, and a group, are no process that leaks. */
	row->process->kind = PROCESS_KTHREAD;
	finds(s, FINDING_GROWS, "");
	row->process->kind = PROCESS_USER;
	s->result.group = process_field("unit");
	does_not_know(s, FINDING_GROWS);
	s->result.group = NULL;
	forget_meminfo(s, MEMINFO_AVAILABLE);
	does_not_know(s, FINDING_GROWS);
}

/* ---- where memory is that no process shows ---- */

SAMPLE_TEST(shmem_unmapped, sample_healthy)
{
	static const char without_a_file[] =
		"warning shmem_unmapped 1717986918\n"
		"TMPFS, SHARED MEMORY: 1.60G are mapped by no process\n"
		"> files\n";
	struct shared_files files = files_of("/tmp/big", FILE_TMPFS, GIB);
	struct machine_files *sums = &s->snapshot.system.files;
	struct tmpfs_use *tmpfs = &s->snapshot.system.tmpfs;

	finds(s, FINDING_SHMEM_UNMAPPED, "");
	sums->unmapped[FILE_TMPFS] = GIB;
	sums->unmapped[FILE_MEMFD] = TOTAL / 10 - GIB;
	sums->unmapped[FILE_SYSV] = sums->unmapped[FILE_SHARED_ANON] = sums->unmapped[FILE_OTHER] =
		0;
	finds(s, FINDING_SHMEM_UNMAPPED, without_a_file);
	s->snapshot.system.shared = &files;
	finds(s, FINDING_SHMEM_UNMAPPED,
	      "warning shmem_unmapped file /tmp/big 1717986918\n"
	      "TMPFS, SHARED MEMORY: 1.60G are mapped by no process; most of it is /tmp/big\n"
	      "> files\n");
	files.file[0].resident = TOTAL / 10;
	finds(s, FINDING_SHMEM_UNMAPPED,
	      "warning shmem_unmapped file /tmp/big 1717986918\n"
	      "TMPFS, SHARED MEMORY: 1.60G are mapped by no process; most of it is /tmp/big\n"
	      "> files\n");
	/* Half of it is not most of it. A larger file is mapped, buffers of graphics are used. */
	files.file[0].resident = TOTAL / 20;
	finds(s, FINDING_SHMEM_UNMAPPED, without_a_file);
	files.file[0].resident = TOTAL / 10 + 1;
	finds(s, FINDING_SHMEM_UNMAPPED, without_a_file);
	files.file[0].resident = GIB;
	files.file[0].kind = FILE_DRM;
	finds(s, FINDING_SHMEM_UNMAPPED, without_a_file);
	sums->unmapped[FILE_MEMFD]--;
	finds(s, FINDING_SHMEM_UNMAPPED, "");
	/*
	 * Without a list of files the sums of processes tell, and of tmpfs, which stays, its
	 * mounts.
	 */
	sums->shmem_known = false;
	s->snapshot.balance.shmem_not_in_pss = TOTAL / 10;
	finds(s, FINDING_SHMEM_UNMAPPED,
	      "hint shmem_unmapped 1717986918\n"
	      "TMPFS, SHARED MEMORY: 1.60G are in no page table\n"
	      "> files\n");
	*tmpfs = (struct tmpfs_use){true, TOTAL / 10 - 1, "/dev/shm", TOTAL / 20};
	finds(s, FINDING_SHMEM_UNMAPPED,
	      "hint shmem_unmapped 1717986918\n"
	      "TMPFS, SHARED MEMORY: 1.60G are in no page table\n"
	      "> files\n");
	tmpfs->bytes++;
	tmpfs->largest_bytes++;
	finds(s, FINDING_SHMEM_UNMAPPED,
	      "warning shmem_unmapped file /dev/shm 1717986918\n"
	      "TMPFS, SHARED MEMORY: 1.60G are in no page table; most of it is /dev/shm\n"
	      "> files\n");
	s->snapshot.balance.shmem_not_in_pss_known = false;
	does_not_know(s, FINDING_SHMEM_UNMAPPED);
}

SAMPLE_TEST(kernel_memory, sample_healthy)
{
	static const struct {
		enum meminfo_counter counter;
		const char *level, *kind;
	} kinds[] = {
		{MEMINFO_SLAB_UNRECLAIMABLE, "warning", "slab"},
		{MEMINFO_PAGE_TABLES, "warning", "page tables"},
		{MEMINFO_KERNEL_STACK, "warning", "kernel stacks"},
		{MEMINFO_VMALLOC_USED, "warning", "vmalloc"},
		{MEMINFO_PERCPU, "warning", "per-CPU memory"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		char want[128];

		set_meminfo(s, kinds[i].counter, TOTAL / 10 - 1);
		finds(s, FINDING_KERNEL_MEMORY, "");
		set_meminfo(s, kinds[i].counter, TOTAL / 10);
		snprintf(want, sizeof(want),
			 "%s kernel_memory 1717986918\nKERNEL MEMORY: %s: 1.60G\n> system -l\n",
			 kinds[i].level, kinds[i].kind);
		finds(s, FINDING_KERNEL_MEMORY, want);
		set_meminfo(s, kinds[i].counter, 0);
	}
	forget_meminfo(s, MEMINFO_SLAB_UNRECLAIMABLE);
	does_not_know(s, FINDING_KERNEL_MEMORY);
}

/* What the kernel can free, and the caches that hold most. */
SAMPLE_TEST(slabs, sample_healthy)
{
	sample_census(s);
	s->ram.deleted_known = false;
	ram_add_part(&s->ram, RAM_SLAB, "kmalloc-64", GIB);
	ram_add_part(&s->ram, RAM_SLAB, "dentry", 3 * GIB);
	set_meminfo(s, MEMINFO_SLAB_RECLAIMABLE, 4 * GIB);
	finds(s, FINDING_KERNEL_MEMORY,
	      "hint kernel_memory 4294967296\n"
	      "KERNEL MEMORY: slab that can be freed: 4.00G; most of it is dentry; 100M of it "
	      "are negative dentries\n"
	      "> system -l\n");
	set_meminfo(s, MEMINFO_SLAB_RECLAIMABLE, TOTAL / 10 - 1);
	set_meminfo(s, MEMINFO_SLAB_UNRECLAIMABLE, TOTAL / 10);
	finds(s, FINDING_KERNEL_MEMORY,
	      "warning kernel_memory 1717986918\n"
	      "KERNEL MEMORY: slab: 1.60G; most of it is kmalloc-64\n"
	      "> system -l\n");
	/* Dentries can be freed: they are no part of it. */
	set_meminfo(s, MEMINFO_SLAB_UNRECLAIMABLE, GIB * 3);
	finds(s, FINDING_KERNEL_MEMORY,
	      "warning kernel_memory 3221225472\n"
	      "KERNEL MEMORY: slab: 3.00G\n"
	      "> system -l\n");
	/* Half of it is not most of it. */
	set_meminfo(s, MEMINFO_SLAB_UNRECLAIMABLE, 2 * GIB);
	finds(s, FINDING_KERNEL_MEMORY,
	      "warning kernel_memory 2147483648\n"
	      "KERNEL MEMORY: slab: 2.00G\n"
	      "> system -l\n");
}

SAMPLE_TEST(cgroups_deleted, sample_healthy)
{
	does_not_know(s, FINDING_CGROUPS_DELETED);
	sample_census(s);
	s->ram.deleted_cgroups = 1;
	s->ram.deleted_bytes = 64 * MIB;
	finds(s, FINDING_CGROUPS_DELETED,
	      "hint cgroups_deleted 67108864\n"
	      "DELETED CGROUPS: 1 deleted cgroup still holds 64.0M\n"
	      "> system --by cgroup\n");
	s->ram.deleted_bytes--;
	finds(s, FINDING_CGROUPS_DELETED, "");
	s->ram.deleted_cgroups = 2;
	s->ram.deleted_bytes = TOTAL / 20;
	finds(s, FINDING_CGROUPS_DELETED,
	      "warning cgroups_deleted 858993459\n"
	      "DELETED CGROUPS: 2 deleted cgroups still hold 819M\n"
	      "> system --by cgroup\n");
	s->ram.deleted_bytes--;
	finds(s, FINDING_CGROUPS_DELETED,
	      "hint cgroups_deleted 858993458\n"
	      "DELETED CGROUPS: 2 deleted cgroups still hold 819M\n"
	      "> system --by cgroup\n");
	s->ram.deleted_known = false;
	does_not_know(s, FINDING_CGROUPS_DELETED);
}

SAMPLE_TEST(hugetlb_unused, sample_healthy)
{
	static const char hint[] =
		"hint hugetlb_unused 1717986918\n"
		"HUGE PAGES: 1.60G are set aside for huge pages that nothing uses\n"
		"> -s hugetlb\n";

	s->snapshot.system.hugetlb_unused = TOTAL / 10;
	set_meminfo(s, MEMINFO_AVAILABLE, TOTAL / 10);
	finds(s, FINDING_HUGETLB_UNUSED, hint);
	set_meminfo(s, MEMINFO_AVAILABLE, TOTAL / 10 - 1);
	finds(s, FINDING_HUGETLB_UNUSED,
	      "warning hugetlb_unused 1717986918\n"
	      "HUGE PAGES: 1.60G are set aside for huge pages that nothing uses\n"
	      "> -s hugetlb\n");
	s->snapshot.system.hugetlb_unused--;
	finds(s, FINDING_HUGETLB_UNUSED, "");
	s->snapshot.system.hugetlb_unused++;
	s->snapshot.system.hugetlb_unused_known = false;
	does_not_know(s, FINDING_HUGETLB_UNUSED);
}

SAMPLE_TEST(thp_partly, sample_healthy)
{
	struct partly_mapped *p = &s->snapshot.system.partly_mapped;

	p->bytes = TOTAL / 20;
	finds(s, FINDING_THP_PARTLY,
	      "hint thp_partly 858993459\n"
	      "HUGE PAGES IN PART: up to 819M are in huge pages that processes use only in part\n"
	      "> -s thp_rest\n");
	p->bytes--;
	finds(s, FINDING_THP_PARTLY, "");
	p->bytes++;
	p->known = false;
	does_not_know(s, FINDING_THP_PARTLY);
}

SAMPLE_TEST(locked, sample_healthy)
{
	set_meminfo(s, MEMINFO_UNEVICTABLE, TOTAL / 4);
	finds(s, FINDING_LOCKED,
	      "hint locked 4294967296\n"
	      "LOCKED: 4.00G of RAM are locked: the kernel can neither drop nor swap them\n"
	      "> -s locked\n");
	set_meminfo(s, MEMINFO_UNEVICTABLE, TOTAL / 4 - 1);
	finds(s, FINDING_LOCKED, "");
	forget_meminfo(s, MEMINFO_UNEVICTABLE);
	does_not_know(s, FINDING_LOCKED);
}

/* ---- nodes ---- */

SAMPLE_TEST(node_full, sample_healthy)
{
	struct machine_nodes *nodes = &s->snapshot.system.nodes;

	does_not_know(s, FINDING_NODE_FULL);
	*nodes = (struct machine_nodes){
		2, {{0, 8 * GIB, 90 * MIB, 80 * MIB}, {1, 8 * GIB, GIB, 80 * MIB}}};
	set_meminfo(s, MEMINFO_SWAP_FREE, 2 * GIB - 16 * MIB);
	finds(s, FINDING_NODE_FULL,
	      "hint node_full 16777216\n"
	      "A NODE IS FULL: node 0 has 90.0M of 8.00G free while node 1 has 1.00G free; 16.0M "
	      "are in swap\n"
	      "> system --by node\n");
	s->snapshot.system.rates.swapped_out = 1;
	finds(s, FINDING_NODE_FULL,
	      "warning node_full 16777216\n"
	      "A NODE IS FULL: node 0 has 90.0M of 8.00G free while node 1 has 1.00G free; 16.0M "
	      "are in swap\n"
	      "> system --by node\n");
	set_meminfo(s, MEMINFO_SWAP_FREE, 2 * GIB - 16 * MIB + 1);
	finds(s, FINDING_NODE_FULL, "");
	set_meminfo(s, MEMINFO_SWAP_FREE, GIB);
	nodes->node[0].free = 256 * MIB;
	finds(s, FINDING_NODE_FULL, "");
	/* Less than twice of what makes the kernel reclaim. */
	nodes->node[0].high = 128 * MIB;
	finds(s, FINDING_NODE_FULL, "");
	nodes->node[0].high++;
	finds(s, FINDING_NODE_FULL,
	      "warning node_full 1073741824\n"
	      "A NODE IS FULL: node 0 has 256M of 8.00G free while node 1 has 1.00G free; 1.00G "
	      "are in swap\n"
	      "> system --by node\n");
	/* Less than a 32nd of it. */
	nodes->node[0].high = 1;
	nodes->node[0].free--;
	finds(s, FINDING_NODE_FULL,
	      "warning node_full 1073741824\n"
	      "A NODE IS FULL: node 0 has 256M of 8.00G free while node 1 has 1.00G free; 1.00G "
	      "are in swap\n"
	      "> system --by node\n");
	nodes->node[1].free--;
	finds(s, FINDING_NODE_FULL, "");
}

SAMPLE_TEST(node_away, sample_healthy)
{
	struct node_shares shares = {2, {{0, 100 * MIB}, {1, 300 * MIB}}},
			   more = {2, {{0, 16 * MIB - 1}, {2, 16 * MIB}}};
	struct process *p = s->process;

	does_not_know(s, FINDING_NODE_AWAY);
	p[0].nodes = &shares;
	does_not_know(s, FINDING_NODE_AWAY);
	p[0].cpu_nodes = 1;
	finds(s, FINDING_NODE_AWAY,
	      "warning node_away pid 812 314572800\n"
	      "AWAY FROM ITS MEMORY: firefox (812) runs only on node 0, and has 300M of 400M on "
	      "other nodes\n"
	      "> -o +nodes\n");
	p[1].nodes = &more;
	p[1].cpu_nodes = 1;
	finds(s, FINDING_NODE_AWAY,
	      "warning node_away pid 812 314572800\n"
	      "AWAY FROM ITS MEMORY: firefox (812) runs only on node 0, and has 300M of 400M on "
	      "other nodes; so does 1 more process\n"
	      "> -o +nodes\n");
	/* Not more than half of it, and less than 16 MiB. */
	more.node[0].pss++;
	p[2].nodes = p[3].nodes = &shares;
	p[2].cpu_nodes = 1 << 2 | 1 << 5;
	p[3].cpu_nodes = 1;
	finds(s, FINDING_NODE_AWAY,
	      "warning node_away pid 813 419430400\n"
	      "AWAY FROM ITS MEMORY: vfork-child (813) runs only on nodes 2, 5, and has 400M of "
	      "400M on other nodes; so do 2 more processes\n"
	      "> -o +nodes\n");
	p[2].cpu_nodes = p[3].cpu_nodes = 0;
	p[0].cpu_nodes = 3;
	more.node[0].pss = 0;
	more.node[1].pss--;
	finds(s, FINDING_NODE_AWAY, "");
}

/* ---- limits of the kernel ---- */

SAMPLE_TEST(maps_limit, sample_healthy)
{
	struct process *p = s->process;

	does_not_know(s, FINDING_MAPS_LIMIT);
	process_set(&p[0], COUNTER_MAPS, 52424);
	finds(s, FINDING_MAPS_LIMIT,
	      "warning maps_limit pid 812\n"
	      "MAPPINGS: firefox (812) has 52424 of the 65530 mappings that vm.max_map_count "
	      "allows\n"
	      "> maps 812 --by-file\n");
	process_set(&p[0], COUNTER_MAPS, 52423);
	finds(s, FINDING_MAPS_LIMIT, "");
	process_set(&p[0], COUNTER_MAPS, 62252);
	finds(s, FINDING_MAPS_LIMIT,
	      "warning maps_limit pid 812\n"
	      "MAPPINGS: firefox (812) has 62252 of the 65530 mappings that vm.max_map_count "
	      "allows\n"
	      "> maps 812 --by-file\n");
	process_set(&p[0], COUNTER_MAPS, 62253);
	/* It shares them with the next one. */
	process_set(&p[2], COUNTER_MAPS, 62253);
	finds(s, FINDING_MAPS_LIMIT,
	      "critical maps_limit pid 812\n"
	      "MAPPINGS: firefox (812) has 62253 of the 65530 mappings that vm.max_map_count "
	      "allows\n"
	      "> maps 812 --by-file\n");
	s->snapshot.system.max_map_count = 0;
	does_not_know(s, FINDING_MAPS_LIMIT);
}

SAMPLE_TEST(commit_limit, sample_healthy)
{
	s->snapshot.system.overcommit_strict = true;
	set_meminfo(s, MEMINFO_COMMITTED, 9 * GIB);
	finds(s, FINDING_COMMIT_LIMIT,
	      "warning commit_limit 9663676416\n"
	      "COMMIT LIMIT: 9.00G of 10.0G are promised; beyond it allocations fail "
	      "(vm.overcommit_memory=2)\n"
	      "> -s vsize\n");
	set_meminfo(s, MEMINFO_COMMITTED, 9 * GIB - 1);
	finds(s, FINDING_COMMIT_LIMIT, "");
	set_meminfo(s, MEMINFO_COMMITTED, 10522669874);
	finds(s, FINDING_COMMIT_LIMIT,
	      "warning commit_limit 10522669874\n"
	      "COMMIT LIMIT: 9.80G of 10.0G are promised; beyond it allocations fail "
	      "(vm.overcommit_memory=2)\n"
	      "> -s vsize\n");
	set_meminfo(s, MEMINFO_COMMITTED, 10522669875);
	finds(s, FINDING_COMMIT_LIMIT,
	      "critical commit_limit 10522669875\n"
	      "COMMIT LIMIT: 9.80G of 10.0G are promised; beyond it allocations fail "
	      "(vm.overcommit_memory=2)\n"
	      "> -s vsize\n");
	/* In the other modes the limit is none. */
	s->snapshot.system.overcommit_strict = false;
	finds(s, FINDING_COMMIT_LIMIT, "");
	forget_meminfo(s, MEMINFO_COMMITTED);
	does_not_know(s, FINDING_COMMIT_LIMIT);
}
