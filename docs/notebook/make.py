#!/usr/bin/python3
"""Makes docs/notebook.ipynb from docs/notebook/cells.py and executes it against a live `scrim demo`.

    python3 docs/notebook/make.py            writes docs/notebook.ipynb
    python3 docs/notebook/make.py --check    executes it and writes nothing; ends with 1 if a cell fails

The server is SCRIM_BINARY, or bin/scrim (make build). It listens on a free port of loopback and ends
with this program. Needs Debian's python3-notebook, -nbconvert, -ipykernel, -pandas, -matplotlib,
-sqlalchemy, -pymysql.
"""
import os
import re
import subprocess
import sys
import tempfile

import nbformat
from nbconvert.preprocessors import ExecutePreprocessor

HERE = os.path.dirname(os.path.abspath(__file__))
MODULE = os.path.dirname(os.path.dirname(HERE))
NOTEBOOK = os.path.join(MODULE, "docs", "notebook.ipynb")


def cells(source):
    """Splits a source in the percent format into notebook cells."""
    out = []
    for part in re.split(r"^# %%", source, flags=re.M)[1:]:
        kind, _, body = part.partition("\n")
        if "markdown" in kind:
            out.append(nbformat.v4.new_markdown_cell(re.sub(r"^# ?", "", body.strip(), flags=re.M)))
        else:
            out.append(nbformat.v4.new_code_cell(body.strip()))
    for i, cell in enumerate(out):
        cell["id"] = "cell-%d" % (i + 1)
    return out


def serve(folder):
    """Starts the demonstration and returns its process and the analyst's URL."""
    binary = os.environ.get("SCRIM_BINARY", os.path.join(MODULE, "bin", "scrim"))
    demo = subprocess.Popen([binary, "demo", "--listen", "127.0.0.1:0", "--data", os.path.join(folder, "data")],
                            stdout=subprocess.PIPE, text=True)
    for line in demo.stdout:
        m = re.search(r"-h (\S+) -P (\d+) -u ann -p(\S+) demo", line)
        if m:
            host, port, password = m.groups()
            return demo, "mysql+pymysql://ann:%s@%s:%s/demo?charset=utf8mb4" % (password, host, port)
    raise SystemExit("the demonstration did not start")


def execute(notebook, url, folder):
    os.environ.update(SCRIM_URL=url, IPYTHONDIR=folder, JUPYTER_RUNTIME_DIR=folder, MPLCONFIGDIR=folder,
                      PYDEVD_DISABLE_FILE_VALIDATION="1")
    ExecutePreprocessor(timeout=120, kernel_name="python3").preprocess(notebook, {"metadata": {"path": folder}})
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                         "language_info": {"name": "python"}}


def main():
    with open(os.path.join(HERE, "cells.py"), encoding="utf-8") as f:
        notebook = nbformat.v4.new_notebook(cells=cells(f.read()))
    with tempfile.TemporaryDirectory() as folder:
        demo, url = serve(folder)
        try:
            execute(notebook, url, folder)
        finally:
            demo.terminate()
            demo.wait()
    told = [o for c in notebook.cells for o in c.get("outputs", []) if o.get("name") == "stderr"]
    if told:
        raise SystemExit("a cell wrote to standard error: %s" % told)
    if "--check" not in sys.argv[1:]:
        nbformat.validate(notebook)
        with open(NOTEBOOK, "w", encoding="utf-8") as f:
            nbformat.write(notebook, f)


if __name__ == "__main__":
    main()
