// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests of app_of(): what people call a program, from executable, comm and command line, as real
 * programs have them. No other word of a command line may be in it. Changed and cut command lines:
 * fuzz_model_program.
 */
#include "program_cases.h"

#include "base/cleanup.h"
#include "model/app.h"

static void check(const struct sample *s)
{
	char app[APP_MAX + 1], bare[APP_MAX + 1];
	cleanup_free char *copy = copy_cmdline(s);
	size_t len = app_of(s->exe, s->comm, copy, s->len, app);

	app_of(s->exe, s->comm, NULL, 0, bare);
	assert_int_equal(len, strlen(app));
	judge(s, app, len, strcmp(app, bare) == 0 || app_needs_cmdline(s->exe, s->comm));
}

TEST(java)
{
	static const struct sample samples[] = {
		S("java", "java", "java\0-Dpassword=secret\0-jar\0j/billing.jar\0--x=secret",
		  "billing.jar"),
		S("java", "java", "/usr/bin/java\0-p\0mods\0-m\0acme.app/com.acme.Main\0secret",
		  "acme.Main"),
		S("java", "java", "java\0--module=acme.app/com.acme.Main", "acme.Main"),
		/* Names that say little. */
		S("java", "java", "java\0-cp\0j\0org.apache.catalina.startup.Bootstrap\0start",
		  "catalina.Bootstrap"),
		S("java", "java", "java\0org/acme/main/Main", "acme.Main"),
		S("java", "java", "java\0com.Main", "Main"),
		S("java", "java", "java\0secret=x.Main", "Main"),
		S("java", "java", "java\0-jar\0/opt/billing/app.jar\0secret", "billing/app.jar"),
		S("java", "java", "java\0-jar\0../shop/target/app.jar", "shop/app.jar"),
		S("java", "java", "java\0-jar\0/app/app.jar", "app.jar"),
		S("java", "java", "java\0/srv/shop/Main.java", "Main.java"),
		S("java", "java", "java\0--add-opens\0java.base/java.lang=ALL-UNNAMED\0a.B$C",
		  "B$C"),
		S("java", "java", "java\0Hello.java\0secret", "Hello.java"),
		S("java", "java", "java\0-m\0a/\0secret", "java"),
		S("dotnet", "dotnet", "dotnet\0exec\0--depsfile\0x.json\0/srv/Shop.dll\0secret",
		  "Shop.dll"),
		S("mono-sgen", "mono", "mono\0--debug\0/opt/x/App.exe\0secret", "App.exe"),
	};

	CHECK_ALL(samples);
}

TEST(java_containers)
{
	static const struct sample samples[] = {
		S("java", "java", "java\0-cp\0j\0clojure.main\0-m\0my.app\0secret", "my.app"),
		S("java", "java", "java\0clojure.main\0-i\0init.clj\0--main\0my-shop.core",
		  "my-shop.core"),
		S("java", "java", "java\0clojure.main\0-e\0(secret)\0-m\0my.app", "my.app"),
		S("java", "java", "java\0clojure.main\0/srv/shop/main.clj\0secret",
		  "shop/main.clj"),
		S("java", "java", "java\0clojure.main\0-r\0secret", "clojure.main"),
		S("java", "java", "java\0clojure.main\0-\0secret", "clojure.main"),
		S("java", "java", "java\0clojure.main\0-m\0(secret)", "java"),
		/* Not of Clojure. */
		S("java", "java", "java\0acme.main\0-m\0secret", "main"),
		S("java", "java",
		  "/usr/lib/jvm/java-17/bin/java\0"
		  "-Djava.util.logging.config.file=/srv/tomcat-a/conf/logging.properties\0"
		  "-Djava.util.logging.manager=org.apache.juli.ClassLoaderLogManager\0"
		  "-Xmx512m\0-classpath\0/usr/share/tomcat9/bin/bootstrap.jar\0"
		  "-Dcatalina.base=/srv/tomcat-a\0-Dcatalina.home=/usr/share/tomcat9\0"
		  "-Djava.io.tmpdir=/tmp\0org.apache.catalina.startup.Bootstrap\0start",
		  "tomcat: tomcat-a"),
		S("java", "java",
		  "java\0-Dcatalina.base=/opt/the shop/current/\0"
		  "org.apache.catalina.startup.Bootstrap\0start",
		  "tomcat: the shop"),
		S("java", "java",
		  "java\0-Dcatalina.base=\0org.apache.catalina.startup.Bootstrap\0start",
		  "catalina.Bootstrap"),
		/* An argument, and another class. */
		S("java", "java",
		  "java\0org.apache.catalina.startup.Bootstrap\0-Dcatalina.base=/srv/secret",
		  "catalina.Bootstrap"),
		S("java", "java", "java\0-Dcatalina.base=/srv/secret\0com.acme.Shop", "Shop"),
	};

	CHECK_ALL(samples);
}

TEST(postgres)
{
	static const struct sample samples[] = {
		S("postgres", "postgres",
		  "/usr/lib/postgresql/15/bin/postgres\0-D\0/d\0-c\0x=secret", "postgres"),
		S("postgres", "postgres", "postgres: 15/main: checkpointer \0\0\0",
		  "postgres: checkpointer"),
		S("postgres", "postgres", "postgres: background writer ",
		  "postgres: background writer"),
		S("postgres", "postgres", "postgres: wal writer process  ", "postgres: wal writer"),
		S("postgres", "postgres", "postgres: 15/main: autovacuum worker orders",
		  "postgres: autovacuum worker"),
		S("postgres", "postgres", "postgres: archiver last was 0000000100000000000000A1",
		  "postgres: archiver"),
		S("postgres", "postgres", "postgres: 15/main: logical replication launcher ",
		  "postgres: logical replication launcher"),
		S("postgres", "postgres", "postgres: bgworker: logical replication launcher",
		  "postgres: logical replication launcher"),
		S("postgres", "postgres",
		  "postgres: walsender repl 10.0.0.1(5123) streaming 0/3000",
		  "postgres: walsender"),
		S("postgres", "postgres",
		  "postgres: shop orders 10.0.0.7(51234) idle in transaction",
		  "postgres: shop orders"),
		S("postgres", "postgres", "postgres: shop orders ::1(51234) idle",
		  "postgres: shop orders"),
		/* Names with spaces: of a database, a user, the cluster. */
		S("postgres", "postgres", "postgres: shop my orders [local] SELECT",
		  "postgres: shop my orders"),
		S("postgres", "postgres",
		  "postgres: my cluster: the shop my orders 10.0.0.7(51234) idle",
		  "postgres: the shop my orders"),
		S("postgres", "postgres", "postgres: my cluster: checkpointer ",
		  "postgres: checkpointer"),
		S("postgres", "postgres",
		  "postgres: wal sender process repl 10.0.0.1(5123) streaming",
		  "postgres: wal sender"),
		S("postgres", "postgres", "postgres: parallel worker for PID 12 [local]",
		  "postgres: parallel worker"),
		/* A user with the name of a role. */
		S("postgres", "postgres", "postgres: writer orders [local] idle",
		  "postgres: writer orders"),
		/* Of an extension, or unknown. */
		S("postgres", "postgres", "postgres: a b x() idle", "postgres"),
		/* Another program with such a title. */
		S("evil", "evil", "postgres: shop orders [local] idle", "evil"),
	};

	CHECK_ALL(samples);
}

TEST(titles)
{
	static const struct sample samples[] = {
		S("nginx", "nginx", "nginx: master process nginx -c /x -g secret;",
		  "nginx: master process"),
		S("nginx", "nginx", "nginx: worker process\0\0\0", "nginx: worker process"),
		S("nginx", "nginx", "nginx: worker process is shutting down",
		  "nginx: worker process"),
		S("nginx", "nginx", "nginx: cache manager process", "nginx: cache manager process"),
		S("nginx", "nginx", "nginx\0-c\0secret", "nginx"),
		S("php-fpm8.2", "php-fpm8.2",
		  "php-fpm: master process (/etc/php/8.2/php-fpm.conf)\0",
		  "php-fpm: master process"),
		S("php-fpm8.2", "php-fpm8.2", "php-fpm: pool www\0\0", "php-fpm: pool www"),
		/* The title is filled with spaces. */
		S("php-fpm8.2", "php-fpm8.2", "php-fpm: pool my pool          ",
		  "php-fpm: pool my pool"),
		S("php-fpm", "php-fpm", "php-fpm: pool    ", "php-fpm"),
		S("python3.11", "gunicorn: maste", "gunicorn: master [shop.wsgi:app]\0\0",
		  "gunicorn: master [shop.wsgi:app]"),
		S("python3.11", "gunicorn: worke", "gunicorn: worker [a b]",
		  "gunicorn: worker [a b]"),
		S("python3.11", "gunicorn: worke", "gunicorn: worker [a b] c", "gunicorn: worker"),
		S("python3.11", "x", "[celeryd: celery@host:ForkPoolWorker-12]\0",
		  "celery: ForkPoolWorker"),
		S("python3.11", "x", "[celeryd: celery@host:MainProcess] -active- (worker -A x)",
		  "celery: MainProcess"),
		S("python3.11", "x", "[celery beat]", "celery beat"),
		S("ruby3.1", "ruby", "sidekiq 7.0.1 shop [1 of 5 busy]", "sidekiq shop"),
		S("ruby3.1", "ruby", "sidekiq 7.0.1 my shop [1 of 5 busy] stopping",
		  "sidekiq my shop"),
		S("ruby3.1", "ruby", "sidekiq 7.0.1 [1 of 5 busy] [x]", "sidekiq"),
		S("ruby3.1", "ruby", "sidekiq 7.0.1 secret other", "sidekiq"),
		S("ruby3.1", "ruby", "puma 5.6.5 (tcp://0.0.0.0:3000) [shop]\0", "puma [shop]"),
		S("ruby3.1", "ruby", "puma: cluster worker 0: 1234 [shop]",
		  "puma: cluster worker [shop]"),
		S("ruby3.1", "ruby", "unicorn worker[3] -c x.rb", "unicorn worker [x.rb]"),
		S("ruby3.1", "ruby", "unicorn master -E secret", "unicorn master"),
		S("ruby3.1", "ruby", "unicorn master -c ", "unicorn"),
		S("ruby3.1", "ruby",
		  "unicorn worker[0] -c /srv/shop/current/config/unicorn/alpha.rb -E secret",
		  "unicorn worker [alpha.rb]"),
		S("ruby3.1", "ruby", "unicorn master -c /srv/shop/current/config/unicorn.rb -D",
		  "unicorn master [shop]"),
		S("node", "PM2 v5.3.0: God", "PM2 v5.3.0: God Daemon (/root/.pm2)\0\0\0",
		  "PM2: God Daemon"),
		/* No interpreter runs them. */
		S("gunicorn", "gunicorn", "gunicorn: master [secret]", "gunicorn"),
	};

	CHECK_ALL(samples);
}

TEST(browsers)
{
	static const struct sample samples[] = {
		S("chromium", "chromium",
		  "/usr/lib/chromium/chromium --type=renderer --user-data-dir=/tmp/my work --x=secret",
		  "chromium: my work"),
		S("chromium", "chromium",
		  "/usr/lib/chromium/chromium --type=renderer --x --user-data-dir=/tmp/my work\0",
		  "chromium: my work"),
		/* Words that end with NUL: each is one word, whatever is in it. */
		S("chrome", "chrome",
		  "chrome\0--profile-directory=Profile 1\0--user-data-dir=/srv/a --b\0secret",
		  "chrome: a --b"),
		S("chrome", "chrome", "chrome\0--x=a --user-data-dir=/srv/secret", "chrome"),
		S("chrome", "chrome", "chrome --type=gpu-process --user-data-dir=/home/u/.config/x",
		  "chrome"),
		S("chromium", "chromium", "chromium\0https://x/?secret", "chromium"),
		S("electron28", "electron", "electron28\0--no-sandbox\0/usr/lib/acme-chat/app.asar",
		  "acme-chat"),
		S("electron", "electron",
		  "electron --type=renderer --user-data-dir=/home/u/.config/Acme --app-path=/usr/lib/acme/resources/app.asar",
		  "acme"),
		S("electron", "electron", "electron\0/usr/lib/code/out/cli.js\0secret", "code"),
		S("electron", "electron", "electron --type=zygote", "electron"),
		S("wine64", "app.exe", "C:\\app.exe\0secret", "app.exe"),
	};

	CHECK_ALL(samples);
}

TEST(virtual_machines)
{
	static const struct sample samples[] = {
		S("qemu-system-x86_64", "qemu-system-x86",
		  "/usr/bin/qemu-system-x86_64\0-name\0guest=web,debug-threads=on\0-S\0-x\0secret",
		  "qemu-system-x86_64: web"),
		S("qemu-system-x86_64", "kvm",
		  "/usr/bin/kvm\0-id\000100\0-name\0web,debug-threads=on\0-no-shutdown",
		  "kvm: web"),
		S("qemu-kvm", "qemu-kvm",
		  "/usr/libexec/qemu-kvm\0--name\0debug-threads=on,guest=web", "qemu-kvm: web"),
		/* A comma is written twice. */
		S("qemu-system-arm", "qemu-system-arm", "qemu-system-arm\0-name\0a b,,c,process=x",
		  "qemu-system-arm: a b,c"),
		S("qemu-system-arm", "qemu-system-arm", "qemu-system-arm\0-name\0,,",
		  "qemu-system-arm: ,"),
		S("qemu-system-arm", "qemu-system-arm", "qemu-system-arm\0-name\0process=secret",
		  "qemu-system-arm"),
		S("qemu-system-arm", "qemu-system-arm",
		  "qemu-system-arm\0-name\0guest=", "qemu-system-arm"),
		S("qemu-img", "qemu-img", "qemu-img\0-name\0secret", "qemu-img"),
	};

	CHECK_ALL(samples);
}

TEST(scripts)
{
	static const struct sample samples[] = {
		S("node", "node", "node\0shop/server.js\0secret", "shop/server.js"),
		S("node", "node", "node\0/usr/src/app/server.js", "server.js"),
		S("node", "node", "node\0/srv/shop/dist/index.js", "shop/index.js"),
		S("node", "node", "node\0../server.js", "server.js"),
		S("python3.11", "python3", "python3\0/opt/shop/current/manage.py\0run",
		  "shop/manage.py"),
		/* PM2 gives its children such a title. */
		S("node", "node /srv/shop/", "node /srv/shop/app.js\0\0\0", "shop/app.js"),
		S("node", "node /app/index", "node /app/index.js\0\0\0", "index.js"),
		S("php8.2", "php", "/usr/bin/php8.2\0artisan\0queue:work\0secret",
		  "artisan queue:work"),
		S("php", "php", "php\0-d\0x=y\0/srv/shop/artisan\0horizon\0--env=secret",
		  "shop/artisan horizon"),
		S("php", "php", "php\0/srv/shop/artisan\0-v\0--env=secret\0horizon:work\0redis",
		  "shop/artisan horizon:work"),
		S("php", "php", "php\0artisan\0-v", "artisan"),
		S("php", "php", "php\0artisan\0secret=x", "artisan"),
		S("perl", "perl", "perl\0artisan\0secret", "artisan"),
		S("perl", "perl", "perl\0/opt/tools/backup.pl", "backup.pl"),
		S("dash", "run.sh", "/bin/sh\0/srv/shop/run.sh", "shop/run.sh"),
		S("bash", "bash", "bash\0-c\0secret", "bash"),
		S("ruby3.1", "ruby", "ruby\0-e\0secret", "ruby"),
		S("redis-check-rdb", "redis-server", "redis-server *:6379\0\0", "redis-server"),
		S("1.2", "server", "/srv/x/server\0secret", "server"),
		/* Any byte; longer than a part may be; nothing at all. */
		S("node", "node", "node\0/srv/a\x1b[31m\xff/server.js", "a\x1b[31m\xff/server.js"),
		UNREAD("", "", ""),
	};

	CHECK_ALL(samples);
}

TEST(long_parts)
{
	char line[600] = "php-fpm: pool ", app[APP_MAX + 1];

	memset(line + strlen(line), 'x', 500);
	app_of("php-fpm", "php-fpm", line, sizeof(line), app);
	assert_string_equal(app, "php-fpm");
}

/* check() proves that all others need it. */
TEST(needs_no_cmdline)
{
	static const char *const names[] = {"cat",   "qemu-img",   "redis-server",
					    "javac", "nginxx",	   "electrons",
					    "sshd",  "memfd:java", ""};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_false(app_needs_cmdline(names[i], names[i]));
}
