. "$SCRIM_LIB/check.sh"
password=$(/usr/bin/python3 -c 'import os, urllib.parse; print(urllib.parse.quote(os.environ["SCRIM_PASSWORD"]))')
options=
ask() { sql2csv --db "mysql+pymysql://$SCRIM_USER:$password@$SCRIM_HOST:$SCRIM_PORT/$SCRIM_DB?charset=utf8mb4$options" --no-header-row --query "$1"; }

say connect "$(ask 'SELECT VERSION()' | json)"
say list "$(ask 'SHOW TABLES' | column)"
say describe "$(ask "SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = 'shop' AND table_name = 'people' ORDER BY ordinal_position" | table ,)"
say group "$(ask "$GROUP" | table ,)"
say public "$(ask "$PUBLIC" | table ,)"
# It sends one statement; what the driver sends first, as the URL says, prepares it.
init=$(/usr/bin/python3 -c 'import sys, urllib.parse; print(urllib.parse.quote(sys.argv[1]))' "$PREPARE; $BIND")
say prepared "$(options="&client_flag=65536&init_command=$init" ask "$EXECUTE" | table ,)"
say text "$(ask "SELECT title FROM products WHERE title = '$TITLE'" | json)"
say error "$(ask 'SELECT * FROM people' 2>&1 | json)"
