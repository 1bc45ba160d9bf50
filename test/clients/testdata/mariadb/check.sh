. "$SCRIM_LIB/check.sh"
ask() { mariadb "${LOGIN[@]}" --batch --skip-column-names --database="$SCRIM_DB" "$@"; }

say connect "$(ask -e 'SELECT VERSION()' | json)"
say list "$(ask -e 'SHOW TABLES' | column)"
say describe "$(ask -e 'DESCRIBE people' | cut -f 1,2 | table)"
say group "$(ask -e "$GROUP" | table)"
say public "$(ask -e "$PUBLIC" | table)"
say prepared "$(ask -e "$PREPARE; $BIND; $EXECUTE; $DEALLOCATE" 2>&1 | table)"
say text "$(ask -e "SELECT title FROM products WHERE title = '$TITLE'" | json)"
say error "$(ask -e 'SELECT * FROM people' 2>&1 | json)"

status() { has 'Threads: ' mariadb "${LOGIN[@]}" -e '\s'; }
# Completion reads the tables' columns by COM_FIELD_LIST when a session starts with it.
completion() { echo 'SELECT COUNT(*) FROM products;' | has 1000 mariadb "${LOGIN[@]}" --auto-rehash --database="$SCRIM_DB" --batch; }
secure() { has TLS mariadb "${LOGIN[@]}" --ssl-ca="$SCRIM_CA" --ssl-verify-server-cert -e '\s'; }
newer() { ask --user="$SCRIM_SHA2_USER" --skip-ssl -e "$GROUP" && ask --user="$SCRIM_SHA2_USER" --ssl-ca="$SCRIM_CA" --ssl-verify-server-cert -e "$GROUP"; }
vertical() { has 'dept: care' mariadb "${LOGIN[@]}" --database="$SCRIM_DB" -e "$GROUP\G"; }
hint() { ask --comments -e 'SELECT /*+ SET_VAR(dp_epsilon=0.5) */ COUNT(*) FROM people'; }
several() { [ "$(printf 'SELECT 1; SELECT 2;\nDELIMITER //\nSELECT 3//\n' | ask | tr -d '\n')" = 123 ]; }
warnings() { has Warning mariadb "${LOGIN[@]}" --database="$SCRIM_DB" --show-warnings -e 'SELECT AVG(amount) FROM people WHERE id = 1'; }
local_file() {
  printf '1\n' >rows.csv
  has 'for DBAs and importers' ask --local-infile=1 -e "LOAD DATA LOCAL INFILE 'rows.csv' INTO TABLE products"
}
server_file() { ! ask -e "SELECT LOAD_FILE('/etc/hostname') IS NOT NULL AND 1 / 0" && ! ask -e "SELECT 1 INTO OUTFILE '/tmp/x'" && ! ask -e "LOAD DATA INFILE '/etc/hostname' INTO TABLE products"; }
killed() { # interrupted, the client sends KILL QUERY from a second connection
  local from=$SECONDS
  timeout --foreground -s INT -k 15 1 mariadb "${LOGIN[@]}" --database="$SCRIM_DB" -e 'SELECT COUNT(*) FROM products a, products b, products c, products d WHERE a.price * b.price > c.price * d.price + 0.5' >killed.out 2>&1 || true
  [ $((SECONDS - from)) -lt 10 ] && ! grep -q '^[0-9]' killed.out && has interrupted cat killed.out
}

extra 'status (\s)' status
extra 'completion of names' completion
extra 'TLS, verified' secure
extra 'caching_sha2_password, in clear and over TLS' newer
extra 'vertical output' vertical
extra 'hint SET_VAR' hint
extra 'several statements and DELIMITER' several
extra 'warnings shown' warnings
extra 'no LOAD DATA LOCAL for analysts' local_file
extra 'no files of the server' server_file
extra 'Ctrl-C stops the statement' killed
