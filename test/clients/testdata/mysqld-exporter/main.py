"""Prometheus' exporter, scraped as Prometheus does: as the DBA, and as an analyst."""
import http.client
import os
import re
import socket
import subprocess
import time

from matrix import *

# The collectors that are on by default, and what may be asked of a server without InnoDB's statistics.
MORE = ["info_schema.processlist", "info_schema.tables", "mysql.user", "auto_increment.columns", "binlog_size",
        "perf_schema.eventsstatements", "perf_schema.tableiowaits", "perf_schema.tablelocks"]
NOTHING = "n/a: it reads the server's status and no tables"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Exporter:
    """The exporter on a port of its own, with flags."""

    def __init__(self, user, password, *flags):
        self.at = "127.0.0.1:%d" % free_port()
        source = "%s:%s@(%s:%d)/" % (user, password, HOST, PORT)
        self.refused = None
        self.log = open("exporter-%s.log" % user, "a+")
        self.child = subprocess.Popen(
            ["prometheus-mysqld-exporter", "--web.listen-address=" + self.at, *flags],
            env=dict(os.environ, DATA_SOURCE_NAME=source), stdout=self.log, stderr=self.log)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.terminate()
        self.child.wait()

    def scrape(self):
        """Returns the metrics by their names with labels."""
        answer = http.client.HTTPConnection(self.at, timeout=20)
        for _ in range(100):
            try:
                answer.connect()
                break
            except ConnectionRefusedError:
                time.sleep(0.1)
        answer.request("GET", "/metrics")
        response = answer.getresponse()
        text = response.read().decode()
        if response.status != 200:
            self.refused = text
        return {m[0]: float(m[1]) for m in re.findall(r"^([^#\s]\S*(?:\{.*\})?) (\S+)$", text, re.M)}

    def failed(self):
        """What the log tells of a scrape that went wrong."""
        self.log.seek(0)
        return [re.sub(r"^.*?(msg|err)=", r"\1=", l.strip()) for l in self.log if "level=error" in l]


def whole(metrics, exporter, but=()):
    """True where the scrape was answered and every collector succeeded, but for some."""
    if exporter.refused:
        return "failed: " + exporter.refused
    bad = [k for k, v in metrics.items() if k.startswith("mysql_exporter_collector_success") and v != 1
           and not any('"collect.%s"' % b in k for b in but)]
    return True if not bad else "failed: %s: %s" % (bad, exporter.failed())


with Exporter(DBA, DBA_PASSWORD) as exporter:
    first = exporter.scrape()
    label = [k for k in first if k.startswith("mysql_version_info")]
    check("connect", lambda: re.search(r'[{,]version="([^"]*)"', label[0])[1])
    for name in ["list", "describe", "group", "public", "prepared", "text", "error"]:
        say(name, NOTHING)
    extra("mysql_up is 1", lambda: first["mysql_up"] == 1)
    extra("the whole scrape succeeds", lambda: whole(first, exporter))
    extra("uptime goes on", lambda: time.sleep(1.1) or exporter.scrape()["mysql_global_status_uptime"]
          > first["mysql_global_status_uptime"] >= 0)
    extra("queries are counted", lambda: exporter.scrape()["mysql_global_status_queries"]
          > first["mysql_global_status_queries"] > 0)
    extra("connections and threads", lambda: first["mysql_global_status_threads_connected"] >= 1
          and first["mysql_global_variables_max_connections"] >= 1)

with Exporter(USER, PASSWORD) as exporter:
    metrics = exporter.scrape()
    # What a replica does needs a privilege of its own, as on every server.
    extra("an analyst's scrape", lambda: whole(metrics, exporter, but=["slave_status"]))

with Exporter(DBA, DBA_PASSWORD, *["--collect." + c for c in MORE]) as exporter:
    metrics = exporter.scrape()
    extra("with more collectors", lambda: whole(metrics, exporter))
    rows = {k: v for k, v in metrics.items() if k.startswith("mysql_info_schema_table_rows") and 'table="people"' in k}
    extra("no rows of a protected table", lambda: metrics != {} and all(v == 0 for v in rows.values()) or "failed: %r" % rows)
