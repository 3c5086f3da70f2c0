#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# zmem-bpf maps: each mapping and sums by file, compared with smaps_rollup and maps of the same processes.
. "$(dirname "$0")/../support/cli.sh"

free_pid=4194303

# ---- sums: of processes in known states, which are idle ----

mkmem_begin anon mlock hugetlb hugetlb_shared memfd2 file_many file_mlock many_maps fork zero \
	clone_vm leader_exit zombie thp || not_ok mkmem 'did not start'

# live/test_world.py compares each mapping and the totals with smaps.
pid_of() { sed -n "s/^READY $1 [^ ]* //p" "$TMP/mkmem" | head -n 1; }

zmem maps -b -H -s pid,address "$(pid_of anon)"
equal 'addresses are those of /proc/PID/maps' "$(sed 's/ .*//' <(head -n -2 "$TMP/out") | paste -sd' ')" \
	"$(sed 's/ .*//' "/proc/$(pid_of anon)/maps" | paste -sd' ')"
equal 'protections' "$(awk '$1 ~ /-/ { print $2 }' "$TMP/out" | paste -sd' ')" \
	"$(awk '{ print $2 }' "/proc/$(pid_of anon)/maps" | paste -sd' ')"
zmem maps -J "$(pid_of file_mlock)"
expect_json 'a locked file is visible' 'any(.mappings[]; .locked_bytes > 0 and (.name | startswith("/")))'
expect_json 'a deleted file has its old name' 'any(.mappings[]; .name | test("^/.*/mkmem file[^/]* \\(deleted\\)$"))'
expect_json 'names from the kernel' '[.mappings[].name] | contains(["[anon]", "[stack]", "[vdso]"])'

zmem maps -J "$(pid_of leader_exit)"
expect_json 'a leader that has exited: the memory of its threads' '.processes[0].status == "ok" and
	.totals.rss_bytes > 1000000'

# Two processes with one address space: both are shown, one is counted.
both=$(sed -n 's/^READY clone_vm [^ ]* //p' "$TMP/mkmem" | paste -sd' ')
# shellcheck disable=SC2086
zmem maps -J $both
expect_json 'one address space counts once' '(.processes | length) == 2 and
	([.processes[] | select(.mm_owner)] | length) == 1 and .totals.rss_bytes == .processes[0].rss_bytes and
	(.mappings | length) == 2 * .totals.mappings'
# shellcheck disable=SC2086
zmem maps --by-file -J $both
expect_json 'by file too' '.collection.read == 1 and .collection.shared_mm == 1 and .collection.complete and
	all(.files[]; .processes == 1)'
zmem maps --by-file -u 54321 -J
expect_json 'by file, no process: the sum of nothing is 0' '.totals | .mappings == 0 and
	([.[]] | length > 8 and all(. == 0))'

# ---- by file ----

some=$(sed -n 's/^READY \(file_many\|fork\|memfd2\) [^ ]* //p' "$TMP/mkmem" | paste -sd,)
zmem maps -J -p "$some"
cp "$TMP/out" "$TMP/each"
zmem maps --by-file -J -p "$some"
same_total='def rest: del(.pss_bytes, .thp_rest_bytes, .kernel_bytes, .descriptors); (.totals | rest) == ($each[0].totals | rest) and
	(.totals.pss_bytes - $each[0].totals.pss_bytes | fabs) <= 1024 * .collection.read'
expect_json 'by file: the same total' "$same_total"' and (.processes | map(rest)) == ($each[0].processes | map(rest))' \
	--slurpfile each "$TMP/each"
# unit/test_model_maps.c has the sums by name and by kind.
expect_json 'by file: largest PSS first' '[.files[].pss_bytes] | . == (sort | reverse)'
expect_json 'by file: at least 13 processes map one file' 'any(.files[]; .processes >= 13)'
works 'by file, all processes' maps --by-file -J
# A process of cli/stuck.sh may be among them.
expect_json 'by file, all processes: every process' '.collection.processes >= 30 and
	(.collection | .read + .gone + .shared_mm + .timeout + if $all then 0 else .denied end == .processes)' \
	--argjson all "$(have ptrace && echo true || echo false)"
expect_json 'by file, all processes: the sum' '.totals.rss_bytes ==
	([.processes[] | select(.mm_owner) | .rss_bytes] | add)'

# ---- some mappings, and kinds of memory ----

zmem maps -J -p "$some" --mapping '^\[(heap|stack)\]$'
expect_json '--mapping: the mappings of these names' '.mappings == ($each[0].mappings | map(select(.name == "[heap]" or
	.name == "[stack]"))) and (.mappings | length) > 5' --slurpfile each "$TMP/each"
expect_json '--mapping: the total is their sum' '.totals.rss_bytes == ([.mappings[].rss_bytes] | add) and
	.totals.mappings == (.mappings | length) and all(.processes[]; .total_source == "smaps")'
zmem maps -J --by-file -p "$some" --mapping '^/'
expect_json '--mapping --by-file' '(.files | length) > 1 and all(.files[]; .name[:1] == "/") and
	.totals.rss_bytes == ([.files[].rss_bytes] | add)'
zmem maps -J --mapping '^\[stack\]$'
expect_json '--mapping: of all processes' '([.mappings[].pid] | unique | length) >= 30 and
	all(.mappings[]; .name == "[stack]")'
works '--mapping that matches nothing' maps --mapping '^no such mapping$' $$
expect_out '--mapping that matches nothing: the total' '^0 mappings of 0 processes$'
zmem maps -g name -J -p "$some"
expect_json '-g name: the same total' "$same_total"' and .group_by == "name"' --slurpfile each "$TMP/each"
# One process maps each kind of shared memory, with a size of its own, in MiB.
python3 - >"$TMP/shared" <<'EOF' &
import ctypes, mmap, os, signal
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
keep = []
def fill(fd, size):
    if fd >= 0:
        os.ftruncate(fd, size << 20)
    keep.append(mmap.mmap(fd, size << 20))
    keep[-1].write(b"x" * (size << 20))
fill(os.memfd_create("zmem"), 3)
fill(-1, 4)
fd = os.open("/dev/shm/zmem-%d" % os.getpid(), os.O_RDWR | os.O_CREAT)
os.unlink("/dev/shm/zmem-%d" % os.getpid())
fill(fd, 5)
shmid = libc.shmget(0, 6 << 20, 0o1600)
ctypes.memset(libc.shmat(shmid, None, 0), 1, 6 << 20)
libc.shmctl(shmid, 0, None)
print("ready", flush=True)
signal.pause()
EOF
shared=$!
wait_until grep -q ready "$TMP/shared" || not_ok 'kinds of shared memory' 'did not start'
zmem maps -g name -J "$shared"
expect_json '-g name: kinds of shared memory, as of files' '[.groups[] | select(.kind | IN("memfd", "shared_anon", "sysv", "tmpfs")) |
	{key: .kind, value: (.rss_bytes / 1048576)}] | from_entries == {"memfd": 3, "shared_anon": 4, "tmpfs": 5, "sysv": 6}'
if need 'mount' 'maps: a tmpfs of another mount namespace'; then
	unshare -m sh -c 'mount -t tmpfs zmem /mnt && cp /bin/sleep /mnt/zmem && echo ready && exec /mnt/zmem 1000' >"$TMP/other" &
	other=$!
	wait_until grep -q zmem "/proc/$other/comm" || not_ok 'another mount namespace' 'did not start'
	tells '-g name: a tmpfs of another mount namespace' 'any(.groups[]; .kind == "tmpfs" and .rss_bytes > 0)' maps -g name -J "$other"
	kill "$other"
fi
kill "$shared"
# ---- rows ----

pid=$(pid_of many_maps)
# unit/test_query_maps.c has orders and the first N.
timeout -s KILL "$PATIENCE" env TERM=xterm "$PYTHON" "$SUPPORT/pty_run.py" 24 80 "$TMP/out" "$ZMEM" maps "$pid" \
	>"$TMP/lines" </dev/null
read -r screen _ <"$TMP/lines"
if [ "$screen" -lt 24 ] && [ "$screen" -gt 10 ]; then ok 'terminal: as many rows as fit'; else not_ok 'terminal: as many rows as fit' "$screen lines"; fi
expect_out 'terminal: the others in one line' '[0-9]+ more'
expect_printable 'terminal: printable' "$TMP/out" --color

# ---- names ----

mkfifo "$TMP/hold"
"$PYTHON" -c '
import ctypes, mmap, os, sys
keep = []
for name in (b"two\nlines\nRss: 9 kB\n", b"\x1b[31mred\xff", b"  blanks ", b"[heap]"):
    path = sys.argv[1].encode() + b"/" + name
    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    os.write(fd, b"x" * 8192)
    keep.append(mmap.mmap(fd, 8192))
    keep[-1].read()
area = mmap.mmap(-1, 8192)
address = ctypes.addressof(ctypes.c_char.from_buffer(area))
named = ctypes.CDLL(None).prctl(0x53564D41, 0, ctypes.c_ulong(address), ctypes.c_ulong(8192), b"my pool")
print(os.getpid(), named, flush=True)
sys.stdin.read()
' "$TMP" <"$TMP/hold" >"$TMP/hostile" 2>"$TMP/hostile.err" &
hostile_job=$!
exec 7>"$TMP/hold"
wait_until test -s "$TMP/hostile" || not_ok 'hostile names' "$(cat "$TMP/hostile.err")"
read -r hostile named <"$TMP/hostile"
zmem maps -J "$hostile"
expect_json 'hostile names: each mapping has its own name' '([.mappings[].name] | contains([$dir + "/two\nlines\nRss: 9 kB\n",
	$dir + "/  blanks ", $dir + "/[heap]"])) and
	any(.mappings[]; .name_hex // "" | endswith("1b5b33316d726564ff"))' --arg dir "$TMP"
expect_json 'hostile names: names do not change the values' '.totals.rss_bytes == ([.mappings[].rss_bytes] | add) and
	.totals.mappings == $lines' --argjson lines "$(wc -l <"/proc/$hostile/maps")"
zmem maps "$hostile"
expect_printable 'hostile names: printable' "$TMP/out"
expect_out 'hostile names: a newline is shown escaped' '/two\\x0alines\\x0aRss: 9 kB\\x0a$'
equal 'hostile names: one line each' "$(wc -l <"$TMP/out")" $(($(wc -l <"/proc/$hostile/maps") + 3))
zmem maps --by-file "$hostile"
expect_printable 'hostile names: printable by file' "$TMP/out"
zmem maps -J "$hostile"
if grep -q 'anon:my pool' "/proc/$hostile/maps"; then
	expect_json 'anonymous memory with a name' 'any(.mappings[]; .name | test("^\\[anon(_shmem)?:my pool\\]$"))'
else
	skip 'anonymous memory with a name' "not supported by this kernel (prctl: $named)"
fi
exec 7>&-
wait "$hostile_job"

# ---- unreadable processes ----

zmem maps "$free_pid" "$pid"
expect_rc 'one of two does not exist' 3
expect_err 'one of two does not exist: it is named' "$free_pid: there is no such process"
expect_out 'one of two does not exist: the other is shown' '^2[0-9]+ mappings of 1 process'
kthreadd=$(grep -x kthreadd /proc/2/comm 2>/dev/null)
if [ -n "$kthreadd" ]; then
	works 'a kernel thread' maps -J 2
	expect_err 'a kernel thread: the reason' '2: a kernel thread has no mappings'
	expect_json 'a kernel thread: no value is 0' '.processes[0].status == "kernel_thread" and .mappings == [] and
		.totals.rss_bytes == null and .processes[0].rss_bytes == null'
else
	skip 'a kernel thread' 'a container sees none'
fi
zombie=$(awk '/^READY zombie/ { print $4 }' "$TMP/mkmem" | while read -r p; do
	grep -q '^State:.Z' "/proc/$p/status" && echo "$p"; done | head -n 1)
[ -z "$zombie" ] || {
	tells 'a zombie is gone' '.processes[0].status == "gone" and .totals.pss_bytes == null' maps -J "$zombie"
}
denied=$pid as=as_nobody
have users || denied=1 as=
if [ "$UID" != 0 ] || need users 'nobody'; then
	# shellcheck disable=SC2086
	run $as "$ZMEM" maps -J "$denied"
	expect_rc 'nobody: nothing could be read' 1
	expect_err 'nobody: the missing privilege' "$denied: it may not be read \\(run as root"
	expect_json 'nobody: denied, and incomplete' '.processes[0].status == "denied" and
		.collection.complete == false and .totals.rss_bytes == null'
fi
mkmem_end

helper stuck
mkdir "$TMP/mount"
if need fuse 'stuck processes'; then
	export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
	for where in exec mmap; do
		mkfifo "$TMP/stuck.in"
		unshare -m "$TMP/stuck" "$where" "$TMP/mount" <"$TMP/stuck.in" >"$TMP/stuck.out" 2>"$TMP/stuck.err" &
		stuck_job=$!
		exec 8>"$TMP/stuck.in"
		wait_until test -s "$TMP/stuck.out" -o -s "$TMP/stuck.err"
		stuck=$(cat "$TMP/stuck.out")
		if [ -n "$stuck" ]; then
			works "stuck in $where: ends" maps -J "$stuck" $$
			expect_err "stuck in $where: reported" "$stuck: it is stuck"
			expect_json "stuck in $where: the other is shown" '.collection.complete == false and
				([.processes[] | .status] | sort) == ["ok", "timeout"] and .totals.rss_bytes > 0'
			works "stuck in $where, by file: ends" maps --by-file -J
			expect_json "stuck in $where, by file: counted" '.collection.timeout == 1 and .collection.read > 2'
		else
			not_ok "stuck in $where" "$(cat "$TMP/stuck.err")"
		fi
		exec 8>&-
		wait "$stuck_job"
		rm -f "$TMP"/stuck.{in,out,err}
	done
fi

# ---- refusals ----

refused 'a column of processes' 2 "--sort: maps has no column 'uss'" maps -s uss $$
refused 'a node without --by-node' 2 "maps has no column 'node0' without --by-node" maps -s pss,node0 $$
refused 'a bad --mapping' 2 '--mapping \(: a \( has no \)' maps --mapping '('
refused 'a --mapping that takes too long' 2 '--mapping: it takes too many steps' maps --mapping '(.?){4900}Z'
works 'filters without a PID' maps -u "$(id -un)" -f '^bash$' --total
if need caps 'with three capabilities'; then
	run with_caps +bpf,+perfmon,+sys_ptrace "$ZMEM" maps -J ${kthreadd:+2} $$
	expect_json 'with three capabilities' '.collection.denied == 0 and .totals.rss_bytes > 0'
fi
