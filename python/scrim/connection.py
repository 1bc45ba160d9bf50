"""Connections, and what is asked on them."""
from __future__ import annotations

import os
from typing import Any, Optional
from urllib.parse import parse_qsl, unquote, urlsplit

import pymysql
from pymysql.connections import Connection

SCHEMES = ("mysql", "mysql+pymysql", "scrim")


def _flag(text: str) -> bool:
    words = {"1": True, "true": True, "0": False, "false": False}
    if text.lower() not in words:
        raise ValueError("want true or false, have %r" % text)
    return words[text.lower()]


# What a URL may say behind its question mark: PyMySQL's keywords, and how each is read.
OPTIONS: dict[str, Any] = {
    "charset": str, "init_command": str, "unix_socket": str,
    "connect_timeout": int, "read_timeout": int, "write_timeout": int,
    "ssl_ca": str, "ssl_cert": str, "ssl_key": str,
    "ssl_verify_cert": _flag, "ssl_verify_identity": _flag, "ssl_disabled": _flag,
}

_last: Optional[Connection] = None


def connect(url: Optional[str] = None, **keywords: Any) -> Connection:
    """Opens a connection, by a URL or by PyMySQL's keywords, which go before the URL.

        connect("mysql://ann:password@db.example.org:3307/shop?ssl_ca=ca.pem")
        connect(host="127.0.0.1", port=3307, user="ann", password="…", database="shop")

    Without either the URL is that of the environment variable SCRIM_URL. The connection is
    PyMySQL's; read_sql, price and budget take the one opened last where none is given.
    """
    global _last
    if url is None and not keywords:
        url = os.environ.get("SCRIM_URL")
        if not url:
            raise ValueError("want a URL or keywords, or the environment variable SCRIM_URL: "
                             "connect('mysql://ann:password@127.0.0.1:3307/shop')")
    options = parse(url) if url is not None else {}
    options.update(keywords)
    options.setdefault("charset", "utf8mb4")
    options.setdefault("autocommit", True)  # else a transaction shows public tables as they were at its begin
    _last = pymysql.connect(**options)
    return _last


def parse(url: str) -> dict[str, Any]:
    """The keywords that a URL stands for."""
    u = urlsplit(url)
    if u.scheme not in SCHEMES:
        raise ValueError("want a URL that begins with one of %s, have %r"
                         % (", ".join(s + "://" for s in SCHEMES), u.scheme))
    out: dict[str, Any] = {"host": u.hostname or "127.0.0.1", "port": u.port or 3306}
    if u.username:
        out["user"] = unquote(u.username)
    if u.password is not None:
        out["password"] = unquote(u.password)
    if u.path.strip("/"):
        out["database"] = unquote(u.path.strip("/"))
    for name, value in parse_qsl(u.query, keep_blank_values=True):
        if name not in OPTIONS:
            raise ValueError("unknown option %r of a URL: want one of %s" % (name, ", ".join(OPTIONS)))
        out[name] = OPTIONS[name](value)
    return out


def chosen(conn: Optional[Connection]) -> Connection:
    """The connection given, or the one that connect has opened last."""
    if conn is not None:
        return conn
    if _last is None or not _last.open:
        raise ValueError("no connection is open: call scrim.connect first, or pass one")
    return _last


class Result:
    """One answer: names, rows, and how many warnings the server has about it."""

    def __init__(self, conn: Connection, sql: str) -> None:
        # A plain cursor, whatever class of cursors the connection has: rows are tuples.
        with conn.cursor(pymysql.cursors.Cursor) as c:
            c.execute(sql)
            about = c.description or ()
            self.columns = [str(d[0]) for d in about]
            self.rows: list[tuple[Any, ...]] = list(c.fetchall()) if about else []
            self.warnings: int = getattr(getattr(c, "_result", None), "warning_count", 0) or 0

    def records(self) -> list[dict[str, Any]]:
        """The rows by the names of their columns."""
        return [dict(zip(self.columns, row)) for row in self.rows]
