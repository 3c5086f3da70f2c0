#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Some commands, for their exit code. tests/run san runs it with a program built with the memory sanitizer.
. "$(dirname "$0")/lib.sh"

# ends RC ARG…: the program ends with this exit code.
ends() {
	local want=$1
	shift
	run_expect "$want" "zmem-bpf ${*//$TMP\//}" "$PROGRAM" "$@"
}

ends 0 --source proc --json
ends 0 --source proc --pss none -s rss -n 3
ends 0 --source proc -o +cmdline -f .
ends 0 --help
ends 0 --columns help
ends 2 --no-such-option
ends 3 --source proc -p 4194303
ends 1 --source proc --output /no/such/directory/file
ends 0 record "$TMP/one.zmem" --source proc
ends 0 --replay "$TMP/one.zmem" -n 3
ends 0 diff "$TMP/one.zmem" "$TMP/one.zmem"
if need bpf 'commands: BPF'; then
	mkmem_begin names clone_vm leader_exit zombie
	ends 0 --json -o +cmdline
	ends 0 -n 5
	ends 0 -F openmetrics -g cgroup -n 2
	ends 0 --pss none -s rss
	ends 0 -p "$(mkmem_pid_of zombie zombie)"
	ends 0 system --json
	ends 0 maps --by-file -n 3
	ends 0 maps --json $$
	ends 0 doctor
fi
