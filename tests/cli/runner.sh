#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tests/run itself, with tests that pass, fail, and fail once: what it counts, repeats and refuses.
. "$(dirname "$0")/../support/cli.sh"

# Those of the run that this test is part of.
unset GATE_LOG FLAKY RUN_AGAIN REQUIRE_BPF PLACES PLACE_PART
mkdir -p "$TMP/tests/cli" "$TMP/tests/support" "$TMP/build/obj/tests"
cp "$(dirname "$0")/../run" "$TMP/tests/run"

# a_test NAME COMMANDS
a_test() {
	printf '#!/bin/bash\n%s\n' "$2" >"$TMP/$1" && chmod +x "$TMP/$1"
}

# runs NAME RC WORDS…: the exit code of tests/run; the last line is in $last.
runs() {
	local name=$1 want=$2
	shift 2
	run env XDG_CACHE_HOME="$TMP/cache" O="$TMP/build" B="$TMP/build/obj" PROGRAM= JOBS=1 "$TMP/tests/run" "$@"
	last=$(tail -n 1 "$TMP/out")
	expect_rc "$name: exit code" "$want"
}
once='[ ! -e "$O/failed" ] || { echo "ok works"; exit; }; touch "$O/failed"; echo "not ok works: no luck"; exit 1'

a_test tests/cli/good.sh 'echo ok one; echo ok two; echo "skip three: no reason"; echo "note of one"'
runs 'passed' 0 cli
equal 'passed: the counts' "$last" '2 passed, 0 failed, 1 skipped'
expect_out 'passed: the note is repeated at the end' '^note: cli/good.sh: of one$'
a_test tests/cli/bad.sh 'echo ok one; echo "not ok two: broken"; exit 1'
runs 'failed twice' 1 cli
equal 'failed twice: counted once' "$last" '3 passed, 1 failed, 1 skipped'
equal 'failed twice: ran again' "$(grep -c '^cli/bad.sh .*1 FAILED' "$TMP/out")" 2
a_test tests/cli/bad.sh 'exit 3'
runs 'a test that says nothing' 1 cli/bad
a_test tests/cli/bad.sh 'echo ok one; kill -9 $$'
runs 'a test that is killed' 1 cli/bad
rm "$TMP/tests/cli/bad.sh"

a_test tests/cli/once.sh "$once"
runs 'failed once' 0 cli/once
expect_out 'failed once: it is named' '^FLAKY cli/once.sh$'
equal 'failed once: it counts as passed' "$last" '1 passed, 0 failed'
rm "$TMP/build/failed"
FLAKY=fail runs 'failed once, FLAKY=fail' 1 cli/once
expect_out 'failed once, FLAKY=fail: it is named' '^FLAKY cli/once.sh$'
export GATE_LOG=$TMP/log
for turn in 0 0 1; do
	rm "$TMP/build/failed"
	echo "$((1000 + turn)) RUN x" >>"$GATE_LOG"
	runs 'failed once in a run of the gate' "$turn" cli/once
done
expect_out 'the third time in 20 runs' '^FLAKY cli/once.sh: not ok'
for _ in $(seq 19); do echo '2000 RUN x' >>"$GATE_LOG"; done
rm "$TMP/build/failed"
runs 'after 19 good runs' 0 cli/once
if need git 'after a commit that names it'; then
	git init -q "$TMP" && git -C "$TMP" -c user.name=x -c user.email=x@x commit -q --allow-empty -m 'Mends cli/once'
	sed -i 's/^[0-9]* FLAKY/1000 FLAKY/' "$GATE_LOG"
	rm "$TMP/build/failed"
	runs 'after a commit that names it' 0 cli/once
fi
unset GATE_LOG

a_test build/obj/tests/test_once "$once"
rm "$TMP/build/failed" "$TMP/tests/cli/once.sh"
runs 'a unit test is never repeated' 1 unit/test_once
for i in 1 2 3 4 5 6; do a_test "tests/cli/b$i.sh" 'echo "not ok all: broken"'; done
runs 'many failures' 1 cli
expect_out 'many failures: nothing runs again' '^6 tests failed: none runs again$'
equal 'many failures: counted' "$last" '2 passed, 6 failed, 1 skipped'
rm "$TMP"/tests/cli/b?.sh

a_test tests/cli/lacks.sh 'echo ok one; echo "skip two: needs bpf: it is refused"; echo "skip three: needs limits: no"'
runs 'something is missing' 0 cli/lacks
expect_out 'something is missing: the line of the test' '^cli/lacks.sh +1 passed, 2 skipped \(needs bpf limits\)$'
expect_out 'something is missing: what, at the end' '^ +1  bpf: it is refused$'
REQUIRE_BPF=1 runs 'REQUIRE_BPF=1' 1 cli/lacks
equal 'REQUIRE_BPF=1: it is a failure, but for limits' "$last" '1 passed, 1 failed, 1 skipped'
a_test tests/support/place 'shift; exec "$@"'
REQUIRE_BPF=1 PLACES=other PLACE_PART=cli/lacks runs 'another place' 0 places
expect_out 'another place: what is missing there is no failure' '^other cli/lacks.sh +1 passed, 2 skipped'
rm "$TMP/tests/cli/lacks.sh"
a_test tests/cli/slow.sh 'echo ok all; sleep 2.1 # time itself: whole seconds are counted'
runs 'times' 0 cli
runs 'times are kept' 0 cli
equal 'the longest test starts first' "$(grep -o '^cli/[a-z]*' "$TMP/out" | head -n 1)" cli/slow
