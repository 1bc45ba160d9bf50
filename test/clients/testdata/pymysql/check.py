import pymysql
from matrix import *

db = pymysql.connect(database=DB, charset="utf8mb4", **LOGIN)


def ask(sql, *args):
    with db.cursor() as c:
        c.execute(sql, args or None)
        return rows(c)


check("connect", db.get_server_info)
check("list", lambda: [r[0] for r in ask("SHOW TABLES")])
check("describe", lambda: [r[:2] for r in ask("DESCRIBE people")])
check("group", lambda: ask(GROUP))
check("public", lambda: ask(PUBLIC))
check("prepared", lambda: prepared(ask))
check("text", lambda: ask(TEXT, TITLE)[0][0])
check("error", lambda: refused(lambda: ask("SELECT * FROM people")))


def tls():
    with pymysql.connect(database=DB, ssl={"ca": CA}, **LOGIN) as secure:
        with secure.cursor() as c:
            c.execute("SHOW SESSION STATUS LIKE 'Ssl_cipher'")
            return (c.fetchone() or ("", ""))[1] != "" and c.execute(GROUP) == 4


def explain():
    return len(ask("EXPLAIN " + GROUP)) > 0 and len(ask("EXPLAIN " + PUBLIC)) > 0


def several():
    """Two statements in one packet."""
    with pymysql.connect(database=DB, client_flag=pymysql.constants.CLIENT.MULTI_STATEMENTS, **LOGIN) as m:
        with m.cursor() as c:
            c.execute("SELECT 1; SELECT 2")
            first = c.fetchall()
            return c.nextset() and (first, c.fetchall()) == (((1,),), ((2,),))


def wrong_password():
    try:
        pymysql.connect(host=HOST, port=PORT, user=USER, password="wrong")
    except pymysql.err.OperationalError as e:
        return e.args[0] == 1045 and "(using password: YES)" in e.args[1] or str(e)


def code(sql, want):
    try:
        ask(sql)
    except pymysql.err.MySQLError as e:
        return e.args[0] == want or str(e)


extra("TLS", tls)
extra("caching_sha2_password, in clear and over TLS", lambda: both(pymysql.connect, ssl={"ca": CA}))
extra("EXPLAIN", explain)
extra("several statements at once", several)
extra("dict cursor", lambda: pymysql.cursors.DictCursor and db.cursor(pymysql.cursors.DictCursor).execute(GROUP) == 4)
extra("wrong password", wrong_password)
extra("unknown column is 1054", lambda: code("SELECT nothing FROM products", 1054))
extra("unknown table is 1146", lambda: code("SELECT * FROM nothing", 1146))
extra("bad syntax is 1064", lambda: code("SELEC 1", 1064))
extra("ping and reconnect", lambda: db.ping(reconnect=True) is None)
extra("another database", lambda: db.select_db("information_schema") is None)
