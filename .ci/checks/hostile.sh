#!/usr/bin/env bash
# Runs hostile statements of eight accounts for three minutes, or for as long as the argument says, beside honest ones: the process stays below 1.5 GiB, every
# statement ends soon after its limit, and others are answered within 100 ms at the median.
set -euo pipefail
SCRIM_HOSTILE=${1:-3m} go test -tags gms_pure_go -count 1 -timeout 15m -v -run TestHostileStatementsAreBounded ./engine
