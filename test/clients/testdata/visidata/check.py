import json
import subprocess
import urllib.parse
import visidata
from visidata.loaders import mysql
from matrix import *

url = "mysql://%s:%s@%s:%d/%s" % (USER, PASSWORD, HOST, PORT, DB)


def batch():
    """The table of tables, as the program itself writes it."""
    subprocess.run(["vd", "-b", "-y", url, "-o", "tables.json"], check=True, capture_output=True)
    with open("tables.json") as f:
        return {r.pop("TABLE_NAME" if "TABLE_NAME" in r else "table_name"): r for r in json.load(f)}


def opened(table, database=DB):
    """A table's sheet, fully loaded."""
    sql = mysql.SQL(urllib.parse.urlparse(url[:-len(DB)] + database))
    with sql.cur("SELECT * FROM " + table) as cur:
        sheet = mysql.MyTable(table, source=table, sql=sql)
        sheet.rows = [cur.fetchone()]
        mysql.cursorToColumns(cur, sheet)
        sheet.rows += cur.fetchall()
        return sheet


def values(sheet, *wanted):
    """The rows of some of a sheet's columns."""
    names = [c.name for c in sheet.columns]
    return [[r[names.index(w)] for w in wanted] for r in sheet.rows]


def public():
    return sorted(values(opened("products"), "id", "price"))[:3]


def described():
    """The rows of one table in the catalogue's table of columns."""
    found = values(opened("columns", "information_schema"), "TABLE_SCHEMA", "TABLE_NAME", "ORDINAL_POSITION", "COLUMN_NAME", "DATA_TYPE")
    return [r[3:] for r in sorted(found) if r[:2] == [DB, "people"]]


tables = batch()
check("connect", lambda: values(opened("version", "sys"), "mysql_version")[0][0])
check("list", lambda: sorted(tables))
check("describe", described)
say("group", "n/a: it sends no statements of one's own")
check("public", public)
say("prepared", "n/a: it sends no statements of one's own")
check("text", lambda: [r for r in opened("products").rows if r[0] == 7][0][1])
check("error", lambda: refused(lambda: opened("people")))
extra("number of columns", lambda: tables["people"]["ncols"] == 6 or tables)
extra("no number of rows of the protected table", lambda: tables["people"].get("est_nrows") in (None, 0, "") or tables)
