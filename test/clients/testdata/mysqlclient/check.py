import MySQLdb
import MySQLdb.cursors
from matrix import *

db = MySQLdb.connect(db=DB, charset="utf8mb4", **LOGIN)


def ask(sql, *args):
    c = db.cursor()
    c.execute(sql, args or None)
    return rows(c)


check("connect", db.get_server_info)
check("list", lambda: [r[0] for r in ask("SHOW TABLES")])
check("describe", lambda: [r[:2] for r in ask("SHOW COLUMNS FROM people")])
check("group", lambda: ask(GROUP))
check("public", lambda: ask(PUBLIC))
check("prepared", lambda: prepared(ask))
check("text", lambda: ask(TEXT, TITLE)[0][0])
check("error", lambda: refused(lambda: ask("SELECT * FROM people")))


def streamed():
    """Rows fetched as they come, mysql_use_result."""
    s = MySQLdb.connect(db=DB, cursorclass=MySQLdb.cursors.SSCursor, **LOGIN)
    c = s.cursor()
    c.execute("SELECT id FROM products")
    n = len(c.fetchall())
    s.close()
    return n == 1000


def change_user():
    c = MySQLdb.connect(**LOGIN)
    c.change_user(USER, PASSWORD, DB)
    k = c.cursor()
    k.execute("SELECT DATABASE()")
    return k.fetchone()[0] == DB


extra("caching_sha2_password, in clear and over TLS", lambda: both(MySQLdb.connect, ssl={"ca": CA}))
extra("stat()", lambda: "Uptime: " in db.stat() or db.stat())
extra("change_user()", change_user)
extra("streamed rows", streamed)
extra("ping()", lambda: db.ping() is None)
extra("thread_id() is CONNECTION_ID()", lambda: db.thread_id() == ask("SELECT CONNECTION_ID()")[0][0])
