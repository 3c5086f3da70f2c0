// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Findings as lines, in JSON, and what to type next; and of random machines, that all is said. */
#include "unit.h"

#include "fields/finding_said.h"
#include "findings_machine.h"
#include "random_snapshot.h"
#include "report/findings.h"
#include "said.h"

static struct findings found;

/* ---- lines ---- */

/* A critical one, two warnings and two hints; the first and the second have the same command. */
static const struct findings *some(void)
{
	static const struct node_memory full = {0, 32 * GIB, 90 * MIB, 0},
					roomy = {1, 32 * GIB, 20 * GIB, 0};

	found = (struct findings){
		.item = {{.key = FINDING_CGROUP_LIMIT,
			  .level = FINDING_CRITICAL,
			  .kind = "container",
			  .name = "shop/cart-0/redis",
			  .cgroup = "/kubepods/pod7/cri-0",
			  .bytes_known = true,
			  .bytes = 300 * MIB,
			  .of = 300 * MIB,
			  .in = 5182 * 4096,
			  .waited_known = true,
			  .waited = 3817},
			 {.key = FINDING_CGROUP_FULL,
			  .level = FINDING_WARNING,
			  .kind = "unit",
			  .name = "db.service",
			  .cgroup = "/system.slice/db\xff",
			  .bytes_known = true,
			  .bytes = 990 * MIB,
			  .of = GIB},
			 {.key = FINDING_MAPS_LIMIT,
			  .level = FINDING_WARNING,
			  .name = "java",
			  .pid = 4711,
			  .count = 60000,
			  .others = 65530},
			 {.key = FINDING_NODE_FULL,
			  .level = FINDING_HINT,
			  .bytes_known = true,
			  .bytes = GIB,
			  .full = &full,
			  .roomy = &roomy},
			 {.key = FINDING_LOCKED,
			  .level = FINDING_HINT,
			  .bytes_known = true,
			  .bytes = GIB}},
		.count = 5,
	};
	return &found;
}

static void assert_lines(enum finding_level least, size_t most, struct table_style style,
			 const char *want)
{
	cleanup(strbuf_done) struct strbuf out = {};

	findings_print(&out, some(), least, most, &style);
	assert_string_equal(strbuf_str(&out), want);
}

#define MAPPINGS                                                                                   \
	"MAPPINGS: java (4711) has 60000 of the 65530 mappings that vm.max_map_count allows\n"

/* What does not fit goes on below itself. */
TEST(folded)
{
	const struct table_style narrow = {.width = 80}, wide = {};

	assert_lines(
		FINDING_WARNING, SIZE_MAX, narrow,
		"AT ITS LIMIT: container shop/cart-0/redis (300M): it reads back 20.2M a\n"
		"    second that the kernel just took from it, some of its tasks waited in 38.17\n"
		"    % of the last 10 s\n"
		"NEAR ITS LIMIT: unit db.service (1.00G): 990M of it are anonymous and shared\n"
		"    memory, which cannot be dropped\n"
		"MAPPINGS: java (4711) has 60000 of the 65530 mappings that vm.max_map_count\n"
		"    allows\n");
	assert_lines(
		FINDING_HINT, 1, wide,
		"AT ITS LIMIT: container shop/cart-0/redis (300M): it reads back 20.2M a second that the kernel just took from it, some of its tasks waited in 38.17 % of the last 10 s\n"
		"and 4 more: zmem-bpf system -v\n");
}

/* Hints are no part of what is left out, unless they were asked for. */
TEST(more)
{
	const struct table_style style = {};

	assert_lines(FINDING_WARNING, 0, style, "and 3 more: zmem-bpf system -v\n");
	assert_lines(FINDING_HINT, 0, style, "and 5 more: zmem-bpf system -v\n");
	assert_lines(FINDING_CRITICAL, 0, style, "and 1 more: zmem-bpf system -v\n");
	assert_lines(
		FINDING_CRITICAL, 1, (struct table_style){.width = 300},
		"AT ITS LIMIT: container shop/cart-0/redis (300M): it reads back 20.2M a second that the kernel just took from it, some of its tasks waited in 38.17 % of the last 10 s\n");
}

TEST(colors)
{
	static const char *const want[] = {
		"\033[31mAT ITS LIMIT:\033[0m container shop/cart-0/redis (314572800): it reads back 21225472 a second that the kernel just took from it, some of its tasks waited in 38.17 % of the last "
		"10 s\n",
		"\033[33mNEAR ITS LIMIT:\033[0m unit db.service (1073741824): 1038090240 of it are "
		"anonymous and shared memory, which cannot be dropped\n",
		"\033[33mMAPPINGS:\033[0m java (4711) has 60000 of the 65530 mappings that "
		"vm.max_map_count allows\n",
		"\033[1mA NODE IS FULL:\033[0m node 0 has 94371840 of 34359738368 free while node 1 "
		"has 21474836480 free; 1073741824 are in swap\n",
		"\033[1mLOCKED:\033[0m 1073741824 of RAM are locked: the kernel can neither drop nor swap them\n",
	};
	const struct table_style style = {.color = true, .bytes = true};
	const struct findings *all = some();

	for (size_t i = 0; i < all->count; i++) {
		cleanup(strbuf_done) struct strbuf out = {}, screen = {};
		struct line l = {.out = &screen, .color = true};
		size_t title;

		finding_print(&out, &all->item[i], &style);
		assert_string_equal(strbuf_str(&out), want[i]);
		/* The screen of top has the same colors; the blank is before the end of one. */
		finding_put(&l, &all->item[i], SIZES_EXACT);
		line_end(&l);
		title = (size_t)(strstr(want[i], "\033[0m") - want[i]);
		assert_memory_equal(strbuf_str(&screen), want[i], title);
		assert_memory_equal(screen.data + title, " \033[0m", strlen(" \033[0m"));
		assert_string_equal(screen.data + title + strlen(" \033[0m"),
				    want[i] + title + strlen("\033[0m "));
	}
}

/* A line of top is cut. */
TEST(cut)
{
	cleanup(strbuf_done) struct strbuf out = {};
	struct line l = {.out = &out, .width = 40};

	finding_put(&l, &some()->item[2], SIZES_SHORT);
	line_end(&l);
	assert_string_equal(strbuf_str(&out), "MAPPINGS: java (4711) has 60000 of the …\n");
}

/* ---- what to type next ---- */

static void assert_next(const struct findings *all, enum finding_level least, const char *self,
			unsigned width, const char *want)
{
	cleanup(strbuf_done) struct strbuf out = {};

	findings_print_next(&out, all, least, self, width);
	assert_string_equal(strbuf_str(&out), want);
}

#define FIRST "next: zmem-bpf cgroups"
#define MAPS  "   zmem-bpf maps 4711 --by-file"

TEST(next)
{
	struct findings none = {};

	assert_next(&none, FINDING_HINT, NULL, 0, "");
	assert_next(some(), FINDING_CRITICAL, NULL, 0, FIRST "\n");
	/* Each once. */
	assert_next(some(), FINDING_WARNING, NULL, 0, FIRST MAPS "\n");
	assert_next(some(), FINDING_HINT, NULL, 0,
		    FIRST MAPS "   zmem-bpf system --by node   zmem-bpf -s locked\n");
	/* Not the one that runs; one that begins like it is another one. */
	assert_next(some(), FINDING_WARNING, "cgroups", 0, "next: zmem-bpf maps 4711 --by-file\n");
	assert_next(some(), FINDING_WARNING, "maps 4711", 0, FIRST MAPS "\n");
	assert_next(some(), FINDING_CRITICAL, "cgroups", 0, "");
	/* As many as fit, the first in any case. */
	assert_next(some(), FINDING_HINT, NULL, strlen(FIRST MAPS), FIRST MAPS "\n");
	assert_next(some(), FINDING_HINT, NULL, strlen(FIRST MAPS) - 1, FIRST "\n");
	assert_next(some(), FINDING_HINT, NULL, 5, FIRST "\n");
}

/* No more than four; one that is the end of another one is no repetition. */
TEST(next_most)
{
	static const enum finding_key keys[] = {FINDING_KERNEL_MEMORY, FINDING_SWAPPING,
						FINDING_RAM_FULL,      FINDING_OOM_KILLS,
						FINDING_SWAP_FULL,     FINDING_CGROUP_FULL};

	found = (struct findings){.count = ARRAY_SIZE(keys)};
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		found.item[i] = (struct finding){.key = keys[i], .level = FINDING_WARNING};
	/* Kills that no recording has name no command. */
	assert_next(&found, FINDING_WARNING, "system", 0,
		    "next: zmem-bpf system -l   zmem-bpf top -s swap_pss   zmem-bpf -s swap_pss   "
		    "zmem-bpf cgroups\n");
	found.item[3].recorded = true;
	assert_next(&found, FINDING_WARNING, NULL, 0,
		    "next: zmem-bpf system -l   zmem-bpf top -s swap_pss   zmem-bpf system   "
		    "zmem-bpf incidents\n");
}

/* ---- JSON ---- */

static void assert_json(const struct findings *all, enum finding_level least, const char *want)
{
	cleanup(strbuf_done) struct strbuf out = {};
	struct json_writer w = {.out = &out};

	json_put_findings(&w, all, least);
	assert_string_equal(strbuf_str(&out), want);
}

#define LIMIT_JSON                                                                                          \
	"{\"key\":\"cgroup_limit\",\"level\":\"critical\",\"pid\":null,"                                    \
	"\"cgroup\":\"/kubepods/pod7/cri-0\",\"file\":null,\"bytes\":314572800,"                            \
	"\"text\":\"AT ITS LIMIT: container shop/cart-0/redis (300M): it reads back 20.2M a "               \
	"second that the kernel just took from it, some of its tasks waited in 38.17 % of the last 10 s\"," \
	"\"run\":\"cgroups\"}"

TEST(json)
{
	const struct findings none = {};

	assert_json(&none, FINDING_HINT, "[\n]");
	assert_json(some(), FINDING_CRITICAL, "[\n" LIMIT_JSON "\n]");
	assert_json(
		some(), FINDING_WARNING,
		"[\n" LIMIT_JSON ",\n"
		"{\"key\":\"cgroup_full\",\"level\":\"warning\",\"pid\":null,"
		"\"cgroup\":\"/system.slice/db\xef\xbf\xbd\","
		"\"cgroup_hex\":\"2f73797374656d2e736c6963652f6462ff\",\"file\":null,"
		"\"bytes\":1038090240,"
		"\"text\":\"NEAR ITS LIMIT: unit db.service (1.00G): 990M of it are anonymous and "
		"shared memory, which cannot be dropped\",\"run\":\"cgroups\"},\n"
		"{\"key\":\"maps_limit\",\"level\":\"warning\",\"pid\":4711,\"cgroup\":null,"
		"\"file\":null,\"bytes\":null,"
		"\"text\":\"MAPPINGS: java (4711) has 60000 of the 65530 mappings that "
		"vm.max_map_count allows\",\"run\":\"maps 4711 --by-file\"}\n]");
	found = (struct findings){
		.count = 1,
		.item = {{.key = FINDING_OOM_KILLS, .level = FINDING_CRITICAL, .count = 1}}};
	assert_json(
		&found, FINDING_WARNING,
		"[\n{\"key\":\"oom_kills\",\"level\":\"critical\","
		"\"pid\":null,\"cgroup\":null,\"file\":null,\"bytes\":null,"
		"\"text\":\"OOM KILLS: 1 process was killed for lack of memory in the last hour\","
		"\"run\":null}\n]");
}

/* ---- random machines ---- */

#define MACHINES 60000

/* Of RAM, between a 1/100 of it and all. */
static uint64_t random_part(struct random *r)
{
	return TOTAL / 100 * (1 + random_below(r, random_bool(r) ? 100 : 12)) - random_below(r, 2);
}

static void random_limits(struct random *r, struct snapshot *s)
{
	for (size_t i = 0; i < s->memcg_count; i++) {
		struct memcg *m = &s->memcg[i];

		m->current_known = m->limit_known = random_below(r, 8);
		m->current = GIB + random_below(r, GIB);
		m->limit = m->current + random_below(r, m->current / 6);
		m->max = random_below(r, 3);
		memcg_set_detail(m, COUNTER_MEM_ANON, m->limit - random_below(r, m->limit / 8));
		if (memcg_has(m, COUNTER_MEM_HIGH))
			memcg_set_detail(m, COUNTER_MEM_HIGH,
					 m->current - random_below(r, m->current / 4));
		if (random_bool(r))
			memcg_set_detail(m, COUNTER_REFAULTS_S, random_below(r, 60000));
		if (random_bool(r))
			memcg_set_detail(m, COUNTER_LIMIT_HITS_S, random_below(r, 3));
		if (random_bool(r))
			memcg_set_detail(m, COUNTER_HIGH_HITS_S, random_below(r, 3));
		if (memcg_has(m, COUNTER_PSI_SOME_10))
			memcg_set_detail(m, COUNTER_PSI_SOME_10, random_below(r, 10000));
	}
	if (random_bool(r))
		s->selection = NULL;
}

static void random_system(struct random *r, struct snapshot *s)
{
	struct system_info *system = &s->system;
	struct recent_kills *k = &system->recent_kills;
	struct machine_nodes *nodes = &system->nodes;

	system->meminfo.have |= 1 << MEMINFO_TOTAL;
	for (int f = 0; f < MEMINFO_COUNTERS; f++)
		system->meminfo.value[f] = random_part(r);
	system->meminfo.value[MEMINFO_TOTAL] = TOTAL;
	system->pressure.some_avg10 = (uint32_t)random_below(r, 4) * 500;
	system->rates.swapped_in = random_part(r) / 1000;
	system->rates.refaulted = random_part(r) / 1000;
	system->hugetlb_unused = random_part(r);
	system->partly_mapped.bytes = random_part(r);
	system->dentries.negative = random_few(r);
	for (size_t i = 0; i < system->zram_count; i++) {
		struct zram_device *d = &system->zram[i];

		snprintf(d->name, sizeof(d->name), "zram%u", (unsigned)(i % 100));
		d->size = random_part(r);
		d->stat.stored = d->size - random_below(r, d->size / 10);
		d->stat.used = d->stat.stored - random_below(r, d->stat.stored / 2);
	}
	*k = (struct recent_kills){.known = random_bool(r),
				   .recorded = random_bool(r),
				   .count = random_few(r),
				   .unrecorded = random_few(r)};
	k->since_ms = random_bool(r) ? s->time_ms - (int64_t)random_below(r, 3600000) : 0;
	if (random_bool(r)) {
		k->last_ms = s->time_ms - (int64_t)random_few(r) % 3600000;
		snprintf(k->name, sizeof(k->name), "<k>");
		snprintf(k->cgroup, sizeof(k->cgroup), random_bool(r) ? "/<k>" : "");
	}
	nodes->count = (uint32_t)random_below(r, 3);
	for (uint32_t i = 0; i < nodes->count; i++)
		nodes->node[i] = (struct node_memory){
			i, TOTAL / 2, random_bool(r) ? 20 * MIB : 4 * GIB, 80 * MIB};
	system->max_map_count = random_bool(r) ? 65530 : 0;
	for (int kind = 0; kind < FILE_KINDS; kind++)
		system->files.unmapped[kind] = random_part(r) / 8;
}

static void random_processes(struct random *r, struct snapshot *s, struct row *row,
			     const struct node_shares *shares)
{
	for (size_t i = 0; i < s->count; i++) {
		struct process *p = &s->process[i];

		row[i] = (struct row){.process = p,
				      .swapin_known = random_bool(r),
				      .swapin = (uint32_t)random_few(r),
				      .watched_ms = 200000 + random_below(r, 900000),
				      .grown = (int64_t)random_part(r) / 20,
				      .ticks = 100,
				      .grew_ticks = 40 + (uint32_t)random_below(r, 60),
				      .stands_out = random_bool(r)};
		p->kind = PROCESS_USER;
		p->nodes = random_below(r, 3) ? NULL : shares;
		p->cpu_nodes = (uint16_t)random_below(r, 8);
		process_set(p, COUNTER_MAPS, random_below(r, 70000));
		p->controlled = p->cgroup;
		p->pod = random_name(r);
		p->container_path = p->unit_path = p->pod_path = 0;
	}
}

/* Marks what was found. */
static void check_findings(unsigned seen[FINDING_KEYS])
{
	for (size_t i = 0; i < found.count; i++) {
		const struct finding *f = &found.item[i];
		const struct said run = {&finding_run, f, NULL, SIZES_SHORT};
		cleanup(strbuf_done) struct strbuf text = {}, command = {};
		struct line l = {.out = &text}, c = {.out = &command};
		size_t title = strlen(finding_title(f->key)) + strlen(": ");

		finding_put(&l, f, SIZES_SHORT);
		line_end(&l);
		if (text.len <= title + 1 || !say_sentence(&c, &run, finding_run.text[f->key]))
			fail_msg("it cannot be said: %s", strbuf_str(&text));
		if (strstr(strbuf_str(&text), "not known") || strstr(strbuf_str(&text), "  ") ||
		    strstr(strbuf_str(&text), " :"))
			fail_msg("%s", strbuf_str(&text));
		said_check_form(strbuf_str(&text));
		assert_true(finding_can_be(f->key, f->level));
		assert_true(found.known >> f->key & 1 || f->key == FINDING_CGROUP_LIMIT ||
			    f->key == FINDING_CGROUP_HIGH || f->key == FINDING_KERNEL_MEMORY);
		assert_true(!i || f[-1].level < f->level ||
			    (f[-1].level == f->level &&
			     (f[-1].bytes_known < f->bytes_known ||
			      (f[-1].bytes_known == f->bytes_known && f[-1].bytes >= f->bytes))));
		seen[f->key] |= 1u << f->level;
	}
}

/* Whatever is found can be said, and everything is found at some time, at each of its levels. */
TEST(random)
{
	static const struct node_shares shares = {2, {{0, 900 * MIB}, {1, 100 * MIB}}};
	const struct delta delta = {.known = true};
	unsigned seen[FINDING_KEYS] = {};
	struct random r = {.state = 66, .plain = true};

	for (int i = 0; i < MACHINES; i++) {
		struct snapshot s = {};
		struct row row[5];
		struct result result = {.snapshot = &s, .rows = row, .delta = &delta};

		random_snapshot(&r, &s, random_below(&r, ARRAY_SIZE(row) + 1));
		s.time_ms = 1767225600000;
		s.host.page_size = PAGE;
		random_limits(&r, &s);
		random_system(&r, &s);
		random_processes(&r, &s, row, &shares);
		result.row_count = s.count;
		findings_find(&s, random_below(&r, 4) ? &result : NULL, &found);
		check_findings(seen);
		snapshot_done(&s);
	}
	for (int key = 0; key < FINDING_KEYS; key++)
		for (int level = 0; level < FINDING_LEVELS; level++)
			if ((seen[key] >> level & 1) !=
			    finding_can_be((enum finding_key)key, (enum finding_level)level))
				fail_msg("never found: %s %s",
					 finding_level_name((enum finding_level)level),
					 finding_key_name((enum finding_key)key));
}
