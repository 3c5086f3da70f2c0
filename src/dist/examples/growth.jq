# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What grew between two snapshots: RAM and swap (pss_swap) of each process, or group (--group-by),
# those that grew most first.
#
#   zmem-bpf -J >before; sleep 600; zmem-bpf -J >after
#   jq -nrf growth.jq before after                --argjson n 5: the first 5, not 20
#
# A process is itself by pid and start time, a group by its text. One that is new grew by all it has;
# those that ended are not listed. Where either snapshot did not measure it, the process is left out. KiB.

def printable: gsub("[\\p{C}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}]"; "\ufffd");
def right($width): " " * ([$width - length, 0] | max) + .;
def line: [(.[:-1][] | right(12)), .[-1]] | join("  ");
def rows: .groups // .processes;
def same: [.pid, .start_time_ms, .group] | tojson;

[inputs] as [$before, $after]
| (reduce ($before | rows[]) as $p ({}; .[$p | same] = $p)) as $old
| (["GREW_KIB", "PSS+SWAP_KIB"] + (if $after.groups then ["PROCS", "GROUP"] else ["PID", "NAME"] end) | line),
  ([$after | rows[]
    | $old[same] as $o
    | select(.pss_swap_bytes != null and ($o == null or $o.pss_swap_bytes != null))
    | {id: (.pid // .procs), name: (if has("group") then .group // "-" else .name end),
       new: ($o == null), now: .pss_swap_bytes, grew: (.pss_swap_bytes - ($o.pss_swap_bytes // 0))}
    | select(.grew > 0)]
   | sort_by(-.grew)[:($ARGS.named.n // 20)][]
   | [(.grew, .now | . / 1024 | floor | tostring), (.id | tostring), (.name | printable) + (if .new then " (new)" else "" end)]
   | line)
