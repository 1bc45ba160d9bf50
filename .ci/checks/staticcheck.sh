#!/usr/bin/env bash
# staticcheck over the whole tree, at a pinned version.
set -euo pipefail
go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 -tags gms_pure_go ./... ./bench/...
