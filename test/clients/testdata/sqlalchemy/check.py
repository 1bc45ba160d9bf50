import pandas as pd
import sqlalchemy as sa
from sqlalchemy import func, select
from matrix import *


def engine(user, password):
    url = sa.engine.URL.create("mysql+pymysql", user, password, HOST, PORT, DB, query={"charset": "utf8mb4"})
    return sa.create_engine(url)


ann = engine(USER, PASSWORD)
browse = sa.inspect(ann)
people = sa.Table("people", sa.MetaData(), autoload_with=ann)
products = sa.Table("products", sa.MetaData(), autoload_with=ann)


def ask(statement):
    with ann.connect() as c:
        return [list(r) for r in c.execute(statement)]


def group():
    p = people.c
    average, n = func.avg(p.amount).label("a"), func.count().label("n")
    return ask(select(p.dept, average, n).group_by(p.dept).order_by(p.dept))


def public():
    p = products.c
    return ask(select(p.id, p.price).where(p.id <= 3).order_by(p.id))


def in_sql():
    """A statement prepared in SQL, over one connection of the pool."""
    with ann.connect() as c:
        def run(sql):
            r = c.execute(sa.text(sql))
            return [list(row) for row in r] if r.returns_rows else []
        return prepared(run)


check("connect", lambda: ask(sa.text("SELECT VERSION()"))[0][0])
check("list", browse.get_table_names)
check("describe", lambda: [[c["name"], str(c["type"])] for c in browse.get_columns("people")])
check("group", group)
check("public", public)
check("prepared", in_sql)
check("text", lambda: ask(select(products.c.title).where(products.c.title == TITLE))[0][0])
check("error", lambda: refused(lambda: ask(select(people))))


def reflected():
    types = [type(c.type).__name__ for c in people.columns]
    key = [c.name for c in products.primary_key]
    return types == ["BIGINT", "VARCHAR", "VARCHAR", "INTEGER", "DECIMAL", "DATE"] and key == ["id"] or (types, key)


def frame():
    f = pd.read_sql(GROUP, ann)
    return list(f.columns) == ["dept", "a", "n"] and len(f) == 4 and f["a"].mean() > 10


def written():
    """A public table made by the DBA from a frame, read back by the analyst."""
    root = engine(DBA, DBA_PASSWORD)
    f = pd.DataFrame({"k": [1, 2, 3], "v": [0.5, 1.25, -3.0], "s": ["a", TITLE, None], "d": pd.to_datetime(["2025-01-01"] * 3)})
    f.to_sql("from_pandas", root, index=False, if_exists="replace")
    with root.connect() as c:
        c.execute(sa.text("CALL dp_public('shop.from_pandas')"))
    try:
        back = pd.read_sql_table("from_pandas", ann)
        return back.equals(f) or back.to_json()
    finally:
        with root.connect() as c:
            c.execute(sa.text("DROP TABLE shop.from_pandas"))


def metadata():
    return {
        "views": browse.get_view_names(), "pk": browse.get_pk_constraint("products")["constrained_columns"],
        "fk": browse.get_foreign_keys("products"), "indexes": [i["name"] for i in browse.get_indexes("products")],
        "unique": browse.get_unique_constraints("products"), "checks": browse.get_check_constraints("products"),
        "comment": browse.get_table_comment("products")["text"], "schemas": sorted(browse.get_schema_names()),
        "definition": bool(browse.get_view_definition("dear")),
    }


def views():
    m = metadata()
    return m["views"] == ["dear"] and m["pk"] == ["id"] and m["fk"] == [] and DB in m["schemas"] and m["definition"] or m


def orm():
    from sqlalchemy.orm import Session, declarative_base
    base = declarative_base()
    product = type("Product", (base,), {"__table__": sa.Table("products", base.metadata, autoload_with=ann)})
    with Session(ann) as s:
        found = s.query(product).filter(product.title == TITLE).one()
        return found.id == 7 and s.query(product).count() == 1000


extra("reflection", reflected)
extra("views, keys, indexes, comments", views)
extra("pandas.read_sql", frame)
extra("pandas.read_sql_table refused on the protected table", lambda: "ggregate" in refused(lambda: pd.read_sql_table("people", ann)))
extra("pandas.to_sql by the DBA", written)
extra("ORM", orm)
