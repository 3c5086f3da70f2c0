// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Starts helpers, limits them, and passes messages over a pair of sockets. */
#include "privilege/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/futex.h>
#include <linux/sched/types.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/parse.h"
#include "privilege/privilege.h"
#include "privilege/sandbox.h"

/* Since Linux 6.3: a file that may be run (vm.memfd_noexec). */
#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

/* Clocks are compared so often. */
#define LOOK_MS	 20
#define SLICE_NS 100000
/* Seconds for one request, of CPU and of all. The parent has closer limits, but it may be gone. */
#define CPU_S	  60
#define ALARM_S	  120
#define NETWORK_S 1200
#define MINUTE_US 60000000

/* ---- messages ---- */

void message_put(struct helper_message *m, const void *data, size_t len)
{
	if (len > HELPER_DATA || m->len > HELPER_DATA - len)
		len = HELPER_DATA + 1;
	else if (len)
		memcpy(m->data + m->len, data, len);
	m->len += len;
}

const void *message_next(const struct helper_message *m, size_t *pos, size_t len)
{
	const void *at = m->data + *pos;

	if (*pos > m->len || len > m->len - *pos)
		return NULL;
	*pos += len;
	return at;
}

bool message_get(const struct helper_message *m, size_t *pos, void *ret, size_t len)
{
	const void *at = message_next(m, pos, len);

	if (at)
		memcpy(ret, at, len);
	return at != NULL;
}

void message_put_fd(struct helper_message *m, int fd)
{
	if (m->fds < HELPER_FDS)
		m->fd[m->fds++] = fd;
	else
		m->len = HELPER_DATA + 1;
}

union control {
	struct cmsghdr head;
	char room[CMSG_SPACE(HELPER_FDS * sizeof(int))];
};

static int send_message(int fd, uint32_t sequence, const struct helper_message *m)
{
	struct helper_head head = {m->kind, sequence, m->error};
	struct iovec part[] = {{&head, sizeof(head)}, {(char *)m->data, m->len}};
	union control control = {};
	struct msghdr message = {.msg_iov = part, .msg_iovlen = ARRAY_SIZE(part)};
	ssize_t n;

	if (m->len > HELPER_DATA || m->fds > HELPER_FDS)
		return -E2BIG;
	if (m->fds) {
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(m->fds * sizeof(int));
		control.head = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
						.cmsg_type = SCM_RIGHTS,
						.cmsg_len = CMSG_LEN(m->fds * sizeof(int))};
		memcpy(CMSG_DATA(&control.head), m->fd, m->fds * sizeof(int));
	}
	do
		n = sendmsg(fd, &message, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

void message_close_fds(struct helper_message *m)
{
	for (size_t i = 0; i < m->fds; i++)
		close_fd(&m->fd[i]);
	m->fds = 0;
}

/*
 * Returns 0 or a negative errno: -EPIPE if the other end is closed, -EMFILE if descriptors were
 * lost.
 */
static int receive_message(int fd, uint32_t *ret_sequence, struct helper_message *ret)
{
	struct helper_head head;
	struct iovec part[] = {{&head, sizeof(head)}, {ret->data, sizeof(ret->data)}};
	union control control = {};
	struct msghdr message = {.msg_iov = part,
				 .msg_iovlen = ARRAY_SIZE(part),
				 .msg_control = &control,
				 .msg_controllen = sizeof(control.room)};
	struct cmsghdr *c;
	ssize_t n;

	ret->fds = ret->len = 0;
	do
		n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == ECONNRESET ? -EPIPE : -errno;
	c = CMSG_FIRSTHDR(&message);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
		ret->fds = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(ret->fd, CMSG_DATA(c), ret->fds * sizeof(int));
	}
	if (n == 0)
		return -EPIPE;
	if ((size_t)n < sizeof(head) || message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) {
		message_close_fds(ret);
		return message.msg_flags & MSG_CTRUNC ? -EMFILE : -EBADMSG;
	}
	ret->kind = head.kind;
	ret->error = head.error;
	ret->len = (size_t)n - sizeof(head);
	*ret_sequence = head.sequence;
	return 0;
}

int helper_answer(const struct helper_answer *table, size_t count, void *state,
		  struct helper_message *request, struct helper_message *ret)
{
	const struct helper_answer *a = request->kind < count ? &table[request->kind] : NULL;

	if (!a || request->len < a->head || request->fds < a->fds ||
	    (a->text && (request->len == a->head || request->data[request->len - 1])))
		return -EBADMSG;
	return a->answer(state, request, ret);
}

/* ---- the child ---- */

static const struct system_call allowed[] = {
	/* Messages. */
	{__NR_recvmsg},
	{__NR_sendmsg},
	/* Files, to read them. Landlock takes the rights to write where openat2() asks for them. */
	{__NR_openat, {CALL_WITHOUT(2, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)}},
	{__NR_openat2},
	{__NR_read},
	{__NR_pread64},
	{__NR_lseek},
	{__NR_close},
	{__NR_fcntl, {CALL_EQUAL(1, F_GETFL)}},
	{__NR_fcntl, {CALL_EQUAL(1, F_DUPFD_CLOEXEC)}},
	{__NR_fstat},
	{__NR_newfstatat},
	{__NR_readlinkat},
	{__NR_getdents64},
	{__NR_memfd_create},
	/* Memory, never executable. */
	{__NR_mmap, {CALL_WITHOUT(2, PROT_EXEC)}},
	{__NR_madvise, {CALL_EQUAL(2, MADV_DONTNEED)}},
	{__NR_munmap},
	{__NR_mremap},
	{__NR_brk},
	/* The helper's own limits; a limit that was lowered for good stays. */
	{__NR_prlimit64, {CALL_EQUAL(0, 0)}},
	{__NR_setitimer, {CALL_EQUAL(0, ITIMER_REAL)}},
	{__NR_getrusage},
	{__NR_clock_gettime},
	{__NR_getrandom},
	{__NR_restart_syscall},
	/* qsort() of glibc 2.36 reads the RAM size and does not check for failure. */
	{__NR_sysinfo},
	{__NR_getpid},
	{__NR_futex, {CALL_EQUAL(1, FUTEX_WAIT_PRIVATE)}},
	{__NR_futex, {CALL_EQUAL(1, FUTEX_WAKE_PRIVATE)}},
	{__NR_exit_group},
};

/* Calls of a helper that attaches programs. */
static const struct system_call attaching[] = {
	{__NR_bpf, {CALL_EQUAL(0, BPF_LINK_CREATE)}},
	{__NR_perf_event_open},
};

static int limit_calls(const struct helper_kind *kind)
{
	struct system_call all[ARRAY_SIZE(allowed) + ARRAY_SIZE(attaching)];

	memcpy(all, allowed, sizeof(allowed));
	memcpy(all + ARRAY_SIZE(allowed), attaching, sizeof(attaching));
	return system_calls_limit(all, kind->attaches ? ARRAY_SIZE(all) : ARRAY_SIZE(allowed));
}

static int limit_rights(const struct helper *h)
{
	if (h->kind->attaches)
		return privilege_attaches();
	return h->kind->trusted ? privilege_opens() : privilege_leave(h->uid, h->gid);
}

/*
 * Keeps the socket alone: a helper that is left behind would hold what this process has open, for
 * example a pipe with a reader that waits for its end. Returns the number of the socket.
 */
static int close_others(const struct helper_kind *kind, int fd)
{
	/* A sanitizer writes to stderr, or to its log_path; so may a program. */
	const int to = SANITIZED || kind->program ? HELPER_PROGRAM_FD : 0;

	if (fd != to && dup3(fd, to, O_CLOEXEC) < 0)
		return -errno;
	if (kind->program && fcntl(to, F_SETFD, 0) < 0)
		return -errno;
	for (int i = 0; i < to; i++)
		close(i);
	for (int i = 0; i < to; i++) {
		if (open("/dev/null", O_RDWR) != i)
			return -EBADF;
	}
	return syscall(SYS_close_range, (unsigned)to + 1, ~0U, 0) < 0 ? -errno : to;
}

/* Limits what it may allocate beyond what it has now, which is a copy of its parent's. */
static int limit_memory(size_t memory)
{
	char text[128];
	const char *pos = text;
	uint64_t pages;
	ssize_t n = file_read(AT_FDCWD, "/proc/self/statm", text, sizeof(text));

	if (n < 0 || !scan_u64(&pos, text + n, &pages))
		return n < 0 ? (int)n : -EINVAL;
	/* A sanitizer reserves terabytes of address space. */
	return SANITIZED
		       ? 0
		       : sandbox_limit(RLIMIT_AS, pages * (uint64_t)sysconf(_SC_PAGESIZE) + memory);
}

static int restrict_self(const struct helper *h, pid_t parent)
{
	int r = limit_memory(h->kind->memory);

	if (r == 0)
		r = sandbox_limit(RLIMIT_CORE, 0);
	if (r == 0)
		r = limit_rights(h);
	/* A change of the user clears the signal, so it comes after that. */
	if (r == 0 &&
	    (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ||
	     prctl(PR_SET_PDEATHSIG, SIGKILL) < 0))
		r = -errno;
	if (r == 0 && getppid() != parent)
		r = -ESRCH;
	/* At exit, a leak sanitizer reads its own memory, which needs /proc and ptrace(). */
	if (r < 0 || SANITIZED)
		return r;
	/* Under Landlock no other process can be read (hook_ptrace_access_check()). */
	r = h->kind->trusted || h->kind->network || h->kind->attaches ? 0 : landlock_enter(true);
	return r < 0 || h->kind->network ? r : limit_calls(h->kind);
}

/* Returns only after an error. */
static int run_program(const struct helper_kind *kind)
{
	char *const arguments[] = {"zmem-bpf-helper", NULL}, *const environment[] = {NULL};
	int fd = memfd_create("zmem-bpf helper", MFD_CLOEXEC | MFD_EXEC), r;

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("zmem-bpf helper", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = file_write_fd(fd, kind->program, kind->program_size);
	if (r == 0 && syscall(SYS_execveat, fd, "", arguments, environment, AT_EMPTY_PATH) < 0)
		r = -errno;
	close(fd);
	return r;
}

static void set_alarm(time_t seconds)
{
	setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_sec = seconds}, NULL);
}

/* Whole seconds that a request may use: they end a helper with a parent that is stopped, or gone.
 */
static void begin_request(const struct helper *h)
{
	rlim_t seconds = clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1000000000 + CPU_S;
	struct rlimit limit;

	if (getrlimit(RLIMIT_CPU, &limit) == 0 && seconds < limit.rlim_max) {
		limit.rlim_cur = seconds;
		setrlimit(RLIMIT_CPU, &limit);
	}
	set_alarm(h->kind->network ? NETWORK_S : ALARM_S);
}

/*
 * The helper's requests are short, and the parent waits for each: the helper is to run soon after
 * it was woken, also where others use the CPU. From Linux 6.12 on that is a short slice
 * (Documentation/scheduler/sched-eevdf.rst); older ones ignore it.
 */
static void ask_soon(void)
{
	struct sched_attr attr = {.size = sizeof(attr)};

	if (syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0) < 0)
		return;
	attr.sched_runtime = SLICE_NS;
	syscall(SYS_sched_setattr, 0, &attr, 0);
}

__attribute__((noreturn)) static void run(const struct helper *h, int fd, pid_t parent)
{
	static struct helper_message request, answer;
	uint32_t sequence;
	int error = 0;

	fd = close_others(h->kind, fd);
	ask_soon();
	signal(SIGALRM, SIG_DFL);
	if (fd < 0 || restrict_self(h, parent) < 0)
		_exit(1);
	if (h->kind->program)
		error = run_program(h->kind);
	while (receive_message(fd, &sequence, &request) == 0) {
		begin_request(h);
		answer.kind = request.kind;
		answer.len = answer.fds = 0;
		answer.error = error ? error : h->kind->answer(h->state, &request, &answer);
		set_alarm(0);
		message_close_fds(&request);
		if (send_message(fd, sequence, &answer) < 0)
			break;
		message_close_fds(&answer);
	}
	_exit(0);
}

/* ---- left behind ---- */

size_t helpers_left(struct helpers *shared)
{
	size_t kept = 0;

	for (size_t i = 0; i < shared->lefts; i++) {
		if (waitpid(shared->left[i].pid, NULL, WNOHANG) == 0)
			shared->left[kept++] = shared->left[i];
	}
	shared->lefts = kept;
	return kept;
}

static bool is_full(struct helpers *shared, uid_t uid)
{
	size_t of_uid = 0;

	if (helpers_left(shared) + shared->running >= HELPER_LEFT_MAX)
		return true;
	for (size_t i = 0; i < shared->lefts; i++)
		of_uid += shared->left[i].uid == uid;
	return of_uid >= HELPER_LEFT_OF_ONE_UID;
}

/* ---- budgets ---- */

bool cpu_budget_fill(struct cpu_budget *b, uint64_t max_us, uint64_t now_us)
{
	uint64_t passed = now_us - b->filled_us;

	if (!b->filled_us || passed > MINUTE_US)
		passed = MINUTE_US;
	b->left_us += max_us * passed / MINUTE_US;
	if (b->left_us > max_us)
		b->left_us = max_us;
	b->filled_us = now_us;
	return b->left_us > 0;
}

void cpu_budget_spend(struct cpu_budget *b, uint64_t us)
{
	b->left_us -= us < b->left_us ? us : b->left_us;
}

/* ---- the parent ---- */

void helper_init(struct helper *h, const struct helper_kind *kind, uid_t uid, gid_t gid,
		 void *state, struct helpers *shared)
{
	h->kind = kind;
	h->limits = kind->limits;
	h->shared = shared;
	h->state = state;
	h->uid = uid;
	h->gid = gid;
	h->fd = -1;
}

bool helper_runs(const struct helper *h)
{
	return h->pid != 0;
}

/*
 * The helper may not end before its read returns, which is not waited for. The table has room: that
 * was checked before the start.
 */
static void kill_helper(struct helper *h)
{
	struct helpers *shared = h->shared;

	shared->running--;
	close(TAKE_FD(h->fd));
	privilege_kill(h->pid);
	for (int i = 0; i < LOOK_MS; i++) {
		if (waitpid(h->pid, NULL, WNOHANG) != 0) {
			h->pid = 0;
			return;
		}
		poll(NULL, 0, 1);
	}
	shared->left[shared->lefts].pid = h->pid;
	shared->left[shared->lefts++].uid = h->uid;
	h->pid = 0;
}

int helper_start(struct helper *h)
{
	pid_t self = getpid();
	int pair[2], r = 0;

	if (h->pid)
		return 0;
	if (is_full(h->shared, h->uid))
		return -EBUSY;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	h->pid = fork();
	if (h->pid == 0)
		run(h, pair[1], self);
	if (h->pid < 0)
		r = -errno;
	close(pair[1]);
	h->fd = pair[0];
	if (r < 0) {
		close(TAKE_FD(h->fd));
		h->pid = 0;
	} else {
		h->shared->running++;
		h->starts++;
	}
	return r;
}

#define WAITS 2 /* of struct helper_limits, if it says 0 */

/* Waits until there is an answer. */
static int wait_for_answer(struct helper *h)
{
	const struct helper_limits *limits = &h->limits;
	struct pollfd fds[] = {{.fd = h->fd, .events = POLLIN},
			       {.fd = h->shared->hurry_fd, .events = POLLIN}};
	uint64_t idle_us = limits->idle_us, used_max, start, before, since, waits_end;
	clockid_t clock;

	if (clock_getcpuclockid(h->pid, &clock) != 0)
		return -ECHILD;
	start = before = clock_us(clock);
	used_max = before + limits->cpu_us;
	since = clock_us(CLOCK_MONOTONIC);
	waits_end = since + (limits->waits ? limits->waits : WAITS) * idle_us;
	for (;;) {
		nfds_t count = fds[1].fd < 0 ? 1 : 2;
		uint64_t used, now;
		int n = poll(fds, count, LOOK_MS);

		if (n < 0 && errno != EINTR)
			return -errno;
		used = clock_us(clock);
		h->used_us = used - start;
		if (n > 0 && fds[0].revents)
			return 0;
		if (n > 0 && count == 2 && fds[1].revents) {
			fds[1].fd = -1;
			if (used_max > used + HELPER_HURRY_US)
				used_max = used + HELPER_HURRY_US;
			idle_us = idle_us < HELPER_HURRY_US ? idle_us : HELPER_HURRY_US;
			since = clock_us(CLOCK_MONOTONIC);
			waits_end = since + WAITS * idle_us;
		}
		now = clock_us(CLOCK_MONOTONIC);
		if (used > used_max)
			return -EOVERFLOW;
		if (used != before) {
			waits_end += used - before;
			before = used;
			since = now;
			if (now > waits_end)
				return -ETIMEDOUT;
		} else if (now - since > idle_us) {
			return -ETIMEDOUT;
		}
	}
}

void helper_begin(struct helper *h, uint32_t what)
{
	h->request.kind = what;
	h->request.len = h->request.fds = 0;
}

int helper_call(struct helper *h, size_t fds)
{
	struct helper_message *answer = &h->answer;
	uint32_t sequence;
	int r = helper_start(h);

	h->used_us = 0;
	if (r < 0)
		return r;
	r = send_message(h->fd, ++h->sequence, &h->request);
	if (r == 0)
		r = wait_for_answer(h);
	if (r == 0)
		r = receive_message(h->fd, &sequence, answer);
	if (r == 0 &&
	    (sequence != h->sequence || answer->kind != h->request.kind || answer->error > 0)) {
		message_close_fds(answer);
		r = -EBADMSG;
	}
	if (r < 0) {
		kill_helper(h);
		return r == -EPIPE || r == -EBADMSG ? -ECHILD : r;
	}
	while (answer->fds > (answer->error ? 0 : fds))
		close_fd(&answer->fd[--answer->fds]);
	return answer->error == -ENOMEM ? -EFBIG : answer->error;
}

int helper_call_file(struct helper *h)
{
	const uint64_t now = clock_us(CLOCK_MONOTONIC);
	bool has = cpu_budget_fill(&h->budget, BUDGET_USER_US, now);
	int error;

	if (!cpu_budget_fill(&h->shared->budget, BUDGET_RUN_US, now) || !has)
		return -EFBIG;
	error = helper_call(h, 0);
	cpu_budget_spend(&h->budget, h->used_us);
	cpu_budget_spend(&h->shared->budget, h->used_us);
	return error;
}

void helper_done(struct helper *h)
{
	if (h->pid)
		kill_helper(h);
}
