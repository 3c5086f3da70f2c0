#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# record and --replay on this machine: a replay prints what the recording printed; the file is protected.
. "$(dirname "$0")/../support/cli.sh"

dir=$TMP/dir
mkdir "$dir" "$TMP/mount"
rec=$dir/rec
me=$(id -un)
# Without BPF, a line on stderr says that counters come from /proc.
source=bpf notes=0
have counters || { source=proc notes=1; }

nothing_left() { # NAME DIRECTORY NAME…: the directory has these and nothing else
	local name=$1 in=$2
	shift 2
	equal "$name" "$(ls -A "$in" | paste -sd' ')" "$*"
}

# A recording of some processes numbers address spaces anew, says what it holds, and knows nothing of what other
# processes hold.
unsaid() { # OPTIONS FILE
	case $1 in -p* | *' -p'* | -u* | -f*) sed -Ei '/^"head":/d; s/"mm_id":[0-9]*,//; s/"selection":(null|"[^"]*"),//' "$2" ;; esac
}

# same_again NAME RECORD-OPTIONS REPLAY-OPTIONS: both as words.
same_again() {
	local name=$1
	# shellcheck disable=SC2086
	zmem record "$rec" --json $2
	# On a busy machine a process may differ.
	[ "$rc" = 4 ] || expect_rc "$name: recorded" 0
	cp "$TMP/out" "$TMP/then"
	unsaid "$2" "$TMP/then"
	# shellcheck disable=SC2086
	works "$name: replayed" --replay "$rec" --json $3
	cp "$TMP/out" "$TMP/now"
	unsaid "$2" "$TMP/now"
	check "$name: the same to the byte" cmp "$TMP/then" "$TMP/now"
}

# ---- the same again ----

# Idle processes: the values of others may change.
for _ in 1 2 3 4; do
	sleep 1000 &
	sleeper=$!
	idle=${idle:+$idle,}$sleeper
done
same_again 'all' '' ''
expect_json 'all: a document'
# shellcheck disable=SC2016
expect_json 'all: the usual contents' '(.processes | length) > 3 and
	.source.counters == $source and
	any(.processes[]; .pid == $pid and .name == "sleep" and .user == $me)' --argjson pid "$sleeper" --arg source $source --arg me "$me"
if need counters '--verify all'; then
	same_again '--verify all' "--verify all -p $idle" "-p $idle"
	expect_json '--verify all: the recorded comparison' '.collection.cross_check |
		.checked == 4 and .different == 0'
fi
same_again '-p' "-p $sleeper,$$" "-p $sleeper,$$"
expect_json '-p: the two' '.processes | length == 2'
same_again '-u' "-u $me" "-u $me"
same_again '-f, with command lines' "-f sleep.1000 -o +cmdline" '-f sleep.1000'
expect_json '-f: found by its command line' 'any(.processes[]; .cmdline == "sleep 1000")' # a process: its command line
if need users 'nobody'; then
	# Denied and from /proc: values that were not read are missing.
	chmod 777 "$dir"
	run_expect 0 'nobody: recorded' as_nobody "$ZMEM" -q record "$dir/nobody2" --json --source proc
	cp "$TMP/out" "$TMP/then"
	zmem -q --replay "$dir/nobody2" --json
	check 'nobody: the same to the byte' cmp "$TMP/then" "$TMP/out"
	expect_json 'nobody: others are denied, also in the replay' '.collection.denied > 0 and
		any(.processes[]; .pss_status == "denied" and .pss_bytes == null)'
	run as_nobody "$ZMEM" -q record "$dir/nobody3"
	says 'a fallback to /proc has its reason' 'counters from /proc: CAP_BPF' --replay "$dir/nobody3"
	chmod 755 "$dir"
	rm -f "$dir"/nobody*
fi

# ---- options that select and show ----

works 'record: exit code' record "$rec"
check 'record: nothing on stdout' test ! -s "$TMP/out"
expect_stderr_lines 'record: no message' "$notes"
zmem record "$rec" --verify all
zmem --replay "$rec" --json
cp "$TMP/out" "$TMP/all"
# from_all JQ: applied to the complete document.
from_all() {
	jq -c "$1" "$TMP/all"
}
zmem --replay "$rec" --json -p "$sleeper"
equal '-p of all: that process' "$(jq -c '.processes' "$TMP/out")" \
	"$(from_all "[.processes[] | select(.pid == $sleeper)]")"
# A recording contains processes without memory, too.
if grep -qsx kthreadd /proc/2/comm; then
	zmem --replay "$rec" -b -H -p 2 -o user,cgroup,name
	expect_out 'a kernel thread: its user, its name' "^ *$(stat -c %U /proc/2) +/.* kthreadd\$"
else
	skip 'a kernel thread: its user, its name' 'none can be seen here'
fi
warns '--timing: nothing was read' '^smaps_rollup reads: 0$' --replay "$rec" --timing
zmem record "$rec" --pss none
zmem --replay "$rec" --json
expect_json 'values that were not read are null' '.source.pss == "none" and
	.totals.pss_bytes == null and
	all(.processes[]; .pss_status == "skipped" and .pss_bytes == null and (.swap_pss_status == "skipped") == (.swap_pss_bytes == null))'
equal 'without PSS the first row has the largest RSS' "$(jq '.processes[0].rss_bytes' "$TMP/out")" \
	"$(jq '[.processes[].rss_bytes] | max' "$TMP/out")"

# ---- selected processes ----

zmem record "$rec" -p "$idle"
zmem --replay "$rec" --json
expect_json '-p: only these processes' '([.processes[].pid] | sort) == $pids and .collection.filtered > 0' \
	--argjson pids "[$(tr ',' '\n' <<<"$idle" | sort -n | paste -sd,)]"
zmem --replay "$rec" -u "$me" -p "$sleeper" --json
expect_json '-p: a selection of the selection' '[.processes[].pid] == [$pid]' --argjson pid "$sleeper"
zmem --replay "$rec" -p 1
expect_rc '-p: another process is not in it' 3
zmem system --replay "$rec" --json
expect_json 'system: sums of a part are not those of the machine' '.books.pss_missing_processes > 0 and
	.books.pss_missing_processes < .books.processes and .user.pss_anon_bytes == null and
	.books.anon_residual_bytes == null'

# A recording of some processes says of which, also in a replay without options.
other=$sleeper uid=$(id -u)
if have users; then
	uid=4243
	setpriv --reuid=4243 --regid=4243 --clear-groups sleep 1000 &
	other=$!
	wait_until grep -q '^Uid:.4243' "/proc/$other/status"
	wait_until grep -qx sleep "/proc/$other/comm"
fi
group=$(awk -F: '$2 == "memory" || ($1 == 0 && !path) { path = $3 } END { print path }' "/proc/$other/cgroup")
only_these() { # NAME JQ SAID RECORD-OPTION…: all recorded processes fulfil JQ, the summary of a replay says SAID
	local name=$1 jq=$2 said=$3
	shift 3
	works "$name: recorded" record "$rec" "$@"
	zmem --replay "$rec" -J
	expect_json "$name: a replay without options shows these alone" \
		"(.processes | length) > 0 and all(.processes[]; $jq)"
	for command in snapshot watch; do
		zmem $command --replay "$rec"
		check "$name: $command says so" grep -qF "; the recording holds only $said" <(tr '\n' ' ' <"$TMP/out")
	done
}
only_these '-u' ".uid == $uid" "--user $uid" -u "$uid"
only_these '--cgroup' ".cgroup == \"$group\"" "--cgroup $group" --cgroup "$group"
only_these '-u and -f' ".uid == $uid and .name == \"sleep\"" "--user $uid --filter PATTERN" -u "$uid" -f '^sleep$'
zmem record "$rec" -u "$uid"
works 'a recording of one user: system' system --replay "$rec"
[ "$other" = "$sleeper" ] || kill "$other"
zmem record "$rec"
zmem --replay "$rec"
refuse_out 'a recording of all: its summary has no selection' 'the recording holds'

# ---- on another machine ----

zmem record "$rec" --json
cp "$TMP/out" "$TMP/then"
chmod 644 "$rec"
if need users 'the user nobody replays it'; then
	run_expect 0 'the user nobody replays it' as_nobody "$ZMEM" --replay "$rec" --json
	check 'nobody: the same' cmp "$TMP/then" "$TMP/out"
fi
# Sanitizers need a /proc themselves.
if need 'plain mount' 'no /proc, no capability'; then
	run unshare -m bash -c 'mount -t tmpfs none /proc && exec setpriv --bounding-set=-all \
		--inh-caps=-all "$0" --replay "$1" --json' "$ZMEM" "$rec"
	expect_rc 'no /proc, no capability' 0
	check 'no /proc, no capability: the same' cmp "$TMP/then" "$TMP/out"
fi
run bash -c '"$0" record /dev/stdout | "$0" --replay /dev/stdin -J' "$ZMEM"
expect_json 'through a pipe' '.processes | length > 3'

# ---- secrets ----

rm -f "$rec"
bash -c 'exec -a pass-word-of-this-test sleep 1000' &
secret=$!
wait_until grep -qa pass-word "/proc/$secret/cmdline"
(umask 0 && exec "$ZMEM" record "$rec")
equal 'umask 0: mode' "$(stat -c %a "$rec")" 600
holds_secret() {
	"$EDIT" texts "$rec" | grep -qa pass-word-of-this-test
}
refused_secret() {
	! holds_secret
}
check 'no command line in it' refused_secret
zmem record "$rec" -f pass-word-of-this-test
check 'no command line in it, although a pattern read it' refused_secret
check 'the process that the pattern found is in it' grep -qx sleep <<<"$("$EDIT" texts "$rec")"
zmem record "$rec"
zmem --replay "$rec" -f pass-word-of-this-test
expect_stderr_lines 'a filter by command line there: a note: a line' 1
expect_err 'a filter by command line there: a note' 'it holds no command lines \(record -o \+cmdline\)$'
zmem record "$rec" -o +cmdline
zmem --replay "$rec" -f pass-word-of-this-test -o pid
expect_stderr_lines 'not where there are some' 0
expect_out '-o cmdline shows it' "^ *$secret$"
zmem record "$rec" -o +cmdline
check 'a command line in it, on request' holds_secret
tells 'JSON shows command lines only on request' '.processes[0] | has("cmdline") | not' --replay "$rec" --json -p "$secret"
zmem --replay "$rec" --json -p "$secret" -o +cmdline
expect_json 'JSON shows command lines on request' '.processes[0].cmdline | startswith("pass-word-of-this-test")'
kill "$secret"
echo old >"$dir/open"
chmod 666 "$dir/open"
! have users || chown 65534:65534 "$dir/open"
zmem record --output "$dir/open"
equal "over an old file: not the old mode and owner" "$(stat -c '%a %u %g' "$dir/open")" "600 $(id -u) $(id -g)"
works '--output: the same as FILE' --replay "$dir/open"
rm "$dir/open"

# ---- complete or not at all ----

echo old >"$rec"
if need mount 'disk full'; then
	# shellcheck disable=SC2016
	run env m="$TMP/mount" ZMEM="$ZMEM" unshare -m bash -c 'mount -t tmpfs -o size=64k tmpfs "$m" || exit
		echo old >"$m/file"; head -c 1M /dev/zero >"$m/filler" 2>/dev/null
		"$ZMEM" record -q "$m/file"; echo "$?"; cat "$m/file"; ls -A "$m"'
	equal 'disk full: exit code, the old file, no other file' "$(paste -sd' ' "$TMP/out")" '1 old file filler'
	expect_stderr_lines 'disk full: one line' 1
	expect_err 'disk full: the reason' 'writing .*No space left'
fi
zmem record "$rec" -p 4194303
expect_rc 'a pid that does not exist' 3
refuse_out 'a pid that does not exist: recorded without it' old
works 'a pid that does not exist: replayed without it' --replay "$rec"
echo old >"$rec"
frames() { # COUNT: so many were taken
	[ "$(grep -ac '"schema":' "$TMP/frames")" -ge "$1" ]
}
: >"$TMP/frames"
: >"$TMP/frames"
"$ZMEM" record "$rec" -c 1000000 -i 0.1 --json >"$TMP/frames" 2>"$TMP/err" &
victim=$!
wait_until frames 2
kill -TERM "$victim"
wait "$victim"
equal 'interrupted: exit code' "$?" 0
expect_err 'interrupted: names the last frame' 'ends after snapshot [0-9]+ of 1000000$'
zmem --replay "$rec" -J
expect_json 'interrupted: the frames so far are in it'
expect_err 'interrupted: several frames' 'snapshot [0-9]+ of [0-9]+, 20[0-9-]+ [0-9:]+(Z|[+-][0-9:]+)$'
record_until() { # COMMAND…: once there are two frames; its exit code
	: >"$TMP/frames"
	"$ZMEM" record "$rec" -c 1000000 -i 0.1 --json >"$TMP/frames" 2>"$TMP/err" &
	victim=$!
	wait_until frames 2
	"$@" || not_ok "$*" 'fails'
	wait "$victim"
	rc=$? err=$(cat "$TMP/err")
}
take_files() { prlimit --pid "$victim" --nofile=3:; }
echo old >"$rec"
# The leak sanitizer needs files at the end, and waits forever without them.
ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" record_until take_files
expect_rc 'no files left: exit code' 1
expect_err 'no files left: the reason' 'Too many open files .ulimit -n 256.$'
expect_err 'no files left: names the last frame' 'ends after snapshot [0-9]+ of 1000000$'
expect_stderr_lines 'no files left: and no more' $((2 + notes))
zmem --replay "$rec" -J
expect_json 'no files left: the frames so far are in it'

# ---- frames ----

# A cgroup with a limit, which is in the head.
group=
if need cgroups 'a limit in the head'; then
	group=/sys/fs/cgroup/memory
	[ -d "$group" ] || group=/sys/fs/cgroup
	group=$group/zmem-record.$$
	mkdir "$group"
	echo 64M | tee "$group/memory.max" "$group/memory.limit_in_bytes" >/dev/null 2>&1
	sleep 1000 &
	echo $! >"$group/cgroup.procs"
fi
works '-c 3: exit code' record "$rec" -c 3 -i 0.1 --json
jq -s -c '.[2]' "$TMP/out" >"$TMP/third"
equal '-c 3: three frames' "$(jq -s length "$TMP/out")" 3
equal '-c 3: three different times' "$(jq -s 'map(.timestamp_ms) | . == (unique)' "$TMP/out")" true
zmem --replay "$rec" --json
equal '-c 3: the last one is shown' "$(jq -c . "$TMP/out")" "$(cat "$TMP/third")"
if [ -n "$group" ]; then
	expect_json '-c 3: the limit is in the head' '.head.cgroups | any(.cgroup | endswith($g))' --arg g "/${group##*/}"
	kill $!
	wait $! 2>/dev/null
	rmdir "$group"
fi
expect_stderr_lines '-c 3: one line' 1
expect_err '-c 3: the frame is named' 'snapshot 3 of 3, 20[0-9-]+ [0-9:]+(Z|[+-][0-9:]+)$'
zmem --replay "$rec" -q
expect_stderr_lines '-q: none' 0

# ---- a census ----

if need counters 'a census in a recording'; then
	zmem record "$rec" -c 10 -i 0.1 --json
	equal 'ten frames: the first one has a census' "$(jq -s -c 'map(.system.ram != null)' "$TMP/out")" \
		'[true,false,false,false,false,false,false,false,false,false]'
	jq -s -c '.[0].system.ram' "$TMP/out" >"$TMP/census"
	zmem system --replay "$rec" --json
	expect_json 'system --replay of the last one: the same census' '.ram | .method == "exact" and
		(.classes | map(.bytes // 0) | add) == .frames_bytes and .time_ms == $was[0].time_ms and
		.classes == $was[0].classes' --slurpfile was "$TMP/census"
	says 'system -l --replay: how old it is' '^Each page frame was counted, .* before this snapshot\.$' system --replay "$rec" -l
fi
zmem record "$dir/other" --source proc
zmem system --replay "$dir/other" --json
expect_json 'no census: counters' '.ram | .method == "counters" and .reason == "the recording has no page frames at this moment"'
rm "$dir/other"

# ---- usage ----

zmem record "$dir/missing" -c 2 -i 0.1 -p 4194303
expect_rc 'record, no such pid: exit code' 3
expect_stderr_lines 'record, no such pid: told once' $((1 + notes))
rm "$dir/missing"
refused 'record without FILE' 2 'needs a FILE' record
refused 'record --replay' 2 'replay' record a --replay "$rec"
refused 'record into a directory' 1 'Is a directory' record "$dir"
nothing_left 'nothing is left of all that' "$dir" rec
# shellcheck disable=SC2086
kill ${idle//,/ }
