#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# No thread or process can be started (a fork bomb, pids.max): one thread reads everything.
. "$(dirname "$0")/../support/cli.sh"
# The leak sanitizer needs a thread of its own.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"

mkmem_begin anon cow_many shmem || { not_ok mkmem 'not ready'; exit 1; }
targets=$(sed -n 's/^READY [^ ]* [^ ]* //p' "$TMP/mkmem" | paste -sd,)

# The limit is for users other than root: for one with the capabilities, or the one that runs this test.
if [ "$(id -u)" != 0 ]; then
	alone() {
		run prlimit --nproc=1:1 "$@"
	}
else
	need caps 'no task can be started' || exit 0
	alone() {
		run with_caps +bpf,+perfmon,+sys_ptrace prlimit --nproc=1:1 "$@"
	}
fi
# Without BPF, a line on stderr says that counters come from /proc.
have counters
notes=$?

# The values with and without threads. Values shared with other processes change with them.
values() {
	jq -cS '.source, .collection.complete, .collection.cross_check, .collection.processes_seen > 3,
		([.processes[] | del(.mm_id, .start_time_ms, .pss_bytes, .pss_anon_bytes, .pss_file_bytes,
			.pss_swap_bytes, .uss_bytes, .shared_bytes)] | sort_by(.pid))' "$TMP/out"
}

zmem
expect_stderr_lines 'with threads: nothing is told' "$notes"
alone dash -c ': & wait'
expect_err 'no task can be started' 'Cannot fork'
for options in '' '--verify all' '--pss rollup' '--source proc' '--pss none -o +cmdline'; do
	told=$notes
	[ "$options" != '--source proc' ] || told=0
	# Other tests need memory, for which the kernel may take pages of the targets: no value may change meanwhile.
	for _ in 1 2 3 4 5 6 7 8 9; do
		# shellcheck disable=SC2086
		zmem -J $options -p "$targets"
		values >"$TMP/before"
		# shellcheck disable=SC2086
		alone "$ZMEM" -J $options -p "$targets"
		values >"$TMP/got"
		# shellcheck disable=SC2086
		zmem -J $options -p "$targets"
		values >"$TMP/want"
		! cmp -s "$TMP/before" "$TMP/want" || break
	done
	expect_stderr_lines "with threads: $options: nothing is told" "$told"
	# shellcheck disable=SC2086
	alone "$ZMEM" -J $options -p "$targets"
	expect_rc "alone: $options" 0
	equal "alone: $options: the same values" "$(cat "$TMP/got")" "$(cat "$TMP/want")"
	expect_err "alone: $options: a message" '^zmem-bpf: no thread could be started'
	expect_stderr_lines "alone: $options: and no more" $((1 + told))
done

# Enough processes for several threads.
coproc FLEET { "$O/fleet" 500 64; }
read -r _ <&"${FLEET[0]}"
for options in '' '--source proc'; do
	# shellcheck disable=SC2086
	alone "$ZMEM" -J $options -f '^fleet$'
	expect_rc "alone, 500: $options" 0
	expect_json "alone, 500: $options: each process once" '[.processes[] | select(.pss_bytes > 0)] |
		(map(.pid) | unique | length) >= 500 and length == (map(.pid) | unique | length)'
done
kill "$FLEET_PID"

alone "$ZMEM" watch -i 0.1 -c 3 -p "$targets"
expect_rc 'alone, watched' 0
expect_stderr_lines 'alone, watched: told once' $((1 + notes))
alone "$ZMEM" maps "${targets%%,*}"
expect_rc 'alone, mappings' 0
expect_out 'alone, mappings: shown' 'stack'
if need counters 'alone, compared'; then
	alone "$ZMEM" doctor --compare -p "$targets"
	expect_rc 'alone, compared: no difference' 0
fi
alone "$ZMEM" serve --listen 127.0.0.1:0
expect_rc 'serve needs a second process' 1
expect_stderr_lines 'serve says so' 1
expect_err 'serve: the reason' 'starting the HTTP process: Resource temporarily unavailable .pids.max, ulimit -u.$'
