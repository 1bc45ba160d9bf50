#!/usr/bin/env bash
# Runs collections with thousands of contributors through real processes, which are killed meanwhile: the local model with 20,000
# people and two rounds, and the shuffle model with 10,000; and a small one whose shuffler and server are one operator's. Values,
# breaks and kills differ each time; to repeat a failure, give the printed seed as the argument. The tests run the same with
# 300 and 150 people.
set -euo pipefail
seed=${1:-$(date +%s)}
echo "seed $seed"
go test -tags gms_pure_go -count 1 -timeout 20m -v -run 'TestLocalCollection|TestShuffledCollection|TestCollectionOfOneOperator' ./cmd/scrim -collections.full -collections.seed "$seed"
