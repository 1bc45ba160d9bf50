. "$SCRIM_LIB/check.sh"
dsn="Driver=/usr/lib/$(uname -m)-linux-gnu/odbc/libmaodbc.so;SERVER=$SCRIM_HOST;PORT=$SCRIM_PORT;UID=$SCRIM_USER;PWD=$SCRIM_PASSWORD;DATABASE=$SCRIM_DB;CHARSET=utf8mb4"
# -b: no prompts; -v: messages; -d and a tab: rows alone, tabs between.
ask() { printf '%s\n' "$1" | isql -k "$dsn" -b -v -d$'\t' 2>&1; }

say connect "$(ask 'SELECT VERSION()' | json)"
say list "$(ask help | awk -F '\t' -v db="$SCRIM_DB" '$1 == db {print $3}' | column)"
say describe "$(ask 'help people' | cut -f 4,6 | table)"
say group "$(ask "$GROUP" | table)"
say public "$(ask "$PUBLIC" | table)"
# It prepares every statement by the protocol; a variable stands in for a parameter.
say prepared "$(ask "$BIND"$'\n''SELECT id, price FROM products WHERE id <= @n ORDER BY id' | table)"
say text "$(ask "SELECT title FROM products WHERE title = '$TITLE'" | json)"
say error "$(ask 'SELECT * FROM people' | json)"
