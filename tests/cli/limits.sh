#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Limits of the process, and no /proc: known values are shown, one line names what is missing, and no
# file is left behind.
. "$(dirname "$0")/../support/cli.sh"

# ---- RLIMIT_FSIZE ----

mkdir "$TMP/dir"
# RLIMIT_FSIZE does not limit pipes.
for options in '' '-J' '--source proc'; do
	# shellcheck disable=SC2086
	run timeout -s KILL "$PATIENCE" bash -c 'set -o pipefail; prlimit --fsize=1024 "$@" | cat' - "$ZMEM" $options
	expect_rc "RLIMIT_FSIZE 1 KiB: to a pipe: $options" 0
	expect_out "RLIMIT_FSIZE 1 KiB: the complete output: $options" '( total$|^})'
done
# Without BPF each run says so.
lines=1
have counters || lines=2
long() {
	# A recording of the few processes of a container has less than 1 KiB.
	run timeout -s KILL "$PATIENCE" prlimit --fsize=512 "$ZMEM" "$@"
}
for args in '-F html --output' 'record' 'watch -c 1 -F ndjson --output'; do
	echo old >"$TMP/dir/file"
	# shellcheck disable=SC2086
	long $args "$TMP/dir/file"
	expect_rc "RLIMIT_FSIZE: $args" 1
	expect_stderr_lines "RLIMIT_FSIZE: $args: one line" $lines
	expect_err "RLIMIT_FSIZE: $args: the reason" 'File too large'
	equal "RLIMIT_FSIZE: $args: the old file stays" "$(cat "$TMP/dir/file")" old
	equal "RLIMIT_FSIZE: $args: no other file" "$(ls -A "$TMP/dir")" file
done

# ---- RLIMIT_STACK ----

run_expect 0 'a soft limit of 64 KiB of stack: raised' timeout -s KILL "$PATIENCE" bash -c 'ulimit -S -s 64; exec "$@"' - "$ZMEM" -J
if sanitized; then
	skip '64 KiB of stack' 'sanitizers need more memory'
else
	run timeout -s KILL "$PATIENCE" bash -c 'ulimit -s 64; exec "$@"' - "$ZMEM" -J
	expect_rc '64 KiB of stack: too small' 1
	expect_stderr_lines '64 KiB of stack: one line' 1
	expect_err '64 KiB of stack: the remedy' 'ulimit -s 256'
	run_expect 0 '256 KiB of stack are enough' timeout -s KILL "$PATIENCE" bash -c 'ulimit -s 256; exec "$@"' - "$ZMEM" -J
fi

# ---- no /proc ----

if sanitized; then
	skip 'no /proc' 'sanitizers read it'
elif need 'counters mount' 'no /proc'; then
	for options in '' '--pss rollup' 'watch -c 1'; do
		# shellcheck disable=SC2086
		run timeout -s KILL "$PATIENCE" unshare -m bash -c 'mount -t tmpfs tmpfs /proc && exec "$@"' - \
			"$ZMEM" $options
		expect_rc "no /proc: $options" 0
		expect_out "no /proc: counters are shown: $options" '[0-9] [MG]iB .* total$'
		expect_err "no /proc: the reason for missing PSS: $options" 'there is no /proc .mount -t proc proc /proc.$'
		expect_stderr_lines "no /proc: once: $options" 1
	done
	run timeout -s KILL "$PATIENCE" unshare -p -f "$ZMEM"
	expect_stderr_lines 'of another pid namespace: PSS is from page tables, nothing is missing' 0
	run timeout -s KILL "$PATIENCE" unshare -p -f "$ZMEM" --pss rollup
	expect_err '/proc of another pid namespace, --pss rollup: the reason for missing PSS' 'PSS is not read: this /proc is of another pid namespace'
	expect_stderr_lines 'of another pid namespace, --pss rollup: once' 1
	cat >"$TMP/deepest" <<'EOF'
#!/bin/sh
# Runs a command in the deepest pid namespace that there can be.
unshare -p -f true 2>/dev/null && exec unshare -p -f "$0" "$@"
exec "$@"
EOF
	chmod +x "$TMP/deepest"
	run timeout -s KILL "$PATIENCE" "$TMP/deepest" "$ZMEM" -F csv -o pid
	equal 'in the deepest pid namespace: only its processes' "$(printf '%s' "$out" | tr '\n' ' ')" 'pid 1'
fi
