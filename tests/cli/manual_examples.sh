#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The examples of the manual pages run: each line of .Dl, and each command of a display, in a directory
# that has what they name. What they print of a recording is what the pages show.
. "$(dirname "$0")/../support/cli.sh"
need_bpf 'manual examples' || exit 0

root=$(realpath "$SUPPORT/../..")
here=$TMP/here
mkdir "$here"
cd "$here" || exit 1
cp "$root"/src/dist/examples/*.jq .
cp "$root/tests/fixtures/recordings/swap-6.12.zmem" guest.zmem
cp guest.zmem incident.zmem
zmem record --keep 1h kept -c 2 -i 0.2 -q
echo 'a-token' >token
chmod 600 token
# It makes a picture, which is not ours to test.
printf '#!/bin/sh\nexec cat\n' >"$TMP/flamegraph.pl"
chmod +x "$TMP/flamegraph.pl"
PATH=$TMP:$PATH
sleep 1000 &
one=$!
sleep 1000 &
two=$!
server=
end_all() {
	kill "$one" "$two" $server
	lib_cleanup
}
trap end_all EXIT

# examples PAGE: its commands, one on a line.
examples() {
	sed -nE -e 's/^\.Dl //p' -e '/^\.Bd/,/^\.Ed/ { /^[#$] / { :more; /\\e$/ { N; s/ *\\e\n */ /; b more }; s/^..//; p } }' "$1" |
		sed -e 's/\\(aq/'\''/g' -e 's/\\e/\\/g' -e 's/\\-/-/g'
}

# serves: whether this program can.
zmem doctor
grep -qE '^serve +ok ' "$TMP/out" && serves=1 || serves=

# An address where nothing listens, and the address of one that does.
begin_server() {
	zmem-bpf serve --listen 127.0.0.1:0 2>"$TMP/server" &
	server=$!
	wait_for grep -q 'listening on' "$TMP/server"
	address=$(sed -n 's|.*http://\(.*\)/$|\1|p' "$TMP/server")
}
[ -z "$serves" ] || begin_server

# until_it_listens COMMAND…: ends it then, with the exit code that it has.
until_it_listens() {
	"$@" 2>"$TMP/listens" &
	wait_for grep -q 'listening on' "$TMP/listens"
	kill "$!"
	wait "$!"
}
export -f until_it_listens wait_for
export TMP

# run_example PAGE LINE
run_example() {
	local name="$1: $2" line=$2 limit="timeout -s KILL $PATIENCE"
	line=$(sed -e "s/\\b4711\\b/$one/g; s/\\b1234,1235\\b/$one,$two/; s/\\b3544,3546\\b/$one,$two/" \
		-e 's|/var/lib/prometheus/node-exporter/||; s|/var/lib/zmem-bpf|kept|' \
		-e 's/--at \(03:14\|event:1\)/--at -0s/' <<<"$line")
	case $line in
	# What they do is tested by deb/boot.sh, cli/install_caps.sh and cli/pin.sh.
	systemctl\ * | make\ install-caps | zmem-bpf\ pin\ * | zmem-bpf\ unpin | *--pinned*) return ;;
	zmem-bpf\ serve* | curl\ *)
		if [ -z "$serves" ] || ! command -v curl >/dev/null; then
			skip "$name" 'no libmicrohttpd, or no curl'
			return
		fi
		line=$(sed "s|:19647|127.0.0.1:0|; s|unix:/run|unix:$here|; s|localhost127.0.0.1:0|$address|; s|localhost:19647|$address|" <<<"$line")
		case $line in
		curl*) line=${line/curl -s/curl -sf} ;;
		*--listen*) line="until_it_listens $line" ;;
		*) line="until_it_listens $line --listen 127.0.0.1:0" ;;
		esac
		;;
	# There is no kill in it: cli/incidents.sh has them.
	zmem-bpf\ diff\ --from*) line=$(sed -E 's/(--from|--to) [^ ]+/\1 -0s/g; s/diff/diff kept/' <<<"$line") ;;
	zmem-bpf\ incidents*kept*) ;;
	zmem-bpf\ incidents*) line=${line/incidents/incidents kept} ;;
	# Not the whole machine, which may be busy.
	zmem-bpf\ grow*)
		line=$(sed -E "s/-c [0-9]+/-i 0.1 -c 2/; s/--name leak/--name sleep/; s/--cgroup '[^']*'/--name sleep/; s/-- .*/-- true/" <<<"$line")
		;;
	zmem-bpf\ record\ --keep*) line+=' -c 2 -i 0.2' ;;
	zmem-bpf\ top*) line="TERM=xterm script -qec '$line -c 1' /dev/null" ;;
	zmem-bpf\ watch*--replay*) ;;
	zmem-bpf\ watch*) [[ $line == *' -c '* ]] || line+=' -c 2' ;;
	esac
	# shellcheck disable=SC2086
	run $limit bash -o pipefail -c "$line"
	expect_rc "$name" 0
	case $line in
	*--output\ *) check "$name: writes its file" [ -s "$(sed 's/.*--output \([^ ]*\).*/\1/' <<<"$line")" ] ;;
	esac
}

count=0
for page in "$root"/src/man/*.[1-9]; do
	while read -r -u 3 line; do
		run_example "${page##*/}" "$line"
		count=$((count + 1))
	done 3< <(examples "$page")
done
check 'there are examples' [ "$count" -gt 60 ]

# ---- the page about fleets ----

page=$root/src/doc/fleet.md
# blocks LANGUAGE: the lines of these blocks of the page
blocks() {
	awk -v begin="\`\`\`$1" '/^```/ { inside = !inside && $0 == begin ? 1 : inside ? 0 : 2; next } inside == 1' "$page"
}
count=0
while read -r -u 3 line; do
	case $line in
	# cli/test_image.py runs Podman, metrics/ has the Prometheus ones, bench/run is by hand.
	podman\ * | prometheus\ * | make\ * | tests/*) ;;
	*) run_example fleet.md "$line" && count=$((count + 1)) ;;
	esac
done 3< <(blocks '' | sed -e ':more' -e '/\\$/{N;s/ *\\\n */ /;b more' -e '}')
check 'fleet.md: there are commands' [ "$count" -gt 0 ]
blocks python >"$TMP/fleet.py"
run_expect 0 'fleet.md: the program in Python' env PYTHONPATH="$root/src/dist/python" PYTHONDONTWRITEBYTECODE=1 \
	"$PYTHON" "$TMP/fleet.py"
equal 'fleet.md: it prints ten processes' "$(wc -l <"$TMP/out")" 10
check 'fleet.md: with PSS and USS' awk 'NF < 4 || $(NF - 1) !~ /^[0-9]+$/ || $NF !~ /^[0-9]+$/ { exit 1 }' "$TMP/out"
# Files that the page names exist.
while read -r -u 3 file; do
	check "fleet.md: $file exists" [ -e "$root/src/doc/$file" ]
done 3< <(grep -o '](\.\./[^)]*)' "$page" | sed 's/^](//; s/)$//')
while read -r -u 3 file; do
	check "fleet.md: $file exists" [ -e "$root/$file" ]
done 3< <(grep -oE '`(tests|src)/[a-z_/.-]+[a-z]`' "$page" | tr -d '`')

# ---- what is shown of a recording ----

# Each line that zmem-bpf-system(1) shows is the beginning of a line of the output, in its order.
zmem system --replay guest.zmem
cp "$TMP/out" "$TMP/system"
zmem --replay guest.zmem -o pid,swap,swap_pss,swap_shmem,name -f mkmem
sed '/ total$/q' "$TMP/out" >"$TMP/rows"
# The rows of the processes are between the last two tables of it.
cat "$TMP/system" "$TMP/rows" "$TMP/system" >"$TMP/out"
awk '/^\.Bd/ { inside = 1; next } /^\.Ed/ { inside = 0 } inside && !/^[$]/' \
	"$root/src/man/zmem-bpf-system.1" >"$TMP/shown"
check 'system: there is an example' [ "$(wc -l <"$TMP/shown")" -gt 30 ]
equal 'system: the example is what is printed' "$(awk 'NR == FNR { line[++count] = $0; next }
	{ while (++at <= count && index(line[at], $0) != 1); if (at > count) { print; exit } }' "$TMP/out" "$TMP/shown")" ''
