#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# One tiny round of the bench: it runs, names a tool that fails, and its JSON has the schema of
# table.py. No time is asserted.
# needs: bpf
. "$(dirname "$0")/../support/lib.sh"


# Tools on PATH: one fails, one does not know the workload, one works.
mkdir "$TMP/bin"
fake() {
	printf '#!/bin/sh\n%s\n' "$2" >"$TMP/bin/$1"
	chmod +x "$TMP/bin/$1"
}
fake procrank 'echo first >&2; echo no libpagemap here >&2; exit 3'
fake psm 'echo nothing'
fake ps_mem 'printf "  1.0 MiB +   0.5 MiB =   1.5 GiB\tworkload (21)\n"'

export BENCH_ROUNDS=1 BENCH_STALL_MS=200 BENCH_STALL_MIB=8 O
run_expect 0 'one tiny round' env PATH="$TMP/bin:$PATH" "$(dirname "$0")/../bench/run" \
	--json "$TMP/json" tiny stall
expect_out 'a table of the tools that measure PSS' '^PSS of every process +wall ms'
expect_out 'a table of the tools that measure RSS' '^RSS, without PSS +wall ms'
expect_out 'a table of our table and its floor' '^RSS, in a table +wall ms'
expect_out 'a tool that fails is named with its last message' '^procrank +failed: exit code 3: no libpagemap here$'
expect_out 'a tool with unknown output has times and a note' '^psm +[0-9.]+ .* not understood: '
expect_out 'a table of the stalls of the victim' '^beside it, over and over +p50 +p99 '

# The page of src/doc has the same values, in the place that is marked.
markdown=$TMP/json.md
check 'page: a table of PSS' grep -q '^| PSS of every process | tiny |$' "$markdown"
check 'page: a tool that fails' grep -q '^| `procrank` | failed |$' "$markdown"
check 'page: times, ratios and their spread' grep -qE '^\| `ps_mem` \| [0-9.,]+: ×[0-9.]+ \([0-9.]+ to [0-9.]+\) \|$' "$markdown"
check 'page: stalls' grep -qE '^\| alone \| [0-9.,]+ \| ' "$markdown"
check 'page: when, what and where' grep -qE '^Measured on 20[0-9-]+ with version [0-9.]+( \(commit [0-9a-f]+\))?: [0-9]+ CPUs of ' "$markdown"
printf 'before\n<!-- make bench -->\nold\n<!-- end make bench -->\nafter\n' >"$TMP/page.md"
check 'page: inserted' "$(dirname "$0")/../support/insert.py" "$TMP/page.md" 'make bench' <<<'new'
equal 'page: only the marked place changes' "$(tr '\n' ' ' <"$TMP/page.md")" 'before <!-- make bench --> new <!-- end make bench --> after '
run_expect 1 'page: no such place' "$(dirname "$0")/../support/insert.py" "$TMP/page.md" 'make nothing' </dev/null
for page in benchmarks:'make bench' kernels:'make test-kernels'; do
	check "src/doc/${page%%:*}.md has the place" grep -qx "<!-- ${page#*:} -->" "$(dirname "$0")/../../src/doc/${page%%:*}.md"
done

# json NAME JQ: JQ is true for the JSON document.
json() {
	check "$1" jq -e "$2" "$TMP/json"
}
json 'JSON: one document with its schema' \
	'.schema == "zmem-bpf-bench/1" and (.machine | .kernel and .cpus > 0 and .memory_kb > 0) and .version'
json 'JSON: the workload and its load' '.workloads | length == 1 and (.[0] | .name == "tiny" and
	.processes > 20 and .rounds == 1 and (.load | .before >= 0 and .after >= 0 and .others_percent >= 0))'
json 'JSON: each subject has a run and its partner a round, or failed' '[.workloads[0].subjects[] |
	if .failed then .failed | type == "string" else
	(.theirs | length) == 1 and (.own | length) == 1 and
	all(.theirs[], .own[]; .wall_ms >= 0 and .cpu_ms >= 0) end] | all'
json 'JSON: spreads are in order' '[.workloads[0].subjects[] | select(.failed | not) |
	.wall_ms, .cpu_ms, .wall_ratio, .cpu_ratio |
	.least <= .low and .low <= .median and .median <= .high and .high <= .most] | all'
json 'JSON: the partner is ours, of its kind' '[.workloads[0].subjects[] |
	.ours == {Pss: "zmem-bpf --json", Rss: "zmem-bpf --json --pss none",
		Table: "zmem-bpf --pss none"}[.kind]] | all'
json 'JSON: what failed says how' '.workloads[0].subjects[] | select(.name == "procrank") | .failed |
	test("no libpagemap here")'
json 'JSON: a tool that sums up is compared with the sum' '.workloads[0].subjects[] | select(.name == "ps_mem") |
	.off_sum and .off_kb.median > 1500000'
json 'zmem-bpf is never off' '[.workloads[0].subjects[] |
	select(.kind != "Table" and (.name | test("zmem-bpf --json|the same"))) |
	.failed == null and .off_failed == null and .off_kb.least > -0.1 and .off_kb.most < 1] | all'
json 'JSON: the stall, alone first' '.stall[0] | .victim_mib == 8 and .subjects[0].name == "alone" and
	([.subjects[] | select(.failed | not) | .samples > 0 and .p50_us <= .p99_us and .p99_us <= .p999_us and
	.p999_us <= .max_us and (.rounds | length) == 1 and .p999_to_alone.median > 0] | all)'
json 'JSON: beside the victim it ran' \
	'.stall[0].subjects[] | select(.name == "zmem-bpf --json") | .failed == null and .rounds[0].reads > 0'

run_expect 0 'some of the tools' env BENCH_ONLY='status|pss none$' "$(dirname "$0")/../bench/run" --json "$TMP/json" tiny
json 'JSON: those alone, each with its partner' '[.workloads[0].subjects[] | .name + ", " + .ours] ==
	["zmem-bpf --json --pss none, zmem-bpf --json --pss none", "zmem-bpf --pss none, zmem-bpf --pss none",
	"C loop over status, zmem-bpf --json --pss none", "C loop over status, zmem-bpf --pss none"]'

run_expect 1 'an unknown workload' "$(dirname "$0")/../bench/run" --json "$TMP/no" w9
expect_err 'an unknown workload is named' 'w9'
