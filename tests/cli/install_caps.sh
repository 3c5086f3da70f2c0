#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# make install-caps: members of the group zmem see the whole machine, other users cannot run the
# program. The test makes the group in an /etc of its own.
# needs: bpf caps mount
. "$(dirname "$0")/../support/cli.sh"
see_own_processes_only
if sanitized; then
	skip 'install-caps' 'it installs the plain program'
	exit 0
fi
source=$(realpath "$SUPPORT/../..")
program=$TMP/root/usr/local/bin/zmem-bpf
mkdir "$TMP/etc" "$TMP/upper" "$TMP/work"
mount -t tmpfs -o mode=755 tmpfs "$TMP/etc" || exit 1
cp -a /etc/passwd /etc/group /etc/shadow /etc/gshadow /etc/login.defs /etc/nsswitch.conf "$TMP/etc"
sed -i '/^zmem:/d' "$TMP/etc/group" "$TMP/etc/gshadow"
sleep 1000 &
root_pid=$!
end_all() {
	kill "$root_pid"
	umount -l /etc "$TMP/etc"
	lib_cleanup
}
mount --bind "$TMP/etc" /etc && trap end_all EXIT

make_caps() {
	make --no-print-directory -C "$source" O="${O#"$source"/}" DESTDIR="$TMP/root" install-caps >"$TMP/made" 2>&1 ||
		not_ok 'make install-caps' "$(tail -n 5 "$TMP/made")"
}
make_caps
check 'the message says that the group was made' grep -q '^made the group zmem$' "$TMP/made"
gid=$(getent group zmem | cut -d: -f3)
check 'the group is a system group' test "$gid" -lt 1000
equal 'its owner, group and mode' "$(stat -c '%U:%G %a' "$program")" 'root:zmem 750'
equal 'its capabilities' "$(getcap "$program")" "$program cap_sys_ptrace,cap_perfmon,cap_bpf=ep"
make_caps
check 'installed again: the group is not made again' test "$(grep -c 'made the group' "$TMP/made")" = 0
equal 'installed again: nothing changes' "$(stat -c '%U:%G %a' "$program") $(getcap "$program")" \
	"root:zmem 750 $program cap_sys_ptrace,cap_perfmon,cap_bpf=ep"

# user GROUPS COMMAND…: the user nobody in these groups. setpriv itself still has capabilities at exec.
user() {
	local groups=$1
	shift
	timeout -s KILL "$PATIENCE" setpriv --reuid=65534 --regid=65534 --inh-caps=-all "$groups" env "$@"
}
run_expect 0 'a member: exit code' user "--groups=$gid" "$program" -J
expect_stderr_lines 'a member: nothing to note' 0
# shellcheck disable=SC2016
expect_json 'a member: all processes, PSS from the kernel' '.source.counters == "bpf" and
	(.source.pss | IN("kernel", "mixed")) and (.collection | .complete == (.not_seen == 0)) and
	any(.processes[]; .pid == $pid and .user == "root" and .pss_status == "ok")' --argjson pid "$root_pid"
run user --clear-groups "$program" -J
expect_rc 'another user: cannot run the program' 126
equal 'another user: no output' "$out" ''
