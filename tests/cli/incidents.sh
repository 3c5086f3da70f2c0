#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# OOM kills of our own processes in a small memory cgroup: each is recorded at its moment, with the
# values of the kernel's own line; incidents shows them.
# alone: the recorder sees the OOM kills of all tests
. "$(dirname "$0")/../support/cli.sh"
need_bpf incidents || exit 0

v1=/sys/fs/cgroup/memory v2=/sys/fs/cgroup
group=
if [ -f "$v1/memory.limit_in_bytes" ]; then
	group=$v1/zmem-oom-$$ limit=memory.limit_in_bytes swap=memory.swappiness
elif grep -qw memory "$v2/cgroup.controllers" 2>/dev/null; then
	echo +memory >"$v2/cgroup.subtree_control"
	group=$v2/zmem-oom-$$ limit=memory.max swap=memory.swap.max
fi
if [ -z "$group" ] || ! mkdir "$group" 2>/dev/null; then
	skip incidents 'no memory cgroup can be made'
	exit 0
fi
trap 'kill "$recorder" 2>/dev/null; rmdir "$group" 2>/dev/null; rm -rf "$TMP"' EXIT
echo 32M >"$group/$limit"
# Otherwise the victims of a machine with swap fill it first.
[ -f "$group/$swap" ] && echo 0 >"$group/$swap"
dir=$TMP/kept

zmem record --keep 1h "$dir" -c 1 -q
zmem incidents "$dir"
expect_rc 'no kill' 0
equal 'no kill: a sentence' "$(cat "$TMP/out")" 'no OOM kill and no shortage of memory was recorded'
zmem incidents "$dir" --json
expect_json 'no kill: an empty list' '.events == []'

# frames COUNT: waits until the recording has so many.
frames() {
	for _ in $(seq 100); do
		[ "$("$PROGRAM" watch --replay "$dir" -F ndjson 2>/dev/null | grep -c '"type":"snapshot"')" -ge "$1" ] && return
		sleep 0.1
	done
}

# events COUNT: waits until the recording has so many kills.
events() {
	for _ in $(seq 200); do
		[ "$("$PROGRAM" incidents "$dir" -J 2>/dev/null | jq '.events | length')" -ge "$1" ] && return
		sleep 0.1
	done
}

# kill_one [PROGRAM…]: a process that grows until it is killed; its pid.
kill_one() {
	(
		# shellcheck disable=SC2094
		echo "$BASHPID" >"$group/cgroup.procs"
		echo "$BASHPID"
		[ $# -gt 0 ] || set -- tail /dev/zero
		exec "$@" 2>/dev/null
	) &
	wait $! 2>/dev/null
}

"$PROGRAM" record --keep 1h "$dir" -i 1 --stall 0 2>"$TMP/recorder" &
recorder=$!
frames 3
pid=$(kill_one)
events 1
frames 6
check 'the recorder says nothing of OOM kills' test -z "$(grep OOM "$TMP/recorder")"

zmem incidents "$dir" --json
expect_json 'one kill' '.events | length == 1'
expect_json 'the victim' '.events[0] | .kind == "oom_kill" and .table and .victim.pid == $pid and .victim.comm == "tail" and
	.victim.name == "tail" and .victim.user == "root" and .processes_recorded > 3 and .processes_lost == 0 and
	(.processes_late | not) and .kills_missed == 0 and .kernel_ns > 0 and .kernel_ns < 10000000' --argjson pid "$pid"
expect_json 'the allocation, or why it is not known' '.events[0] | if .constraint_source == "log" then (.gfp | test("^GFP_")) and .order == 0 and
	.constraint_reason == null else .gfp == null and (.constraint != null or .constraint_reason != null) end'
expect_json 'a cgroup at its limit' 'any(.events[0].limits.cgroups[]; (.cgroup | endswith($group)) and .oom_kills == 1 and .max > 0)' \
	--arg group "/${group##*/}"
expect_json 'the limit' '.events[0] | (.constraint == "memcg" or .constraint == null) and .limit_bytes == 33554432 and
	(.victim.cgroup | endswith($group))' --arg group "/${group##*/}"
expect_json 'the victim held most of its limit' '.events[0].victim | .rss_anon_bytes > 20000000 and .rss_anon_bytes < 33554432'
expect_json 'by program' '.events[0].largest.name | any(.group == "tail" and .anon_swap_bytes > 20000000 and .procs >= 1)'

# The line "Killed process" has the values without the parts per CPU until about Linux 7.0.
line=$(dmesg 2>/dev/null | grep "Killed process $pid (tail)" | tail -n 1)
if [ -n "$line" ]; then
	expect_json "the kernel's line has the same values" '.events[0].victim |
		[.rss_anon_count_bytes, .rss_file_count_bytes, .rss_shmem_count_bytes] == $counts or
		[.rss_anon_bytes, .rss_file_bytes, .rss_shmem_bytes] == $counts' --argjson counts \
		"$(sed -E 's/.*anon-rss:([0-9]+)kB, file-rss:([0-9]+)kB, shmem-rss:([0-9]+)kB.*/[\1,\2,\3] | map(. * 1024)/' <<<"$line" |
			jq -nc -f /dev/stdin)"
	expect_json 'the constraint' '.events[0] | .constraint == "memcg" and (.cgroup | endswith($group))' --arg group "/${group##*/}"
fi
# (batch - 1) on each CPU: batch is at least 32 and twice the CPUs.
cpus=$(nproc --all) batch=32
[ $((2 * cpus)) -gt $batch ] && batch=$((2 * cpus))
expect_json 'the exact values are within the bound per CPU' '.events[0].victim |
	(.rss_anon_bytes - .rss_anon_count_bytes | fabs) <= $bound' --argjson bound $((batch * cpus * $(getconf PAGESIZE)))

zmem --replay "$dir" --at event:1 --json
expect_json 'the machine at that moment' 'any(.processes[]; .pid == $pid and .name == "tail" and .pss_bytes == null and
	.rss_anon_bytes > 20000000) and (.processes | length) > 3' --argjson pid "$pid"
zmem --replay "$dir" --json
expect_json 'the last snapshot has no victim' 'all(.processes[]; .pid != $pid) and .source.pss == "kernel"' --argjson pid "$pid"
refused 'an event that is not there' 3 'the recording has 1 event$' --replay "$dir" --at event:2
refused 'no number' 2 '--at event:x: not a time' --replay "$dir" --at event:x
refused 'no event' 2 '--at -1m: not an event' incidents "$dir" --at -1m

# ---- many in a row ----

for _ in $(seq 20); do
	kill_one
done >"$TMP/pids"
events 21
zmem incidents "$dir" --json
expect_json 'each of 20 kills is recorded' '[.events[1:][].victim.pid] == $pids' --argjson pids "$(jq -sc . "$TMP/pids")"
expect_json 'no kill is missed' 'all(.events[]; .kills_missed == 0)'
expect_json 'some have all processes' '[.events[] | select(.table)] | length >= 2'
zmem incidents "$dir"
equal 'a line for each' "$(grep -cE '^ +[0-9]+  20.* tail$' "$TMP/out")" 21
check 'the newest is shown' grep -q '^event:1  OOM kill at 20' "$TMP/out"
zmem incidents "$dir" --at event:21 -n 1
check 'the oldest: its victim' grep -q "  killed: tail, PID $pid, user root, oom_score_adj" "$TMP/out"
check 'the oldest: who held most' grep -q 'who held most, by program' "$TMP/out"
zmem incidents "$dir" --since 2100-01-01
equal 'none in this time' "$(cat "$TMP/out")" 'no OOM kill and no shortage of memory was recorded in this time'

# ---- a victim whose first thread has ended: the kernel names another one ----

pid=$(kill_one "$O/eat" 1024 thread)
events 22
zmem incidents "$dir" --json
expect_json 'without its first thread: the process' '.events[-1].victim | .pid == $pid and .comm == "eat" and
	.rss_anon_bytes > 20000000 and .rss_shmem_bytes >= 1048576' --argjson pid "$pid"
expect_json 'without its first thread: the counts' '.events[-1].victim |
	(.rss_anon_bytes - .rss_anon_count_bytes | fabs) <= $bound and
	(.rss_shmem_bytes - .rss_shmem_count_bytes | fabs) <= $bound' --argjson bound $((batch * cpus * $(getconf PAGESIZE)))

# ---- after kill -9: the last kill is there ----

pid=$(kill_one)
events 23
kill -9 "$recorder"
wait "$recorder" 2>/dev/null
zmem incidents "$dir" --json
expect_json 'the kill before kill -9 is there' '.events[-1].victim.pid == $pid' --argjson pid "$pid"

# ---- pseudonyms ----

rm -rf "$dir"
"$PROGRAM" record --keep 1h "$dir" -i 1 --stall 0 -q --no-names 2>"$TMP/recorder" &
recorder=$!
frames 2
pid=$(kill_one)
events 1
kill "$recorder"
wait "$recorder" 2>/dev/null
zmem incidents "$dir" --json
expect_json '--no-names: the victim has a pseudonym' '.events[0].victim | .pid == $pid and (.name | test("^[0-9a-f]{8}$")) and
	(.comm | test("^[0-9a-f]{8}$"))' --argjson pid "$pid"
check '--no-names: no name is left' test -z "$(grep -oE "\"(tail|root)\"|${group##*/}" "$TMP/out")"

# ---- memory is short: processes read a file again that does not fit their cgroup ----

rm -rf "$dir"
# The kernel adds up stalls every 2 seconds: that of the last kill must not begin an event of its own.
sleep 3
"$PROGRAM" record --keep 1h "$dir" -i 4 --stall 2 2>"$TMP/recorder" &
recorder=$!
frames 2
file=$TMP/read_again
(
	echo "$BASHPID" >"$group/cgroup.procs"
	head -c 100M /dev/urandom >"$file"
	until=$((SECONDS + 8))
	while [ $SECONDS -lt $until ]; do
		cat "$file" "$file" >/dev/null &
		cat "$file" >/dev/null
		wait $!
	done
)
# The event ends 30 s after the last sign.
zmem incidents "$dir"
[ ! -w /proc/pressure/memory ] ||
	check 'an event that goes on' grep -qE '^ +1  20.*  memory was short; not over at the end of the recording$' "$TMP/out"
for _ in $(seq 500); do
	[ "$("$PROGRAM" incidents "$dir" -J | jq '.events[0].end_time_ms')" = null ] || break
	sleep 0.1
done
zmem incidents "$dir" --json
if [ -w /proc/pressure/memory ]; then
	expect_json 'memory was short' '.events[0] | .kind == "pressure" and .causes == ["stall"] and .end_time_ms >= .time_ms and
		.stalled_us > 0 and .refaulted_bytes > 0 and .oom_kills == 0 and .memory_available_least_bytes > 0'
	expect_json 'the cgroup at its limit' 'any(.events[0].limits.cgroups[]; .cgroup | endswith($group))' --arg group "/${group##*/}"
	began=$(jq '.events[0].time_ms' "$TMP/out") ended=$(jq '.events[0].end_time_ms' "$TMP/out")
	zmem watch --replay "$dir" -F ndjson
	check 'a snapshot each second then' jq -s -e --argjson from "$began" --argjson to "$ended" \
		'[.[] | select(.type == "snapshot" and .timestamp_ms >= $from and .timestamp_ms <= $to)] | length >= ($to - $from) / 1000 * 0.7' "$TMP/out"
	zmem incidents "$dir"
	check 'it is in the list' grep -qE '^ +1  20.*Z? +memory was short for [0-9]+ s$' "$TMP/out"
	check 'and shown' grep -qE '^event:1  memory was short for [0-9]+ s, from 20' "$TMP/out"
	check 'its signs' grep -q '^  signs: tasks waited for memory$' "$TMP/out"
	zmem --replay "$dir" --at event:1 --json
	expect_json 'the snapshot of that moment' '.timestamp_ms >= $from and .timestamp_ms < $from + 3000' --argjson from "$began"
fi
kill "$recorder"
wait "$recorder" 2>/dev/null
