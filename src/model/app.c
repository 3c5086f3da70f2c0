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
				 "__main__ boot application program artisan";
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

/* "shop/app.jar": a name that says little gets the nearest directory of `before` in front of it. */
static void add_named(struct app *a, struct text_part before, struct text_part name)
{
	struct text_part dir = {};

	if (part_lists(part_of(bare_stems), ' ', stem_of(name)))
		dir = telling_dir(before);
	if (dir.len) {
		add(a, dir);
		add_text(a, "/");
	}
	add(a, name);
}

static void add_file(struct app *a, struct text_part path)
{
	struct text_part name = part_base(path);

	a->bad |= !name.len || name.len > PART_MAX;
	add_named(a, (struct text_part){path.s, (size_t)(name.s - path.s)}, name);
}

/* ---- options ---- */

/* The value of an option among words that each end with NUL. */
static struct text_part option_value(struct text_part words, const char *option)
{
	while (words.len) {
		struct text_part word = part_split(&words, '\0');

		if (part_cut_prefix(&word, option))
			return word;
	}
	return (struct text_part){};
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

/* "catalina.Bootstrap": a class with a name that says little gets a package in front of it. */
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

/* True of "my-app.core". */
static bool is_namespace(struct text_part word)
{
	for (size_t i = 0; i < word.len; i++) {
		if (!is_letter(word.s[i]) && !is_digit(word.s[i]) &&
		    !memchr("._-*+!?", word.s[i], strlen("._-*+!?")) &&
		    (unsigned char)word.s[i] < 0x80)
			return false;
	}
	return word.len && word.s[0] != '-';
}

/* What clojure.main runs: a namespace, which is the whole of it, or a file. */
static void add_clojure(struct app *a, struct text_part words)
{
	static const char value_words[] = "-i --init -e --eval --report";

	while (words.len) {
		struct text_part word = part_split(&words, '\0');

		if (part_is(word, "-m") || part_is(word, "--main")) {
			word = part_split(&words, '\0');
			a->bad |= !is_namespace(word);
			add_word(a, word);
			return;
		}
		if (part_lists(part_of(value_words), ' ', word)) {
			part_split(&words, '\0');
		} else if (!part_begins(word, "-")) {
			add_file(a, word);
			return;
		} else if (!part_begins(word, "--")) {
			break; /* "-r": from here on they are arguments */
		}
	}
	add_text(a, "clojure.main");
}

/* "tomcat: shop" of -Dcatalina.base=/srv/shop: a machine has several of them. */
static bool add_tomcat(struct app *a, struct text_part options)
{
	struct text_part dir = telling_dir(option_value(options, "-Dcatalina.base="));

	if (!dir.len)
		return false;
	add_text(a, "tomcat: ");
	add_word(a, dir);
	return true;
}

/* Adds what the class runs, which the words behind it or the options before it name. */
static bool add_container(struct app *a, struct text_part class, struct text_part options,
			  struct text_part words)
{
	if (part_is(class, "clojure.main")) {
		add_clojure(a, words);
		return true;
	}
	return part_is(class, "org.apache.catalina.startup.Bootstrap") && add_tomcat(a, options);
}

/* Adds the first word that is no option. */
static void add_launched_word(struct app *a, const struct launcher *l, struct text_part word,
			      struct text_part options, struct text_part words)
{
	if (ends_with(word, l->endings ? l->endings : ".java"))
		add_file(a, word);
	else if (l->endings)
		a->bad = true;
	else if (!add_container(a, word, options, words))
		add_class(a, word);
}

/* `words` starts behind argv[0]. */
static void add_launched(struct app *a, const struct launcher *l, struct text_part words)
{
	const char *first = words.s;

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
			add_launched_word(a, l, word,
					  (struct text_part){first, (size_t)(word.s - first)},
					  words);
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

/* Cuts the spaces off that some programs fill their title with. */
static struct text_part trimmed_title(struct text_part title)
{
	while (title.len && title.s[title.len - 1] == ' ')
		title.len--;
	return title;
}

/* The "user database" before a client, and how many words it has. Empty: there is no client. */
static struct text_part postgres_session(struct text_part title, size_t *ret_words)
{
	struct text_part rest = title;

	for (*ret_words = 0; rest.len; (*ret_words)++) {
		struct text_part before = {title.s, (size_t)(rest.s - title.s)};

		if (is_client(split_word(&rest)) && *ret_words > 1)
			return trimmed_title(before);
	}
	return (struct text_part){};
}

/* The title behind the name of the cluster (cluster_name), which may have spaces. */
static struct text_part behind_cluster(struct text_part title)
{
	const char *colon = memmem(title.s, title.len, ": ", 2);

	return colon ? part_behind(title, (size_t)(colon + 2 - title.s)) : title;
}

/*
 * "postgres: 15/main: checkpointer", "postgres: user db 10.0.0.1(5432) idle". The name of the
 * cluster is left out. Extensions give their processes any name. User and database may have spaces.
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
	struct text_part session;
	size_t words;

	if (!part_cut_prefix(&title, "postgres: ")) {
		a->bad = true;
		return;
	}
	title = behind_cluster(title);
	session = postgres_session(title, &words);
	add_text(a, "postgres: ");
	/* A user may have the name of a role. */
	if (session.len && words == 2 && !part_begins(session, "walsender ")) {
		add_word(a, session);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(roles); i++) {
		size_t len = strlen(roles[i]);

		if (part_begins(title, roles[i]) && (title.len == len || title.s[len] == ' ')) {
			add_text(a, roles[i]);
			return;
		}
	}
	add_word(a, session);
}

/* Adds the "[app]" that a title ends with. It may have spaces. */
static void add_brackets(struct app *a, struct text_part title)
{
	const char *open = memrchr(title.s, '[', title.len);
	struct text_part tag;

	if (!open)
		return;
	tag = trimmed_title(part_behind(title, (size_t)(open + 1 - title.s)));
	if (!part_cut_suffix(&tag, "]"))
		return;
	add_text(a, " [");
	add_word(a, tag);
	add_text(a, "]");
}

/* "sidekiq 7.0.1 shop [1 of 5 busy]"; the tag may have spaces. */
static void add_sidekiq(struct app *a, struct text_part title)
{
	const char *open;

	split_word(&title);
	split_word(&title);
	add_text(a, "sidekiq");
	open = memmem(title.s, title.len, " [", 2);
	if (open && !part_begins(title, "[")) {
		add_text(a, " ");
		add_word(a, (struct text_part){title.s, (size_t)(open - title.s)});
	}
}

/* "PM2 v5.3.0: God Daemon (/root/.pm2)" */
static void add_pm2(struct app *a, struct text_part title)
{
	split_word(&title);
	split_word(&title);
	add_text(a, part_begins(title, "God Daemon") ? "PM2: God Daemon" : "PM2");
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

/* The rest of a title; a pool may have spaces. */
static void add_rest(struct app *a, struct text_part title)
{
	add_word(a, trimmed_title(title));
}

/* How titles begin, and what is added of the text behind that. */
static const struct {
	const char *begin;
	void (*add)(struct app *a, struct text_part rest); /* NULL: nothing */
	const char *shown;				   /* NULL: the beginning */
} beginnings[] = {
	/* "nginx: worker process is shutting down", "nginx: master process /usr/sbin/nginx -g …" */
	{"nginx: master process"},
	{"nginx: worker process"},
	{"nginx: cache manager process"},
	{"nginx: cache loader process"},
	{"nginx: privileged agent process"},
	/* "php-fpm: pool www", "php-fpm: master process (/etc/php/…)" */
	{"php-fpm: master process"},
	{"php-fpm: pool ", add_rest},
	/* "gunicorn: master [shop.wsgi:app]" */
	{"gunicorn: master", add_brackets},
	{"gunicorn: worker", add_brackets},
	/* "puma 6.0.0 (tcp://0.0.0.0:3000) [shop]", "puma: cluster worker 0: 1234 [shop]" */
	{"puma: cluster worker", add_brackets},
	{"puma", add_brackets},
	/* "unicorn master -c config.rb", "unicorn worker[0] -c config.rb" */
	{"unicorn master", add_config},
	{"unicorn worker[", add_config, "unicorn worker"},
};

static void add_beginning(struct app *a, struct text_part title)
{
	for (size_t i = 0; i < ARRAY_SIZE(beginnings); i++) {
		if (!part_begins(title, beginnings[i].begin))
			continue;
		add_text(a, beginnings[i].shown ? beginnings[i].shown : beginnings[i].begin);
		if (beginnings[i].add)
			beginnings[i].add(a, part_behind(title, strlen(beginnings[i].begin)));
		return;
	}
}

struct title {
	const char *name; /* of the program, with or without a version behind it */
	void (*add)(struct app *a, struct text_part title);
	bool own_exe; /* the executable has the name; else an interpreter runs it */
};

static const struct title titles[] = {
	{"postgres", add_postgres, true},
	{"postmaster", add_postgres, true},
	{"nginx", add_beginning, true},
	{"php-fpm", add_beginning, true},
	{"gunicorn", add_beginning, false},
	{"puma", add_beginning, false},
	{"sidekiq", add_sidekiq, false},
	{"celery", add_celery, false},
	{"celeryd", add_celery, false},
	{"unicorn", add_beginning, false},
	{"PM2", add_pm2, false},
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

/* Cuts off what stands before the next " --". */
static struct text_part split_option(struct text_part *rest)
{
	const char *next = memmem(rest->s, rest->len, " --", 3);
	struct text_part option = {rest->s, next ? (size_t)(next - rest->s) : rest->len};

	*rest = part_behind(*rest, option.len + (next ? 1 : 0));
	return option;
}

/*
 * A process that a browser forked has all its words in one title, with spaces between them. All are
 * options, so a value with spaces ends where the next option begins.
 */
static struct text_part browser_option(struct text_part words, const char *option)
{
	struct text_part rest = words, title = part_split(&rest, '\0');

	if (!memmem(title.s, title.len, " --type=", strlen(" --type=")))
		return option_value(words, option);
	while (title.len) {
		struct text_part value = split_option(&title);

		if (part_cut_prefix(&value, option))
			return value;
	}
	return (struct text_part){};
}

/* "chromium: work" of --user-data-dir=/home/me/work; profiles below .config are the usual ones. */
static void add_browser(struct app *a, struct text_part name, struct text_part words)
{
	struct text_part dir = browser_option(words, "--user-data-dir=");

	add(a, name);
	if (!dir.len || memmem(dir.s, dir.len, "/.config/", strlen("/.config/")))
		return;
	add_text(a, ": ");
	add_word(a, part_base(dir));
}

/* ---- virtual machines ---- */

static bool is_qemu(struct text_part name)
{
	return part_begins(name, "qemu-system-") || part_is(name, "qemu-kvm") ||
	       part_is(name, "kvm");
}

/* Adds the characters of a value of QEMU, in which ",," stands for a comma. */
static void add_qemu_value(struct app *a, struct text_part value)
{
	a->bad |= !value.len || value.len > PART_MAX;
	while (value.len) {
		const char *comma = memmem(value.s, value.len, ",,", 2);
		size_t len = comma ? (size_t)(comma + 1 - value.s) : value.len;

		add(a, (struct text_part){value.s, len});
		value = part_behind(value, len + (comma ? 1 : 0));
	}
}

/* Cuts off "guest=web" of "guest=web,debug-threads=on". */
static struct text_part split_qemu(struct text_part *rest)
{
	struct text_part item = *rest;
	size_t i = 0;

	while (i < item.len && (item.s[i] != ',' || (i + 1 < item.len && item.s[i + 1] == ',')))
		i += item.s[i] == ',' ? 2 : 1;
	item.len = i < item.len ? i : item.len;
	*rest = part_behind(*rest, item.len < rest->len ? item.len + 1 : item.len);
	return item;
}

/* "qemu-system-x86_64: web" of `-name web` and `-name debug-threads=on,guest=web`. */
static void add_qemu(struct app *a, struct text_part name, struct text_part words)
{
	struct text_part word = {}, item;

	while (words.len && !part_is(word, "-name") && !part_is(word, "--name"))
		word = part_split(&words, '\0');
	word = part_split(&words, '\0');
	add(a, name);
	for (bool first = true; word.len; first = false) {
		item = split_qemu(&word);
		if (part_cut_prefix(&item, "guest=") || (first && !memchr(item.s, '=', item.len))) {
			add_text(a, ": ");
			add_qemu_value(a, item);
			return;
		}
	}
}

/* ---- scripts ---- */

/* What lies before a part in its word; in a title, behind the name of the interpreter. */
static struct text_part before_in_word(struct text_part part, const char *cmdline)
{
	const char *from = part.s;
	struct text_part before;

	while (from > cmdline && from[-1])
		from--;
	before = (struct text_part){from, (size_t)(part.s - from)};
	if (from == cmdline)
		part_split(&before, ' ');
	return before;
}

/* True if a script is named by a word behind argv[0], or by a title "node /srv/shop/app.js". */
static bool is_script(struct text_part name, struct text_part first, struct text_part words)
{
	if (name.s >= first.s && name.s < first.s + first.len)
		return memchr(first.s, ' ', (size_t)(name.s - first.s));
	return name.s >= words.s && name.s < words.s + words.len;
}

/* True of "queue:work": Artisan's commands have letters, digits and these. */
static bool is_artisan_command(struct text_part word)
{
	size_t i = 0;

	while (i < word.len && (is_letter(word.s[i]) || is_digit(word.s[i]) ||
				memchr(":_-.", word.s[i], strlen(":_-."))))
		i++;
	return i && i == word.len;
}

/* " queue:work" of `php artisan queue:work`: the first word that is no option. */
static void add_artisan_command(struct app *a, struct text_part words)
{
	struct text_part word;

	do
		word = part_split(&words, '\0');
	while (part_begins(word, "-") && words.len);
	if (!is_artisan_command(word) || part_begins(word, "-"))
		return;
	add_text(a, " ");
	add_word(a, word);
}

/* "shop/server.js": a script with a name that says little has its directory before it. */
static void add_script(struct app *a, struct text_part exe, struct text_part name,
		       struct text_part cmdline)
{
	struct text_part words = part_behind(cmdline, (size_t)(name.s - cmdline.s));

	add_named(a, before_in_word(name, cmdline.s), name);
	part_split(&words, '\0');
	if (part_is(name, "artisan") && part_begins(exe, "php"))
		add_artisan_command(a, words);
}

/* `electron /usr/lib/code/app.asar`, and what it forked. */
static void add_electron(struct app *a, struct text_part words)
{
	struct text_part path = browser_option(words, "--app-path=");

	if (!path.len)
		path = browser_option(words, "--user-data-dir=");
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
	       launcher_find(name) || is_electron(name) || is_qemu(name) ||
	       part_lists(part_of(browsers), ' ', name);
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
	else if (is_qemu(exe))
		add_qemu(a, name, words);
	else if (is_script(name, first, words))
		add_script(a, exe, name, (struct text_part){cmdline, len});
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
