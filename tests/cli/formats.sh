#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# --format: each renderer is reached with the options that it takes, and all have the values of JSON. The
# golden files have their exact texts; tests/metrics reads the metrics, tests/browser the page.
. "$(dirname "$0")/../support/cli.sh"

guest=$(realpath "$(dirname "$0")/..")/fixtures/recordings/guest-6.12.zmem
edited=$TMP/edited

# as FORMAT FILE ARG…: writes the output to FILE; nothing may be on stderr.
as() {
	local format=$1 file=$2
	shift 2
	zmem -q -F "$format" "$@"
	cp "$TMP/out" "$file"
	[ "$rc" = 0 ] || not_ok "-F $format $*" "exit code $rc; stderr: $err"
	[ ! -s "$TMP/err" ] || not_ok "-F $format $*" "says: $err"
}

# same_as_json NAME ARG…
same_as_json() {
	local name=$1 format
	shift
	mkdir -p "$TMP/same"
	for format in json csv ndjson folded html; do
		as "$format" "$TMP/same/$format" "$@"
	done
	check "$name: csv, ndjson, folded and html are what JSON is" "$PYTHON" -B "$SUPPORT/check_formats.py" "$TMP/same"
}

same_as_json 'a guest, -n 1 -s swap_pss' --replay "$guest" -n 1 -s swap_pss
check 'a guest: every kind of memory, a shared address space' jq -e 'any(.processes[]; .mm_owner) and (.totals |
	[.pss_anon_bytes, .pss_file_bytes, .pss_shmem_bytes, .swap_pss_bytes] | all(. > 0))' "$TMP/same/json"
same_as_json 'no row' --replay "$guest" -f no-such-name
check 'edited' "$EDIT" edit "$guest" "$edited" pss=half
same_as_json 'a guest, PSS of half, -n 5' --replay "$edited" -n 5
check 'edited' "$EDIT" edit "$guest" "$edited" $'host=</title><script>\x1b[31m\xff\nx' \
	$'user=a;b,"c"</script><img src=x onerror=y>\x1b]0;t\x07 1 2\n'
same_as_json 'hostile words' --replay "$edited"
mkmem_begin anon shmem fork || not_ok mkmem 'did not start'
run_expect 0 'recorded' "$ZMEM" -q record "$TMP/recording"
same_as_json 'this machine' --replay "$TMP/recording" -a

# ---- options ----

as csv "$TMP/csv" --replay "$guest" --total -o pid,pss,name,swap -H
as json "$TMP/json" --replay "$guest" --total
equal 'csv --total -o -H: the sums of these columns alone' "$(cat "$TMP/csv")" \
	"$(jq -r '.totals | "\(.pss_bytes),\(.swap_bytes),\(.processes),\(.pss_missing_processes)"' "$TMP/json")"
as csv "$TMP/more" --replay "$guest" -o +cmdline -p 1
as csv "$TMP/csv" --replay "$guest" -p 1 -w --color always -b
equal 'csv -o +COL: behind all other columns; options of tables change nothing' "$(head -n 1 "$TMP/more")" \
	"$(head -n 1 "$TMP/csv"),cmdline"
refuse_out 'csv: command lines are only there if asked for' cmdline
as csv "$TMP/csv" --replay "$edited" --numeric -o user -H -p 1
equal 'csv --numeric' "$(cat "$TMP/csv")" 0
as folded "$TMP/folded" --replay "$edited" --numeric
check 'folded --numeric' grep -q '^0;' "$TMP/folded"
check 'edited' "$EDIT" edit "$guest" "$edited" pss=none
warns 'folded without PSS: the reason' 'folded: no anon, file and shmem of [0-9]+ process(es)? in it: skipped' --replay "$edited" -F folded
zmem --replay "$guest" -F folded
refuse_err 'folded with PSS: nothing to say of it' 'no anon'

# data JQ: applies a filter to the data of the page.
data() {
	sed -n '/id="data">/,/<\/script>/p' "$TMP/page" | sed '1s/.*id="data">//; $s/<\/script>//' | jq -rc "$1"
}
as html "$TMP/page" --replay "$guest" -o pid,rss,cmdline
equal 'html -o: the columns' "$(data .shown)" '["pid","rss","cmdline"]'
as html "$TMP/page" --replay "$guest" -g user
equal 'html -g: the processes, and the initial grouping' "$(data '[.group, .rows]')" "[\"user\",$(
	zmem --replay "$guest" -J && jq '.processes | length' "$TMP/out")]"
as html "$TMP/page" --replay "$guest" --total --numeric
equal 'html --total: the sums alone' "$(data '[.rows, .others == .totals]')" '[0,true]'

# ---- the destination ----

for format in csv html; do
	as $format "$TMP/first" --replay "$guest"
	zmem --replay "$guest" -F $format --output "$TMP/file"
	check "$format --output: the same bytes" cmp "$TMP/first" "$TMP/file"
done
as csv "$TMP/csv" --replay "$guest"
run env TERM=xterm "$PYTHON" -B "$SUPPORT/pty_run.py" 10 40 "$TMP/terminal" \
	timeout -s KILL "$PATIENCE" "$ZMEM" --replay "$guest" -F csv
check 'csv on a small terminal: all rows and columns' cmp "$TMP/csv" "$TMP/terminal"

# ---- metrics ----

# labels: the groups of the last run, a line each.
labels() {
	sed -n 's/^zmem_group_processes{group="\(.*\)"} .*/\1/p' "$TMP/out"
}
as openmetrics "$TMP/default" --replay "$guest"
zmem --replay "$guest" -F openmetrics -g name
check 'openmetrics: the default is -g name' cmp "$TMP/default" "$TMP/out"
zmem --replay "$guest" -F openmetrics -f '^no-such-name'
equal 'openmetrics: no match' "$rc $(labels | wc -l) $(tail -n 1 "$TMP/out")" '0 0 # EOF'
zmem --replay "$guest" -F prometheus -g user --numeric --output "$TMP/zmem.prom"
cp "$TMP/zmem.prom" "$TMP/out"
equal 'prometheus --output, --numeric: users by number' "$(labels)" 0
zmem --replay "$guest" -F prometheus -n 2 -s swap
equal 'prometheus -n 2 -s swap: two groups and other' "$(labels | sed -n '1p;3p' | paste -sd ' ')" 'mkmem other'
# unit/test_report_metrics.c has how many groups there are.

# ---- refused; cli/options.sh has the formats that a command does not take ----

refused 'openmetrics -g cmdline' 2 'command lines' -F openmetrics -g cmdline
refused 'prometheus -n 1001' 2 'at most 1000' -F prometheus -n 1001
refused 'prometheus --total' 2 '--total' -F prometheus --total
for format in json html prometheus; do
	refused "--tree as $format" 2 '--tree cannot be combined with --format' --tree -F $format
done
