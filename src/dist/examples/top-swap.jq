# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The processes or groups (--group-by) with the most swap, as a table.
#
#   zmem-bpf -J | jq -rf top-swap.jq              the 20 biggest
#   zmem-bpf -J -g unit | jq -rf top-swap.jq --argjson n 5
#
# Biggest by swap_pss, which adds up; by swap where that was not measured. Sizes in KiB, "-" where
# one was not measured. Names are shown without what could steer a terminal.

def printable: gsub("[\\p{C}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}]"; "\ufffd");
def kib: if . == null then "-" else . / 1024 | floor | tostring end;
def right($width): " " * ([$width - length, 0] | max) + .;
def line: [(.[:-2][] | right(12)), (.[-2] | right(8)), .[-1]] | join("  ");

(.groups // .processes) as $rows
| ($rows | map(select((.swap_bytes // 0) > 0)) | sort_by(-(.swap_pss_bytes // .swap_bytes))) as $with
| (["SWAP_PSS_KIB", "SWAP_KIB", "PSS_KIB"] + (if .groups then ["PROCS", "GROUP"] else ["PID", "NAME"] end) | line),
  ($with[:($ARGS.named.n // 20)][]
   | [(.swap_pss_bytes, .swap_bytes, .pss_bytes | kib), (.procs // .pid | tostring),
      (if has("group") then .group // "-" else .name end | printable)]
   | line),
  ([(.totals | .swap_pss_bytes, .swap_bytes, .pss_bytes | kib), (.totals.processes | tostring),
    "all processes"] | line),
  ([(.system.swap_unattributed_bytes | kib), "", "", "", "unattributed: swapped shared memory, tmpfs, swap cache"]
   | line)
