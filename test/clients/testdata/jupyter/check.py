"""Executes a notebook of pandas cells and takes the checks from the cells' outputs."""
import subprocess
import nbformat
from matrix import *

SETUP = '''
import os, json
import pandas as pd, sqlalchemy as sa
e = os.environ
url = sa.engine.URL.create("mysql+pymysql", e["SCRIM_USER"], e["SCRIM_PASSWORD"], e["SCRIM_HOST"], int(e["SCRIM_PORT"]), e["SCRIM_DB"], query={"charset": "utf8mb4"})
db = sa.create_engine(url)
ask = lambda sql, **p: pd.read_sql(sa.text(sql), db, params=p)
show = lambda v: print(json.dumps(v, default=str, ensure_ascii=False))
rows = lambda f: f.astype(object).values.tolist()
'''
CELLS = {
    "connect": 'show(ask("SELECT VERSION()").iloc[0, 0])',
    "list": 'show(sa.inspect(db).get_table_names())',
    "describe": 'show(rows(ask("DESCRIBE people").iloc[:, :2]))',
    "group": 'show(rows(ask("%s")))' % GROUP,
    "public": 'show(rows(ask("%s")))' % PUBLIC,
    "prepared": 'with db.connect() as c:\n    for sql in %r: c.execute(sa.text(sql))\n    show(rows(pd.read_sql(sa.text("%s"), c)))\n'
                '    c.execute(sa.text("%s")).close()' % (PREPARE, EXECUTE, DEALLOCATE),
    "text": 'show(ask("SELECT title FROM products WHERE title = :t", t="%s").iloc[0, 0])' % TITLE,
    "extra:error bars": 'f = ask("SELECT dept, AVG(amount) AS a, DP_LOW(a) AS low, DP_HIGH(a) AS high FROM people GROUP BY dept")\n'
                        'show(bool(((f.low.astype(float) <= f.a.astype(float)) & (f.a.astype(float) <= f.high.astype(float))).all()))',
    "extra:what the budget has left": 'show(len(ask("SELECT * FROM dp.budgets")) > 0)',
    "extra:a frame as a table of HTML": 'from IPython.display import display\ndisplay(ask("%s"))\nshow(True)' % GROUP,
    "error": 'ask("SELECT * FROM people")',
}
book = nbformat.v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}})
book.cells = [nbformat.v4.new_code_cell(c) for c in [SETUP, *CELLS.values()]]
nbformat.write(book, "book.ipynb")
subprocess.run(["/usr/bin/python3", "-W", "ignore", "-m", "nbconvert", "--to", "notebook", "--execute", "--allow-errors",
                "--output", "done.ipynb", "book.ipynb"], check=True, env=dict(os.environ, PATH="/usr/bin:/bin"))
done = nbformat.read("done.ipynb", 4)


def output(cell):
    """What a cell printed last, or its error."""
    for o in cell.outputs:
        if o.output_type == "error":
            return "failed: " + o.evalue
    return json.loads([o.text for o in cell.outputs if o.output_type == "stream" and o.name == "stdout"][-1])


for name, cell in zip(CELLS, done.cells[1:]):
    check(name, lambda: output(cell).replace("failed: ", "") if name == "error" else output(cell))
