#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Several readers in one program, with enough processes that their work overlaps.
# needs: counters
. "$(dirname "$0")/../support/lib.sh"

# Other tests start fleets, too: this one has its own name and file.
cp "$O/fleet" "$TMP/fleet.$$"
coproc FLEET { "$TMP/fleet.$$" 300 1024; }
read -r _ <&"${FLEET[0]}"
mkmem_begin quarters || not_ok 'quarters' 'did not start'
# shellcheck disable=SC2046
"$B/readers" "fleet.$$" 50 $(sed -n 's/^READY quarters [a-z0-9]* //p' "$TMP/mkmem") || failed=1
mkmem_end
kill "$FLEET_PID" 2>/dev/null
