#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Hostile environments: with any variables, any clock and any part of /sys and /proc, values are the
# same, or missing with a reason.
. "$(dirname "$0")/../support/cli.sh"
cp "$STATIC" "$ZMEM"

mkmem_begin anon shmem fork threads || not_ok 'mkmem' 'did not start'
pids=$(sed -n 's/^READY [a-z_]* [a-z0-9_]* //p' "$TMP/mkmem" | paste -sd,)

# The values of idle processes, the same for every reader. PSS may change with the pages of their program.
values='[.processes[] | {pid, ppid, uid, user, comm, name, threads, cgroup, pss_status, rss_bytes,
	rss_anon_bytes, rss_file_bytes, rss_shmem_bytes, swap_bytes, vsize_bytes}] | sort_by(.pid)'
table='-b -s pid -o pid,user,swap,rss,rss_anon,rss_file,rss_shmem,vsize,name'
whole() { # NAME ARG…: as before
	local name=$1
	if [ "$rc" != 0 ]; then
		not_ok "$name" "exit code $rc: $err"
	elif ! jq -c "$values" "$TMP/out" | cmp -s - "$TMP/whole"; then
		not_ok "$name" "$(jq -c "$values" "$TMP/out" | diff - "$TMP/whole")"
	else
		ok "$name"
	fi
}
zmem -J -p "$pids"
jq -c "$values" "$TMP/out" >"$TMP/whole"
# Without BPF each run says so.
notes=0
have counters || notes=1
expect_stderr_lines 'usual variables' $notes
# shellcheck disable=SC2086
"$ZMEM" $table -p "$pids" >"$TMP/table"

# ---- local times ----

# at_zone ZONE PROGRAM: $zone is the offset that a table shows with its time; NDJSON has UTC.
at_zone() {
	local now
	now=$(date +%s)
	run env TZ="$1" "$2" watch -c 1 -p "$pids"
	zone=$(sed -nE '1s/^[0-9-]{10} [0-9:]{8}//p' "$TMP/out")
	check "TZ=$1: it is now" test $(($(date -d "$(head -n 1 "$TMP/out")" +%s) - now)) -lt 60
	run env TZ="$1" "$2" watch -c 1 -F ndjson -p "$pids"
	check "TZ=$1: NDJSON has UTC" jq -es --argjson now "$now" '.[-1] | (.timestamp | endswith("Z")) and
		(.timestamp[:19] + "Z" | fromdate) == (.timestamp_ms / 1000 | floor) and
		(.timestamp_ms / 1000 - $now | . >= 0 and . < 60)' "$TMP/out"
}
for program in "$PROGRAM" "$STATIC"; do
	for zone_is in IST-5:30=+05:30 "<-03>3=-03:00" "Asia/Kolkata=+05:30" ../../../../etc/shadow=Z :/dev/zero=Z "=Z"; do
		case $zone_is in Asia*) [ -e /usr/share/zoneinfo/Asia/Kolkata ] || continue ;; esac
		at_zone "${zone_is%=*}" "$program"
		equal "${program##*/}, TZ=${zone_is%=*}: the offset" "$zone" "${zone_is##*=}"
	done
done

# ---- variables ----

long=$(head -c 100000 /dev/zero | tr '\0' x)
for set in LANG=de_DE.UTF-8 LC_ALL=tr_TR.UTF-8 LC_NUMERIC=de_DE.UTF-8 LANGUAGE=xx TERM=dumb TERM= \
	"TERM=$long" COLUMNS=1 COLUMNS=-5 COLUMNS=999999999999 LINES=1 NO_COLOR=1 CLICOLOR_FORCE=1 \
	MALLOC_PERTURB_=170 MALLOC_ARENA_MAX=1 MALLOC_CHECK_=3 MALLOC_TOP_PAD_=100000000 \
	GLIBC_TUNABLES=glibc.malloc.check=3 TMPDIR=/no/such TMPDIR= TZ=:/no/such "TZ=$long" \
	POSIXLY_CORRECT=1 LD_LIBRARY_PATH=/no/such LD_PRELOAD=/no/such.so LD_BIND_NOW=1 LD_DEBUG_OUTPUT=/no/such \
	LIBBPF_LOG_LEVEL=debug LIBBPF_STRICT_MODE=all HOME=/no/such PATH=/no/such PAGER=/no/such \
	SHELL=/no/such IFS=, BASH_ENV=/no/such GCONV_PATH=/no/such LOCPATH=/no/such NLSPATH=/no/such \
	RES_OPTIONS=debug HOSTALIASES=/no/such getopt=x "HOSTILE=$long"; do
	# A dynamic program has a loader that prints messages, and libraries that keep a path.
	case $set in LD_PRELOAD=* | LOCPATH=*) ! sanitized || continue ;; esac
	run env "$set" "$ZMEM" -J -p "$pids"
	whole "$(printf %.30s "$set")"
	expect_stderr_lines "$(printf %.30s "$set"): silent" $notes
	# shellcheck disable=SC2086
	run env "$set" "$ZMEM" $table -p "$pids"
	check "$(printf %.30s "$set"): table" cmp "$TMP/out" "$TMP/table"
done
for program in "$PROGRAM" "$STATIC"; do
	run_expect 0 "strange variables, ${program##*/}" env -i A= =x 'B C=d' "$program" -J -p "$pids"
done
# Not even argv[0].
run bash -c 'exec -a "" "$0" -J -p "$1"' "$ZMEM" "$pids"
whole 'argv[0] is empty'
run "$PYTHON" -c 'import ctypes, sys
argv = (ctypes.c_char_p * 1)()
ctypes.CDLL(None).execve(sys.argv[1].encode(), argv, argv)' "$ZMEM"
expect_rc 'no argv[0] at all' 0
expect_out 'no argv[0] at all: a table' '^(PSS of [0-9]+ of )?[0-9]+ processes'

# ---- clocks ----

# In a time namespace with other clock offsets.
if need mount 'other clocks'; then
	for offset in 100000 31536000 "-$(($(cut -d. -f1 /proc/uptime) - 1))"; do
		for args in '' '--pss rollup' '--source proc'; do
			# shellcheck disable=SC2086
			run timeout -s KILL "$PATIENCE" unshare -T --boottime "$offset" --monotonic "$offset" \
				"$ZMEM" -J $args -p "$pids"
			if grep -q 'unshare: ' "$TMP/err"; then
				skip "clocks off by $offset s" "$err"
				continue
			fi
			expect_json "clocks off by $offset s, $args: all processes have PSS, and none is gone" \
				'all(.processes[]; .pss_status == "ok" and .pss_bytes > 0) and .collection.gone == 0'
			whole "clocks off by $offset s, $args: the same"
		done
	done
fi

need mount 'files of /sys and /proc that others mount' || exit 0

# ---- /sys and /proc in part ----

hidden() {
	run env ZMEM="$ZMEM" TMP="$TMP" pids="$pids" timeout -s KILL "$PATIENCE" unshare -m bash -c "$1"
}
# shellcheck disable=SC2016
hidden 'mount -t tmpfs tmpfs /sys || exit 99; exec "$ZMEM" -J -p "$pids"'
whole 'no /sys'
# shellcheck disable=SC2016
hidden 'mount -t tmpfs tmpfs /sys/devices/system || exit 99; exec "$ZMEM" -J -p "$pids"'
whole 'no list of CPUs'
# shellcheck disable=SC2016
hidden 'mount --bind /dev/null /sys/devices/system/cpu/possible || exit 99; exec "$ZMEM" -J -p "$pids"'
whole 'an empty list of CPUs'
for file in meminfo zoneinfo loadavg stat; do
	for content in '' garbage "$(printf 'MemTotal: 99999999999999999999 kB\nSwapFree: 18014398509481984 kB\nSwapTotal: 1 kB')"; do
		printf '%s\n' "$content" >"$TMP/fake"
		# shellcheck disable=SC2016
		hidden "mount --bind \"\$TMP/fake\" /proc/$file || exit 99; exec \"\$ZMEM\" -J -p \"\$pids\""
		expect_json "/proc/$file says '$(lib_line "$content")': counters and PSS are measured" \
			"$values == \$was[0]" --slurpfile was "$TMP/whole"
		[ $file != meminfo ] || expect_json "/proc/$file says '$(lib_line "$content")': not measured is null" \
			'.system.memory_total_bytes == null and .system.swap_unattributed_bytes == null'
	done
done

# ---- GPUs ----

# Two processes hold the client of a fixture (xe: 192 KiB of gtt, 23992 KiB of vram0), each by two descriptors.
printf 'Character devices:\n226 drm\n' >"$TMP/fake"
mkdir -p "$TMP/fd" "$TMP/fdinfo"
for fd in 7 8; do
	ln -s /dev/dri/renderD128 "$TMP/fd/$fd"
	cp "$(dirname "$0")/../fixtures/proc/drm-xe" "$TMP/fdinfo/$fd"
done
cp "$SUPPORT/pty_run.py" "$TMP"
# shellcheck disable=SC2016
hidden 'mount --bind "$TMP/fake" /proc/devices || exit 99
	for pid in $(echo "$pids" | cut -d , -f 1,2 | tr , " "); do
		mount --bind "$TMP/fd" "/proc/$pid/fd" && mount --bind "$TMP/fdinfo" "/proc/$pid/fdinfo" || exit 99
	done
	exec "$ZMEM" -J -p "$(echo "$pids" | cut -d , -f 1,2)" --source proc'
expect_rc 'a GPU: exit code' 0
expect_json 'a GPU: each process has half of the client' '(24184 * 1024) as $all | (.processes | length) == 2 and
	all(.processes[]; .gpu_bytes == $all / 2 and .dmabuf_bytes == 0 and
		(.gpu_parts | length) == 4 and all(.gpu_parts[]; .holders == 2 and .driver == "xe"))'
expect_json 'a GPU: the sum has it once, and the machine by region' '.totals.gpu_bytes == 24184 * 1024 and
	(.system.gpu.regions[] | select(.region == "vram0")) == {"device": "0000:00:02.0", "driver": "xe", "region": "vram0",
		"in_ram": false, "clients": 1, "resident_bytes": 24567808, "least_bytes": 24567808}'
# shellcheck disable=SC2016
hidden 'mount --bind "$TMP/fake" /proc/devices || exit 99
	for pid in $(echo "$pids" | cut -d , -f 1,2 | tr , " "); do
		mount --bind "$TMP/fd" "/proc/$pid/fd" && mount --bind "$TMP/fdinfo" "/proc/$pid/fdinfo" || exit 99
	done
	TERM=xterm exec /usr/bin/python3 "$TMP/pty_run.py" 60 80 "$TMP/screen" "$ZMEM" top -c 2 -i 0.1 --source proc \
		-o pid,gpu,name -s gpu'
sed 's/\x1b\[[0-9;?]*[a-zA-Z]/ /g' "$TMP/screen" >"$TMP/out"
expect_out 'a GPU in top' "[^0-9]${pids%%,*} +11\\.8 MiB"
# Without a driver nothing is read, and nothing is 0.
printf 'Character devices:\n  1 mem\n' >"$TMP/fake"
# shellcheck disable=SC2016
hidden 'mount --bind "$TMP/fake" /proc/devices && mount --bind "$TMP/fake" /proc/misc || exit 99; exec "$ZMEM" -J -p "$pids"'
expect_json 'no GPU: not known' \
	'all(.processes[]; .gpu_bytes == null and has("gpu_parts") == false) and .system.gpu == null'
