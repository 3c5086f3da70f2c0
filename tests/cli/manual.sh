#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The manual pages: mandoc has no complaint, they fit into 80 columns, and they describe the commands,
# options, words, columns, keys and metrics that the program has, and no others.
# needs: mandoc
. "$(dirname "$0")/../support/cli.sh"

root=$SUPPORT/../..
man=$TMP/man
mkdir "$man"
cp "$root"/src/man/*.[1-9] "$man"
check 'columns.sh makes a page' sh -c '"$0" "$1" >"$2"' "$root/src/man/columns.sh" "$ZMEM" "$man/zmem-bpf-columns.7"
cp "$O/man/zmem-bpf-json.5" "$O/man/zmem-bpf-findings.7" "$man"
check 'there are pages' [ "$(find "$man" -type f | wc -l)" -gt 10 ]

# page COMMAND: the file of the page that its help names.
page() {
	zmem "$1" --help
	echo "$man/$(sed -n 's/.*; man \(zmem-bpf[a-z-]*\) says more\.$/\1/p' "$TMP/out")".[18]
}

# section PAGE NAME…: the lines of these .Sh or .Ss, in the source.
section() {
	awk -v name="$2" '/^\.S[hs] / { inside = substr($0, 5) == name; next } inside' "$1"
}

# same NAME TEXT TEXT: the same lines, in any order, and there are some.
same() {
	sort <<<"$2" >"$TMP/one"
	sort <<<"$3" >"$TMP/two"
	check "$1" diff "$TMP/one" "$TMP/two"
	[ -n "$2" ] || not_ok "$1" 'there are none'
}

# ---- form ----

for file in "$man"/*; do
	name=${file##*/}
	# Which other pages there are, and in what index, is the machine's.
	check "$name: the footer has the system" grep -qE 'Linux *$' <(mandoc -T ascii "$file" | tail -n 1)
	equal "$name: mandoc has no complaint" \
		"$(mandoc -T lint -W style "$file" 2>&1 | grep -vE 'referenced manual not found|outdated mandoc.db')" ''
	equal "$name: fits into 80 columns" \
		"$(mandoc -T ascii -O width=80 "$file" | sed 's/.\x08//g' | awk 'length > 80')" ''
	equal "$name: no example is cut by the margin" \
		"$(sed -n 's/^\.Dl //p' "$file" | sed 's/\\(aq/~/g' | awk 'length > 69')" ''
	equal "$name: its title is its name" "$(sed -n 's/^\.Dt //p' "$file" | tr '[:upper:] ' '[:lower:].')" "$name"
	for reference in $(sed -nE 's/.*\bXr (zmem-bpf[a-z-]*) ([1-9]).*/\1.\2/p' "$file"); do
		[ -f "$man/$reference" ] || not_ok "$name: refers to $reference" 'there is no such page'
	done
done

# ---- commands ----

zmem --help
cp "$TMP/out" "$TMP/help"
commands=$(sed -n '/^usage/,/^$/ s/^[ a-z:]*zmem-bpf \[\{0,1\}\([a-z]*\).*/\1/p' "$TMP/help")
same 'commands' "$commands" "$(section "$man/zmem-bpf.1" Commands | sed -n 's/^\.It Cm //p')"
for command in $commands; do
	check "$command: has a page" [ -f "$(page "$command")" ]
done
same 'exit codes' "$(grep -A 1 '^Exit codes' "$TMP/help" | grep -oE '\b[0-9] [a-z]' | cut -c 1)" \
	"$(section "$man/zmem-bpf.1" 'EXIT STATUS' | sed -n 's/^\.It //p')"

# ---- options ----

# Those of a help text, and those that a page describes: "LETTER NAME ARGUMENT".
of_help() {
	sed -nE 's/^  (-(.), |    )--([a-z-]+)( ([^ ]+))?  *[^ ].*/\2 \3 \5/p' "$1"
}
of_page() {
	sed -nE 's/^\.It (Fl (.) , )?Fl -([a-z-]+)( Ar (.*))?$/\2 \3 \5/p' "$1"
}
# Those that a page leaves to zmem-bpf(1): names.
common() {
	awk '/^describes these options:/ { inside = 1; next } !/^\.Fl / { inside = 0 } inside' "$1" |
		grep -oE -- '-[a-z-]+' | cut -c 2-
}
of_page "$man/zmem-bpf.1" >"$TMP/described"
for command in $(grep -vxE 'help|version' <<<"$commands"); do
	zmem "$command" --help
	of_help "$TMP/out" >"$TMP/of_help"
	of_page "$(page "$command")" >"$TMP/of_page"
	check "$command: there are options" [ "$(wc -l <"$TMP/of_help")" -gt 4 ]
	equal "$command: describes options as the help has them" \
		"$(grep -vxFf "$TMP/of_help" "$TMP/of_page")" ''
	same "$command: all its options are in its page, or left to zmem-bpf(1)" \
		"$(cut -d ' ' -f 2 "$TMP/of_help")" \
		"$( (cut -d ' ' -f 2 "$TMP/of_page"; common "$(page "$command")") | sort -u)"
	equal "$command: what is left to zmem-bpf(1) is there" \
		"$(common "$(page "$command")" | grep -vxFf <(cut -d ' ' -f 2 "$TMP/described"))" ''
done

# The page lists the words that the message about a wrong word lists.
for option in group-by format color pss source delta; do
	file=$man/zmem-bpf.1
	[ $option = delta ] && file=$man/zmem-bpf-watch.1
	words=
	for command in snapshot watch files grow; do
		zmem "$command" "--$option" '?'
		words+=" $(sed -n 's/.* must be one of \(.*\) (.*/\1/p' "$TMP/err" | tr -d ,)"
	done
	words=$(tr ' ' '\n' <<<"$words" | sort -u)
	check "--$option: has words" [ -n "$words" ]
	for word in $words; do
		check "--$option $word is there" grep -qE "Li.* $word\\b" <(sed -n "/^\.It .*Fl -$option/,/^\.It Fl/p" "$file" |
			sed 's/^\.Li/.Li /')
	done
done

# ---- columns ----

items() {
	sed -n 's/^\.It Li //p'
}
columns=$man/zmem-bpf-columns.7
zmem -o help
same 'columns' "$(cut -d ' ' -f 1 "$TMP/out")" "$(section "$columns" Columns | items)"
zmem watch -o help
same 'columns of changes' "$(cut -d ' ' -f 1 "$TMP/out" | grep -E '_change$|^grew$')" "$(section "$columns" Changes | items)"
headers() {
	zmem maps -w -n 1 "$@"
	head -n 1 "$TMP/out" | tr '[:upper:]' '[:lower:]' | tr -s ' ' '\n' | sed '/^$/d; /^thp_rest$/d'
}
# Columns of nodes are there with --by-node alone, thp_rest only on some machines (live/test_pages.py).
keys=$(section "$columns" 'Columns of maps' | items | grep -vE '^(node[0-9]+|thp_rest)$')
# The pid has no header if there is one process.
same 'columns of maps' "$( (echo pid; headers $$; headers --by-file -p $$; headers -g name -p $$) | sort -u)" "$keys"
for key in $keys; do
	check "maps(1) has $key" grep -qE "^\.Li.* $key( |\$)|^\.Li $key\$" "$man/zmem-bpf-maps.1"
	case $key in
	procs | maps) zmem maps --by-file -p $$ -s "$key" ;;
	kind) zmem maps -g name -p $$ -s "$key" ;;
	*) zmem maps $$ -s "$key" ;;
	esac
	expect_rc "maps -s $key" 0
done

# ---- rows of doctor ----

# Which rows there are depends on the machine: those that it prints here are compared, and all that the source has.
described=$(sed -n '/^The rows are:/,/^\.Sh/ s/^\.It //p' "$man/zmem-bpf-doctor.1")
zmem doctor -v
same 'rows of doctor' "$( (sed '1,/^$/d; /^$/,$d' "$TMP/out" | sed -nE 's/^([^ ].{14}) (ok|no|-) .*/\1/p; s/^CAP_.*/CAP_BPF and others/' |
	sed 's/ *$//; s/^CAP_.*/CAP_BPF and others/'; sed -nE 's/.*doctor_add(_part)?\(&d->(rows|watched), "([^"]+)".*/\3/p' "$root/src/doctor/doctor_parts.c" "$root/src/doctor/doctor_source.c") | sort -u)" "$described"
described=$(section "$man/zmem-bpf-doctor.1" OPTIONS | sed -n 's/^\.It //p')
equal 'ways of doctor -v that the page lacks' "$(sed '1,/^every way/d' "$TMP/out" | sed -nE 's/^([^ ].{28}) (ok|no|-) .*/\1/p' |
	sed 's/ *$//; s/[(),] *//g; s/pinned$/\n&/; s/ *$//; s/libbpf$/\n&/; s/probe reads/\n&\n/; s/old kernels/\n&/' |
	sed 's/ *$//; /^$/d' | sort -u | grep -vxFf <(echo "$described"))" ''

# ---- CSV ----

# keys OPTION…: those of the rows of a recording, one a line: $TMP/csv and $TMP/json.
keys() {
	zmem -q --replay "$root/tests/fixtures/recordings/guest-6.12.zmem" -F csv "$@"
	head -n 1 "$TMP/out" | tr , '\n' | sort -u >"$TMP/csv"
	zmem -q --replay "$root/tests/fixtures/recordings/guest-6.12.zmem" -F json "$@"
	jq -r '[(.groups // .processes)[] | keys[]] | unique[] | select(test("_(hex|truncated)$") | not)' "$TMP/out" |
		sort -u >"$TMP/json"
}
# said FROM TO: the keys that these lines of the page name.
said() {
	sed -n '/^\.It Li csv/,/^\.It Li tsv/p' "$man/zmem-bpf.1" | sed -n "/$1/,/$2/p" | sed -n 's/^\.Li //p' | tr -s ' ,' '\n' |
		grep -E '^[a-z]' | sort -u
}
keys
equal 'CSV has no key that JSON lacks' "$(comm -23 "$TMP/csv" "$TMP/json")" ''
equal 'keys of JSON that CSV lacks' "$(comm -13 "$TMP/csv" "$TMP/json" | grep -vxF "$(said 'Keys that end' 'have no column')")" ''
beside=$'container\npod\nnamespace'
for group in name unit container pod cgroup user,name; do
	keys -g $group
	equal "-g $group: CSV has no key that JSON lacks but its own" "$(comm -23 "$TMP/csv" "$TMP/json" | grep -vxF "${group//,/$'\n'}")" ''
	comm -13 "$TMP/csv" "$TMP/json" >>"$TMP/lacks"
done
same 'keys of JSON that CSV lacks, of groups' "$(sort -u "$TMP/lacks" | grep -vxF -e group -e nodes -e "$beside")" "$(said 'These have no' 'beside the group')"

# ---- keys of top ----

pressed=$(sed -n '/help_lines\[\] = {/,/};/p' "$root"/src/top/*.c | sed -nE 's/^\t"([^ ].{0,22}[^ ]?) {2,}[a-z].*/\1/p' |
	tr -s ' ' '\n' | sort -u)
check 'top has keys' [ "$(wc -l <<<"$pressed")" -gt 40 ]
described=$(sed -nE '/^\.Sh KEYS/,/^\.Sh ENV/ s/^\.It Ic //p' "$man/zmem-bpf-top.1" | sed 's/\\&//g; s/\\-/-/g; s/\\e/\\/g' |
	tr -s ' ' '\n')
equal 'keys of top that the page lacks' "$(grep -vxFf <(echo "$described") <<<"$pressed")" ''

# ---- documents ----

for schema in "$O"/schema/*.schema.json; do
	equal "${schema##*/}: keys that zmem-bpf-json(5) lacks" "$(jq -r '[.. | .properties? // empty | keys[]] | unique[]' "$schema" |
		grep -vxFf <(grep -oE '[a-z_0-9]+' "$man/zmem-bpf-json.5"))" ''
done
same 'numbers with a fraction' "$(jq -r '.. | .properties? // empty | to_entries[] |
	select(.value.type? | (if type == "array" then . else [.] end) | index("number")) | .key' "$O"/schema/*.schema.json | sort -u)" \
	"$(sed -n '/percentages with a fraction/,/^\.It/p' "$man/zmem-bpf-json.5" | sed -n 's/^\.Li //p' | tr -s ' ,.' '\n' | sed '/^$/d')"
golden=$root/tests/golden
same 'metrics' "$(sed -nE 's/^((zmem|process)_[a-z_0-9]+)[{ ].*/\1/p' "$golden"/openmetrics_*.txt "$golden"/prometheus_*.txt | sort -u)" \
	"$(grep -oE '\b(zmem|process)_[a-z_0-9]+' "$man/zmem-bpf-serve.8" | sort -u)"
