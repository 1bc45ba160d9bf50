#!/usr/bin/env bash
# Builds the TypeScript package with its pinned compiler, runs its tests, and has 400 people report with it to a real server over
# HTTPS, from Node and from Chromium; then the bits that are stored must be those of their value. The page's script must be what
# its sources give. All of it lies in a directory of its own, so that the tree stays as it is.
set -euo pipefail
cd "$(dirname "$0")/../.."
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends nodejs npm >/dev/null
fi
CHROMIUM=$(command -v chromium || command -v google-chrome) || { echo "install Chromium first"; exit 1; }
export CHROMIUM
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || { kill "$server"; wait "$server" || true; }; rm -rf "$work"' EXIT

mkdir -p "$work/testdata" "$work/engine/collections/intake/assets"
cp -r testdata/contribute "$work/testdata/"
tar -c --exclude node_modules --exclude dist typescript | tar -x -C "$work"
(cd "$work/typescript" && npm ci --no-audit --no-fund --silent && npm test && npm run --silent page -- --log-level=warning)
cmp "$work/engine/collections/intake/assets/report.js" engine/collections/intake/assets/report.js || { echo "the page's script is not what its sources give: make page"; exit 1; }

go build -tags gms_pure_go -o "$work/scrim" ./cmd/scrim
export SCRIM_ROOT_PASSWORD=contribute
(cd "$work" && go run "$(go env GOROOT)/src/crypto/tls/generate_cert.go" -host 127.0.0.1 -ecdsa-curve P256 2>/dev/null) # cert.pem, key.pem
spki=$(node -e 'const c = require("crypto"); const k = new c.X509Certificate(require("fs").readFileSync(process.argv[1])).publicKey
console.log(c.createHash("sha256").update(k.export({ type: "spki", format: "der" })).digest("base64"))' "$work/cert.pem")
port=$(node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close() })')
"$work/scrim" serve --data "$work/data" --listen 127.0.0.1:0 --contribute-listen 127.0.0.1:0 --tls-cert "$work/cert.pem" --tls-key "$work/key.pem" \
  --contribute-origins "http://127.0.0.1:$port" >"$work/out" 2>"$work/log" &
server=$!
for _ in $(seq 300); do grep -q 'contributors on' "$work/out" && break; sleep 0.1; done
address=$(sed -n 's/^scrim: ready on //p' "$work/out")
contributors=$(sed -n 's/^scrim: contributors on //p' "$work/out")
sql() { mariadb -h "${address%:*}" -P "${address##*:}" -u root -pcontribute --skip-ssl -N -B -e "$1"; }
sql "CREATE DATABASE survey; CALL dp_create_collection('survey.commute', 'LDP_BIT', '{\"epsilon\": 2, \"lo\": 0, \"hi\": 120, \"n_expected\": 400}')" >/dev/null
sql "CALL dp_issue_tokens('commute', 400)" >"$work/tokens"
sql "CALL dp_open_collection('commute')" >/dev/null
head -340 "$work/tokens" >"$work/tokens-node"
tail -60 "$work/tokens" >"$work/tokens-chromium"
NODE_EXTRA_CA_CERTS=$work/cert.pem node "$work/typescript/dist/test/end_to_end.js" "https://$contributors" commute "$work/tokens-node" 30
(cd "$work/typescript" && npm run --silent browser -- "https://$contributors" commute "$work/tokens-chromium" 30 "$spki" "$port")
got=$(sql "SELECT COUNT(*) FROM survey.commute")
[ "$got" = 400 ] || { echo "$got reports are stored, want 400"; exit 1; }
# With p = e^2/(e^2+1) a bit is 1 with 0.25p + 0.75(1-p): 123.8 of 400. Beyond 65 of it, seven standard deviations, an honest device is in
# fewer than 1e-10 runs; a value of 120 would have 352.
ones=$(sql "SELECT COUNT(*) FROM survey.commute WHERE RIGHT(HEX(report), 1) = '1'")
[ "$ones" -ge 59 ] && [ "$ones" -le 188 ] || { echo "$ones bits of 400 are 1, want 124"; exit 1; }
if grep -h 'contributor over HTTP' "$work/data/audit/"* | grep -q '"from"'; then echo "the audit log has contributors' addresses"; exit 1; fi
grep -hq SPENT_TOKEN "$work/data/audit/"* || { echo "the audit log lacks what was refused"; exit 1; }
echo "$got reports, $ones of them 1"
