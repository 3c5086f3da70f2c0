// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Names of containers, from trees that look like the directories of engines and of the kubelet. The
 * files of Docker 27, containers/storage 1.55, containerd 2.0, nerdctl 2.0, CRI-O 1.31 and
 * cri-dockerd 0.3 are made after their sources and documentation; tests/cli/containers.sh runs
 * Podman itself.
 */
#include "unit.h"

#include <sys/resource.h>

#include "cgroup_tree.h"
#include "enrich/enrich.h"
#include "proc/container.h"

#define ID    "3f9a6b5d1c0e2f7a8b4c6d9e1f0a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c"
#define ID2   "aaaa6b5d1c0e2f7a8b4c6d9e1f0a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c"
#define UID   "0a1b2c3d-0000-4000-8000-5e6f7a8b9c0d"
#define POD   "/kubepods.slice/kubepods-pod0a1b2c3d_0000_4000_8000_5e6f7a8b9c0d.slice"

#define SCOPE POD "/cri-containerd-" ID ".scope"

static struct snapshot memory;

static void assert_text(const char *what, const char *is, const char *want)
{
	if (!is != !want || (is && strcmp(is, want) != 0))
		fail_msg("%s is %s and not %s", what, is ? is : "NULL", want ? want : "NULL");
}

/* The container of the tree has these names. */
static void assert_named(const struct proc_tree *t, const char *cgroup, const char *name,
			 const char *pod, const char *space, enum container_status status)
{
	struct process p = {.container_status = CONTAINER_UNREAD,
			    .container = "3f9a6b5d1c0e",
			    .container_id = ID,
			    .cgroup = cgroup ? cgroup : "/docker/" ID};
	struct process *row = &p;
	struct rows rows = {&row, 1, 0};

	if (strncmp(p.cgroup, POD, strlen(POD)) == 0)
		p.pod_path = (uint16_t)strlen(POD);
	assert_int_equal(enrich_containers(t->dir, &memory, &rows), 0);
	assert_text("container", p.container, name);
	assert_text("pod", p.pod, pod);
	assert_text("namespace", p.space, space);
	assert_text("status", container_status_name(p.container_status),
		    container_status_name(status));
}

/* It has the beginning of its id, for this reason. */
static void assert_unnamed(const struct proc_tree *t, const char *cgroup,
			   enum container_status status)
{
	assert_named(t, cgroup, "3f9a6b5d1c0e", NULL, NULL, status);
}

#define DOCKER "var/lib/docker/containers/" ID
#define STORE  "var/lib/containers/storage/overlay-containers"
#define CORPUS "$tests/fuzz/corpus/fuzz_proc_container/"

#define TASKS  "run/containerd/io.containerd.runtime.v2.task/"

TEST(engines)
{
	/* An input of the corpus as the file of an engine, or a link of the kubelet to nowhere. */
	static const struct {
		const char *put, *dir, *file;
		bool pod;
	} engine[] = {
		{"cp " CORPUS "docker", DOCKER, "config.v2.json", false},
		{"cp " CORPUS "cri_dockerd", DOCKER, "config.v2.json", true},
		{"cp " CORPUS "podman", STORE, "containers.json", false},
		{"cp " CORPUS "podman", STORE, "volatile-containers.json", false},
		{"cp " CORPUS "containerd", TASKS "k8s.io/" ID, "config.json", true},
		{"cp " CORPUS "crio", TASKS "k8s.io/" ID, "config.json", true},
		{"cp " CORPUS "nerdctl", TASKS "default/" ID, "config.json", false},
		{"ln -s nowhere", "var/log/containers", "web-0_prod_app-" ID ".log", true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(engine); i++) {
		cleanup(proc_tree_done) struct proc_tree t;

		tree_make(&t, "");
		sh(&t, "mkdir -p %s && cd %s && %s %s", engine[i].dir, engine[i].dir, engine[i].put,
		   engine[i].file);
		assert_named(&t, NULL, engine[i].pod ? "prod/web-0/app" : "web",
			     engine[i].pod ? "prod/web-0" : NULL, engine[i].pod ? "prod" : NULL,
			     CONTAINER_NAMED);
	}
}

/* The pause container of a pod has no log; a link may come late. */
TEST(kubelet)
{
	cleanup(proc_tree_done) struct proc_tree t;

	tree_make(&t, "");
	sh(&t, "mkdir -p var/log/pods/prod_web-0_" UID " var/log/pods/prod_web-1_" UID "1");
	assert_named(&t, SCOPE, "prod/web-0/3f9a6b5d1c0e", "prod/web-0", "prod", CONTAINER_UNNAMED);
	sh(&t, "mkdir var/log/containers && : >var/log/containers/web-0_prod_app-" ID ".log");
	assert_named(&t, SCOPE, "prod/web-0/app", "prod/web-0", "prod", CONTAINER_NAMED);
	/* Two links that differ name nothing. */
	sh(&t, ": >var/log/containers/web-9_prod_app-" ID ".log");
	assert_unnamed(&t, SCOPE, CONTAINER_INVALID);
	/* Nor does a link that differs from the pod of the cgroup. */
	sh(&t, "rm var/log/containers/web-0_*");
	assert_unnamed(&t, SCOPE, CONTAINER_INVALID);
	sh(&t, "rm var/log/containers/* && cd var/log/containers && touch -- x .log -" ID ".log "
	       "a_b_c-" ID ".lo a_b-" ID ".log a_b_c_d-" ID ".log 'a b_c_d-" ID ".log'");
	assert_unnamed(&t, "/docker/" ID, CONTAINER_UNNAMED);
}

/* Each gives the beginning of the id and a reason. */
TEST(hostile)
{
	static const struct {
		const char *make;
		enum container_status status;
	} hostile[] = {
		{":", CONTAINER_UNNAMED},
		{": >config.v2.json", CONTAINER_INVALID},
		{"echo '{\"Name\":\"/web\"' >config.v2.json", CONTAINER_INVALID},
		{"echo '{\"Name\":\"/web\",\"Name\":\"/x\"}' >config.v2.json", CONTAINER_INVALID},
		{"echo '{\"Name\":\"/w\\\\u0065b\"}' >config.v2.json", CONTAINER_INVALID},
		{"echo '{\"Name\":\"/a/b\"}' >config.v2.json", CONTAINER_INVALID},
		{"echo '{\"Name\":\"\"}' >config.v2.json", CONTAINER_INVALID},
		{"echo '{\"Name\":7}' >config.v2.json", CONTAINER_INVALID},
		{"printf '{\"Name\":\"/\\033[2J\"}' >config.v2.json", CONTAINER_INVALID},
		{"printf '{\"Name\":\"/%300s\"}' x | tr ' ' x >config.v2.json", CONTAINER_INVALID},
		{"yes '[' | head -c 100000 >config.v2.json", CONTAINER_INVALID},
		{"truncate -s 100G config.v2.json", CONTAINER_LARGE},
		{"mkfifo config.v2.json", CONTAINER_INVALID},
		{"mkdir config.v2.json", CONTAINER_INVALID},
		{"ln -s /dev/zero config.v2.json", CONTAINER_INVALID},
		{"ln -s config.v2.json config.v2.json", CONTAINER_INVALID},
	};

	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
		cleanup(proc_tree_done) struct proc_tree t;

		tree_make(&t, "");
		sh(&t, "mkdir -p " DOCKER " && cd " DOCKER " && { %s; }", hostile[i].make);
		print_message("%s\n", hostile[i].make);
		assert_unnamed(&t, NULL, hostile[i].status);
	}
}

/* A user names containers of his own alone, by files of his own. */
TEST(rootless)
{
	static const char mine[] = "/user.slice/user-4242.slice/user@4242.service/user.slice/"
				   "libpod-" ID ".scope/container";
	cleanup(proc_tree_done) struct proc_tree t;

	if (getuid() != 0) {
		print_message("not root: the files cannot be given to a user\n");
		skip();
	}
	tree_make(&t, "");
	sh(&t, "mkdir -p etc home/u && echo u:x:4242:4242::/home/u:/bin/sh >etc/passwd && "
	       "cd home/u && mkdir -p .local/share/containers/storage/overlay-containers && "
	       "cp " CORPUS "podman .local/share/containers/storage/overlay-containers/"
	       "containers.json && chown -R 4242 .");
	assert_named(&t, mine, "web", NULL, NULL, CONTAINER_NAMED);
	assert_unnamed(&t, "/user.slice/user-4243.slice/libpod-" ID ".scope", CONTAINER_UNNAMED);
	assert_unnamed(&t, "/machine.slice/libpod-" ID ".scope", CONTAINER_UNNAMED);
	/* Links and files of others. */
	sh(&t, "cd home/u/.local/share && chown 0 containers/storage/overlay-containers/*");
	assert_unnamed(&t, mine, CONTAINER_INVALID);
	sh(&t, "cd home/u/.local/share && chown 4242 containers/storage/overlay-containers/* && "
	       "mv containers real && ln -s real containers");
	assert_unnamed(&t, mine, CONTAINER_UNNAMED);
}

/* Rows of one container have its names, rows of others theirs, and rows without one none. */
TEST(rows)
{
	struct process p[] = {
		{.container_id = ID2, .container_status = CONTAINER_UNREAD, .cgroup = "/b"},
		{.container_id = ID, .container_status = CONTAINER_UNREAD, .cgroup = "/a"},
		{.container = "lxc", .cgroup = "/lxc/lxc"},
		{.container_id = ID, .container_status = CONTAINER_UNREAD, .cgroup = "/a"},
		{.container_id = ID, .container_status = CONTAINER_NAMED, .container = "kept"},
	};
	struct process *row[ARRAY_SIZE(p)];
	struct rows rows = {row, ARRAY_SIZE(p), 0};
	cleanup(proc_tree_done) struct proc_tree t;

	for (size_t i = 0; i < ARRAY_SIZE(p); i++)
		row[i] = &p[i];
	p[0].container = p[1].container = p[3].container = "short";
	tree_make(&t, "");
	sh(&t, "mkdir -p var/log/containers && cd var/log/containers && touch a_n_x-" ID
	       ".log b_n_x-" ID2 ".log");
	assert_int_equal(enrich_containers(t.dir, &memory, &rows), 0);
	assert_string_equal(p[0].container, "n/b/x");
	assert_string_equal(p[1].container, "n/a/x");
	assert_string_equal(p[2].container, "lxc");
	assert_string_equal(p[3].container, "n/a/x");
	assert_string_equal(p[4].container, "kept");
	/* A root that is not there changes nothing. */
	p[0].container_status = CONTAINER_UNREAD;
	assert_int_equal(enrich_containers("/nowhere/at/all", &memory, &rows), 0);
	assert_string_equal(p[0].container, "n/b/x");
}

/* Without free files it is an error, and no container seems to have no name. */
TEST(no_files)
{
	cleanup(proc_tree_done) struct proc_tree t;
	struct rlimit old, none;
	struct process p = {.container_id = ID,
			    .container_status = CONTAINER_UNREAD,
			    .container = "short",
			    .cgroup = "/x"},
		       *row = &p;
	struct rows rows = {&row, 1, 0};
	int first, r;

	tree_make(&t, "");
	first = dup(0);
	assert_true(first >= 0);
	close(first);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	none = old;
	none.rlim_cur = (rlim_t)first;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	r = enrich_containers(t.dir, &memory, &rows);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_int_equal(r, -EMFILE);
	assert_int_equal(p.container_status, CONTAINER_UNREAD);
}
