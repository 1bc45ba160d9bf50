"""What a server remarks on an answer, as Python's warnings."""
from __future__ import annotations

from typing import Any, Optional

from pymysql.connections import Connection

from .connection import Result


class AnswerWarning(UserWarning):
    """A remark of the server on an answer.

    code is its name, such as TOO_FEW_PERSONS, or MySQL's number; level is Warning, Note or Error;
    text says what happened, and remedy what would do, if anything.
    """

    def __init__(self, code: str, text: str, remedy: Optional[str] = None, level: str = "Warning") -> None:
        self.code, self.text, self.remedy, self.level = code, text, remedy, level
        super().__init__("%s: %s%s" % (code, text, " " + remedy if remedy else ""))


def remarks(conn: Connection, private: bool) -> list[AnswerWarning]:
    """What the server remarks on the statement before."""
    if private:
        rows = Result(conn, "SELECT level, code, message, remedy FROM dp.last_warnings").rows
        return [AnswerWarning(str(code), without(code, text), remedy, level) for level, code, text, remedy in rows]
    return [AnswerWarning(str(code), text, None, level) for level, code, text in Result(conn, "SHOW WARNINGS").rows]


def without(code: Any, text: str) -> str:
    """A message without the code that it may begin with."""
    head = "%s: " % code
    return text[len(head):] if text.startswith(head) else text
