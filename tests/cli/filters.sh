#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The processes shown; JSON is valid in every mode. unit/test_query_order.c and test_query_filter.c have orders, the
# first N and what several filters choose.
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

tells '-f, the whole name' "[.processes[].pid] | sort == ([$sleeper, $nobody] | sort)" -J -f '^zmem_clitest$'
zmem -J -f "1000[.]25$$"
expect_json '-f, the command line' "[.processes[].pid] == [$sleeper]"
expect_json '-f: the matching command line is in the document' \
	'.processes[0].cmdline | endswith("zmem_clitest 1000.25'$$'")'
# Our own arguments contain the pattern.
tells '-f: zmem-bpf does not match by its own arguments' '.processes | all(.name != "zmem-bpf")' -J -o +cmdline -f 'mem_clit'
tells '-f: zmem-bpf matches by its name' '[.processes[] | select(.name == "zmem-bpf")] | length >= 1' -J -f '^zmem-bpf$'
works '-f that matches nothing: exit code' -J -f '^no such name or command line$'
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
tells 'a thread is not a process that BPF does not see' '.collection | .not_seen == 0 and .complete' -q -J -p "$thread,$with_threads"
# A sanitizer reads /proc.
if need 'plain counters mount' 'a thread, without /proc'; then
	run unshare -m sh -c 'umount -l /proc; exec "$@"' - "$ZMEM" -q --pss none -p "$thread"
	equal 'a thread, without /proc: its process' "$rc $err" \
		"3 zmem-bpf: --pid $thread: $thread is a thread of process $with_threads"
fi
zmem -q -J --replay "$TMP/thread.zmem" -p "$thread"
equal 'a thread, in a recording: not asked' "$rc $err" "3 zmem-bpf: --pid $thread: there is no such process"
says '--min that hides all: the sentence names it' "^no process matches --pid $$ with this --min" -p $$ --min 100G
says '-f that matches nothing: a sentence' '^no process matches --filter ' -f '^no such name or command line$'
says 'a path without its slash: a hint' '^no process matches --cgroup docker/\* \(a path begins with /\)$' --cgroup 'docker/*'
zmem --cgroup 'zmem-none*'
expect_out 'a name needs none' '^no process matches --cgroup zmem-none\*$'
if need counters 'a path without its slash: peak'; then
	warns 'a path without its slash: peak' '--cgroup docker/x \(a path begins with /\)$' peak --cgroup 'docker/x'
fi
zmem -J --pss none
expect_json 'no kernel threads and no zombies unless asked for' \
	'all(.processes[]; .pss_status != "kernel_thread" and .rss_bytes != null)'
expect_json 'every process is shown, filtered, a kernel thread or a zombie' '.collection |
	.processes_seen == .reported + .filtered + .kernel_threads + .zombies'
expect_json 'command lines are read only on request' 'all(.processes[]; has("cmdline") | not)'

# unit/test_query_parse.c has users of any name.
name='DOM\x2d\jane doe'
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
	tells "valid, sound: $mode" "$sound" -J $mode
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
	says 'and in words' '1 process is a kernel thread: it has no memory of its own' -p 2
	says 'beside a zombie' '2 processes are kernel threads or have ended: they have no memory' -p "2,$zombie"
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

# A process without its first thread still has its memory and must be ranked by it.
hog=$(mkmem_pid_of leader_exit main)
zmem -J -p "$hog,$sleeper"
expect_json 'the first thread ended: PSS is read from another thread' \
	".processes[] | select(.pid == $hog) | .pss_bytes > 0"
expect_json 'the first thread ended: ranked by its PSS' ".processes[0].pid == $hog"
tells 'the first thread ended: among the first N' ".processes[0].pid == $hog" -J -p "$hog,$sleeper" -n 1
