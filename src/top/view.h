/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The screen of top without a terminal: what is shown of a result, what keys make of that, and the
 * text of each line. Pure: it asks for what must be read (enum view_ask) and is given it.
 */
#ifndef ZMEM_TOP_VIEW_H
#define ZMEM_TOP_VIEW_H

#include "render/table.h"
#include "top/history.h"
#include "top/keys.h"
#include "top/screen.h"
#include "model/maps.h"

/* What the rows are made by. Who takes it over does so when VIEW_ASK_ROWS or _FILTER asks. */
struct view_settings {
	struct column_list columns[2]; /* of processes, and of groups */
	bool chosen[2];		       /* by the user: not made narrower */
	struct order order;
	const struct column *group; /* NULL: rows are processes */
	bool tree;
	bool cmdline; /* in place of the name */
	enum view_changes {
		CHANGES_NONE,
		CHANGES_LAST, /* changes per second since the last tick */
		CHANGES_START,
	} changes;
	bool only_changed;
	bool paused;
	unsigned interval_ms;
	char filter[128]; /* an ERE; "": all */
	char user[128];	  /* names or numbers; likewise */
};

enum view_ask {
	VIEW_ASK_QUIT = 1 << 0,
	VIEW_ASK_ROWS = 1 << 1,	  /* other rows of the same processes */
	VIEW_ASK_FILTER = 1 << 2, /* other processes */
	VIEW_ASK_INTERVAL = 1 << 3,
	VIEW_ASK_DETAIL = 1 << 4,  /* the mappings of the row at the cursor */
	VIEW_ASK_FORWARD = 1 << 5, /* the next frame of a recording */
	VIEW_ASK_BACK = 1 << 6,
	VIEW_ASK_CHANGES = 1 << 7,
	VIEW_ASK_REDRAW = 1 << 8, /* the terminal shows something else */
};

enum view_mode {
	VIEW_LIST,
	VIEW_DETAIL,
	VIEW_HELP,
	VIEW_COLUMNS, /* which ones */
	VIEW_SORT,    /* by which */
};

enum view_prompt {
	PROMPT_NONE,
	PROMPT_SEARCH,
	PROMPT_FILTER,
	PROMPT_USER,
	PROMPT_INTERVAL,
};

/* Which row it is, whatever the order. */
struct row_id {
	pid_t pid;    /* 0: a group */
	uint64_t key; /* when it started, or a hash of its text */
};

/* What is beside the rows. */
struct view_facts {
	bool own_known;
	unsigned own_cpu;	/* of one CPU, in thousandths */
	uint64_t own_rss;	/* bytes */
	uint64_t missed;	/* ticks that were left out */
	uint32_t frame, frames; /* of a recording; 0: a machine is read */
	bool can_map;		/* mappings can be read */
};

struct detail {
	struct row_id id;
	bool ended;
	struct process row;	/* a copy without texts, once it has ended */
	struct process charged; /* of it only what the memory controller says of its cgroup */
	char name[256];
	struct map_set *maps;	  /* by file; NULL: none were read */
	struct mapping **mapping; /* of the set, biggest first */
	bool reading;		  /* nobody has them yet */
	enum pss_status maps_status;
	int64_t maps_ms; /* when, since the epoch; 0: not yet */
	size_t scroll;
};

struct view {
	struct view_settings set;
	struct view_facts facts;
	struct table_style style;
	struct column_list fitting;  /* the columns that this width has room for */
	struct table table;	     /* its widths last while the columns do */
	const struct column *kind;   /* what its rows have in common; NULL: they are processes */
	const struct result *r;	     /* NULL: nothing was taken yet */
	struct process *const *rows; /* all, in order; not only r->rows */
	size_t count;

	enum view_mode mode;
	unsigned width, height;
	size_t cursor, scroll, left; /* left: columns that were moved out of sight */
	bool held;		     /* the cursor is on that row, wherever it stands */
	struct row_id id;
	bool follow; /* and in sight */
	bool moved;  /* by a key since the rows were placed */

	enum view_prompt prompt;
	char typed[128], before[128]; /* what was there, for escape */
	char search[128];	      /* the last one */
	char message[256];	      /* until a key; "": none */
	size_t menu, menu_scroll;     /* the line of a menu, of help */
	struct detail detail;
	struct history history; /* of the row at the cursor */
};

void view_init(struct view *v, const struct view_settings *set);
void view_done(struct view *v);
void view_resize(struct view *v, unsigned width, unsigned height);
/* A key. Returns what is asked for (enum view_ask). */
unsigned view_key(struct view *v, int key);
__attribute__((format(printf, 2, 3))) void view_say(struct view *v, const char *fmt, ...);

/*
 * New rows: all there are, in order; borrowed until the next ones. `tick`: they are of a new
 * moment, not the same ones ordered anew.
 */
void view_take(struct view *v, const struct result *r, struct process *const *rows, size_t count,
	       bool tick);
/* Forgets them: they are about to be freed. */
void view_let_go(struct view *v);
/* Puts cursor and window where they belong; tells which rows are in sight, to be named. */
void view_place(struct view *v, size_t *ret_first, size_t *ret_count);
/* The row that a detail is about, NULL if there is none. */
struct process *view_row(const struct view *v);
/* What the memory controller says of the cgroup of the detail's row. */
void view_take_charged(struct view *v, const struct process *p);
/* What was read for VIEW_ASK_DETAIL; the set is the view's from here on. Returns 0 or -ENOMEM. */
int view_take_maps(struct view *v, struct map_set *maps, enum pss_status status);

/* Everything as it is to be shown. */
void view_draw(struct view *v, struct screen *s);

/* ---- between the files of the view ---- */

struct row_id view_id(const struct view *v, const struct process *p);
bool view_same_id(struct row_id a, struct row_id b);
const struct column_list *view_columns(const struct view *v);
/* The list as it may be changed. */
struct column_list *view_columns_mutable(struct view *v);
/* Columns that fit, and their widths anew. */
void view_columns_changed(struct view *v);
/* How many lines the head takes, and how many rows there is room for. */
unsigned view_head_lines(const struct view *v);
size_t view_page(const struct view *v);
void view_move(struct view *v, long by);
void view_hold(struct view *v);

void view_prompt_open(struct view *v, enum view_prompt prompt);
unsigned view_prompt_key(struct view *v, int key);
void view_prompt_draw(const struct view *v, struct screen *s);
unsigned view_menu_key(struct view *v, int key);
void view_menu_draw(struct view *v, struct screen *s);
void view_menu_open(struct view *v, enum view_mode mode);
void view_detail_open(struct view *v);
void view_detail_update(struct view *v);
unsigned view_detail_key(struct view *v, int key);
void view_detail_draw(struct view *v, struct screen *s);
void view_head_draw(const struct view *v, struct screen *s);

#endif
