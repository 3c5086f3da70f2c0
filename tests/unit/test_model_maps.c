// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests of mappings, one by one and summed by name. */
#include "unit.h"

#include "model/maps.h"

static void add(struct map_set *s, const char *name, uint64_t rss)
{
	char copy[32];
	struct mapping m = {.start = 4096,
			    .end = 8192,
			    .pid = 7,
			    .mappings = 1,
			    .processes = 1,
			    .perm = "rw-p",
			    .name = copy,
			    .counters = MAPS_COUNTERS_ZERO};

	/* The caller may reuse the memory of the name. */
	snprintf(copy, sizeof(copy), "%s", name);
	m.counters.value[MAPS_RSS] = rss;
	assert_int_equal(map_set_add(s, &m), 0);
	memset(copy, 'x', sizeof(copy) - 1);
}

static void check_sums(const struct map_set *s, size_t count, size_t mappings, uint64_t rss)
{
	assert_int_equal(s->count, count);
	assert_int_equal(s->mappings, mappings);
	assert_int_equal(s->total.value[MAPS_RSS], rss);
}

/* Processes may share their hugetlb pages: those of several have no sum. */
TEST(hugetlb)
{
	struct map_counters sum = MAPS_COUNTERS_ZERO, none = MAPS_COUNTERS_ZERO;
	struct map_counters some = MAPS_COUNTERS_ZERO;

	some.value[MAPS_HUGETLB] = 200;
	some.value[MAPS_RSS] = 1;
	map_counters_merge(&sum, &none);
	map_counters_merge(&sum, &some);
	map_counters_merge(&sum, &none);
	assert_true(map_has(&sum, MAPS_HUGETLB));
	assert_int_equal(sum.value[MAPS_HUGETLB], 200);
	map_counters_merge(&sum, &some);
	assert_false(map_has(&sum, MAPS_HUGETLB));
	assert_int_equal(sum.value[MAPS_HUGETLB], 0);
	map_counters_merge(&sum, &some);
	assert_false(map_has(&sum, MAPS_HUGETLB));
	assert_int_equal(sum.value[MAPS_RSS], 3);
	/* The mappings of one process have one. */
	map_counters_add(&some, &some);
	assert_int_equal(some.value[MAPS_HUGETLB], 400);
}

/* The item of this name, and what it sums. */
static const struct mapping *check(const struct map_set *s, const char *name, uint32_t mappings,
				   uint32_t processes, uint64_t rss)
{
	size_t i = 0;

	while (i < s->count && strcmp(s->item[i]->name, name) != 0)
		i++;
	if (i == s->count)
		fail_msg("no %s", name);
	assert_int_equal(s->item[i]->mappings, mappings);
	assert_int_equal(s->item[i]->processes, processes);
	assert_int_equal(s->item[i]->counters.value[MAPS_RSS], rss);
	return s->item[i];
}

TEST(by_name)
{
	struct map_set *all = map_set_new(true), *a = map_set_new(true), *b = map_set_new(true);

	add(a, "/lib", 1);
	add(a, "[heap]", 10);
	add(a, "/lib", 2);
	add(b, "/lib", 4);
	check_sums(a, 2, 3, 13);
	assert_int_equal(check(a, "/lib", 2, 1, 3)->start, 0);
	assert_int_equal(map_set_merge(all, a), 0);
	assert_int_equal(map_set_merge(all, b), 0);
	map_set_free(a);
	map_set_free(b);
	check_sums(all, 2, 4, 17);
	check(all, "/lib", 3, 2, 7);
	check(all, "[heap]", 1, 1, 10);
	map_set_free(all);
	map_set_free(NULL);
}

static int keep_heap(void *arg, const char *name)
{
	(void)arg;
	return strcmp(name, "bad") == 0 ? -E2BIG : strcmp(name, "[heap]") == 0;
}

static void check_kind(const char *name, const char *kind)
{
	struct map_set *set = map_set_new(true), *sums = map_set_new(true);

	add(set, name, 1);
	assert_int_equal(map_set_merge_kinds(sums, set, NULL), 0);
	assert_int_equal(sums->count, 1);
	assert_string_equal(sums->item[0]->name, kind);
	map_set_free(set);
	map_set_free(sums);
}

TEST(kinds)
{
	static const char *const kinds[][2] = {
		{"[heap]", "heap"},	    {"[stack]", "stack"},
		{"[stack:12]", "stack"},    {"[anon]", "anon"},
		{"[anon:pool]", "anon"},    {"[anon_shmem:pool]", "shared_anon"},
		{"/lib", "file"},	    {"/memfd:x (deleted)", "memfd"},
		{"/memfd:x", "file"},	    {"/SYSV00000001 (deleted)", "sysv"},
		{"/dev/zero", "anon"},	    {"/dev/zero (deleted)", "shared_anon"},
		{"/i915 (deleted)", "drm"}, {"/secretmem (deleted)", "secretmem"},
		{"/a (deleted)", "file"},   {"/anon_hugepage (deleted)", "hugetlb"},
		{"[vdso]", "other"},	    {"anon_inode:[perf_event]", "other"},
	};
	static const struct {
		struct mapping m;
		const char *kind;
		bool needs_fs;
	} files[] = {
		{{.name = "/dev/shm/a", .fs = "tmpfs", .device = 30}, "tmpfs", true},
		{{.name = "/dev/shm/a", .device = 30}, "file", true},
		{{.name = "/a", .fs = "ramfs", .device = 30}, "ramfs", true},
		{{.name = "/a", .fs = "overlay", .device = 30}, "file", true},
		{{.name = "/a", .fs = "hugetlbfs", .device = 30}, "hugetlb", true},
		/* A user's file that is called so. */
		{{.name = "/memfd:x (deleted)", .fs = "overlay", .device = 30}, "file", false},
		{{.name = "/memfd:x (deleted)", .device = UINT64_C(8) << 32}, "file", false},
		{{.name = "/memfd:x (deleted)", .device = 1}, "memfd", false},
		{{.name = "/memfd:x (deleted)",
		  .device = 1,
		  .counters.value[MAPS_HUGETLB] = 2 << 20},
		 "hugetlb",
		 false},
		{{.name = "[heap]"}, "heap", false},
	};
	struct map_set *all = map_set_new(true), *a = map_set_new(true), *b = map_set_new(true);

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		assert_string_equal(map_kind(&files[i].m), files[i].kind);
		assert_int_equal(map_kind_needs_fs(&files[i].m), files[i].needs_fs);
	}
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		check_kind(kinds[i][0], kinds[i][1]);
	add(a, "/lib", 1);
	add(a, "/bin", 2);
	add(a, "[heap]", 4);
	add(b, "/lib", 8);
	assert_int_equal(map_set_merge_kinds(all, a, "x"), 0);
	assert_int_equal(map_set_merge_kinds(all, b, "x"), 0);
	assert_int_equal(map_set_merge_kinds(all, b, NULL), 0);
	assert_int_equal(map_set_merge_kinds(all, b, "y"), 0);
	check_sums(all, 4, 6, 31);
	assert_string_equal(check(all, "file", 3, 2, 11)->group, "x");
	assert_null(all->item[2]->group);
	map_set_free(all);
	assert_int_equal(map_set_filter(a, keep_heap, NULL), 0);
	check_sums(a, 1, 1, 4);
	add(b, "bad", 1);
	assert_int_equal(map_set_filter(b, keep_heap, NULL), -E2BIG);
	map_set_free(a);
	map_set_free(b);
}

/* A value that one mapping lacks, or that overflows, is missing in the sum. */
TEST(missing)
{
	struct map_counters sum = MAPS_COUNTERS_ZERO, f = MAPS_COUNTERS_ZERO;

	f.value[MAPS_PSS] = UINT64_MAX;
	f.have &= ~(1u << MAPS_HUGETLB);
	map_counters_add(&sum, &f);
	assert_int_equal(sum.have, MAPS_COUNTERS_ALL & ~(1u << MAPS_HUGETLB));
	assert_true(sum.value[MAPS_PSS] == UINT64_MAX);
	map_counters_add(&sum, &f);
	assert_false(map_has(&sum, MAPS_PSS));
	assert_int_equal(sum.value[MAPS_PSS], 0);
	assert_true(map_has(&sum, MAPS_RSS));
}
