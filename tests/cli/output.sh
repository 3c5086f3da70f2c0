#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# --output: the file appears complete or not at all. unit/test_base_file*.c have links, modes, devices and names,
# cli/test_signals.py has signals.
. "$(dirname "$0")/../support/cli.sh"

dir=$TMP/dir
mkdir "$dir"

# nothing_left NAME DIR FILE…: DIR contains exactly these files.
nothing_left() {
	local name=$1 where=$2
	shift 2
	equal "$name" "$(find "$where" -mindepth 1 -printf '%f\n' | sort | paste -sd' ')" "$*"
}

works 'a new file: exit code' -J --output "$dir/new"
equal 'a new file: nothing on stdout' "$out" ''
# Without BPF, a line says that counters come from /proc.
have counters
expect_stderr_lines 'a new file: no message' $?
cp "$dir/new" "$TMP/out"
expect_json 'a new file: complete'
nothing_left 'a new file: nothing beside it' "$dir" new
for command in system "maps $$" 'doctor --compare' files; do
	case $command in doctor* | files) need counters "$command" || continue ;; esac
	# shellcheck disable=SC2086
	zmem $command -q -J --output "$dir/other"
	equal "$command: nothing on stdout" "$rc$out" 0
	cp "$dir/other" "$TMP/out"
	expect_json "$command: complete"
	rm "$dir/other"
done

echo old >"$dir/old"
zmem --output "$dir/old"
check 'an old file is replaced' grep -q '^ *PID' "$dir/old"
rm "$dir"/*

refused 'no name' 1 'No such file' -q --output ''
refused 'a missing directory' 1 'No such file' -q --output "$TMP/missing/file"
refused 'a directory' 1 'Is a directory' -q --output "$dir"
refused 'below a file' 1 'Not a directory' -q --output "$TMP/out/file"
refused 'a name that is too long' 1 'too long' -q --output "$dir/$(printf 'a%.0s' $(seq 300))"
refused 'a full device' 1 'No space left' -q --output /dev/full
zmem -J --output /dev/stdout
expect_json 'stdout by its name'
refused 'a bad option leaves no file' 2 'nope' --output "$dir/file" -o nope
zmem --output "$dir/file" -p 4194303
expect_rc 'a missing pid: exit code, with a file' 3
check 'a missing pid: the file is written' test -s "$dir/file"
echo old >"$dir/file"
nothing_left 'nothing is left of all that' "$dir" file

# An unprivileged user in a directory of another user.
if need users "others' directory"; then
	chmod 755 "$dir"
	run as_nobody "$ZMEM" -q --output "$dir/mine"
	expect_rc "others' directory: exit code" 1
	expect_stderr_lines "others' directory: one line" 1
	expect_err "others' directory: the reason" 'Permission denied'
	run as_nobody "$ZMEM" -q --output "$dir/file"
	expect_rc "others' file: exit code" 1
	equal "others' file: unchanged" "$(cat "$dir/file")" old
	nothing_left "others' directory: nothing new" "$dir" file
fi

# mounted OPTIONS COMMAND: bash code in a mount namespace with a tmpfs at $m.
mounted() {
	run env m="$TMP/mount" ZMEM="$ZMEM" unshare -m bash -c "mount -t tmpfs -o $1 tmpfs \"\$m\" || exit 99; $2"
}
mkdir "$TMP/mount"
if need mount 'read-only and full file systems, and renaming that fails'; then
	# shellcheck disable=SC2016
	mounted size=64k 'echo old >"$m/file"; mount -o remount,bind,ro "$m"
		"$ZMEM" -q --output "$m/file"; echo "$?"; cat "$m/file"; ls -A "$m"'
	equal 'read-only file system: exit code, the old file, no other file' "$(paste -sd' ' "$TMP/out")" '1 old file'
	expect_stderr_lines 'read-only file system: one line' 1
	expect_err 'read-only file system: the reason' 'Read-only file system'
	# shellcheck disable=SC2016
	mounted size=64k 'echo old >"$m/file"; head -c 56k /dev/zero >"$m/filler"
		"$ZMEM" -q -J --output "$m/file"; echo "$?"; cat "$m/file"; ls -A "$m"'
	equal 'disk full: exit code, the old file, no other file' "$(paste -sd' ' "$TMP/out")" '1 old file filler'
	expect_stderr_lines 'disk full: one line' 1
	expect_err 'disk full: the reason' 'No space left'
	# Renaming fails over a mount point.
	echo old >"$dir/file"
	# shellcheck disable=SC2016
	run env dir="$dir" ZMEM="$ZMEM" unshare -m bash -c 'mount --bind "$dir/file" "$dir/file" || exit 99
		"$ZMEM" -q --output "$dir/file"; echo "$?"; cat "$dir/file"; ls -A "$dir"'
	equal 'rename fails: exit code, the old file, no other file' "$(paste -sd' ' "$TMP/out")" '1 old file'
	expect_stderr_lines 'rename fails: one line' 1
	expect_err 'rename fails: the reason' 'resource busy'
fi
# Two programs write one file at once: the file is the complete one of either.
for _ in 1 2 3 4 5; do
	"$ZMEM" -J --output "$dir/file" &
	"$ZMEM" -J --output "$dir/file" &
	wait
	cp "$dir/file" "$TMP/out"
	rc=0 err=
	expect_json 'two writers: one complete document'
done
nothing_left 'two writers: nothing else' "$dir" file
