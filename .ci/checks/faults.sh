#!/usr/bin/env bash
# Serves data directories on small disks that fill, fail, write short, or are left by a killed process, while statements of every kind run,
# and compares what is there with what was acknowledged. The first argument is the number of rounds: 100 here; 2000 take about 40 minutes
# on two cores. The seed is the commit's, so that another one looks elsewhere; to repeat a failure, give the printed one as the second argument.
set -euo pipefail
rounds=${1:-100}
seed=${2:-$((16#$(git rev-parse --short=8 HEAD | cut -c1-8)))}
go test -tags gms_pure_go -count 1 -timeout 0 -v -run 'TestFaults$' ./cmd/scrim -faults.rounds "$rounds" -faults.seed "$seed"
