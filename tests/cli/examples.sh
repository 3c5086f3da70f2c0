#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The filters of src/dist/examples: their exact output on golden documents (UPDATE_GOLDEN=1 rewrites
# it), and the rules of their formats on a recording and on this machine.
. "$(dirname "$0")/../support/cli.sh"

tests=$(realpath "$(dirname "$0")/..")
examples=$tests/../src/dist/examples
golden=$tests/golden
guest=$tests/fixtures/recordings/guest-6.12.zmem

# filter NAME FILE ARG…: writes its output for the document to $TMP/made.
filter() {
	local name=$1 file=$2 flags=-rf
	shift 2
	case $name in
	ecs) flags=-cf ;;
	growth) flags=-nrf ;;
	esac
	jq "$flags" "$examples/$name.jq" "$file" "$@" >"$TMP/made" 2>"$TMP/err"
}

# as_golden NAME LABEL FILE ARG…
as_golden() {
	local name=$1 label=$2
	if ! filter "$name" "${@:3}"; then
		not_ok "$name, $label" "$(cat "$TMP/err")"
	elif [ -n "${UPDATE_GOLDEN:-}" ]; then
		cp "$TMP/made" "$golden/example_${name}_$label.txt"
	else
		check "$name, $label: the golden output" cmp "$TMP/made" "$golden/example_${name}_$label.txt"
	fi
}

# ---- documents that do not change ----

for label in ordinary hostile bare groups; do
	for name in top-swap ecs influx; do
		as_golden "$name" "$label" "$golden/snapshot_$label.json"
		case $name in
		top-swap) expect_printable "$name, $label: printable" "$TMP/made" ;;
		*) check "$name, $label: the values of the document" "$PYTHON" -B "$SUPPORT/check_examples.py" \
			"$name" "$golden/snapshot_$label.json" "$TMP/made" ;;
		esac
	done
done
jq '.processes |= (map(.pss_swap_bytes |= if . then . / 4 else . end) | .[1:])' \
	"$golden/snapshot_ordinary.json" >"$TMP/before"
as_golden growth ordinary "$TMP/before" "$golden/snapshot_ordinary.json"
as_golden growth one "$TMP/before" "$golden/snapshot_ordinary.json" --argjson n 1
jq '.groups |= (map(.pss_swap_bytes |= if . then . / 4 else . end) | .[1:])' \
	"$golden/snapshot_groups.json" >"$TMP/before"
as_golden growth groups "$TMP/before" "$golden/snapshot_groups.json"

# ---- a recording, and this machine ----

# by_the_rules NAME ARG…
by_the_rules() {
	local label=$1 name
	shift
	zmem -q -J "$@"
	expect_rc "$label: exit code" 0
	cp "$TMP/out" "$TMP/document"
	for name in influx ecs; do
		check "$label: $name runs" filter "$name" "$TMP/document"
		check "$label: $name has the values of the document" "$PYTHON" -B "$SUPPORT/check_examples.py" \
			"$name" "$TMP/document" "$TMP/made"
	done
	check "$label: top-swap runs" filter top-swap "$TMP/document" --argjson n 3
	expect_printable "$label: top-swap is printable" "$TMP/made"
	[ "$(wc -l <"$TMP/made")" -le 6 ] || not_ok "$label: top-swap" 'more lines than requested'
}
by_the_rules 'a guest' --replay "$guest"
equal 'a guest: the largest swap first' "$(awk 'NR == 2 { print $1 }' "$TMP/made")" \
	"$(jq '[.processes[].swap_pss_bytes] | max / 1024' "$TMP/document")"
by_the_rules 'a guest by name' --replay "$guest" -g name
edited=$TMP/edited
check 'edited' "$EDIT" edit "$guest" "$edited" pss=none
by_the_rules 'a guest without PSS' --replay "$edited"
check 'without PSS: swap_pss is -' grep -q '^ *-  ' "$TMP/made"
by_the_rules 'this machine'
cp "$TMP/document" "$TMP/before"
by_the_rules 'this machine by cgroup' -g cgroup
zmem -q -J
cp "$TMP/out" "$TMP/after"
check 'this machine: growth runs' filter growth "$TMP/before" "$TMP/after"
expect_printable 'this machine: growth is printable' "$TMP/made"
# A Hangul filler is an invisible letter.
jq '(.processes[] | .name, .pss_swap_bytes) |= if type == "string" then "a\u3164b" else 1e15 end' "$TMP/after" >"$TMP/hostile"
for name in growth top-swap; do
	case $name in growth) set -- "$TMP/before" ;; *) set -- ;; esac
	check "invisible characters: $name runs" filter $name "${1:-$TMP/hostile}" ${1:+"$TMP/hostile"}
	check "invisible characters: $name has its row" grep -q 'a.*b' "$TMP/made"
	expect_printable "invisible characters: $name is printable" "$TMP/made"
done
edited=$TMP/edited
check 'edited' "$EDIT" edit "$guest" "$edited" 'host=a b,c=d\' $'user=a;b,"c" = \x1b]0;t\x07 1 2\n\\'
by_the_rules 'hostile words' --replay "$edited"
