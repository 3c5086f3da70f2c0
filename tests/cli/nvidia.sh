#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Memory of NVIDIA's GPUs, with a library in place of libnvidia-ml: the values of processes, and what a
# library that is old, hostile or missing does to them. By the program and by the static one.
# needs: mount
. "$(dirname "$0")/../support/cli.sh"

# The library is found by the list that ld.so has of the system.
build() { # NAME FLAG…
	local name=$1
	shift
	mkdir -p "$TMP/$name"
	cc -shared -fPIC -O1 -DMODE="\"$TMP/$name/mode\"" -DUSES="\"$TMP/uses\"" -DSTATUS="\"$TMP/status\"" "$@" \
		"$(dirname "$0")/../support/nvidia_ml.c" -o "$TMP/$name/libnvidia-ml.so.1" &&
		{ echo "$TMP/$name" && cat /etc/ld.so.conf; } >"$TMP/$name.conf" &&
		ldconfig -X -f "$TMP/$name.conf" -C "$TMP/$name.cache"
}
for name in new hang spin; do
	build $name && echo $name >"$TMP/$name/mode"
done
build old -DOLD && build missing -DMISSING || not_ok 'the libraries' 'not built'
ldconfig -X -C "$TMP/none.cache"

# Three processes, of which the last one has no file of a GPU.
sleep 1000 & # a process: it holds files of a GPU
first=$!
sleep 1000 & # a process: likewise
second=$!
sleep 1000 & # a process: it holds none
third=$!
mkdir -p "$TMP/fd" "$TMP/fdinfo"
ln -s /dev/nvidiactl "$TMP/fd/5"
ln -s /dev/nvidia0 "$TMP/fd/6"
printf 'pos:\t0\nflags:\t02\n' | tee "$TMP/fdinfo/5" >"$TMP/fdinfo/6"
printf 'Character devices:\n  1 mem\n195 nvidia-frontend\n' >"$TMP/devices"
# with LIBRARY ARG…: a run on a machine with NVIDIA's driver and that library.
with() {
	run machine "$@"
}
machine() {
	# shellcheck disable=SC2016
	env TMP="$TMP" pids="$first $second" library="$1" LD_LIBRARY_PATH="$TMP/missing" \
		timeout -s KILL "$PATIENCE" unshare -m bash -c '
		mount --bind "$TMP/devices" /proc/devices && mount --bind "$TMP/$library.cache" /etc/ld.so.cache || exit 99
		for pid in $pids; do
			mount --bind "$TMP/fd" "/proc/$pid/fd" && mount --bind "$TMP/fdinfo" "/proc/$pid/fdinfo" || exit 99
		done
		exec "$@"' - "$program" "${@:2}"
}
snapshot() {
	with "$1" -J --source proc -p "$first,$second,$third"
}
is_unknown() { # NAME WORDS
	expect_json "$2: not known, and why" '([.processes[] | select(.gpu_bytes == null)] | length) == 2 and
		([.processes[] | select(.gpu_bytes == 0)] | length) == 1 and (.system.gpu.reason | contains($why))' --arg why "$1"
}
of='def of($pid): .processes[] | select(.pid == $pid);'

for program in "$PROGRAM" "$STATIC"; do
	name=${program##*/}
	# Both lists have the first one on one device, and it uses the other one, too. The third one has no file.
	printf '%s\n' "c 0 $first 3000000 4294967295 4294967295" "g 0 $first 3000000 4294967295 4294967295" \
		"g 1 $first 500 4294967295 4294967295" "c 1 $second 18446744073709551615 4294967295 4294967295" \
		"c 1 $third 4096 4294967295 4294967295" "c 0 999999999 77 4294967295 4294967295" >"$TMP/uses"
	echo >"$TMP/new/mode"
	for library in new old; do
		snapshot $library
		expect_json "$name, $library: sums over devices, each list once" "$of"' of($first).gpu_bytes == 3000500 and
			of($second).gpu_bytes == null and of($third).gpu_bytes == 0 and .system.gpu.reason == null' \
			--argjson first $first --argjson second $second --argjson third $third
		expect_json "$name, $library: in its words" "$of"' of($first).gpu_parts == ([["41", 3000000], ["c1", 500]] |
			map({kind: "nvml", device: "0000:\(.[0]):00.0", driver: "nvidia", id: null, region: "usedGpuMemory",
				resident_bytes: .[1], shared_bytes: null, share_bytes: .[1], holders: 1}))' --argjson first $first
	done
	check "$name: the library has no capability, and cannot get one" \
		grep -qzP '\nCapPrm:\t0+\n(.*\n)*NoNewPrivs:\t1\n' "$TMP/status"
	expect_json "$name: the machine" '.system.gpu.regions | map([.device, .resident_bytes, .clients, .in_ram]) ==
		[["0000:41:00.0", 3000000, 1, false], ["0000:c1:00.0", 500, 1, false]]'
	# A divided device has a process once for each part.
	printf 'c 0 %s %s 1 %s\n' "$first" 100 0 "$first" 100 0 "$first" 20 1 >"$TMP/uses"
	for mode in longer graphics; do
		echo $mode >"$TMP/new/mode"
		snapshot new
		expect_json "$name, $mode: parts of a device add up" "$of"' of($first).gpu_bytes == 120 and of($second).gpu_bytes == 0' \
			--argjson first $first --argjson second $second
	done
	echo >"$TMP/new/mode"
	snapshot none
	is_unknown 'cannot open shared object file' "$name: no library, whatever LD_LIBRARY_PATH says"
	snapshot missing
	is_unknown 'nvmlDeviceGetCount_v2: the library does not have it' "$name: a library without a function"
	for mode_says in 'unloaded=nvmlInit: Driver Not Loaded' 'escape=nvmlInit: ?[31mUnknown?' 'crash=it crashed' 'exit=it crashed' \
		'write=it' 'crowd=too many processes' 'lie=too many processes' 'many=too many devices'; do
		echo "${mode_says%%=*}" >"$TMP/new/mode"
		snapshot new
		is_unknown "${mode_says#*=}" "$name, ${mode_says%%=*}"
	done
	echo unloaded >"$TMP/new/mode"
	with new --source proc -o +gpu -n 1
	expect_err "$name: a table says why" 'memory of GPUs is not known: libnvidia-ml: nvmlInit: Driver Not Loaded'
	with new doctor
	expect_out "$name, doctor: why not" 'NVIDIA +no  +libnvidia-ml: nvmlInit: Driver Not Loaded'
	echo >"$TMP/new/mode"
	with new doctor
	expect_out "$name, doctor: it works" 'NVIDIA +ok  +libnvidia-ml tells usedGpuMemory of each process, now of 1'
done

# Limits of time and CPU are the same for both programs. Both at once.
limits=
for mode in hang spin; do
	machine $mode -J --source proc -p "$first,$second,$third" >"$TMP/$mode/out" 2>&1 &
	limits="$limits $!"
done
# shellcheck disable=SC2086
wait $limits
cp "$TMP/hang/out" "$TMP/out"
is_unknown 'no answer within 10 s' hang
cp "$TMP/spin/out" "$TMP/out"
is_unknown 'it used 10 s of a CPU' spin
check 'no helper is left' sh -c '! grep -lF libnvidia-ml /proc/[0-9]*/maps 2>/dev/null'
kill "$first" "$second" "$third"
