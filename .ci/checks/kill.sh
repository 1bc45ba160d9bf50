#!/usr/bin/env bash
# Kills serving processes, restores, upgrades, processes that charge a ledger and such that take reports, more often than the tests do, at moments
# that differ each time and at 200 syncs; flips every bit of a small ledger. To repeat a failure, give the printed seed as the argument.
set -euo pipefail
seed=${1:-$(date +%s)}
echo "seed $seed"
tags=gms_pure_go
go test -tags $tags -count 1 -timeout 10m -v -run "TestKilledServer|TestKillRestore|TestKillUpgrade" ./cmd/scrim -kill.rounds 60 -kill.seed "$seed"
go test -tags $tags -count 1 -timeout 10m -v -run 'Kill|EveryBit' ./accounting -full -seed "$seed"
go test -tags $tags -count 1 -timeout 20m -v -run Kill ./engine/collections -full -seed "$seed"
