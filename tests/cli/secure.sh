#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A user with fewer rights than the program starts it: file capabilities, setuid. The test checks its
# files, the environment that it uses, and access to its memory. cli/paths.sh: root writes everywhere.
# needs: users
. "$(dirname "$0")/../support/cli.sh"
if [ -z "${SECURE_SH:-}" ] && have mount; then
	rm -rf "$TMP"
	SECURE_SH=1 exec unshare -m "$0"
fi

root_dir=$TMP/root
mkdir "$root_dir"
# On the file system of /tmp, file capabilities and setuid may have no effect.
[ -z "${SECURE_SH:-}" ] || mount -t tmpfs -o mode=755 tmpfs "$root_dir" || exit
sleep 1000 &
root_pid=$!
end_all() {
	kill "$root_pid"
	[ -z "${SECURE_SH:-}" ] || umount -l "$root_dir"
	lib_cleanup
}
trap end_all EXIT
user_dir=$root_dir/user
mkdir "$user_dir"
chown 65534:65534 "$user_dir"
chmod 700 "$user_dir"
echo old >"$root_dir/file"

# user COMMAND…: the user nobody without capabilities, except those of the executed file.
user() {
	timeout -s KILL "$PATIENCE" setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all "$@"
}

# copy NAME CAPS|MODE: copies the program and sets these file capabilities, or this mode.
copy() {
	cp "$PROGRAM" "$root_dir/$1"
	case $2 in
	cap_*) setcap "$2" "$root_dir/$1" ;;
	*) chmod "$2" "$root_dir/$1" ;;
	esac
}
three=cap_bpf,cap_perfmon,cap_sys_ptrace

# ---- setuid ----

cp "$(command -v grep)" "$root_dir/grep" && chmod 4755 "$root_dir/grep"
if ! user "$root_dir/grep" -q '^Uid:.65534.0' /proc/self/status; then
	skip setuid 'it has no effect here'
else
	check 'setuid: a copy' copy setuid 4755
	check 'setgid: a copy' copy setgid 2755
	for which in setuid setgid; do
		for args in '' -J doctor --version "--output $user_dir/new" "--output $root_dir/file"; do
			# shellcheck disable=SC2086
			run user "$root_dir/$which" $args
			expect_rc "$which $args: exit code" 1
			expect_err "$which $args: a remedy" 'not meant to be setuid.*file capabilities.*setcap'
			equal "$which $args: nothing on stdout" "$out" ''
		done
		equal "$which: root's file is unchanged" "$(cat "$root_dir/file")" old
		run_expect 0 "$which, for root: nothing changes" "$root_dir/$which" -J -p "$root_pid"
	done
	equal 'setuid: no file is written' "$(ls -A "$user_dir")" ''
fi
rm "$root_dir/grep"
need 'counters caps mount' 'file capabilities' || exit 0

# ---- file capabilities: it works ----

check 'file capabilities: a copy' copy plain 755
check 'file capabilities: the three' copy three $three+ep
check 'file capabilities: only permitted' copy permitted $three+p
check 'file capabilities: also those for writing files' \
	copy fat $three,cap_chown,cap_dac_override,cap_dac_read_search,cap_fowner+ep

for which in three permitted fat; do
	run_expect 0 "$which: exit code" user "$root_dir/$which" -J
	expect_stderr_lines "$which: nothing to note" 0
	# shellcheck disable=SC2016
	expect_json "$which: all from the kernel" '.source.counters == "bpf" and (.source.pss | IN("kernel", "mixed")) and
		any(.processes[]; .pid == $pid and .user == "root" and .pss_status == "ok")' \
		--argjson pid "$root_pid"
	# Each of a random sample may have ended before it is read.
	run user "$root_dir/$which" -J --verify all -p "$root_pid"
	expect_json "$which: a process of root is checked" '.collection.cross_check | .checked == 1 and .different == 0'
done
# The program is not dumpable, so root owns its /proc/self.
for args in '--pss rollup' '--source proc' '--verify all'; do
	# shellcheck disable=SC2086
	run user "$root_dir/three" -J $args
	# shellcheck disable=SC2016
	expect_json "three, $args: processes of root and its own" \
		'[.processes[] | select(.pid == $pid or .name == "three")] |
		 length == 2 and all(.pss_bytes > 0 and .cgroup != null)' --argjson pid "$root_pid"
done
run user "$root_dir/three" doctor
expect_out 'three, doctor: CAP_BPF' '^CAP_BPF +ok '
expect_out 'three, doctor: calibrated' '^PSS +ok +from page tables'
expect_out 'three, doctor: /proc' '^/proc +ok '
run user "$root_dir/plain" -J
expect_json 'a plain copy uses /proc' '.source.counters == "proc"'

# ---- file capabilities: the environment ----

# The variables that are kept (tests/unit/test_session_secure.c: no others are).
for which in plain three; do
	rm -f "$TMP/screen"
	run "$PYTHON" "$SUPPORT/pty_run.py" 24 80 "$TMP/screen" setpriv --reuid=65534 --regid=65534 \
		--clear-groups --inh-caps=-all env TERM=xterm "$root_dir/$which"
	check "$which: TERM enables colors" grep -q "$(printf '\033')" "$TMP/screen"
	run "$PYTHON" "$SUPPORT/pty_run.py" 24 80 "$TMP/screen" setpriv --reuid=65534 --regid=65534 \
		--clear-groups --inh-caps=-all env TERM=xterm NO_COLOR=1 "$root_dir/$which"
	equal "$which: NO_COLOR disables colors" "$(grep -c "$(printf '\033')" "$TMP/screen")" 0
	check "$which: NO_COLOR: the table" grep -q '^ *PID' "$TMP/screen"
done

# ---- file capabilities: files ----

for which in three fat; do
	for name in file new user; do
		run user "$root_dir/$which" -J --output "$root_dir/$name"
		expect_rc "$which, --output root's $name: exit code" 1
		expect_stderr_lines "$which, --output root's $name: one line" 1
	done
	equal "$which: root's file is unchanged" "$(cat "$root_dir/file")" old
	run_expect 0 "$which, --output in one's own directory" user "$root_dir/$which" -J --output "$user_dir/new"
	run_expect 0 "$which, --output of one's own file" user "$root_dir/$which" -J --output "$user_dir/new"
	equal "$which: owned by the user" "$(stat -c %u:%g "$user_dir/new")" 65534:65534
	rm -f "$user_dir/new"
done
equal 'root owns no new file' "$(find "$root_dir" -newer "$root_dir/fat" -type f)" ''

# ---- file capabilities: access to its memory ----

mkfifo -m 666 "$user_dir/fifo"
chown 65534 "$user_dir/fifo"
# The program waits for a reader; meanwhile its user tries to open its memory.
for which in plain three; do
	run user "$PYTHON" "$SUPPORT/peek.py" "$user_dir/fifo" "$root_dir/$which" -J --output "$user_dir/fifo"
	case $which in
	plain) expect_out 'a plain copy: its user has access' '^mem opened, environ opened, attached$' ;;
	*) expect_out 'file capabilities: its user has no access' '^mem EACCES, environ EACCES, EPERM$' ;;
	esac
done
