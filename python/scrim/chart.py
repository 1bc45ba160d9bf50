"""A chart of an answer with its intervals."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

import pandas as pd
from pandas.api import types

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOR, _END = "#3b6ea5", "#333333"


def plot(df: pd.DataFrame, x: Optional[str] = None, y: Optional[str] = None, ax: Optional["Axes"] = None) -> "Axes":
    """Draws a value of an answer of read_sql over its key, with the intervals.

    x is the column of keys; by default all columns that are neither values nor their ends. Numbers
    and dates are ordered: they make a line; anything else makes bars. y is the value, by default
    the first that has an interval. An end of an interval that is not known is drawn dotted, with
    an arrow that points to where the answer may lie farther off; a value that is NULL is written
    as such.
    """
    import matplotlib.pyplot as plt

    values = [c for c in df.columns if c + "_low" in df.columns and c + "_high" in df.columns]
    if y is None:
        if not values:
            raise ValueError("no column has an interval (n, n_low, n_high): name the value, plot(df, y='n')")
        y = values[0]
    if y not in df.columns:
        raise ValueError("no column %r: want one of %s" % (y, ", ".join(df.columns)))
    if not (types.is_numeric_dtype(df[y]) or df[y].isna().all()):
        raise ValueError("column %r holds no numbers" % y)
    ax = ax if ax is not None else plt.figure(figsize=(7, 4), layout="constrained").add_subplot()
    d = _points(df, x, y, values)
    line = bool(len(d)) and _ordered(d["x"])
    if line:
        d = d.sort_values("x", kind="stable")
    at = list(d["x"]) if line else list(range(len(d)))
    if line:
        ax.plot(at, d["y"], "-o", color=_COLOR, markersize=4, zorder=2)
    else:
        ax.bar(at, d["y"], width=0.7, color=_COLOR, alpha=0.55, zorder=2)
        ax.set_xlim(-0.6, max(len(d), 1) - 0.4)  # values that are NULL have a place, too
        labels = ["NULL" if pd.isna(k) else str(k) for k in d["x"]]
        long = sum(map(len, labels)) > 60
        ax.set_xticks(at, labels, rotation=35 if long else 0, ha="right" if long else "center")
    _ends(ax, at, d)
    ax.set_xlabel(x if x is not None else ", ".join(_keys(df, y, values)))
    level = df.attrs.get("level")
    ax.set_ylabel("%s, %g %% intervals" % (y, 100 * level) if level and y in values else y)
    for side in "top", "right":
        ax.spines[side].set_visible(False)
    return ax


def _keys(df: pd.DataFrame, y: str, values: list[str]) -> list[str]:
    """The columns that are neither values nor tell of their errors."""
    taken = {y} | {v + s for v in values for s in ("", "_low", "_high", "_info")}
    return [c for c in df.columns if c not in taken]


def _points(df: pd.DataFrame, x: Optional[str], y: str, values: list[str]) -> pd.DataFrame:
    """The keys, values and ends."""
    keys = [x] if x is not None else _keys(df, y, values)
    if any(k not in df.columns for k in keys):
        raise ValueError("no column %r: want one of %s" % (x, ", ".join(df.columns)))
    d = pd.DataFrame(index=df.index)
    if not keys:
        d["x"] = y
    elif len(keys) == 1:
        d["x"] = df[keys[0]]
    else:
        d["x"] = [", ".join("NULL" if pd.isna(v) else str(v) for v in row) for row in df[keys].itertuples(index=False)]
    if len(d) and not types.is_numeric_dtype(d["x"]) and d["x"].map(_day).all():
        d["x"] = pd.to_datetime(d["x"])
    d["y"] = df[y].astype(float)
    for end in "low", "high":
        d[end] = df[y + "_" + end].astype(float) if y in values else float("nan")
    d["drawn"] = y in values
    return d.reset_index(drop=True)


def _day(v: Any) -> bool:
    """Whether a value is a date or a moment."""
    return hasattr(v, "year") and not pd.isna(v)


def _ordered(x: "pd.Series[Any]") -> bool:
    """Whether keys have distances: numbers or moments, none of them missing or twice."""
    return bool((types.is_numeric_dtype(x) or types.is_datetime64_any_dtype(x))
                and not types.is_bool_dtype(x) and x.notna().all() and x.is_unique and len(x) > 1)


def _ends(ax: "Axes", at: list[Any], d: pd.DataFrame) -> None:
    """Draws the intervals: known ends with a cap, unknown ones dotted to the edge with an arrow."""
    known = pd.concat([d["y"], d["low"], d["high"]]).dropna()
    if known.empty:
        known = pd.Series([0.0, 1.0])
    bottom, top = float(known.min()), float(known.max())
    if ax.patches:  # bars begin at 0
        bottom, top = min(bottom, 0.0), max(top, 0.0)
    pad = 0.12 * (top - bottom) or 1.0
    ax.set_ylim(bottom - pad if bottom < 0 or not ax.patches else 0.0, top + pad)
    edges = ax.get_ylim()
    for place, row in zip(at, d.itertuples(index=False)):
        if pd.isna(row.y):
            ax.text(place, edges[0] + 0.02 * (edges[1] - edges[0]), "NULL", ha="center", va="bottom", color="#888888", fontsize=8)
            continue
        if not row.drawn:
            continue
        for end, edge, arrow in ((row.low, edges[0], "v"), (row.high, edges[1], "^")):
            if pd.isna(end):
                ax.plot([place, place], [row.y, edge], ":", color=_END, linewidth=1.2, zorder=3)
                ax.plot([place], [edge], arrow, color=_END, markersize=6, clip_on=False, zorder=3)
            else:
                ax.plot([place, place], [row.y, end], "-", color=_END, linewidth=1.2, zorder=3)
                ax.plot([place], [end], "_", color=_END, markersize=8, zorder=3)
