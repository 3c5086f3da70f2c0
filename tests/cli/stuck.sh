#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Stuck processes: reading their /proc hangs, too. Any user can make one with FUSE. Every command on
# them, or on all processes, ends and shows the values that could be read.
# needs: fuse counters
. "$(dirname "$0")/../support/cli.sh"

helper stuck
# The leak sanitizer stops all threads when the program ends; a stuck thread does not stop.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
mkdir "$TMP/mount"
PATIENCE=15

# $stuck: the process; it ends with fd 8.
stuck_begin() {
	rm -f "$TMP"/stuck.{in,out,err} # those of the one before
	mkfifo "$TMP/stuck.in"
	unshare -m "$TMP/stuck" "$1" "$TMP/mount" <"$TMP/stuck.in" >"$TMP/stuck.out" 2>"$TMP/stuck.err" &
	stuck_job=$!
	exec 8>"$TMP/stuck.in"
	wait_until test -s "$TMP/stuck.out" -o -s "$TMP/stuck.err"
	stuck=$(cat "$TMP/stuck.out")
	[ -n "$stuck" ] || skip "stuck in $1" "$(cat "$TMP/stuck.err")"
}
stuck_end() {
	exec 8>&-
	wait "$stuck_job"
}

# begin WORD ARG…: runs the program with these arguments in the background. ended NAME WORD: waits for it, and
# leaves its result as run does. Each waits a second for the stuck process, all of them at the same time.
declare -A job_of
begin() {
	timeout -s KILL "$PATIENCE" "$ZMEM" "${@:2}" >"$TMP/out.$1" 2>"$TMP/err.$1" </dev/null &
	job_of[$1]=$!
}
ended() {
	wait "${job_of[$2]}"
	rc=$?
	mv "$TMP/out.$2" "$TMP/out" && mv "$TMP/err.$2" "$TMP/err"
	out=$(cat "$TMP/out") err=$(cat "$TMP/err")
	if [ "$rc" = 137 ]; then
		not_ok "$1: ends" "it does not, in $PATIENCE s"
		return 1
	fi
	expect_rc "$1: ends" 0
}

# A packet ring that a process maps: system looks for the processes of such pages, and reads the mappings of all.
cat >"$TMP/ring.py" <<'END'
import mmap, signal, socket, struct
ring = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
ring.setsockopt(263, 10, 2)  # PACKET_VERSION, TPACKET_V3
ring.setsockopt(263, 5, struct.pack("7I", 1 << 20, 8, 2048, 4096, 0, 0, 0))
pages = mmap.mmap(ring.fileno(), 8 << 20)
print("mapped", flush=True)
signal.pause()
END
"$PYTHON" "$TMP/ring.py" >"$TMP/ring" 2>&1 &
ring=$!
trap 'kill $ring 2>/dev/null; lib_cleanup' EXIT
wait_until grep -q mapped "$TMP/ring" || not_ok 'a packet ring' "$(cat "$TMP/ring")"

for where in exec mmap; do
	stuck_begin $where
	[ -n "$stuck" ] || continue
	begin tables -J --verify all -p "$stuck"
	begin alone -J --pss rollup -p "$stuck"
	begin among -J --pss rollup
	begin compared doctor --compare -J -p "$stuck"
	begin cmdline --pss none -o +cmdline -p "$stuck"
	begin cgroup --pss none -o +unit,cgroup -p "$stuck"
	begin pattern --pss none -f '^zmem-bpf$'
	begin table --pss rollup -p "$stuck"
	begin system system -J
	if ended "in $where, page tables" tables; then
		expect_json "in $where: its page tables can be read" '.processes[0] |
			.pss_source == "kernel" and .pss_bytes > 0 and .pss_bytes <= .rss_bytes'
		expect_json "in $where: nothing is missing then" '.collection.complete == true'
	fi
	if ended "in $where, alone" alone; then
		expect_json "in $where: counters are measured, PSS is null with a reason" \
			'.processes[0] | .rss_bytes > 0 and .pss_bytes == null and .pss_status == "timeout"'
		expect_json "in $where: the snapshot is incomplete" '.collection.complete == false and
			.collection.timeout == 1'
	fi
	if ended "in $where, among all" among; then
		expect_json "in $where, among all: the others have their PSS" \
			'([.processes[] | select(.pss_status == "ok")] | length) > 3 and
			 (.processes[] | select(.pid == $pid) | .pss_status == "timeout")' --argjson pid "$stuck"
	fi
	if ended "in $where, compared" compared; then
		expect_json "in $where, compared: no difference, smaps_rollup does not answer" \
			'.summary.different == 0 and .summary.timeout > 0 and .summary.same > 5'
	fi
	ended "in $where, its command line" cmdline
	ended "in $where, its cgroup" cgroup
	ended "in $where, a pattern" pattern
	if ended "in $where, system" system; then
		expect_json "in $where, system: the processes of the pages of drivers" '.ram.classes[] | select(.class == "driver_mapped") |
			any(.parts[]; (.name | contains("(\($pid)) socket:[")) and .bytes == 8388608)' --argjson pid $ring
	fi
	ended "in $where, table" table
	expect_out "in $where, table: the total line names it" 'timeout'
	if [ $where = exec ]; then
		# With --source proc it would not end: stat itself blocks, as for ps (zmem-bpf(1), CAVEATS).
		# A signal still ends it while it waits, and no file is left.
		mkdir "$TMP/dir"
		"$ZMEM" --pss rollup --output "$TMP/dir/file" -p "$stuck" 2>/dev/null &
		waiting=$!
		wait_until eval '[ "$(ls /proc/$waiting/task | wc -l)" -gt 1 ]' # a thread reads
		kill -TERM "$waiting"
		wait "$waiting" 2>/dev/null
		equal 'interrupted while it waits: nothing is left' "$(ls -A "$TMP/dir")" ''
	fi
	stuck_end
done

# ---- on a screen ----

stuck_begin exec
if [ -n "$stuck" ]; then
	mkfifo "$TMP/keys"
	script -qfc "stty rows 30 columns 100; exec '$ZMEM' top --verify 0 -p $stuck" "$TMP/screen" \
		<"$TMP/keys" >/dev/null 2>&1 &
	job=$!
	exec 9>"$TMP/keys"
	wait_until grep -qs quit "$TMP/screen"
	printf '\r' >&9
	check 'top: shows values without waiting for mappings' wait_until grep -qs 'mappings: reading' "$TMP/screen"
	check 'top: gives the reason for missing mappings' wait_until grep -qs 'it is stuck, so its mappings cannot be read' "$TMP/screen"
	printf qq >&9
	wait $job
	exec 9>&-
	stuck_end
fi

# The arguments of a program in execve() count as anonymous memory and are not mapped. They belong to
# the task that is in execve(), which need not be the first thread of the process.
for where in load load_thread load_spawn load_share; do
	for pss in kernel rollup; do
		stuck_begin $where
		[ -n "$stuck" ] || continue
		name="in $where, --pss $pss"
		works "$name: a value that is read again may move" -J --pss $pss --verify all -p "$stuck"
		expect_json "$name: checked, not the same, not different" '.collection.cross_check |
			.checked == 1 and .moved == 1 and .different == 0'
		works "$name, compared: no difference" doctor --compare -J --pss $pss -p "$stuck"
		expect_json "$name, compared: Rss moved by the size of the arguments" 'any(.cells[];
			.counter == "rss" and .verdict == "moved" and .difference_bytes >= 100000)'
		stuck_end
	done
done

# ---- no thread to replace a stuck one ----

# One CPU has one reader. It hangs on the first stuck process, which is then known as stuck and not
# read again. The reader that hangs on the second process cannot be replaced.
caps=-all,+bpf,+perfmon,+sys_ptrace
stuck_begin exec
if [ -n "$stuck" ]; then
	setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=$caps --ambient-caps=$caps \
		--bounding-set=$caps taskset -c "$(taskset -pc $$ | grep -o '[0-9]*$')" "$ZMEM" watch \
		--no-lock -i 0.2 --pss rollup --verify 0 -F ndjson >"$TMP/out" 2>"$TMP/err" &
	job=$!
	snapshots() {
		grep -c '"type":"snapshot"' "$TMP/out"
	}
	wait_until eval '[ "$(snapshots)" -ge 3 ]' || not_ok 'stuck again and again: ticks go on' "$(snapshots)"
	setpriv --reuid=65534 --regid=65534 --clear-groups prlimit --pid $job --nproc=1:1
	equal 'stuck again and again: a thread replaces the stuck one, no message' "$(cat "$TMP/err")" ''
	first=$stuck first_job=$stuck_job
	exec 9>&8
	stuck_begin exec
	wait_until test -s "$TMP/err"
	before=$(snapshots)
	wait_until eval '[ "$(snapshots)" -ge $((before + 3)) ]' || not_ok 'no thread in its place: ticks go on' "$(snapshots)"
	kill -KILL $job 2>/dev/null && wait $job 2>/dev/null
	sed -i '$d' "$TMP/out" # it may be half a line
	err=$(cat "$TMP/err")
	expect_err 'no thread in its place: a message' '^zmem-bpf: no thread could be started'
	expect_stderr_lines 'no thread in its place: once' 1
	equal 'no thread in its place: PSS of the others in each tick' \
		"$(jq -c "select(.pid == $$) | .pss_status" "$TMP/out" | sort -u)" '"ok"'
	equal 'no thread in its place: no PSS of the stuck ones' \
		"$(jq -c "select(.pid == $first or .pid == $stuck) | .pss_status, .pss_bytes" "$TMP/out" |
			sort -u | paste -sd' ')" '"timeout" null'
	stuck_end
	exec 9>&-
	wait "$first_job"
fi
