#!/usr/bin/env bash
# Takes out one refusal rule of the planner at a time and wants a test to fail each time: a rule that
# nothing tests could be lost unseen. The rules are the constants of planner/rule/rule.go.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go test -c -tags gms_pure_go -o "$dir/planner.test" ./planner

rules=$(sed -n 's/^\t[A-Z][A-Za-z]* *Rule = "\([a-z-]*\)"$/\1/p' planner/rule/rule.go)
n=$(wc -w <<<"$rules")
[ "$n" -ge 40 ] || { echo "only $n rules found in planner/rule/rule.go"; exit 1; }

cd planner
"$dir/planner.test" >"$dir/whole" || { tail -20 "$dir/whole"; echo "the tests fail with all rules in place"; exit 1; }

# TestScansAreTotal runs every scan on hostile rows, which takes long and asks nothing of refusals.
# try RULE: a line with the tests that noticed, or a file RULE.missed where none did. A run that ends
# without naming a failed test, a crash for example, does not count as noticing.
try() {
  local out
  out=$(SCRIM_WITHOUT_RULE=$1 "$dir/planner.test" -test.timeout 2m -test.skip '^TestScansAreTotal$' 2>&1) && { touch "$dir/$1.missed"; echo "without $1: NO TEST FAILS"; return; }
  if failed=$(grep -c -- '--- FAIL' <<<"$out"); then
    echo "without $1: $failed tests fail"
  else
    touch "$dir/$1.missed"
    echo "without $1: the tests end without a failure: $(head -c 300 <<<"$out")"
  fi
}
export -f try
export dir
xargs -P 2 -I{} bash -c 'try {}' <<<"$rules"

missed=$(find "$dir" -name '*.missed' -printf '%f ' | sed 's/\.missed//g')
[ -z "$missed" ] || { echo "not tested: $missed"; exit 1; }
echo "$n rules; without any one of them a test fails"
