// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The two functions of libdebuginfod that are called; its header is not needed to build. */
#include "code/debuginfod.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef ZMEM_STATIC

int debuginfod_open(struct helpers *shared, struct debuginfod **ret, char *why, size_t cap)
{
	(void)shared;
	(void)ret;
	snprintf(why, cap, "--debuginfod: the static program has none: use the shared one");
	return -ENOTSUP;
}

#else

#include <limits.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/library.h"

static const struct library_function functions[] = {
	{"debuginfod_begin", offsetof(struct debuginfod_library, begin)},
	{"debuginfod_find_debuginfo", offsetof(struct debuginfod_library, find_debuginfo)},
};

/* ---- the cache ---- */

/* Whether only this user and root can put anything in the place of this path. */
static bool is_own(const char *path)
{
	char part[PATH_MAX];
	size_t len = strlen(path);

	if (*path != '/' || len >= sizeof(part))
		return false;
	for (size_t i = 1; i <= len; i++) {
		struct stat link, st;

		if (i > 1 && i < len && path[i] != '/')
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		if (lstat(part, &link) < 0 || stat(part, &st) < 0)
			return errno == ENOENT && lstat(part, &link) < 0;
		if ((link.st_uid && link.st_uid != geteuid()) ||
		    (st.st_uid && st.st_uid != geteuid()))
			return false;
		/* In a sticky directory everybody may add names, and replace none of others. */
		if ((st.st_mode & (S_IWGRP | S_IWOTH)) && !(st.st_mode & S_ISVTX))
			return false;
	}
	return true;
}

/* Where the library has its cache (debuginfod_find_debuginfo(3)). */
static bool has_own_cache(void)
{
	static const char *const names[] = {"DEBUGINFOD_CACHE_PATH", "XDG_CACHE_HOME", "HOME"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *path = getenv(names[i]);

		if (path && *path && !is_own(path))
			return false;
	}
	return getenv("HOME") != NULL;
}

/*
 * sudo and su may leave the HOME of another user, who could replace what is written there. Returns
 * false if the user has no home of his own.
 */
static bool choose_cache(void)
{
	const struct passwd *pw;

	/* These have libdebuginfod write to stderr, which a helper does not have. */
	unsetenv("DEBUGINFOD_VERBOSE");
	unsetenv("DEBUGINFOD_PROGRESS");
	if (has_own_cache())
		return true;
	unsetenv("DEBUGINFOD_CACHE_PATH");
	unsetenv("XDG_CACHE_HOME");
	pw = getpwuid(geteuid());
	return pw && is_own(pw->pw_dir) && setenv("HOME", pw->pw_dir, 1) == 0;
}

/* ---- the helper ---- */

static int answer(void *state, struct helper_message *request, struct helper_message *ret)
{
	struct debuginfod_library *l = state;
	int fd;

	if (!request->len || request->len > BUILD_ID_MAX)
		return -EBADMSG;
	if (!l->client)
		l->client = choose_cache() ? l->begin() : NULL;
	if (!l->client)
		return -ENOMEM;
	fd = l->find_debuginfo(l->client, (const unsigned char *)request->data, (int)request->len,
			       NULL);
	if (fd < 0)
		return -ENOENT;
	message_put_fd(ret, fd);
	return 0;
}

/* The library gives up itself: after 90 s, or DEBUGINFOD_TIMEOUT. A signal ends it before. */
static const struct helper_kind kind = {
	.answer = answer,
	/* The library, and what it loads. */
	.memory = (size_t)1 << 30,
	.network = true,
	/* A file of 2 GiB is decrypted in less. */
	.limits = {.cpu_us = 30000000, .idle_us = 600000000},
};

/* ---- the requests ---- */

int debuginfod_open(struct helpers *shared, struct debuginfod **ret, char *why, size_t cap)
{
	const char *servers = getenv("DEBUGINFOD_URLS");
	cleanup_free struct debuginfod *d = calloc(1, sizeof(*d));
	int r;

	if (!d) {
		snprintf(why, cap, "--debuginfod: no memory");
		return -ENOMEM;
	}
	if (!servers || !*servers) {
		snprintf(why, cap, "--debuginfod: DEBUGINFOD_URLS names no server");
		return -EDESTADDRREQ;
	}
	r = library_load("libdebuginfod.so.1",
			 "install libdebuginfod1, on Fedora elfutils-debuginfod-client", functions,
			 ARRAY_SIZE(functions), &d->library, why, cap);
	if (r < 0)
		return r;
	helper_init(&d->helper, &kind, geteuid(), getegid(), &d->library, shared);
	*ret = TAKE_PTR(d);
	return 0;
}

#endif

int debuginfod_fetch(struct debuginfod *d, const struct elf_facts *facts)
{
	int r;

	if (!d || !facts->build_id_len)
		return -ENOENT;
	if (d->lost)
		return d->lost;
	helper_begin(&d->helper, 0);
	message_put(&d->helper.request, facts->build_id, facts->build_id_len);
	r = helper_call(&d->helper, 1);
	if (helper_lost(r))
		d->lost = r;
	if (r < 0)
		return r;
	return d->helper.answer.fds ? d->helper.answer.fd[0] : -ENOENT;
}

void debuginfod_close(struct debuginfod *d)
{
	if (d)
		helper_done(&d->helper);
	free(d);
}
