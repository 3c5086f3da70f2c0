#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The values of the memory controller against its files, in cgroups of the test at the top, in v1 or v2, as
# this machine has the controller. Guests have the other version.
. "$(dirname "$0")/../support/lib.sh"

if [ "$(id -u)" != 0 ]; then
	skip 'memory controller' 'needs root'
	exit 0
fi
version=v1 file=memory.usage_in_bytes
# path is that of the mounted cgroup.
read -r path top < <(awk '/ - cgroup [^ ]+ ([^ ]*,)?memory(,|$)/ { print $4, $5; exit }' /proc/self/mountinfo)
if [ -z "$top" ]; then
	version=v2 file=memory.current
	read -r path top < <(awk '/ - cgroup2 / { print $4, $5; exit }' /proc/self/mountinfo)
fi
dir=$top/zmem-test-$$.slice
clean() {
	wait_until eval 'find "$dir" -depth -type d -exec rmdir {} + 2>/dev/null; [ ! -d "$dir" ]'
	lib_cleanup
}
trap clean EXIT
if ! mkdir "$dir" 2>"$TMP/why" || [ ! -e "$dir/$file" ]; then
	skip 'memory controller' "no cgroup of ours can be made in ${top:-any hierarchy}: $(cat "$TMP/why")"
	exit 0
fi
rmdir "$dir"
export ZMEM=$STATIC PATH=$TMP/bin:$PATH TMPDIR=$TMP
sh "$(dirname "$0")/../vm/controllers" $version "$dir" "${path%/}" || failed=1
