#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Paths in directories that another user can write to, and paths that only a capability of the program
# could reach. unit/test_base_file_attack.c exchanges the names meanwhile.
. "$(dirname "$0")/../support/cli.sh"
if [ -z "${PATHS_SH:-}" ] && have mount; then
	rm -rf "$TMP"
	PATHS_SH=1 exec unshare -m "$0"
fi

dir=$TMP/root
mkdir "$dir"
# On the file system of /tmp, file capabilities may have no effect.
[ -z "${PATHS_SH:-}" ] || mount -t tmpfs -o mode=755 tmpfs "$dir" || exit
sleeper=''
end_all() {
	[ -z "$sleeper" ] || { kill -9 "$sleeper"; wait; } 2>/dev/null
	[ -z "${PATHS_SH:-}" ] || umount -l "$dir"
	lib_cleanup
}
trap end_all EXIT

# other UID COMMAND…: runs it as another user without any privilege.
other() {
	setpriv --reuid="$1" --regid="$1" --clear-groups --inh-caps=-all "${@:2}"
}
roots=$dir/roots sticky=$dir/sticky open=$dir/open
mkdir "$roots" "$sticky" "$open"
chmod 1777 "$sticky"
chmod 777 "$open"
(umask 077; echo secret >"$roots/secret")
(cd "$roots" && ln -s secret link)
state() {
	stat -c '%i %u %g %a %s %Y' "$roots/secret"
	cat "$roots/secret"
	ls -A "$roots"
}
before=$(state)
quick=(-q --source proc -p "$$")

# ---- refused paths ----

# each PATH NAME ERE: every command that creates a file refuses the path at once, with one line.
each() {
	refused "snapshot: $2" 1 "opening $1: $3" "${quick[@]}" --output "$1"
	refused "watch: $2" 1 "opening $1: $3" watch -c 1 "${quick[@]}" --output "$1"
	refused "record: $2" 1 "opening $1: $3" record "${quick[@]}" "$1"
}
foreign='it belongs to another user, in a directory that others can write to \(remove it'
link='a symbolic link in the path belongs to another user \(give the path without'
# The socket of a program that ended.
left='import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])'
if need users "another user's paths"; then
	other 65534 sh -c 'echo mine >"$1/file"; mkfifo "$1/fifo"; ln -s "$2" "$1/link"; ln -s "$3" "$1/dir"
		ln -s "$2" "$4/link"; ln -s "$3" "$4/dir"; mkfifo "$4/fifo"' - "$sticky" "$roots/secret" "$roots" "$open"
	each "$sticky/file" "another user's file in a sticky directory" "$foreign"
	each "$sticky/fifo" "another user's FIFO in a sticky directory" "$foreign"
	each "$open/fifo" "another user's FIFO" 'the FIFO belongs to another user \(choose one'
	for where in "$sticky" "$open"; do
		each "$where/link" "another user's link in ${where##*/}" "$link"
		each "$where/dir/new" "another user's link to a directory in ${where##*/}" "$link"
	done
	refused 'serve: a link to a directory' 1 "listening on unix:$open/dir/new: $link" serve --listen "unix:$open/dir/new"
	other 65534 "$PYTHON" -c "$left" "$sticky/socket"
	refused "serve: another user's socket in a sticky directory" 1 "$foreign" serve --listen "unix:$sticky/socket"
	check 'serve: the socket stays' test -S "$sticky/socket"
fi
ln "$roots/secret" "$sticky/hard"
ln "$roots/secret" "$open/hard"
each "$sticky/hard" "a hard link to root's file in a sticky directory" 'it has several names \(hard links\)'
refused "watch: a hard link to root's file" 1 'it has several names \(hard links\)' \
	watch -c 1 "${quick[@]}" --output "$open/hard"
works "a hard link to root's file is replaced by a file" "${quick[@]}" --output "$open/hard"
equal 'the new file is not readable for others' "$(stat -c '%u %a %h' "$open/hard")" "$(id -u) 600 1"
ln "$roots/link" "$open/hard-link" 2>/dev/null &&
	each "$open/hard-link" "a hard link to root's link" 'a symbolic link in the path has several names'
rm -f "$open/hard-link" "$sticky/hard"
equal "root's file is unchanged" "$(state)" "$before"

# ---- allowed paths ----

ln -s "$open/new" "$roots/mine"
zmem "${quick[@]}" --output "$roots/mine"
check "root's link is followed" test -f "$open/new" -a -L "$roots/mine"
rm "$roots/mine"
if have users; then
	for uid in 65534 12345; do
		other "$uid" sh -c 'umask 077; echo mine >"$1"' - "$open/file-$uid"
		zmem "${quick[@]}" --output "$open/file-$uid"
		equal "uid $uid: keeps the file in a directory that is not sticky" \
			"$(stat -c '%u %g %a' "$open/file-$uid")" "$uid $uid 600"
	done
	mkdir "$dir/theirs"
	chown 65534:65534 "$dir/theirs"
	chmod 1777 "$dir/theirs"
	other 65534 sh -c 'echo >"$1"; chmod 660 "$1"' - "$dir/theirs/file"
	zmem "${quick[@]}" --output "$dir/theirs/file"
	equal "in a sticky directory, the file of the directory's owner is given to no other user" \
		"$(stat -c '%u %g %a' "$dir/theirs/file")" '0 0 600'
fi

# Opening one's own FIFO waits for a reader; a signal ends watch meanwhile.
mkfifo "$dir/fifo"
(sleep 0.3; exec cat "$dir/fifo" >"$TMP/read") & # time itself: the reader comes late
zmem "${quick[@]}" -J --output "$dir/fifo"
wait $!
cp "$TMP/read" "$TMP/out"
expect_json 'one'\''s own FIFO: waits for a reader'
timeout -s KILL "$PATIENCE" "$ZMEM" watch -q --source proc --output "$dir/fifo" &
job=$!
wait_until pgrep -P "$job" >/dev/null
watch=$(pgrep -P "$job")
# It has blocked its signals, and sleeps.
wait_until eval 'grep -qE "^SigBlk:.*[4567cdef]...$" /proc/$watch/status && grep -q "^State:.S" /proc/$watch/status'
kill -TERM "$watch"
wait "$job"
equal 'watch: ends while a FIFO has no reader' "$?" 0

# ---- the caller's own rights ----

need 'caps mount' 'file capabilities' || exit 0
cp "$PROGRAM" "$dir/capable"
check 'file capabilities: a program has them' setcap cap_bpf,cap_perfmon,cap_sys_ptrace+ep "$dir/capable" || exit
# Files below a directory that the user cannot enter; CAP_SYS_PTRACE alone gives no access.
mkdir -m 700 "$dir/vault"
mkdir -m 777 "$dir/vault/in" "$open/own"
chmod 777 "$dir/vault/in" "$open/own"
(umask 027; echo token >"$dir/vault/in/token"; chgrp 65534 "$dir/vault/in/token")
"$PYTHON" -c "$left" "$dir/vault/in/stale"
chmod 777 "$dir/vault/in/stale"
zmem record "${quick[@]}" "$dir/vault/in/recording"
chmod 644 "$dir/vault/in/recording"
(cd "$dir/vault/in" && exec sleep 1000) &
sleeper=$!
wait_until test "/proc/$sleeper/cwd" -ef "$dir/vault/in"
vault=$(ls -Al "$dir/vault/in")
# reaches NAME ARG…
reaches() {
	run other 65534 timeout 5 "$dir/capable" "${@:2}"
	expect_rc "file capabilities: $1: exit code" 1
	expect_err "file capabilities: $1: refused" '^zmem-bpf: [^:]+.*Permission denied'
	equal "file capabilities: $1: unchanged" "$(ls -Al "$dir/vault/in")" "$vault"
}
cwd=/proc/$sleeper/cwd
reaches "another's --token-file" serve --token-file "$cwd/token" --listen "unix:$open/own/s"
reaches "another's directory for a socket" serve --listen "unix:$cwd/socket"
reaches "another's stale socket" serve --listen "unix:$cwd/stale"
reaches "another's --replay" --replay "$cwd/recording"
reaches "another's directory for --output" --output "$cwd/new"
reaches "another's directory for watch" watch -c 1 --output "$cwd/new"
reaches "another's directory for record" record "$cwd/new"
