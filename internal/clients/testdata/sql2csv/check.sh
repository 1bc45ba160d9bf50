. "$SCRIM_LIB/check.sh"
password=$(/usr/bin/python3 -c 'import os, urllib.parse; print(urllib.parse.quote(os.environ["SCRIM_PASSWORD"]))')
ask() { sql2csv --db "mysql+pymysql://$SCRIM_USER:$password@$SCRIM_HOST:$SCRIM_PORT/$SCRIM_DB?charset=utf8mb4" --no-header-row --query "$1"; }

say connect "$(ask 'SELECT VERSION()' | json)"
say list "$(ask 'SHOW TABLES' | column)"
say describe "$(ask "SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = 'shop' AND table_name = 'people' ORDER BY ordinal_position" | table ,)"
say group "$(ask "$GROUP" | table ,)"
say public "$(ask "$PUBLIC" | table ,)"
say prepared '"n/a: it has no parameters"'
say text "$(ask "SELECT title FROM products WHERE title = '$TITLE'" | json)"
say error "$(ask 'SELECT * FROM people' 2>&1 | json)"
