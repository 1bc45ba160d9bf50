#!/usr/bin/env bash
# Executes docs/notebook.ipynb's source against a `scrim demo` of its own.
say() { printf '%s\t%s\n' "$1" "$2"; }
for check in connect list describe group public prepared text error; do
  say "$check" '"n/a: it has a data set of its own"'
done
if out=$(/usr/bin/python3 "$SCRIM_MODULE/docs/notebook/make.py" --check 2>&1); then
  say "extra:every cell runs" true
else
  printf '%s\n' "$out"
  say "extra:every cell runs" '"failed: see above"'
fi
# The committed notebook is that of the source, executed in order and without errors.
say "extra:the committed notebook is executed" "$(/usr/bin/python3 - <<'P'
import json, os, sys
module = os.environ["SCRIM_MODULE"]
sys.path.insert(0, os.path.join(module, "docs", "notebook"))
import make
have = json.load(open(make.NOTEBOOK, encoding="utf-8"))["cells"]
want = make.cells(open(os.path.join(make.HERE, "cells.py"), encoding="utf-8").read())
same = ["".join(c["source"]) for c in have] == [c["source"] for c in want]
code = [c for c in have if c["cell_type"] == "code"]
counts = [c["execution_count"] for c in code] == list(range(1, len(code) + 1))
errors = [o for c in code for o in c["outputs"] if o["output_type"] == "error"]
print(json.dumps(True if same and counts and not errors else "failed: make it anew with docs/notebook/make.py"))
P
)"
