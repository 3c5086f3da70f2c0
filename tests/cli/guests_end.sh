#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# No guest stays when a signal ends the tests of other kernels. The qemu here only waits.
. "$(dirname "$0")/../support/cli.sh"

tree=$TMP/tree
mkdir -p "$tree/tests/vm" "$tree/boot" "$TMP/bin" "$TMP/o"
cp "$SUPPORT/../vm/run" "$SUPPORT/../vm/init" "$tree/tests/vm/"
cp "$SUPPORT/../run" "$tree/tests/"
: >"$tree/base.cpio"
: >"$tree/boot/vmlinuz-none"
cat >"$tree/tests/vm/packages.sh" <<END
USUAL_MODULES=
architecture() { echo amd64; }
find_busybox() { BUSYBOX=/bin/true; }
prepare_kernel() { DIR=$tree; }
why_not_found() { echo; }
END
mkdir "$TMP/o/bpf"
for name in zmem-bpf-static mkmem check_counters guest_exit drop thrash eat fill ask workload growlab-static peaklab load_objects \
	bpf/some.bpf.o; do
	: >"$TMP/o/$name"
done
for name in busybox xz zstd apt-get dpkg-deb; do
	printf '#!/bin/true\n' >"$TMP/bin/$name"
done
printf '#!/bin/sh\necho amd64\n' >"$TMP/bin/dpkg"
printf '#!/bin/sh\nexec cat >/dev/null\n' >"$TMP/bin/cpio"
cat >"$TMP/bin/qemu-system-x86_64" <<END
#!/bin/bash
echo \$\$ >>$TMP/guests
exec sleep 1000
END
chmod +x "$TMP/bin/"*

both_run() {
	[ "$(wc -l <"$TMP/guests")" = 2 ]
}
none_runs() {
	local pid
	while read -r pid; do
		! grep -qs sleep "/proc/$pid/comm" || return 1
	done <"$TMP/guests"
}

# ended NAME SIGNAL TO COMMAND…: sends the signal to the command or its group while guests run.
ended() {
	local name=$1 signal=$2 to=$3 job pid
	shift 3
	: >"$TMP/guests"
	rm -rf "$TMP/o/vm"
	set -m # a group of its own, which does not ignore SIGINT
	(cd "$tree" && O=$TMP/o VM_JOBS=2 KERNELS='6.12 6.1' PATH=$TMP/bin:$PATH exec "$@") >"$TMP/out" 2>&1 &
	job=$!
	set +m
	wait_until both_run || not_ok "$name: guests" "they do not start: $(cat "$TMP/out")"
	kill -"$signal" -- "${to/PID/$job}"
	check "$name: no guest stays" wait_until none_runs
	while read -r pid; do
		! grep -qs sleep "/proc/$pid/comm" || kill -KILL "$pid"
	done <"$TMP/guests"
	wait "$job"
	return 0 # its exit code does not matter
} 2>/dev/null

ended 'SIGTERM' TERM PID tests/vm/run
ended 'SIGINT' INT PID tests/vm/run
ended 'SIGKILL' KILL PID tests/vm/run
ended 'SIGTERM to all' TERM -PID tests/vm/run
ended 'SIGKILL to all' KILL -PID tests/vm/run
ended 'SIGTERM to tests/run' TERM PID tests/run vm
printf 'all:\n\t@exec env O=%s tests/run vm\n' "$TMP/o" >"$tree/Makefile"
ended 'SIGTERM to make' TERM PID make
