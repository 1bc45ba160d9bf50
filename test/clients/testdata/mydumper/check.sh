. "$SCRIM_LIB/check.sh"
LOGIN=(--host="$SCRIM_HOST" --port="$SCRIM_PORT" --user="$SCRIM_USER" --password="$SCRIM_PASSWORD")
dump() { mydumper "${LOGIN[@]}" --no-locks --database "$SCRIM_DB" "$@"; }
dba() { mariadb "${DBA[@]}" --batch --skip-column-names "$@"; }

dump --tables-list products --outputdir public 2>public.err || cat public.err
cat public/*products*.sql >products.sql 2>/dev/null
say connect '"n/a: it asks for no version that it shows"'
# Of structures alone, those of the whole database.
dump --no-data --outputdir structures
say list "$(cat structures/*-schema.sql | created)"
say describe "$(declared <"structures/$SCRIM_DB.people-schema.sql")"
say group '"n/a: it sends no statements of one'"'"'s own"'
say public "$(grep -o '([123],[^)]*)' products.sql | sed "s/(\([0-9]*\),\"[^\"]*\",\([^,]*\),.*/\1\t\2/" | table)"
say prepared '"n/a: it has no parameters"'
say text "$(grep -o '(7,"[^"]*"' products.sql | sed 's/(7,"\(.*\)"/\1/' | json)"
say error "$(dump --tables-list people --outputdir private 2>&1 | json)"

nothing() { ! grep -rq 'INSERT INTO' private; }
schemas() { [ -s "structures/$SCRIM_DB.products-schema.sql" ] && [ -s "structures/$SCRIM_DB.people-schema.sql" ]; }
restored() {
  dba -e 'CREATE DATABASE loaded' && cat public/*.products-schema.sql public/*.products*.sql | grep -v '^CREATE DATABASE' | awk '!/CREATE TABLE/ || !n++' >all.sql
  myloader --host="$SCRIM_HOST" --port="$SCRIM_PORT" --user="$SCRIM_DBA" --password="$SCRIM_DBA_PASSWORD" --directory public --database loaded &&
    [ "$(dba -e "CALL dp_public('loaded.products'); SELECT title FROM loaded.products WHERE id = 7" | tail -1)" = "$TITLE" ]
  local how=$?
  dba -e 'DROP DATABASE loaded'
  return $how
}

extra 'nothing of the protected table is written' nothing
extra 'structures alone' schemas
extra 'myloader restores' restored
