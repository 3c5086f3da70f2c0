// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Finds what people call a program, from its command line or title. Each kind of program has its
 * own positions, and no other word is ever used: it may be a secret.
 */
#include "model/app.h"

#include <string.h>

#include "base/array.h"
#include "base/parse.h"
#include "model/program.h"

#define PART_MAX 128 /* bytes of one part of an app, such as a pool or a database */

/* An app that is put together. */
struct app {
	char *text;
	size_t len;
	bool bad; /* it would be too long, or a part of it is missing */
};

static void add(struct app *a, struct text_part part)
{
	if (a->bad || part.len > APP_MAX - a->len) {
		a->bad = true;
		return;
	}
	memcpy(a->text + a->len, part.s, part.len);
	a->len += part.len;
}

static void add_text(struct app *a, const char *text)
{
	add(a, part_of(text));
}

/* A word from outside, which must be there. */
static void add_word(struct app *a, struct text_part word)
{
	a->bad |= !word.len || word.len > PART_MAX;
	add(a, word);
}

/* ---- paths ---- */

/* Names that say little, and directories that say nothing. */
static const char bare_stems[] = "app main index server start run cli manage worker wsgi asgi bot "
				 "daemon service launcher init entrypoint docker-entrypoint www "
				 "__main__ boot application program";
static const char bare_dirs[] =
	". .. app src source dist lib lib64 libexec build out bin sbin scripts server resources "
	"usr opt srv var home root tmp local share etc workspace current releases app.asar "
	"target config";

static struct text_part stem_of(struct text_part name)
{
	const char *dot = memrchr(name.s, '.', name.len);

	return dot && dot > name.s ? (struct text_part){name.s, (size_t)(dot - name.s)} : name;
}

/* The nearest directory above the end of a path that says something; empty: there is none. */
static struct text_part telling_dir(struct text_part path)
{
	while (path.len) {
		struct text_part dir;
		const char *slash;

		while (path.len && path.s[path.len - 1] == '/')
			path.len--;
		dir = part_base(path);
		if (dir.len && dir.len <= PART_MAX && !part_lists(part_of(bare_dirs), ' ', dir))
			return dir;
		slash = memrchr(path.s, '/', path.len);
		path.len = slash ? (size_t)(slash - path.s) : 0;
	}
	return path;
}

/* "shop/app.jar": a file with a name that says little has its directory before it. */
static void add_file(struct app *a, struct text_part path)
{
	struct text_part name = part_base(path), dir = {};

	if (part_lists(part_of(bare_stems), ' ', stem_of(name)))
		dir = telling_dir((struct text_part){path.s, (size_t)(name.s - path.s)});
	if (dir.len) {
		add(a, dir);
		add_text(a, "/");
	}
	add_word(a, name);
}

/* ---- Java, .NET and Mono: programs that run what their first argument names ---- */

struct launcher {
	const char *exe;
	const char *value_words; /* options with the next word as their value */
	const char *endings;	 /* of files that it runs; NULL: a class */
};

static const struct launcher launchers[] = {
	{"java",
	 "-cp -classpath --class-path -p --module-path --upgrade-module-path --add-modules "
	 "--limit-modules --add-exports --add-opens --add-reads --patch-module "
	 "--enable-native-access --source --describe-module -d",
	 NULL},
	{"dotnet",
	 "--depsfile --runtimeconfig --additionalprobingpath --additional-deps --fx-version "
	 "--roll-forward",
	 ".dll"},
	{"mono", "--config --debugger-agent", ".exe"},
	{"mono-sgen", "--config --debugger-agent", ".exe"},
};

static const struct launcher *launcher_find(struct text_part name)
{
	for (size_t i = 0; i < ARRAY_SIZE(launchers); i++) {
		if (part_is(name, launchers[i].exe))
			return &launchers[i];
	}
	return NULL;
}

/* The last word of "org.example.Main", of "org/example/Main" and of "module/org.example.Main". */
static struct text_part class_name(struct text_part class)
{
	size_t at = class.len;

	while (at &&
	       (is_letter(class.s[at - 1]) || is_digit(class.s[at - 1]) || class.s[at - 1] == '_' ||
		class.s[at - 1] == '$' || (unsigned char)class.s[at - 1] >= 0x80))
		at--;
	if (at && class.s[at - 1] != '.' && class.s[at - 1] != '/')
		return (struct text_part){class.s, 0};
	return part_behind(class, at);
}

/* Names that say little, and packages that say nothing. */
static const char bare_classes[] = "Main Bootstrap Launcher Application App Server Start Starter "
				   "Startup Runner Boot Cli Daemon Service Worker";
static const char bare_packages[] =
	"com org net io de main app startup bootstrap launcher launch server core boot cli "
	"internal impl";

/* The class; one with a name that says little has a package before it: "catalina.Bootstrap". */
static void add_class(struct app *a, struct text_part class)
{
	struct text_part name = class_name(class);
	size_t before = (size_t)(name.s - class.s);
	bool bare = name.len && part_lists(part_of(bare_classes), ' ', name);

	while (bare && before) {
		/* Without the dot. */
		struct text_part word = class_name((struct text_part){class.s, before - 1});

		bare = word.len && part_lists(part_of(bare_packages), ' ', word);
		before = (size_t)(word.s - class.s);
		if (word.len && !bare) {
			add_word(a, word);
			add_text(a, ".");
		}
	}
	add_word(a, name);
}

static bool ends_with(struct text_part path, const char *ending)
{
	struct text_part stem = part_base(path);

	return part_cut_suffix(&stem, ending);
}

/* A word that is no option. */
static void add_launched_word(struct app *a, const struct launcher *l, struct text_part word)
{
	if (ends_with(word, l->endings ? l->endings : ".java"))
		add_file(a, word);
	else if (l->endings)
		a->bad = true;
	else
		add_class(a, word);
}

/* `words` starts behind argv[0]. */
static void add_launched(struct app *a, const struct launcher *l, struct text_part words)
{
	while (words.len) {
		struct text_part word = part_split(&words, '\0');

		if (!l->endings && part_is(word, "-jar")) {
			add_file(a, part_split(&words, '\0'));
			return;
		}
		if (!l->endings && (part_is(word, "-m") || part_is(word, "--module"))) {
			add_class(a, part_split(&words, '\0'));
			return;
		}
		if (!l->endings && part_cut_prefix(&word, "--module=")) {
			add_class(a, word);
			return;
		}
		if (part_lists(part_of(l->value_words), ' ', word))
			part_split(&words, '\0');
		else if (!part_begins(word, "-") && !part_begins(word, "@") &&
			 !(l->endings && part_is(word, "exec"))) {
			add_launched_word(a, l, word);
			return;
		}
	}
	a->bad = true;
}

/* ---- titles ---- */

/* Cuts a word off, and the spaces behind it. */
static struct text_part split_word(struct text_part *rest)
{
	struct text_part word = part_split(rest, ' ');

	while (rest->len && *rest->s == ' ')
		*rest = part_behind(*rest, 1);
	return word;
}

/* True of "[local]", "10.0.0.1(5432)" and "db.example.com(5432)". */
static bool is_client(struct text_part word)
{
	size_t at = word.len;

	if (part_is(word, "[local]"))
		return true;
	if (at < 4 || word.s[--at] != ')')
		return false;
	while (at && is_digit(word.s[at - 1]))
		at--;
	return at > 1 && at < word.len - 1 && word.s[at - 1] == '(';
}

/*
 * "postgres: 15/main: checkpointer", "postgres: user db 10.0.0.1(5432) idle"; without the name of
 * the cluster (update_process_title and cluster_name). Extensions give their processes any name.
 */
static void add_postgres(struct app *a, struct text_part title)
{
	static const char *const roles[] = {
		"checkpointer",
		"background writer",
		"walwriter",
		"wal writer",
		"writer",
		"autovacuum launcher",
		"autovacuum worker",
		"logical replication launcher",
		"logical replication worker",
		"logical replication apply worker",
		"logical replication parallel apply worker",
		"logical replication tablesync worker",
		"stats collector",
		"archiver",
		"logger",
		"startup",
		"walreceiver",
		"wal receiver",
		"walsender",
		"wal sender",
		"walsummarizer",
		"slotsync worker",
		"io worker",
		"parallel worker",
	};
	struct text_part rest = title, whole, user, database;

	if (!part_cut_prefix(&rest, "postgres: ")) {
		a->bad = true;
		return;
	}
	whole = rest;
	user = split_word(&rest);
	if (user.len && user.s[user.len - 1] == ':') {
		whole = rest;
		user = split_word(&rest);
	}
	database = split_word(&rest);
	add_text(a, "postgres: ");
	/* A user may have the name of a role. */
	if (is_client(part_split(&rest, ' ')) && !part_is(user, "walsender")) {
		add_word(a, user);
		add_text(a, " ");
		add_word(a, database);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(roles); i++) {
		size_t len = strlen(roles[i]);

		if (part_begins(whole, roles[i]) && (whole.len == len || whole.s[len] == ' ')) {
			add_text(a, roles[i]);
			return;
		}
	}
	a->bad = true;
}

/* "nginx: worker process is shutting down", "nginx: master process /usr/sbin/nginx -g …" */
static void add_nginx(struct app *a, struct text_part title)
{
	static const char *const kinds[] = {
		"nginx: master process", "nginx: worker process", "nginx: cache manager process",
		"nginx: cache loader process", "nginx: privileged agent process"};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (part_begins(title, kinds[i]))
			add_text(a, kinds[i]);
	}
}

/* "php-fpm: pool www", "php-fpm: master process (/etc/php/…)" */
static void add_php_fpm(struct app *a, struct text_part title)
{
	if (part_begins(title, "php-fpm: master process"))
		add_text(a, "php-fpm: master process");
	else if (part_cut_prefix(&title, "php-fpm: pool ")) {
		add_text(a, "php-fpm: pool ");
		add_word(a, part_split(&title, ' '));
	}
}

/* Adds the last "[app]" of a title. */
static void add_brackets(struct app *a, struct text_part title)
{
	const char *open = memrchr(title.s, '[', title.len);
	struct text_part tag;

	if (!open)
		return;
	tag = part_behind(title, (size_t)(open + 1 - title.s));
	if (!memchr(tag.s, ']', tag.len))
		return;
	tag = part_split(&tag, ']');
	if (memchr(tag.s, ' ', tag.len))
		return;
	add_text(a, " [");
	add_word(a, tag);
	add_text(a, "]");
}

/* "gunicorn: master [shop.wsgi:app]" */
static void add_gunicorn(struct app *a, struct text_part title)
{
	if (part_begins(title, "gunicorn: master"))
		add_text(a, "gunicorn: master");
	else if (part_begins(title, "gunicorn: worker"))
		add_text(a, "gunicorn: worker");
	else
		return;
	add_brackets(a, title);
}

/* "puma 6.0.0 (tcp://0.0.0.0:3000) [shop]", "puma: cluster worker 0: 1234 [shop]" */
static void add_puma(struct app *a, struct text_part title)
{
	add_text(a, part_begins(title, "puma: cluster worker") ? "puma: cluster worker" : "puma");
	add_brackets(a, title);
}

/* "sidekiq 7.0.1 shop [1 of 5 busy]" */
static void add_sidekiq(struct app *a, struct text_part title)
{
	struct text_part tag;

	split_word(&title);
	split_word(&title);
	tag = split_word(&title);
	add_text(a, "sidekiq");
	if (tag.len && *tag.s != '[' && part_begins(title, "[")) {
		add_text(a, " ");
		add_word(a, tag);
	}
}

/* "[celeryd: celery@host:ForkPoolWorker-1]", "[celery beat]" */
static void add_celery(struct app *a, struct text_part title)
{
	const char *colon;
	struct text_part role;

	if (!part_cut_prefix(&title, "["))
		return;
	title = part_split(&title, ']');
	if (part_is(title, "celery beat") || part_is(title, "celerybeat")) {
		add_text(a, "celery beat");
		return;
	}
	colon = memrchr(title.s, ':', title.len);
	if (!part_begins(title, "celeryd: ") || !colon)
		return;
	role = part_behind(title, (size_t)(colon + 1 - title.s));
	role = part_split(&role, '-');
	if (memchr(role.s, ' ', role.len))
		return;
	add_text(a, "celery: ");
	add_word(a, role);
}

/* "unicorn worker[0] -c /srv/shop/config/unicorn.rb -E x": the file, or the directory of the app.
 */
static void add_config(struct app *a, struct text_part title)
{
	const char *option = memmem(title.s, title.len, " -c ", 4);
	struct text_part path, name, dir = {};

	if (!option)
		return;
	path = part_behind(title, (size_t)(option + 4 - title.s));
	path = part_split(&path, ' ');
	name = part_base(path);
	if (part_is(stem_of(name), "unicorn"))
		dir = telling_dir((struct text_part){path.s, (size_t)(name.s - path.s)});
	add_text(a, " [");
	add_word(a, dir.len ? dir : name);
	add_text(a, "]");
}

/* "unicorn master -c config.rb", "unicorn worker[0] -c config.rb" */
static void add_unicorn(struct app *a, struct text_part title)
{
	if (part_begins(title, "unicorn master"))
		add_text(a, "unicorn master");
	else if (part_begins(title, "unicorn worker["))
		add_text(a, "unicorn worker");
	else
		return;
	add_config(a, title);
}

struct title {
	const char *name; /* of the program, with or without a version behind it */
	void (*add)(struct app *a, struct text_part title);
	bool own_exe; /* the executable has the name; else an interpreter runs it */
};

static const struct title titles[] = {
	{"postgres", add_postgres, true},  {"postmaster", add_postgres, true},
	{"nginx", add_nginx, true},	   {"php-fpm", add_php_fpm, true},
	{"gunicorn", add_gunicorn, false}, {"puma", add_puma, false},
	{"sidekiq", add_sidekiq, false},   {"celery", add_celery, false},
	{"celeryd", add_celery, false},	   {"unicorn", add_unicorn, false},
};

static bool is_digits_and_dots(struct text_part text)
{
	size_t i = 0;

	while (i < text.len && (is_digit(text.s[i]) || text.s[i] == '.'))
		i++;
	return i == text.len;
}

static const struct title *title_find(struct text_part name)
{
	for (size_t i = 0; i < ARRAY_SIZE(titles); i++) {
		if (part_begins(name, titles[i].name) &&
		    is_digits_and_dots(part_behind(name, strlen(titles[i].name))))
			return &titles[i];
	}
	return NULL;
}

/* ---- browsers ---- */

static const char browsers[] = "chromium chromium-browser chrome msedge brave vivaldi-bin opera "
			       "headless_shell";

static bool is_electron(struct text_part name)
{
	return part_begins(name, "electron") &&
	       is_digits_and_dots(part_behind(name, strlen("electron")));
}

/*
 * Finds the value of an option. A process that a browser forked has all its words in one title,
 * with spaces between them: there a value ends at a space.
 */
static struct text_part option_value(struct text_part words, const char *option)
{
	while (words.len) {
		struct text_part word = part_split(&words, '\0');
		char end = memmem(word.s, word.len, " --", 3) ? ' ' : '\0';

		while (word.len) {
			struct text_part value = part_split(&word, end);

			if (part_cut_prefix(&value, option))
				return value;
		}
	}
	return (struct text_part){};
}

/* "chromium: work" of --user-data-dir=/home/me/work; profiles below .config are the usual ones. */
static void add_browser(struct app *a, struct text_part name, struct text_part words)
{
	struct text_part dir = option_value(words, "--user-data-dir=");

	add(a, name);
	if (!dir.len || memmem(dir.s, dir.len, "/.config/", strlen("/.config/")))
		return;
	add_text(a, ": ");
	add_word(a, part_base(dir));
}

/* ---- scripts ---- */

/* What lies before a part in its word. */
static struct text_part before_in_word(struct text_part part, const char *cmdline)
{
	const char *from = part.s;

	while (from > cmdline && from[-1])
		from--;
	return (struct text_part){from, (size_t)(part.s - from)};
}

/* "shop/server.js": a script with a name that says little has its directory before it. */
static void add_script(struct app *a, struct text_part name, const char *cmdline)
{
	struct text_part dir = {};

	if (part_lists(part_of(bare_stems), ' ', stem_of(name)))
		dir = telling_dir(before_in_word(name, cmdline));
	if (dir.len) {
		add(a, dir);
		add_text(a, "/");
	}
	add(a, name);
}

/* `electron /usr/lib/code/app.asar`, and what it forked. */
static void add_electron(struct app *a, struct text_part words)
{
	struct text_part path = option_value(words, "--app-path=");

	if (!path.len)
		path = option_value(words, "--user-data-dir=");
	part_split(&words, '\0');
	while (!path.len && words.len) {
		struct text_part word = part_split(&words, '\0');

		if (!part_begins(word, "-"))
			path = word;
	}
	if (!path.len) {
		a->bad = true;
		return;
	}
	/* A script of the app: its directory. */
	if (part_lists(part_of(bare_stems), ' ', stem_of(part_base(path))))
		path.len = (size_t)(part_base(path).s - path.s);
	add_word(a, telling_dir(path));
}

/* ---- all ---- */

bool app_needs_cmdline(const char *exe, const char *comm)
{
	struct text_part name = part_of(exe);
	const struct title *title = title_find(name);

	return program_needs_cmdline(exe, comm) || (title && title->own_exe) ||
	       launcher_find(name) || is_electron(name) || part_lists(part_of(browsers), ' ', name);
}

static void add_app(struct app *a, struct text_part exe, struct text_part name, const char *cmdline,
		    size_t len)
{
	struct text_part words = {cmdline, len}, first = part_split(&words, '\0');
	const struct title *title = title_find(name);
	const struct launcher *launcher = launcher_find(exe);
	bool is_exe = part_same(name, exe);

	if (title && title->own_exe == is_exe)
		title->add(a, first);
	else if (launcher)
		add_launched(a, launcher, words);
	else if (is_electron(exe))
		add_electron(a, (struct text_part){cmdline, len});
	else if (part_lists(part_of(browsers), ' ', exe))
		add_browser(a, name, (struct text_part){cmdline, len});
	else if (name.s > words.s && name.s < cmdline + len)
		add_script(a, name, cmdline);
}

size_t app_of(const char *exe, const char *comm, const char *cmdline, size_t len,
	      char ret[APP_MAX + 1])
{
	struct text_part name = program_name(exe, comm, cmdline, len);
	struct app a = {.text = ret};

	if (cmdline && len)
		add_app(&a, part_of(exe), name, cmdline, len);
	if (a.bad || !a.len) {
		a = (struct app){.text = ret};
		name.len = name.len < APP_MAX ? name.len : APP_MAX;
		add(&a, name);
	}
	ret[a.len] = '\0';
	return a.len;
}
