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
#include "enrich/container_user.h"
#include "enrich/enrich.h"
#include "proc/container.h"

#define ID    "3f9a6b5d1c0e2f7a8b4c6d9e1f0a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c"
#define ID2   "aaaa6b5d1c0e2f7a8b4c6d9e1f0a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c"
#define ID3   "4f9a6b5d1c0e2f7a8b4c6d9e1f0a2b4c4d5e6f708192a4b4c5d6e7f8091a2b4c"
#define UID   "0a1b2c3d-0000-4000-8000-5e6f7a8b9c0d"
#define POD   "/kubepods.slice/kubepods-pod0a1b2c3d_0000_4000_8000_5e6f7a8b9c0d.slice"

#define SCOPE POD "/cri-containerd-" ID ".scope"

static struct snapshot memory;
static struct container_reader reader = {.patience_us = 10000000};

static void assert_text(const char *what, const char *is, const char *want)
{
	if (!is != !want || (is && strcmp(is, want) != 0))
		fail_msg("%s is %s and not %s", what, is ? is : "NULL", want ? want : "NULL");
}

/* A process in the container of this id, as enrich_cgroups() leaves it. */
static struct process process_in(const char *cgroup, const char *id)
{
	const char *at = strstr(cgroup, id);
	struct process p = {.container_status = CONTAINER_UNREAD,
			    .container = "3f9a6b5d1c0e",
			    .container_id = id,
			    .cgroup = cgroup,
			    .controlled = true};

	assert_non_null(at);
	p.container_path = (uint16_t)(at + strcspn(at, "/") - cgroup);
	if (strncmp(p.cgroup, POD, strlen(POD)) == 0)
		p.pod_path = (uint16_t)strlen(POD);
	return p;
}

/* The container of the tree has these names. */
static void assert_named(const struct proc_tree *t, const char *cgroup, const char *name,
			 const char *pod, const char *space, enum container_status status)
{
	struct process p = process_in(cgroup ? cgroup : "/docker/" ID, ID);
	struct process *row = &p;
	struct process_list rows = {&row, 1, 0};

	assert_int_equal(enrich_containers(&reader, &t->proc, t->dir, &memory, &rows), 0);
	assert_text("container", p.container, name);
	assert_text("pod", p.pod, pod);
	assert_text("namespace", p.namespace, space);
	assert_text("status", container_status_name(p.container_status),
		    container_status_name(status));
}

/* It has the beginning of its id, for this reason. */
static void assert_unnamed(const struct proc_tree *t, const char *cgroup,
			   enum container_status status)
{
	assert_named(t, cgroup, "3f9a6b5d1c0e", NULL, NULL, status);
}

/* Likewise in a pod of which the uid alone is known. */
static void assert_unnamed_pod(const struct proc_tree *t, const char *cgroup,
			       enum container_status status)
{
	assert_named(t, cgroup, "3f9a6b5d1c0e", UID, NULL, status);
}

/* The pod of the cgroup above the container; without files that could name it. */
static void assert_pod_of(const char *cgroup, const char *pod)
{
	cleanup(proc_tree_done) struct proc_tree t;
	struct process p = process_in(cgroup, ID), *row = &p;
	struct process_list rows = {&row, 1, 0};

	tree_make(&t, "");
	p.pod_path = (uint16_t)(strstr(cgroup, "/" ID) - cgroup);
	assert_int_equal(enrich_containers(&reader, &t.proc, t.dir, &memory, &rows), 0);
	assert_text("pod", p.pod, pod);
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
	assert_unnamed_pod(&t, SCOPE, CONTAINER_INVALID);
	/* Nor does a link that differs from the pod of the cgroup. */
	sh(&t, "rm var/log/containers/web-0_*");
	assert_unnamed_pod(&t, SCOPE, CONTAINER_INVALID);
	sh(&t, "rm var/log/containers/* && cd var/log/containers && touch -- x .log -" ID ".log "
	       "a_b_c-" ID ".lo a_b-" ID ".log a_b_c_d-" ID ".log 'a b_c_d-" ID ".log'");
	assert_unnamed(&t, "/docker/" ID, CONTAINER_UNNAMED);
	sh(&t, "rm -r var/log/pods");
	assert_unnamed_pod(&t, SCOPE, CONTAINER_UNNAMED);
	assert_pod_of("/kubepods/burstable/pod" UID "/" ID, UID);
	assert_pod_of("/user.slice/user-4243.slice/pod" UID "/" ID, NULL);
}

/* A container without a name is asked for again in each snapshot, and does not get a longer one. */
TEST(again)
{
	cleanup(proc_tree_done) struct proc_tree t;
	struct process p = process_in(SCOPE, ID), *row = &p;
	struct process_list rows = {&row, 1, 0};

	tree_make(&t, "");
	sh(&t, "mkdir -p var/log/pods/prod_web-0_" UID);
	for (int i = 0; i < 3; i++) {
		p.container_status = CONTAINER_UNREAD;
		assert_int_equal(enrich_containers(&reader, &t.proc, t.dir, &memory, &rows), 0);
		assert_string_equal(p.container, "prod/web-0/3f9a6b5d1c0e");
		assert_string_equal(p.pod, "prod/web-0");
	}
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

#define SLICE	 "/user.slice/user-4242.slice"
#define ROOTLESS SLICE "/user@4242.service/user.slice/libpod-"
#define MINE	 ROOTLESS ID ".scope/container"
#define HOME	 "home/u/.local/share/containers/storage/overlay-containers"

/* Several processes at once, and what they are shown as. */
struct shown {
	const char *cgroup, *id, *name, *pod;
	enum container_status status;
};

#define ASSERT_SHOWN(t, shown) assert_shown(t, shown, ARRAY_SIZE(shown))
static void assert_shown(const struct proc_tree *t, const struct shown *shown, size_t count)
{
	struct process p[8], *row[8];
	struct process_list rows = {row, count, 0};

	assert_true(count <= ARRAY_SIZE(p));
	for (size_t i = 0; i < count; i++) {
		p[i] = process_in(shown[i].cgroup, shown[i].id);
		row[i] = &p[i];
	}
	assert_int_equal(enrich_containers(&reader, &t->proc, t->dir, &memory, &rows), 0);
	for (size_t i = 0; i < count; i++) {
		assert_text(shown[i].cgroup, p[i].container, shown[i].name);
		assert_text("pod", p[i].pod, shown[i].pod);
		assert_text("status", container_status_name(p[i].container_status),
			    container_status_name(shown[i].status));
	}
}

/*
 * A tree with the user 4242, with an engine that has a file; false if files cannot be given to each
 * user of these tests.
 */
static bool user_made(struct proc_tree *t, const char *mounts)
{
	cleanup_fclose FILE *file = tmpfile();

	assert_non_null(file);
	if (fchown(fileno(file), 100001, (gid_t)-1) < 0) {
		print_message("files cannot be given to a user: %s\n", strerror(errno));
		return false;
	}
	tree_make(t, mounts);
	sh(t, "chmod 755 . && mkdir -p etc " HOME
	      " && echo u:x:4242:4242::/home/u:/bin/sh >etc/passwd && "
	      "cp " CORPUS "podman " HOME "/containers.json && chown -R 4242 home/u");
	return true;
}

/* The longest name that a container can have. */
TEST(long_name)
{
	char name[CONTAINER_NAME_MAX + sizeof(" (user 4242)")];
	cleanup(proc_tree_done) struct proc_tree t;

	if (!user_made(&t, ""))
		skip();
	sh(&t, "cd " HOME " && long=$(head -c 253 /dev/zero | tr '\\0' n) && "
	       "sed \"s/web/$long/\" containers.json >new && cat new >containers.json");
	memset(name, 'n', CONTAINER_NAME_MAX);
	strcpy(name + CONTAINER_NAME_MAX, " (user 4242)");
	assert_named(&t, MINE, name, NULL, NULL, CONTAINER_NAMED);
}

/* A user names containers of his own alone, by files of his own. */
TEST(rootless)
{
	cleanup(proc_tree_done) struct proc_tree t;

	if (!user_made(&t, ""))
		skip();
	assert_named(&t, MINE, "web (user 4242)", NULL, NULL, CONTAINER_NAMED);
	assert_named(&t, "/user.slice/user-4243.slice/libpod-" ID ".scope",
		     "3f9a6b5d1c0e (user 4243)", NULL, NULL, CONTAINER_UNNAMED);
	assert_unnamed(&t, "/machine.slice/libpod-" ID ".scope", CONTAINER_UNNAMED);
	/* Links and files of others. */
	sh(&t, "chown 0 " HOME "/*");
	assert_named(&t, MINE, "3f9a6b5d1c0e (user 4242)", NULL, NULL, CONTAINER_INVALID);
	sh(&t, "chown 4242 " HOME "/* && cd home/u/.local/share && mv containers real && "
	       "ln -s real containers");
	assert_named(&t, MINE, "3f9a6b5d1c0e (user 4242)", NULL, NULL, CONTAINER_UNNAMED);
}

/* Another owner's container with the same id has another name, and gives none. */
TEST(same_id)
{
	static const struct shown by_user[] = {
		{"/system.slice/docker-" ID ".scope", ID, "3f9a6b5d1c0e", NULL, CONTAINER_UNNAMED},
		{MINE, ID, "web (user 4242)", NULL, CONTAINER_NAMED},
	};
	static const struct shown by_root[] = {
		{"/system.slice/docker-" ID ".scope", ID, "prod/db-0/db", "prod/db-0",
		 CONTAINER_NAMED},
		{MINE, ID, "3f9a6b5d1c0e (user 4242)", NULL, CONTAINER_UNNAMED},
	};
	cleanup(proc_tree_done) struct proc_tree t;

	if (!user_made(&t, ""))
		skip();
	ASSERT_SHOWN(&t, by_user);
	sh(&t, "rm " HOME "/* && mkdir -p var/log/containers && "
	       ": >var/log/containers/db-0_prod_db-" ID ".log");
	ASSERT_SHOWN(&t, by_root);
}

/* All containers of a user are searched, also where root's files have the id of the first one. */
TEST(second_of_user)
{
	/* The user gave the second one the name that cri-dockerd gives in a pod. */
	static const struct shown both[] = {
		{MINE, ID, "web (user 4242)", NULL, CONTAINER_NAMED},
		{ROOTLESS ID3 ".scope", ID3, "app (user 4242)", NULL, CONTAINER_NAMED},
	};
	cleanup(proc_tree_done) struct proc_tree t;

	if (!user_made(&t, ""))
		skip();
	sh(&t, "mkdir -p var/log/containers && : >var/log/containers/db-0_prod_db-" ID ".log");
	ASSERT_SHOWN(&t, both);
}

/* The owner of the directory in which the cgroup was made tells which user's engine it was. */
TEST(owners)
{
	static const char v2[] = "41 31 0:38 / @/cg rw - cgroup2 none rw";
	static const char v1[] = "41 31 0:38 / @/cg rw - cgroup cgroup rw,memory";
	static const struct {
		const char *mounts, *make, *cgroup, *name;
	} cases[] = {
		/* runc and crun give the cgroup itself to the user that is root in the container.
		 */
		{v2, "mkdir -p cg/docker/" ID " && chown 100000 cg/docker/" ID, "/docker/" ID,
		 "prod/db-0/db"},
		/* A cgroup that was given to a user, but not below a slice of users. */
		{v2, "mkdir -p cg/a.service/docker-" ID ".scope && chown 4242 cg/a.service",
		 "/a.service/docker-" ID ".scope", "web (user 4242)"},
		{v2, "mkdir -p cg/a.service/" ID " && chown 4243 cg/a.service", "/a.service/" ID,
		 "3f9a6b5d1c0e (user 4243)"},
		/* In v1 all cgroups are root's: the path tells. */
		{v1, "mkdir -p cg" SLICE "/" ID, SLICE "/" ID, "web (user 4242)"},
		/* Not below a mount: likewise. */
		{v2, ":", "/../docker/" ID, "prod/db-0/db"},
		{v2, ":", "/.." SLICE "/" ID, "web (user 4242)"},
		/* A user in a user namespace owns cgroups by other uids, too. */
		{v2, "mkdir -p cg" SLICE "/x/" ID " && chown 100001 cg" SLICE "/x", SLICE "/x/" ID,
		 "3f9a6b5d1c0e (user 100001)"},
		/* In a container there is another engine, or none. */
		{v2, "mkdir -p cg/docker/" ID2 "/docker/" ID, "/docker/" ID2 "/docker/" ID,
		 "3f9a6b5d1c0e"},
		/* It is gone: nothing tells its user. */
		{v2, "mkdir -p cg", "/gone/" ID, "3f9a6b5d1c0e"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup(proc_tree_done) struct proc_tree t;
		const struct shown shown[] = {{cases[i].cgroup, ID, cases[i].name,
					       strchr(cases[i].name, '/') ? "prod/db-0" : NULL,
					       strncmp(cases[i].name, "3f9a", 4) == 0
						       ? CONTAINER_UNNAMED
						       : CONTAINER_NAMED}};

		if (!user_made(&t, cases[i].mounts))
			skip();
		sh(&t,
		   "mkdir -p var/log/containers && : >var/log/containers/db-0_prod_db-" ID
		   ".log && %s",
		   cases[i].make);
		print_message("%s\n", cases[i].cgroup);
		ASSERT_SHOWN(&t, shown);
	}
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
	struct process_list rows = {row, ARRAY_SIZE(p), 0};
	cleanup(proc_tree_done) struct proc_tree t;

	for (size_t i = 0; i < ARRAY_SIZE(p); i++)
		row[i] = &p[i];
	p[0].container = p[1].container = p[3].container = "short";
	tree_make(&t, "");
	sh(&t, "mkdir -p var/log/containers && cd var/log/containers && touch a_n_x-" ID
	       ".log b_n_x-" ID2 ".log");
	assert_int_equal(enrich_containers(&reader, &t.proc, t.dir, &memory, &rows), 0);
	assert_string_equal(p[0].container, "n/b/x");
	assert_string_equal(p[1].container, "n/a/x");
	assert_string_equal(p[2].container, "lxc");
	assert_string_equal(p[3].container, "n/a/x");
	assert_string_equal(p[4].container, "kept");
	/* A root that is not there changes nothing. */
	p[0].container_status = CONTAINER_UNREAD;
	assert_int_equal(enrich_containers(&reader, &t.proc, "/nowhere/at/all", &memory, &rows), 0);
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
	struct process_list rows = {&row, 1, 0};
	int first, r;

	tree_make(&t, "");
	first = dup(0);
	assert_true(first >= 0);
	close(first);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	none = old;
	none.rlim_cur = (rlim_t)first;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	r = enrich_containers(&reader, &t.proc, t.dir, &memory, &rows);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_int_equal(r, -EMFILE);
	assert_int_equal(p.container_status, CONTAINER_UNREAD);
}

/* A user of whom a helper was lost is not asked for a while, and for longer each time. */
TEST(lost_user)
{
	struct container_reader r = {};
	const uint64_t s = 1000000, first = 1000 * s;
	uint64_t now = first;

	assert_false(container_reader_waits(&r, 7, now));
	container_reader_lose(&r, 7, now);
	assert_true(container_reader_waits(&r, 7, now + 10 * s - 1));
	assert_false(container_reader_waits(&r, 7, now + 10 * s));
	assert_false(container_reader_waits(&r, 8, now));
	now += 10 * s;
	container_reader_lose(&r, 7, now);
	assert_true(container_reader_waits(&r, 7, now + 20 * s - 1));
	assert_false(container_reader_waits(&r, 7, now + 20 * s));
	for (int i = 0; i < 100; i++)
		container_reader_lose(&r, 7, now);
	assert_true(container_reader_waits(&r, 7, now + 3600 * s - 1));
	assert_false(container_reader_waits(&r, 7, now + 3600 * s));
	/* It was well for an hour. */
	now += 7201 * s;
	container_reader_lose(&r, 7, now);
	assert_false(container_reader_waits(&r, 7, now + 10 * s));
	/* There is room for some: the one that is asked again first makes room. */
	r = (struct container_reader){};
	for (uid_t uid = 1; uid <= CONTAINER_LOST_MAX + 1; uid++)
		container_reader_lose(&r, uid, first + uid);
	assert_false(container_reader_waits(&r, 1, first + 100));
	for (uid_t uid = 2; uid <= CONTAINER_LOST_MAX + 1; uid++)
		assert_true(container_reader_waits(&r, uid, first + 100));
}
