# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Documents of the Elastic Common Schema, one a line: one for each process or group, and one for the
# snapshot. What the schema has no field for is below "zmem". What was not measured is not there.
#
#   zmem-bpf -J | jq -cf ecs.jq >>/var/log/zmem.ndjson        for Filebeat's ndjson parser
#   zmem-bpf -J -g unit | jq -cf ecs.jq

def clean:
  if type == "object" then with_entries(.value |= clean | select(.value != null and .value != {})) else . end;
def time: if . == null then null
  else (. / 1000 | floor | strftime("%Y-%m-%dT%H:%M:%S")) + "." + ("00\(. % 1000)" | .[-3:]) + "Z" end;
# "pss_anon_bytes": 1 as {"pss_anon": {"bytes": 1}}
def sizes: to_entries | map(select(.key | endswith("_bytes")) | {(.key[:-6]): {bytes: .value}}) | add // {};

{ "@timestamp": .timestamp,
  ecs: {version: "8.11.0"},
  host: {name: .host.name, architecture: .host.arch, boot: {id: .host.boot_id},
         os: {type: "linux", kernel: .host.kernel_release}} } as $head
| def document($dataset): $head * {event: {kind: "metric", module: "zmem", dataset: $dataset}} * . | clean;

((.processes // [])[]
 | { process: {pid: .pid, name: .name, command_line: .cmdline, start: (.start_time_ms | time),
               parent: {pid: .ppid}, thread: {count: .threads}},
     user: {id: (if .uid == null then null else .uid | tostring end), name: .user},
     container: {id: .container},
     zmem: (sizes + {cgroup: .cgroup, unit: .unit, mm_owner: .mm_owner, pss_source: .pss_source,
                     pss_status: .pss_status, oom_score_adj: .oom_score_adj}) }
 | document("zmem.process")),
((.groups // [])[]
 | { zmem: (sizes + {group: .group, processes: .procs, pss_missing_processes: .pss_missing_processes}) }
 | document("zmem.group")),
({ event: {duration: (if .collection.duration_us == null then null else .collection.duration_us * 1000 end)},
   zmem: { total: (.totals | sizes + {processes: .processes, pss_missing_processes: .pss_missing_processes}),
           system: (.system | sizes),
           complete: .collection.complete, source: (.source | {counters, pss, fallback_reason}) } }
 | document("zmem.snapshot"))
