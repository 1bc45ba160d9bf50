"""Private answers of a Scrim server as pandas frames.

    conn = scrim.connect("mysql://ann:password@127.0.0.1:3307/shop")
    df = scrim.read_sql("SELECT region, COUNT(*) AS n FROM orders GROUP BY region", conn)

df has the columns region, n, n_low and n_high: the ends of the 95 % interval of n. What the
answer cost is in df.attrs; what has to be known of it is a Python warning, an AnswerWarning.
"""
from .answer import read_sql
from .chart import plot
from .connection import connect
from .facts import budget, price
from .warning import AnswerWarning

__all__ = ["AnswerWarning", "budget", "connect", "plot", "price", "read_sql"]
