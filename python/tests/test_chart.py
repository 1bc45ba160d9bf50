import datetime
import warnings

import matplotlib

matplotlib.use("Agg")

import pandas as pd
import pytest

import scrim

NAN = float("nan")


def answer(keys, low=(8.0, 18.0, 29.0), high=(12.0, 22.0, 31.0), n=(10.0, 20.0, 30.0)):
    df = pd.DataFrame({"k": keys, "n": n, "n_low": low, "n_high": high})
    df.attrs["level"] = 0.95
    return df


def marks(ax, marker):
    return [line for line in ax.lines if line.get_marker() == marker]


def test_categories_are_bars():
    ax = scrim.plot(answer(["a", "b", None]))
    assert [b.get_height() for b in ax.patches] == [10, 20, 30]
    assert [t.get_text() for t in ax.get_xticklabels()] == ["a", "b", "NULL"]
    assert len(marks(ax, "_")) == 6 and ax.get_ylabel() == "n, 95 % intervals" and ax.get_xlabel() == "k"


@pytest.mark.parametrize("keys", [[2023, 2021, 2022], [datetime.date(2025, 3, 1), datetime.date(2025, 1, 1), datetime.date(2025, 2, 1)]])
def test_ordered_keys_are_a_line(keys):
    ax = scrim.plot(answer(keys))
    line = marks(ax, "o")[0]
    assert list(line.get_ydata()) == [20, 30, 10] and not ax.patches


def test_unknown_ends_are_arrows():
    ax = scrim.plot(answer(["a", "b", "c"], high=(12.0, NAN, 31.0), n=(10.0, 20.0, NAN)))
    up = marks(ax, "^")
    assert len(up) == 1 and list(up[0].get_xdata()) == [1] and up[0].get_ydata()[0] == ax.get_ylim()[1]
    assert ax.get_xlim()[1] > 2 and not marks(ax, "v") and [t.get_text() for t in ax.texts] == ["NULL"]


def test_several_keys_and_another_value():
    df = answer(["a", "b", "c"]).assign(h=[1, 2, 3], m=[0.1, 0.2, 0.3])
    ax = scrim.plot(df[["k", "h", "n", "n_low", "n_high"]])
    assert ax.get_xticklabels()[2].get_text() == "c, 3"
    ax = scrim.plot(df, x="k", y="m")
    assert ax.get_ylabel() == "m" and not marks(ax, "_")


def test_what_cannot_be_drawn():
    with pytest.raises(ValueError, match="no column has an interval"):
        scrim.plot(pd.DataFrame({"k": ["a"], "n": [1]}))
    with pytest.raises(ValueError, match="no column 'z'"):
        scrim.plot(answer(["a", "b", "c"]), y="z")
    with pytest.raises(ValueError, match="holds no numbers"):
        scrim.plot(answer(["a", "b", "c"]), y="k")


def test_an_answer_of_the_server(conn, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", scrim.AnswerWarning)
        for i, sql in enumerate(["SELECT dept, AVG(amount) AS a FROM people GROUP BY dept",
                                 "SELECT year, COUNT(*) AS n FROM people GROUP BY year", "SELECT COUNT(*) AS n FROM people"]):
            file = tmp_path / ("%d.png" % i)
            scrim.plot(scrim.read_sql(sql, conn)).figure.savefig(file)
            assert file.stat().st_size > 5000
