// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * User names. passwd is read once. The name service is asked once for a uid that is not in passwd,
 * except by a static program: its C library would load NSS modules of another system.
 */
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "enrich/enrich.h"

#define OTHERS_MAX 1024 /* further users that are kept */

struct user {
	uid_t uid;
	const char *name; /* NULL: the uid has no name */
};

struct user_table {
	struct arena passwd, others; /* names from passwd, and all others */
	struct user *user;	     /* those of passwd first */
	size_t in_passwd, count, capacity;
};

/* NULL without memory. */
static const struct user *add(struct user_table *t, struct arena *text, uid_t uid, const char *name)
{
	char *copy = NULL;

	if (!array_room(&t->user, t->count, &t->capacity, 64))
		return NULL;
	if (name) {
		copy = arena_strndup(text, name, strlen(name));
		if (!copy)
			return NULL;
	}
	t->user[t->count] = (struct user){uid, copy};
	return &t->user[t->count++];
}

void user_table_free(struct user_table *t)
{
	if (!t)
		return;
	arena_done(&t->passwd);
	arena_done(&t->others);
	free(t->user);
	free(t);
}

/* Fails without memory: a missing user would seem to have no name. */
static int read_passwd(struct user_table *t)
{
	cleanup_fclose FILE *file = fopen("/etc/passwd", "re");
	const struct passwd *pw;

	if (!file)
		return errno == ENOMEM ? -ENOMEM : 0;
	for (;;) {
		errno = 0;
		pw = fgetpwent(file);
		if (!pw)
			return errno == ENOMEM ? -ENOMEM : 0;
		if (!add(t, &t->passwd, pw->pw_uid, pw->pw_name))
			return -ENOMEM;
		t->in_passwd = t->count;
	}
}

struct user_table *user_table_new(void)
{
	struct user_table *t = calloc(1, sizeof(*t));

	if (t && read_passwd(t) < 0) {
		user_table_free(t);
		return NULL;
	}
	return t;
}

static const struct user *find_uid(const struct user_table *t, uid_t uid)
{
	/* The first entry of a uid is its name; machines have few users. */
	for (size_t i = 0; i < t->count; i++) {
		if (t->user[i].uid == uid)
			return &t->user[i];
	}
	return NULL;
}

const char *user_name(struct user_table *t, uid_t uid)
{
	const struct user *user = find_uid(t, uid);
	const struct passwd *pw = NULL;

	if (user)
		return user->name;
#ifndef ZMEM_STATIC
	pw = getpwuid(uid);
#endif
	user = add(t, &t->others, uid, pw ? pw->pw_name : NULL);
	return user ? user->name : NULL;
}

void user_table_forget(struct user_table *t, size_t processes)
{
	if (t->count - t->in_passwd <= OTHERS_MAX + 2 * processes)
		return;
	t->count = t->in_passwd;
	arena_clear(&t->others);
}

bool users_all_found(void)
{
#ifdef ZMEM_STATIC
	return false;
#else
	return true;
#endif
}

int user_find(struct user_table *t, const char *name, uid_t *ret_uid)
{
	for (size_t i = 0; i < t->count; i++) {
		if (t->user[i].name && strcmp(t->user[i].name, name) == 0) {
			*ret_uid = t->user[i].uid;
			return 0;
		}
	}
#ifndef ZMEM_STATIC
	const struct passwd *pw = getpwnam(name);

	if (pw) {
		*ret_uid = pw->pw_uid;
		return 0;
	}
#endif
	return -ENOENT;
}

void enrich_users(struct user_table *users, struct process_list *processes)
{
	uid_t last_uid = 0;
	const char *last = NULL;

	for (size_t i = 0; i < processes->count; i++) {
		struct process *p = processes->item[i];

		if (i == 0 || p->uid != last_uid)
			last = user_name(users, p->uid);
		last_uid = p->uid;
		p->user = last;
	}
}
