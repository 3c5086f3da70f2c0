#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# pin without a group: root's runs use it by themselves and give what they give without it, and a pin
# that is old, foreign or half removed is never in their way. In a mount namespace with a /run of its
# own.
# needs: bpf mount users
# alone: what all processes share decides whether the pin is used
. "$(dirname "$0")/../support/cli.sh"
see_own_processes_only
mount -t tmpfs -o mode=755 tmpfs /run || exit 1
place=/run/zmem-bpf
version=$(sed -n 's/^#define ZMEM_RECORD_VERSION //p' "$SUPPORT/../../include/zmem/record.h")
links=$place/$version

reads_pin() {
	zmem -J && jq -e .source.pinned "$TMP/out" >"$TMP/pinned"
}
# uses NAME: root's run reads the pin, without an option, and says nothing. Other tests may have memory
# that many processes map.
uses() {
	wait_until reads_pin
	expect_rc "$1: exit code" 0
	expect_stderr_lines "$1: silent" 0
	expect_json "$1: read from the pin" '.source.pinned and .source.pss == "kernel" and .source.counters == "bpf"'
}
says_why() {
	zmem -v -n 1 && grep -qE "pinned: .*$1" "$TMP/err"
}
# ignores NAME ERE: root's run loads its own programs and says nothing; -v says why.
ignores() {
	works "$1: exit code" -J
	expect_stderr_lines "$1: silent" 0
	expect_json "$1: root loads its own" '.source.pinned == false and .source.counters == "bpf" and
		.source.fallback_reason == null and .source.pss_fallback_reason == null and (.source.pss | test("kernel|mixed"))'
	check "$1: -v says why" wait_until says_why "$2"
}
# as_nobody_else COMMAND…: a user without a right.
as_nobody_else() {
	run setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all "$@"
}

works 'pin' pin
expect_stderr_lines 'pin: silent' 0
equal 'pin: owner and mode' "$(stat -c '%F %U:%G %a' $place "$links" "$links"/* | sort | uniq -c | xargs)" \
	"$(printf '%s\n' '2 directory root:root 700' '2 regular empty file root:root 600' \
		'2 symbolic link root:root 777' | xargs)"
uses 'pin'
works '--pinned insists on it' --pinned -q

# ---- the same values ----

mkmem_begin anon shmem memfd2 file cow_many fork shmem_big clone_vm || not_ok 'shapes' "$(cat "$TMP/mkmem")"
pids=$(sed -n 's/^READY [^ ]* [^ ]* //p' "$TMP/mkmem" | paste -sd,)
# values FILE COMMAND…: all keys of the shapes' processes that do not change by themselves.
values() {
	local file=$1
	shift
	"$@" -q -J -p "$pids" --verify 0 >"$TMP/all" &&
		jq -S '[.processes[] | del(.majflt)]' "$TMP/all" >"$TMP/$file"
}
check 'values with the pin' values pinned "$ZMEM"
check 'the pin was read' jq -e .source.pinned "$TMP/all"
mv $links/pss $links/aside
check 'values without it' values loaded "$ZMEM"
check 'the pin was not read' jq -e '.source.pinned | not' "$TMP/all"
mv $links/aside $links/pss
check 'more than 30 processes' jq -e 'length > 30' "$TMP/loaded"
# The vdso page is shared with each new process.
check 'all values are the same' jq -en --slurpfile a "$TMP/pinned" --slurpfile b "$TMP/loaded" '
	def near($key; $x; $y): $x == $y or ($key | endswith("_bytes")) and $x != null and $y != null and ($x - $y | fabs) <= 1024;
	($a[0] | length) == ($b[0] | length) and all(range($a[0] | length); . as $i |
		($a[0][$i] | keys) == ($b[0][$i] | keys) and
		all($a[0][$i] | keys[]; near(.; $a[0][$i][.]; $b[0][$i][.]) or
			($a[0][$i] | error("\(.name): \($a[0][$i]) is not \($b[0][$i])"))))'
mkmem_end
works '--verify all with the pin: no difference' --verify all -q

# ---- what loads its own programs ----

zmem watch -c 1 -F ndjson -v
check 'watch loads its own' grep -q '"pinned":false' "$TMP/out"
expect_err 'watch: -v says why' 'not used: a series of snapshots loads once'
zmem -F openmetrics -v
expect_err 'metrics: -v says why' 'not used: it has no files'
expect_out 'metrics load theirs, which have sums of files' '^zmem_.*shmem.* [0-9]'
for args in cgroups "record $TMP/recording -c 1" '-F prometheus' '-s freed' '-s lazyfree' '-o +thp_rest' '-o +nodes'; do
	# shellcheck disable=SC2086
	warns "$args: not by the pin, which lacks it" '^zmem-bpf: bpf with pages, pinned: not used: it (has no files|does not tell)' $args -v
done
# Many processes that map the same memory: only loaded programs read it once.
mkfifo "$TMP/end"
"$O/workload" shmem:100x131072 <"$TMP/end" >"$TMP/ready" 2>&1 &
exec 6>"$TMP/end"
wait_until grep -q . "$TMP/ready"
equal 'many processes share memory' "$(cat "$TMP/ready")" READY
ignores 'shared page tables' 'not used: many processes map the same memory'
tells 'shared page tables: --pinned reads the pin' .source.pinned --pinned -J
exec 6>&-
wait
uses 'after that'

# ---- other users ----

as_nobody_else "$ZMEM" -J
expect_rc 'another user' 0
expect_err 'another user: the reason is not the pin' 'counters come from /proc: CAP_BPF and CAP_PERFMON are missing'
as_nobody_else "$ZMEM" --pinned
expect_rc 'another user, --pinned' 1
expect_err 'another user, --pinned: the reason' "the pin at $place is for root alone \(as root: zmem-bpf pin GROUP\)"
as_nobody_else "$ZMEM" doctor
expect_out 'another user, doctor' '^pin +- +for root alone'
for file in $links/pss $links/counters; do
	as_nobody_else cat $file
	check "another user cannot read ${file##*/}" [ "$rc" != 0 ]
done
says 'doctor: the pin, and how to switch it off' '^pin +ok +runs of root load nothing \(off: systemctl disable' doctor

# ---- never in the way ----

mv $links/pss $links/aside
ignores 'half removed: no pss' 'not used: the pin has only counters'
mv $links/aside $links/pss
mv $links $place/7 && ln -sfn 7 $place/version
ignores 'another version of records' 'is of record version 7'
zmem pin
uses 'pinned over it'
rm -r $place/"$version"/*
zmem -J
expect_json 'half removed: an empty directory' '.source.pinned == false and .source.counters == "bpf"'
expect_stderr_lines 'half removed: an empty directory: silent' 0
rmdir $links
zmem -J
expect_json 'half removed: no directory' '.source.pinned == false and .source.counters == "bpf"'
expect_stderr_lines 'half removed: no directory: silent' 0
zmem pin
cp "$ZMEM" "$TMP/newer" && printf '\n' >>"$TMP/newer"
run "$TMP/newer" -v -n 1
expect_err 'another build: root loads its own' 'counters come from bpf with pages$'
expect_err 'another build: -v says why' 'not used: another build of zmem-bpf made it'
run "$TMP/newer" doctor
expect_out 'another build: doctor' '^pin +no +runs of root do not use it: another build'
run_expect 0 'another build: --pinned reads it, the records are of the same version' "$TMP/newer" --pinned -q
run "$TMP/newer" pin
run "$TMP/newer" -J
expect_json 'another build, pinned again: it is used' .source.pinned
ignores 'another build, pinned again: not by the old one' 'another build of zmem-bpf made it'
zmem pin
ln -sfn 4096 $links/ram
ignores 'RAM was added' 'not used: RAM was added after the pin was made'
zmem pin

# foreign NAME UNDO DO…: root does not trust what another user could have placed.
foreign() {
	local name=$1 undo=$2
	shift 2
	"$@" || not_ok "$name" "$*"
	ignores "$name" 'other users than root can change it'
	refused "$name, --pinned" 1 'other users than root can change it' --pinned
	eval "$undo"
}
foreign 'the owner of /run' 'chown 0 /run' chown 65534 /run
foreign 'others write in /run' 'chmod 755 /run' chmod 777 /run
chmod 1777 /run
uses 'others may write in /run, but it is sticky'
chmod 755 /run
foreign 'the owner of the place' "chown 0 $place" chown 65534 $place
foreign 'a group writes in the place' "chmod 700 $place" chmod 770 $place
foreign 'the owner of the directory' "chown 0 $links" chown 65534 $links
foreign 'others write in the directory' "chmod 700 $links" chmod 702 $links
foreign 'the owner of a link' "chown 0 $links/pss" chown 65534 $links/pss
foreign 'a group writes a link' "chmod 600 $links/pss" chmod 660 $links/pss
uses 'undone'

# ---- removed while it is read ----

# Without a held link one in thirty of these runs ended with an error.
pins_come_and_go() {
	while [ ! -e "$TMP/enough" ]; do
		"$ZMEM" pin && "$ZMEM" pin --remove || return 1
		echo >>"$TMP/came"
	done
}
: >"$TMP/came"
pins_come_and_go 2>"$TMP/come_err" &
coming=$!
runs=0 ended=
while kill -0 $coming 2>/dev/null && { [ $runs -lt 40 ] || [ "$(wc -l <"$TMP/came")" -lt 40 ]; }; do
	"$ZMEM" -q -J >"$TMP/out" 2>"$TMP/err" || ended+="$? $(cat "$TMP/err"); "
	runs=$((runs + 1))
done
touch "$TMP/enough"
wait $coming
equal 'a pin that comes and goes: it does' "$? $(cat "$TMP/come_err")" '0 '
equal 'a pin that comes and goes: no run ends with an error' "$ended" ''
zmem pin
uses 'after that'

# ---- a group, and the end ----

works 'pinned for a group' pin 4242
equal 'pinned for a group: its modes' "$(stat -c '%g %a' $place "$links" "$links"/pss | xargs)" '4242 710 4242 750 4242 440'
uses 'root uses the pin of a group'
zmem pin
equal 'pinned for root again: its modes' "$(stat -c '%g %a' $place "$links" "$links"/pss | xargs)" '0 700 0 700 0 600'
refused 'pin --remove of a group' 2 'pin --remove: it takes no GROUP' pin --remove 4242
works 'pin --remove' pin --remove
expect_stderr_lines 'pin --remove: silent' 0
check 'pin --remove: nothing is left' [ ! -e $place ]
works 'pin --remove without a pin' pin --remove
tells 'without a pin: root loads its own' '.source.pinned == false and .source.pss == "kernel"' -J
mkdir -m 700 $place && mkdir -m 700 $place/"$version" && touch $place/"$version"/pss
zmem -J
expect_json 'files that look like a pin: root loads its own' '.source.pinned == false and .source.pss == "kernel"'
expect_stderr_lines 'files that look like a pin: silent' 0
rm -r $place

# ---- make install, make uninstall ----

if need plain 'make install'; then
	source=$(realpath "$SUPPORT/../..")
	prefix=$TMP/prefix
	run make --no-print-directory -C "$source" O="${O#"$source"/}" PREFIX="$prefix" install
	expect_out 'make install: says how to have a pin at each boot' 'systemctl enable --now zmem-bpf-pin$'
	run_expect 0 'make install: its program pins' "$prefix/bin/zmem-bpf" pin
	run_expect 0 'make uninstall' make --no-print-directory -C "$source" O="${O#"$source"/}" PREFIX="$prefix" uninstall
	check 'make uninstall: no pin is left' [ ! -e $place ]
fi
