#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Runs the program with several readers and workers on enough processes for both. tests/run san runs
# it with a program built with the thread sanitizer.
# needs: bpf
. "$(dirname "$0")/lib.sh"

coproc FLEET { "$O/fleet" 500 64; }
read -r _ <&"${FLEET[0]}"
for options in '--verify all' '--pss rollup' '--source proc' '--pss kernel -n 5 -o +cmdline,cgroup'; do
	# shellcheck disable=SC2086
	run_expect 0 "threads: $options" "$PROGRAM" --json $options
done
kill "$FLEET_PID" 2>/dev/null
