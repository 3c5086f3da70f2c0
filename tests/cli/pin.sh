#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# pin, unpin and --pinned: what members of a group get, what they cannot, and how it ends. All of it
# in a mount namespace with a /run of its own, so no other process sees the pin.
# needs: bpf mount users
. "$(dirname "$0")/../support/cli.sh"
see_own_processes_only
mount -t tmpfs -o mode=755 tmpfs /run || exit 1
place=/run/zmem-bpf
group=4242 other=4343
version=$(sed -n 's/^#define ZMEM_RECORD_VERSION //p' "$SUPPORT/../../include/zmem/record.h")

# as_group GID COMMAND…: nobody, in that group, without any privilege.
as_group() {
	local gid=$1
	shift
	timeout -s KILL "$PATIENCE" setpriv --reuid=65534 --regid=65534 --groups="$gid" --no-new-privs \
		--inh-caps=-all --bounding-set=-all "$@"
}
as_member() {
	as_group "$group" "$@"
}

# ---- without a pin ----

refused '--pinned, no pin' 1 "there is no pin at $place \(as root: zmem-bpf pin \[GROUP\]\)" --pinned
refused 'pin of no group' 2 'there is no such group' pin no_such_group
refused 'pin of two' 2 'unexpected argument' pin 1 2
refused '--pinned --source proc' 2 '--source proc' --pinned --source proc
refused '--pinned --replay' 2 '--replay' --pinned --replay x
refused 'doctor --pinned' 2 'does not take --pinned' doctor --pinned
run as_nobody "$ZMEM" pin $group
expect_rc 'nobody pins: exit code' 1
expect_err 'nobody pins: what is missing, and what pinning takes' \
	'CAP_BPF and CAP_PERFMON are missing \(be root: it takes CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN\)'
check 'nobody pins: nothing is left' [ ! -e $place ]
zmem unpin
expect_rc 'unpin without a pin' 0
expect_stderr_lines 'unpin without a pin: silent' 0
mkdir $place && mount -t tmpfs tmpfs $place
refused 'pin where something else is mounted' 1 'another file system is mounted' pin $group
refused 'unpin where something else is mounted' 1 'is not a pin' unpin
umount $place && rmdir $place
check 'neither pin mounts anything' [ ! -e $place ]

# ---- members of the group ----

mkmem_begin anon shmem memfd2 file cow_many fork shmem_big clone_vm || not_ok 'shapes' "$(cat "$TMP/mkmem")"
pids=$(sed -n 's/^READY [^ ]* [^ ]* //p' "$TMP/mkmem" | paste -sd,)
# values COMMAND…: the values of the shapes' processes, in bytes.
values() {
	"$@" -q -b -H --verify 0 -p "$pids" -s pid \
		-o pid,user,pss_source,pss_status,swap,uss,pss,pss_file,pss_shmem,rss,rss_anon,rss_shmem,name
}
# same_values NAME: the values that root sees, except for the vdso page, which each new process shares.
same_values() {
	check "$1" awk '
		NR == FNR { row[FNR] = $0; rows = FNR; next }
		{ n = split(row[FNR], was)
		  for (i = 1; i <= NF || i <= n; i++)
			if ($i != was[i] && ($i !~ /^[0-9]+$/ || $i - was[i] > 1024 || was[i] - $i > 1024)) {
				print "not " row[FNR] " but " $0; bad = 1 } }
		END { exit bad || rows != FNR }' "$TMP/of_root" "$TMP/out"
}
values zmem
cp "$TMP/out" "$TMP/of_root"

zmem pin $group
expect_rc 'pin' 0
expect_stderr_lines 'pin: silent' 0
equal 'pin: owner, group and mode' "$(stat -c '%F %U %g %a' $place $place/"$version" $place/"$version"/* | sort | uniq -c | xargs)" \
	"$(printf '%s\n' '1 directory root 4242 710' '1 directory root 4242 750' '2 regular empty file root 4242 440' \
		'2 symbolic link root 0 777' | xargs)"
check 'pin: mount options' grep -q "$place bpf rw,nosuid,nodev,noexec" /proc/mounts
run as_member grep CapEff /proc/self/status
expect_out 'a member has no capability' '^CapEff:.0000000000000000$'
values run as_member "$ZMEM" --pinned
expect_rc 'a member: exit code' 0
same_values "a member: values are root's own, the large ones too"
check 'a member: more than 30 rows' [ "$(wc -l <"$TMP/out")" -gt 30 ]

run as_member "$ZMEM" --pinned -J
expect_rc 'a member, JSON' 0
expect_stderr_lines 'a member: nothing on stderr' 0
expect_json 'a member, JSON: all values, from the kernel' '.source.counters == "bpf" and
	.source.fallback_reason == null and .source.pss_fallback_reason == null and .source.pinned and
	([.processes[] | select(.uid == 0 and .pss_source == "kernel")] | length) > 30'
of_proc=(/proc/[1-9]*)
expect_json 'a member: sees all processes' '.collection | (.processes_seen - $n | fabs) < 40' \
	--argjson n "${#of_proc[@]}"
expect_json 'a member: compares the readable processes' '.collection.cross_check | .different == 0'
for args in '-g name' '--tree' '--total' 'watch -c 2 -i 0.2' '-F folded' 'system' '-o +cmdline,cgroup' \
	'--pss none' '--top 3' "record $TMP/x/recording" 'doctor --compare' '-F openmetrics'; do
	mkdir -p "$TMP/x" && chmod 777 "$TMP/x"
	# shellcheck disable=SC2086
	run as_member "$ZMEM" $args --pinned
	expect_rc "a member: $args" 0
	expect_stderr_lines "a member: $args: no noise" 0
done
run as_member "$ZMEM" -s freed -n 1
expect_err 'a member: FREED is not known, and why' '^zmem-bpf: FREED is not known: not with the pin$'
run as_member "$ZMEM" --pinned --verify all
expect_rc 'a member, --verify all' 0
expect_err 'a member, --verify all: the number of readable processes' '^zmem-bpf: --verify: of [0-9]+ of [0-9]+ processes smaps_rollup may be read'
expect_stderr_lines 'a member, --verify all: one note' 1
run as_member "$ZMEM" --replay "$TMP/x/recording" -J
expect_json "a replay of a member's recording" '.source.pinned and (.source.pss == "kernel" or .source.pss == "mixed")'
run as_member "$ZMEM" -v -n 1
expect_err 'a member: uses the pin without --pinned' 'counters come from bpf with pages, pinned'
run as_member "$ZMEM" doctor -v
expect_out 'a member, doctor' '^bpf with pages, pinned +ok '
equal 'a member, doctor: the verdict' "$(head -n 1 "$TMP/out")" \
	'PSS comes from page tables, through the pin; rows with "no" say what is missing.'
expect_out 'a member, doctor: the pin' '^pin +ok '
reads_pin() {
	zmem -v -n 1 && grep -q 'counters come from bpf with pages, pinned' "$TMP/err"
}
# Other tests may have memory that many processes map.
check 'root uses the pin, too' wait_until reads_pin
run as_member "$ZMEM" --pinned -J &
first=$!
for _ in 1 2 3; do as_member "$ZMEM" --pinned -J; done >"$TMP/second" 2>&1
wait $first
check 'two members at once' grep -q '"counters":"bpf"' "$TMP/second"
run as_member unshare -Urpf --mount-proc "$ZMEM" --pinned -J
if [ $rc = 0 ]; then
	expect_json 'in a pid namespace: only its own processes' '[.processes[].pid] == [1]'
else
	run unshare -pf --mount-proc "$ZMEM" --pinned -J
	expect_json 'in a pid namespace: only its own processes' '[.processes[].pid] == [1]'
fi
run as_member cat $place/"$version"/pss
expect_rc 'cat of a link ends' 0
check 'cat of a link: records' [ "$(stat -c %s "$TMP/out")" -gt 1000 ]

# ---- rights that a member lacks ----

helper ask
# The kernel's last message, and after OOM kills of other tests the last one of a fault.
kernel_says() {
	local kills
	kills=$(grep '^oom_kill ' /proc/vmstat)
	dmesg 2>/dev/null | if [ "$kills" = "$kills_before" ]; then tail -n 1; else
		grep -E 'WARNING: |BUG: |Oops|general protection|rcu:.*stall|lockup' | tail -n 1
	fi
}
kills_before=$(grep '^oom_kill ' /proc/vmstat)
if need log 'a hostile member: no kernel message'; then
	printf "%s\n" "$(kernel_says)" >"$TMP/dmesg"
	printf "%s\n" "$(kills_before= kernel_says)" >"$TMP/dmesg_faults"
fi
run as_member "$TMP/ask" $place/version/pss 400
expect_rc 'a hostile member: only reading is allowed' 0
expect_out 'a hostile member: records, and the position to continue from' '^[1-9][0-9]+ records, [1-9]'
expect_out 'a hostile member: overtaken walks reveal nothing' ' [1-9][0-9]* overtaken: nothing is told'
run as_member "$TMP/ask" $place/version/counters 400
expect_rc 'a hostile member, counters: only reading is allowed' 0
expect_out 'a hostile member, counters: records reveal nothing more' '^[1-9][0-9]+ records, .*: nothing is told'
[ ! -e "$TMP/dmesg" ] ||
	check 'a hostile member: no kernel message' grep -qxF -e "$(kernel_says)" "$TMP/dmesg" "$TMP/dmesg_faults"
values run as_member "$ZMEM" --pinned
same_values 'after a hostile member: values are the same'
for deed in "rm $place/$version/pss" "mv $place/$version $place/1" "ln -s x $place/$version/why" \
	"chmod 777 $place/$version" "mkdir $place/9" "umount $place" "flock $place true"; do
	# shellcheck disable=SC2086
	run as_member $deed
	check "a member cannot: $deed" [ "$rc" != 0 ]
done
run as_group $other "$ZMEM" --pinned
expect_rc 'not a member: exit code' 1
expect_err 'not a member: the message names the group' "for members of group $group: Permission denied \(join it"
run as_group $other "$ZMEM" -J
expect_rc 'not a member, auto' 0
expect_stderr_lines 'not a member, auto: one note' 1
expect_err 'not a member, auto: the note names the pin first' "counters come from /proc: the pin at $place is for members of group $group"
mkmem_end

# ---- pinned again, and removed ----

# holder NAME COMMAND…: a member holds a link open while the link is removed, and cannot reopen it.
holder() {
	local name=$1
	shift
	mkfifo -m 644 "$TMP/go"
	chmod 711 "$TMP"
	# shellcheck disable=SC2016
	as_member bash -c 'exec 5<"$0"; echo held; read -r _ <"$1"; cat /proc/self/fd/5 | wc -c' \
		$place/"$version"/pss "$TMP/go" >"$TMP/holder" 2>"$TMP/holder_err" &
	wait_until grep -q held "$TMP/holder"
	"$@" || not_ok "$name" "$*"
	echo >"$TMP/go"
	wait $!
	equal "$name: an open link gives no new records" "$(xargs <"$TMP/holder")" 'held 0'
	check "$name: the holder gets an error" grep -q 'Permission denied' "$TMP/holder_err"
	rm "$TMP/go"
}
holder 'unpin' "$ZMEM" unpin
zmem pin $group
holder 'pinned for another group' "$ZMEM" pin $other
zmem pin $group

inode=$(stat -c %i $place/"$version"/pss)
touch "$TMP/watched"
as_member "$ZMEM" watch --pinned -i 0.1 -F ndjson >"$TMP/watched" 2>"$TMP/watch_err" &
watch=$!
snapshots() { grep -c '"type":"snapshot"' "$TMP/watched"; }
more_than() { [ "$(snapshots)" -gt "$1" ]; }
wait_until more_than 1
zmem pin $group
expect_rc 'pinned again' 0
check 'pinned again: a new link' [ "$(stat -c %i $place/"$version"/pss)" != "$inode" ]
equal 'pinned again: mounted once' "$(grep -c " $place " /proc/mounts)" 1
equal 'pinned again: no other file is left' "$(ls $place | grep -v debug | xargs)" "$version version"
wait_until more_than $(($(snapshots) + 2))
zmem pin $other
expect_rc 'pinned for another group' 0
wait $watch
equal 'watch, when the pin is for another group: ends' $? 1
check 'watch: the reason' grep -q "the pin at $place was taken away" "$TMP/watch_err"
run as_member "$ZMEM" --pinned
expect_rc 'pinned for another group: the old members are refused' 1
run as_group $other "$ZMEM" --pinned -q
expect_rc 'pinned for another group: its members are admitted' 0
: >"$TMP/watched" # the snapshots of the one before
as_group $other "$ZMEM" watch --pinned -i 0.1 -F ndjson >"$TMP/watched" 2>"$TMP/watch_err" &
watch=$!
wait_until more_than 1

mv $place/"$version" $place/7
ln -sfn 7 $place/version
refused 'a pin of another version' 1 \
	"the pin at $place is of record version 7, this program reads $version \(make it again: zmem-bpf pin \[GROUP\]\)" --pinned
wait $watch
check 'watch: names the removed pin' grep -q "the pin at $place was taken away" "$TMP/watch_err"
run as_group $other "$ZMEM" -J
expect_err 'a pin of another version, a member: a note' 'is of record version 7'
zmem pin $group
equal 'pinned over another version: no other file is left' "$(ls $place | grep -v debug | xargs)" "$version version"

# Where RAM ended when the pin was made. In guests RAM is added: vm/hotplug_memory.
end=$(readlink $place/"$version"/ram)
check 'ram: a number of pages' [ "$end" -ge $(($(awk '/^MemTotal/ { print $2 }' /proc/meminfo) / 4)) ]
as_member "$ZMEM" watch --pinned -i 0.1 -F ndjson >"$TMP/watched" 2>"$TMP/watch_err" &
watch=$!
wait_until more_than 1
# newest_has FILTER: of the newest snapshot of watch.
newest_has() {
	tail -n 1 "$TMP/watched" | jq -e "$1" >/dev/null 2>&1
}
for old in older added; do
	ln -sfn 4096 $place/"$version"/ram
	reason='RAM was added after the pin was made: make it again'
	if [ $old = older ]; then
		rm $place/"$version"/ram
		reason='an older zmem-bpf made the pin, and did not store where RAM ended: make it again'
	fi
	run as_member "$ZMEM" --pinned -J
	expect_rc "$old: a member" 0
	expect_json "$old: a member: no PSS from the kernel" '(.source.pss_fallback_reason | test($why)) and
		.source.counters == "bpf" and .source.pinned and
		all(.processes[]; .pss_source != "kernel" and (.uid != 0 or .pss_bytes == null))' --arg why "$reason"
	expect_err "$old: a member: a note" "$reason"
	refused "$old: a member, --pss kernel" 1 "$reason" --pinned --pss kernel
	run "$ZMEM" doctor
	expect_out "$old: doctor" "^pin +no +${reason:0:20}"
	check "$old: watch: no PSS from the kernel" wait_until newest_has \
		".source.pss != \"kernel\" and (.source.pss_fallback_reason | test(\"$reason\"))"
	zmem pin $group
	check "$old: pinned again: watch has it" wait_until newest_has '.source.pss_fallback_reason == null and .source.pinned'
done
equal "$old: watch says it once" "$(grep -c 'make it again' "$TMP/watch_err")" 1
kill $watch
wait $watch

chown 65534 $place/"$version"
refused "a pin that other users than root can change" 1 "is not used: other users than root can change it" --pinned
chown 0 $place/"$version"
chmod 666 $place/"$version"/pss
refused 'a pin that a group can change' 1 'other users than root can change it' --pinned
chmod 440 $place/"$version"/pss

# ---- other objects in place of the pin ----

# instead NAME COMMAND…: makes another object at "$link"; it is refused, and a member uses /proc.
instead() {
	local name=$1
	shift
	rm -rf "$link"
	"$@" >"$TMP/made" 2>&1 || not_ok "instead of a pin: $name" "$(cat "$TMP/made")"
	chown -h 0:$other "$link"
	[ -L "$link" ] || chmod 440 "$link"
	run as_group $other "$ZMEM" --pinned
	expect_rc "instead of a pin, $name: exit code" 1
	expect_err "instead of a pin, $name: refused" "pinned at $place is not zmem-bpf's: .*as root: zmem-bpf pin --remove"
	run as_group $other "$ZMEM" -J
	expect_rc "instead of a pin, $name: a member goes on without" 0
	expect_err "instead of a pin, $name: a member is told" "counters come from /proc: the object pinned at $place"
}
zmem pin $other
link=$place/$version/pss
if need bpftool 'maps and other programs instead of a pin'; then
	mkdir $place/maps
	bpftool prog loadall "$O/bpf/task_counters.bpf.o" $place/maps pinmaps $place/maps 2>"$TMP/made" ||
		not_ok 'maps to pin' "$(cat "$TMP/made")"
	instead 'a map' mv $place/maps/cpu_offset_setup "$link"
	instead 'a map that can be read' mv $place/maps/scramble "$link"
	instead 'a program' mv $place/maps/task_counters "$link"
fi
instead 'a directory' mkdir "$link"
rmdir "$link"
touch "$TMP/file"
instead 'a symbolic link' ln -s "$TMP/file" "$link"
zmem pin $other
expect_rc 'pinned over it' 0
equal 'pinned over it: no other file is left' "$(ls $place | grep -v debug | xargs)" "$version version"
mkdir -p $place/9/a/b $place/"$version"/a/b
zmem pin $other
expect_rc 'pinned over a tree' 0
mv $place/"$version"/counters "$link"
run as_group $other "$ZMEM" --pinned -o pid -H
expect_rc 'counters in place of pages: exit code' 1
equal 'counters in place of pages: no output' "$(cat "$TMP/out")" ''
mount -t bpf bpf $place

zmem unpin
expect_rc 'unpin' 0
expect_stderr_lines 'unpin: silent' 0
check 'unpin: nothing is left' [ ! -e $place ]
check 'unpin: unmounted, although mounted twice' [ -z "$(grep " $place " /proc/mounts)" ]
# several COMMAND…: repeats the command.
several() {
	for _ in 1 2 3 4 5 6 7 8 9 10; do "$@" || return 1; done
}
several "$ZMEM" pin $group 2>"$TMP/race_pin" &
first=$!
several "$ZMEM" unpin 2>"$TMP/race_unpin" &
second=$!
several "$ZMEM" unpin 2>"$TMP/race_other"
equal 'unpin beside pin and unpin' "$? $(cat "$TMP/race_other")" '0 '
wait $first
equal 'pin beside unpin' "$? $(cat "$TMP/race_pin")" '0 '
wait $second
equal 'another unpin' "$? $(cat "$TMP/race_unpin")" '0 '
zmem unpin
check 'unpin: nothing is left at the end' [ ! -e $place ]
mkdir -m 750 $place && chgrp $group $place && mkdir -m 750 $place/"$version" && chgrp $group $place/"$version"
cp /etc/hostname $place/"$version"/pss
refused 'files that look like a pin' 1 'there is no pin' --pinned
rm -r $place

# ---- with the capabilities of zmem-bpf-pin.service ----

unit=$SUPPORT/../../src/dist/systemd/zmem-bpf-pin.service
# By number: the tools of Debian 12 lack names for the newest two.
bounding=-all$(sed -n 's/^CapabilityBoundingSet=//p' "$unit" | tr ' ' '\n' | awk '
	BEGIN { n["CAP_CHOWN"] = 0; n["CAP_SYS_ADMIN"] = 21; n["CAP_PERFMON"] = 38; n["CAP_BPF"] = 39 }
	{ printf ",+cap_%s", $1 in n ? n[$1] : $1 }')
# as_unit COMMAND…
as_unit() {
	run setpriv --bounding-set="$bounding" --no-new-privs "$@"
}
as_unit grep CapEff /proc/self/status
expect_out 'as the unit: four capabilities' '^CapEff:.000000c000200001$'
as_unit "$ZMEM" pin $group
expect_rc 'as the unit: pin' 0
mkdir $place/1
as_unit "$ZMEM" pin $other
expect_rc 'as the unit: pin over it' 0
equal 'as the unit: no other file is left' "$(ls $place | grep -v debug | xargs)" "$version version"
run as_group $other "$ZMEM" --pinned -q
expect_rc 'as the unit: a member reads it' 0
as_unit "$ZMEM" unpin
expect_rc 'as the unit: unpin' 0
check 'as the unit: nothing is left' [ ! -e $place ]

# ---- without PSS ----

mount --bind /dev/null /proc/zoneinfo
zmem pin $group
umount /proc/zoneinfo
expect_rc 'refused calibration: pinned without PSS' 0
expect_err 'refused calibration: a note' '^zmem-bpf: pinned without PSS: calibration.*zoneinfo'
run as_member "$ZMEM" --pinned -J
expect_json 'refused calibration: a member sees the reason' '.source.counters == "bpf" and
	(.source.pss_fallback_reason | test("calibration.*zoneinfo"))'
zmem unpin
check 'unpin' [ ! -e $place ]
