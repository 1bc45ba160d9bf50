#!/usr/bin/env bash
# Runs hostile statements of eight accounts for three minutes, or for as long as the argument says, beside four honest clients: the server stays below 1.5 GiB, every
# statement ends soon after its limit, and the honest clients' statements take no more than 100 ms and five times as long as without them, at the median of each. The
# server, the hostile clients and the honest ones are processes of their own.
set -euo pipefail
SCRIM_HOSTILE=${1:-3m} go test -tags gms_pure_go -count 1 -timeout 15m -v -run TestHostileStatementsAreBounded ./engine
