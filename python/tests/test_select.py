import json
import pathlib

import pytest

from scrim import select

CASES = pathlib.Path(__file__).resolve().parents[2] / "internal" / "client" / "testdata" / "select.json"


@pytest.mark.parametrize("case", json.loads(CASES.read_text(encoding="utf-8")), ids=lambda c: c["query"])
def test_as_the_servers_own_clients(case):
    got = select.parse(case["query"])
    if "items" not in case:
        assert got is None
        return
    assert got.items == case["items"]
    assert got.extended(case["with"]) == case["extended"]


def test_levels_and_facts():
    s = select.parse("SELECT k, COUNT(*) AS n FROM t GROUP BY k")
    assert s.extended([1], ["DP_LOW", "DP_INFO"], 0.9) == "SELECT k, COUNT(*) AS n, DP_LOW(n, 0.9), DP_INFO(n) FROM t GROUP BY k"


def test_what_tells_of_errors_has_none():
    assert select.parse("SELECT k, COUNT(*) AS n, DP_LOW(n), dp_info (n) FROM t").candidates() == [1]


@pytest.mark.parametrize("text, want", [
    ("SELECT 1;", "SELECT 1"),
    ("-- a note\n/* ; */ SELECT ';' # ;\n ; -- the end", "SELECT ';' # ;"),
    ("/*+ SET_VAR(dp_epsilon=1) */ SELECT 1", "/*+ SET_VAR(dp_epsilon=1) */ SELECT 1"),
])
def test_one_statement(text, want):
    assert select.single(text) == want


@pytest.mark.parametrize("text", ["", " ; -- nothing", "SELECT 1; SELECT 2"])
def test_not_one_statement(text):
    with pytest.raises(ValueError, match="exactly one statement"):
        select.single(text)
