#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# record --keep: a directory of segments, read as one recording; moments and ranges; one writer; kill -9.
. "$(dirname "$0")/../support/cli.sh"
# A file system is mounted.
see_own_processes_only

dir=$TMP/kept
# A time in a message: local, with the zone.
time='20[0-9-]+ [0-9:]+(Z|[+-][0-9]{2}:[0-9]{2})'

sleep 1000 &
sleeper=$!

# An OOM kill of another test would be a frame, too, with a time before the last one, which begins another segment.
helper deny_bpf
without_kills() {
	run timeout -s KILL "$PATIENCE" "$TMP/deny_bpf" kills "$ZMEM" "$@"
}

without_kills record --keep 7d "$dir" -i 0.2 -c 4
expect_rc 'four frames' 0
check 'the estimate is printed' grep -qE ': about [0-9.]+ MB a day here; it keeps 7d, and 500M at most' "$TMP/err"
equal 'mode of the directory' "$(stat -c %a "$dir")" 700
equal 'mode of a segment' "$(stat -c %a "$dir"/*.zmem)" 600
without_kills record --keep 1h,10M "$dir" -i 0.2 -c 3 -q
expect_rc 'three more' 0
equal 'each writer begins a segment' "$(ls "$dir" | paste -sd' ')" '0000000001.zmem 0000000002.zmem'

zmem --replay "$dir" --json
expect_json 'the last frame' 'any(.processes[]; .pid == $pid and .name == "sleep")' --argjson pid "$sleeper"
check 'which frame it is' grep -qE "snapshot 7 of 7, $time$" "$TMP/err"
zmem watch --replay "$dir" -F ndjson
equal 'all frames' "$(grep -c '"type":"snapshot"' "$TMP/out")" 7
times=$(jq -r 'select(.type == "snapshot") | .timestamp_ms' "$TMP/out")
# before MS: that long before the end, for --at and --since.
before() {
	printf -- '-%d.%03ds' $((($1) / 1000)) $((($1) % 1000))
}
first=$(sed -n 1p <<<"$times") third=$(sed -n 3p <<<"$times") sixth=$(sed -n 6p <<<"$times") last=$(sed -n 7p <<<"$times")
since=$(before $((last - sixth + 1)))
zmem watch --replay "$dir" -F ndjson --since "$since"
equal 'the last two' "$(grep -c '"type":"snapshot"' "$TMP/out")" 2
works 'CSV of a range' watch --replay "$dir" -F csv --since "$since" -o pid,name
equal 'CSV: one header' "$(grep -c '^timestamp_ms,pid,name$' "$TMP/out")" 1
check 'CSV: the process in both frames' test "$(grep -c ",$sleeper,sleep\$" "$TMP/out")" = 2

# PSS moves by some bytes with each exec: it is rounded.
zmem --replay "$dir" --json
expect_json 'PSS is rounded to 4 KiB' '[.processes[].pss_bytes | values] | length > 0 and all(. % 4096 == 0)'
expect_json 'PSS is the sum of its parts' '[.processes[] | select(.pss_bytes and .pss_anon_bytes != null and .pss_file_bytes != null)] |
	length > 0 and all(.pss_bytes == .pss_anon_bytes + .pss_file_bytes + .pss_shmem_bytes and .pss_bytes >= .uss_bytes)'

# ---- moments ----

refused 'a time that is none' 2 '--at noon: not a time' --replay "$dir" --at noon
tells '--at: that frame' ".timestamp_ms == $third" --replay "$dir" --json --at "$(before $((last - third)))"
# unit/test_session_moment.c has what a time may be.
refused '--at before the recording' 3 "--at -1h: the recording is from $time to $time\$" --replay "$dir" --at -1h
refused '--at after the recording' 3 "--at 2100-01-01: the recording is from $time to $time\$" --replay "$dir" --at 2100-01-01
refused '--at just before the recording' 3 'the recording is from' --replay "$dir" --at "$(before $((last - first + 1)))"
tells '--at: the first frame' ".timestamp_ms == $first" --replay "$dir" --json --at "$(before $((last - first)))"
refused '--since behind the end' 3 'nothing was recorded in this time' watch --replay "$dir" --since 2100-01-01
refused '--since of snapshot' 2 'snapshot does not take --since' --replay "$dir" --since 03:14
tells 'system --at' '.schema == "zmem.system"' system --replay "$dir" --json --at -0.01s

# ---- what cannot be ----

refused '--keep: too short' 2 '--keep 1m: at least 1h, and 1M' record --keep 1m "$dir"
refused '--keep and --json' 2 '--keep cannot be combined with --format' record --keep 7d "$dir" -J
refused '--keep and --output' 2 '--keep cannot be combined with --output' record --keep 7d --output "$dir"
refused '--nice without --keep' 2 '--nice is for --keep' record --nice 3 "$TMP/x"
mkdir -m 777 "$TMP/open"
refused 'a directory of all' 1 'it is not ours alone' record -q --keep 7d "$TMP/open" -c 1
touch "$TMP/file"
refused 'a file' 1 "opening $TMP/file: it is a file, and --keep records in a directory$" record -q --keep 7d "$TMP/file" -c 1
refused 'the name of a file' 1 'night.zmem: it is the name of a file, and --keep records in a directory$' \
	record "$TMP/night.zmem" --keep 1d -q
check 'the name of a file: no directory is made' [ ! -e "$TMP/night.zmem" ]
mkdir -m 700 "$TMP/night.zmem"
works 'a directory with such a name' record "$TMP/night.zmem" --keep 1.5h,1G -c 2 -i 0.1
expect_err 'what it keeps is in the units that were typed' 'it keeps 1\.5h, and 1G at most'
mkdir "$TMP/empty"
if need users 'files of another user'; then
	chmod 755 "$dir"
	run as_nobody "$ZMEM" incidents "$dir"
	expect_rc 'files of another user' 1
	equal 'files of another user: why' "$(cat "$TMP/err")" "zmem-bpf: $dir: Permission denied"
	run as_nobody "$ZMEM" --replay "$dir"
	equal 'files of another user: --replay' "$(cat "$TMP/err")" "zmem-bpf: $dir: Permission denied"
	chmod 700 "$dir"
	run as_nobody "$ZMEM" --replay "$dir"
	expect_err 'a directory of another user' "$dir: Permission denied\$"
fi
refused 'nothing in it' 1 "there is no recording in this directory .start one: zmem-bpf record --keep 7d $TMP/empty." --replay "$TMP/empty"

# The directory where recordings are by default. Each command says how to begin.
if [ ! -e /var/lib/zmem-bpf ]; then
	for command in incidents 'diff -q --from -1h' '--replay /var/lib/zmem-bpf'; do
		# shellcheck disable=SC2086
		refused "$command: no recording" 1 \
			'/var/lib/zmem-bpf: there is no recording \(start one: zmem-bpf record --keep 7d\)$' $command
	done
fi
refused 'another directory that is missing' 1 "reading $TMP/none: No such file or directory$" incidents "$TMP/none"

# ---- one writer; kill -9; another goes on ----

"$TMP/deny_bpf" kills "$PROGRAM" record --keep 7d "$dir" -i 0.1 -q 2>"$TMP/writer" &
writer=$!
frames() { "$PROGRAM" watch --replay "$dir" -F ndjson 2>/dev/null | grep -c '"type":"snapshot"'; }
more_frames() { [ "$(frames)" -gt "$1" ]; }
check 'it records' wait_until more_frames 8
refused 'a second writer' 1 'another zmem-bpf records here' record -q --keep 7d "$dir" -c 1
kill -9 $writer
wait $writer 2>/dev/null
works 'after kill -9' watch --replay "$dir" -F ndjson
check 'its frames are there' test "$(grep -c '"type":"snapshot"' "$TMP/out")" -gt 8
truncate -s -5 "$dir/0000000003.zmem"
without_kills record --keep 7d "$dir" -i 0.2 -c 2 -q
expect_rc 'another writer' 0
works 'behind a torn end' watch --replay "$dir" -F ndjson
printf 'not a recording' >"$dir/0000000009.zmem"
works 'a file that is no recording' --replay "$dir" --json
check 'it is counted' grep -q '1 of 5 files cannot be read and is left out' "$TMP/err"

# ---- a clock that was wrong ----

# The same snapshots, an hour earlier and on another day: the segments of a clock that was set back.
clock=$TMP/clock
mkdir -m 700 "$clock"
for part in 1 2 3; do
	zmem record --source proc "$TMP/clock.$part" -q -p $$
done
stepped() { # N SECONDS: segment N has a snapshot of that time
	check "segment $1" "$EDIT" edit "$TMP/clock.$1" "$clock/000000000$1.zmem" "time=$2"
}
stepped 1 1700000000
stepped 2 60
stepped 3 1699999000
tells 'a clock that was set back: the snapshot of the moment' '.timestamp_ms == 1700000000000' --replay "$clock" --json --at 2023-11-14T22:13:20Z
tells 'a clock that was set back: the one behind it' '.timestamp_ms == 1699999000000' --replay "$clock" --json --at 2023-11-14T22:00:00Z
tells 'a clock of 1970' '.timestamp_ms == 60000' --replay "$clock" --json --at 1970-01-01T00:01:30Z
refused 'before 1970, as it were' 3 'the recording is from 1970-01-01 .* to 2023-11-1' --replay "$clock" --at 1970-01-01T00:00:30Z
zmem diff "$clock" --from 2023-11-14T22:00:00Z --to 2023-11-14T22:13:20Z -J
expect_json 'diff over a clock that was set back' '.from_ms == 1699999000000 and .to_ms == 1700000000000'
zmem watch --replay "$clock" -F ndjson --since 2023-11-14T22:00:00Z
equal 'watch --since: what the clock showed from then on' \
	"$(jq -r 'select(.type == "snapshot") | .timestamp_ms' "$TMP/out" | paste -sd' ')" '1700000000000'
zmem watch --replay "$clock" -F ndjson --until 2023-11-14T22:00:00Z
equal 'watch --until: what it showed up to then' \
	"$(jq -r 'select(.type == "snapshot") | .timestamp_ms' "$TMP/out" | paste -sd' ')" '60000 1699999000000'

# unit/test_session_moment.c has times that stood twice, and the end of summer time.

# ---- a directory, or files of it, that others take away ----

gone=$TMP/gone/kept
mkdir -p "$TMP/gone"
"$TMP/deny_bpf" kills "$PROGRAM" record --source proc --keep 7d "$gone" -i 0.2 -q 2>"$TMP/writer" &
writer=$!
has_frames() { "$PROGRAM" --replay "$1" -q >/dev/null 2>&1; }
said() { [ "$(grep -c "$1" "$TMP/writer")" -ge "$2" ]; }
# The recorder may put another file into the directory meanwhile.
remove() {
	until rm -rf "$1" 2>/dev/null; do
		:
	done
}
check 'it records in a directory' wait_until has_frames "$gone"
remove "$gone"
check 'a directory that is removed: it is said' wait_until said 'kept: the directory was removed, renamed or replaced: recording begins anew$' 1
check 'a directory that is removed: it is made anew' wait_until has_frames "$gone"
mv "$gone" "$TMP/moved"
check 'one that is renamed: it is said' wait_until said 'the directory was removed' 2
check 'one that is renamed: it is made anew' wait_until has_frames "$gone"
check 'one that is renamed: what it has can be read' has_frames "$TMP/moved"
mkdir -m 700 "$TMP/other"
mv "$gone" "$TMP/replaced" && mv -T "$TMP/other" "$gone"
check 'one that is replaced: it is said' wait_until said 'the directory was removed' 3
check 'one that is replaced: it goes on there' wait_until has_frames "$gone"
rm "$gone"/*.zmem
check 'a file that is removed: it is said' wait_until said 'kept: the file in work was removed or renamed: another one is begun$' 1
check 'a file that is removed: another one is begun' wait_until has_frames "$gone"
rm "$gone/.lock"
check 'a lock that is removed is made anew' wait_until [ -e "$gone/.lock" ]
refused 'a lock that was removed: a second writer' 1 'another zmem-bpf records here' record -q --keep 7d "$gone" -c 1
check 'it still records' kill -0 $writer
remove "$TMP/gone"
wait $writer
equal 'where none can be made: the exit code' $? 1
check 'where none can be made: it is said' grep -q "opening $gone: No such file or directory" "$TMP/writer"

# ---- a full disk ----

mkdir "$TMP/small"
if need mount 'a full disk' && mount -t tmpfs -o size=4M,mode=700 none "$TMP/small"; then
	"$TMP/deny_bpf" kills "$PROGRAM" record --keep 7d,10M "$TMP/small/kept" -i 0.2 --dense 0 2>"$TMP/writer" &
	writer=$!
	check 'it records on a small disk' wait_until grep -q 'MB a day here' "$TMP/writer"
	head -c 8M /dev/zero >"$TMP/small/other" 2>/dev/null
	check 'a full disk is said' wait_until grep -q 'the disk is full, or nearly' "$TMP/writer"
	check 'it ends nothing' kill -0 $writer
	rm "$TMP/small/other"
	check 'it goes on' wait_until grep -q 'frames are written again ([1-9][0-9]* dropped)' "$TMP/writer"
	kill $writer
	wait $writer
	works 'a full disk: the recording' watch --replay "$TMP/small/kept" -F ndjson
	check 'a full disk: frames before and after' test "$(grep -c '"type":"snapshot"' "$TMP/out")" -gt 2
	umount "$TMP/small"
fi

# The file in work is renamed, so that the next frame needs another file. There are bytes for it, and no inode.
if need mount 'no inode left' && mount -t tmpfs -o size=64M,nr_inodes=20,mode=700 none "$TMP/small"; then
	"$TMP/deny_bpf" kills "$PROGRAM" record --keep 7d,10M "$TMP/small/kept" -i 0.2 --dense 0 2>"$TMP/writer" &
	writer=$!
	check 'it records with few inodes' wait_until grep -q 'MB a day here' "$TMP/writer"
	for ((i = 0; i < 30; i++)); do : >"$TMP/small/other$i" || break; done 2>/dev/null
	equal 'no inode is left' "$(stat -f -c %d "$TMP/small")" 0
	mv "$TMP/small/kept/0000000001.zmem" "$TMP/small/kept/moved"
	check 'no inode is said' wait_until grep -q 'kept: the file system has no inode left for another file: frames are dropped$' "$TMP/writer"
	check 'no inode: it ends nothing' kill -0 $writer
	rm "$TMP"/small/other*
	check 'with inodes it goes on' wait_until grep -q 'frames are written again ([1-9][0-9]* dropped)' "$TMP/writer"
	kill $writer
	wait $writer
	equal 'no inode: the disk is not said to be full' "$(grep -c 'the disk is full' "$TMP/writer")" 0
	umount "$TMP/small"
fi

# ---- denser frames ----

# All of RAM is never available: memory is always short.
works '--dense 100' record --source proc --keep 7d "$TMP/dense" -i 100 --dense 100 -c 4 -q
zmem watch --replay "$TMP/dense" -F ndjson
times=$(jq -s -c '[.[] | select(.type == "snapshot") | .timestamp_ms]' "$TMP/out")
check '--dense: a frame each second' jq -e '.[3] - .[0] | . > 2500 and . < 100000' <<<"$times"
zmem record --source proc --keep 7d "$TMP/sparse" -i 3 --dense 0 -c 2 -q
zmem watch --replay "$TMP/sparse" -F ndjson
check '--dense 0: the interval stays' jq -s -e '[.[] | select(.type == "snapshot") | .timestamp_ms] | .[1] - .[0] > 2500' "$TMP/out"
refused '--dense: no share' 2 '--dense 101: not a number from 0 to 100' record --keep 7d --dense 101 "$dir"
refused '--dense without --keep' 2 '--dense is for --keep' record --dense 3 "$TMP/x"

kill $sleeper

# ---- of another user, as the service's ----

if need users 'the recording of another user'; then
	zmem record --source proc --keep 7d "$TMP/others" -i 0.2 -c 2 -q
	chown -R 65534 "$TMP/others"
	works 'root reads the recording of another user' --replay "$TMP/others" --json
	expect_json 'root reads the recording of another user: processes' '.processes | length > 0'
	works 'root reads the incidents of another user' incidents "$TMP/others"
fi
