#!/usr/bin/env bash
# Runs the statistical and soundness tests of which go test repeats a part only, as often as they are meant to be (-stat.whole).
set -euo pipefail
go test -tags gms_pure_go -count 1 -timeout 20m ./engine/estimator ./engine/estimator/groups ./engine/estimator/vector -stat.whole
go test -tags gms_pure_go -count 1 -timeout 10m -run 'TestPublicKeysHoldThoseOfRows|TestAuditOfEveryAggregate' ./engine -stat.whole
