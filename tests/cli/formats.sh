#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# -F csv, ndjson and folded have the values of JSON.
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

# says NAME FORMAT JSON FILE
says() {
	check "$1" "$PYTHON" -B "$SUPPORT/check_formats.py" "$2" "$3" "$4"
}

# ---- the same values as JSON, of one recording ----

# same_as_json NAME ARG…
same_as_json() {
	local name=$1 format
	shift
	as json "$TMP/json" "$@"
	for format in csv ndjson folded; do
		as "$format" "$TMP/$format" "$@"
		says "$name: $format is what JSON is" "$format" "$TMP/json" "$TMP/$format"
		[ ! -s "$TMP/$format" ] || expect_printable "$name: $format is printable" "$TMP/$format"
	done
	check "$name: ndjson fits its schema" "$PYTHON" -B "$SUPPORT/validate_json.py" --lines "$TMP/ndjson"
}

for options in '-a' '-n 5' '-n 1 -s swap_pss' '-r -s pid' '-f mkmem' '-u 0' '-p 1' '-f no-such-name' \
	'-s user' '--min 1M'; do
	# shellcheck disable=SC2086
	same_as_json "a guest $options" --replay "$guest" $options
done
for some in none half; do
	check 'edited' "$EDIT" edit "$guest" "$edited" "pss=$some"
	same_as_json "a guest, PSS of $some" --replay "$edited"
	same_as_json "a guest, PSS of $some, -n 5" --replay "$edited" -n 5
done
as json "$TMP/json" --replay "$guest"
check 'a guest: every kind of memory is present' jq -e '.totals |
	[.pss_anon_bytes, .pss_file_bytes, .pss_shmem_bytes, .swap_pss_bytes] | all(. > 0)' "$TMP/json"
check 'a guest: some processes share an address space' jq -e \
	'any(.processes[]; .mm_owner | not)' "$TMP/json"

# ---- only the total ----

as json "$TMP/json" --replay "$guest" --total
as csv "$TMP/csv" --replay "$guest" --total
says '--total: csv has the sums' csv-total "$TMP/json" "$TMP/csv"
as csv "$TMP/csv" --replay "$guest" --total -o pid,pss,name,swap -H
equal '--total: csv has the requested columns' "$(cat "$TMP/csv")" \
	"$(jq -r '.totals | "\(.pss_bytes),\(.swap_bytes),\(.processes),\(.pss_missing_processes)"' "$TMP/json")"
as ndjson "$TMP/ndjson" --replay "$guest" --total
says '--total: ndjson has the snapshot' ndjson "$TMP/json" "$TMP/ndjson"
equal '--total: ndjson is one line' "$(wc -l <"$TMP/ndjson")" 1
as folded "$TMP/folded" --replay "$guest" --total
says '--total: folded has the sums' folded "$TMP/json" "$TMP/folded"
equal '--total: folded has a line a kind' "$(wc -l <"$TMP/folded")" 4

# ---- columns ----

as csv "$TMP/csv" --replay "$guest" -o PID,name,Start,rss,%pss -p 1
equal '-o: the named columns, in order, with units' "$(head -n 1 "$TMP/csv")" pid,name,start_time_ms,rss_bytes,%pss
as csv "$TMP/more" --replay "$guest" -o +cmdline -p 1
as csv "$TMP/csv" --replay "$guest" -p 1
equal '-o +COL: behind all other columns' "$(head -n 1 "$TMP/more")" "$(head -n 1 "$TMP/csv"),cmdline"
refuse_out 'command lines are only there if asked for' cmdline
as csv "$TMP/more" --replay "$guest" -p 1 -H
equal '-H: no header' "$(cat "$TMP/more")" "$(tail -n +2 "$TMP/csv")"
as csv "$TMP/more" --replay "$guest" -p 1 -w --color always -b
check 'options for tables do not change csv' cmp "$TMP/csv" "$TMP/more"
as ndjson "$TMP/ndjson" --replay "$guest" -o +cmdline -p 1
check 'ndjson has command lines on request' jq -es '.[0].cmdline | strings' "$TMP/ndjson"

# ---- hostile texts ----

check 'edited' "$EDIT" edit "$guest" "$edited" $'host=\x1b[31m\xff\nx' \
	$'user=a;b,"c"\x1b]0;t\x07 1 2\n'
same_as_json 'hostile words' --replay "$edited"
check 'hostile texts: csv has its user' grep -qF ',"a;b,""c""' "$TMP/csv"
check 'hostile texts: folded has its user' grep -q '^a:b,"c"__*.*_1_2_;' "$TMP/folded"
as folded "$TMP/folded" --replay "$edited" --numeric
check 'hostile texts: users by number' grep -q '^0;' "$TMP/folded"
as csv "$TMP/csv" --replay "$edited" --numeric -o user -H -p 1
equal 'hostile texts: csv, users by number' "$(cat "$TMP/csv")" 0

# ---- values missing in folded ----

check 'edited' "$EDIT" edit "$guest" "$edited" pss=none
zmem --replay "$edited" -F folded
expect_rc 'no PSS: exit code' 0
equal 'no PSS: no line' "$(grep -c ';\(anon\|file\|shmem\) ' "$TMP/out")" 0
expect_err 'no PSS: the reason' 'folded: no anon, file and shmem of [0-9]+ process(es)? in it: skipped'
zmem --replay "$edited" -F folded -q
equal 'no PSS: quiet' "$err" ''
zmem --replay "$guest" -F folded
refuse_err 'with PSS: nothing to say of it' 'no anon'

# ---- the destination ----

as csv "$TMP/csv" --replay "$guest"
zmem --replay "$guest" -F csv --output "$TMP/file"
expect_rc '--output: exit code' 0
check '--output: the same bytes' cmp "$TMP/csv" "$TMP/file"
run env TERM=xterm "$PYTHON" -B "$SUPPORT/pty_run.py" 10 40 "$TMP/terminal" \
	timeout -s KILL "$PATIENCE" "$ZMEM" --replay "$guest" -F csv
check 'a small terminal: all rows and columns' cmp "$TMP/csv" "$TMP/terminal"
for format in csv ndjson folded; do
	refused "compare refuses $format" 2 "compare: --format .*$format" compare -F "$format"
	refused "record refuses $format" 2 "record: --format .*$format" record "$TMP/none" -F "$format"
done
check 'record: nothing was written' test ! -e "$TMP/none"

# ---- this machine ----

if mkmem_begin anon shmem fork; then
	pids=$(sed -n 's/^READY [^ ]* [^ ]* //p' "$TMP/mkmem" | paste -sd,)
	as json "$TMP/json" -p "$pids"
	as folded "$TMP/folded" -p "$pids"
	as csv "$TMP/csv" -p "$pids" -o pid,user,unit,rss -s pid -H
	equal 'idle processes: csv has the values of JSON' "$(cat "$TMP/csv")" "$(jq -r '.processes |
		sort_by(.pid)[] | "\(.pid),\(.user),\(.unit // ""),\(.rss_bytes)"' "$TMP/json")"
	run_expect 0 'recorded' "$ZMEM" -q record "$TMP/recording"
	same_as_json 'this machine' --replay "$TMP/recording"
	check 'idle processes: by user and program' grep -q '^root;[^;]*;mkmem;[0-9]*;anon ' "$TMP/folded"
	as ndjson "$TMP/ndjson" -a
	check 'all processes: ndjson fits its schema' "$PYTHON" -B "$SUPPORT/validate_json.py" --lines \
		"$TMP/ndjson"
else
	not_ok mkmem 'did not start'
fi
