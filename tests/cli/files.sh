#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Few file descriptors: with every limit there is a complete answer or a message, and no value is
# wrong. A lack of descriptors never lowers a value. LONG=1 (make soak) tries each limit from 3 to 32.
. "$(dirname "$0")/../support/cli.sh"

# Processes that take more descriptors to read: names that are cut, leaders that exited.
mkmem_begin anon leader_exit threads names || not_ok 'mkmem' 'did not start'
pids=$(sed -n 's/^READY [a-z_]* [a-z0-9_]* //p' "$TMP/mkmem" | paste -sd,)
count=$(echo "$pids" | tr , '\n' | wc -l)

# A dynamic program would not find its libraries.
cp "$STATIC" "$ZMEM"
fewest=3
! sanitized || fewest=4
# Every limit near the smallest sufficient one, and some of the larger ones.
limits="$(seq -s ' ' $fewest 16) 20 24 32"
[ -z "${LONG:-}" ] || limits=$(seq $fewest 32)

# with_files N ARG…
with_files() {
	local files=$1
	shift
	run timeout -s KILL "$PATIENCE" bash -c "ulimit -n $files; exec \"\$@\"" - "$ZMEM" "$@"
}

# Counters and known PSS are those of the run with enough descriptors.
values='[.processes[] | {pid, name, cmdline, cgroup, uid, rss_bytes, rss_anon_bytes, rss_file_bytes,
	rss_shmem_bytes, swap_bytes}] | sort_by(.pid)'

# sweep NAME ARG…
sweep() {
	local name=$1 files first=
	shift
	works "$name, enough files: exit code" -J "$@" -p "$pids"
	jq -c "$values" "$TMP/out" >"$TMP/whole"
	equal "$name, enough files: every process" "$(jq length "$TMP/whole")" "$count"
	[ "$*" != '--source proc' ] || check "$name: values and names are those of the default" cmp "$TMP/whole" "$TMP/default"
	[ "$name" != default ] || cp "$TMP/whole" "$TMP/default"
	for files in $limits; do
		with_files "$files" -Jq "$@" -p "$pids"
		case $rc in
		0)
			if [ -z "$first" ]; then
				first=$files
				expect_json "$name, $files files: valid"
			fi
			if ! jq -c "$values" "$TMP/out" | cmp -s - "$TMP/whole"; then
				not_ok "$name, $files files: the same values" \
					"$(jq -c "$values" "$TMP/out" | diff - "$TMP/whole")"
			elif ! jq -e 'all(.processes[]; (.pss_bytes == null) == (.pss_status != "ok"))
				and (.source.counters == "bpf" or $asked or (.source.fallback_reason | length > 10))
				and ([.processes[] | select(.pss_status == "gone" or .pss_status == "denied")] == [])' \
				--argjson asked "$(case $* in *'--source proc'*) echo true ;; *) echo false ;; esac)" \
				"$TMP/out" >/dev/null; then
				not_ok "$name, $files files: names the missing resource" \
					"$(jq -c '.source, (.processes[] | [.pid, .pss_status])' "$TMP/out")"
			fi
			;;
		1)
			[ "$(wc -l <"$TMP/err")" = 1 ] && grep -q '^zmem-bpf: .*Too many open files (ulimit -n 256)$' "$TMP/err" &&
				[ ! -s "$TMP/out" ] || not_ok "$name, $files files: one message" "$err$out"
			[ -z "$first" ] || not_ok "$name, $files files" "fails, but not with fewer: $err"
			;;
		*) not_ok "$name, $files files" "exit code $rc: $err" ;;
		esac
	done
	check "$name: not enough with 3, enough with fewer than 16 (${first:-none} are)" \
		test "${first:-99}" -gt 3 -a "${first:-99}" -lt 16
}
sweep 'default'
sweep 'from smaps_rollup' --pss rollup
sweep 'counters alone' --pss none
sweep 'command lines' -o +cmdline
sweep 'verified' --verify all
sweep 'from /proc' --source proc
sweep 'a pattern' -f .

# The table of all processes: an answer or a message, too.
for files in $limits; do
	with_files "$files"
	if [ "$rc" = 0 ]; then
		grep -q -E '^([0-9]+ process|PSS of [0-9]+ of [0-9]+ process)' "$TMP/out" || not_ok "table, $files files" "no total: $out"
	elif [ "$rc" != 1 ] || ! grep -q '^zmem-bpf: ' "$TMP/err"; then
		not_ok "table, $files files" "exit code $rc: $err"
	fi
	with_files "$files" doctor
	case $rc in
	0 | 1) ;;
	*) not_ok "doctor, $files files" "exit code $rc: $err" ;;
	esac
done
ok 'table and doctor, 3 to 32 files: an answer or a message'

# Other commands: an answer, or a reason and a remedy. watch ends if its first tick fails.
others=("watch -c 1 -p $pids" "record $TMP/recording -p $pids" "maps --by-file -p $pids" system)
! need counters 'few files: doctor --compare' || others+=("doctor --compare -p $pids")
for args in "${others[@]}"; do
	short=0 enough=0 wrong=
	for files in $(seq $fewest 20); do
		# shellcheck disable=SC2086
		with_files "$files" $args
		case $rc in
		0) enough=$((enough + 1)) ;;
		1)
			short=$((short + 1))
			grep -q 'Too many open files (ulimit -n 256)$' "$TMP/err" || wrong="$files files: $err"
			;;
		*) wrong="$files files: exit code $rc: $err" ;;
		esac
		[ "$(grep -cv '^zmem-bpf: ' "$TMP/err")" = 0 ] || wrong="$files files: not ours: $err"
	done
	equal "few files: ${args%% *}: names a remedy" "$wrong" ''
	check "few files: ${args%% *}: some are not enough ($short), some are ($enough)" test $short -gt 0 -a $enough -gt 0
done
pin_with_files() { # FILES COMMAND…
	# shellcheck disable=SC2016
	run timeout -s KILL "$PATIENCE" unshare -m bash -c 'mount -t tmpfs tmpfs /run && ulimit -n $0 && exec "$@"' \
		"$1" "$ZMEM" "${@:2}"
}
if need 'bpf mount' 'pin with few files'; then
	pin_with_files 8 pin root
	expect_rc 'few files: pin' 1
	expect_stderr_lines 'few files: pin: a line' 1
	expect_err 'few files: pin: the remedy' 'Too many open files .ulimit -n 256.$'
fi
