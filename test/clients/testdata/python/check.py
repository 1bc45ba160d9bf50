import os
import subprocess
import sys

from matrix import *

PACKAGE = os.path.join(os.environ["SCRIM_MODULE"], "python")
sys.path.insert(0, PACKAGE)
import scrim

db = scrim.connect(database=DB, **LOGIN)


def ask(sql, *args):
    return scrim.read_sql(sql, db, args or None, intervals=False).values.tolist()


check("connect", db.get_server_info)
check("list", lambda: [r[0] for r in ask("SHOW TABLES")])
check("describe", lambda: [r[:2] for r in ask("DESCRIBE people")])
check("group", lambda: ask(GROUP))
check("public", lambda: ask(PUBLIC))
check("prepared", lambda: prepared(ask))
check("text", lambda: ask(TEXT, TITLE)[0][0])
check("error", lambda: refused(lambda: ask("SELECT * FROM people")))


def intervals():
    df = scrim.read_sql(GROUP, db)
    inside = ((df.a_low <= df.a) & (df.a <= df.a_high) & (df.n_low <= df.n) & (df.n <= df.n_high)).all()
    return bool(inside and df.attrs["ledger_id"] > 0) or df.to_string()


def over_tls():
    with scrim.connect(database=DB, ssl_ca=CA, ssl_verify_cert=True, **LOGIN) as secure:
        return scrim.read_sql("SHOW SESSION STATUS LIKE 'Ssl_cipher'", secure).iloc[0, 1] != ""


def own_tests():
    """The package's tests, against a server of their own."""
    run = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", PACKAGE],
                         cwd=PACKAGE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if run.returncode:
        print(run.stdout)
    return run.returncode == 0 or "failed: see above"


extra("intervals beside values", intervals)
extra("TLS, checked", over_tls)
extra("its own tests", own_tests)
