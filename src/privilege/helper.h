/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A helper is a child process that does what this process must not do itself: it opens files that
 * belong to other users, which may hang without end, and it parses what they contain, which may
 * cost any time or memory. It works for one request at a time, and each request has limits. A
 * helper past a limit is killed. One that hangs in the kernel does not end then (a request that a
 * FUSE server has read is waited for without signals: request_wait_answer(), fs/fuse/dev.c): it is
 * left behind, and the number of those is bounded.
 *
 * The helper gets data and descriptors, and returns data and descriptors. What it returned is not
 * to be trusted more than the files that it read. A descriptor of such a file may be held and
 * passed on, but not be read, closed after reading, or asked for its attributes by this process:
 * each of these can hang, too. O_PATH descriptors may be closed.
 */
#ifndef ZMEM_PRIVILEGE_HELPER_H
#define ZMEM_PRIVILEGE_HELPER_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define HELPER_DATA ((size_t)96 << 10) /* bytes of one message; a socket holds more */
#define HELPER_FDS  16		       /* of one message */

/* A request or its answer. */
struct helper_message {
	uint32_t kind; /* of the request */
	int32_t error; /* of the answer: 0 or a negative errno */
	size_t len;
	size_t fds;
	int fd[HELPER_FDS];
	_Alignas(8) char data[HELPER_DATA];
};

/* What is before the data of each message on the socket. An answer has the kind and the sequence of
 * its request. */
struct helper_head {
	uint32_t kind, sequence;
	int32_t error;
};

/* Appends bytes; of none `data` may be NULL. A message that became too long cannot be sent:
 * helper_call() returns -E2BIG. */
void message_put(struct helper_message *m, const void *data, size_t len);
/* Appends a descriptor. */
void message_put_fd(struct helper_message *m, int fd);
/* Takes the next bytes from *pos on. False if there are too few; then *ret is unchanged. */
bool message_get(const struct helper_message *m, size_t *pos, void *ret, size_t len);
/* The same without a copy: the bytes are in the message. */
const void *message_next(const struct helper_message *m, size_t *pos, size_t len);

/* Closes its descriptors. */
void message_close_fds(struct helper_message *m);

/* The limits of one request. */
struct helper_limits {
	uint64_t cpu_us; /* of the helper; more is -EOVERFLOW */
	/* The longest wait at once, for a disk or without end. More is -ETIMEDOUT. */
	uint64_t idle_us;
	/*
	 * All waits together may last so many times as long; 0: twice. Each one alone can be short:
	 * a user stops and continues the helper, which then uses a little CPU each time.
	 */
	unsigned waits;
};

#define HELPER_HURRY_US 100000 /* how long the helper may idle, and use the CPU, in a hurry */

/* What all helpers of one kind are. */
struct helper_kind {
	/*
	 * Answers a request. It takes the descriptors of the request that it keeps (and sets them
	 * to -1): the others are closed. Those of the answer are sent and closed. `state` is the
	 * helper's own copy of what helper_init() was given. Returns 0 or a negative errno.
	 */
	int (*answer)(void *state, struct helper_message *request, struct helper_message *ret);
	struct helper_limits limits;
	size_t memory; /* bytes that it may allocate */
	/* The helper keeps its user and the capabilities to open the files of processes. */
	bool trusted;
	/*
	 * The helper speaks to servers by a library that may start threads: it has neither Landlock
	 * nor a list of system calls. It has no capabilities.
	 */
	bool network;
	/* The helper attaches programs to code of processes, and keeps capabilities for that. */
	bool attaches;
	/*
	 * The bytes of a program that answers in place of answer(), or NULL. It is run from memory,
	 * has no environment, and gets messages on HELPER_PROGRAM_FD. Such a kind has `network`,
	 * too. Where the program cannot be run, each answer is the error.
	 */
	const void *program;
	size_t program_size;
};

#define HELPER_PROGRAM_FD 3

/* How one kind of request is answered; helper_answer() finds it by the kind. */
struct helper_answer {
	int (*answer)(void *state, struct helper_message *request, struct helper_message *ret);
	size_t head; /* bytes that the request begins with */
	size_t fds;  /* descriptors that it has at least */
	bool text;   /* behind the head there is something, and the last byte is 0 */
};

int helper_answer(const struct helper_answer *table, size_t count, void *state,
		  struct helper_message *request, struct helper_message *ret);

/* Helpers that were killed and have not ended. They may belong to helpers of several kinds. */
#define HELPER_LEFT_MAX	       16
#define HELPER_LEFT_OF_ONE_UID 4

/*
 * CPU time for files, which targets supply. It is full at first, and again after a minute. It
 * outlives a helper that is killed.
 */
struct cpu_budget {
	uint64_t left_us, filled_us; /* filled_us: when; 0: never */
};

#define BUDGET_RUN_US  60000000 /* of all users */
#define BUDGET_USER_US 15000000 /* of one; a program with a million symbols takes 3 s */

/* Fills it for the time that has passed. True if some is left. */
bool cpu_budget_fill(struct cpu_budget *b, uint64_t max_us, uint64_t now_us);
void cpu_budget_spend(struct cpu_budget *b, uint64_t us);

/* What helpers share. Zeroed memory, but for hurry_fd, is the beginning. */
struct helpers {
	/* A descriptor that becomes readable when the user wants an end, or -1: from then on
	 * HELPER_HURRY_US are the limits. It is read at each call. */
	int hurry_fd;
	struct cpu_budget budget;
	struct {
		pid_t pid;
		uid_t uid;
	} left[HELPER_LEFT_MAX];
	size_t lefts;
	size_t running; /* helpers that may still be left behind */
};

struct helper {
	const struct helper_kind *kind;
	struct helpers *shared;
	void *state;
	unsigned starts; /* how often it was started: its state is new after each */
	uid_t uid;
	gid_t gid;
	pid_t pid; /* 0: it does not run */
	int fd;
	uint32_t sequence;
	uint64_t used_us;	     /* the CPU time that the last request has cost so far */
	struct helper_limits limits; /* at first those of the kind */
	struct cpu_budget budget;
	struct helper_message request, answer;
};

/*
 * Starts nothing yet, in zeroed memory. `uid` and `gid`: of the user with the rights that it has,
 * if this process may become another user; else it has those of the caller. `state` is not changed
 * here; it and `shared` outlive the helper.
 */
void helper_init(struct helper *h, const struct helper_kind *kind, uid_t uid, gid_t gid,
		 void *state, struct helpers *shared);
/*
 * Starts the helper if it does not run; then its state is as in the beginning, and `starts` grows.
 * Returns 0 or a negative errno: -EBUSY if too many helpers are left behind, and errors of fork(2)
 * and socketpair(2).
 */
int helper_start(struct helper *h);
/* Begins a request: it is empty. */
void helper_begin(struct helper *h, uint32_t what);
/*
 * Starts the helper if need be, sends the request, and waits for its answer within the limits.
 * Descriptors of the request stay the caller's. Those of an answer without an error become the
 * caller's, at most `fds`: others are closed.
 *
 * Returns the error of the answer, of which -ENOMEM becomes -EFBIG: the helper has no more than it
 * may have. Or one of helper_start(), or
 *   -ETIMEDOUT  it waited too long
 *   -EOVERFLOW  it used too much CPU
 *   -ECHILD     it ended, for example without memory
 * After each of these the helper does not run.
 */
int helper_call(struct helper *h, size_t fds);
/* The same for a file, without descriptors: -EFBIG if a budget is used up. */
int helper_call_file(struct helper *h);
/* True for errors with which a helper has ended in the middle of a request. */
static inline bool helper_lost(int error)
{
	return error == -ETIMEDOUT || error == -EOVERFLOW || error == -ECHILD;
}
/* True if the helper runs: then it has the state of the calls before. */
bool helper_runs(const struct helper *h);
/* Ends it. */
void helper_done(struct helper *h);
/* How many are left behind now. */
size_t helpers_left(struct helpers *shared);

#endif
