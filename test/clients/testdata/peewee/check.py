import peewee as pw
from playhouse.reflection import generate_models
from matrix import *

db = pw.MySQLDatabase(DB, charset="utf8mb4", **LOGIN)
db.connect()
describing = pw.MySQLDatabase(DB, charset="utf8mb4", init_command="SET dp_preview = 'empty'", **LOGIN)
models = generate_models(describing, table_names=["people", "products"])
People, Products = models["people"], models["products"]
for m in People, Products:
    m.bind(db)


def ask(q):
    return [list(r) for r in q.tuples()]


def group():
    a, n = pw.fn.AVG(People.amount).alias("a"), pw.fn.COUNT(pw.SQL("*")).alias("n")
    return ask(People.select(People.dept, a, n).group_by(People.dept).order_by(People.dept))


check("connect", lambda: db.execute_sql("SELECT VERSION()").fetchone()[0])
check("list", db.get_tables)
check("describe", lambda: [[c.name, c.data_type] for c in db.get_columns("people")])
check("group", group)
check("public", lambda: ask(Products.select(Products.id, Products.price).where(Products.id <= 3).order_by(Products.id)))
check("prepared", lambda: prepared(lambda sql: rows(db.execute_sql(sql))))
check("text", lambda: Products.get(Products.title == TITLE).title)
check("error", lambda: refused(lambda: ask(People.select())))
extra("models from tables", lambda: (t := [f.field_type for f in (People.amount, People.joined, Products.price, Products.made)]) == ["DECIMAL", "DATE", "FLOAT", "DATETIME"] or t)
extra("views", lambda: (v := [v.name for v in db.get_views()]) == ["dear"] or v)
extra("keys and indexes", lambda: db.get_primary_keys("products") == ["id"] and db.get_foreign_keys("products") == [] and db.get_indexes("products") is not None)
extra("PIPES_AS_CONCAT", lambda: db.execute_sql("SELECT 'a' || 'b'").fetchone()[0] == "ab")
extra("count and exists", lambda: Products.select().count() == 1000 and Products.select().where(Products.id == 7).exists())
