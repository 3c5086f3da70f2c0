// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The group of a pin, by name and by number; and the program that made it. */
#include "source/pin.h"

#include <errno.h>
#include <grp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/parse.h"

/*
 * Finds the first group with the name or, without a name, with the number: in /etc/group, then in
 * the name service. A static program asks no name service, because its C library would load NSS
 * modules of another system.
 */
static int find_group(const char *name, gid_t number, gid_t *ret, char *buf, size_t cap)
{
	cleanup_fclose FILE *file = fopen("/etc/group", "re");
	const struct group *g = NULL;

	while (file && (g = fgetgrent(file))) {
		if (name ? strcmp(g->gr_name, name) == 0 : g->gr_gid == number)
			break;
	}
#ifndef ZMEM_STATIC
	if (!g)
		g = name ? getgrnam(name) : getgrgid(number);
#endif
	if (!g)
		return -ENOENT;
	if (ret)
		*ret = g->gr_gid;
	if (buf)
		snprintf(buf, cap, "%s", g->gr_name);
	return 0;
}

int pin_group(const char *text, gid_t *ret)
{
	uint64_t number;

	if (find_group(text, 0, ret, NULL, 0) == 0)
		return 0;
	/* The last one means "none" to chown(2). */
	if (parse_u64(text, strlen(text), UINT32_MAX - 1, &number) < 0)
		return -ENOENT;
	*ret = (gid_t)number;
	return 0;
}

void pin_group_name(gid_t group, char *buf, size_t cap)
{
	if (find_group(NULL, group, NULL, buf, cap) < 0)
		snprintf(buf, cap, "%u", group);
}

bool pin_is_for_root(void)
{
	struct stat st;

	return stat(PIN_PLACE, &st) == 0 && st.st_uid == 0 && !(st.st_mode & (S_IRWXG | S_IRWXO));
}

int pin_maker(char buf[static PIN_MAKER_MAX])
{
	struct stat st;

	if (stat("/proc/self/exe", &st) < 0)
		return -errno;
	snprintf(buf, PIN_MAKER_MAX, ZMEM_VERSION " %lld %lld.%09ld", (long long)st.st_size,
		 (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	return 0;
}
