#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# alone: it compares the whole machine
# Every counter of processes in known states against /proc, on a quiet machine and under churn.
# needs: counters
. "$(dirname "$0")/../support/lib.sh"

# A program that maps libc changes the PSS of all others that do; mkmem does not map it.
only=
[ "$STATIC" != "$PROGRAM" ] || only=-m
"$O/check_counters" $only "$STATIC" "$MKMEM"
"$O/check_counters" -c -m "$STATIC" "$MKMEM"
