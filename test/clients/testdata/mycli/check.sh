. "$SCRIM_LIB/check.sh"
ask() { mycli -h "$SCRIM_HOST" -P "$SCRIM_PORT" -u "$SCRIM_USER" -p "$SCRIM_PASSWORD" -D "$SCRIM_DB" -e "$1" | sed 1d; }

say connect "$(ask 'SELECT VERSION()' | json)"
say list "$(ask 'SHOW TABLES' | column)"
say describe "$(ask 'DESCRIBE people' | cut -f 1,2 | table)"
say group "$(ask "$GROUP" | table)"
say public "$(ask "$PUBLIC" | table)"
say prepared "$(ask "$PREPARE; $BIND; $EXECUTE; $DEALLOCATE" | table)"
say text "$(ask "SELECT title FROM products WHERE title = '$TITLE'" | json)"
say error "$(ask 'SELECT * FROM people' 2>&1 | json)"

# status: mycli computes queries a second from what SHOW STATUS tells.
extra status has 'Uptime:' mycli -h "$SCRIM_HOST" -P "$SCRIM_PORT" -u "$SCRIM_USER" -p "$SCRIM_PASSWORD" -D "$SCRIM_DB" -e status
extra 'list of tables (\dt)' has products mycli -h "$SCRIM_HOST" -P "$SCRIM_PORT" -u "$SCRIM_USER" -p "$SCRIM_PASSWORD" -D "$SCRIM_DB" -e '\dt'
extra 'list of databases (\l)' has "$SCRIM_DB" mycli -h "$SCRIM_HOST" -P "$SCRIM_PORT" -u "$SCRIM_USER" -p "$SCRIM_PASSWORD" -D "$SCRIM_DB" -e '\l'
# What it asks the catalogue for in the background, so that it completes names.
completion() {
  /usr/bin/python3 -W ignore - <<'P'
import os
from mycli.completion_refresher import CompletionRefresher
from mycli.sqlexecute import SQLExecute
e = os.environ
x = SQLExecute(e["SCRIM_DB"], e["SCRIM_USER"], e["SCRIM_PASSWORD"], e["SCRIM_HOST"], int(e["SCRIM_PORT"]), None, "utf8mb4", None, None, None, None, None, None, None, None)
seen = []
r = CompletionRefresher()
r.refresh(x, seen.append)
r._completer_thread.join(20)
c = seen[0]
print("people amount" if "amount" in c.dbmetadata["tables"]["shop"]["people"] else c.dbmetadata)
P
}
extra 'completion of names' has 'people amount' completion
