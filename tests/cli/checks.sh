#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Spot checks of a series: in every tenth snapshot, and at once when the machine has changed.
# alone: it switches KSM on, and a change that another test makes would look like its own
# needs: bpf
. "$(dirname "$0")/../support/cli.sh"

# ages FILE: how many snapshots ago the comparison of each snapshot was.
ages() {
	jq -cs 'map(.collection.cross_check.snapshots_ago | numbers)' "$1"
}
sleep 1000 &
process=$!

zmem watch -c 12 -i 0.1 -F ndjson -p $process
equal 'every tenth snapshot compares' "$(ages "$TMP/out")" '[0,1,2,3,4,5,6,7,8,9,0,1]'
equal 'the others show its counts' "$(jq -cs 'map(.collection.cross_check.checked | numbers) | unique' "$TMP/out")" '[1]'
zmem watch -c 3 -i 0.1 -F ndjson --verify 1 -p $process
equal '--verify: each snapshot compares' "$(ages "$TMP/out")" '[0,0,0]'
zmem watch -c 3 -i 0.1 -F ndjson --verify 0 -p $process
equal '--verify 0: none compares' "$(jq -cs 'map(.collection.cross_check.checked | numbers)' "$TMP/out")" '[0,0,0]'
zmem watch -c 2 -i 0.1 -p $process
expect_out 'a table says how old it is' ', 1 of 1 spot check agrees \(1 snapshot ago\)'

ksm=/sys/kernel/mm/ksm/run
if [ -w $ksm ]; then
	before=$(cat $ksm)
	"$ZMEM" watch -c 9 -i 0.3 -F ndjson -p $process >"$TMP/switched" &
	watch=$!
	wait_until grep -q '"tick":3' "$TMP/switched"
	echo $((!(before == 1))) >$ksm
	wait $watch
	echo "$before" >$ksm
	check "KSM is switched: the next snapshot compares ($(ages "$TMP/switched"))" \
		jq -es 'map(.collection.cross_check.snapshots_ago | numbers) | .[0:3] == [0, 1, 2] and (.[3:6] | min) == 0' "$TMP/switched"
else
	skip 'KSM is switched' 'needs KSM'
fi
kill $process
