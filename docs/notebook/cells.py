# %% [markdown]
# # A day with private data
#
# An analyst's notebook against Scrim. The tools are the usual ones: pandas, SQLAlchemy, PyMySQL, matplotlib. The server is
# `scrim demo`, whose data are public: *adult*, a census of 30 162 persons, one row each, and *visits*, a week of visits to a restaurant,
# with many rows a person. Here they are protected: every number below has noise in it, and was paid for from a budget.

# %%
import os

import matplotlib.pyplot as plt
import pandas as pd
from sqlalchemy import create_engine, text

# mysql+pymysql://ann:PASSWORD@127.0.0.1:3307/demo, as `scrim demo` prints it
db = create_engine(os.environ["SCRIM_URL"])


def ask(sql):
    with db.connect() as c:
        return pd.read_sql(text(sql), c)


pd.set_option("display.max_colwidth", None)
plt.rcParams.update({"figure.dpi": 80, "axes.spines.top": False, "axes.spines.right": False})

# %% [markdown]
# ## What is here, and what may I ask
#
# Tables and columns are where every client looks for them. The policies say whose rows are protected together: one row is one person in
# *adult*, all rows of a `visitor_id` in *visits*. The domains are what the data's owner declared as public.

# %%
columns = ask("""SELECT table_name AS t, column_name AS c FROM information_schema.columns
                 WHERE table_schema = 'demo' ORDER BY table_name, ordinal_position""")
columns.groupby("t")["c"].agg(", ".join).to_frame("columns")

# %%
ask("SELECT table_name, state, unit, unit_column, entity FROM dp.policies")

# %%
ask("SELECT table_name, column_name, domain FROM dp.domains")

# %% [markdown]
# The budgets say what I may spend this month, and what is left. (The demonstration's tour has spent some already.)


# %%
def budgets():
    return ask("""SELECT account, budget_window, epsilon, delta, spent_epsilon, remaining_epsilon
                  FROM dp.budgets WHERE budget = 'default'""").round({"spent_epsilon": 3, "remaining_epsilon": 3})


budgets()

# %% [markdown]
# Rows are not to be had, and the message says what works instead. A refused statement costs nothing.

# %%
try:
    ask("SELECT * FROM adult LIMIT 5")
except Exception as e:
    print(e.orig)

# %% [markdown]
# ## Price first, then ask
#
# How long do people work, by education? `dp_price` plans the question and runs nothing: what it costs (`epsilon`), what that leaves,
# how many such questions still fit, the expected error where it is known beforehand, and the smallest group that gets an answer. Of the
# budget that all analysts share (`*`) I am told only whether the question fits.

# %%
question = """
SELECT education, COUNT(*) AS persons,
       AVG(hr_per_week) AS hours, DP_LOW(hours) AS low, DP_HIGH(hours) AS high
FROM adult GROUP BY education ORDER BY hours"""


def price(sql):
    with db.connect() as c:
        return pd.read_sql(text("CALL dp_price(:sql)"), c, params={"sql": sql})


price(question)[["item", "name", "holder", "epsilon", "after_epsilon", "queries",
                 "fits", "expected_error", "min_persons"]]

# %% [markdown]
# Cheap enough. `DP_LOW` and `DP_HIGH` are the ends of a 95 % interval for the noise; they come with the answer and cost nothing.

# %%
hours = ask(question)
hours

# %% [markdown]
# Groups with too few persons have a count and no mean: NULL is an honest answer. The rest makes a plot. An interval tells how far
# noise may have moved an answer. It tells neither how well a sample stands for a population, nor what is lost where far-off persons are
# clipped: nobody has declared bounds for the hours here, so the clip is sought as privately as the answer, and a group in which nearly
# everybody works 40 hours is answered tightly about 40. [What an interval covers](decisions/error-bars.md).


# %%
def bars(ax, x, y, low, high, along="y", **style):
    """Points with their intervals, along the x or the y axis."""
    value = x if along == "x" else y
    reach = [(value - low).clip(lower=0), (high - value).clip(lower=0)]
    ax.errorbar(x, y, **{along + "err": reach}, fmt="o", ms=4, capsize=3, lw=1.2, **style)


known = hours.dropna().reset_index(drop=True)
fig, ax = plt.subplots(figsize=(8, 4))
bars(ax, known.hours, known.index, known.low, known.high, along="x", color="#205493")
ax.set_yticks(known.index, [f"{e}  ({n:,})" for e, n in zip(known.education, known.persons)])
ax.set_xlabel("hours a week, with 95 % intervals of the noise")
ax.set_title("Working hours by education (persons)", loc="left")
ax.grid(axis="x", alpha=0.3)
plt.show()

# %% [markdown]
# ## The same question again is free
#
# A notebook is run again and again, and a dashboard refreshes. The same question on the same data is answered from the ledger, also
# in another order, with other names, with `HAVING`, or as a part of another query. Nothing below costs anything:

# %%
before = budgets().spent_epsilon
ask(question)
ask("SELECT AVG(hr_per_week) AS h, education, COUNT(*) FROM adult GROUP BY education HAVING h > 42")
ask(f"SELECT COUNT(*) AS found, MAX(hours) - MIN(hours) AS spread FROM ({question}) AS q").round(2)

# %%
(budgets().spent_epsilon - before).tolist()

# %% [markdown]
# ## A share, by age and sex
#
# A mean of a condition is a share. Groups are ages in steps of five years: keys that nobody declared, so a group shows up only when enough
# persons are in it, and which groups do is part of what is paid for.

# %%
share = ask("""
SELECT sex, FLOOR(age / 5) * 5 AS age, AVG(CASE WHEN income = '>50K' THEN 1 ELSE 0 END) AS share,
       DP_LOW(share) AS low, DP_HIGH(share) AS high
FROM adult WHERE age BETWEEN 20 AND 69 GROUP BY sex, FLOOR(age / 5) * 5 ORDER BY sex, age""").dropna()

fig, ax = plt.subplots(figsize=(8, 3.6))
for (sex, rows), colour, shift in zip(share.groupby("sex"), ["#c05640", "#205493"], [-0.4, 0.4]):
    bars(ax, rows.age + 2.5 + shift, 100 * rows.share, 100 * rows.low, 100 * rows.high,
         color=colour, label=sex)
    ax.plot(rows.age + 2.5 + shift, 100 * rows.share, color=colour, alpha=0.4)
ax.set_ylim(bottom=0)
ax.set_xlabel("age")
ax.set_ylabel("per cent with more than 50 K")
ax.set_title("Who earns more than 50 K (95 % intervals of the noise)", loc="left")
ax.legend(frameon=False)
plt.show()

# %% [markdown]
# ## What does accuracy cost?
#
# Prices are free, so one can look before choosing. For a count the error is known beforehand; half the error costs four times the loss.

# %%
steps = [0.05, 0.1, 0.2, 0.5, 1, 2]
offers = []
for e in steps:
    p = price(f"SELECT /*+ SET_VAR(dp_epsilon={e}) */ COUNT(*) FROM adult WHERE hr_per_week > 60")
    mine = p[(p.item == "budget") & p.epsilon.notna()].iloc[0]
    offers.append((e, p[p.item == "answer"].expected_error.iloc[0], int(mine.queries)))
offers = pd.DataFrame(offers, columns=["dp_epsilon", "expected_error", "such_queries_left"])
offers

# %%
fig, ax = plt.subplots(figsize=(5, 3.2))
ax.loglog(offers.dp_epsilon, offers.expected_error, "o-", color="#205493")
ax.set_xlabel("dp_epsilon of the statement")
ax.set_ylabel("expected error, persons")
ax.set_title("Count of persons who work over 60 hours", loc="left")
ax.grid(which="both", alpha=0.2)
plt.show()

# %% [markdown]
# Or the other way round: say the error that is good enough, and pay no more than that.

# %%
ask("SELECT DP_COUNT(*, 'error=50') AS persons, DP_STDERR(persons) AS error FROM adult WHERE hr_per_week > 60")

# %% [markdown]
# ## Many rows a person
#
# A visitor who comes every day is hidden as well as one who came once. That is the server's care: the SQL is the same.

# %%
week = ask("""
SELECT day, COUNT(*) AS visits, DP_LOW(visits) AS visits_low, DP_HIGH(visits) AS visits_high,
       AVG(minutes) AS stay, DP_LOW(stay) AS stay_low, DP_HIGH(stay) AS stay_high
FROM visits GROUP BY day ORDER BY day""")
week.round(1)

# %%
names = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2))
left.bar(week.day, week.visits, color="#9db8d9")
bars(left, week.day, week.visits, week.visits_low, week.visits_high, color="#205493")
left.set_title("Visits a day", loc="left")
bars(right, week.day, week.stay, week.stay_low, week.stay_high, color="#205493")
right.set_title("Minutes a visit", loc="left")
for ax in (left, right):
    ax.set_xticks(week.day, names)
right.set_ylabel("mean, with 95 % intervals")
plt.tight_layout()
plt.show()

# %% [markdown]
# Totals, distinct persons and quantiles:

# %%
ask("""SELECT COUNT(DISTINCT visitor_id) AS visitors, SUM(spent) AS revenue, DP_MEAN(spent) AS spent_a_visitor
       FROM visits""")

# %%
ask("""SELECT sex, DP_QUANTILE(age, 0.1) AS p10, DP_MEDIAN(age) AS median_age, DP_QUANTILE(age, 0.9) AS p90
       FROM adult GROUP BY sex""")

# %% [markdown]
# ## Watching the budget
#
# The ledger has every charge, what it was for, and what was answered again for nothing. Literals are left out of it.

# %%
ledger = ask("""SELECT id, charged_at, account, entry, rho, LEFT(statement, 70) AS statement
                FROM dp.ledger WHERE account_type = 'table' ORDER BY id""")
ledger.tail(6).set_index("id").drop(columns="charged_at")

# %%
fig, ax = plt.subplots(figsize=(8, 3))
for (account, rows), colour in zip(ledger.groupby("account"), ["#205493", "#c05640"]):
    ax.step(rows.id, rows.rho.cumsum(), where="post", color=colour, label=account)
ax.set_xlabel("statement, by its number in the ledger")
ax.set_ylabel("spent, zCDP ρ")
ax.set_title("What was spent, one statement after the other", loc="left")
ax.legend(frameon=False)
plt.show()

# %%
budgets()

# %% [markdown]
# What is left of *adult*'s budget would do for this many more questions of the first kind:

# %%
p = price(question.replace("hr_per_week", "age"))
int(p[(p.item == "budget") & p.epsilon.notna()].queries.min())
