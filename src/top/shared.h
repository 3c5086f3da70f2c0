/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What all panes of top see: the size of the screen, the settings, the rows of processes or groups,
 * facts about the collection, and the last line of the screen.
 */
#ifndef ZMEM_TOP_SHARED_H
#define ZMEM_TOP_SHARED_H

#include "model/finding.h"
#include "report/table.h"
#include "top/cursor.h"
#include "top/history.h"
#include "top/prompt.h"
#include "top/screen.h"

/* Indexes of columns: group != NULL. */
enum { FOR_PROCESSES, FOR_GROUPS };

/* How rows are made. The caller applies changes on VIEW_ASK_ROWS or VIEW_ASK_FILTER. */
struct view_settings {
	struct field_list columns[2]; /* at FOR_PROCESSES and at FOR_GROUPS */
	bool chosen[2];		      /* chosen by the user: never made narrower */
	struct order order;
	const struct field *group; /* NULL: rows are processes */
	bool tree;
	bool cmdline; /* show command lines instead of names */
	enum view_changes {
		CHANGES_NONE,
		CHANGES_LAST, /* deltas per second since the last tick */
		CHANGES_START,
	} changes;
	bool only_changed;
	bool low_head; /* few lines of RAM, more rows */
	bool paused;
	unsigned interval_ms;
	unsigned speed; /* of a recording: so many times as fast as it was; 0: by the interval */
	char filter[PROMPT_MAX]; /* an ERE; "": no filter */
	char user[PROMPT_MAX];	 /* user names or uids; "": all users */
};

/* What keys ask the caller of the view for. */
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
	VIEW_ASK_GO = 1 << 9,	      /* show another moment of a recording: shared.go */
	VIEW_ASK_FILES = 1 << 10,     /* read the files of the machine now */
	VIEW_ASK_FILE_ROWS = 1 << 11, /* make the rows of the same files again */
	VIEW_ASK_HOLDERS = 1 << 12,   /* read the holders of the file at the cursor */
	VIEW_ASK_GROWTH = 1 << 13,    /* begin to count what grows: growth_pane.pid */
	VIEW_ASK_RAM = 1 << 14,	      /* read where the RAM is */
	VIEW_ASK_ALL = (1 << 15) - 1,
};

/* Where VIEW_ASK_GO leads. */
struct view_go {
	enum {
		GO_MINUTES,
		GO_NEXT_EVENT,
		GO_PREVIOUS_EVENT,
		GO_TIME,
	} where;
	int minutes;	       /* back if negative */
	char time[PROMPT_MAX]; /* as --at takes it */
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
		uint32_t frame;	 /* from 1: the one that --at event:N shows; 0: none */
		unsigned number; /* of event:N; 0: a signal, which has none */
	} * event;		 /* the oldest first */
	size_t events;
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
	struct findings findings;	 /* they borrow from the rows */
};

/* Rows of processes or groups, borrowed. The details and the growth are of the row at the cursor.
 */
struct listing {
	const struct result *r; /* NULL: no rows yet */
	const struct row *item; /* all rows in order; may differ from r->rows */
	size_t count;
	struct cursor *cursor;
	struct history history; /* PSS_SWAP of the row at the cursor */
};

struct shared {
	unsigned width, height;
	unsigned beside; /* columns of the details beside the list; 0: there is no room for them */
	struct view_settings set;
	struct view_facts facts;
	struct table_style style;
	struct listing rows;
	struct prompt prompt;
	int key;		 /* the last one */
	char message[256];	 /* shown until a key is pressed; "": none */
	char search[PROMPT_MAX]; /* the last search */
	struct view_go go;
	const struct menu *menu; /* the one that is to be opened; NULL: the help */
};

/* Sets the message. Returns 0: nothing is asked. */
__attribute__((format(printf, 2, 3))) unsigned show_message(struct shared *v, const char *fmt, ...);
/* Whether the last line is a message, a prompt or keys. */
bool shared_last_line(const struct shared *v);

/* The row at the cursor, NULL if there is none; and its process. */
const struct row *listing_row(const struct listing *l);
struct process *listing_process(const struct listing *l);
struct row_id listing_id(const struct listing *l, const struct process *p);
/* The text of a row: its name without the branches of a tree, or that of a group. */
const char *listing_text(const struct listing *l, const struct process *p);
/* From now on the cursor stays on its row. */
void listing_hold(struct listing *l);

#endif
