// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Keys of groups: refused with a reason and the item that is wrong, or different columns that make
 * groups. Two processes are of one group only if each key is the same, whatever their names are.
 * The input is the list, and behind the first byte 0x01 the values of one process and then of the
 * other, each ended by 0x01: user, unit, name; an empty one is none.
 */
#include "fuzz.h"

#include <errno.h>

#include "base/arena.h"
#include "query/group.h"
#include "query/query_parse.h"

const unsigned fuzz_changes = 100;

static void check_keys(const struct field *const *key, int count)
{
	FUZZ_CHECK(count >= 0 && count <= GROUP_KEYS_MAX);
	for (int i = 0; i < count; i++) {
		FUZZ_CHECK(key[i]->key && key[i]->group && key[i]->type == FIELD_TEXT);
		for (int k = 0; k < i; k++)
			FUZZ_CHECK(key[i] != key[k]);
	}
}

static const char *next_value(char **at)
{
	char *value = strsep(at, "\1");

	return value && *value ? value : NULL;
}

static struct process next_process(char **at)
{
	struct process p = {.uid = UID_NONE, .cgroup = "/a"};

	p.user = next_value(at);
	p.unit = next_value(at);
	p.name = next_value(at);
	p.app = p.name;
	return p;
}

static bool is_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static void check_groups(const struct field *group, char *values)
{
	struct process p = next_process(&values), q = next_process(&values);
	struct process *both[] = {&p, &q};
	const struct process_list list = {.item = both, .count = 2};
	struct arena text = {};
	struct group_id id;
	bool same = true;

	for (size_t i = 0; i < group_key_count(group); i++)
		same &= is_same(group_key(group, i)->group(&p), group_key(group, i)->group(&q));
	FUZZ_CHECK(group_id_of(group, &p, &id) == 0);
	FUZZ_CHECK(group_has(&id, &p) && (group->needs & NEEDS_USER || group_has(&id, &q) == same));
	FUZZ_CHECK(!same || group_has(&id, &q));
	FUZZ_CHECK(!same || group_hash(1, group, &p) == group_hash(1, group, &q));
	group_id_done(&id);
	FUZZ_CHECK(group_join(group, &list, &text) == 0);
	FUZZ_CHECK(!(group->flags & FIELD_JOINED) || (p.joined && q.joined));
	FUZZ_CHECK(!same || is_same(p.joined, q.joined));
	arena_done(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *words = fuzz_string(data, size), *values = strchr(words, 1);
	const struct field *key[GROUP_KEYS_MAX];
	struct query_error error = {};
	struct group_keys keys = {};
	int count;

	if (values)
		*values++ = '\0';
	count = query_read_keys(words, key, &error);
	FUZZ_CHECK(count >= 0 || count == -EINVAL);
	if (count < 0) {
		FUZZ_CHECK(error.why && *error.why);
		fuzz_check_part(error.item, error.item_len, words, strlen(words));
	} else {
		check_keys(key, count);
	}
	if (count > 1) {
		group_keys_set(&keys, key, (size_t)count);
		/* As it was given, but for other words for the same column. */
		FUZZ_CHECK(group_key_count(&keys.joined) == (size_t)count);
		FUZZ_CHECK(strlen(keys.text) < sizeof(keys.text) - 1);
	}
	if (count > 0 && values)
		check_groups(count > 1 ? &keys.joined : key[0], values);
	free(words);
	return 0;
}
