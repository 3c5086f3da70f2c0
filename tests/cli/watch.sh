#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# watch: ticks, deltas, signals, full disks, recordings.
. "$(dirname "$0")/../support/cli.sh"

VALID=("$PYTHON" -B "$SUPPORT/validate_json.py" --many)
ticks() { # FILE: how many snapshots
	jq -s 'map(select(.type == "snapshot")) | length' "$1"
}
helper fleet
mkfifo "$TMP/fleet.in"
"$TMP/fleet" 20 8 <"$TMP/fleet.in" >"$TMP/fleet.out" 9>&- &
fleet=$!
exec 8>"$TMP/fleet.in"
wait_until grep -q READY "$TMP/fleet.out" || not_ok fleet 'did not start'
still=$(pgrep -P "$fleet" | paste -sd,)

# A process that allocates more memory at each line of input.
cat >"$TMP/grower.py" <<'EOF'
import sys
kept = []
print("READY", flush=True)
for line in sys.stdin:
    kept.append(b"x" * int(line))
    print(len(kept), flush=True)
EOF
mkfifo "$TMP/grow.in"
"$PYTHON" -S "$TMP/grower.py" <"$TMP/grow.in" >"$TMP/grow.out" 8>&- 9>&- &
grower=$!
exec 7>"$TMP/grow.in"
wait_until grep -q READY "$TMP/grow.out" || not_ok grower 'did not start'
grow() { # BYTES
	local before
	before=$(wc -l <"$TMP/grow.out")
	echo "$1" >&7
	wait_until eval '[ "$(wc -l <"$TMP/grow.out")" -gt "$before" ]'
}

# Without BPF, a line on stderr says that counters come from /proc.
have counters
notes=$?

# ---- number and interval of ticks ----
works 'three ticks: exit code' watch -c 3 -i 0.1 -p "$still"
expect_stderr_lines 'three ticks: silent on stderr' "$notes"
equal 'three ticks: three tables' "$(grep -ac '^ *PID ' "$TMP/out")" 3
equal 'three ticks: three totals' "$(grep -ac '^20 processes hold' "$TMP/out")" 3
equal 'three ticks: two have deltas' "$(grep -ac 'changes per second since' "$TMP/out")" 2
equal 'three ticks: two show their cost' "$(grep -acE 'ms of CPU a snapshot and [0-9.]+ MiB' "$TMP/out")" 2
expect_printable 'three ticks: printable' "$TMP/out"
zmem watch -c 3 -i 0.1 -F ndjson -p "$still"
check 'ndjson: fits the schema' "${VALID[@]}" "$TMP/out"
equal 'ndjson: a row for each process in each tick' "$(jq -s 'map(select(.type == "process")) | length' "$TMP/out")" 60
equal 'ndjson: ticks are numbered' "$(jq -cs 'map(.watch.tick | numbers)' "$TMP/out")" '[1,2,3]'
check 'ndjson: the first has no deltas' jq -es 'map(select(.watch))[0].watch |
	.since_ms == null and .started == null and .pss_change_bytes == null and .own_cpu_us == null' "$TMP/out"
check 'ndjson: the second counts from the first' jq -es 'map(select(.watch)) |
	.[1].watch.since_ms == .[0].timestamp_ms and .[1].watch.own_cpu_us > 0 and
	.[1].watch.own_resident_bytes > 0' "$TMP/out"
check 'ndjson: an idle process does not change' jq -es 'map(select(.type == "process"))[20:] |
	all(.rss_change_bytes == 0 and .swap_change_bytes == 0 and .uss_change_bytes == 0)' "$TMP/out"
check 'ndjson: no process started or ended' jq -es 'map(select(.watch))[1:] |
	all(.watch.started == 0 and .watch.ended == 0)' "$TMP/out"
# Over more than a second: pid and start time identify a process in all ticks.
zmem watch -c 12 -i 0.1 -F ndjson -p "$still" --pss none
equal 'ndjson: a process has the same start time in all ticks' \
	"$(jq -cs 'map(select(.pid) | [.pid, .start_time_ms]) | unique | length' "$TMP/out")" 20
zmem watch -c 3 -i 0.1 -F ndjson -p "$still" --changed --source proc --pss none
check '--changed: fits the schema' "${VALID[@]}" "$TMP/out"
equal '--changed: all rows in the first tick, none later' \
	"$(jq -s 'map(select(.type == "process")) | length' "$TMP/out")" 20
equal '--changed: counts the unchanged rows' \
	"$(jq -cs 'map(.watch.rows_not_written | numbers)' "$TMP/out")" '[0,20,20]'
zmem watch -c 2 -i 0.1 -p "$still" --changed --source proc --pss none
equal '--changed: the table has a line for the others' "$(grep -ac ' 20 more$' "$TMP/out")" 1

# ---- deltas ----
start_watch() { # ARG…: in the background, to $TMP/watch
	: >"$TMP/watch"
	"$PYTHON" -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$ZMEM" watch "$@" >"$TMP/watch" 2>"$TMP/watch.err" 7>&- 8>&- 9>&- &
	watch=$!
}
lines_of() { # PATTERN: so many lines of the output have it
	grep -ac "$1" "$TMP/watch"
}
ended() { # NAME SIGNAL
	kill -s "$2" "$watch"
	wait_until eval '! kill -0 "$watch" 2>/dev/null'
	kill -KILL "$watch" 2>/dev/null && not_ok "$1" 'it does not end'
	wait "$watch"
	rc=$? err=$(cat "$TMP/watch.err")
	expect_rc "$1: exit code" 0
}
more_ticks() { # so many are over that what comes later is in a later one
	local n
	n=$(lines_of '"type":"snapshot"')
	wait_until eval '[ "$(lines_of "\"type\":\"snapshot\"")" -gt $((n + 1)) ]'
}
start_watch -i 0.1 -F ndjson -p "$grower,$still" --delta last
more_ticks
grow 20000000
more_ticks
ended 'growth' TERM
check 'growth: fits the schema' "${VALID[@]}" "$TMP/watch"
check 'growth: the complete delta' jq -es --argjson pid "$grower" \
	'map(select(.pid == $pid) | .rss_change_bytes | numbers) | add >= 20000000 and add < 21000000' "$TMP/watch"
check 'growth: the delta of the total' jq -es \
	'map(select(.watch) | .watch.rss_change_bytes | numbers) | add >= 20000000' "$TMP/watch"
start_watch -i 0.1 -F ndjson -p "$grower" --delta start
more_ticks
grow 20000000
more_ticks
grow 10000000
more_ticks
ended '--delta start' INT
check '--delta start: relative to the first snapshot' jq -es '(map(select(.watch)) | .[0].timestamp_ms as $first |
	.[1:] | all(.watch.since_ms == $first and .watch.delta == "start"))' "$TMP/watch"
check '--delta start: deltas add up' jq -es 'map(select(.pid) | .rss_change_bytes)[-1] >= 30000000' "$TMP/watch"
grew_in_some() {
	jq -es --argjson pid "$grower" 'map(select(.pid == $pid))[-1] |
		.grew_ticks >= 1 and .grew_ticks < .compared_ticks' "$TMP/watch"
}
start_watch -i 0.1 -F ndjson -p "$grower,$still" --grow
more_ticks
grow 30000000
more_ticks
wait_until grew_in_some >/dev/null 2>&1
ended '--grow' TERM
check '--grow: no rows at first' jq -es '.[0].type == "snapshot"' "$TMP/watch"
# Its share of the interpreter's pages, some MB, may fall meanwhile.
check '--grow: at the end the process that grew, first' jq -es --argjson pid "$grower" \
	'(map(select(.watch))[-1].timestamp_ms) as $t | map(select(.timestamp_ms == $t))[0] |
	.pid == $pid and .pss_swap_change_bytes >= 24000000' "$TMP/watch"
# The floor, and the number of snapshots in which a row grew.
check '--grow: only growth of 1 MiB, or in most snapshots' jq -es 'map(select(.pid)) | length > 0 and
	all(.grown_bytes >= 1048576 or 2 * .grew_ticks > .compared_ticks)' "$TMP/watch"
check '--grow: it grew in some snapshots' grew_in_some
# grow without a target shows one table, the last one, and names the next command: the process with a growth that goes on, not
# one that grew more at once, nor one that has just begun. Other processes may grow, too: it sees its own alone.
if need mount 'grow without a target'; then
	cat >"$TMP/grows" <<-'EOF'
		python3 -c 'import time; a = []
		while True: a.append(bytearray(1000000)); time.sleep(0.2)' &
		echo "leak=$!"
		sleep 1 # time itself: it has begun before the first snapshot
		"$1" grow -i 0.5 >"$2/watch" 2>"$2/err" &
		watch=$!
		sleep 3 # time itself: after some snapshots
		python3 -c 'import time; a = bytearray(400000000); time.sleep(1000)' & # a process: it is there
		echo "fresh=$!"
		wait "$watch"
		echo "code=$?"
		kill %1 %3
	EOF
	unshare --pid --fork --mount-proc bash "$TMP/grows" "$ZMEM" "$TMP" >"$TMP/said"
	# shellcheck disable=SC1091
	. "$TMP/said"
	equal 'grow: the exit code' "$code" 0
	equal 'grow: it says how long it takes' "$(cat "$TMP/err")" 'zmem-bpf: grow: looks at all processes for 10.5 s'
	equal 'grow: one table' "$(grep -c '^ *PID ' "$TMP/watch")" 1
	check 'grow: what grows, in an hour' grep -qE "^ *$leak .* \+1[0-9.]+ GiB +[1-9][0-9]*/2[0-9] " "$TMP/watch"
	check 'grow: a process that has just begun has no growth in an hour' grep -qE "^ *$fresh .* - +[0-9]+/[0-9]+ " "$TMP/watch"
	equal 'grow: at the end the next command' "$(grep -n '^next: ' "$TMP/watch")" \
		"$(wc -l <"$TMP/watch"):next: zmem-bpf grow $leak"
fi
"$ZMEM" grow -i 0.1 >"$TMP/watch" 2>"$TMP/err" &
watch=$!
wait_until grep -q looks "$TMP/err"
more_cpu() { [ "$(cut -d ' ' -f 14 "/proc/$watch/stat")" -ge 10 ]; }
wait_until more_cpu
kill -TERM "$watch"
wait "$watch"
equal 'grow: ended by a signal: the exit code' "$?" 0
equal 'grow: ended by a signal: the table so far' "$(grep -c ' total$' "$TMP/watch")" 1
zmem grow -q -i 0.1 -c 1
expect_out 'grow: one snapshot has no growth' '^growth is shown from the second snapshot on'
refuse_out 'grow: nothing grew: no next command' '^next: '
for format in json folded html pprof; do
	refused "grow -F $format" 2 "grow: --format $format needs a PID, --name" grow -F $format
done
for option in --follow --debuginfod '--stack fp' '--sample 2' --malloc --paths '--sort still' --reverse; do
	# shellcheck disable=SC2086
	refused "grow $option" 2 "grow: ${option%% *} needs a PID, --name" grow $option
done
if need users 'growth without PSS'; then
	# Growth needs no PSS.
	as_nobody "$ZMEM" -q watch --grow -i 0.2 -c 15 -F ndjson -p "$grower" >"$TMP/denied" &
	denied=$!
	wait_until grep -q '"type":"snapshot"' "$TMP/denied"
	grow 30000000
	wait "$denied"
	check '--grow: a process with a PSS that is denied' jq -es --argjson pid "$grower" 'map(select(.pid == $pid))[-1] |
		.pss_status == "denied" and .rss_change_bytes >= 30000000 and .grew_ticks > 0' "$TMP/denied"
fi
# Our own process grows at the first snapshots: it is left out, as a process and in its group.
start_watch --grow --min 0 -i 0.1 -F ndjson
more_ticks
more_ticks
ended '--grow: of all' TERM
check '--grow: not our own process' jq -es --argjson pid "$watch" 'map(select(.pid == $pid)) == []' "$TMP/watch"
check '--grow: our own process is filtered' jq -es 'map(select(.watch)) | all(.collection.filtered == 1)' "$TMP/watch"
"$ZMEM" record "$TMP/grow.zmem" -c 3 -i 0.1 &
recorder=$!
wait "$recorder"
zmem watch --replay "$TMP/grow.zmem" --grow --min 0 -F ndjson
check '--grow: not the process that recorded' jq -es --argjson pid "$recorder" 'map(select(.pid == $pid)) == []' "$TMP/out"
zmem watch --replay "$TMP/grow.zmem" -F ndjson
check 'without --grow: the process that recorded' jq -es --argjson pid "$recorder" 'any(.[]; .pid == $pid)' "$TMP/out"
if need users 'a process that starts and one that ends'; then
	# A process that starts and one that ends.
	start_watch -i 0.1 -F ndjson -u 4242 --pss none
	more_ticks
	# It is first seen when it is what it stays: before, it is another program of another user.
	kill -STOP "$watch"
	setpriv --reuid=4242 --regid=4242 --clear-groups sleep 100 &
	sleeper=$!
	wait_until grep -qs '^sleep$' "/proc/$sleeper/comm"
	kill -CONT "$watch"
	more_ticks
	kill "$sleeper"
	wait "$sleeper" 2>/dev/null
	more_ticks
	ended 'start and end' TERM
	check 'start: the delta is the value' jq -es 'map(select(.pid))[0] | .rss_change_bytes == .rss_bytes' "$TMP/watch"
	equal 'start and end: each counted once' "$(jq -cs 'map(select(.watch).watch) |
		[(map(.started | numbers) | add), (map(.ended | numbers) | add)]' "$TMP/watch")" '[1,1]'
	check 'end: the total shrinks by its value' jq -es '(map(select(.pid))[-1].rss_bytes) as $had |
		map(select(.watch) | .watch.rss_change_bytes | numbers) | min == -$had' "$TMP/watch"
fi
zmem watch -c 2 -i 0.1 -p "$still,4194303"
expect_rc 'a pid that does not exist' 3
expect_stderr_lines 'a pid that does not exist: told once' $((1 + notes))

# ---- signals ----
for signal in INT TERM HUP; do
	start_watch -F ndjson -i 1000 -p "$still"
	wait_until grep -q '"type":"snapshot"' "$TMP/watch"
	ended "SIG$signal while it waits" "$signal"
	check "SIG$signal: complete" "${VALID[@]}" "$TMP/watch"
done
for delay in 0 0.005 0.01 0.02 0.05 0.1; do
	start_watch -F ndjson -i 0.1
	wait_until eval '[ "$(readlink /proc/'$watch'/exe)" = "$ZMEM" ]'
	# Before watch blocks its signals, a signal ends it like any program.
	wait_until grep -qE '^SigBlk:.*[4567cdef]...$' "/proc/$watch/status"
	sleep "$delay" # time itself: any moment, 0.1 s at most
	ended "SIGTERM after $delay s" TERM
	check "SIGTERM after $delay s: complete and not empty" "${VALID[@]}" "$TMP/watch"
done
# A signal ends watch even if its reader does not read (a pager).
mkfifo "$TMP/pager"
exec 6<>"$TMP/pager"
"$ZMEM" watch -F ndjson -i 0.1 >"$TMP/pager" 2>"$TMP/watch.err" 6>&- 7>&- 8>&- 9>&- &
watch=$!
full() { # the pipe has all that it can hold, but for a page or two
	"$PYTHON" -c 'import fcntl; exit(int.from_bytes(fcntl.ioctl(6, 0x541B, bytes(4)), "little") < 57344)' # FIONREAD
}
check 'a pipe without a reader is full' wait_until full
ended 'SIGTERM without a reading reader' TERM
exec 6>&-
rm "$TMP/pager"

# ---- output ----
rc=$(timeout -s KILL "$PATIENCE" bash -c '"$0" watch -i 0.1 2>"$1" | head -n 1 >/dev/null; echo "${PIPESTATUS[0]}"' \
	"$ZMEM" "$TMP/err")
equal 'the reader ends: no message, exit code 0' "$rc $(wc -l <"$TMP/err")" "0 $notes"
rc=$(timeout -s KILL "$PATIENCE" bash -c '"$0" watch -i 0.1 >&- 2>"$1"; echo "$?"' "$ZMEM" "$TMP/err")
equal 'no stdout: no message, exit code 0' "$rc $(wc -l <"$TMP/err")" "0 $notes"
run timeout -s KILL "$PATIENCE" bash -c 'exec "$0" watch -c 3 -i 0.1 -p "$1" >/dev/full' "$ZMEM" "$still"
expect_rc 'a full device: exit code' 1
expect_stderr_lines 'a full device: one message' $((1 + notes))
echo '{"before":1}' >"$TMP/log"
works '--output: exit code' watch -c 2 -i 0.1 -F ndjson -p "$still" --output "$TMP/log"
equal '--output: appends' "$(head -n 1 "$TMP/log") $(wc -l <"$TMP/log")" '{"before":1} 43'
# The reader opens the FIFO late: starting takes as long as five ticks.
mkfifo "$TMP/late"
(sleep 0.5; exec cat "$TMP/late") >"$TMP/log" 7>&- 8>&- 9>&- & # time itself: as long as five ticks
late=$!
zmem watch -c 1 -i 0.1 -F ndjson -p "$still" --output "$TMP/late"
wait "$late"
equal 'a slow start: no tick was missed' "$(jq -s 'map(select(.watch).watch.ticks_missed) | add' "$TMP/log")" 0
refused '--output: no such directory' 1 'opening .*No such file' watch -q -c 1 --output "$TMP/none/log"
if need mount 'a disk that fills'; then
	mkdir "$TMP/disk"
	# shellcheck disable=SC2016
	run env TMP="$TMP" ZMEM="$ZMEM" timeout -s KILL "$PATIENCE" unshare -m bash -c \
		'mount -t tmpfs -o size=64k tmpfs "$TMP/disk" || exit
		"$ZMEM" watch -i 0.1 -F ndjson -p "$0" --output "$TMP/disk/log"
		rc=$?; cp "$TMP/disk/log" "$TMP/full"; exit $rc' "$still"
	expect_rc 'a disk that fills: exit code' 1
	expect_err 'a disk that fills: the message' 'writing .*/disk/log: No space left'
	check 'a disk that fills: only complete ticks' "${VALID[@]}" "$TMP/full"
fi

# ---- terminals ----
term() { # ROWS COLUMNS COMMAND…
	timeout -s KILL "$PATIENCE" env TERM=xterm "$PYTHON" "$SUPPORT/pty_run.py" "$1" "$2" "$TMP/out" \
		"${@:3}" >"$TMP/lines" 2>"$TMP/err" </dev/null
	rc=$?
}
lengths() { # the widest line between the first and the second header, behind the second
	awk '/ PID /{n++} n && !/ total$|changes|^[0-9]+ process|^PSS|^no room|^swap|^$/ { l = length($0); if (l > w[n]) w[n] = l }
		END { print w[1], w[2] }' <(sed 's/\x1b\[[0-9;]*m//g; s/…/./g; s/\r//' "$TMP/out")
}
term 24 80 "$ZMEM" watch -c 2 -i 0.1
expect_rc 'terminal: exit code' 0
rows=$(grep -acE '^ *[0-9]+ ' "$TMP/out")
check 'terminal: rows that fit, in each tick' test "$rows" -gt 2 -a "$rows" -lt 44
check 'terminal: the other rows are counted' test "$(grep -ac ' more' "$TMP/out")" = 2
PTY_RESIZE='' term 24 60 "$ZMEM" watch -c 1
equal 'terminal: a narrow one has fewer columns' "$(grep -ac '^no room for .*+RSS' "$TMP/out")" 1
PTY_RESIZE='50 160' term 24 40 "$ZMEM" watch -c 3 -i 0.5
read -r first second < <(lengths)
check 'SIGWINCH: narrow at first' test "$first" -le 40
check 'SIGWINCH: wide from the next tick' test "$second" -gt 60
equal 'SIGWINCH: columns come back' "$(grep -ac 'PID .*+RSS' "$TMP/out")" 2

# ---- processes that do not exist, or end ----
PATIENCE=20 zmem watch 4194303
equal 'a pid that does not exist: watch ends at once' "$rc $out" '3 '
expect_stderr_lines 'a pid that does not exist: one line' $((1 + notes))
PATIENCE=20 zmem watch -F ndjson 4194303
equal 'a pid that does not exist, NDJSON: nothing is written' "$rc $out" '3 '
# ending ARGUMENT…: ends a process that is watched after the first snapshot.
ending() {
	sleep 1000 &
	local victim=$! watch
	: >"$TMP/out" # the output of the watch before
	timeout -s KILL "$PATIENCE" "$ZMEM" watch -i 0.2 -p "$victim" "$@" >"$TMP/out" 2>"$TMP/err" &
	watch=$!
	wait_until grep -q ' total$' "$TMP/out"
	kill "$victim"
	wait "$victim" 2>/dev/null
	wait "$watch"
	rc=$?
}
ending
expect_rc 'the processes have ended: exit code' 0
expect_err 'the processes have ended: a note' '^zmem-bpf: watch: no process of --pid is left after snapshot [0-9]+$'
ending -p "$$" -c 6
equal 'one of two has ended: watch goes on' "$rc $(grep -ac ' total$' "$TMP/out")" '0 6'

# ---- recordings ----
zmem record -c 4 -i 0.2 "$TMP/recording" -q
works 'replay: exit code' watch --replay "$TMP/recording" -F ndjson
check 'replay: fits the schema' "${VALID[@]}" "$TMP/out"
equal 'replay: every frame' "$(ticks "$TMP/out")" 4
check 'replay: the recorded times' jq -es 'map(select(.watch).timestamp_ms) | .[3] - .[0] | . >= 500 and . < 60000' "$TMP/out"
cp "$TMP/out" "$TMP/first"
zmem watch --replay "$TMP/recording" -F ndjson
check 'replay: the same twice' cmp "$TMP/first" "$TMP/out"
zmem watch --replay "$TMP/recording" -c 2
refuse_out 'replay: its cost is not shown' 'ms of CPU'
equal 'replay: the number of frames' "$(grep -ac ' total$' "$TMP/out")" 2
zmem record -c 1 "$TMP/one" -q
zmem watch --grow --replay "$TMP/one"
equal 'replay: one snapshot shows no growth' "$rc $err" "0 zmem-bpf: $TMP/one: growth takes two snapshots, and it has one"
zmem watch --replay "$TMP/recording" -u no-such-user
expect_rc 'replay: no such user' 3

# ---- refusals; cli/options.sh has the formats and options that watch does not take ----

refused '--grow --delta last' 2 'since the start' watch --grow --delta last
refused '-o grew without changes' 2 'no changes to show' -o +grew
refused '--grow without PSS' 2 '--grow cannot be combined with --pss none' watch --grow --pss none
refused '--total --changed' 2 '--total cannot be combined with --changed' watch --total --changed
exec 7>&- 8>&-
wait "$grower" "$fleet"
