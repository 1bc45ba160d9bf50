"""Answers with their intervals, warnings and cost."""
from __future__ import annotations

import json
import warnings
from typing import Any, Optional

import pandas as pd
from pymysql.connections import Connection

from . import facts
from .connection import Result, chosen
from .select import Select, parse, single
from .warning import remarks

_SUFFIX = {"DP_LOW": "_low", "DP_HIGH": "_high", "DP_INFO": "_info"}


def read_sql(sql: str, conn: Optional[Connection] = None, params: Any = None, *, intervals: bool = True,
             level: Optional[float] = None, info: bool = False) -> pd.DataFrame:
    """The answer of one statement as a frame.

    In a private answer a value n is followed by n_low and n_high, the ends of its 95 % interval,
    or of that at a level, where the server gives them for the same price; both are NaN where none
    is known. With info a column n_info says what its error is made of, as a dict. WITH, UNION,
    DISTINCT and aggregates with an alias but no AS have none: select DP_LOW(n) in the statement.

    The interval of a quantile takes a fifth of the loss of the statement's quantiles, which is the
    same in all: intervals=False gives a sharper quantile without one.

    params fill place holders (%s, %(name)s) as PyMySQL does. What the server remarks is told as
    AnswerWarning. df.attrs has

        sql        what was sent
        private    whether protected tables were read
        cost       a dict for each account that was charged, or whose stored answer this is
        ledger_id  the ledger's entry: of the charge, or of that whose answer this is; None where
                   nothing private was read
        values     the columns that have an interval
        level      its level
    """
    if level is not None and not 0 < level < 1:
        raise ValueError("want a level between 0 and 1, have %r" % level)
    conn = chosen(conn)
    if params is not None:
        with conn.cursor() as c:
            sql = c.mogrify(sql, params)
    query = single(sql)
    own = _losses(conn, query)
    private = bool(own)
    bars = (["DP_LOW", "DP_HIGH"] if intervals else []) + (["DP_INFO"] if info else [])
    select = parse(query) if private and bars else None
    items = _with_bars(conn, select, own, bars, level) if select else []
    if select and items:
        query = select.extended(items, bars, level)
    result = Result(conn, query)
    told = remarks(conn, private) if private or result.warnings else []
    df = _beside(result, items, bars)
    cost = facts.cost(conn) if private else []
    first: dict[str, Any] = cost[0] if cost else {}
    df.attrs.update(sql=query, private=private, cost=cost, ledger_id=first.get("replay_of", first.get("ledger_id")),
                    values=[result.columns[i] for i in items] if intervals else [], level=level or 0.95)
    for w in told:
        warnings.warn(w, stacklevel=2)
    return df


def _losses(conn: Connection, query: str) -> Optional[list[dict[str, Any]]]:
    """The losses of a query; None of what has no price: it is refused, or is no SELECT."""
    try:
        return facts.losses(conn, query)
    except conn.Error:
        return None


def _with_bars(conn: Connection, select: Select, own: Any, bars: list[str], level: Optional[float]) -> list[int]:
    """The items whose error bars cost nothing: the loss of every budget is the same with them. All
    at once if that is so, else each that is so by itself."""
    def free(items: list[int]) -> bool:
        return bool(items) and _losses(conn, select.extended(items, bars, level)) == own

    items = select.candidates()
    if not free(items):
        items = [i for i in items if free([i])]
        if not free(items):
            return []
    return items


def _beside(r: Result, items: list[int], bars: list[str]) -> pd.DataFrame:
    """The frame, with the error bars, which are the last columns, beside the values that they are
    of."""
    own = len(r.columns) - len(items) * len(bars)
    order, names = [], []
    for i, name in enumerate(r.columns[:own]):
        order.append(i)
        names.append(name)
        if i in items:
            at = own + items.index(i) * len(bars)
            order += range(at, at + len(bars))
            names += [name + _SUFFIX[b] for b in bars]
    rows = [tuple(row[i] for i in order) for row in r.rows]
    df = pd.DataFrame.from_records(rows, columns=names, coerce_float=True)
    for i, name in enumerate(names):
        if order[i] >= own and bars[(order[i] - own) % len(bars)] == "DP_INFO":
            df.isetitem(i, pd.Series([json.loads(v) if v else None for v in df.iloc[:, i]], dtype=object))
        elif order[i] >= own and df.iloc[:, i].isna().all():
            df.isetitem(i, pd.Series([float("nan")] * len(df), dtype=float))
    return df
