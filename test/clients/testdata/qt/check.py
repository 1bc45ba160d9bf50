from PyQt5.QtCore import QCoreApplication, QDate, QDateTime
from PyQt5.QtSql import QSql, QSqlDatabase, QSqlQuery, QSqlTableModel
from matrix import *

app = QCoreApplication([])
db = QSqlDatabase.addDatabase("QMYSQL")
db.setHostName(HOST)
db.setPort(PORT)
db.setUserName(USER)
db.setPassword(PASSWORD)
db.setDatabaseName(DB)
if not db.open():
    print(db.lastError().text())


def ask(sql, *args):
    q = QSqlQuery(db)
    if args:
        if not q.prepare(sql):
            raise RuntimeError(q.lastError().text())
        for a in args:
            q.addBindValue(a)
    if not (q.exec() if args else q.exec(sql)):
        raise RuntimeError(q.lastError().text())
    out = []
    while q.next():
        out.append([q.value(i) for i in range(q.record().count())])
    return out


def described():
    r = db.record("people")
    return [[r.fieldName(i), r.field(i).type()] for i in range(r.count())]


check("connect", lambda: ask("SELECT VERSION()")[0][0])
check("list", lambda: db.tables(QSql.Tables))
check("describe", described)
check("group", lambda: ask(GROUP))
check("public", lambda: ask(PUBLIC))
check("prepared", lambda: ask(PREPARED.replace("%s", "?"), 3))
check("text", lambda: ask(TEXT.replace("%s", "?"), TITLE)[0][0])
check("error", lambda: refused(lambda: ask("SELECT * FROM people")))


def prepared_group():
    have = ask("SELECT dept, AVG(amount) AS a, COUNT(*) AS n FROM people WHERE age > ? GROUP BY dept ORDER BY dept", 20)
    return len(have) == 4 and all(float(r[1]) != int(float(r[1])) for r in have) or have


def model():
    m = QSqlTableModel(None, db)
    m.setTable("products")
    m.setFilter("id <= 10")
    return m.select() and m.rowCount() == 10 or m.lastError().text()


def refused_model():
    m = QSqlTableModel(None, db)
    m.setTable("people")
    return not m.select() and "ggregate" in m.lastError().text() or m.lastError().text()


extra("prepared on the protected table", prepared_group)
extra("primary key", lambda: db.primaryIndex("products").fieldName(0) == "id" or db.primaryIndex("products").fieldName(0))
extra("views", lambda: db.tables(QSql.Views) == ["dear"] or db.tables(QSql.Views))
extra("dates", lambda: isinstance(ask("SELECT made FROM products WHERE id = ?", 1)[0][0], QDateTime))
extra("dates as parameters", lambda: 0 < ask("SELECT COUNT(*) FROM people WHERE joined < ?", QDate(2020, 1, 1))[0][0] < 4000)
extra("table model of a public table", model)
extra("table model of the protected table says why not", refused_model)
db.close()
