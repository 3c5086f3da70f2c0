// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Drops the capabilities that the next stage of a run does not need. It has no state: the next
 * stage may have what the last one left.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/bpf.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/parse.h"
#include "privilege/privilege.h"

#define BIT(number) (UINT64_C(1) << (number))

/* A longer list of names would not be read. */
#define NAMES_MAX 11

#define LOAD_CAPS (BIT(CAP_BPF) | BIT(CAP_PERFMON))
#define READ_CAPS BIT(CAP_SYS_PTRACE)
/*
 * To replace a file in another user's directory and keep its owner: fchown, rename, rename in a
 * sticky directory, linkat of a file without a name (before Linux 6.10).
 */
#define WRITE_CAPS                                                                                 \
	(BIT(CAP_CHOWN) | BIT(CAP_DAC_OVERRIDE) | BIT(CAP_FOWNER) | BIT(CAP_DAC_READ_SEARCH))

/* To become another user, and to end a child that has become one (kill_ok_by_cred()). */
#define LEAVE_CAPS  (BIT(CAP_SETUID) | BIT(CAP_SETGID))
#define SETUID_CAPS (LEAVE_CAPS | BIT(CAP_KILL))

/* To open /proc/PID/map_files/, from Linux 5.9 on (checkpoint_restore_ns_capable()). */
#define OPEN_CAPS BIT(CAP_CHECKPOINT_RESTORE)

/* To go through the directories of /proc/PID that belong to its user alone. */
#define FIND_CAPS BIT(CAP_DAC_READ_SEARCH)

/* To probe code of processes by perf events (perf_uprobe_event_init(), kernel/events/core.c). */
#define EVENT_CAPS BIT(CAP_SYS_ADMIN)

/* To list objects of BPF by their ids (bpf_obj_get_next_id(), kernel/bpf/syscall.c). */
#define LIST_CAPS BIT(CAP_SYS_ADMIN)

/* To lock memory beyond RLIMIT_MEMLOCK: needed for each new mapping while all memory is locked. */
#define LOCK_CAPS BIT(CAP_IPC_LOCK)

/* The inode number of the namespace that a machine starts with (include/linux/proc_ns.h). */
#define FIRST_USER_NAMESPACE 0xEFFFFFFDU

/* To find symbols of the kernel while programs are loaded (kallsyms_show_value()). */
#define SYMBOL_CAPS BIT(CAP_SYSLOG)

/* To read the kernel's log, and before Linux 6.5 to set a PSI trigger. */
#define RECORD_CAPS (BIT(CAP_SYSLOG) | BIT(CAP_SYS_RESOURCE))

static const struct {
	const char *name;
	uint64_t any; /* any of these is enough */
} table[PRIVILEGE_COUNT] = {
	[PRIVILEGE_BPF] = {"CAP_BPF", BIT(CAP_BPF) | BIT(CAP_SYS_ADMIN)},
	[PRIVILEGE_PERFMON] = {"CAP_PERFMON", BIT(CAP_PERFMON) | BIT(CAP_SYS_ADMIN)},
	[PRIVILEGE_PTRACE] = {"CAP_SYS_PTRACE", BIT(CAP_SYS_PTRACE)},
	[PRIVILEGE_LOCK] = {"CAP_IPC_LOCK", LOCK_CAPS},
};

/*
 * The system calls are used directly: libcap would allocate memory, and without memory the process
 * would appear to hold nothing, or would keep everything.
 */
static const struct __user_cap_header_struct this_thread = {.version = _LINUX_CAPABILITY_VERSION_3};

static uint64_t get_caps(cap_flag_t flag)
{
	struct __user_cap_header_struct head = this_thread;
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};

	if (capget(&head, data) < 0)
		return 0;
	if (flag == CAP_EFFECTIVE)
		return (uint64_t)data[1].effective << 32 | data[0].effective;
	return (uint64_t)data[1].permitted << 32 | data[0].permitted;
}

/* Leaves no inheritable capabilities, and so no ambient ones. */
static int set_caps(uint64_t permitted, uint64_t effective)
{
	struct __user_cap_header_struct head = this_thread;
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};

	effective &= permitted;
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		data[i].permitted = (uint32_t)(permitted >> 32 * i);
		data[i].effective = (uint32_t)(effective >> 32 * i);
	}
	return capset(&head, data) < 0 ? -errno : 0;
}

const char *privilege_name(enum privilege privilege)
{
	return table[privilege].name;
}

bool privilege_is_first_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/user", &st) < 0 || st.st_ino == FIRST_USER_NAMESPACE;
}

bool privilege_held(enum privilege privilege)
{
	return get_caps(CAP_EFFECTIVE) & table[privilege].any && privilege_is_first_namespace();
}

bool privilege_loads(void)
{
	return privilege_held(PRIVILEGE_BPF) && privilege_held(PRIVILEGE_PERFMON);
}

uint64_t privilege_mask(void)
{
	return get_caps(CAP_PERMITTED);
}

void privilege_names(uint64_t mask, char *buf, size_t cap)
{
	size_t len = 0;

	snprintf(buf, cap, mask ? "%d capabilities" : "none", __builtin_popcountll(mask));
	if (__builtin_popcountll(mask) > NAMES_MAX)
		return;
	for (cap_value_t c = 0; c < cap_max_bits() && len < cap; c++) {
		char *name = mask & BIT(c) ? cap_to_name(c) : NULL;

		for (char *p = name; p && *p; p++)
			*p = to_upper(*p);
		if (name)
			len += (size_t)snprintf(buf + len, cap - len, "%s%s", len ? ", " : "",
						name);
		cap_free(name);
	}
}

/* CAP_SYS_ADMIN is kept only if CAP_BPF or CAP_PERFMON is missing. */
static uint64_t needed_to_load(uint64_t held)
{
	return (held & LOAD_CAPS) == LOAD_CAPS ? LOAD_CAPS : LOAD_CAPS | BIT(CAP_SYS_ADMIN);
}

/*
 * Without CAP_SYS_PTRACE, CAP_PERFMON (or CAP_SYS_ADMIN) opens smaps_rollup of other users from
 * Linux 6.14 on. That of the same user can be opened with all capabilities that the process has
 * that is read (cap_ptrace_access_check(), security/commoncap.c): root of a container keeps its
 * own.
 */
static uint64_t needed_to_read(uint64_t held, bool trusted)
{
	if (held & READ_CAPS)
		return READ_CAPS;
	if (trusted && geteuid() == 0)
		return held;
	return held & BIT(CAP_PERFMON) ? BIT(CAP_PERFMON) : BIT(CAP_SYS_ADMIN);
}

/*
 * Until Linux 5.18 a process that may not load programs may not use loaded ones either, not even
 * with a bad descriptor (unprivileged_bpf_disabled, kernel/bpf/syscall.c).
 */
static bool needed_to_iterate(void)
{
	/* The part of bpf(2)'s union that BPF_ITER_CREATE reads. */
	const struct {
		__u32 link_fd, flags;
	} ask = {.link_fd = UINT32_MAX};

	return syscall(SYS_bpf, BPF_ITER_CREATE, &ask, sizeof(ask)) < 0 && errno == EPERM;
}

int privilege_start(bool trusted, bool records, bool opens, bool lists)
{
	uint64_t held = get_caps(CAP_PERMITTED);
	uint64_t use =
		held & (needed_to_load(held) | SYMBOL_CAPS | READ_CAPS | LOCK_CAPS |
			(records ? RECORD_CAPS : 0) | (opens ? OPEN_CAPS | BIT(CAP_SYS_NICE) : 0) |
			(lists ? LIST_CAPS : 0));
	uint64_t keep = use | (trusted ? held & (WRITE_CAPS | SETUID_CAPS) : 0) |
			(opens ? held & EVENT_CAPS : 0) |
			(trusted ? held & needed_to_read(held, trusted) : 0);

	/* No program that this process executes can get more capabilities than the process has. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	for (cap_value_t c = 0; held & BIT(CAP_SETPCAP) && c < cap_max_bits(); c++)
		cap_drop_bound(c);
	return set_caps(keep, use);
}

int privilege_loaded(unsigned later, bool trusted)
{
	uint64_t held = get_caps(CAP_PERMITTED);
	uint64_t use = needed_to_read(held, trusted) | (later & LATER_LOCKS ? LOCK_CAPS : 0) |
		       (later & LATER_OPENS ? OPEN_CAPS : 0);
	uint64_t keep = use | (later & LATER_WRITES ? WRITE_CAPS : 0) |
			(later & LATER_OPENS ? SETUID_CAPS | FIND_CAPS : 0) |
			(later & LATER_NAMES ? SETUID_CAPS : 0) |
			(later & LATER_READS ? FIND_CAPS : 0) |
			(later & LATER_PROBES ? needed_to_load(held) : 0) |
			(later & LATER_EVENTS ? EVENT_CAPS : 0) |
			(later & LATER_LOADS && trusted ? needed_to_load(held) : 0);
	int r = set_caps(held, use);

	if (r == 0 && needed_to_iterate())
		use |= needed_to_load(held);
	return r < 0 ? r : set_caps(held & (keep | use), use);
}

int privilege_as_caller(bool on)
{
	uint64_t held = get_caps(CAP_PERMITTED);

	if (on)
		return set_caps(held, WRITE_CAPS | LOCK_CAPS);
	/* See needed_to_read(): root that is not trusted has none of those. */
	return set_caps(held, held & READ_CAPS || geteuid() ? ~(WRITE_CAPS | SETUID_CAPS) : held);
}

int privilege_open(const char *path, int flags)
{
	int fd = privilege_as_caller(true);

	if (fd == 0)
		fd = open(path, flags | O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	privilege_as_caller(false);
	return fd;
}

int privilege_opens(void)
{
	uint64_t caps = get_caps(CAP_PERMITTED) & (READ_CAPS | OPEN_CAPS | FIND_CAPS);

	return set_caps(caps, caps);
}

int privilege_attaches(void)
{
	uint64_t held = get_caps(CAP_PERMITTED);
	uint64_t caps = held & (needed_to_load(held) | EVENT_CAPS);

	return set_caps(caps, caps);
}

/* Root of a user namespace that an ordinary user made is no other user there (user_namespaces(7)).
 */
static bool may_set_groups(void)
{
	cleanup_close int fd = open("/proc/self/setgroups", O_RDONLY | O_CLOEXEC);
	char text[8] = "";

	return fd < 0 || read(fd, text, sizeof(text) - 1) < 0 || text[0] != 'd';
}

bool privilege_can_leave(void)
{
	return (get_caps(CAP_PERMITTED) & LEAVE_CAPS) == LEAVE_CAPS && may_set_groups();
}

int privilege_leave(uid_t uid, gid_t gid)
{
	if (privilege_can_leave()) {
		int r = set_caps(get_caps(CAP_PERMITTED), LEAVE_CAPS);

		if (r < 0)
			return r;
		if (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 ||
		    setresuid(uid, uid, uid) < 0)
			return -errno;
	}
	return set_caps(0, 0);
}

int privilege_hurry_thread(void)
{
	const struct sched_param lowest = {.sched_priority = 1};
	uint64_t held = get_caps(CAP_PERMITTED);

	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &lowest) < 0)
		setpriority(PRIO_PROCESS, 0, -20);
	/* Where all memory is locked, new memory is, too. */
	return set_caps(held & LOCK_CAPS, held & LOCK_CAPS);
}

int privilege_kill(pid_t pid)
{
	uint64_t held = get_caps(CAP_PERMITTED), used = get_caps(CAP_EFFECTIVE);
	int r = set_caps(held, used | BIT(CAP_KILL));

	if (r == 0 && kill(pid, SIGKILL) < 0)
		r = -errno;
	set_caps(held, used);
	return r;
}
