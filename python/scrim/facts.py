"""Prices, budgets, and what an answer cost."""
from __future__ import annotations

from typing import Any, Optional

import pandas as pd
from pymysql.connections import Connection

from .connection import Result, chosen
from .select import single

_BUDGET = ("SELECT account_type, account, principal, epsilon, rho, delta, budget_window, "
           "spent_epsilon, remaining_epsilon, remaining_rho, questions_left FROM dp.budgets")

# In this form only the last entry is read.
_LAST_ENTRY = "SELECT id FROM dp.ledger ORDER BY id DESC LIMIT 1"

_COSTS = """SELECT l.id AS ledger_id, l.entry, l.account_type, l.account, l.epsilon, l.delta, l.pure_epsilon, l.rho,
    l.remaining_epsilon, l.remaining_rho, (SELECT MIN(b.questions_left) FROM dp.budgets b
        WHERE b.account = l.account AND b.account_type = l.account_type) AS questions_left, l.replay_of, l.digest
    FROM dp.ledger l WHERE l.id > %d AND l.principal = CURRENT_USER() AND l.entry IN ('charge', 'replay')
    ORDER BY l.id, l.account_type DESC"""


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


class Spent:
    """What the account is charged from here on. Neither the ledger nor stored answers name a
    connection: what another session of the account asks meanwhile is among it."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn
        entries = Result(conn, _LAST_ENTRY).rows
        self._entry = int(entries[0][0]) if entries else 0
        self._used = Result(conn, "SELECT MAX(last_used) FROM dp.replays").rows[0][0]

    def costs(self) -> list[dict[str, Any]]:
        """A dict for each account that was charged, or whose stored answer was given.

        A charge is in the ledger before its answer is given. The use of a stored answer is written
        a moment later, and then for the first time in an hour only, so that an entry may be of an
        earlier statement: the list of stored answers says which was used. replay_of is missing
        where that does not know it yet, as of an answer that is asked for again at once.
        """
        new = Result(self._conn, _COSTS % self._entry).records()
        charged = [r["digest"] for r in new if r["entry"] == "charge"]
        if charged:
            new = [r for r in new if r["digest"] == charged[-1]]
        else:
            since = "> %s" % self._conn.escape(self._used) if self._used else "IS NOT NULL"
            of = Result(self._conn, "SELECT DISTINCT ledger_id FROM dp.replays WHERE last_used " + since).rows
            paid = of[0][0] if len(of) == 1 else None
            new = [r for r in new if r["replay_of"] == paid] or [{"entry": "replay", "replay_of": paid}]
        return [{k: v for k, v in r.items() if v is not None and k != "digest"} for r in new]
