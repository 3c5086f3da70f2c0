#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The values of the memory controller against its files, in cgroups of the test at the top, in v1 or v2, as
# this machine has the controller. Guests have the other version.
# needs: cgroups
. "$(dirname "$0")/../support/lib.sh"

version=v1
# path is that of the mounted cgroup.
read -r path top < <(awk '/ - cgroup [^ ]+ ([^ ]*,)?memory(,|$)/ { print $4, $5; exit }' /proc/self/mountinfo)
if [ -z "$top" ]; then
	version=v2
	read -r path top < <(awk '/ - cgroup2 / { print $4, $5; exit }' /proc/self/mountinfo)
fi
dir=$top/zmem-test-$$.slice
clean() {
	wait_until eval 'find "$dir" -depth -type d -exec rmdir {} + 2>/dev/null; [ ! -d "$dir" ]'
	lib_cleanup
}
trap clean EXIT
export ZMEM=$STATIC PATH=$TMP/bin:$PATH TMPDIR=$TMP
sh "$(dirname "$0")/../vm/controllers" $version "$dir" "${path%/}" || failed=1
