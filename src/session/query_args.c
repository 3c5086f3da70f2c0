// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The options that make a query, and the names that each format needs. */
#include "session/query_args.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "enrich/enrich.h"
#include "session/log.h"

/* The least growth that --grow shows, bytes: less comes and goes all the time. */
#define GROWN_USUAL (1024 * 1024)

static const char *const option_name[QUERY_WORDS] = {
	[QUERY_GROUP_BY] = "--group-by", [QUERY_SORT] = "--sort",     [QUERY_REVERSE] = "--reverse",
	[QUERY_TOP] = "--top",		 [QUERY_MIN] = "--min",	      [QUERY_PID] = "--pid",
	[QUERY_USER] = "--user",	 [QUERY_FILTER] = "--filter", [QUERY_CGROUP] = "--cgroup",
	[QUERY_UNIT] = "--unit",
};

struct lookup {
	struct collector *collector;
	int *exit_code;
};

static int find_user(void *arg, const char *name, size_t len, uid_t *ret_uid)
{
	struct lookup *l = arg;
	cleanup_free char *text = strndup(name, len);
	uint64_t number;
	int r;

	r = text ? collector_find_user(l->collector, text, ret_uid) : -ENOMEM;
	if (r == 0 || r == -ENOMEM)
		return r;
	if (parse_u64(name, len, UINT32_MAX - 1, &number) == 0) {
		*ret_uid = (uid_t)number;
		return 0;
	}
	return -ENOENT;
}

static void report_user(void *arg, const char *name, size_t len)
{
	struct lookup *l = arg;

	log_error("--user %.*s: there is no such user%s", (int)len, name,
		  users_all_found() || collector_replays(l->collector)
			  ? ""
			  : " in /etc/passwd, and a static program asks no other service (give "
			    "the number)");
	*l->exit_code = EXIT_NOT_FOUND;
}

static int refuse_column(const struct options *o, const char *option, struct field_error bad)
{
	const struct field *near;

	if (bad.len && *bad.name == '+') {
		bad.name++;
		bad.len--;
	}
	near = fields_nearest(&process_fields, bad.name, bad.len);
	if (bad.len == 3 && strncasecmp(bad.name, "shr", 3) == 0)
		return log_usage(o,
				 "%s: there is no column '%.*s': top's SHR is rss_file and "
				 "rss_shmem together",
				 option, (int)bad.len, bad.name);
	return log_usage(o, "%s: there is no column '%.*s'%s%s; -o help lists them", option,
			 (int)bad.len, bad.name, near ? "; the nearest is " : "",
			 near ? near->key : "");
}

int query_args_set(struct query *q, const struct options *o, enum query_word word, const char *text,
		   struct collector *c, int *exit_code)
{
	struct lookup lookup = {c, exit_code};
	const struct query_users find = {find_user, report_user, &lookup};
	const char *option = option_name[word];
	struct query_error e;
	int r = query_set(q, word, text, &find, &e);

	if (r == 0)
		return 0;
	if (r == -ENOMEM)
		return log_error("reading %s: out of memory", option);
	if (r == -ENOENT)
		return EXIT_NOT_FOUND;
	if (word == QUERY_SORT)
		return refuse_column(o, option, (struct field_error){e.item, e.item_len});
	return log_usage(o, "%s%s%.*s: %s", option, e.item ? " " : "", (int)e.item_len,
			 e.item ? e.item : "", e.why);
}

int query_args_filter(struct query *q, const struct options *o, struct collector *c, int *exit_code)
{
	const struct {
		enum query_word word;
		const char *text;
	} words[] = {{QUERY_CGROUP, o->cgroup},
		     {QUERY_UNIT, o->units},
		     {QUERY_PID, o->pids},
		     {QUERY_USER, o->users},
		     {QUERY_FILTER, o->filter}};
	int r = 0;

	if (o->users && !*o->users)
		return log_usage(o, "--user: no user in it");
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(words); i++) {
		if (words[i].text)
			r = query_args_set(q, o, words[i].word, words[i].text, c, exit_code);
	}
	return r;
}

const struct field *query_args_page_group(const struct options *o)
{
	return o->format == FORMAT_HTML ? options_group(o) : NULL;
}

/* The names that the format needs beyond its columns: enum process_needs. */
static unsigned format_needs(const struct options *o, const struct field *group)
{
	/* Formats with fixed keys show more than their columns. */
	static const unsigned needs[] = {
		[FORMAT_TABLE] = 0,
		[FORMAT_JSON] = NEEDS_USER | NEEDS_CGROUP | NEEDS_PROGRAM,
		[FORMAT_NDJSON] = NEEDS_USER | NEEDS_CGROUP | NEEDS_PROGRAM,
		[FORMAT_CSV] = 0,
		[FORMAT_FOLDED] = NEEDS_USER | NEEDS_CGROUP | NEEDS_PROGRAM,
		[FORMAT_OPENMETRICS] = 0,
		[FORMAT_PROMETHEUS] = 0,
		[FORMAT_HTML] = NEEDS_USER | NEEDS_CGROUP | NEEDS_PROGRAM,
	};
	bool document = o->format == FORMAT_JSON || o->format == FORMAT_NDJSON;
	bool shows_memcg = (document || options_metrics(o)) && group_is_memcg(group);
	const struct field *page = query_args_page_group(o);

	if (!(o->command->traits & COMMAND_ALL))
		return 0;
	/* A group shows only what its processes have in common. */
	return (group ? 0 : needs[o->format]) | (page ? page->needs : 0) |
	       (shows_memcg ? NEEDS_CHARGES : 0) |
	       (document ? NEEDS_SWAP_SHMEM | NEEDS_SWAP_COSTS | NEEDS_WAITS : 0) |
	       (document || options_metrics(o) ? NEEDS_HUGETLB | NEEDS_GPU : 0);
}

/* Rows are groups by --group-by. Rows of metrics are groups in any case. */
static void read_group(struct query *q, const struct options *o)
{
	const struct field *group = options_group(o);

	if (o->command->traits & COMMAND_MEMCGS)
		group = process_field("cgroup");
	if (!group && options_metrics(o))
		group = process_field("name");
	/* The page of -F html has all processes, and groups them itself. */
	if (o->format != FORMAT_HTML)
		q->group = group;
}

/*
 * Adds to a default table what it is sorted by, and where it is not lost on a narrow terminal:
 * behind the first counters, which are PSS and its change or share.
 */
static void show_sorted(struct field_list *list, const struct options *o, const struct field *group)
{
	size_t first = group ? 1 : 2; /* behind procs, or pid and user */
	struct field_list keys = {};
	struct field_error bad;

	if (o->format != FORMAT_TABLE || o->command->traits & COMMAND_KEYS)
		return;
	/* query_args_set() refuses a key that is wrong. */
	if (o->sort && field_list_parse_keys(&keys, &process_fields, o->sort, &bad) == 0 &&
	    keys.item[0]->type != FIELD_TEXT && keys.item[0]->type != FIELD_BOOL &&
	    !process_list_misplaced(&keys, group))
		field_list_insert(list, first, keys.item[0]);
}

/* "nodes" in a list of columns stands for one of each NUMA node with RAM. */
static void expand_nodes(struct strbuf *out, const char *columns)
{
	const uint32_t nodes = machine_nodes();

	while (*columns) {
		const char *plus = *columns == '+' ? "+" : "", *name = columns + strlen(plus);
		size_t len = strcspn(name, ",");

		if (len != 5 || strncasecmp(name, "nodes", len) != 0) {
			strbuf_put(out, columns, strlen(plus) + len);
		} else {
			for (unsigned n = 0, comma = 0; n < NODES_MAX; n++) {
				if (nodes >> n & 1)
					strbuf_printf(out, "%s%snode%u", comma++ ? "," : "", plus,
						      n);
			}
		}
		columns = name + len;
		if (*columns)
			strbuf_putc(out, *columns++);
	}
}

/*
 * Adds the columns that are asked for. Returns 0, -EINVAL with *ret_bad, which borrows from the
 * text, or -ENOMEM.
 */
static int add_named(struct field_list *list, const struct options *o, struct strbuf *text,
		     struct field_error *ret_bad)
{
	if (!o->columns)
		return 0;
	expand_nodes(text, o->columns);
	if (strbuf_error(text))
		return strbuf_error(text);
	return field_list_parse(list, &process_fields, strbuf_str(text), ret_bad);
}

unsigned query_args_named(const struct query *q, const struct options *o)
{
	cleanup(strbuf_done) struct strbuf text = {};
	struct field_list named = {};
	struct field_error ignored;

	add_named(&named, o, &text, &ignored);
	return field_list_needs(&named) | (o->sort ? field_list_needs(&q->order.keys) : 0);
}

static int read_columns(struct field_list *list, const struct options *o, const struct field *group)
{
	cleanup(strbuf_done) struct strbuf text = {};
	struct field_error bad = {};
	int r;

	if (o->format == FORMAT_CSV || o->format == FORMAT_TSV)
		process_list_whole(list, group);
	else if (o->continuous && !o->long_table && o->grow)
		process_list_columns(list, &columns_grow, group);
	else if (o->continuous && !o->long_table)
		process_list_columns(list, &columns_watch, group);
	else if (o->command->traits & COMMAND_MEMCGS)
		process_list_cgroups(list);
	else if (o->long_table)
		process_list_columns(list, &columns_long, group);
	else
		process_list_columns(list, &columns_usual, group);
	show_sorted(list, o, group);
	r = add_named(list, o, &text, &bad);
	if (r == -ENOMEM)
		return log_error("reading --columns: out of memory");
	/* A name of the list is wrong. */
	return r < 0 ? refuse_column(o, "--columns", bad) : 0;
}

static int refuse_memcg(const struct options *o, const char *option, const struct field_list *list,
			const struct field *group)
{
	const struct field *c = process_list_misplaced(list, group);

	return c ? log_usage(o, "%s: %s is of groups (--group-by cgroup, unit, container or pod)",
			     option, c->key)
		 : 0;
}

static const char *default_sort(const struct options *o, enum pss_choice pss)
{
	/* Rows with denied PSS come last. */
	if (o->grow)
		return "grown";
	if (o->command->traits & COMMAND_MEMCGS)
		return "strain,%nearest,mem_current";
	/* Without PSS all rows would be equal: RSS bounds PSS. */
	return pss == PSS_NONE ? "rss" : "pss";
}

static int read_order(struct query *q, const struct field_list *columns, const struct options *o,
		      enum pss_choice pss)
{
	const char *sort = o->sort ? o->sort : default_sort(o, pss);
	int r = query_args_set(q, o, QUERY_SORT, sort, NULL, NULL);

	if (r == 0)
		r = refuse_memcg(o, "--columns", columns, q->group);
	if (r == 0)
		r = refuse_memcg(o, "--sort", &q->order.keys, q->group);
	if (r == 0 && !o->continuous &&
	    (field_list_changes(columns) || field_list_changes(&q->order.keys)))
		r = log_usage(o, "%s: it has no changes to show (watch has)", o->command->name);
	q->order.reverse = o->reverse;
	if (r == 0 && q->order.keys.count == 1)
		q->order.keys = order_keys(q->order.keys.item[0], pss != PSS_NONE);
	return r;
}

/*
 * The names that columns need. CSV has all columns: what takes a pass of its own is read only if it
 * is asked for.
 */
static unsigned column_needs(const struct query *q, const struct field_list *list,
			     const struct options *o)
{
	unsigned needs = field_list_needs(list);

	if (o->format != FORMAT_CSV && o->format != FORMAT_TSV)
		return needs;
	return (needs & ~(unsigned)(NEEDS_FREED | NEEDS_LAZYFREE | NEEDS_THP_REST | NEEDS_KERNEL)) |
	       query_args_named(q, o);
}

int query_args_read(struct query *q, struct field_list *columns, const struct options *o,
		    enum pss_choice pss, struct collector *c, int *exit_code)
{
	int r;

	read_group(q, o);
	r = read_columns(columns, o, q->group);
	if (r == 0)
		r = read_order(q, columns, o, pss);
	q->needs = column_needs(q, columns, o) | format_needs(o, q->group);
	q->top = (size_t)o->top;
	/* For rows that grew, --min is the growth. */
	q->grown_steady = o->min == MIN_DEFAULT;
	if (o->grow)
		q->grown_min = o->min == MIN_DEFAULT ? GROWN_USUAL : o->min;
	else
		q->min = o->min == MIN_DEFAULT ? 0 : o->min;
	q->memcgs = o->command->traits & COMMAND_MEMCGS;
	q->tree = o->tree;
	q->total = o->total;
	q->only_changed = o->changed;
	q->only_grown = o->grow;
	return r ? r : query_args_filter(q, o, c, exit_code);
}

static void append_filter(char *ret, size_t size, enum query_word word, const char *value)
{
	size_t len = strlen(ret);

	if (value)
		snprintf(ret + len, size - len, " %s %s", option_name[word], value);
}

static void append_filters(const struct options *o, const char *pattern, char *ret, size_t size)
{
	append_filter(ret, size, QUERY_PID, o->pids);
	append_filter(ret, size, QUERY_USER, o->users);
	append_filter(ret, size, QUERY_FILTER, pattern);
	append_filter(ret, size, QUERY_CGROUP, o->cgroup);
	append_filter(ret, size, QUERY_UNIT, o->units);
}

bool query_args_cgroup_lacks_slash(const struct options *o)
{
	return o->cgroup && strchr(o->cgroup, '/') && !strchr("/*?[", *o->cgroup);
}

void query_args_nothing(const struct options *o, char *ret, size_t size)
{
	snprintf(ret, size, "no %s matches",
		 o->command->traits & COMMAND_MEMCGS ? "memory cgroup" : "process");
	append_filters(o, o->filter, ret, size);
	if (query_args_cgroup_lacks_slash(o))
		snprintf(ret + strlen(ret), size - strlen(ret), " (a path begins with /)");
	if (o->min != MIN_DEFAULT)
		snprintf(ret + strlen(ret), size - strlen(ret), " with this --min");
}

bool query_args_selection(const struct options *o, char *ret, size_t size)
{
	*ret = '\0';
	append_filters(o, o->filter ? "PATTERN" : NULL, ret, size);
	if (*ret)
		memmove(ret, ret + 1, strlen(ret)); /* the first space */
	return *ret;
}
