#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The units: systemd accepts them, and serve works with the rights of its unit: user, capabilities,
# mounts and limit. This test sets them without systemd; tests/deb/boot.sh has systemd.
# needs: plain
. "$(dirname "$0")/../support/cli.sh"
source=$(realpath "$SUPPORT/../..")
at=$TMP/opt
make --no-print-directory -C "$source" O="${O#"$source"/}" PREFIX="$at" DESTDIR= install >"$TMP/made" 2>&1 ||
	not_ok 'make install' "$(tail -n 5 "$TMP/made")"
chmod -R go+rX "$TMP"
units=$at/lib/systemd/system

if need systemd-analyze 'the units in systemd'; then
	run systemd-analyze verify --man=no "$units/zmem-bpf.service" "$units/zmem-bpf-pin.service"
	equal 'systemd finds no error in the units' "$rc $out $err" '0  '
	run systemd-analyze security --no-pager --offline=true --threshold=19 "$units/zmem-bpf.service"
	expect_rc 'serve: exposed by less than 2.0 of 10' 0
fi
refused=$(grep -E '^(Protect|Private|ReadOnly|ReadWrite|Inaccessible|Exec|Bind|Mount|Root|Temporary|Dynamic|.*Directory|NoExec)' \
	"$units/zmem-bpf-pin.service" | grep -vE '^Exec(Start|Reload|Stop)=')
equal 'pin: no mount namespace' "$refused" ''

# setting NAME: its value in the unit of serve.
setting() {
	sed -n "s/^$1=//p" "$units/zmem-bpf.service"
}
equal 'capabilities: exactly the three' "$(setting AmbientCapabilities)" 'CAP_BPF CAP_PERFMON CAP_SYS_PTRACE'
equal 'capabilities: no other can be gained' "$(setting CapabilityBoundingSet)" "$(setting AmbientCapabilities)"
command=$(setting ExecStart)
caps=-all,$(setting AmbientCapabilities | tr '[:upper:] ' '[:lower:],' | sed 's/cap_/+/g')

equal 'memory may be locked' "$(setting LimitMEMLOCK)" infinity
need 'counters caps mount' 'serve with the rights of its unit' || exit 0
LIMIT=unlimited
(ulimit -l unlimited) 2>/dev/null || LIMIT=$(ulimit -l)
export LIMIT

# From the range of DynamicUser.
USER_ID=61184
start() {
	unshare -m sh -e -c '
		mount --bind "$0" /mnt
		for hidden in /home /root /tmp; do mount -t tmpfs -o ro tmpfs $hidden; done
		mount -o remount,bind,ro /
		mount --bind /sys /sys && mount -o remount,bind,ro /sys
		mount -t proc -o hidepid=2 proc /proc
		mount --bind /dev/null /proc/kallsyms
		cd / && umask 077
		[ "$LIMIT" = "$(ulimit -l)" ] || ulimit -l "$LIMIT"
		exec "$@"' "$at" env -i OPTIONS='--listen 127.0.0.1:0' \
		setpriv --reuid=$USER_ID --regid=$USER_ID --clear-groups --no-new-privs --inh-caps="$caps" \
		--ambient-caps="$caps" --bounding-set="$caps" \
		sh -c "exec ${command/#"$at"//mnt}" >"$TMP/said" 2>&1 &
	pid=$!
}
end_all() {
	kill "$pid" 2>/dev/null
	wait "$pid"
	lib_cleanup
}
trap end_all EXIT
listens() {
	port=$(sed -n 's|.*http://127.0.0.1:\([0-9]*\)/$|\1|p' "$TMP/said")
	[ -n "$port" ]
}
start
if ! wait_until listens; then
	not_ok 'serve starts' "$(cat "$TMP/said")"
	exit
fi
# Each process of the random sample may have ended before it is read.
checked() {
	exec 7<>"/dev/tcp/127.0.0.1/$port"
	printf 'GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n' >&7
	timeout "$PATIENCE" cat <&7 >"$TMP/out"
	out=$(cat "$TMP/out")
	exec 7>&-
	grep -q '^zmem_cross_check_processes{verdict="same"} [1-9]' "$TMP/out"
}
check '/metrics: checked' wait_until checked
expect_out '/metrics: PSS from the kernel' '^zmem_source_info\{counters="bpf",pss="(kernel|mixed)"'
expect_out '/metrics: complete' '^zmem_collect_complete 1'
expect_out '/metrics: limits and charges' '^zmem_memory_total_bytes '

# status PID KEY
status() {
	sed -n "s/^$2:[[:space:]]*//p" "/proc/$1/status"
}
http=$(cat "/proc/$pid/task/$pid/children")
http=${http% }
equal 'collector: CAP_SYS_PTRACE alone is left' "$(status "$pid" CapPrm)" 0000000000080000
equal 'HTTP process: no capability' "$(status "$http" CapPrm)" 0000000000000000
for who in "$pid" "$http"; do
	equal "$(cat "/proc/$who/comm"): its user" "$(status "$who" Uid | cut -f1)" "$USER_ID"
done
if [ "$LIMIT" = unlimited ] || need limits 'collector: its memory is locked'; then
	check 'collector: its memory is locked' test "$(status "$pid" VmLck | tr -dc 0-9)" -gt 0
fi
trap lib_cleanup EXIT
kill "$pid"
wait "$pid"
equal 'SIGTERM ends it' $? 0
equal 'no message except the address' "$(grep -vc "listening on" "$TMP/said")" 0
