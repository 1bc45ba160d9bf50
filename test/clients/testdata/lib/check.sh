# What every client of the matrix that is a shell's command shares: one line a check, with JSON made by Python.
# Sourced by bash scripts.

# json: standard input as one JSON text.
json() { /usr/bin/python3 -c 'import json, sys; print(json.dumps(sys.stdin.read().strip("\n"), ensure_ascii=False))'; }

# column: standard input, one value a line, as a JSON array.
column() { /usr/bin/python3 -c 'import json, sys; print(json.dumps([l for l in sys.stdin.read().split("\n") if l], ensure_ascii=False))'; }

# table [SEPARATOR]: lines of values with separators (tabs) between, as a JSON array of arrays.
table() { /usr/bin/python3 -c 'import json, sys; s = sys.argv[1]; print(json.dumps([[v.strip() for v in l.split(s)] for l in sys.stdin.read().split("\n") if l.strip(s + " ")], ensure_ascii=False))' "${1:-$'\t'}"; }

# created: the names of tables in statements that create them, as a JSON array; declared: their columns and types.
created() { sed -n 's/^CREATE TABLE `\([^`]*\)`.*/\1/p' | column; }
declared() { sed -n 's/^  `\([^`]*\)` \([a-z]*\).*/\1\t\2/p' | table; }

say() { printf '%s\t%s\n' "$1" "$2"; }

# extra NAME COMMAND…: whether the command ends well; what it wrote where it does not.
extra() {
  local name=$1 out
  shift
  if out=$("$@" 2>&1); then say "extra:$name" true; else say "extra:$name" "$(printf 'failed: %s' "$out" | json)"; fi
}

# has TEXT COMMAND…: whether what the command writes has the text in it.
has() {
  local text=$1 out
  shift
  out=$("$@" 2>&1) || true
  case $out in *"$text"*) ;; *) printf '%s\n' "$out"; return 1 ;; esac
}

TITLE='Zoë — 日本 😀'
GROUP='SELECT dept, AVG(amount) AS a, COUNT(*) AS n FROM people GROUP BY dept ORDER BY dept'
PUBLIC='SELECT id, price FROM products WHERE id <= 3 ORDER BY id'
PREPARE="PREPARE cheap FROM 'SELECT id, price FROM products WHERE id <= ? ORDER BY id'"
BIND='SET @n = 3'
EXECUTE='EXECUTE cheap USING @n'
DEALLOCATE='DEALLOCATE PREPARE cheap'
LOGIN=(--host="$SCRIM_HOST" --port="$SCRIM_PORT" --user="$SCRIM_USER" --password="$SCRIM_PASSWORD" --protocol=tcp)
DBA=(--host="$SCRIM_HOST" --port="$SCRIM_PORT" --user="$SCRIM_DBA" --password="$SCRIM_DBA_PASSWORD" --protocol=tcp)
