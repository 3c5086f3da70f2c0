# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# InfluxDB's line protocol: zmem_group or zmem_process, and zmem_system. Bytes are integers; what was
# not measured is no field.
#
#   zmem-bpf -J -g name -n 50 | jq -rf influx.jq              for Telegraf's exec input (data_format = "influx")
#
# Each process is a series (its pid is a tag): groups are what a database should keep.

# A tag cannot hold a newline nor end in a backslash, which would escape what follows; an empty one is none.
def tag: tostring | gsub("[\\p{C}\\p{Zl}\\p{Zp}]"; "\ufffd") | sub("\\\\$"; "\ufffd") | gsub("(?<c>[,= ])"; "\\\(.c)");
def tags: to_entries | map(select(.value != null and .value != "") | ",\(.key)=\(.value | tag)") | add // "";
def field:
  if type == "number" then "\(.)i"
  elif type == "boolean" then tostring
  else "\"" + gsub("(?<c>[\"\\\\])"; "\\\(.c)") + "\"" end;
def fields: to_entries | map(select(.value != null) | "\(.key)=\(.value | field)") | join(",");
def counters: with_entries(select(.key | test("_bytes$|^procs$|^threads$|processes$|^pss_status$")));

# Nanoseconds as text: the number is larger than a double holds exactly.
"\(.timestamp_ms)000000" as $time | .host.name as $host
| def point($name; $where; $what):
    ($what | fields) as $f | select($f != "") | "\($name)\({host: $host} + $where | tags) \($f) \($time)";

((.groups // [])[] | point("zmem_group"; {group: (.group // "none")}; counters)),
((.processes // [])[]
 | point("zmem_process"; {pid, name, user, unit, container}; counters)),
point("zmem_system"; {};
  (.system | counters) + {processes: .totals.processes, pss_missing_processes: .totals.pss_missing_processes,
                         complete: .collection.complete}),
((.system.zram // [])[] | point("zmem_zram"; {device: .name}; counters))
