// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fill pipes|spare|unix|tcp|tables|memfd|anon|dmabuf|mapped|ring|bpf|bpfring|perf|perfread|uring|
 * xdp|epoll|inotify [MIB [fork]]: holds more and more memory of one kind until it is killed; or MIB
 * MiB of it, prints READY and sleeps; with fork a child has it, too.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/bpf.h>
#include <linux/if_packet.h>
#include <linux/if_xdp.h>
#include <linux/io_uring.h>
#include <linux/perf_event.h>
#include <linux/udmabuf.h>

#define STEP (1 << 20)

static char data[STEP];

static void need(int works, const char *what)
{
	if (works)
		return;
	perror(what);
	_exit(1);
}

/* Writes until a MiB is written or there is no room. */
static void write_all(int fd, size_t piece)
{
	for (size_t done = 0; done < STEP;) {
		ssize_t n = write(fd, data, piece);

		if (n < 0 && errno == EAGAIN)
			return;
		need(n > 0, "write");
		done += (size_t)n;
	}
}

static void fill_pipe(void)
{
	int fd[2];

	need(pipe2(fd, O_NONBLOCK) == 0, "pipe2");
	need(fcntl(fd[1], F_SETPIPE_SZ, STEP) >= STEP, "F_SETPIPE_SZ");
	write_all(fd[1], STEP);
}

/* Pipes that were read: the kernel keeps a page or more of each. */
static void fill_spare(void)
{
	for (int i = 0; i < STEP / 4096; i++) {
		int fd[2];

		need(pipe(fd) == 0, "pipe");
		need(write(fd[1], data, 8192) == 8192 && read(fd[0], data, 8192) == 8192, "pipe");
	}
}

static void set_buffer(int fd, int option)
{
	/* Linux doubles it: a buffer is larger than what is in it. */
	const int bytes = 2 * STEP;

	need(setsockopt(fd, SOL_SOCKET, option, &bytes, sizeof(bytes)) == 0, "setsockopt");
}

static void fill_unix(void)
{
	int fd[2];

	need(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd) == 0, "socketpair");
	set_buffer(fd[0], SO_SNDBUFFORCE);
	write_all(fd[0], 3584);
}

static void fill_tcp(void)
{
	static struct sockaddr_in addr = {.sin_family = AF_INET};
	static int listener = -1;
	socklen_t len = sizeof(addr);
	int from;

	if (listener < 0) {
		addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		listener = socket(AF_INET, SOCK_STREAM, 0);
		/* Of the listener: the window is scaled when a connection begins. */
		set_buffer(listener, SO_RCVBUFFORCE);
		need(bind(listener, (struct sockaddr *)&addr, len) == 0 &&
			     listen(listener, 1) == 0 &&
			     getsockname(listener, (struct sockaddr *)&addr, &len) == 0,
		     "listen");
	}
	from = socket(AF_INET, SOCK_STREAM, 0);
	set_buffer(from, SO_SNDBUFFORCE);
	need(connect(from, (struct sockaddr *)&addr, len) == 0, "connect");
	need(accept(listener, NULL, NULL) >= 0, "accept");
	need(fcntl(from, F_SETFL, O_NONBLOCK) == 0, "O_NONBLOCK");
	write_all(from, STEP);
}

/* A table of 4 KiB maps 2 MiB; all have the same page. */
static void fill_tables(void)
{
	static char *at = (char *)((uintptr_t)1 << 44); /* nothing is there */
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("page", 0);
	need(fd >= 0 && ftruncate(fd, 4096) == 0, "memfd_create");
	for (int i = 0; i < STEP / 4096; i++, at += 2 << 20) {
		const volatile char *page =
			mmap(at, 4096, PROT_READ, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);

		need(page == at, "mmap");
		(void)*page;
	}
}

static void fill_memfd(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("fill", 0);
	write_all(fd, STEP);
}

/* A buffer of a memfd, which is closed: its pages are shared memory. */
static int make_dmabuf(void)
{
	static int driver = -1;
	struct udmabuf_create create = {.flags = UDMABUF_FLAGS_CLOEXEC, .size = STEP};
	int fd = memfd_create("fill", MFD_ALLOW_SEALING), buffer;

	if (driver < 0)
		driver = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	write_all(fd, STEP);
	need(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0, "F_ADD_SEALS");
	create.memfd = (__u32)fd;
	buffer = ioctl(driver, UDMABUF_CREATE, &create);
	need(buffer >= 0, "UDMABUF_CREATE");
	close(fd);
	return buffer;
}

static void fill_dmabuf(void)
{
	make_dmabuf();
}

/* A buffer without a descriptor. */
static void fill_mapped(void)
{
	int buffer = make_dmabuf();

	need(mmap(NULL, STEP, PROT_READ, MAP_SHARED, buffer, 0) != MAP_FAILED, "mmap");
	close(buffer);
}

/* A ring for packets, which is not mapped. */
static void fill_ring(void)
{
	const struct tpacket_req request = {.tp_block_size = 65536,
					    .tp_block_nr = STEP / 65536,
					    .tp_frame_size = 2048,
					    .tp_frame_nr = STEP / 2048};
	int fd = socket(AF_PACKET, SOCK_RAW, 0);

	need(fd >= 0 && setsockopt(fd, SOL_PACKET, PACKET_RX_RING, &request, sizeof(request)) == 0,
	     "PACKET_RX_RING");
}

/* An array of BPF. */
static void fill_bpf(void)
{
	union bpf_attr attr = {.map_type = BPF_MAP_TYPE_ARRAY,
			       .key_size = 4,
			       .value_size = 4096,
			       .max_entries = STEP / 4096};

	setrlimit(RLIMIT_MEMLOCK, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY});
	need(syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr)) >= 0, "BPF_MAP_CREATE");
}

/* A ring of BPF, mapped as libbpf does: what was read may be written, and the data is there twice.
 */
static void fill_bpfring(void)
{
	union bpf_attr attr = {.map_type = BPF_MAP_TYPE_RINGBUF, .max_entries = STEP};
	int fd = (int)syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
	long page = sysconf(_SC_PAGESIZE);

	need(fd >= 0 &&
		     mmap(NULL, (size_t)page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) !=
			     MAP_FAILED &&
		     mmap(NULL, (size_t)page + 2 * STEP, PROT_READ, MAP_SHARED, fd, page) !=
			     MAP_FAILED,
	     "a ring of BPF");
}

static void read_pages(const volatile char *at, size_t len)
{
	for (size_t i = 0; i < len; i += 4096)
		(void)at[i];
}

/* A ring of events, which has to be mapped. */
static char *make_perf(size_t len)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_DUMMY};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	char *at = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	need(fd >= 0 && at != MAP_FAILED, "perf_event_open");
	return at;
}

static void fill_perf(void)
{
	make_perf(STEP + (size_t)sysconf(_SC_PAGESIZE));
}

static void fill_perfread(void)
{
	size_t len = STEP + (size_t)sysconf(_SC_PAGESIZE);

	read_pages(make_perf(len), len);
}

/* A ring of io_uring: of 1 MiB, and another half for what is done. */
static void fill_uring(void)
{
	struct io_uring_params params = {};
	int fd = (int)syscall(SYS_io_uring_setup, STEP / 64, &params);

	need(fd >= 0, "io_uring_setup");
	/* IORING_OFF_SQES, IORING_OFF_SQ_RING */
	need(mmap(NULL, STEP, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0x10000000) != MAP_FAILED &&
		     mmap(NULL, params.sq_off.array + params.sq_entries * sizeof(__u32), PROT_READ,
			  MAP_SHARED | MAP_POPULATE, fd, 0) != MAP_FAILED,
	     "mmap");
}

/* A socket of AF_XDP with its four queues, mapped. The memory for packets is small. */
static void fill_xdp(void)
{
	static const struct {
		int option;
		size_t entry;
		off_t at;
	} queue[] = {{XDP_RX_RING, 16, XDP_PGOFF_RX_RING},
		     {XDP_TX_RING, 16, XDP_PGOFF_TX_RING},
		     {XDP_UMEM_FILL_RING, 8, XDP_UMEM_PGOFF_FILL_RING},
		     {XDP_UMEM_COMPLETION_RING, 8, XDP_UMEM_PGOFF_COMPLETION_RING}};
	int fd = socket(AF_XDP, SOCK_RAW, 0), entries = 16384;
	struct xdp_umem_reg umem = {.len = 65536, .chunk_size = 4096};

	umem.addr = (uintptr_t)mmap(NULL, umem.len, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	/* Older kernels refuse a size that they do not know. */
	need(fd >= 0 && (setsockopt(fd, SOL_XDP, XDP_UMEM_REG, &umem, sizeof(umem)) == 0 ||
			 setsockopt(fd, SOL_XDP, XDP_UMEM_REG, &umem, 24) == 0),
	     "XDP_UMEM_REG");
	for (size_t i = 0; i < sizeof(queue) / sizeof(*queue); i++) {
		size_t len = (size_t)entries * queue[i].entry;
		char *at;

		need(setsockopt(fd, SOL_XDP, queue[i].option, &entries, sizeof(entries)) == 0,
		     "a queue of AF_XDP");
		at = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, queue[i].at);
		need(at != MAP_FAILED, "mmap of AF_XDP");
		read_pages(at, len);
	}
}

static void fill_epoll(void)
{
	struct epoll_event event = {.events = EPOLLIN};
	int epoll = epoll_create1(0);

	for (int i = 0; i < STEP / 192; i++)
		need(epoll_ctl(epoll, EPOLL_CTL_ADD, eventfd(0, 0), &event) == 0, "epoll_ctl");
}

/* Watches of files that are made here. */
static void fill_inotify(void)
{
	int fd = inotify_init();

	for (int i = 0; i < STEP / 100; i++) {
		char name[32];

		snprintf(name, sizeof(name), "watched.%d.%d", fd, i);
		close(open(name, O_CREAT | O_WRONLY, 0600));
		need(inotify_add_watch(fd, name, IN_MODIFY) >= 0, "inotify_add_watch");
	}
}

static void fill_anon(void)
{
	char *vma = mmap(NULL, STEP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	need(vma != MAP_FAILED, "mmap");
	memset(vma, 1, STEP);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*fill)(void); /* about a MiB */
	} kind[] = {{"pipes", fill_pipe}, {"spare", fill_spare},       {"unix", fill_unix},
		    {"tcp", fill_tcp},	  {"tables", fill_tables},     {"memfd", fill_memfd},
		    {"anon", fill_anon},  {"dmabuf", fill_dmabuf},     {"mapped", fill_mapped},
		    {"ring", fill_ring},  {"bpf", fill_bpf},	       {"bpfring", fill_bpfring},
		    {"perf", fill_perf},  {"perfread", fill_perfread}, {"uring", fill_uring},
		    {"xdp", fill_xdp},	  {"epoll", fill_epoll},       {"inotify", fill_inotify}};
	const size_t kinds = sizeof(kind) / sizeof(*kind);
	long most = argc > 2 ? atol(argv[2]) : 0;
	size_t at = 0;

	while (argc > 1 && at < kinds && strcmp(argv[1], kind[at].name) != 0)
		at++;
	if (argc < 2 || at == kinds)
		return 2;
	setrlimit(RLIMIT_NOFILE, &(struct rlimit){65536, 65536});
	for (long mib = 0; !most || mib < most; mib++)
		kind[at].fill();
	if (argc > 3 && fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	need(write(STDOUT_FILENO, "READY\n", 6) == 6, "write");
	for (;;)
		pause();
}
