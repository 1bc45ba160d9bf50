#!/usr/bin/env bash
# Makes a Debian package of an archive's tree: deb.sh TREE ARCH VERSION FILE. dist.sh calls it.
set -euo pipefail
tree=$1 arch=$2 version=$3 file=$4
here=$(cd "$(dirname "$0")" && pwd)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 0755 "$root"
umask 022

put() { install -D -m "${3:-0644}" "$1" "$root/$2"; } # FILE PATH [MODE]
doc=usr/share/doc/scrim
put "$tree/scrim" usr/bin/scrim 0755
put "$tree/scrim.toml" etc/scrim/scrim.toml
put "$tree/systemd/scrim.conf" usr/lib/sysusers.d/scrim.conf
put "$tree/completions/scrim.bash" usr/share/bash-completion/completions/scrim
put "$tree/completions/scrim.zsh" usr/share/zsh/vendor-completions/_scrim
put "$tree/completions/scrim.fish" usr/share/fish/vendor_completions.d/scrim.fish
put "$tree/sbom.cdx.json" $doc/sbom.cdx.json
put "$tree/README.md" $doc/README.md
put "$tree/SECURITY.md" $doc/SECURITY.md
put "$here/debian/overrides" usr/share/lintian/overrides/scrim
mkdir -p "$root/lib/systemd/system" "$root/usr/share/man/man1" "$root/$doc"
sed 's#/usr/local/bin/scrim#/usr/bin/scrim#' "$tree/systemd/scrim.service" >"$root/lib/systemd/system/scrim.service"
cp "$tree"/man/man1/*.1 "$root/usr/share/man/man1/"
cp -r "$tree/licences" "$root/$doc/licences"
cp "$tree/CHANGELOG.md" "$root/$doc/changelog"
printf 'scrim (%s-1) unstable; urgency=medium\n\n  * Packaged from the release; see changelog.gz.\n\n -- %s  %s\n' \
  "$version" "$(sed -n 's/^Maintainer: //p' "$here/debian/control")" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")" >"$root/$doc/changelog.Debian"
{ cat "$here/debian/copyright"; sed 's/^$/./; s/^/ /' "$tree/LICENSE"; } >"$root/$doc/copyright"
gzip -9n "$root/$doc/changelog" "$root/$doc/changelog.Debian" "$root"/usr/share/man/man1/*.1

mkdir "$root/DEBIAN"
sed "s/@ARCH@/$arch/; s/@VERSION@/$version-1/; s/@SIZE@/$(du -k --apparent-size -s "$root" | cut -f1)/" "$here/debian/control" >"$root/DEBIAN/control"
echo /etc/scrim/scrim.toml >"$root/DEBIAN/conffiles"
install -m 0755 "$here/debian/postinst" "$here/debian/prerm" "$here/debian/postrm" "$root/DEBIAN/"
(cd "$root" && find . -path ./DEBIAN -prune -o -path ./etc -prune -o -type f -printf '%P\0' | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
chmod 0644 "$root/DEBIAN/md5sums" "$root/DEBIAN/control" "$root/DEBIAN/conffiles"
find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
# gzip: the same bytes whatever the number of processors, and quick.
dpkg-deb --root-owner-group -Zgzip --build "$root" "$file" >/dev/null
