#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The processes shown, their order and number; JSON is valid in every mode.
. "$(dirname "$0")/../support/cli.sh"

mkmem_begin anon shmem fork clone_vm leader_exit zombie || not_ok 'mkmem' 'did not start'
# The name of this copy matches no other process.
cp "$(command -v sleep)" "$TMP/zmem_clitest"
# The same test may run from another tree: the number distinguishes them.
"$TMP/zmem_clitest" "1000.25$$" &
sleeper=$!
# Of another user, if there can be one.
user=$(id -un) other=nobody as_other=(setpriv --reuid=65534 --regid=65534 --clear-groups)
have users || { other=$user; as_other=(); }
"${as_other[@]}" "$TMP/zmem_clitest" 1000.5 &
nobody=$!
end_sleepers() {
	kill "$sleeper" "$nobody" 2>/dev/null
	lib_cleanup
}
trap end_sleepers EXIT
wait_until grep -q "^Uid:.$(id -u "$other")" "/proc/$nobody/status"
wait_until grep -aq 1000.5 "/proc/$nobody/cmdline"
pids=$(sed -n 's/^READY [^ ]* [^ ]* //p' "$TMP/mkmem" | paste -sd,)
zombie=$(mkmem_pid_of zombie zombie)

# ---- filters ----

zmem -J -u "$user,nobody"
expect_json '-u of two' \
	".processes | any(.pid == $nobody) and any(.pid == $sleeper) and all(.uid == $UID or .uid == 65534)"
zmem -J -p "$sleeper,$nobody"
expect_json '-p of two' "[.processes[].pid] | sort == ([$sleeper, $nobody] | sort)"
if need users '-p and -u'; then
	zmem -J -p "$sleeper" -p "$nobody" -u nobody
	expect_json '-p and -u: both must hold' "[.processes[].pid] == [$nobody]"
	expect_rc '-p and -u: a process that is filtered out is not missing' 0
fi
zmem -J -f '^zmem_clitest$'
expect_json '-f, the whole name' "[.processes[].pid] | sort == ([$sleeper, $nobody] | sort)"
zmem -J -f "1000[.]25$$"
expect_json '-f, the command line' "[.processes[].pid] == [$sleeper]"
expect_json '-f: the matching command line is in the document' \
	'.processes[0].cmdline | endswith("zmem_clitest 1000.25'$$'")'
if need users '-f and -u'; then
	zmem -J -f 'zmem_(x|clitest)' -u nobody
	expect_json '-f and -u: both must hold' "[.processes[].pid] == [$nobody]"
fi
# Our own arguments contain the pattern.
zmem -J -o +cmdline -f 'mem_clit'
expect_json '-f: zmem-bpf does not match by its own arguments' '.processes | all(.name != "zmem-bpf")'
zmem -J -f '^zmem-bpf$'
expect_json '-f: zmem-bpf matches by its name' '[.processes[] | select(.name == "zmem-bpf")] | length >= 1'
zmem -J -f '^no such name or command line$'
expect_rc '-f that matches nothing: exit code' 0
expect_json '-f that matches nothing: no rows' '.processes == [] and .totals.processes == 0 and
	.collection.filtered > 0'
# said: what is on stderr besides the note that there are no counters of BPF.
said() {
	grep -v '^zmem-bpf: counters come from /proc: ' "$TMP/err"
}
equal '-f that matches nothing, JSON: a note' "$(said)" \
	'zmem-bpf: no process matches --filter ^no such name or command line$'
for command in -J maps "record $TMP/nothing.zmem"; do
	# shellcheck disable=SC2086
	zmem $command --unit no-such-unit
	equal "${command%% *} --unit: a note that none matches" "$rc $(said)" '0 zmem-bpf: no process matches --unit no-such-unit'
done
zmem -q -J --unit no-such-unit
expect_stderr_lines '--unit -q: no note' 0
zmem -J --unit no-such-unit -p 4194303
equal 'a pid that does not exist: its own message alone' "$(said)" 'zmem-bpf: --pid 4194303: there is no such process'
# A thread has no row of its own, for any user.
with_threads=$(mkmem_pid_of leader_exit '[^ ]*')
thread=$(for task in "/proc/$with_threads/task"/*; do echo "${task##*/}"; done | grep -vx "$with_threads" | head -n 1)
by_bpf=()
! need counters 'doctor --compare THREAD' || by_bpf+=('doctor --compare -p')
! need bpf 'grow THREAD' || by_bpf+=('grow -c 1')
for command in '-J -p' 'maps' 'maps --by-file' 'watch -c 1 -p' '--source proc -p' \
	'maps --source proc' "record -c 1 $TMP/thread.zmem -p" "${by_bpf[@]}"; do
	# shellcheck disable=SC2086
	zmem -q $command "$thread"
	equal "$command THREAD: its process" "$rc ${err#*: }" \
		"3 $([ "${command%% *}" = grow ] || echo "--pid $thread: ")$thread is a thread of process $with_threads"
done
zmem -q -J -p "$thread,$with_threads"
expect_json 'a thread is not a process that BPF does not see' '.collection | .not_seen == 0 and .complete'
# A sanitizer reads /proc.
if need 'plain counters mount' 'a thread, without /proc'; then
	run unshare -m sh -c 'umount -l /proc; exec "$@"' - "$ZMEM" -q --pss none -p "$thread"
	equal 'a thread, without /proc: its process' "$rc $err" \
		"3 zmem-bpf: --pid $thread: $thread is a thread of process $with_threads"
fi
zmem -q -J --replay "$TMP/thread.zmem" -p "$thread"
equal 'a thread, in a recording: not asked' "$rc $err" "3 zmem-bpf: --pid $thread: there is no such process"
zmem -p $$ --min 100G
expect_out '--min that hides all: the sentence names it' "^no process matches --pid $$ with this --min"
zmem -f '^no such name or command line$'
expect_out '-f that matches nothing: a sentence' '^no process matches --filter '
zmem --cgroup 'docker/*'
expect_out 'a path without its slash: a hint' '^no process matches --cgroup docker/\* \(a path begins with /\)$'
zmem --cgroup 'docker*'
expect_out 'a name needs none' '^no process matches --cgroup docker\*$'
if need counters 'a path without its slash: peak'; then
	zmem peak --cgroup 'docker/x'
	expect_err 'a path without its slash: peak' '--cgroup docker/x \(a path begins with /\)$'
fi
zmem -J --pss none
expect_json 'no kernel threads and no zombies unless asked for' \
	'all(.processes[]; .pss_status != "kernel_thread" and .rss_bytes != null)'
expect_json 'every process is shown, filtered, a kernel thread or a zombie' '.collection |
	.processes_seen == .reported + .filtered + .kernel_threads + .zombies'
expect_json 'command lines are read only on request' 'all(.processes[]; has("cmdline") | not)'

# ---- users with any name, given as they are printed ----

printf '%s\n' 'root:x:0:0::/:/bin/sh' 'DOM\x2d\jane doe:x:54321:1::/:/bin/sh' >"$TMP/passwd"
name='DOM\x2d\jane doe'
with_passwd() {
	# shellcheck disable=SC2016
	run timeout -s KILL "$PATIENCE" unshare -m sh -c 'mount --bind "$0" /etc/passwd && exec "$@"' "$TMP/passwd" "$@"
}
if need 'users mount' 'a user with a blank and backslashes'; then
	setpriv --reuid=54321 --regid=65534 --clear-groups "$TMP/zmem_clitest" 1000.7 &
	jane=$!
	wait_until grep -q '^Uid:.54321' "/proc/$jane/status"
	with_passwd "$ZMEM" -H -p "$jane" -o user
	printed=$(head -n 1 "$TMP/out")
	equal 'a user with a blank and backslashes, as printed' "${printed#"${printed%%[! ]*}"}" "$name"
	for list in "$name" "\"$name\"" "no one, $name ,nobody"; do
		with_passwd "$ZMEM" -q -J -u "$list"
		expect_json "-u $list" '[.processes[] | select(.uid != 65534) | .pid] == [$pid]' --argjson pid "$jane"
	done
	with_passwd "$STATIC" -J -u "$name"
	expect_json '-u, static' '[.processes[].pid] == [$pid]' --argjson pid "$jane"
	kill "$jane"
fi
run "$STATIC" -u "$name"
expect_rc '-u, static: not found' 3
need plain '-u, static: not found: why' && expect_err '-u, static: a user of another service may not be found' 'no such user in /etc/passwd.*static'

# ---- a valid document in all modes ----

# In every mode: ids are unique, a value that was not measured is null with a reason, totals add up.
# shellcheck disable=SC2016
sound='([.processes[].pid] | length == (unique | length)) and
	all(.processes[]; (.pss_bytes == null) == (.pss_status != "ok")) and
	.collection.reported == (.processes | length)'
# shellcheck disable=SC2016
sums='def sum(f): map(f // 0) | add // 0;
	([.processes[] | select(.mm_owner)]) as $rows | .totals as $t |
	all("rss_bytes", "swap_bytes", "pss_bytes", "uss_bytes", "rss_anon_bytes", "rss_file_bytes",
	    "rss_shmem_bytes", "vsize_bytes", "pgtables_bytes"; . as $key |
	    ($rows | map(.[$key] // 0) | add // 0) == ($t[$key] // 0))'
for mode in '' '--pss none' '--pss rollup' '--source proc' "-p $pids" '-o +cmdline -r -s name -a -b -H -w' \
	"--numeric --color always -u $user"; do
	# shellcheck disable=SC2086
	zmem -J $mode
	expect_json "valid, sound, totals add up: $mode" "($sound) and ($sums)"
	expect_rc "exit code: $mode" 0
done
for mode in '-n 3 -s swap' '-n 5 -r -s uss' '--top 5 --source proc' '-n 1000000000'; do
	# shellcheck disable=SC2086
	zmem -J $mode
	expect_json "valid, sound: $mode" "$sound"
	want=${mode#*-n } want=${want#*--top } want=${want%% *}
	expect_json "the number of rows: $mode" \
		'(.processes | length) == ([$n, .totals.processes] | min)' --argjson n "$want"
done
zmem -J --total
expect_json '--total: valid, no rows, all processes summed' '.processes == [] and .totals.processes > 5 and
	.totals.rss_bytes > 0 and .totals.pss_bytes > 0'
if [ "$(cat /proc/2/comm 2>/dev/null)" = kthreadd ]; then
	zmem -J -p 2
	expect_json 'a kernel thread by pid' '.processes | length == 1 and .[0].name == "kthreadd" and
		.[0].pss_status == "kernel_thread" and .[0].rss_bytes == null'
	zmem -p 2
	expect_out 'and in words' '1 process is a kernel thread: it has no memory of its own'
	zmem -p "2,$zombie"
	expect_out 'beside a zombie' '2 processes are kernel threads or have ended: they have no memory'
else
	skip 'a kernel thread by pid' 'a container sees none'
fi
zmem -J -p "$zombie"
expect_json 'a zombie by pid' '.processes | length == 1 and .[0].pss_status == "gone" and
	.[0].rss_bytes == null and .[0].pss_bytes == null'
zmem -p "$zombie"
expect_out 'and in words' '1 process has ended: it has no memory any more'
(exec "$ZMEM" -J -p "$BASHPID") >"$TMP/out" 2>"$TMP/err"
expect_json 'zmem-bpf itself' '.processes | length == 1 and .[0].name == "zmem-bpf" and
	.[0].pss_status == "ok"'

# ---- order ----

# unit/test_query_order.c has every key.
# ordered NAME KEYS ARG…: KEYS makes an array of each row; the arrays must ascend.
# A process that ends after the rows were sorted keeps its position.
ordered() {
	local name=$1 keys=$2
	shift 2
	zmem -J "$@"
	expect_json "order: $name" "[.processes[] | select(.user and .pss_status != \"gone\" and (has(\"name_hex\") | not)) | $keys] |
		length > 5 and . == sort"
}
# What cannot be read stands by the most that it can be.
ordered 'the default is PSS' '[-(.pss_bytes // .rss_bytes), .pid]'
ordered '-s uss -r' '[.uss_bytes == null, .uss_bytes, .pid]' -s uss -r
ordered '-s name,rss' '[.name, -.rss_bytes, .pid]' -s name,rss
ordered '-s swap,name,pid' '[-.swap_bytes, .name, .pid]' -s swap,name,pid
# Counters and numbers of processes descend, all other keys ascend.
ordered '-r -s threads,rss' '[.threads, .rss_bytes, .pid]' -r -s threads,rss
ordered '-s start' '[.start_time_ms, .pid]' -s start
ordered '--pss none falls back to RSS' '[-.rss_bytes, .pid]' --pss none
zmem -H -o name,rss -s name -r --pss none -p "$pids"
equal 'order: text in reverse' "$(sed '/ total$/,$d' "$TMP/out" | cut -d' ' -f1)" \
	"$(sed '/ total$/,$d' "$TMP/out" | cut -d' ' -f1 | sort -r)"

# ---- the first N ----

# Between two runs only the share of the vdso page in PSS changes, because all processes map it. That
# may swap two rows that are nearly equal; then neither row is wrong.
for keys in pss uss,rss; do
	case $keys in
	pss) row="[.${keys}_bytes]" ;;
	*) row='[.pid, .name, .rss_bytes, .uss_bytes]' ;;
	esac
	for reverse in '' -r; do
		# shellcheck disable=SC2086
		"$STATIC" -J -p "$pids" -s $keys $reverse | jq -c "[.processes[] | $row]" >"$TMP/all"
		for n in 1 4; do
			# shellcheck disable=SC2086
			"$STATIC" -J -p "$pids" -s $keys $reverse -n $n | jq -c "[.processes[] | $row]" >"$TMP/first"
			if jq -se --argjson n "$n" '(.[0][:$n] | length) == $n and (.[1] | length) == $n and
				([.[0][:$n], .[1]] | transpose | all(.[]; . as [$a, $b] | $a == $b or
				(($a | length) == 1 and ($a[0] - $b[0] | fabs) <= 1024)))' "$TMP/all" "$TMP/first" >/dev/null
			then
				ok "-n $n -s $keys $reverse: the first of all"
			else
				not_ok "-n $n -s $keys $reverse: the first of all" "$(cat "$TMP/first"), not $(
					jq -c ".[:$n]" "$TMP/all")"
			fi
		done
	done
done
zmem -H -n 4 -p "$pids"
equal '-n 4: four rows, the others and the total' "$(sed '/ total$/q' "$TMP/out" | wc -l)" 6
expect_out '-n 4: the number of others' '… [0-9]+ more$'
zmem -H -n 4 -p "$pids" --total
equal '-n 4 --total: the total' "$(wc -l <"$TMP/out")" 1
# A process without its first thread still has its memory and must be ranked by it.
hog=$(mkmem_pid_of leader_exit main)
zmem -J -p "$hog,$sleeper"
expect_json 'the first thread ended: PSS is read from another thread' \
	".processes[] | select(.pid == $hog) | .pss_bytes > 0"
expect_json 'the first thread ended: ranked by its PSS' ".processes[0].pid == $hog"
zmem -J -p "$hog,$sleeper" -n 1
expect_json 'the first thread ended: among the first N' ".processes[0].pid == $hog"
