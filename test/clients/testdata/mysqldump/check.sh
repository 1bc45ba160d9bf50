. "$SCRIM_LIB/check.sh"
dump() { mysqldump "${LOGIN[@]}" "$@"; }
dba() { mariadb "${DBA[@]}" --batch --skip-column-names "$@"; }

dump "$SCRIM_DB" products >products.sql 2>products.err || cat products.err
say connect "$(sed -n 's/^-- Server version[\t ]*//p' products.sql | json)"
# Of structures alone, those of the whole database, and of one table.
say list "$(dump --no-data "$SCRIM_DB" | created)"
say describe "$(dump --no-data "$SCRIM_DB" people | declared)"
say group '"n/a: it sends no statements of one'"'"'s own"'
# The rows as they stand in the dump.
say public "$(grep -o '([123],[^)]*)' products.sql | sed "s/(\([0-9]*\),'[^']*',\([^,]*\),.*/\1\t\2/" | table)"
say prepared '"n/a: it has no parameters"'
say text "$(grep -o "(7,'[^']*'" products.sql | sed "s/(7,'\(.*\)'/\1/" | json)"
say error "$(dump "$SCRIM_DB" people 2>&1 >people.sql | json)"

# Nothing of the protected table, whichever way is tried.
refused() { ! dump "$@" "$SCRIM_DB" people >out.sql 2>err || { echo 'it was dumped'; return 1; } && ! grep -q 'INSERT INTO' out.sql; }
no_rows() { grep -q 'CREATE TABLE' <(dump --no-data "$SCRIM_DB" people 2>&1) || { dump --no-data "$SCRIM_DB" people 2>&1 | tail -3; return 1; }; }
restored() {
  dba -e 'CREATE DATABASE restored' && dba restored <"$1" && dba -e "CALL dp_public('restored.products')" &&
    [ "$(mariadb "${DBA[@]}" -NB -e 'SELECT COUNT(*), SUM(price) FROM restored.products')" = "$(mariadb "${DBA[@]}" -NB -e 'SELECT COUNT(*), SUM(price) FROM shop.products')" ] &&
    [ "$(dba -e "SELECT title FROM restored.products WHERE id = 7")" = "$TITLE" ]
  local how=$?
  dba -e 'DROP DATABASE restored'
  return $how
}
option() { dump "$@" >out.sql && grep -q 'INSERT INTO' out.sql; }
database() { option --ignore-table="$SCRIM_DB.people" "$SCRIM_DB"; }
dba_option() { mysqldump "${DBA[@]}" "$@" >out.sql && grep -q 'INSERT INTO' out.sql; }

extra 'refused on the protected table' refused
extra 'refused with --where' refused --where='id = 7'
extra 'refused with --single-transaction' refused --single-transaction
extra 'refused with --tab' refused --tab=/tmp
refused_dba() { ! mysqldump "${DBA[@]}" "$SCRIM_DB" people >out.sql 2>err && ! grep -q 'INSERT INTO' out.sql; }
extra 'refused for the DBA without SET dp_raw' refused_dba
extra 'structure alone' no_rows
extra 'a dump restores' restored products.sql
extra '--single-transaction' option --single-transaction "$SCRIM_DB" products
extra '--skip-opt --create-options' option --skip-opt --create-options "$SCRIM_DB" products
extra '--routines --triggers --events' option --routines --triggers --events "$SCRIM_DB" products
extra '--all-tablespaces --order-by-primary --hex-blob' option --all-tablespaces --order-by-primary --hex-blob "$SCRIM_DB" products
extra '--databases --add-drop-database' option --ignore-table="$SCRIM_DB.people" --add-drop-database --databases "$SCRIM_DB"
extra '--xml' has '<field name="price">51.006729' dump --xml "$SCRIM_DB" products
extra 'a database without its protected table' database
extra 'by the DBA' dba_option "$SCRIM_DB" products
