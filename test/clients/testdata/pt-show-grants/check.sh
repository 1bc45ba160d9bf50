. "$SCRIM_LIB/check.sh"
# As the DBA: it reads mysql.user.
grants() { pt-show-grants --host "$SCRIM_HOST" --port "$SCRIM_PORT" --user "$1" --password "$2" "${@:3}" 2>&1; }
out=$(grants "$SCRIM_DBA" "$SCRIM_DBA_PASSWORD" --timestamp)
say connect "$(sed -n 's/^-- Dumped from server .*, MySQL \([^ ]*\) at.*/\1/p' <<<"$out" | json)"
for c in list describe group public prepared text; do say $c '"n/a: it prints grants alone"'; done
say error '"n/a: it reads no tables of users"'
extra "the analyst's grant" has 'GRANT SELECT ON `shop`.* TO' echo "$out"
extra 'no password in it' bash -c '! grep -q "\*[0-9A-F]\{40\}" <<<"$0"' "$out"
extra 'one account alone' has "$SCRIM_USER" grants "$SCRIM_DBA" "$SCRIM_DBA_PASSWORD" --only "$SCRIM_USER"
extra 'an analyst sees only what is theirs' bash -c '! grep -q "TO .root" <<<"$0"' "$(grants "$SCRIM_USER" "$SCRIM_PASSWORD")"
