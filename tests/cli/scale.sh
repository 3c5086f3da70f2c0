#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Many processes, several readers at once; live/test_world.py has processes that start and end. LONG=1 (make soak): as many as
# the machine allows.
# alone: thousands of processes make every other test's snapshots slow
. "$(dirname "$0")/../support/cli.sh"

# Without BPF, a line on stderr says that counters come from /proc.
source=bpf notes=0
have counters || { source=proc notes=1; }
helper fleet
fleet_begin() { # COUNT KIB [THREADS]
	rm -f "$TMP/fleet.in"
	mkfifo "$TMP/fleet.in"
	"$TMP/fleet" "$@" <"$TMP/fleet.in" >"$TMP/fleet.out" &
	fleet=$!
	exec 8>"$TMP/fleet.in"
	while ! grep -q . "$TMP/fleet.out"; do
		kill -0 "$fleet" 2>/dev/null || break
		sleep 0.05
	done
	grep -q READY "$TMP/fleet.out"
}
fleet_end() {
	exec 8>&-
	wait "$fleet"
}

# room COUNT: true if COUNT more processes can be started.
room() {
	local running limit
	running=$(sed -E 's,.*/([0-9]+) .*,\1,' /proc/loadavg)
	limit=$(cat /proc/sys/kernel/pid_max)
	[ "$limit" -gt "$(cat /proc/sys/kernel/threads-max)" ] && limit=$(cat /proc/sys/kernel/threads-max)
	[ $((running + $1 + 1000)) -lt "$limit" ] &&
		[ "$(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo)" -gt $(($1 * 250)) ]
}

# peak ARG…: runs the program; sets $rc, $TMP/out, and its peak memory in $kib, at least some 10 MiB:
# the memory of Python when it started the program.
peak() {
	"$PYTHON" - "$ZMEM" "$@" >"$TMP/peak" 2>"$TMP/err" <<-END
		import resource, subprocess, sys
		done = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=open("$TMP/out", "wb"))
		print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
	END
	read -r rc kib <"$TMP/peak"
	err=$(cat "$TMP/err")
}

# bounded NAME KIB: the last run had at most this peak; not checked with sanitizers.
bounded() {
	sanitized || check "$1: at most $2 KiB of memory ($kib)" test "$kib" -le "$2"
}

# Every child of the fleet is there once, with at least the memory it touched and equal other values.
# shellcheck disable=SC2016
whole='[.processes[] | select(.name == "fleet" and .ppid == $fleet)] | length == $count and
	([.[].pid] | unique | length == $count) and all(.rss_anon_bytes >= $kib * 1024)'

# levels COUNT: a process is in a cgroup of so many levels, which every user can make below a delegated one.
levels() {
	"$PYTHON" -B - "$SUPPORT" "$1" <<-'END'
		import json, os, subprocess, sys
		sys.path.insert(0, sys.argv[1])
		from oom import V1, V2, write
		from outcome import PROGRAM, exit_code, have, result, wait_until
		from serving import Serve
		count, most, name = int(sys.argv[2]), 64, "zmem-levels-%d" % os.getpid()
		root = V1 if os.path.isdir(V1) else V2
		os.mkdir(os.path.join(root, name))
		sleeper, made, bottom = subprocess.Popen(("sleep", "1000")), 1, None
		os.chdir(os.path.join(root, name))
		try:
		    while made < count:
		        os.mkdir("d")
		        os.chdir("d")
		        made += 1
		    write("cgroup.procs", str(sleeper.pid))
		    bottom = os.open(".", os.O_RDONLY)
		    os.chdir("/")
		    with Serve() as serve:
		        answer = serve.get("/metrics")
		        result(answer.code == 200, "%d levels: /metrics answers" % count, answer.code)
		        # On a busy machine its cgroup may be read in a later snapshot.
		        said = wait_until(lambda: serve.metric('zmem_collect_cgroups_left_out{reason="depth"}') == 1)
		        result(said, "%d levels: /metrics says what it leaves out" % count)
		    done = subprocess.run((PROGRAM, "-g", "cgroup", "-a", "-J"), capture_output=True, check=False)
		    groups = json.loads(done.stdout)["groups"]
		    found = [(len(g["group"]), g["mem_cgroup"]) for g in groups if (g["group"] or "").startswith("/" + name)]
		    # Without a controller in these cgroups (v2) it is the cgroup that has one.
		    above = "/" + name + "/d" * (most - 1)
		    result(len(found) == 1 and (found[0][1] == above or root == V2), "%d levels: -g has the values of the cgroup above" %
		           count, found)
		    result(done.stderr.count(b"\n") == (1 if have("counters") else 2) and b"(1 below level %d," % most in done.stderr,
		           "%d levels: -g says so" % count, done.stderr)
		finally:
		    if bottom is not None:
		        os.fchdir(bottom)
		    sleeper.kill()
		    sleeper.wait()
		    for _ in range(made - 1):
		        os.chdir("..")
		        os.rmdir("d")
		    os.chdir("/")
		    os.rmdir(os.path.join(root, name))
		sys.exit(exit_code())
	END
}

# kills COUNT: a recorder that does not read has no room for all processes of all kills, and says so.
kills() {
	"$PYTHON" -B - "$SUPPORT" "$TMP" "$1" <<-'END'
		import signal, subprocess, sys, time
		sys.path.insert(0, sys.argv[1])
		import oom
		from outcome import PROGRAM, exit_code, result, wait_until
		KILLS = 12
		program, directory, count = oom.eater(sys.argv[2], "eats-scale"), sys.argv[2] + "/kills", int(sys.argv[3])
		with oom.Group("zmem-scale") as group:
		    if not group:
		        sys.exit(print("skip kills: no memory cgroup can be made"))
		    recorder = subprocess.Popen((PROGRAM, "record", "--keep", "1h", directory, "-i", "1", "-q"))
		    try:
		        wait_until(lambda: oom.document("--replay", directory))
		        recorder.send_signal(signal.SIGSTOP)
		        pids = []
		        # The room is for 5,000 processes; what is left is for the victims. A slow machine reads 600 in time.
		        for _ in range(KILLS):
		            pids.append(group.kill(program))
		            time.sleep(1.1)  # time itself: all processes are read at one of the kills of a second
		        recorder.send_signal(signal.SIGCONT)
		        wait_until(lambda: len(oom.events_of(directory, pids)) == KILLS)
		    finally:
		        recorder.send_signal(signal.SIGCONT)
		        recorder.terminate()
		        recorder.wait()
		    found = [(e["processes_recorded"], e["processes_lost"], e["processes_unread"])
		             for e in oom.events_of(directory, pids)]
		    # On a busy machine its time may be over before the last process, which is counted, or not even that.
		    result(len(found) == KILLS and all(unread is None or recorded + lost + unread > count for recorded, lost, unread in found) and
		           found[0][1] == 0 and found[-1][1] > 0, "kills: what had no room or was not read is counted", found)
		    # What was not read has not ended, and what is read again has not begun.
		    live = [line["pid"] for line in oom.document("--replay", directory)["processes"] if line["name"] == "fleet"]
		    events = oom.document("incidents", directory)["events"]
		    for number in [e["number"] for e in events if e["victim"]["pid"] in pids and e["table"]]:
		        moment = "event:%d" % number
		        for args in (("--to", moment), ("--from", moment)):
		            rows = oom.document("diff", directory, *args)["rows"]
		            wrong = [row for row in rows if row["pid"] in live and row["state"] in ("began", "ended")]
		            result(not wrong and len(rows) >= len(live), "kills: diff %s %s: no process began or ended" % args, wrong[:2])
		            result(oom.document("--replay", directory, "--at", moment)["collection"]["complete"] or
		                   any(row["state"] is None and row["missing_processes"] for row in rows),
		                   "kills: diff %s %s: those that were not read are said to be" % args)
		sys.exit(exit_code())
	END
}

counts=2000 most_threads=20000
[ -z "${LONG:-}" ] || counts='2000 5000 20000' most_threads=100000
for count in $counts; do
	if ! room $count; then
		skip "$count processes" 'this machine has no room for them'
		continue
	fi
	if ! fleet_begin $count 32; then
		skip "$count processes" "$(cat "$TMP/fleet.out")"
		fleet_end
		continue
	fi
	peak -J
	expect_rc "$count processes: exit code" 0
	# A process takes five eighths of a KiB; the document is written in parts.
	# Other programs run here, too.
	bounded "$count processes" $((16384 + count * 5 / 8))
	expect_stderr_lines "$count processes: silent" "$notes"
	check "$count processes: every process" jq -e "$whole and all(.pss_status == \"ok\")" \
		--argjson fleet "$fleet" --argjson count $count --argjson kib 32 "$TMP/out"
	# shellcheck disable=SC2016
	check "$count processes: totals add up" jq -e '.totals.rss_anon_bytes ==
		([.processes[] | select(.mm_owner) | .rss_anon_bytes] | add)' "$TMP/out"
	run timeout 300 "$ZMEM" -n 500 -J
	expect_json "$count processes, -n 500: valid" '.processes | length == 500'
	run timeout 300 "$ZMEM" --source proc --pss none -J
	check "$count processes, from /proc: every process" jq -e "$whole" \
		--argjson fleet "$fleet" --argjson count $count --argjson kib 32 "$TMP/out"
	run timeout 300 "$ZMEM" -f '^fleet$' -J --pss none
	check "$count processes, a pattern: every process" jq -e "$whole" \
		--argjson fleet "$fleet" --argjson count $count --argjson kib 32 "$TMP/out"
	[ "$count" != "${counts%% *}" ] || ! need 'bpf cgroups' kills || kills $count || failed=1
	fleet_end
done

# Threads are counted and add no memory: this many, or as many as the machine allows.
threads=$((most_threads / 100))
while [ $threads -gt 50 ] && ! room $((threads * 100)); do
	threads=$((threads - 50))
done
many="$((threads * 100)) threads"
if ! room $((threads * 100)) || ! fleet_begin 100 32 $threads; then
	skip 'many threads' "this machine has no room for them: $(cat "$TMP/fleet.out")"
else
	peak -J
	expect_rc "$many: exit code" 0
	expect_stderr_lines "$many: silent" "$notes"
	bounded "$many" 12288
	check "$many: each process once" jq -e "([.processes[] |
		select(.name == \"fleet\" and .ppid == \$fleet)] |
		all(.threads == $threads + 1 and .pss_status == \"ok\")) and ($whole)" \
		--argjson fleet "$fleet" --argjson count 100 --argjson kib 32 "$TMP/out"
	peak -J --source proc --pss none
	bounded "$many, from /proc" 12288
	fleet_end
fi

# ---- at once ----

for i in $(seq 20); do
	(
		timeout -s KILL "$PATIENCE" "$ZMEM" -J >"$TMP/once.$i" 2>"$TMP/once.err.$i"
		echo $? >"$TMP/rc.$i"
	) &
done
wait
equal 'twenty at once: exit codes' "$(cat "$TMP"/rc.* | sort -u | paste -sd' ')" 0
check 'twenty at once: all valid' "$PYTHON" "$SUPPORT/validate_json.py" "$TMP"/once.[0-9]*
equal 'twenty at once: no message' "$(cat "$TMP"/once.err.* | wc -l)" $((20 * notes))
check 'twenty at once: all from the same source' jq -es --arg source $source \
	'[.[].source.counters] | unique == [$source]' "$TMP"/once.[0-9]*
check 'twenty at once: all see the same idle processes' jq -es --argjson self $$ \
	'[.[] | [.processes[] | select(.pid == $self) | .start_time_ms / 10 | floor]] | unique | length <= 2' \
	"$TMP"/once.[0-9]*

! need cgroups levels || levels 1900 || failed=1
