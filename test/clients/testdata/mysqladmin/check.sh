. "$SCRIM_LIB/check.sh"

say connect "$(mysqladmin "${LOGIN[@]}" version | sed -n 's/^Server version[\t ]*//p' | json)"
# Of mysqlshow's frames, the first column.
say list "$(mysqlshow "${LOGIN[@]}" "$SCRIM_DB" | sed -n 's/^| \([a-z]*\) *|$/\1/p' | column)"
say describe "$(mysqlshow "${LOGIN[@]}" "$SCRIM_DB" people | sed -n 's/^| \([a-z]*\) *| \([a-z0-9(),]*\) *|.*/\1\t\2/p' | table)"
say error "$(mysqlslap "${LOGIN[@]}" --query='SELECT * FROM people' --create-schema="$SCRIM_DB" 2>&1 >/dev/null | json)"
for c in group public prepared text; do say $c '"n/a: it prints no rows"'; done

slap() { mysqlslap "${LOGIN[@]}" --concurrency=4 --iterations=2 --query="$GROUP" --create-schema="$SCRIM_DB"; }
prepared() { mysqlslap "${LOGIN[@]}" --concurrency=2 --number-of-queries=20 --query='SELECT COUNT(*) FROM products' --create-schema="$SCRIM_DB"; }
check() { has "doesn't support check" mysqlcheck "${LOGIN[@]}" "$SCRIM_DB" products; }
check_protected() { has "doesn't support check" mysqlcheck "${LOGIN[@]}" "$SCRIM_DB" people; }
shutdown() { ! mysqladmin "${LOGIN[@]}" shutdown && mysqladmin "${LOGIN[@]}" ping; }
# No number of rows, lengths or dates of the protected table.
sizes() { has people mysqlshow "${LOGIN[@]}" --status "$SCRIM_DB" && ! mysqlshow "${LOGIN[@]}" --status "$SCRIM_DB" people | grep -qw 4000; }

extra ping has alive mysqladmin "${LOGIN[@]}" ping
extra status has 'Uptime: ' mysqladmin "${LOGIN[@]}" status
extra extended-status has Uptime mysqladmin "${LOGIN[@]}" extended-status
extra variables has version_comment mysqladmin "${LOGIN[@]}" variables
extra processlist has "$SCRIM_USER" mysqladmin "${LOGIN[@]}" processlist
extra 'no shutdown by analysts' shutdown
extra 'mysqlshow, databases' has "$SCRIM_DB" mysqlshow "${LOGIN[@]}"
extra 'mysqlshow --keys' has PRIMARY mysqlshow "${LOGIN[@]}" --keys "$SCRIM_DB" products
extra 'mysqlshow, no size of the protected table' sizes
extra mysqlslap slap
extra 'mysqlslap, a number of queries' prepared
extra mysqlcheck check
extra 'mysqlcheck, protected table' check_protected

# A file on this side becomes rows of a table; --ignore-lines, --columns and --fields-terminated-by are what exports need.
imported() {
  printf 'name,id\n%s,1\nplain,2\n' "$TITLE" >imported.csv
  mariadb "${DBA[@]}" -e "CREATE TABLE $SCRIM_DB.imported (id INT PRIMARY KEY, name VARCHAR(40)); CALL dp_public('$SCRIM_DB.imported')" &&
    mysqlimport "${DBA[@]}" --local --ignore-lines=1 --fields-terminated-by=, --columns=name,id "$SCRIM_DB" imported.csv &&
    [ "$(mariadb "${LOGIN[@]}" -NB -e "SELECT name FROM $SCRIM_DB.imported WHERE id = 1")" = "$TITLE" ]
  local how=$?
  mariadb "${DBA[@]}" -e "DROP TABLE IF EXISTS $SCRIM_DB.imported"
  return $how
}
extra 'mysqlimport --local by the DBA' imported
echo 1 >products.csv
extra 'no mysqlimport for analysts' has 'for DBAs and importers' mysqlimport "${LOGIN[@]}" --local "$SCRIM_DB" products.csv
