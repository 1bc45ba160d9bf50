"""Reads the select list of a query by its text alone, to ask for intervals in the same statement.

The server's own clients do the same by the package internal/client, and both are tested with the
cases of internal/client/testdata/select.json. Whether an interval is known is for the server to
say.
"""
from __future__ import annotations

import re
from typing import Iterable, NamedTuple, Optional

_ALIAS = re.compile(r"^.*?\S\s+AS\s+(`[^`]+`|[a-z_][a-z_0-9]*)$", re.I | re.S)
_ERROR_BAR = re.compile(r"^DP_(LOW|HIGH|STDERR|RADIUS|INFO)\s*\(", re.I)


def _comment(text: str, i: int) -> bool:
    return text.startswith(("/*", "#", "-- ", "--\n", "--\t"), i) or text[i:] == "--"


def skip(text: str, i: int) -> int:
    """The place after the quoted text, the comment or the character at i."""
    c = text[i]
    if c in "'\"`":
        j = i + 1
        while j < len(text):
            if text[j] == c:
                return j + 1  # a doubled quote is a second text
            j += 2 if text[j] == "\\" and c != "`" else 1
        return len(text)
    if text.startswith("/*", i):
        end = text.find("*/", i + 2)
        return end + 2 if end >= 0 else len(text)
    if _comment(text, i):
        end = text.find("\n", i)
        return end + 1 if end >= 0 else len(text)
    return i + 1


def _blank(text: str, i: int) -> int:
    """The place after white space, semicolons and comments; comments that a server reads are none."""
    while i < len(text):
        if text[i] in " \t\r\n;":
            i += 1
        elif _comment(text, i) and not text.startswith(("/*!", "/*+"), i):
            i = skip(text, i)
        else:
            break
    return i


def single(text: str) -> str:
    """The one statement of a text, without its end."""
    start = i = _blank(text, 0)
    while i < len(text) and text[i] != ";":
        i = skip(text, i)
    query = text[start:i].strip()
    if not query or _blank(text, i) != len(text):
        raise ValueError("want exactly one statement, without anything after its semicolon; "
                         "send statements one after another")
    return query


def _letter(c: str) -> bool:
    return c in "_$" or c.isascii() and c.isalnum() or not c.isascii()


def _word(text: str, i: int, word: str) -> bool:
    end = i + len(word)
    return (text[i:end].upper() == word and (i == 0 or not _letter(text[i - 1]))
            and (end == len(text) or not _letter(text[end])))


def _item(text: str) -> str:
    """An expression without what stands around it; a hint is no part of it."""
    text = text.strip()
    return text[skip(text, 0):].strip() if text.startswith("/*") else text


class Select(NamedTuple):
    query: str
    at: int  # where FROM stands
    items: list[str]  # as they are written

    def candidates(self) -> list[int]:
        """The items that may have an interval: calls, but for those that tell of an error."""
        return [i for i, text in enumerate(self.items) if "(" in text and not _ERROR_BAR.match(text)]

    def extended(self, items: Iterable[int], bars: Iterable[str] = ("DP_LOW", "DP_HIGH"), level: Optional[float] = None) -> str:
        """The query with the error bars of some items, by their indices, after its select list."""
        out = self.query[:self.at].rstrip(" \t\r\n")
        for i in items:
            m = _ALIAS.match(self.items[i])
            answer = m.group(1) if m else self.items[i]
            for bar in bars:
                argument = ", %r" % level if level is not None and bar != "DP_INFO" else ""
                out += ", %s(%s%s)" % (bar, answer, argument)
        return out + " " + self.query[self.at:]


def parse(query: str) -> Optional[Select]:
    """The select list of SELECT … FROM …; None where the text is not so simple: DISTINCT, * as a
    column, or no FROM."""
    if not _word(query, 0, "SELECT"):
        return None
    items: list[str] = []
    depth, start, i = 0, len("SELECT"), len("SELECT")
    while i < len(query):
        c = query[i]
        if c == "(":
            depth += 1
        elif c == ")":
            depth -= 1
        elif c == "," and depth == 0:
            items.append(_item(query[start:i]))
            start = i + 1
        elif c in "Ff" and depth == 0 and _word(query, i, "FROM"):
            items.append(_item(query[start:i]))
            if _word(items[0], 0, "DISTINCT") or any(not t or t.endswith("*") for t in items):
                return None
            return Select(query, i, items)
        i = skip(query, i)
    return None
