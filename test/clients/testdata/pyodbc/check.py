import platform
import pyodbc
from matrix import *

driver = "/usr/lib/%s-linux-gnu/odbc/libmaodbc.so" % platform.machine()


def connect(**more):
    options = dict(SERVER=HOST, PORT=PORT, UID=USER, PWD=PASSWORD, DATABASE=DB, CHARSET="utf8mb4", **more)
    return pyodbc.connect("Driver=%s;" % driver + ";".join("%s=%s" % o for o in options.items()))


db = connect()


def ask(sql, *args):
    return [list(r) for r in db.cursor().execute(sql, *args).fetchall()]


def browse(f):
    """The rows of one of ODBC's catalogue functions."""
    c = db.cursor()
    return f(c).fetchall()


check("connect", lambda: ask("SELECT VERSION()")[0][0])
check("list", lambda: [r.table_name for r in browse(lambda c: c.tables(catalog=DB, tableType="TABLE"))])
check("describe", lambda: [[r.column_name, r.type_name] for r in browse(lambda c: c.columns(table="people", catalog=DB))])
check("group", lambda: ask(GROUP))
check("public", lambda: ask(PUBLIC))
check("prepared", lambda: ask(PREPARED.replace("%s", "?"), 3))
check("text", lambda: ask(TEXT.replace("%s", "?"), TITLE)[0][0])
check("error", lambda: refused(lambda: ask("SELECT * FROM people")))


def kinds():
    have = {r.table_name: r.table_type for r in browse(lambda c: c.tables(catalog=DB))}
    return have == {"people": "TABLE", "products": "TABLE", "dear": "VIEW"} or have


def types():
    have = {r.type_name for r in browse(lambda c: c.getTypeInfo())}
    return have >= {"BIGINT", "VARCHAR", "DECIMAL", "DOUBLE", "DATE", "DATETIME"} or sorted(have)


def sizes():
    have = {r.column_name: (r.data_type, r.column_size) for r in browse(lambda c: c.columns(table="people", catalog=DB))}
    return have["amount"] == (pyodbc.SQL_DECIMAL, 10) and have["name"][1] == 40 or have


extra("version by SQLGetInfo", lambda: (v := db.getinfo(pyodbc.SQL_DBMS_VER)).startswith("08.00.") or v)
extra("SQLTables, kinds", kinds)
extra("SQLGetTypeInfo", types)
extra("SQLColumns, types and sizes", sizes)
extra("SQLPrimaryKeys", lambda: (r := [r.column_name for r in browse(lambda c: c.primaryKeys("products", catalog=DB))]) == ["id"] or r)
extra("SQLSpecialColumns", lambda: (r := [r.column_name for r in browse(lambda c: c.rowIdColumns("products", catalog=DB))]) == ["id"] or r)
extra("SQLStatistics", lambda: "PRIMARY" in (r := [r.index_name for r in browse(lambda c: c.statistics("products", catalog=DB, unique=True))]) or r)
extra("SQLForeignKeys", lambda: browse(lambda c: c.foreignKeys("products", catalog=DB)) == [])
extra("SQLProcedures", lambda: browse(lambda c: c.procedures(catalog=DB)) == [])
extra("dates", lambda: ask("SELECT made FROM products WHERE id = 1")[0][0].year == 2025)
extra("prepared on the protected table", lambda: 900 < ask("SELECT COUNT(*) FROM people WHERE dept = ?", "law")[0][0] < 1100)
