#!/usr/bin/env bash
# Runs every client of internal/clients against a real server. It needs Debian or Ubuntu, root and the network: the
# clients' packages are installed first, as their client.json files name them. What fails by docs/clients.md is
# passed over, and everything else has to pass.
set -euo pipefail
export SCRIM_CLIENTS_NODE=${SCRIM_CLIENTS_NODE:-${XDG_CACHE_HOME:-$HOME/.cache}/scrim-clients/node_modules}
folder=$(dirname "$SCRIM_CLIENTS_NODE")

list() { go test -tags gms_pure_go -count 1 ./internal/clients -run TestPackages -clients.packages "$1" -v | sed -n 's/^package: //p'; }

mapfile -t apt < <(list apt)
need=()
for p in "${apt[@]}"; do
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || need+=("$p")
done
command -v npm >/dev/null || need+=(nodejs npm)
if [ ${#need[@]} -gt 0 ]; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq -o DPkg::Lock::Timeout=300
  # Servers among the packages are not started.
  policy=/usr/sbin/policy-rc.d
  if [ ! -e $policy ]; then
    printf '#!/bin/sh\nexit 101\n' >$policy
    chmod +x $policy
    trap 'rm -f $policy' EXIT
  fi
  apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=300 "${need[@]}" >/dev/null
fi

mapfile -t npm < <(list npm)
mapfile -t scripts < <(list npm-scripts)
if [ ${#npm[@]} -gt 0 ]; then
  mkdir -p "$folder"
  [ -e "$folder/package.json" ] || echo '{"private": true}' >"$folder/package.json"
  npm install --prefix "$folder" --ignore-scripts --no-audit --no-fund --save-exact --loglevel=error "${npm[@]}"
  [ ${#scripts[@]} -eq 0 ] || npm rebuild --prefix "$folder" --loglevel=error "${scripts[@]}"
fi

go test -tags gms_pure_go -count 1 -timeout 30m -v -run TestMatrix ./internal/clients -clients all
