#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Invalid options: one line on stderr, nothing on stdout, the right exit code.
. "$(dirname "$0")/../support/cli.sh"

# Pids that no process has: pid_max is at most the next power of two.
free_pid=4194303
# Without BPF, a line on stderr says that counters come from /proc.
have counters
notes=$?
# The message names the help of the command, if one was named.
usage='\(zmem-bpf ([a-z]+ )?--help\)$'

refused 'unknown letter among known ones' 2 "option -Z $usage" -JZ
refused 'too many readers' 2 "--readers 9: must be at most 8 $usage" --readers 9
refused 'option without its argument' 2 "--top: .*$usage" --top
refused 'argument for a flag' 2 "--help .*$usage" --help=yes
refused 'unknown command' 2 "frobnicate: there is no such command; -f frobnicate chooses processes by name \(zmem-bpf --help\)$" frobnicate
refused 'help of an unknown command' 2 'frobnicate: there is no such command; -f frobnicate chooses processes by name \(zmem-bpf --help\)$' help frobnicate
for typed in wacth:watch pni:pin snapshto:snapshot sytem:system; do
	refused "mistyped ${typed#*:}" 2 "${typed%:*}: .*; did you mean ${typed#*:}\? $usage" "${typed%:*}"
done
for command in snapshot maps watch; do
	refused "$command NAME" 2 "python3: not a process number; -f python3 chooses .*$command --help\)$" "$command" python3
done
refused 'mistyped option' 2 '--sotr=pss; did you mean --sort\? ' --sotr=pss
refused 'mistyped column' 2 "'pssanon'; the nearest is pss_anon; " -o pid,pssanon
refused 'the help of the command is named' 2 '--top: .*\(zmem-bpf watch --help\)$' watch --top
refused 'empty command' 2 "$usage" ''
refused 'argument behind a command' 2 "extra: .*$usage" snapshot extra

refused 'unknown appended column' 2 "'\\+?nope'.*$usage" -o +nope
refused 'unknown sort key' 2 "--sort: .*'nope'.*$usage" -s pss,nope
# unit/test_query_pattern.c, unit/test_query_parse.c and fuzz/fuzz_command_options.c have every bad value.
refused 'bad format' 2 "--format xml: .*table.*json.*$usage" -F xml
refused 'unknown user' 3 'no such user' -u no_such_user_here
refused 'user number out of range' 3 '4294967296' -u 4294967296

guest=$SUPPORT/../fixtures/recordings/guest-6.12.zmem
only='it has all keys, only what is read on request can be added, as \+cmdline'
for format in json ndjson; do
	refused "$format --columns" 2 "$format: --columns pid,rss: $only" -F $format -o pid,rss
	refused "$format, columns of tables" 2 "$format: --columns \+%pss: $only" -F $format -o +%pss
	refused "$format, one column of tables" 2 "$format: --columns \+cgroup,%pss: $only" -F $format -o +cgroup,%pss
	refused "$format, no column" 2 "there is no column 'nosuch'" -F $format -o +nosuch
	says "$format: and cmdline can" '"cmdline":' --replay "$guest" -F $format -o +cmdline,cgroup
	for column in freed nodes lazyfree hugetlb_pss gpu; do
		works "$format, groups: +$column" -q -n 1 -F $format -g name -o +$column
	done
	refused "$format, groups" 2 "$format: --columns cannot be combined with --group-by" -F $format -g name -o +cmdline
done
for column in shr +shr SHR; do
	refused "-o $column" 2 "there is no column '[shrSHR]*': top's SHR is rss_file and rss_shmem together" -o $column
done
# Documents of files likewise; rights and BPF come later.
for format in json ndjson csv html; do
	refused "files: $format --columns" 2 "$format: --columns name,size: .*as \\+holders,cgroup" files -F $format -o name,size
	refused "files: $format, no column" 2 "files has no column '\\+pss'" files -F $format -o +pss
done
if need 'counters' 'files: columns of documents'; then
	for columns in +holders +holders,cgroup +cgroup,+swap_ram,holders +swap_ram; do
		works "files: json $columns" files -n 1 -J -o $columns
	done
fi
refused 'record --columns' 2 "record: --columns pid: it has all keys, only \+cmdline and \+kernel can be added" record "$TMP/recording" -o pid
refused 'serve --columns' 2 "serve: --columns pid: it has all keys, only \+cmdline and \+kernel can be added" serve -o pid
for format in folded openmetrics prometheus; do
	refused "$format --columns" 2 "--columns cannot be combined with --format $format" -F $format -o +cmdline
done
if need counters 'metrics: what is read on request'; then
	# Of a process that waits: FREED is not known while a process of the group forks.
	says 'metrics: what is read on request' '^zmem_group_freed_bytes\{' -q -F openmetrics -g user -p $$ -o +freed,nodes
fi
for command in grow peak; do
	refused "$command make" 2 'make: unexpected argument: a command stands behind --' $command make -j8
done
refused 'a group that does not exist' 2 '--group-by nope: must be one of none, .*, cgroup, node \(' -g nope
zmem --source proc -n 1 -o +freed,nodes
check 'FREED without BPF' grep -q 'FREED is not known: this needs BPF' "$TMP/err"
check 'nodes without BPF' grep -q 'nodes are not known: this needs BPF' "$TMP/err"
refused '--verify of what is not read' 2 '--verify cannot be combined with --pss none' --pss none --verify all
refused '--verify N of what is not read' 2 '--verify cannot be combined with --pss none' watch --pss none --verify 3
works '--verify 0 is no check' --pss none --verify 0
for how in '--pss none' '--source proc' --pinned '--verify 0'; do
	for command in '' system top watch serve; do
		# shellcheck disable=SC2086
		refused "${command:-snapshot} --replay $how" 2 "${how%% *} cannot be combined with --replay" \
			$command --replay "$guest" $how
	done
done
for how in '--by cgroup' '--by node' --exact; do
	# shellcheck disable=SC2086
	refused "system --replay $how" 2 "${how%% *} cannot be combined with --replay" system --replay "$guest" $how
done
# An option that has no effect is refused, whatever value it has.
for how in '--pss auto' '--source auto'; do
	# shellcheck disable=SC2086
	refused "--replay $how" 2 "${how% *} cannot be combined with --replay" --replay "$guest" $how
done
# Of an option that takes one of several words, the last one counts.
says 'choices given twice: the last one counts' '^pid,' -q --pss none --pss auto --source proc --source auto -F json -F csv -n 1
refused 'maps --replay' 2 'a recording holds no mappings' maps --replay "$guest" 1
refused 'compare --replay' 2 'a recording holds one side alone' compare --replay "$guest"
refused 'an escape as a command is not repeated' 2 'unknown option --nope \(zmem-bpf --help\)$' $'\033[31mx' --nope
refused 'maps of nothing' 2 'it needs a PID, a filter' maps
for command in '' watch; do
	says "${command:-snapshot} -s threads: shows what it sorts by" 'USER +THREADS +PSS' $command ${command:+-c 1} -s threads -n 1
done
says 'vsz and %mem are columns' '^ *VSIZE +%RAM$' -q -o vsz,%mem -n 1

zmem -p "$free_pid"
expect_rc 'no such pid: exit code' 3
expect_stderr_lines 'no such pid: one line' $((1 + notes))
expect_err 'no such pid: the message' "^zmem-bpf: --pid $free_pid: "
zmem -H -o pid,name -p "$free_pid,$$,4194302"
expect_rc 'some pids missing: exit code' 3
expect_stderr_lines 'some pids missing: a line each' $((2 + notes))
expect_out 'some pids missing: the other is shown' "^ *$$  options.sh"
zmem -q -H -o pid,name -p "$free_pid,$free_pid" -p "$$,$$"
expect_stderr_lines 'a missing pid asked for twice: one line, also when quiet' 1
equal 'a pid asked for twice: one row' "$(grep -c options.sh "$TMP/out")" 1
# A user who gives two means both: neither is dropped silently.
for twice in '-g name --group-by user' '-f a -f b' '--cgroup a --cgroup b' '-s rss -s pss' 'maps --mapping a --mapping b' \
	'grow --name a --name b' '--replay a --replay b' 'record --keep 1d --keep 2d' 'diff --from 1 --from 2'; do
	# shellcheck disable=SC2086
	refused "$twice" 2 "given twice, .*$usage" $twice
done
works 'the same twice' -g name -g name -s rss -s rss -p "$$"
zmem -H -o pid -o comm,ppid -o pid -p "$$"
equal '-o twice: both' "$(awk '{print $1, $2, $3; exit}' "$TMP/out")" "$$ options.sh $PPID"
zmem -J -u no_such_user_here,root
expect_rc 'some users unknown: exit code' 3
expect_stderr_lines 'some users unknown: one line' $((1 + notes))
expect_json 'some users unknown: the other is shown' \
	'.processes | length > 0 and all(.uid == 0)'
if grep -qsx kthreadd /proc/2/comm; then
	works 'a kernel thread by pid is found' -p 2
else
	skip 'a kernel thread by pid is found' 'none can be seen here'
fi

says 'the last word on colour counts' $'\033' --no-color --color always -n 1
zmem --color always --no-color -n 1
check '--no-color' sh -c '! grep -q "$(printf "\\033")" "$1"' sh "$TMP/out"
zmem version
equal 'version' "$out" "$(zmem -V; echo "$out")"

# ---- help ----

mkdir "$TMP/empty"
cd "$TMP/empty" || exit

works '--help: exit code' --help
expect_stderr_lines '--help: silent on stderr' 0
cp "$TMP/out" "$TMP/help"
zmem help
check 'help: the same' cmp "$TMP/help" "$TMP/out"
for way in '-h' 'frobnicate --help' '-o nope -h'; do
	# shellcheck disable=SC2086
	zmem $way
	check "$way: the same" cmp "$TMP/help" "$TMP/out"
done
# The help of a command lists the options that it takes; the command refuses all others.
options_in() {
	grep -oE -e '^  (-., |    )--[a-z-]+( [A-Z][^ ]*)?' "$1" | sed 's/.*--/--/' | sort
}
commands=$(sed -n '/^usage/,/^$/ s/^[ a-z:]*zmem-bpf \[\{0,1\}\([a-z]*\).*/\1/p' "$TMP/help")
equal 'there are commands' "$(($(wc -w <<<"$commands") > 10))" 1
for command in $commands; do
	zmem "$command" --help
	options_in "$TMP/out"
done | sort -u >"$TMP/options"
# Each usage ends before the column of the descriptions, which are one below the other.
zmem help
sed -n '1,/^$/p' "$TMP/out" >"$TMP/usages"
equal 'help: each description is apart from its usage' \
	"$(grep -E '^.{6} zmem-bpf ' "$TMP/usages" | grep -vE '^.{47}  [^ ]')" ''
equal 'help: descriptions go on below each other' "$(grep -vE '^(.{6} zmem-bpf .{33}|$| {49}[^ ])' "$TMP/usages")" ''

for command in $commands; do
	zmem help "$command"
	cp "$TMP/out" "$TMP/help"
	zmem "$command" --help
	check "help $command: as --help" cmp "$TMP/help" "$TMP/out"
	equal "$command --help fits a terminal of 80 columns" "$(awk 'length > 80' "$TMP/out")" ''
	case $command in
	help | version | doctor | pin | unpin) ;;
	*) equal "$command --help: three examples" "$(sed -n '/^Examples/,/^$/p' "$TMP/out" | grep -c '^  zmem-bpf')" 3 ;;
	esac
	formats=$(awk '/-F, --format/ { print; getline; while ($0 !~ /--/) { print; getline } }' "$TMP/out" | sed 's/.*--format F//')
	taken=
	for format in table json ndjson csv tsv folded openmetrics prometheus html pprof; do
		case " $(echo $formats | tr -d ,) " in *" $format "*) taken+=" $format" ;; esac
		[ -z "$formats" ] || case " $(echo $formats | tr -d ,) " in
		*" $format "*) ;;
		*) refused "$command: refuses --format $format, which its help lacks" 2 \
			"$command: --format $format: must be one of $(echo $formats) \\(" "$command" -F $format ;;
		esac
	done
	[ -z "$formats" ] || equal "$command --help: formats" "$(echo $taken)" "$(echo $formats | tr -d ,)"
	options_in "$TMP/help" >"$TMP/taken"
	equal "$command --help: its own line" "$(grep -c '^.\{6\} zmem-bpf ' "$TMP/help") $(grep -c "^usage: zmem-bpf \[*$command" "$TMP/help")" '1 1'
	equal "$command --help: only existing options" "$(comm -13 "$TMP/options" "$TMP/taken")" ''
	wrong=
	while read -r option argument; do
		case $argument in
		F) argument=json ;;
		N | SEC | SIZE | PERCENT) argument=5 ;;
		KEY) argument=name ;;
		HOW) [ "$option" = --stack ] && argument=fp || argument=none ;;
		FROM) argument=proc ;;
		SINCE) argument=start ;;
		esac
		# shellcheck disable=SC2086
		said=$(timeout -s KILL 3 "$ZMEM" "$command" $option $argument 2>&1)
		# --json is a format.
		[ "$?" = 2 ] && [[ $said == "zmem-bpf: $command does not take --"* ||
			$said == "zmem-bpf: $command: --format json: must be one of"* ]] || wrong+=" $option"
	done < <(comm -23 "$TMP/options" "$TMP/taken")
	equal "$command: refuses options that its --help lacks" "$wrong" ''
done
equal 'refused commands write nothing' "$(ls -A "$TMP/empty")" ''
zmem -V
equal '-V' "$rc $out" "0 zmem-bpf $(sed -n 's/^VERSION := //p' "$SUPPORT/../../Makefile")"

# The order of options and commands does not matter, even with POSIXLY_CORRECT.
run env POSIXLY_CORRECT=1 "$ZMEM" snapshot -J --pss none -p $$
expect_json 'options behind the command' '.processes | length == 1'
tells 'options around the command' '.processes | length == 1' -J snapshot --pss=none -p$$
says 'the last format counts' '^ *PID +USER' -J -F table -p $$

works 'doctor: exit code' doctor
expect_stderr_lines 'doctor: silent on stderr' 0
equal 'doctor: the answers are aligned' "$(sed '1,/^$/d' "$TMP/out" | grep -vE '^.{15} (ok|no|- )  [^ ]|^ {20}[^ ]')" ''
of_bpf=()
[ "$notes" = 1 ] || of_bpf=(processes)
for what in kernel BTF files 'page frames' CAP_BPF counters "${of_bpf[@]}" PSS /proc smaps_rollup pin serve; do
	expect_out "doctor: $what" "^$what +(ok|no|-) "
done
equal 'doctor: at most 80 columns' "$(awk 'length > 80' "$TMP/out")" ''
# The verdict may be of two lines.
sed -i '1{:a; /\.$/! {N; s/\n/ /; ba}}' "$TMP/out"
expect_out 'doctor: a verdict' '^(PSS comes from .*|zmem-bpf reads /proc here: .*)\.$'
equal 'doctor: the verdict comes first, then a sentence or nothing, then rows' \
	"$(sed -n '1s/.*\.$/verdict/p; 2s/^To do: .*//p; 2s/^$/rows/p' "$TMP/out" | head -n 1)" verdict
# It does not say that nothing needs to be done above a row with "no".
case $(head -n 1 "$TMP/out") in
*'page tables'*'; nothing needs to be done.') refuse_out 'doctor: all parts work' '^.{16}no  ' ;;
*'page tables'*) expect_out 'doctor: the part that does not work' '^.{16}no  ' ;;
*) skip 'doctor: the end of the verdict' 'PSS comes from smaps_rollup' ;;
esac
refuse_out 'doctor: no ways to read counters' '^bpf|^proc '
works 'doctor -v' doctor -v
for what in 'bpf with pages' 'bpf \(libbpf\)' bpf proc; do
	expect_out "doctor -v: $what" "^$what +(ok|no) "
done
equal 'doctor -v: at most 80 columns' "$(awk 'length > 80' "$TMP/out")" ''
