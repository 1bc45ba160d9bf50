#!/usr/bin/env bash
# The demonstration by its README command, in a directory of its own, ends well by itself.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
make demo ARGS="--exit --listen 127.0.0.1:0 --data $dir/demo" | tee "$dir/out"
tail -1 "$dir/out" | grep -q 'private cells are within 10 % of the truth'
