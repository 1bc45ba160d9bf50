"""Prices, budgets, and what an answer cost."""
from __future__ import annotations

from typing import Any, Optional

import pandas as pd
from pymysql.connections import Connection

from .connection import Result, chosen
from .select import single

_BUDGET = ("SELECT account_type, account, principal, epsilon, rho, delta, budget_window, "
           "spent_epsilon, remaining_epsilon, remaining_rho, questions_left FROM dp.budgets")

_COST = """SELECT c.id AS ledger_id, c.entry, c.account_type, c.account, c.epsilon, c.delta, c.pure_epsilon, c.rho,
    c.remaining_epsilon, c.remaining_rho, (SELECT MIN(b.questions_left) FROM dp.budgets b
        WHERE b.account = c.account AND b.account_type = c.account_type) AS questions_left, c.replay_of
    FROM dp.last_cost c ORDER BY c.id, c.account_type DESC"""


def frame(r: Result) -> pd.DataFrame:
    """An answer as a frame; decimals are floats."""
    return pd.DataFrame.from_records(r.rows, columns=r.columns, coerce_float=True)


def price(sql: str, conn: Optional[Connection] = None) -> pd.DataFrame:
    """What a query would cost: a row for each budget, with what it leaves and how many more fit,
    and one for each aggregate, with its expected error and the persons that it needs. It charges
    nothing.

    read_sql asks for intervals only where they leave this as it is.
    """
    conn = chosen(conn)
    return frame(Result(conn, pricing(conn, single(sql))))


def budget(conn: Optional[Connection] = None) -> pd.DataFrame:
    """The budgets that the account may see, what is left of them, and how many questions at the
    default loss that is."""
    return frame(Result(chosen(conn), _BUDGET))


def pricing(conn: Connection, query: str) -> str:
    """The statement that prices a query."""
    return "CALL dp_price(%s)" % conn.escape(query)


def losses(conn: Connection, query: str) -> list[dict[str, Any]]:
    """The price's lines of budgets: none of a query that reads nothing private."""
    return [r for r in Result(conn, pricing(conn, query)).records() if r["item"] == "budget"]


def cost(conn: Connection) -> list[dict[str, Any]]:
    """What the connection's last private statement cost: a dict for each account that was charged,
    or whose stored answer was given."""
    return [{k: v for k, v in r.items() if v is not None} for r in Result(conn, _COST).records()]
