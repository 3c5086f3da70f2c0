#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# OOM kills of our own processes in a small memory cgroup: each is recorded at its moment, with the
# values of the kernel's own line; incidents shows them.
# Other tests make kills as well: what is checked is a copy of the recording that has only ours (own).
# needs: bpf cgroups
. "$(dirname "$0")/../support/cli.sh"

v1=/sys/fs/cgroup/memory v2=/sys/fs/cgroup
group=
if [ -f "$v1/memory.limit_in_bytes" ]; then
	group=$v1/zmem-oom-$$ limit=memory.limit_in_bytes swap=memory.swappiness
	short=$v1/zmem-short-$$ waiting=$v2/unified/zmem-short-$$
elif grep -qw memory "$v2/cgroup.controllers" 2>/dev/null; then
	echo +memory >"$v2/cgroup.subtree_control"
	group=$v2/zmem-oom-$$ limit=memory.max swap=memory.swap.max
	short=$v2/zmem-short-$$ waiting=$short
fi
mkdir "$group" "$short" || exit 1
space=${group%/*}/zmem-space-$$
# Its path has what the kernel's line has behind it.
odd=${group%/*}/zmem-odd-$$,task_memcg=
forged=$odd/system.slice/postgresql.service,task=
recorder=
trap 'kill $recorder $(cat "$group/cgroup.procs" "$short/cgroup.procs" "$forged/cgroup.procs") 2>/dev/null
	wait
	umount "$TMP/small" 2>/dev/null
	find "$group" "$space" -mindepth 1 -depth -type d -exec rmdir {} + 2>/dev/null
	rmdir "$group" "$space" "$short" "$waiting" "$forged" "${forged%/*}" "$odd" 2>/dev/null
	lib_cleanup' EXIT
for at in "$group" "$short"; do
	echo 32M >"$at/$limit"
	# Otherwise the victims of a machine with swap fill it first.
	[ -f "$at/$swap" ] && echo 0 >"$at/$swap"
done
dir=$TMP/kept
# No other program has this name.
name=tail-$$
cp "$(command -v tail)" "$TMP/$name"
cp "$O/eat" "$TMP/eat-$$"

# own [PID…]: $TMP/own, the recording with our kills alone; with PID: with these kills alone.
own() {
	"$EDIT" own "$dir" "$TMP/own" "-$$" "$@" || not_ok 'our own kills' "$*"
}

zmem record --keep 1h "$dir" -c 1 -q
own
works 'no kill' incidents "$TMP/own" --json
expect_json 'no kill: an empty list' '.events == []'

# frames: their number in the recording.
frames() {
	"$PROGRAM" watch --replay "$dir" -F ndjson 2>/dev/null | grep -c '"type":"snapshot"'
}

# more_frames COUNT: true if the recording has more.
more_frames() {
	[ "$(frames)" -gt "$1" ]
}

# recorded PID: true if the recording has its kill.
recorded() {
	"$PROGRAM" incidents "$dir" -J 2>/dev/null | jq -e --argjson pid "$1" 'any(.events[]; .victim.pid == $pid)' >/dev/null
}

# kill_one [PROGRAM…]: a process that grows until it is killed; its pid.
kill_one() {
	(
		# shellcheck disable=SC2094
		echo "$BASHPID" >"$group/cgroup.procs"
		echo "$BASHPID"
		[ $# -gt 0 ] || set -- "$TMP/$name" /dev/zero
		exec "$@" 2>/dev/null
	) &
	wait $! 2>/dev/null
}

# waiting_ones COUNT: processes that do not grow yet, in $waiters; the recording has them, with their cgroup.
waiting_ones() {
	waiters=()
	for _ in $(seq "$1"); do
		(
			echo "$BASHPID" >"$group/cgroup.procs"
			mkfifo "$TMP/grow.$BASHPID"
			exec "$TMP/$name" <>"$TMP/grow.$BASHPID" 2>/dev/null
		) &
		waiters+=($!)
	done
	wait_until seen "${waiters[@]}"
}

# seen PID…: true if the last snapshot has them all, with their cgroup.
seen() {
	"$PROGRAM" --replay "$dir" -J 2>/dev/null | jq -e --arg name "$name" --arg group "/${group##*/}" --args \
		'[.processes[] | select(.name == $name and (.cgroup // "" | endswith($group))) | .pid | tostring] | contains($ARGS.positional)' \
		"$@" >/dev/null
}

# grow PID: it grows until it is killed.
grow() {
	cat /dev/zero >"$TMP/grow.$1" 2>/dev/null
	wait "$1" 2>/dev/null
}

# The kernel side reads all processes at one of the kills of a second, in at most 5 ms.
whole='.events[0] | .table and (.processes_late | not) and .kernel_ns < 10000000'

# whole_kill: the kill of a process that the recording knew, at which all processes were read; its pid in $pid, and
# in $kills how many there were.
whole_kill() {
	for _ in $(seq 15); do
		waiting_ones 20 || return 1
		for pid in "${waiters[@]}"; do
			grow "$pid"
			kills=$((kills + 1))
			wait_until recorded "$pid" || return 1
			own "$pid"
			"$PROGRAM" incidents "$TMP/own" -J | jq -e "$whole" >/dev/null && break 2
		done
	done
	for waiter in "${waiters[@]}"; do
		kill "$waiter"
		wait "$waiter"
	done 2>/dev/null
	[ -n "$pid" ]
}

"$PROGRAM" record --keep 1h "$dir" -i 1 --stall 0 2>"$TMP/recorder" &
recorder=$!
kills=0
check 'it records' wait_until more_frames 1
whole_kill || not_ok 'a kill with all processes' "$(cat "$TMP/recorder")"
victims=("$pid")
check 'it goes on' wait_until more_frames $(($(frames) + 2))
check 'the recorder says nothing of OOM kills' test -z "$(grep OOM "$TMP/recorder")"

own "$pid"
zmem incidents "$TMP/own" --json
expect_json 'one kill' '.events | length == 1'
expect_json 'the victim' '.events[0] | .kind == "oom_kill" and .table and .victim.pid == $pid and .victim.comm == $name and
	.victim.name == $name and .victim.user == "root" and .processes_recorded > 3 and .processes_lost == 0 and
	(.processes_late | not) and .kills_missed == 0 and .kernel_ns > 0 and .kernel_ns < 10000000' \
	--argjson pid "$pid" --arg name "$name"
expect_json 'the allocation, or why it is not known' '.events[0] | if .constraint_source == "log" then (.gfp | test("^GFP_")) and .order == 0 and
	.constraint_reason == null else .gfp == null and (.constraint != null or .constraint_reason != null) end'
expect_json 'a cgroup at its limit' 'any(.events[0].limits.cgroups[]; (.cgroup | endswith($group)) and .oom_kills == $kills and .max > 0)' \
	--arg group "/${group##*/}" --argjson kills $kills
expect_json 'the limit' '.events[0] | (.constraint == "memcg" or .constraint == null) and .limit_bytes == 33554432 and
	(.victim.cgroup | endswith($group))' --arg group "/${group##*/}"
expect_json 'the victim held most of its limit' '.events[0].victim | .rss_anon_bytes > 20000000 and .rss_anon_bytes < 33554432'
# What its cgroup is charged is read when it is freed already.
zmem --replay "$TMP/own" --at event:1 -g cgroup -J
expect_json 'its cgroup at that moment: the limit, no charge, and why' '.groups[] | select((.group // "") | endswith($group)) |
	.mem_limit_bytes == 33554432 and .mem_current_bytes == null and (.mem_current_reason | test("freed"))' --arg group "/${group##*/}"
zmem incidents "$TMP/own" --json
expect_json 'by program' '.events[0].largest.name | any(.group == $name and .anon_swap_bytes > 20000000 and .procs >= 1)' \
	--arg name "$name"

# The line "Killed process" has the values without the parts per CPU until about Linux 7.0.
line=$(dmesg 2>/dev/null | grep "Killed process $pid ($name)" | tail -n 1)
if [ -n "$line" ]; then
	expect_json "the kernel's line has the same values" '.events[0].victim |
		[.rss_anon_count_bytes, .rss_file_count_bytes, .rss_shmem_count_bytes] == $counts or
		[.rss_anon_bytes, .rss_file_bytes, .rss_shmem_bytes] == $counts' --argjson counts \
		"$(sed -E 's/.*anon-rss:([0-9]+)kB, file-rss:([0-9]+)kB, shmem-rss:([0-9]+)kB.*/[\1,\2,\3] | map(. * 1024)/' <<<"$line" |
			jq -nc -f /dev/stdin)"
fi
# Of more than 10 kills in 5 seconds the log has the constraint of 10.
if dmesg 2>/dev/null | grep -q "oom-kill:constraint.*task=$name,pid=$pid,"; then
	expect_json 'the constraint' '.events[0] | .constraint == "memcg" and (.cgroup | endswith($group))' --arg group "/${group##*/}"
fi
# (batch - 1) on each CPU: batch is at least 32 and twice the CPUs.
cpus=$(nproc --all) batch=32
[ $((2 * cpus)) -gt $batch ] && batch=$((2 * cpus))
expect_json 'the exact values are within the bound per CPU' '.events[0].victim |
	(.rss_anon_bytes - .rss_anon_count_bytes | fabs) <= $bound' --argjson bound $((batch * cpus * $(getconf PAGESIZE)))

zmem --replay "$TMP/own" --at event:1 --json
expect_json 'the machine at that moment' 'any(.processes[]; .pid == $pid and .name == $name and .pss_bytes == null and
	.rss_anon_bytes > 20000000) and (.processes | length) > 3' --argjson pid "$pid" --arg name "$name"
zmem --replay "$TMP/own" --at event:1 -a -o pid,pss,name
expect_out 'the victim is marked' "^ *$pid +- +$name \(killed\)\$"
equal 'nothing else is marked' "$(grep -c '(killed)' "$TMP/out")" 1
# What the event says to run next: unit/test_report_incidents.c has the words, live/test_kills.py has top.
zmem incidents "$TMP/own" --at event:1
# shellcheck disable=SC2046
zmem $(sed -n ':line /\\$/ { N; s/\\\n//; b line }; s/^ *zmem-bpf \(diff .*\)/\1/p' "$TMP/out") -a --json
expect_json 'next: diff has the victim' 'any(.rows[]; .pid == $pid)' --argjson pid "$pid"
zmem --replay "$TMP/own" --json
expect_json 'the last snapshot has no victim' 'all(.processes[]; .pid != $pid) and
	(.source.pss == "kernel" or .source.pss == "mixed")' --argjson pid "$pid"
refused 'an event that is not there' 3 'the recording has 1 event$' --replay "$TMP/own" --at event:2
for at in event:1 -0s 2020-01-01; do
	zmem incidents "$TMP/own" --at $at --json
	expect_json "--at $at: JSON" '[.events[].victim.pid] == [$pid]' --argjson pid "$pid"
done

# ---- many in a row ----

# some_whole: kills until two kills have all processes, after at least 20.
some_whole() {
	local i
	for i in $(seq 200); do
		victims+=("$(kill_one)")
		[ "$i" -ge 20 ] || continue
		wait_until recorded "${victims[-1]}" || return 1
		own "${victims[@]}"
		"$PROGRAM" incidents "$TMP/own" -J | jq -e '[.events[] | select(.table)] | length >= 2' >/dev/null && return
	done
	return 1
}
some_whole || not_ok 'some have all processes' "${#victims[@]} kills"
own "${victims[@]}"
zmem incidents "$TMP/own" --json
expect_json 'each of 20 kills is recorded' '[.events[].victim.pid] == $ARGS.positional' --jsonargs "${victims[@]}"
expect_json 'no kill is missed' 'all(.events[]; .kills_missed == 0)'

# ---- a kill that is read when a snapshot is due: it was before, and begins no segment ----

segments=$(find "$dir" -name '*.zmem' | wc -l)
for _ in 1 2 3; do
	kill -STOP "$recorder"
	pid=$(kill_one)
	sleep 1.2 # time itself: a snapshot is due meanwhile
	kill -CONT "$recorder"
	check 'a kill when a snapshot is due: it is recorded' wait_until recorded "$pid"
done
equal 'a kill when a snapshot is due: segments' "$(find "$dir" -name '*.zmem' | wc -l)" "$segments"

# ---- a script that no snapshot had: it is called what a snapshot would call it ----

printf 'read -r _\n' >"$TMP/script-$$.sh"
mkfifo "$TMP/script-$$"
# script_at_kill: a kill beside a script that began behind the last snapshot; its name at the kill in $script.
script_at_kill() {
	local reader
	kill -STOP "$recorder"
	bash "$TMP/script-$$.sh" <>"$TMP/script-$$" &
	reader=$!
	wait_until grep -q script "/proc/$reader/cmdline"
	pid=$(kill_one)
	kill -CONT "$recorder"
	wait_until recorded "$pid"
	kill "$reader"
	wait "$reader" 2>/dev/null
	own "$pid"
	script=$("$PROGRAM" --replay "$TMP/own" --at event:1 -p "$reader" -J 2>/dev/null | jq -r '.processes[0].name')
	# Of many kills in a row, some have not all processes.
	[ -n "$script" ] && [ "$script" != null ]
}
wait_until script_at_kill || not_ok 'a new script: at a kill' "${script-}"
equal 'a new script: its name' "$script" "script-$$.sh"

# ---- a victim with a first thread that has ended: the kernel names another one ----

pid=$(kill_one "$TMP/eat-$$" 1024 thread)
check 'without its first thread: it is recorded' wait_until recorded "$pid"
own
zmem incidents "$TMP/own" --json
expect_json 'without its first thread: the process' '.events[-1].victim | .pid == $pid and .comm == $name and
	.rss_anon_bytes > 20000000 and .rss_shmem_bytes >= 1048576' --argjson pid "$pid" --arg name "eat-$$"
expect_json 'without its first thread: the counts' '.events[-1].victim |
	(.rss_anon_bytes - .rss_anon_count_bytes | fabs) <= $bound and
	(.rss_shmem_bytes - .rss_shmem_count_bytes | fabs) <= $bound' --argjson bound $((batch * cpus * $(getconf PAGESIZE)))

# ---- a cgroup with a path that looks like the end of the kernel's line about another one ----

mkdir -p "$forged"
for at in "$odd" "${forged%/*}"; do
	[ "$group" = "$v1/${group##*/}" ] || echo +memory >"$at/cgroup.subtree_control"
done
echo 32M >"$forged/$limit"
[ -f "$forged/$swap" ] && echo 0 >"$forged/$swap"
# logged PID: true if the log has the line of the kill with this path; it has the lines of 10 kills in 5 seconds.
logged() {
	dmesg 2>/dev/null | grep -q "oom-kill:constraint.*,oom_memcg=.*${forged##*/},task_memcg=.*,pid=$1,"
}
victims=()
one_logged() {
	victims+=("$(group=$forged kill_one)")
	wait_until recorded "${victims[-1]}" || return 1
	logged "${victims[-1]}" && return
	sleep 1 # time itself: the 5 seconds
	return 1
}
wait_until one_logged || not_ok 'a hostile path: a line in the log' "$(dmesg 2>&1 | tail -n 1)"
own "${victims[@]}"
zmem incidents "$TMP/own" --json
expect_json 'a hostile path: its parts are not taken for values' 'all(.events[]; (.cgroup // "," | contains(",")) and
	.victim.unit != "postgresql.service")'

# ---- the victim's cgroup, of a process that no snapshot had and that is gone when its kill is read ----

# unseen GROUP: such a kill in the cgroup; its pid in $pid.
unseen() {
	kill -STOP "$recorder"
	pid=$(group=$1 kill_one)
	kill -CONT "$recorder"
	wait_until recorded "$pid"
	own "$pid"
	zmem incidents "$TMP/own" --json
}
unseen "$forged"
expect_json 'a hostile path: the victim is in it, and it is at the limit' '.events[0] | (.victim.cgroup | endswith($group)) and
	.victim.cgroup_reason == null and .limit_bytes == 33554432 and (.cgroup == null or .cgroup == .victim.cgroup)' \
	--arg group "${forged#"${group%/*}"}"

# long_group LEVELS: a cgroup of so many levels, in $long, below $group.
long_group() {
	local i
	long=$group
	for i in $(seq 2 "$1"); do
		[ "$group" = "$v1/${group##*/}" ] || echo +memory >"$long/cgroup.subtree_control"
		long=$long/$i
		mkdir "$long"
	done
}
remove_long() {
	while [ "$long" != "$group" ]; do
		rmdir "$long"
		long=${long%/*}
	done
	[ "$group" = "$v1/${group##*/}" ] || echo -memory >"$group/cgroup.subtree_control"
}
long_group 32
unseen "$long"
expect_json '32 levels: the cgroup' '.events[0].victim | (.cgroup | endswith("/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20/21/22/23/24/25/26/27/28/29/30/31/32")) and
	.cgroup_reason == null'
remove_long
long_group 33
unseen "$long"
expect_json '33 levels: why it is not known' '.events[0].victim | .cgroup == null and (.cgroup_reason | test("levels"))'
remove_long

# ---- a file of a tmpfs that goes with the victim was listed before ----

mkdir "$TMP/private"
# Without fentry the limit is in the kernel's log alone, which has no line for one of many kills of other tests.
for _ in 1 2 3; do
	pid=$(kill_one unshare -m sh -c 'mount -t tmpfs none "$0/private" && head -c 28M /dev/zero >"$0/private/cache" &&
		sleep 13 && exec "$1" /dev/zero' "$TMP" "$TMP/$name") # time itself: files are listed every ten seconds
	check 'a file that is gone: the kill is recorded' wait_until recorded "$pid"
	own "$pid"
	zmem incidents "$TMP/own" --json
	jq -e '.events[0].cgroup' "$TMP/out" >/dev/null && break
done
if "$PROGRAM" files -n 1 >/dev/null 2>&1; then
	expect_json 'a file that is gone: its name' '.events[0] | .files[0].name == "tmpfs:/cache" and .files[0].kind == "tmpfs" and
		.files[0].resident_bytes == 28 * 1048576 and (.files[0].cgroup | endswith($group)) and .files_reason == null and
		.files_time_ms < .time_ms and (.files | length) == 1' --arg group "/${group##*/}"
else
	expect_json 'no list of files: why' '.events[0] | .files == null and .files_reason != null'
fi

# ---- after kill -9: the last kill is there ----

pid=$(kill_one)
wait_until recorded "$pid"
kill -9 "$recorder"
wait "$recorder" 2>/dev/null
own
zmem incidents "$TMP/own" --json
expect_json 'the kill before kill -9 is there' '.events[-1].victim.pid == $pid' --argjson pid "$pid"

# ---- on a full disk a kill takes the room of the oldest file; a snapshot does not ----

mkdir "$TMP/small"
if need mount 'a full disk' && mount -t tmpfs -o size=4M,mode=700 none "$TMP/small"; then
	dir=$TMP/small/kept
	for _ in 1 2 3; do
		zmem record --source proc --keep 1h "$dir" -c 5 -i 0.1 -q
	done
	"$PROGRAM" record --keep 1h "$dir" -i 1 --stall 0 2>"$TMP/recorder" &
	recorder=$!
	check 'a full disk: it records' wait_until more_frames 16
	head -c 8M /dev/zero >"$TMP/small/other" 2>/dev/null
	check 'a full disk: snapshots are dropped' wait_until grep -q 'the disk is full, or nearly' "$TMP/recorder"
	for _ in 1 2; do
		pid=$(kill_one)
		check 'a full disk: the kill is recorded' wait_until recorded "$pid"
	done
	check 'a full disk: the oldest file is gone' test ! -e "$dir/0000000001.zmem"
	check 'a full disk: the one in work is there' test -e "$dir/0000000004.zmem"
	kill "$recorder"
	wait "$recorder" 2>/dev/null
	equal 'a full disk: it is said once' "$(grep -c 'kept: the disk is full: the oldest files are removed to record OOM kills$' "$TMP/recorder")" 1
	equal 'a full disk: no snapshot is written again' "$(grep -c 'written again' "$TMP/recorder")" 0
	umount "$TMP/small"
	dir=$TMP/kept
fi

# ---- in a cgroup namespace: cgroups are seen from its root, as rows have them ----

rm -rf "$dir"
mkdir "$space"
places=("$group")
# In v2 a cgroup with processes has none with a limit below it.
[ "$group" != "$v1/${group##*/}" ] || places+=("$space/below")
(
	echo "$BASHPID" >"$space/cgroup.procs"
	exec unshare -C "$PROGRAM" record --keep 1h "$dir" -i 1 --stall 0 -q 2>"$TMP/recorder"
) &
recorder=$!
wait_until more_frames 1
for group in "${places[@]}"; do
	mkdir -p "$group"
	echo 32M >"$group/$limit"
	[ -f "$group/$swap" ] && echo 0 >"$group/$swap"
	waiting_ones 1
	row=$("$PROGRAM" --replay "$dir" -J | jq -r --argjson pid "${waiters[0]}" '.processes[] | select(.pid == $pid) | .cgroup')
	grow "${waiters[0]}"
	wait_until recorded "${waiters[0]}"
	unseen "$group"
	expect_json "in a cgroup namespace: $row" '.events[0].victim.cgroup == $row' --arg row "$row"
done
equal 'in a cgroup namespace: its root' "${row%/*}" "$([ ${#places[@]} = 2 ] || echo /..)"
group=${places[0]}
kill "$recorder"
wait "$recorder" 2>/dev/null

# ---- the victim is there, although the filter refuses it ----

rm -rf "$dir"
"$PROGRAM" record --keep 1h "$dir" -i 1 --stall 0 -q --filter "no $name" 2>"$TMP/recorder" &
recorder=$!
wait_until more_frames 1
pid=$(kill_one)
wait_until recorded "$pid"
kill "$recorder"
wait "$recorder" 2>/dev/null
check '--filter: our own kill' "$EDIT" own "$dir" "$TMP/own" '' "$pid"
zmem incidents "$TMP/own" --json
expect_json '--filter: the victim has its names' '.events[0].victim | .pid == $pid and .name == $name and .user == "root"' \
	--argjson pid "$pid" --arg name "$name"

# ---- memory is short: processes read a file again that does not fit their cgroup ----

# shortage: the first time of short memory in the recording.
shortage() {
	"$PROGRAM" incidents "$dir" -J 2>/dev/null | jq -c '[.events[] | select(.kind == "pressure")][0]'
}
goes_on() {
	"$PROGRAM" incidents "$dir" 2>/dev/null | grep -qE '^ +[0-9]+  20.*  tasks of [^ ]*'"${short##*/}"' waited for memory; it goes on$'
}
is_over() { shortage | jq -e '.end_time_ms' >/dev/null; }

# The machine is said to wait for memory when our own cgroup does.
if [ "$waiting" = "$short" ] || mkdir "$waiting" 2>/dev/null && [ -w "$waiting/memory.pressure" ]; then
	rm -rf "$dir"
	# shellcheck disable=SC2016
	unshare -m sh -c 'mount --bind "$1" /proc/pressure/memory && shift && exec "$@"' - "$waiting/memory.pressure" \
		"$PROGRAM" record --keep 1h "$dir" -i 20 --stall 2 --dense 1 2>"$TMP/recorder" &
	recorder=$!
	check 'memory is short: it records' wait_until more_frames 0
	file=$TMP/read_again
	(
		echo "$BASHPID" >"$short/cgroup.procs"
		echo "$BASHPID" >"$waiting/cgroup.procs"
		head -c 100M /dev/urandom >"$file"
		while [ ! -e "$TMP/enough" ]; do
			cat "$file" "$file" >/dev/null &
			cat "$file" >/dev/null
			wait $!
		done
	) &
	reader=$!
	check 'memory is short: an event that goes on' wait_until goes_on
	check 'memory is short: snapshots' wait_until more_frames $(($(frames) + 4))
	touch "$TMP/enough"
	wait $reader
	# The event ends 30 s after the last sign.
	PATIENCE=120 check 'memory is short: its end' wait_until is_over
	kill "$recorder"
	wait "$recorder" 2>/dev/null
	zmem incidents "$dir" --json
	expect_json 'memory was short' '[.events[] | select(.kind == "pressure")][0] | .causes == ["stall"] and .end_time_ms >= .time_ms and
		.stalled_us > 0 and .refaulted_bytes > 0 and .memory_available_least_bytes > 0 and
		.machine_short == false and (.cgroup | endswith($group))' --arg group "/${short##*/}"
	expect_json 'memory was short: OOM kills, all of other tests' '[.events[] | select(.kind == "pressure")][0] as $e |
		def kills(from; to): [.events[] | select(.kind == "oom_kill" and .time_ms >= from and .time_ms <= to)] | length;
		$e.oom_kills >= kills($e.time_ms + 1000; $e.end_time_ms - 1000) and
		$e.oom_kills <= kills($e.time_ms - 1000; $e.end_time_ms + 60000)'
	expect_json 'the cgroup at its limit' '[.events[] | select(.kind == "pressure")][0] |
		any(.limits.cgroups[]; .cgroup | endswith($group))' --arg group "/${short##*/}"
	event=$(jq '[.events[] | select(.kind == "pressure")][0].number' "$TMP/out")
	began=$(shortage | jq .time_ms) ended=$(shortage | jq .end_time_ms)
	zmem watch --replay "$dir" -F ndjson
	check 'a snapshot each second then, and not every 20 s' jq -s -e --argjson from "$began" --argjson to "$ended" \
		'[.[] | select(.type == "snapshot" and .timestamp_ms >= $from and .timestamp_ms <= $to)] | length >= ($to - $from) / 1000 * 0.3' "$TMP/out"
	zmem --replay "$dir" --at "event:$event" --json
	expect_json 'the snapshot of that moment' '.timestamp_ms >= $from and .timestamp_ms < $from + 3000' --argjson from "$began"
else
	skip 'memory is short' 'this kernel does not tell how long a cgroup waits for memory'
fi
