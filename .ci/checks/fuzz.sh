#!/usr/bin/env bash
# Compares random statements with MariaDB, more of them than go test does. Fifty thousand would take longer than four minutes
# while as many differ as do today: to find a short form of a difference takes up to eighty statements more.
# With numbers it runs others: fuzz.sh SEED PUBLIC PROTECTED.
set -euo pipefail
cd "$(dirname "$0")/../.."
seed=${1:-1} public=${2:-10000} protected=${3:-2000}
run() { SCRIM_TEST_NO_SKIP=1 go test -tags gms_pure_go -count 1 -timeout 60m -v -run "^$1\$" ./engine -fuzz.seed "$seed" -fuzz.n "$2"; }
run TestFuzzPublic "$public"
run TestFuzzPrivate "$protected"
