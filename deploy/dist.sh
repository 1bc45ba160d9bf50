#!/usr/bin/env bash
# Builds what is shipped, into dist/ or the directory that is given: for each platform an archive and a Debian package, and
# SHA256SUMS of all. The same commit, built with the same compilers, gives the same bytes.
#
#   deploy/dist.sh [DIRECTORY]           for linux on amd64 and arm64
#   ARCHES=amd64 deploy/dist.sh          for one of them
#
# It needs Go, C and C++ compilers for each platform, git, jq, and dpkg-deb for the packages.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
arches=${ARCHES:-amd64 arm64}
mkdir -p "${1:-dist}"
dist=$(cd "${1:-dist}" && pwd)
sbom=github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0
duckdb=github.com/duckdb/duckdb-go-bindings

version=$(sed -n 's/^const Version = "\(.*\)"$/\1/p' internal/release/release.go)
commit=$(git rev-parse HEAD)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC GOWORK=off # the module alone, as users build it
umask 022

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# compilers ARCH: sets CC and CXX to those that build for it.
compilers() {
  local triple
  case $1 in
  amd64) triple=x86_64-linux-gnu ;;
  arm64) triple=aarch64-linux-gnu ;;
  *) echo "no package of DuckDB's library is known here for $1: want amd64 or arm64"; exit 1 ;;
  esac
  CC=$triple-gcc CXX=$triple-g++
  if ! command -v "$CC" >/dev/null || ! command -v "$CXX" >/dev/null; then
    echo "building for $1 needs $CC and $CXX (on Debian: apt-get install gcc-${triple/_/-} g++-${triple/_/-})"
    exit 1
  fi
}

# program ARCH FILE: builds it. DuckDB, libstdc++ and libgcc are linked in; of the system it needs glibc alone. The library of
# C++ is named by the driver as -lstdc++, for which the linker finds the archive before the shared one. Names and build id hold
# nothing of this machine.
program() {
  compilers "$1"
  mkdir -p "$work/static-$1"
  ln -sf "$($CXX -print-file-name=libstdc++.a)" "$work/static-$1/"
  CGO_ENABLED=1 GOOS=linux GOARCH=$1 CC=$CC CXX=$CXX go build -trimpath -buildvcs=true -tags gms_pure_go -o "$2" \
    -ldflags "-s -w -buildid= -B 0x$(printf '%s %s' "$commit" "$1" | sha1sum | cut -d' ' -f1) -linkmode external -extldflags '-static-libgcc -L$work/static-$1'" \
    ./cmd/scrim
}

# licences PROGRAM DIRECTORY: the licence files of every module that is linked into the program, of Go, of the console's
# script, and of what the C++ code brings.
licences() {
  local path rest dir n=0
  while read -r _ path rest; do
    dir=$(go list -m -f '{{.Dir}}' "$path")
    mkdir -p "$2/$path"
    find "$dir" -maxdepth 1 -type f -regextype posix-extended -iregex '.*/(licen[cs]e|copying|notice|patents)[^/]*' ! -name '*.go' -exec install -m 0644 -t "$2/$path" {} +
    [ -n "$(ls "$2/$path")" ] || { echo "$path $rest has no licence file"; exit 1; }
    n=$((n + 1))
  done < <(go version -m "$1" | awk '$1 == "dep"')
  mkdir -p "$2/go" "$2/console"
  install -m 0644 "$(go env GOROOT)/LICENSE" "$2/go/LICENSE"
  install -m 0644 engine/ops/console/assets/licences.txt "$2/console/"
  install -m 0644 deploy/linked.md "$2/"
  echo "licences of $n modules"
}

# bill ARCH FILE: the bill of materials: the modules that the program is built from, and what else is linked in. The module of
# aliases in third_party is part of the program's own source.
bill() {
  local gcc db
  gcc=$($CC -dumpfullversion)
  db=$(go list -m -f '{{.Version}}' $duckdb)
  CGO_ENABLED=1 GOOS=linux GOARCH=$1 CC=$CC CXX=$CXX GOFLAGS=-tags=gms_pure_go "$work/bin/cyclonedx-gomod" app -json -std -licenses -assert-licenses -noserial -notimestamp -main cmd/scrim . 2>"$work/bill.log" |
    jq --arg duckdb "$duckdbVersion" --arg gcc "$gcc" --arg version "v$version" --arg commit "$commit" --arg bindings "$db" '
      .metadata.component += {version: $version, properties: [{name: "commit", value: $commit}]}
      | (.components[] | select(.name == "std")).licenses = [{license: {id: "BSD-3-Clause"}}]
      | (.components[] | select(.name == "github.com/marcboeker/go-duckdb/v2")) += {
          description: "names of github.com/duckdb/duckdb-go/v2, in third_party of this program", licenses: [{license: {name: "that of Scrim"}}]}
      | .components += [
          {"bom-ref": "pkg:github/duckdb/duckdb@v\($duckdb)", type: "library", name: "duckdb", version: $duckdb,
           description: "prebuilt by duckdb-go-bindings \($bindings), linked statically with the libraries that it bundles",
           licenses: [{license: {id: "MIT"}}], purl: "pkg:github/duckdb/duckdb@v\($duckdb)", cpe: "cpe:2.3:a:duckdb:duckdb:\($duckdb):*:*:*:*:*:*:*"},
          {"bom-ref": "pkg:generic/gcc@\($gcc)", type: "library", name: "gcc-runtime", version: $gcc,
           description: "libstdc++ and libgcc, linked statically",
           licenses: [{expression: "GPL-3.0-or-later WITH GCC-exception-3.1"}], purl: "pkg:generic/gcc@\($gcc)"}]' >"$2" ||
    { cat "$work/bill.log"; exit 1; }
}

# tree ARCH: the archive's tree in $work.
tree() {
  local to=$work/scrim-$version-linux-$1
  mkdir -p "$to/systemd"
  install -m 0755 "$work/scrim-$1" "$to/scrim"
  install -m 0644 LICENSE README.md CHANGELOG.md SECURITY.md deploy/scrim.toml "$to/"
  install -m 0644 deploy/scrim.service "$to/systemd/"
  install -m 0644 deploy/scrim.sysusers "$to/systemd/scrim.conf"
  cp -r "$work/man" "$work/completions" "$to/"
  licences "$to/scrim" "$to/licences"
  bill "$1" "$to/sbom.cdx.json"
  find "$to" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
}

GOBIN=$work/bin go install $sbom
host=$(go env GOHOSTARCH)
for arch in $arches; do program "$arch" "$work/scrim-$arch"; done
[ -e "$work/scrim-$host" ] || program "$host" "$work/scrim-$host"
duckdbVersion=$("$work/scrim-$host" version --json | jq -r .duckdb)
[ "$("$work/scrim-$host" version --json | jq -r .commit)" = "$commit" ] ||
  { echo "the program does not know its commit: Go notes it in a clone, and not in a further worktree of git's"; exit 1; }
"$work/scrim-$host" man "$work/man/man1"
mkdir "$work/completions"
for shell in bash zsh fish; do "$work/scrim-$host" completion $shell >"$work/completions/scrim.$shell"; done

cd "$dist"
rm -f SHA256SUMS
made=()
for arch in $arches; do
  compilers "$arch"
  (cd "$root" && tree "$arch")
  name=scrim-$version-linux-$arch
  tar --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -C "$work" -c "$name" | gzip -n >"$name.tar.gz"
  made+=("$name.tar.gz")
  if command -v dpkg-deb >/dev/null; then
    "$root/deploy/deb.sh" "$work/$name" "$arch" "$version" "scrim_${version}_$arch.deb"
    made+=("scrim_${version}_$arch.deb")
  else
    echo "without dpkg-deb there is no Debian package"
  fi
done
sha256sum "${made[@]}" >SHA256SUMS
cat SHA256SUMS
