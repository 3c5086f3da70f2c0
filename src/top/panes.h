/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The panes of top, one a file (pane_*.c), and what the view tells each of them. */
#ifndef ZMEM_TOP_PANES_H
#define ZMEM_TOP_PANES_H

#include "query/tree.h"
#include "model/growth.h"
#include "model/maps.h"
#include "model/ram.h"
#include "report/files_table.h"
#include "top/pane.h"

/* ---- the list of processes or groups ---- */

/* The processes of one group are shown, and how the groups were shown before. */
struct opened_group {
	struct group_id group; /* key NULL: all processes; owns the text */
	struct row_id id;
	struct order order;
	size_t first;
	bool leaving; /* the next rows are the groups again */
};

/* Not every kernel tells which processes wait for memory. */
#define LIST_COUNTED (COUNTER_BIT(COUNTER_SWAPINS) | COUNTER_BIT(COUNTER_MEM_WAIT))

struct list_pane {
	struct pane pane;
	struct field_list fitting; /* the columns that fit the width */
	size_t left;		   /* columns scrolled out to the left */
	counter_mask counted;	   /* of LIST_COUNTED: what the kernel tells here */
	struct table table;	   /* keeps its widths while the columns stay */
	const struct field *kind;  /* the group column; NULL: rows are processes */
	char followed[64];	   /* the text of the row that is followed if it is a group */
	struct opened_group opened;
	struct folds folds; /* of the tree */
};

extern const struct pane_class list_class;

void list_done(struct list_pane *l);
void list_set_rows(struct list_pane *l, const struct result *r, const struct row *rows,
		   size_t count, bool tick);
/* Chooses the columns that fit and resets their widths (pane_list_columns.c). */
void list_columns_changed(struct list_pane *l);
/* The columns of groups, with those that the user chose. */
void list_columns_of_group(struct view_settings *set);
/*
 * When they are measured: those of "-o +a" and the name get room, instead of usual columns. These
 * come when the list scrolls.
 */
void list_columns_fit(struct list_pane *l);
extern const struct menu list_sort_menu, list_columns_menu;

/* ---- the details of a row ---- */

struct detail_pane {
	struct pane pane;
	struct row_id id;
	bool ended;
	struct process row;	/* a copy without texts, shown after the row has ended */
	uint32_t procs;		/* of a sum */
	struct process charged; /* only its memory-cgroup counters are used */
	struct charges charges;
	char name[256];
	struct map_set *maps;	  /* by file; NULL: none were read */
	struct mapping **mapping; /* the items of maps, biggest first */
	bool reading;		  /* the mappings are being read */
	enum pss_status maps_status;
};

extern const struct pane_class detail_class;

/* The row may be another one, with other values. */
void detail_update(struct detail_pane *d);
/* Draws those of the row at the cursor, without what would have to be read. */
void detail_draw_beside(struct shared *v, struct screen *s);
int detail_set_maps(struct detail_pane *d, struct map_set *maps, enum pss_status status);

/* ---- what grows ---- */

struct growth_pane {
	struct pane pane;
	pid_t pid;
	char name[256];
	const struct growth *growth; /* NULL: not begun */
};

extern const struct pane_class growth_class;

/* ---- files ---- */

/* How the rows of the files are made. The caller applies changes on VIEW_ASK_FILE_ROWS. */
struct file_settings {
	enum file_group group;
	/* A column; NULL: large shared memory first, then all else, by size. */
	const struct field *sort;
	bool reverse;
	char filter[PROMPT_MAX]; /* an ERE; "": no filter */
	enum file_group within;	 /* of it only the files of the group `within_name` */
	char *within_name;
};

struct files_pane {
	struct pane pane;
	struct file_settings set;
	const struct files_report *report; /* borrowed; NULL: nothing was read */
	int64_t time_ms;		   /* when it was read */
	uint64_t read_us, every_us;	   /* how long that took; the time to the next reading */
	const char *why;		   /* borrowed; why nothing can be read; NULL: it can */
	struct files_table table;
};

extern const struct pane_class files_class;

void files_done(struct files_pane *f);
void files_set(struct files_pane *f, const struct files_report *report, const char *why);
const struct cached_file *files_row(const struct files_pane *f);

/* ---- the holders of a file ---- */

struct holders_pane {
	struct pane pane;
	struct cached_file file;
	struct arena arena; /* of its holders and texts */
};

extern const struct pane_class holders_class;

void holders_done(struct holders_pane *h);
int holders_set(struct holders_pane *h, const struct cached_file *file);

/* ---- RAM by class ---- */

struct ram_pane {
	struct pane pane;
	bool known;
	struct ram ram;	  /* the last one; its texts are not used */
	struct ram first; /* the first census that was shown */
};

extern const struct pane_class ram_pane_class;

/* NULL: there is none. */
void ram_set(struct ram_pane *r, const struct ram *ram);

/* ---- menus and help ---- */

struct menu_pane {
	struct pane pane;
	const struct menu *menu;
};

extern const struct pane_class menu_class;
extern const struct menu help_menu;

/* A line of the help about keys; NULL after the last one. */
const char *view_key_help(size_t i);

#endif
