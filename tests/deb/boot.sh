#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The package with systemd as process 1: serve in its unit with all restrictions, until the package is
# purged. In separate namespaces: processes, mounts, network, cgroups.
. "$(dirname "$0")/root.sh" boot

hierarchy=$(findmnt -rno TARGET -t cgroup2 | head -n 1)
if [ -z "$hierarchy" ]; then
	skip boot 'systemd needs cgroup2, which is not mounted'
	exit 0
fi
run_expect 0 'make deb' make --no-print-directory -C "$SOURCE" O="${O#"$SOURCE"/}" deb || exit
cp "$(find "$O" -maxdepth 1 -name 'zmem-bpf_*.deb')" "$ROOT/tmp/zmem-bpf.deb"
done_inside 'apt install' 'apt-get -q update && apt-get -qy install --no-install-recommends systemd libmicrohttpd12 &&
	apt-get -qy install --no-install-recommends /tmp/zmem-bpf.deb' || exit

# Each command writes its output to a file in /result.
mkdir "$ROOT/result"
mv "$ROOT/tmp/zmem-bpf.deb" "$ROOT/result"
cat >"$ROOT/result/test" <<'END'
#!/bin/bash
exec 2>/result/errors
systemctl is-enabled zmem-bpf zmem-bpf-pin zmem-bpf-record >/result/enabled
id -u zmem-bpf >/result/user
systemctl start zmem-bpf-pin || journalctl --no-pager -u zmem-bpf-pin >&2
systemctl restart zmem-bpf-pin || journalctl --no-pager -u zmem-bpf-pin >&2
systemctl show zmem-bpf-pin -p Result -p CapabilityBoundingSet >/result/pin
systemd-analyze security zmem-bpf-pin | tail -n 1 >>/result/pin
stat -c '%a %U:%G' /run/zmem-bpf >/result/pin_place
zmem-bpf -J >/result/root
zmem-bpf doctor >/result/doctor
stat -c %i /run/zmem-bpf/*/pss >/result/pin_old
# As of an older program: the upgrade of the package makes the pin anew.
ln -sfn '0.1 1 1.0' /run/zmem-bpf/version/maker
zmem-bpf -J >/result/root_stale
dpkg -i /result/zmem-bpf.deb >/result/reinstalled
stat -c %i /run/zmem-bpf/*/pss >/result/pin_new
zmem-bpf -J >/result/root_renewed
echo GROUP=zmem >/etc/default/zmem-bpf-pin
systemctl reload zmem-bpf-pin || journalctl --no-pager -u zmem-bpf-pin >&2
setpriv --reuid=65534 --regid=65534 --groups="$(getent group zmem | cut -d: -f3)" --inh-caps=-all \
	--bounding-set=-all zmem-bpf --pinned -J >/result/member
echo 'OPTIONS=--listen 127.0.0.1:19648 -n 3' >/etc/default/zmem-bpf
systemctl start zmem-bpf || journalctl --no-pager -u zmem-bpf >&2
for _ in $(seq 100); do
	{ exec 7<>/dev/tcp/127.0.0.1/19648; } 2>/dev/null && break
	sleep 0.1
done
printf 'GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n' >&7
timeout 20 cat <&7 >/result/metrics
pid=$(systemctl show zmem-bpf -p MainPID --value)
cat "/proc/$pid/status" >/result/collector
cat "/proc/$(tr -d ' ' <"/proc/$pid/task/$pid/children")/status" >/result/http
rm /etc/default/zmem-bpf
echo KEEP=12h,50M >/etc/default/zmem-bpf-record
segments() {
	for _ in $(seq 200); do
		[ "$(find /var/lib/zmem-bpf/ -name '*.zmem' -size +0 | wc -l)" -ge "$1" ] && return
		sleep 0.1
	done
}
systemctl start zmem-bpf-record || journalctl --no-pager -u zmem-bpf-record >&2
segments 1
pid=$(systemctl show zmem-bpf-record -p MainPID --value)
cat "/proc/$pid/status" >/result/recorder
tr '\0' ' ' <"/proc/$pid/cmdline" >/result/recorder_command
cat "/proc/$pid/oom_score_adj" >/result/recorder_adj
zmem-bpf --replay /var/lib/zmem-bpf -J >/result/replayed
zmem-bpf incidents >/result/incidents
stat -L -c '%a %U' /var/lib/zmem-bpf >/result/directory
dpkg -i /result/zmem-bpf.deb >/result/reinstalled
systemctl restart zmem-bpf-record || journalctl --no-pager -u zmem-bpf-record >&2
segments 2
find /var/lib/zmem-bpf/ -name '*.zmem' -printf '%m %f\n' | sort >/result/segments
systemctl show zmem-bpf-record -p ActiveState -p NRestarts >/result/recorder_state
journalctl --no-pager -u zmem-bpf-record >/result/recorder_journal
systemd-analyze security zmem-bpf-record | tail -n 1 >/result/recorder_security
dpkg --purge zmem-bpf >/result/purge
rm /etc/default/zmem-bpf-pin
systemctl show zmem-bpf -p ActiveState -p Result >/result/end
grep -c /run/zmem-bpf /proc/mounts >/result/mounts
ls -d /var/lib/zmem-bpf* /var/lib/private/zmem-bpf* >/result/left 2>/dev/null
systemctl --force --force poweroff
END
chmod +x "$ROOT/result/test"
cat >"$ROOT/etc/systemd/system/boot.target" <<'END'
[Unit]
Requires=boot.service
END
cat >"$ROOT/etc/systemd/system/boot.service" <<'END'
[Service]
ExecStart=/result/test
END
cat >"$TMP/boot" <<'END'
cd "$1" || exit
umount -R proc sys dev run
mount -t proc proc proc
mount --bind proc/sys proc/sys && mount -o remount,bind,ro proc/sys
mount -t sysfs -o ro sysfs sys && mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs tmpfs run
mount -t tmpfs -o mode=755 tmpfs dev && mkdir dev/pts dev/shm
for file in null zero full random urandom tty; do
	touch "dev/$file" && mount --bind "/dev/$file" "dev/$file"
done
mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts && ln -s pts/ptmx dev/ptmx
exec chroot . env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin \
	/lib/systemd/systemd --unit=boot.target --show-status=no
END
cgroup=$hierarchy/zmem-boot-$$
boot_end() {
	echo $$ >"$hierarchy/cgroup.procs"
	find "$cgroup" -depth -type d -exec rmdir {} \;
	root_end
}
mkdir "$cgroup" && trap boot_end EXIT
echo $$ >"$cgroup/cgroup.procs"
run timeout -k 5 120 unshare --pid --fork --kill-child --uts --ipc --cgroup --net --mount bash "$TMP/boot" "$ROOT"

# was NAME FILE ERE
was() {
	if grep -qE -e "$3" "$ROOT/result/$2"; then
		ok "$1"
	else
		not_ok "$1" "no /$3/ in $2: $(cat "$ROOT/result/$2" "$ROOT/result/errors" "$TMP/err")"
	fi
}
was 'pin: started, stopped and started' pin '^Result=success'
was 'pin: bounded to four capabilities' pin '^CapabilityBoundingSet=cap_chown cap_sys_admin cap_perfmon cap_bpf$'
was 'pin: systemd finds it OK' pin 'zmem-bpf-pin.service: [0-4]\.[0-9] OK'
equal 'the pin alone is enabled' "$(tr '\n' ' ' <"$ROOT/result/enabled")" 'disabled enabled disabled '
equal 'pin: for root alone' "$(cat "$ROOT/result/pin_place")" '700 root:root'
was 'pin: doctor says how to switch it off' doctor '^pin +ok +runs of root load nothing'
# pinned FILE: the values of root in this file came through the pin. Of a process that changed again
# and again, smaps_rollup was read.
pinned() {
	jq -e '.source | if .pinned and (.pss == "kernel" or .pss == "mixed") then true else ., false end' "$ROOT/result/$1"
}
check 'pin: root uses it without an option' pinned root
check 'pin: of another program, root loads its own' jq -e '.source | .pinned == false and .counters == "bpf"' "$ROOT/result/root_stale"
check 'upgrade: the pin is new' [ "$(cat "$ROOT/result/pin_old")" != "$(cat "$ROOT/result/pin_new")" ]
check 'upgrade: root uses the new pin' pinned root_renewed
check 'pin: a member without capabilities sees all processes' jq -e '.source.pinned and (.collection | .complete == (.not_seen == 0)) and
	any(.processes[]; .pid == 1)' "$ROOT/result/member"
was 'PSS from the kernel' metrics '^zmem_source_info\{counters="bpf",pss="(kernel|mixed)"'
was 'the collection is complete' metrics '^zmem_collect_complete 1'
was 'some processes are checked' metrics '^zmem_cross_check_processes\{verdict="same"\} [1-9]'
equal 'options are those of /etc/default/zmem-bpf' "$(grep -c '^zmem_group_processes{' "$ROOT/result/metrics")" 4
for who in collector http; do
	was "$who: the package's user" $who "^Uid:(	$(cat "$ROOT/result/user")){4}\$"
	was "$who: system calls are filtered" $who '^Seccomp:	2'
	was "$who: bounded to two capabilities" $who '^CapBnd:	000000c000080000'
done
was 'collector: only CAP_SYS_PTRACE' collector '^CapPrm:	0000000000080000'
was 'http: no capability' http '^CapPrm:	0000000000000000'
was 'recorder: a user of its own' recorder '^Uid:(	[1-9][0-9]{4}){4}$'
was 'recorder: system calls are filtered' recorder '^Seccomp:	2'
was 'recorder: bounded to five capabilities' recorder '^CapBnd:	000000c40[01]080000'
was 'recorder: only CAP_SYS_PTRACE is kept' recorder '^CapPrm:	0000000000080000'
# The machine may not have the capability itself, which systemd then leaves out.
if capsh --has-p=cap_sys_resource 2>/dev/null; then
	was 'recorder: it is not killed' recorder_adj '^-1000'
	was 'recorder: its memory is locked' recorder '^VmLck:	 *[1-9]'
else
	skip 'recorder: it is not killed' 'CAP_SYS_RESOURCE is missing on this machine'
fi
was 'recorder: the time and size of /etc/default' recorder_command '--keep 12h,50M /var/lib/zmem-bpf'
was 'recorder: a directory of its own' directory '^700 '
check 'recorder: root shows the recording' jq -es 'length == 1 and .[0].source.counters == "bpf" and any(.[0].processes[]; .pid == 1 and .name == "systemd")' \
	"$ROOT/result/replayed"
was 'recorder: no event is a sentence' incidents '^no OOM kill, no shortage of memory and no signal was recorded$'
equal 'recorder: after an upgrade it goes on in another segment' "$(tr '\n' ' ' <"$ROOT/result/segments")" \
	'600 0000000001.zmem 600 0000000002.zmem '
was 'recorder: it runs' recorder_state '^ActiveState=active'
was 'recorder: it never failed' recorder_state '^NRestarts=0'
check 'recorder: it says only what a day takes' test -z "$(grep 'zmem-bpf\[' "$ROOT/result/recorder_journal" | grep -v 'MB a day here')"
was 'recorder: systemd finds it OK' recorder_security '[0-4]\.[0-9] OK'
equal 'purged: no recording is left' "$(cat "$ROOT/result/left")" ''
was 'purged: it has ended' end '^ActiveState=inactive'
was 'purged: the result is success' end '^Result=success'
was 'purged: the pin is gone' mounts '^0$'
