// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The fields of changes, of processes and of groups. */
#include "fields/change_fields.h"

#include "fields/define.h"
#include "model/change.h"
#include "model/ram_change.h"

#define ROW const struct group_change *r = row

JSON_FIELD(
	key, "key", TEXT, value_text(r->process ? r->process->name : r->group),
	"the name of the process, or the text of the group. Null: the group of the processes without "
	"one",
	.flags = FIELD_HEX, .max = {512}, .max_hex = {256});
COLUMN(pid, "pid", "PID", NUMBER, value_signed(r->process, r->process ? r->process->pid : 0),
       "of a process", .flags = FIELD_KNOWN);
COLUMN(user, "user", "USER", TEXT, value_text(r->process ? r->process->user : NULL), "of a process",
       .needs = NEEDS_USER, .max = {512});
COLUMN(state, "state", "STATE", TEXT, value_text(change_state_name(group_change_state(r))),
       "null if a value was not measured");
JSON_KNOWN(procs_before, "procs_before", AMOUNT, value_signed(true, r->procs_before), "of a group");
COLUMN(procs_after, "procs_after", "PROCS", AMOUNT, value_signed(true, r->procs_after),
       "of a group", .flags = FIELD_SUMS | FIELD_KNOWN);
COLUMN(procs_change, "procs_change", "+-", GROWTH,
       value_signed(true, (int64_t)r->procs_after - (int64_t)r->procs_before), "of a group",
       .flags = FIELD_SUMS);
JSON_KNOWN(missing, "missing_processes", AMOUNT, value_signed(true, r->missing),
	   "processes without a measured value in one of the snapshots. They are in no sum");
COLUMN(before, "before_bytes", "BEFORE", BYTES, value_bytes(group_change_has_before(r), r->before),
       "in the first snapshot", .flags = FIELD_SUMS);
COLUMN(after, "after_bytes", "AFTER", BYTES, value_bytes(group_change_has_after(r), r->after),
       "in the second snapshot", .flags = FIELD_SUMS);
COLUMN(change, "change_bytes", "CHANGE", CHANGE,
       value_signed(group_change_has_before(r) && group_change_has_after(r), group_change_of(r)),
       "after_bytes less before_bytes", .flags = FIELD_SUMS);

FIELDS(change_process_fields, &field_key, &field_pid, &field_user, &field_state, &field_missing,
       &field_before, &field_after, &field_change);
FIELDS(change_group_fields, &field_key, &field_state, &field_procs_before, &field_procs_after,
       &field_missing, &field_before, &field_after, &field_change);
FIELDS(change_total_fields, &field_procs_before, &field_procs_after, &field_missing, &field_before,
       &field_after, &field_change);

SENTENCES(changes_missing, &change_total_fields, NULL,
	  "{missing_processes+} process{es} {is/are} left out of all sums: not read in one of the "
	  "snapshots");

/* ---- what is compared ---- */

#undef ROW
#define ROW const struct changes_said *r = row

JSON_FIELD(what, "what", TEXT, value_text(r->what), "");
JSON_FIELD(from, "from", TIME, value_signed(true, r->from_ms), "");
JSON_FIELD(to, "to", TIME, value_signed(true, r->to_ms), "");
JSON_FIELD(between, "between_ms", AMOUNT,
	   value_signed(r->to_ms >= r->from_ms, r->to_ms - r->from_ms), "");
JSON_FIELD(small, "small", AMOUNT, value_unsigned(true, r->small), "");
JSON_FIELD(page, "page", BYTES, value_bytes(true, r->page_size), "");
static FIELDS(compared, &field_what, &field_from, &field_to, &field_between, &field_small,
	      &field_page);

SENTENCES(changes_head, &compared, NULL, "{what}, from {from} to {to}[: {between_ms}]");
/* Each start of a program changes the shares of all that map the same files. */
SENTENCES(changes_small, &compared, NULL,
	  "{small+} change{s} below {page} {?small}{is/are} left out (--all shows {it/them})");

/* ---- classes of RAM ---- */

#undef ROW
#define ROW const struct ram_change *r = row

JSON_KNOWN(class, "class", TEXT, value_text(ram_class_table[r->class].key), "as in zmem.system");
JSON_KNOWN(class_before, "before_bytes", BYTES, value_bytes(true, r->before),
	   "in the first census");
JSON_KNOWN(class_after, "after_bytes", BYTES, value_bytes(true, r->after), "in the second census");
JSON_KNOWN(class_change, "change_bytes", CHANGE, value_signed(true, ram_change_of(r)),
	   "after_bytes less before_bytes");
FIELDS(change_ram_fields, &field_class, &field_class_before, &field_class_after,
       &field_class_change);

JSON_FIELD(class_title, "title", TEXT, value_text(ram_class_table[r->class].title), "");
static FIELDS(change_said_fields, &field_class_change, &field_class_title);

#undef ROW
#define ROW const struct ram_changes *r = row

ROWS(ram, "ram", &change_ram_fields, struct ram_change, r->known, r->item, r->count,
     "the classes of RAM that changed, the largest change first. They are of the whole machine. "
     "Null without two censuses",
     0);
FIELDS(change_machine_fields, &field_ram);

/* Fields for sentences alone. */
JSON_FIELD(span, "span_ms", AMOUNT, value_signed(r->known, r->after_ms - r->before_ms), "");
ROWS(large, "large", &change_said_fields, struct ram_change, true, r->item, r->large, "", 0);
FIELDS(ram_changes_fields, &field_span, &field_large);
SENTENCES(ram_changes_said, &ram_changes_fields, NULL,
	  "RAM by class: [{large*5: {change_bytes} {title}}||no class changed much]");

/* ---- columns ---- */

struct field change_name_field(const struct field *group)
{
	struct field name = group ? *group : *process_field("name");

	name.get = get_key;
	return name;
}

static struct value get_member(const struct field *f, const void *row, const void *of)
{
	const struct group_change *c = row;

	(void)of;
	return value_text(f->group(c->member));
}

void change_keys_set(struct change_keys *keys, const struct field *group)
{
	struct field_list of_process = {};

	keys->list = (struct field_list){};
	if (!group || !(group->flags & FIELD_JOINED))
		return;
	process_list_keys(&of_process, group);
	for (size_t i = 0; i < of_process.count; i++) {
		const struct field *key = &keys->key[i];

		keys->key[i] = *of_process.item[i];
		keys->key[i].get = get_member;
		field_list_append(&keys->list, &key, 1);
	}
}

static const struct field *const identity[] = {&field_pid, &field_user};

void change_list_table(struct field_list *list, const struct field *name, bool groups)
{
	static const struct field *const amounts[] = {&field_change, &field_before, &field_after};
	static const struct field *const procs[] = {&field_procs_after, &field_procs_change};
	const struct field *const last[] = {&field_state, name};

	*list = (struct field_list){};
	field_list_append(list, identity, groups ? 0 : ARRAY_SIZE(identity));
	field_list_append(list, amounts, ARRAY_SIZE(amounts));
	field_list_append(list, procs, groups ? ARRAY_SIZE(procs) : 0);
	field_list_append(list, last, ARRAY_SIZE(last));
}

void change_list_csv(struct field_list *list, const struct field *name, bool groups,
		     const struct change_keys *keys)
{
	static const struct field *const first[] = {
		&field_state,	     &field_change,	 &field_before,	 &field_after,
		&field_procs_before, &field_procs_after, &field_missing,
	};

	*list = (struct field_list){};
	field_list_append(list, first, ARRAY_SIZE(first));
	field_list_append(list, identity, groups ? 0 : ARRAY_SIZE(identity));
	if (keys->list.count)
		field_list_append(list, keys->list.item, keys->list.count);
	else
		field_list_append(list, &name, 1);
}
