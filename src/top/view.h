/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The screen of top without a terminal: which part of a result is shown, the effect of keys, and
 * the text of each line. Pure: it requests data through enum view_ask, and its caller provides
 * them.
 */
#ifndef ZMEM_TOP_VIEW_H
#define ZMEM_TOP_VIEW_H

#include "render/files_table.h"
#include "render/table.h"
#include "top/screen.h"
#include "model/growth.h"
#include "model/maps.h"

/* How rows are made. The caller applies changes on VIEW_ASK_ROWS or VIEW_ASK_FILTER. */
struct view_settings {
	struct column_list columns[2]; /* for processes and for groups */
	bool chosen[2];		       /* chosen by the user: never made narrower */
	struct order order;
	const struct column *group; /* NULL: rows are processes */
	bool tree;
	bool cmdline; /* show command lines instead of names */
	enum view_changes {
		CHANGES_NONE,
		CHANGES_LAST, /* deltas per second since the last tick */
		CHANGES_START,
	} changes;
	bool only_changed;
	bool paused;
	unsigned interval_ms;
	char filter[128]; /* an ERE; "": no filter */
	char user[128];	  /* user names or uids; "": all users */
};

enum view_ask {
	VIEW_ASK_QUIT = 1 << 0,
	VIEW_ASK_ROWS = 1 << 1,	  /* make the rows of the same processes again */
	VIEW_ASK_FILTER = 1 << 2, /* other processes pass the filters */
	VIEW_ASK_INTERVAL = 1 << 3,
	VIEW_ASK_DETAIL = 1 << 4,  /* read the mappings of the row at the cursor */
	VIEW_ASK_FORWARD = 1 << 5, /* show the next frame of a recording */
	VIEW_ASK_BACK = 1 << 6,
	VIEW_ASK_CHANGES = 1 << 7,
	VIEW_ASK_REDRAW = 1 << 8,     /* write the whole screen again */
	VIEW_ASK_GO = 1 << 9,	      /* show another moment of a recording: view.go */
	VIEW_ASK_FILES = 1 << 10,     /* read the files of the machine now */
	VIEW_ASK_FILE_ROWS = 1 << 11, /* make the rows of the same files again */
	VIEW_ASK_HOLDERS = 1 << 12,   /* read the holders of the file at the cursor */
	VIEW_ASK_GROWTH = 1 << 13,    /* begin to count what grows: view.growing */
};

enum view_mode {
	VIEW_LIST,
	VIEW_DETAIL,
	VIEW_GROWTH, /* of one process, by stack */
	VIEW_HELP,
	VIEW_COLUMNS, /* choose columns */
	VIEW_SORT,    /* choose the sort column */
	VIEW_FILES,
	VIEW_HOLDERS,	/* of one file */
	VIEW_FILE_SORT, /* choose the sort column of the files */
};

enum view_prompt {
	PROMPT_NONE,
	PROMPT_SEARCH,
	PROMPT_FILTER, /* of processes, or of files */
	PROMPT_USER,
	PROMPT_INTERVAL,
	PROMPT_TIME,
};

/* Where VIEW_ASK_GO leads. */
enum view_go {
	GO_MINUTES, /* view.go_minutes, back if negative */
	GO_NEXT_EVENT,
	GO_PREVIOUS_EVENT,
	GO_TIME, /* view.typed, as --at takes it */
};

/* The time line of a recording. Its arrays belong to the caller. */
struct timeline {
	int64_t first_ms, last_ms; /* of the snapshots */
	struct time_gap {
		int64_t from_ms, to_ms;
	} * gap; /* nothing was recorded between them */
	size_t gaps;
	struct time_event {
		int64_t time_ms;
		uint32_t frame; /* from 1: the one that --at event:N shows; 0: none */
	} * event;		/* the oldest first */
	size_t events;
};

/* Identifies a row across snapshots. */
struct row_id {
	pid_t pid;    /* 0: a group */
	uint64_t key; /* the start time, or a hash of the group's text */
};

/* Facts for the lines above the rows. */
struct view_facts {
	bool own_known;
	unsigned own_cpu;    /* thousandths of one CPU */
	uint64_t own_rss;    /* bytes */
	uint64_t collect_us; /* how long the last snapshot took */
	bool swap_known;     /* swap activity since the last tick, bytes per second */
	uint64_t swap_in, swap_out;
	uint64_t missed;		 /* missed ticks */
	uint32_t frame, frames;		 /* of a recording; 0: not a recording */
	const struct timeline *timeline; /* NULL: no recording, or of one snapshot */
	bool can_map;			 /* mappings can be read */
};

/* The history of one value, as many points as a line can show. */
#define HISTORY_MAX 512

struct history {
	struct history_point {
		int64_t time_ms; /* since the epoch */
		bool known;
		uint64_t bytes;
	} point[HISTORY_MAX]; /* a ring */
	size_t next, count;
};

/* The processes of one group are shown, and how the groups were shown before. */
struct view_within {
	struct group_id group; /* key NULL: all processes; owns the text */
	struct row_id id;
	struct order order;
	size_t scroll;
	bool leaving; /* the next rows are the groups again */
};

struct detail {
	struct row_id id;
	bool ended;
	struct process row;	/* a copy without texts, shown after the row has ended */
	struct process charged; /* only its memory-cgroup counters are used */
	char name[256];
	struct map_set *maps;	  /* by file; NULL: none were read */
	struct mapping **mapping; /* the items of maps, biggest first */
	bool reading;		  /* the mappings are being read */
	enum pss_status maps_status;
	size_t scroll;
};

/* How the rows of the files are made. The caller applies changes on VIEW_ASK_FILE_ROWS. */
struct file_settings {
	enum file_group group;
	int sort; /* a column; -1: large shared memory first, then all else, by size */
	bool reverse;
	char filter[128];	/* an ERE; "": no filter */
	enum file_group within; /* of it only the files of the group `within_name` */
	char *within_name;
};

/* Identifies a row across readings. */
struct file_id {
	uint64_t mapping, inode, generation; /* 0: a group */
	uint64_t name;			     /* of a group, a hash */
};

struct view_files {
	struct file_settings set;
	const struct files_report *report; /* borrowed; NULL: nothing was read */
	int64_t time_ms;		   /* when it was read */
	uint64_t read_us, every_us;	   /* how long that took; the time to the next reading */
	const char *why;		   /* borrowed; why nothing can be read; NULL: it can */
	bool reading;
	struct files_table table;
	size_t cursor, scroll;
	bool held; /* the cursor stays on row `id` while others come and go */
	struct file_id id;
	/* Of VIEW_HOLDERS, owned. */
	struct cached_file file;
	struct file_holder *holder;
	char *label, *mount;
	bool holders_failed;
	size_t holder_scroll;
};

/* The process whose growth is counted. */
struct view_growing {
	pid_t pid;
	char name[256];
	enum view_mode from;	     /* the mode that Escape leads back to */
	const struct growth *growth; /* NULL: not begun */
};

struct view {
	struct view_settings set;
	struct view_facts facts;
	struct table_style style;
	struct column_list fitting;  /* the columns that fit the width */
	struct table table;	     /* keeps its widths while the columns stay */
	const struct column *kind;   /* the group column; NULL: rows are processes */
	const struct result *r;	     /* NULL: no rows yet */
	struct process *const *rows; /* all rows in order; may differ from r->rows */
	size_t count;

	enum view_mode mode;
	unsigned width, height;
	size_t cursor, scroll, left; /* left: columns scrolled out to the left */
	bool held;		     /* the cursor stays on row `id` while others come and go */
	struct row_id id;
	bool follow;	   /* keep row `id` in sight */
	char followed[64]; /* the text of that row if it is a group */
	struct view_within within;
	struct folds folds; /* of the tree */
	bool moved;	    /* a key moved the cursor since the rows were placed */

	enum view_go go;
	int go_minutes;
	enum view_prompt prompt;
	char typed[128], before[128]; /* before: the text that Escape restores */
	char search[128];	      /* the last search */
	char message[256];	      /* shown until a key is pressed; "": none */
	enum view_mode help_from;     /* the mode that help leads back to */
	size_t menu, menu_scroll;     /* the cursor and the first line of a menu or help */
	struct detail detail;
	struct view_files files;
	struct view_growing growing;
	struct history history; /* PSS_SWAP of the row at the cursor */
};

void view_init(struct view *v, const struct view_settings *set);
void view_done(struct view *v);
void view_resize(struct view *v, unsigned width, unsigned height);
/* Handles a key. Returns requests (enum view_ask). */
unsigned view_key(struct view *v, int key);
__attribute__((format(printf, 2, 3))) void view_set_message(struct view *v, const char *fmt, ...);

/*
 * Sets new rows: all rows in order, borrowed until the next call. `tick`: the rows are a new
 * snapshot, not the old one in another order.
 */
void view_set_rows(struct view *v, const struct result *r, struct process *const *rows,
		   size_t count, bool tick);
/* Forgets the rows, which are about to be freed. */
void view_clear_rows(struct view *v);
/*
 * Places the cursor and the window. Returns which rows are visible, so that the caller looks up
 * their names.
 */
void view_place(struct view *v, size_t *ret_first, size_t *ret_count);
/* The row at the cursor, NULL if there is none. */
struct process *view_row(const struct view *v);
/* Sets the memory-cgroup counters of the row of the detail. */
void view_set_charged(struct view *v, const struct process *p);
/*
 * Sets the mappings that VIEW_ASK_DETAIL requested, and takes ownership of `maps`. Returns 0 or
 * -ENOMEM.
 */
int view_set_maps(struct view *v, struct map_set *maps, enum pss_status status);
/* Whether growth is shown, or help in front of it. */
bool view_shows_growth(const struct view *v);
/* Sets what has grown, borrowed until the next call; NULL: it could not be counted. */
void view_set_growth(struct view *v, const struct growth *g);

/* Whether the files are shown now, and are to be read again when it is time. */
bool view_shows_files(const struct view *v);
/* The row at the cursor of the files, NULL if there is none. */
const struct cached_file *view_file(const struct view *v);
/*
 * Sets the rows of the files, borrowed until the next call, or why there are none, likewise. The
 * caller has set when they were read.
 */
void view_set_files(struct view *v, const struct files_report *report, const char *why);
/* Sets the file that VIEW_ASK_HOLDERS requested, with its holders. Returns 0 or -ENOMEM. */
int view_set_holders(struct view *v, const struct cached_file *f);

/* Draws everything. */
void view_draw(struct view *v, struct screen *s);

/* ---- internal to the files of the view ---- */

struct row_id view_id(const struct view *v, const struct process *p);
bool view_same_id(struct row_id a, struct row_id b);
const struct column_list *view_columns(const struct view *v);
/* The same list, to be changed by the user. */
struct column_list *view_columns_mutable(struct view *v);
/* Chooses the columns that fit and resets their widths. */
void view_columns_changed(struct view *v);
/* The number of lines of the head, and of rows that fit. */
unsigned view_head_lines(const struct view *v);
size_t view_page(const struct view *v);
void view_move(struct view *v, long by);
void view_hold_row(struct view *v);

/* The lines above the rows that are the same for processes and files: RAM, swap, shortage. */
void view_machine_draw(const struct view *v, struct screen *s);
void view_interval_put(struct line *l, unsigned ms);

unsigned view_files_open(struct view *v);
void view_files_done(struct view *v);
unsigned view_files_key(struct view *v, int key);
unsigned view_holders_key(struct view *v, int key);
void view_files_draw(struct view *v, struct screen *s);
void view_holders_draw(struct view *v, struct screen *s);
/* The column of a line of the menu VIEW_FILE_SORT, or -1; and their number. */
size_t view_file_sorts(const struct view *v);
int view_file_sort(const struct view *v, size_t i);
unsigned view_files_sort_by(struct view *v, int column);
/* Moves the cursor to the next row with the text from `from` on, wrapping around. */
bool view_files_search(struct view *v, const char *text, size_t from);

void view_prompt_open(struct view *v, enum view_prompt prompt);
unsigned view_prompt_key(struct view *v, int key);
void view_prompt_draw(const struct view *v, struct screen *s);
unsigned view_menu_key(struct view *v, int key);
void view_menu_draw(struct view *v, struct screen *s);
void view_menu_open(struct view *v, enum view_mode mode);
void view_detail_open(struct view *v);
void view_detail_update(struct view *v);
unsigned view_detail_key(struct view *v, int key);
/* The text of a row: its name without the branches of a tree, or that of a group. */
const char *view_row_text(const struct view *v, const struct process *p);
/* Says that the key has no meaning in this mode, and in which mode it has one. */
unsigned view_key_unknown(struct view *v, int key);
/* Pause, redraw and help; else the key is unknown in this mode. Returns enum view_ask. */
unsigned view_key_anywhere(struct view *v, int key);
void view_detail_draw(struct view *v, struct screen *s);
/* Opens the growth of the process of the detail, or at the cursor. Returns requests. */
unsigned view_growth_open(struct view *v);
unsigned view_growth_key(struct view *v, int key);
void view_growth_draw(struct view *v, struct screen *s);

void history_clear(struct history *h);
void history_add(struct history *h, int64_t time_ms, bool known, uint64_t bytes);
/*
 * Draws the newest points, at most `width`, one a column, as bars in eighths from their minimum on.
 * The scale is at least 1 MiB and 1 % of the maximum, so that noise looks flat. Returns the
 * minimum, the maximum and the time of the first point. Returns false and draws nothing if no point
 * is known.
 */
bool history_draw(const struct history *h, struct line *l, unsigned width, uint64_t *ret_least,
		  uint64_t *ret_most, int64_t *ret_since_ms);

/* A part of a bar. Its character tells it apart without colours. */
struct bar_part {
	const char *name;
	char sign;
	enum line_attr attr;
	bool known;
	int64_t bytes;
	bool rare; /* shown last in the legend */
};

/* Draws the bar in brackets. Parts that are unknown or not above 0 take no room. */
void bar_put(struct line *l, const struct bar_part *part, size_t count, uint64_t total,
	     unsigned width);
/* Writes the part's character, its name and a blank; a value follows. */
void bar_put_name(struct line *l, const struct bar_part *part);

/* A line of the help about keys; NULL after the last one. */
const char *view_key_help(size_t i);

#endif
