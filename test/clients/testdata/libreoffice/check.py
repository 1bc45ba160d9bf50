"""Drives LibreOffice without a window by UNO: its connector to MySQL, and what Base's windows ask of it."""
import subprocess
import time
import uno
from com.sun.star.beans import PropertyValue
from matrix import *

office = subprocess.Popen(["soffice", "--headless", "--norestore", "--nologo", "--nofirststartwizard",
                           "-env:UserInstallation=file://" + os.path.abspath("profile"),
                           "--accept=pipe,name=scrim%d;urp" % os.getpid()], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def context():
    """The office's component context, once it listens."""
    local = uno.getComponentContext()
    resolver = local.ServiceManager.createInstanceWithContext("com.sun.star.bridge.UnoUrlResolver", local)
    for _ in range(120):
        try:
            return resolver.resolve("uno:pipe,name=scrim%d;urp;StarOffice.ComponentContext" % os.getpid())
        except Exception:
            time.sleep(0.5)
    raise RuntimeError("LibreOffice did not start")


def connect(ctx):
    properties = [PropertyValue("user", 0, USER, 0), PropertyValue("password", 0, PASSWORD, 0)]
    manager = ctx.ServiceManager.createInstanceWithContext("com.sun.star.sdbc.DriverManager", ctx)
    return manager.getConnectionWithInfo("sdbc:mysqlc:%s:%d/%s" % (HOST, PORT, DB), tuple(properties))


def read(result, columns, text=()):
    out = []
    while result.next():
        row = [result.getString(i) if i in text else result.getDouble(i) for i in columns]
        out.append(row if len(row) > 1 else row[0])
    return out


ctx = context()
try:
    c = connect(ctx)
    m = c.getMetaData()

    def ask(sql, columns, text=()):
        return read(c.createStatement().executeQuery(sql), columns, text)

    def prepared(sql, set_value, columns, text=()):
        s = c.prepareStatement(sql)
        set_value(s)
        return read(s.executeQuery(), columns, text)

    check("connect", m.getDatabaseProductVersion)
    # The kinds that Base itself asks for.
    def tables(*columns):
        return sorted(read(m.getTables(None, DB, "%", ("VIEW", "TABLE", "%")), columns, columns))

    check("list", lambda: tables(3))
    check("describe", lambda: read(m.getColumns(None, DB, "people", "%"), [4, 6], [4, 6]))
    check("group", lambda: ask(GROUP, [1, 2, 3], [1]))
    check("public", lambda: ask(PUBLIC, [1, 2]))
    check("prepared", lambda: prepared(PREPARED.replace("%s", "?"), lambda s: s.setInt(1, 3), [1, 2]))
    check("text", lambda: prepared(TEXT.replace("%s", "?"), lambda s: s.setString(1, TITLE), [1], [1])[0])
    check("error", lambda: refused(lambda: ask("SELECT * FROM people", [1])))
    extra("kinds of tables", lambda: tables(3, 4) == [["dear", "VIEW"], ["people", "TABLE"], ["products", "TABLE"]] or tables(3, 4))
    extra("primary key", lambda: read(m.getPrimaryKeys(None, DB, "products"), [4], [4]) == ["id"] or read(m.getPrimaryKeys(None, DB, "products"), [4], [4]))
    extra("names in double quotes", lambda: ask('SELECT "title" FROM "shop"."products" WHERE "id" = 7', [1], [1]) == [TITLE])
    extra("dates", lambda: c.createStatement().executeQuery(PUBLIC) and ask("SELECT made FROM products WHERE id = 1", [1], [1])[0].startswith("2025-"))
    c.close()
finally:
    office.terminate()
    office.wait(20)
