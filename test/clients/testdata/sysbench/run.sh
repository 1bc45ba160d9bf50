#!/usr/bin/env bash
# sysbench: the checks by a script that prints rows, a prepared GROUP BY on a public table as the analyst, and its own read-only benchmark on
# tables that it makes itself as the DBA.
set -u

say() { printf '%s\t%s\n' "$1" "$2"; }
quoted() { tr -s '\n\t ' ' ' | sed 's/ $//; s/\\/\\\\/g; s/"/\\"/g; s/^/"/; s/$/"/'; }
sql() { mariadb -h "$SCRIM_HOST" -P "$SCRIM_PORT" -u "$1" -p"$2" -N -B -e "$3"; }
as() { # USER PASSWORD DATABASE arguments…
  local user=$1 password=$2 database=$3
  shift 3
  sysbench --db-driver=mysql --mysql-host="$SCRIM_HOST" --mysql-port="$SCRIM_PORT" --mysql-user="$user" \
    --mysql-password="$password" --mysql-db="$database" "$@" 2>&1
}
# clean NAME: the run ended well, did something and lost nothing.
clean() {
  local out=$1.out queries
  queries=$(sed -n 's/^ *queries: *\([0-9]*\) .*/\1/p' "$out")
  if [ "$2" = 0 ] && [ "${queries:-0}" -gt 0 ] && grep -q 'ignored errors: *0 ' "$out" && ! grep -q FATAL "$out"; then
    say "extra:$1" true
  else
    say "extra:$1" "$(grep -E 'FATAL|ignored|error' "$out" | head -c 600 | quoted)"
  fi
}

as "$SCRIM_USER" "$SCRIM_PASSWORD" "$SCRIM_DB" show.lua show >show.out
grep "^[a-z]*$(printf '\t')" show.out
say error "$(grep -m 1 'FATAL: .*returned error' show.out | quoted)"

as "$SCRIM_USER" "$SCRIM_PASSWORD" "$SCRIM_DB" --threads=4 --time=3 group.lua run >"prepared GROUP BY.out"
clean "prepared GROUP BY" $?
as "$SCRIM_USER" "$SCRIM_PASSWORD" "$SCRIM_DB" --threads=4 --time=2 --db-ps-mode=disable group.lua run >"GROUP BY as text.out"
clean "GROUP BY as text" $?

root() { sql "$SCRIM_DBA" "$SCRIM_DBA_PASSWORD" "$1"; }
root 'CREATE DATABASE bench' >/dev/null
options=(--tables=1 --table-size=1000 --threads=2 --time=3)
if as "$SCRIM_DBA" "$SCRIM_DBA_PASSWORD" bench "${options[@]}" oltp_read_only prepare >prepare.out; then
  say "extra:oltp prepare" true
  root "CALL dp_public('bench.sbtest1')" >/dev/null
  for mode in auto disable; do
    as "$SCRIM_DBA" "$SCRIM_DBA_PASSWORD" bench "${options[@]}" --db-ps-mode=$mode oltp_read_only run >"oltp_read_only ps=$mode.out"
    clean "oltp_read_only ps=$mode" $?
  done
else
  say "extra:oltp prepare" "$(grep -E 'FATAL|error' prepare.out | head -c 600 | quoted)"
fi
root 'DROP DATABASE bench' >/dev/null
cat ./*.out >"$SCRIM_OUT/sysbench.txt"
