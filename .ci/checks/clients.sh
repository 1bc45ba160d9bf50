#!/usr/bin/env bash
# Runs every client of test/clients against a real server. It needs Debian or Ubuntu, root and the network: the
# clients' packages are installed first, as their client.json files name them. What fails by docs/clients.md is
# passed over, and everything else has to pass. For npm's packages it takes SCRIM_CLIENTS_NODE, a folder
# named node_modules.
set -euo pipefail
export SCRIM_CLIENTS_NODE=${SCRIM_CLIENTS_NODE:-${XDG_CACHE_HOME:-$HOME/.cache}/scrim-clients/node_modules}

wanted() { go test -tags gms_pure_go -count 1 ./test/clients -run TestPackages -clients.packages "$1" -v | sed -n 's/^package: //p'; }

policy=/usr/sbin/policy-rc.d
made=
trap '[ -z "$made" ] || rm -f $policy' EXIT

# debian PACKAGE…: installs those that are missing. Servers among them are not started.
debian() {
  local need=() p
  for p in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || need+=("$p")
  done
  [ ${#need[@]} -gt 0 ] || return 0
  if [ ! -e $policy ]; then
    made=yes
    printf '#!/bin/sh\nexit 101\n' >$policy
    chmod +x $policy
  fi
  apt-get update -qq -o DPkg::Lock::Timeout=300
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=300 "${need[@]}" >/dev/null
}

# node: npm's packages in their exact versions. Of their install scripts, those run that a client.json asks for.
node() {
  local folder packages scripts
  folder=$(dirname "$SCRIM_CLIENTS_NODE")
  mapfile -t packages < <(wanted npm)
  mapfile -t scripts < <(wanted npm-scripts)
  mkdir -p "$folder"
  [ -e "$folder/package.json" ] || echo '{"private": true}' >"$folder/package.json"
  npm install --prefix "$folder" --ignore-scripts --no-audit --no-fund --save-exact --loglevel=error "${packages[@]}"
  [ ${#scripts[@]} -eq 0 ] || npm rebuild --prefix "$folder" --loglevel=error "${scripts[@]}"
}

command -v npm >/dev/null || debian nodejs npm
mapfile -t apt < <(wanted apt)
node &
debian "${apt[@]}"
wait $!
printf -- '-- packages: %d s\n' $SECONDS

go test -tags gms_pure_go -count 1 -timeout 30m -v -run TestMatrix ./test/clients -clients all
