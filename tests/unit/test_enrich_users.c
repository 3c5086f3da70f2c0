// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* New users without end: each is found, and old ones take no memory. */
#include "unit.h"

#include <malloc.h>
#include <pwd.h>

#include "enrich/enrich.h"

#define PROCESSES 100

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
	for (int i = 1; i < PROCESSES; i++)
		assert_true(!p[i].user == !getpwuid(p[i].uid));
}

TEST(new_users)
{
	struct user_table *users = user_table_new();
	struct mallinfo2 before = {}, after;
	uid_t uid = 0;

	for (uid_t i = 0; i < 90; i++) {
		snapshot(users, 3000000000 + i * PROCESSES);
		if (i == 30)
			before = mallinfo2();
	}
	after = mallinfo2();
	assert_int_equal(after.uordblks + after.hblkhd, before.uordblks + before.hblkhd);
	assert_int_equal(user_find(users, "root", &uid), 0);
	assert_int_equal(uid, 0);
	user_table_free(users);
}
