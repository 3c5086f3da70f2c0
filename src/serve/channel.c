// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Sends requests and answers as datagrams, passes documents as descriptors (SCM_RIGHTS) and seals
 * their memory.
 */
#include "serve/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"

#define REQUEST_MAGIC 0x6b61737au
#define ANSWER_MAGIC  0x736e617au
#define EVENT_MAX     16384 /* bytes of an encoded event */
#define SEALS	      (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

struct request_message {
	uint32_t magic;
	uint32_t document;
	uint32_t age_ms;
};

int channel_pair(int ret_fds[2])
{
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret_fds) < 0 ? -errno : 0;
}

int channel_send_request(int fd, enum document document, uint32_t age_ms)
{
	struct request_message request = {REQUEST_MAGIC, document, age_ms};
	ssize_t n = send(fd, &request, sizeof(request), MSG_NOSIGNAL | MSG_DONTWAIT);

	return n < 0 ? -errno : 0;
}

int channel_receive_request(int fd, enum document *ret, uint32_t *ret_age_ms)
{
	struct request_message request;
	ssize_t n = recv(fd, &request, sizeof(request), MSG_DONTWAIT | MSG_TRUNC);

	if (n < 0)
		return errno == ECONNRESET ? -EPIPE : -errno;
	if (n == 0)
		return -EPIPE;
	if (n != sizeof(request) || request.magic != REQUEST_MAGIC || request.document >= DOCUMENTS)
		return -EBADMSG;
	*ret = (enum document)request.document;
	*ret_age_ms = request.age_ms;
	return 0;
}

int channel_send_answer(int fd, const struct answer *answer, int memfd)
{
	struct answer copy = *answer;
	struct iovec part = {&copy, sizeof(copy)};
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	copy.magic = ANSWER_MAGIC;
	if (memfd >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control.room);
		control.head = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
						.cmsg_type = SCM_RIGHTS,
						.cmsg_len = CMSG_LEN(sizeof(int))};
		memcpy(CMSG_DATA(&control.head), &memfd, sizeof(int));
	}
	return sendmsg(fd, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* What follows the head of ANSWER_KILL. */
struct kill_message {
	int64_t time_ms;
	char event[EVENT_MAX];
};

/* A member has a head of 3 bytes and a number or a text. */
_Static_assert(EVENT_MEMBERS *(size_t)11 + (EVENT_TEXTS_END - EVENT_TEXTS) * (3 + EVENT_TEXT) <=
		       EVENT_MAX,
	       "EVENT_MAX is too small");

int channel_send_kill(int fd, const struct event_record *kill)
{
	cleanup(strbuf_done) struct strbuf event = {};
	struct answer head = {.magic = ANSWER_MAGIC, .kind = ANSWER_KILL};
	int64_t time_ms = kill->time_ms;
	struct iovec part[] = {{&head, sizeof(head)}, {&time_ms, sizeof(time_ms)}, {}};
	const struct msghdr message = {.msg_iov = part, .msg_iovlen = ARRAY_SIZE(part)};

	event_encode(kill, &event);
	if (strbuf_error(&event))
		return strbuf_error(&event);
	part[2] = (struct iovec){event.data, event.len};
	return sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

/* `len`: bytes of the message. Returns 0 or -EBADMSG. */
static int read_kill(const struct kill_message *message, size_t len, struct event_record *ret)
{
	const size_t head = offsetof(struct kill_message, event);
	int r = len > head ? event_decode(message->event, len - head, ret) : -EBADMSG;

	ret->time_ms = message->time_ms;
	return r;
}

int channel_receive_answer(int fd, struct answer *ret, int *ret_memfd,
			   struct event_record *ret_kill)
{
	struct answer answer;
	struct kill_message kill;
	struct iovec part[] = {{&answer, sizeof(answer)}, {&kill, sizeof(kill)}};
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {};
	struct msghdr message = {.msg_iov = part,
				 .msg_iovlen = ARRAY_SIZE(part),
				 .msg_control = &control,
				 .msg_controllen = sizeof(control.room)};
	ssize_t n = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct cmsghdr *c;
	cleanup_close int memfd = -1;
	bool lost;

	if (n < 0)
		return errno == ECONNRESET ? -EPIPE : -errno;
	c = CMSG_FIRSTHDR(&message);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&memfd, CMSG_DATA(c), sizeof(int));
	if (n == 0)
		return -EPIPE;
	if ((size_t)n < sizeof(answer) || message.msg_flags & MSG_TRUNC ||
	    answer.magic != ANSWER_MAGIC || answer.kind >= ANSWER_KINDS ||
	    answer.document >= DOCUMENTS ||
	    ((size_t)n > sizeof(answer) && answer.kind != ANSWER_KILL))
		return -EBADMSG;
	if (answer.kind == ANSWER_KILL &&
	    read_kill(&kill, (size_t)n - sizeof(answer), ret_kill) < 0)
		return -EBADMSG;
	answer.kills_unwatched[sizeof(answer.kills_unwatched) - 1] = '\0';
	answer.failed[sizeof(answer.failed) - 1] = '\0';
	answer.kills.name[sizeof(answer.kills.name) - 1] = '\0';
	answer.kills.cgroup[sizeof(answer.kills.cgroup) - 1] = '\0';
	/* MSG_CTRUNC: no descriptor was free to receive it (scm_detach_fds(), net/core/scm.c). */
	lost = answer.kind == ANSWER_DOCUMENT && message.msg_flags & MSG_CTRUNC;
	if (!lost && (answer.kind == ANSWER_DOCUMENT) != (memfd >= 0))
		return -EBADMSG;
	*ret = answer;
	*ret_memfd = TAKE_FD(memfd);
	return 0;
}

int channel_seal(const struct strbuf *bytes)
{
	cleanup_close int fd = memfd_create("zmem-bpf document", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int r;

	if (fd < 0)
		return -errno;
	r = file_write_fd(fd, bytes->data, bytes->len);
	if (r < 0)
		return r;
	if (fcntl(fd, F_ADD_SEALS, SEALS) < 0)
		return -errno;
	return TAKE_FD(fd);
}

int channel_map(int memfd, uint64_t size, const char **ret)
{
	int seals = fcntl(memfd, F_GET_SEALS);
	/* Not fstat(): some C libraries implement it by a system call that takes a path. */
	off_t real_size = lseek(memfd, 0, SEEK_END);
	void *at;

	if (seals < 0 || real_size < 0)
		return -errno;
	if ((seals & SEALS) != SEALS || size == 0 || (uint64_t)real_size != size)
		return -EBADMSG;
	at = mmap(NULL, size, PROT_READ, MAP_PRIVATE, memfd, 0);
	if (at == MAP_FAILED)
		return -errno;
	*ret = at;
	return 0;
}

/* ---- the cost of a process ---- */

/* More than either process opens: the HTTP process limits itself, the collector needs a few a
 * worker. */
#define FDS_MAX 2048
/* poll() refuses more descriptors at once than RLIMIT_NOFILE. */
#define FDS_AT_ONCE 256

/*
 * Counts open descriptors. The sandboxed HTTP process cannot read /proc, so poll() is asked about
 * each number: it reports POLLNVAL for a descriptor that is not open.
 */
static unsigned count_fds(void)
{
	struct pollfd fds[FDS_AT_ONCE];
	nfds_t many = FDS_AT_ONCE;
	unsigned open = 0;

	for (nfds_t first = 0; first < FDS_MAX && many;) {
		for (nfds_t i = 0; i < many; i++)
			fds[i] = (struct pollfd){.fd = (int)(first + i)};
		if (poll(fds, many, 0) < 0) {
			many /= 2;
			continue;
		}
		for (nfds_t i = 0; i < many; i++)
			open += !(fds[i].revents & POLLNVAL);
		first += many;
	}
	return open;
}

void cost_read(const struct self_usage *usage, struct cost *ret)
{
	*ret = (struct cost){.cpu_us = self_usage_cpu_us(),
			     .resident = self_usage_resident(usage),
			     .fds = count_fds()};
}
