#!/usr/bin/env bash
# Runs every statement of go-mysql-server's own engine tests against a server; go test runs every eighth script. What fails and what is
# refused must be what test/enginetest/testdata lists. About 100 seconds of processor time.
set -euo pipefail
go test -tags gms_pure_go -count 1 -timeout 20m -v -run 'TestEngine' ./test/enginetest -enginetest.all | grep -E 'lists|^---|not in|no longer|not run|statement:|expected:|got:|^(ok|FAIL)'
