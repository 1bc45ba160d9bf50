"""What every Python client of the matrix shares: the connection's data, and one line a check."""
import json
import os

HOST = os.environ["SCRIM_HOST"]
PORT = int(os.environ["SCRIM_PORT"])
USER = os.environ["SCRIM_USER"]
PASSWORD = os.environ["SCRIM_PASSWORD"]
DBA = os.environ["SCRIM_DBA"]
DBA_PASSWORD = os.environ["SCRIM_DBA_PASSWORD"]
DB = os.environ["SCRIM_DB"]
CA = os.environ["SCRIM_CA"]
SHA2_USER = os.environ["SCRIM_SHA2_USER"]
LOGIN = dict(host=HOST, port=PORT, user=USER, password=PASSWORD)

TITLE = "Zoë — 日本 😀"
GROUP = "SELECT dept, AVG(amount) AS a, COUNT(*) AS n FROM people GROUP BY dept ORDER BY dept"
PUBLIC = "SELECT id, price FROM products WHERE id <= 3 ORDER BY id"
PREPARED = "SELECT id, price FROM products WHERE id <= %s ORDER BY id"
TEXT = "SELECT title FROM products WHERE title = %s"
PREPARE = "PREPARE cheap FROM '" + PREPARED.replace("%s", "?") + "'", "SET @n = 3"
EXECUTE = "EXECUTE cheap USING @n"
DEALLOCATE = "DEALLOCATE PREPARE cheap"


def check(name, f):
    """Prints what f returns; a failure is a value, so that the other checks run."""
    try:
        value = f()
    except Exception as e:
        value = "failed: %s: %s" % (type(e).__name__, e)
    say(name, value)


def say(name, value):
    print(name + "\t" + json.dumps(value, default=plain, ensure_ascii=False), flush=True)


def plain(value):
    """NumPy's numbers as Python's, everything else as text."""
    return value.item() if hasattr(value, "item") else str(value)


def prepared(ask):
    """The answer of a statement that is prepared in SQL, for a driver without calls for that. ask sends one statement,
    always over the same connection, and returns its rows as lists."""
    for sql in PREPARE:
        ask(sql)
    answer = ask(EXECUTE)
    ask(DEALLOCATE)
    return answer


def extra(name, f):
    check("extra:" + name, f)


def refused(f):
    """The message with which f fails."""
    try:
        value = f()
    except Exception as e:
        return str(e)
    return "failed: it was answered: %r" % (value,)


def both(connect, **tls):
    """Whether the account with caching_sha2_password gets in by connect, in clear and over TLS."""
    for options in {}, tls:
        c = connect(**dict(LOGIN, user=SHA2_USER), **options)
        k = c.cursor()
        k.execute("SELECT COUNT(*) FROM shop.products")
        n = k.fetchone()[0]
        c.close()
        if n != 1000:
            return "%d rows" % n
    return True


def rows(cursor):
    return [list(r) for r in cursor.fetchall()]
