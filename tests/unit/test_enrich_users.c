// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* New users without end: each is found, and old ones take no memory. */
#include "unit.h"

#include <pwd.h>

#include "enrich/enrich.h"
#include "heap.h"

#define PROCESSES 100

/* Every second user has a name. The name service of the machine may keep memory of its own. */
struct passwd *getpwuid(uid_t uid)
{
	static char name[16];
	static struct passwd user = {.pw_name = name};

	snprintf(name, sizeof(name), "u%u", uid);
	return uid % 2 ? &user : NULL;
}

/* Processes of new users, and one of root. */
static void snapshot(struct user_table *users, uid_t first)
{
	struct process p[PROCESSES] = {};
	struct process *row[PROCESSES];
	struct process_list rows = {row, PROCESSES, 0};

	for (int i = 0; i < PROCESSES; i++) {
		p[i].uid = i ? first + (uid_t)i : 0;
		row[i] = &p[i];
	}
	user_table_forget(users, PROCESSES);
	enrich_users(users, &rows);
	assert_string_equal(p[0].user, "root");
	for (int i = 1; i < PROCESSES; i++) {
		const struct passwd *pw = getpwuid(p[i].uid);

		assert_true(!p[i].user == !pw);
		if (pw)
			assert_string_equal(p[i].user, pw->pw_name);
	}
}

TEST(new_users)
{
	struct user_table *users = user_table_new();
	size_t most[2] = {};
	uid_t uid = 0;

	/* In each half of them users are forgotten several times. */
	for (uid_t i = 0; i < 90; i++) {
		snapshot(users, 3000000000 + i * PROCESSES);
		if (heap_in_use() > most[i / 45])
			most[i / 45] = heap_in_use();
	}
	assert_int_equal(most[1], most[0]);
	assert_int_equal(user_find(users, "root", &uid), 0);
	assert_int_equal(uid, 0);
	user_table_free(users);
}
