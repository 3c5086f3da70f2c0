#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A sample of the page frames against the whole census, on a machine with much of each kind.
# needs: counters
. "$(dirname "$0")/../support/lib.sh"

"$B/samples" 40 || failed=1
