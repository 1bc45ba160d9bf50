import json
import subprocess
import urllib.parse
import visidata
from visidata.loaders import mysql
from scrim import *

url = "mysql://%s:%s@%s:%d/%s" % (USER, PASSWORD, HOST, PORT, DB)


def batch():
    """The table of tables, as the program itself writes it."""
    subprocess.run(["vd", "-b", "-y", url, "-o", "tables.json"], check=True, capture_output=True)
    with open("tables.json") as f:
        return {r.pop("TABLE_NAME" if "TABLE_NAME" in r else "table_name"): r for r in json.load(f)}


def opened(table):
    """A table's sheet, fully loaded."""
    sql = mysql.SQL(urllib.parse.urlparse(url))
    with sql.cur("SELECT * FROM " + table) as cur:
        sheet = mysql.MyTable(table, source=table, sql=sql)
        sheet.rows = [cur.fetchone()]
        mysql.cursorToColumns(cur, sheet)
        sheet.rows += cur.fetchall()
        return sheet


def public():
    s = opened("products")
    names = [c.name for c in s.columns]
    i, p = names.index("id"), names.index("price")
    return [[r[i], r[p]] for r in sorted(s.rows)[:3]]


tables = batch()
say("connect", "n/a: it asks for no version")
check("list", lambda: sorted(tables))
say("describe", "n/a: it shows columns of rows only")
say("group", "n/a: it sends no statements of one's own")
check("public", public)
say("prepared", "n/a: the driver under it has no prepared statements")
check("text", lambda: [r for r in opened("products").rows if r[0] == 7][0][1])
check("error", lambda: refused(lambda: opened("people")))
extra("number of columns", lambda: tables["people"]["ncols"] == 6 or tables)
extra("no number of rows of the protected table", lambda: tables["people"].get("est_nrows") in (None, 0, "") or tables)
