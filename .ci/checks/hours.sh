#!/usr/bin/env bash
# Plays the first hours of five people at once, by what they type and see: a newcomer, a DBA, an analyst, an agent and a
# contributor. Every step has to work, and every message that one of them meets has to have been read by somebody. It needs
# Chromium, and Debian's packages for Python, which it installs. With --write it writes docs/hours.md and the pictures in
# docs/hours. MOVIELENS is a directory with movies.csv.gz and ratings.csv.gz of MovieLens; without it, tables of the
# same columns are made.
set -euo pipefail
cd "$(dirname "$0")/../.."
more=()
[ "${1:-}" != --write ] || more+=(-hours.write)
movielens=${MOVIELENS:-$PWD/../shared/data/ml-latest-small}
[ ! -e "$movielens/ratings.csv.gz" ] || more+=(-hours.movielens "$movielens")

need=()
for p in python3-pandas python3-pymysql python3-matplotlib; do
  [ "$(dpkg-query -W -f '${db:Status-Status}' $p 2>/dev/null)" = installed ] || need+=("$p")
done
command -v chromium >/dev/null || command -v google-chrome >/dev/null || need+=(chromium fonts-dejavu-core)
if [ ${#need[@]} -gt 0 ]; then
  apt-get update -qq -o DPkg::Lock::Timeout=300
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=300 "${need[@]}" >/dev/null
fi

make build
SCRIM_TEST_NO_SKIP=1 go test -tags gms_pure_go -count 1 -timeout 10m ./test/hours -run TestHours -hours "${more[@]}"
