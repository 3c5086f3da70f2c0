// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The help: what the keys do, and what the program itself uses. */
#include "base/array.h"
#include "top/panes.h"
#include "write/format.h"

static const char *const help_lines[] = {
	"up down k j             move the cursor; also PgUp PgDn Home End G",
	"left right              scroll to columns that do not fit",
	"Enter                   details of a process; processes of a group",
	"i                       details, also of a group: counters, history, cgroup",
	"w                       which code makes a process grow: stacks, by growth",
	"Esc Backspace           go back from the processes of a group to the groups",
	"Esc                     end following, filters, groups; go to the first row",
	"F                       follow: keep the row in sight when it moves",
	"/ F3                    search names; / Enter: find the next match",
	"f F4                    filter by name or command line (regular expression)",
	"u                       show only processes of these users",
	"s F6    < >             choose the sort column; sort by the column left, right",
	"M S H N                 sort by PSS, swap, growth in an hour, PID",
	"r I                     reverse the order",
	"g                       group by name, user, unit, container, pod, …, or not",
	"t F5                    tree: sums of each process and its descendants",
	"- + *                   in the tree: fold a row, open it; fold or open all",
	"x                       show changes: per second, since the start, or none",
	"n                       show only rows that changed",
	"c                       show command lines instead of names",
	"l                       files of the machine, in RAM and in swap; l: back",
	"                        in them: Enter holders, g fs mount kind dir, f s / r",
	"R                       RAM by class: slab, page tables, free, …",
	"o F2                    columns: Enter shows or hides one, + - move it",
	"b                       switch between exact bytes and KiB MiB GiB",
	"Space p Z               pause or continue",
	"d  + -                  set, lengthen, shorten the interval; in the tree: d",
	", .                     in a recording: previous, next snapshot",
	"[ ]  { }                in a recording: a minute, 10 minutes back, on",
	"E e                     in a recording: previous, next event, as an OOM kill",
	"@                       in a recording: go to a time, such as 03:14 or event:1",
	"X                       in a recording: play as it was, 10, 100 times faster",
	"m                       fewer or more lines of RAM; in the details: read the",
	"                        mappings again",
	"Ctrl-L                  redraw the screen",
	"? h F1                  show or leave help; q F10: go back or quit",
	"",
	"The bar of RAM: | is used, : can be freed, . is free. What can be freed is cache",
	"and slab that the kernel gives up when memory is needed (MemAvailable less free);",
	"drop_caches keeps a part of it: what processes map.",
	"Pressure: the share of the last 10 s in which some tasks, or all tasks, waited",
	"for memory. Swap in, out: what is read and written.",
	"The time line of a recording: # is the snapshot, ! an event, a blank a gap.",
	"- means not measured: Enter shows the process, and why its PSS is not known.",
};

const char *view_key_help(size_t i)
{
	return i < ARRAY_SIZE(help_lines) && *help_lines[i] ? help_lines[i] : NULL;
}

/* What the program itself uses. */
static void put_own_cost(const struct shared *v, struct line *l)
{
	const struct view_facts *f = &v->facts;

	if (!f->collect_us)
		return;
	line_printf(l, "   this program: ");
	if (f->own_known)
		line_printf(l, "%u.%u %% of a CPU, %s, ", f->own_cpu / 10, f->own_cpu % 10,
			    size_text(f->own_rss, false).text);
	line_printf(l, "%s to collect", span_text((double)f->collect_us / 1e6).text);
}

static size_t help_count(__attribute__((unused)) const struct pane *owner)
{
	return ARRAY_SIZE(help_lines);
}

static void help_line(__attribute__((unused)) const struct pane *owner, size_t i, struct line *l)
{
	line_printf(l, "%s", help_lines[i]);
}

const struct menu help_menu = {
	.title = "Keys",
	.put_more = put_own_cost,
	.hints = "Esc back  up_down more",
	.count = help_count,
	.line = help_line,
};
