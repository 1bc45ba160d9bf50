import math
import warnings

import pymysql
import pytest

import scrim

BY_DEPARTMENT = "SELECT dept, COUNT(*) AS n, AVG(amount) AS a FROM people GROUP BY dept ORDER BY dept"
TRUTH = {"law": 900, "sales": 600, "tech": 497, "zoo": 3}


def ask(sql, conn, *args, **keywords):
    """The answer, and the warnings' codes."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        df = scrim.read_sql(sql, conn, *args, **keywords)
    assert all(w.category is scrim.AnswerWarning for w in told)
    return df, [w.message for w in told]


def test_values_with_their_ends(conn):
    df, told = ask(BY_DEPARTMENT, conn)
    assert list(df.columns) == ["dept", "n", "n_low", "n_high", "a", "a_low", "a_high"]
    for row in df.itertuples():
        # an interval misses once in twenty; twice its length, once in 10,000
        length = row.n_high - row.n_low
        assert abs(TRUTH[row.dept] - row.n) < 2 * length and 0 <= row.n_low <= row.n <= row.n_high
    assert math.isnan(df.set_index("dept").a["zoo"]) and math.isnan(df.set_index("dept").a_low["zoo"])
    assert df.attrs["private"] and df.attrs["values"] == ["n", "a"] and df.attrs["level"] == 0.95
    few = [w for w in told if w.code == "TOO_FEW_PERSONS"]
    assert len(few) == 1 and few[0].level == "Warning" and few[0].remedy and not few[0].text.startswith("TOO_FEW")


def test_cost_and_the_entry_of_the_ledger(conn):
    sql = "SELECT COUNT(*) AS n FROM people WHERE year > 2021"
    left = scrim.budget(conn).remaining_epsilon.max()
    charged, _ = ask(sql, conn)
    cost = charged.attrs["cost"][0]
    assert cost["entry"] == "charge" and cost["account"] == "shop.people" and cost["remaining_epsilon"] < left
    assert charged.attrs["ledger_id"] == cost["ledger_id"] > 0
    again, _ = ask(sql + ";", conn)
    assert again.attrs["cost"][0]["entry"] == "replay"
    assert again.attrs["ledger_id"] == charged.attrs["ledger_id"]
    assert again.n[0] == charged.n[0] and again.n_low[0] == charged.n_low[0]


def test_intervals_never_cost_more(conn):
    # the interval of a quantile takes a part of its loss, which stays the same in all
    sql = "SELECT COUNT(*) AS n, DP_MEDIAN(minutes) AS m FROM visits"
    df, _ = ask(sql, conn)
    plain = scrim.price(sql, conn)
    assert set(plain[plain["item"] == "budget"].rho.dropna()) <= {c["rho"] for c in df.attrs["cost"]}
    assert {"n_low", "m_low"} <= set(df.columns)


def test_hints_stay_where_they_are(conn):
    df, _ = ask("SELECT /*+ SET_VAR(dp_epsilon=0.1) */ COUNT(*) AS n FROM visits", conn)
    wide, _ = ask("SELECT /*+ SET_VAR(dp_epsilon=2) */ COUNT(*) AS n FROM visits", conn)
    assert df.attrs["cost"][0]["rho"] < wide.attrs["cost"][0]["rho"] / 50 and "n_high" in wide.columns


def test_level_and_what_the_error_is_made_of(conn):
    wide, _ = ask("SELECT COUNT(*) AS n FROM visits", conn, level=0.999, info=True)
    narrow, _ = ask("SELECT COUNT(*) AS n FROM visits", conn, level=0.5)
    assert wide.n_high[0] - wide.n_low[0] > 2 * (narrow.n_high[0] - narrow.n_low[0])
    assert wide.n_info[0]["noise"] > 0 and wide.attrs["level"] == 0.999
    with pytest.raises(ValueError, match="between 0 and 1"):
        scrim.read_sql("SELECT COUNT(*) FROM visits", conn, level=95)


def test_without_intervals(conn):
    df, _ = ask(BY_DEPARTMENT, conn, intervals=False)
    assert list(df.columns) == ["dept", "n", "a"] and df.attrs["cost"]


def test_own_error_bars_stay(conn):
    df, _ = ask("SELECT COUNT(*) AS n, DP_STDERR(n) AS e FROM people", conn)
    assert list(df.columns) == ["n", "n_low", "n_high", "e"] and df.e[0] > 0


def test_public_answers(conn):
    df, told = ask("SELECT title, price FROM products WHERE title LIKE '50%' ORDER BY id", conn)
    assert df.to_dict("records") == [{"title": "50% off", "price": 9.99}] and told == []
    assert df.attrs["cost"] == [] and df.attrs["ledger_id"] is None and not df.attrs["private"]
    assert list(scrim.read_sql("SHOW TABLES").iloc[:, 0]) == ["people", "products", "visits"]


def test_parameters(conn):
    df, _ = ask("SELECT COUNT(*) AS n FROM people WHERE dept = %s", conn, ["law"])
    assert abs(df.n[0] - 900) < 100 and "n_low" in df.columns
    df, _ = ask("SELECT id FROM products WHERE title = %(title)s", conn, {"title": "FROM"})
    assert list(df["id"]) == [2]


def test_refusals_say_why_and_cost_nothing(conn):
    left = scrim.budget(conn).remaining_epsilon.max()
    with pytest.raises(pymysql.err.MySQLError, match="(?i)aggregate"):
        scrim.read_sql("SELECT * FROM people", conn)
    assert scrim.budget(conn).remaining_epsilon.max() == left


def test_a_warning_may_be_an_error(conn):
    with warnings.catch_warnings():
        warnings.simplefilter("error", scrim.AnswerWarning)
        with pytest.raises(scrim.AnswerWarning, match="TOO_FEW_PERSONS"):
            scrim.read_sql(BY_DEPARTMENT, conn)


def test_price_and_budget(conn):
    lines = scrim.price(BY_DEPARTMENT, conn)
    assert {"budget", "answer"} <= set(lines["item"]) and (lines[lines["item"] == "budget"].epsilon.dropna() > 0).any()
    budgets = scrim.budget(conn)
    assert (budgets.account == "shop.people").any() and (budgets.questions_left.dropna() > 0).all()


def test_the_last_connection_is_the_default(url, conn, monkeypatch):
    assert scrim.price("SELECT COUNT(*) FROM people").equals(scrim.price("SELECT COUNT(*) FROM people", conn))
    conn.close()
    with pytest.raises(ValueError, match="scrim.connect"):
        scrim.budget()
    monkeypatch.setenv("SCRIM_URL", url)
    with scrim.connect() as other:
        assert len(scrim.budget()) == len(scrim.budget(other)) > 0


def test_urls():
    with pytest.raises(ValueError, match="begins with"):
        scrim.connect("postgresql://ann@localhost/shop")
    with pytest.raises(ValueError, match="unknown option 'colour'"):
        scrim.connect("mysql://ann@localhost/shop?colour=red")


def test_urls_name_what_pymysql_takes():
    from scrim.connection import parse
    assert parse("mysql+pymysql://ann:a%40b@db:3307/shop?ssl_ca=ca.pem&ssl_verify_cert=true&read_timeout=9") == {
        "host": "db", "port": 3307, "user": "ann", "password": "a@b", "database": "shop",
        "ssl_ca": "ca.pem", "ssl_verify_cert": True, "read_timeout": 9}
