"""A server of the tests' own, over a fresh directory: SCRIM_BINARY, or bin/scrim (make build)."""
import os
import pathlib
import subprocess

import pymysql
import pytest

import scrim

MODULE = pathlib.Path(__file__).resolve().parents[2]
SECRET = "root's password"

# 2,000 persons with one row each: departments of 900, 600, 497 and 3, of whom the last are too few
# for a mean; the years 2021 to 2024; and visits, of which a person may have many.
DEPARTMENTS = ["law"] * 900 + ["sales"] * 600 + ["tech"] * 497 + ["zoo"] * 3


def statements():
    people = ",".join("(%d,'%s',%d,%d.%02d)" % (i, d, 2021 + i % 4, 20 + i % 50, i % 100) for i, d in enumerate(DEPARTMENTS))
    visits = ",".join("(%d,%d)" % (i, i % 30) for i in range(2000) for _ in range(1 + i % 3))
    return [
        "CREATE DATABASE shop",
        "CREATE TABLE shop.people (id BIGINT NOT NULL PRIMARY KEY, dept VARCHAR(20) NOT NULL, year INT NOT NULL, amount DECIMAL(10,2) NOT NULL)",
        "CREATE TABLE shop.visits (id BIGINT NOT NULL, minutes INT NOT NULL)",
        "CREATE TABLE shop.products (id INT NOT NULL PRIMARY KEY, title VARCHAR(20), price DECIMAL(10,2))",
        "INSERT INTO shop.people VALUES " + people,
        "INSERT INTO shop.visits VALUES " + visits,
        "INSERT INTO shop.products VALUES (1, '50% off', 9.99), (2, 'FROM', NULL)",
        "CALL dp_public('shop.products')",
        "CALL dp_protect('shop.people', 'id', 'person')",
        "CALL dp_protect('shop.visits', 'id', 'person')",
        """CALL dp_set_domain('shop.people', 'dept', '["law","sales","tech","zoo"]')""",
        """CALL dp_set_domain('shop.people', 'year', '{"min":2021,"max":2024}')""",
        """CALL dp_set_domain('shop.people', 'amount', '{"min":0,"max":100}')""",
        "CALL dp_set_budget('shop.people', '*', 1000, 1e-5, 'never')",
        "CALL dp_set_budget('shop.people', 'default', 500, 1e-5, 'never')",
        "CALL dp_set_budget('shop.visits', '*', 1000, 1e-5, 'never')",
        "CALL dp_set_budget('shop.visits', 'default', 500, 1e-5, 'never')",
        "CREATE USER 'ann'@'%' IDENTIFIED BY 'a:b/c@d'",
        "GRANT SELECT ON shop.* TO 'ann'@'%'",
    ]


@pytest.fixture(scope="session")
def url(tmp_path_factory):
    binary = os.environ.get("SCRIM_BINARY", str(MODULE / "bin" / "scrim"))
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SCRIM_")}
    server = subprocess.Popen(
        [binary, "serve", "--data", str(tmp_path_factory.mktemp("server") / "data"), "--listen", "127.0.0.1:0", "--threads", "1"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=dict(environment, SCRIM_ROOT_PASSWORD=SECRET))
    try:
        address = next((line.split()[-1] for line in server.stdout if "ready on" in line), None)
        assert address, "the server did not start"
        host, port = address.rsplit(":", 1)
        with pymysql.connect(host=host, port=int(port), user="root", password=SECRET, autocommit=True) as root, root.cursor() as c:
            for sql in statements():
                c.execute(sql)
        yield "mysql://ann:a%%3Ab%%2Fc%%40d@%s:%s/shop" % (host, port)
    finally:
        server.terminate()
        server.wait(60)


@pytest.fixture()
def conn(url):
    c = scrim.connect(url)
    yield c
    if c.open:
        c.close()
