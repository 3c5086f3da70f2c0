#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Cases of worlds.txt that change the machine: with swap, with huge pages, with KSM.
# alone: it switches swap and KSM on, and off again
# needs: counters cgroups
. "$(dirname "$0")/../support/lib.sh"

for more in swap hugetlb ksm; do
	what=$more
	if [ $more = ksm ]; then
		what=sysctl
		[ -e /proc/self/ksm_merging_pages ] || { skip 'worlds with ksm' 'this kernel does not count merged pages'; continue; }
	fi
	! need $what "worlds with $more" || "$(dirname "$0")/test_world.py" --cases --with $more || failed=1
done
