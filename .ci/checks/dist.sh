#!/usr/bin/env bash
# What is shipped: builds the archives and the Debian packages, twice and at two places for amd64, which must give the same
# bytes; runs the program from the archive; holds licences and bill of materials against what is linked in; installs, upgrades,
# removes and purges the package in a root of its own, and runs the steps of the container recipe in it. It needs Debian,
# root and the network for apt, npm and the Go module proxy.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=$PWD
work=$(mktemp -d)
chmod 0755 "$work" # other accounts run programs below it
trap 'rm -rf --one-file-system "$work"' EXIT
fail() { echo "$*"; exit 1; }
since=$SECONDS
took() { printf -- '-- %s: %d s\n' "$1" $((SECONDS - since)); since=$SECONDS; }

need=()
for p in gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user-static jq file debootstrap lintian shellcheck mariadb-client nodejs npm; do
  [ "$(dpkg-query -W -f '${db:Status-Status}' $p 2>/dev/null)" = installed ] || command -v "$p" >/dev/null || need+=("$p")
done
if [ ${#need[@]} -gt 0 ]; then
  apt-get update -qq -o DPkg::Lock::Timeout=300
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=300 "${need[@]}" >/dev/null
fi
took packages

shellcheck -x -S warning deploy/*.sh deploy/debian/postinst deploy/debian/prerm deploy/debian/postrm .ci/container .ci/checks/dist.sh
[ -z "$(git status --porcelain)" ] || fail "the tree has changes, and would not give the bytes of its commit: commit first"
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
# apt, not this shell, fills in the address.
# shellcheck disable=SC2016
mirror=$(apt-get indextargets --format '$(REPO_URI)' "Codename: $suite" | head -1)
debootstrap --variant=minbase --include=systemd-standalone-sysusers,ca-certificates "$suite" "$work/root" "${mirror:-http://deb.debian.org/debian}" >"$work/debootstrap.log" 2>&1 &
bootstrap=$!

deploy/dist.sh "$work/one"
took "archives and packages"
git clone -q "$here" "$work/clone"
ARCHES=amd64 "$work/clone/deploy/dist.sh" "$work/two" >/dev/null
for f in "$work"/two/*amd64*; do cmp "$f" "$work/one/$(basename "$f")" || fail "a second build gives other bytes"; done
took "the same again"

cd "$work/one"
sha256sum --quiet -c SHA256SUMS
for a in *.tar.gz; do tar -xzf "$a" -C "$work"; done
version=$(sed -n 's/^const Version = "\(.*\)"$/\1/p' "$here/internal/release/release.go")

# inspect TREE: the system's libraries that it needs, and that licences and bill of materials are of all that is linked in.
inspect() {
  local name path
  name=$(basename "$1")
  [ "$(readelf -d "$1/scrim" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -vc '^\(libc\|libm\|ld-linux-.*\)\.so')" = 0 ] || fail "$name needs more than glibc"
  newest=$(readelf -V "$1/scrim" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -1)
  [ "$(printf '%s\nGLIBC_2.36\n' "$newest" | sort -V | tail -1)" = GLIBC_2.36 ] || fail "$name needs $newest, and the documents say 2.36"
  jq -e '[.components[] | select((.licenses // []) == [])] == []' "$1/sbom.cdx.json" >/dev/null || fail "$name: the bill of materials has components without a licence"
  jq -r '.components[].name' "$1/sbom.cdx.json" >"$work/named"
  while read -r _ path _; do
    grep -qxF "$path" "$work/named" || fail "$name: the bill of materials lacks $path"
    [ -n "$(find "$1/licences/$path" -maxdepth 1 -type f -size +100c)" ] || fail "$name lacks the licence of $path"
  done < <(go version -m "$1/scrim" | awk '$1 == "dep"')
  for path in duckdb gcc-runtime std; do grep -qx $path "$work/named" || fail "$name: the bill of materials lacks $path"; done
  for path in LICENSE README.md scrim.toml licences/linked.md licences/go/LICENSE licences/console/licences.txt systemd/scrim.service man/man1/scrim.1 man/man1/scrim-serve.1; do
    [ -s "$1/$path" ] || fail "$name lacks $path"
  done
  bash -n "$1/completions/scrim.bash"
  echo "$name: needs $newest, $(wc -l <"$work/named") components"
}
inspect "$work/scrim-$version-linux-amd64"
inspect "$work/scrim-$version-linux-arm64"

# says PROGRAM…: it tells the versions of this tree.
says() {
  "$@" version --json >"$work/version"
  jq -e --arg v "$version" --arg c "$(git -C "$here" rev-parse HEAD)" '.version == $v and .commit == $c and .modified == false and .greeting == "8.0.36-scrim-" + $v' "$work/version" >/dev/null ||
    { cat "$work/version"; fail "$* tells other versions"; }
  [ "$(jq -r .duckdb "$work/version")" = "$(jq -r '.components[] | select(.name == "duckdb").version' "$work/scrim-$version-linux-amd64/sbom.cdx.json")" ] || fail "the bill of materials has another DuckDB"
}
scrim=$work/scrim-$version-linux-amd64/scrim
says "$scrim"
file "$work/scrim-$version-linux-arm64/scrim" | grep -q 'ARM aarch64' || fail "the program for arm64 is none"
says qemu-aarch64-static -L /usr/aarch64-linux-gnu "$work/scrim-$version-linux-arm64/scrim"

cd "$work"
"$scrim" demo --exit --listen 127.0.0.1:0 --data "$work/demo" >"$work/out"
tail -1 "$work/out" | grep -q 'private cells are within 10 % of the truth' || { tail -5 "$work/out"; fail "the demonstration of the archive's program ends otherwise"; }
[ "$("$scrim" sql --data "$work/demo" --format csv -e 'SELECT 6 * 7 AS n' | tail -1)" = 42 ] || fail "the archive's program answers otherwise"
took "the archive's program"

# The package.
wait $bootstrap || { tail -5 "$work/debootstrap.log"; fail "debootstrap failed"; }
root=$work/root
deb=scrim_${version}_amd64.deb
cp "$work/one/$deb" "$root/"
lintian --fail-on error,warning "$work/one/$deb"
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C "$@"; }
inside dpkg -i "/$deb" >/dev/null
says inside scrim
[ "$(inside stat -c '%U %a' /var/lib/scrim)" = "scrim 700" ] || fail "the data directory is another's"
[ "$(inside stat -c '%G %a' /etc/scrim/scrim.toml)" = "scrim 640" ] || fail "the configuration is not readable by its group alone"
inside setpriv --reuid scrim --regid scrim --clear-groups scrim config check --config /etc/scrim/scrim.toml
[ -L "$root/etc/systemd/system/multi-user.target.wants/scrim.service" ] || fail "the unit is not enabled"
if command -v systemd-analyze >/dev/null; then
  mkdir "$work/unit"
  sed "s#/usr/bin/scrim#$root/usr/bin/scrim#" "$root/lib/systemd/system/scrim.service" >"$work/unit/scrim.service"
  out=$(systemd-analyze verify --man=no "$work/unit/scrim.service" 2>&1) && ! grep scrim.service: <<<"$out" || fail "the unit: $out"
fi
echo 'log-format = "text"' >>"$root/etc/scrim/scrim.toml"
touch "$root/var/lib/scrim/ledger.db"
inside dpkg -i "/$deb" >/dev/null
grep -q '^log-format = "text"' "$root/etc/scrim/scrim.toml" || fail "an upgrade takes the configuration back"
inside dpkg -r scrim >/dev/null
[ ! -e "$root/usr/bin/scrim" ] && [ -e "$root/etc/scrim/scrim.toml" ] || fail "the removal leaves the program, or takes the configuration"
inside dpkg -P scrim >"$work/out"
[ ! -e "$root/etc/scrim" ] && [ -e "$root/var/lib/scrim/ledger.db" ] || fail "the purge leaves the configuration, or takes the ledger"
grep -q 'were kept' "$work/out" || fail "the purge does not say that it keeps the ledger"
[ "$(dpkg-deb -f "$work/one/scrim_${version}_arm64.deb" Architecture)" = arm64 ] || fail "the package for arm64 is none"
took "the package"

"$here/.ci/container" "$root"
took "the container"
