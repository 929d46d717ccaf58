#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the figures of report -j with those that SQL gives, to the last digit.

Percentiles of report may be 0.4 % too high. Not in the database: blocks of a type one by one, top-down, the graph over
time and its noise. Prints what differs, and then how many figures were compared."""
import argparse
import json
import signal
import sqlite3


def open_all(report, database):
    with open(report, encoding="utf-8") as file:
        figures = json.load(file)
    connection = sqlite3.connect(database)
    connection.row_factory = sqlite3.Row
    return figures, connection


class Comparison:
    def __init__(self, report, database):
        self.report, self.db = open_all(report, database)
        self.compared = 0
        self.counters = {row["name"]: row for row in self.db.execute("SELECT * FROM counter")}

    def one(self, sql, *values):
        return self.db.execute(sql, values).fetchone()[0]

    def expect(self, name, wanted, got):
        self.compared += 1
        if wanted != got:
            print(f"{name} is {got!r}, report has {wanted!r}")

    def whole(self):
        sql = {
            "start_ns": "SELECT start_ns FROM recording",
            "end_ns": "SELECT end_ns FROM recording",
            "samples": "SELECT count(*) FROM sample",
            "overflow": "SELECT count(*) FROM sample WHERE flags & 1",
            "error": "SELECT count(*) FROM sample WHERE flags & 2",
            "stretched": "SELECT count(*) FROM sample WHERE flags & 4",
            "longest_ns": "SELECT max(end_ns - start_ns) FROM sample",
            "mean_ns": "SELECT CAST(sum(end_ns - start_ns) AS REAL) / count(*) FROM sample",
        }
        for key, query in sql.items():
            self.expect(key, self.report[key], self.one(query))
        self.expect("samples", self.report["samples"], self.one("SELECT samples FROM recording"))
        head = self.report["recording"]
        for key in "tool", "host", "kernel", "machine", "period_ns":
            self.expect(key, head.get(key), self.one(f"SELECT {key} FROM recording"))
        command = self.one("SELECT command FROM recording")
        self.expect("command", head.get("command"), json.loads(command) if command else None)
        self.figures("", self.report, "FROM total, recording")

    def figures(self, name, of, source):
        """Load and bandwidth: of the whole, or of a region."""
        sql = {
            ("load", "of_time"): "total.active_seconds / total.seconds",
            ("load", "of_cycles"): "CAST(MaliGPUActiveCy AS REAL) / toplevel_cycles",
            # report prints nanoseconds.
            ("load", "active_seconds"): "round(total.active_seconds, 9)",
            ("load", "active_cycles"): "MaliGPUActiveCy",
            ("load", "cycles"): "toplevel_cycles",
            ("load", "active_hz"): "MaliGPUActiveCy / total.active_seconds",
            ("bandwidth", "read"): "MaliExtBusRdBy / total.seconds",
            ("bandwidth", "written"): "MaliExtBusWrBy / total.seconds",
        }
        for (group, key), query in sql.items():
            if of.get(group, {}).get(key) is not None:
                self.expect(f"{name}{group}.{key}", of[group][key], self.one(f"SELECT {query} {source}"))

    def counter(self, c):
        name = c["name"]
        row = self.counters[name]
        count = row["kind"] == "count"
        for key, column in ("title", "title"), ("group", "category"), ("unit", "unit"):
            self.expect(f"{name}: {key}", c[key], row[column])
        rate = f'"{name}" / seconds' if count else f'"{name}"'
        if "mean" not in c:
            self.expect(f"{name}: samples with a value", 0,
                        self.one(f'SELECT count({rate}) FROM sample WHERE seconds > 0'))
            return
        if "total" in c:
            self.expect(f"{name}: total", c["total"], self.one(f'SELECT "{name}" FROM total'))
        self.expect(f"{name}: mean", c["mean"], self.one(f"SELECT {rate} FROM total"))
        self.expect(f"{name}: min", c["min"], self.one(f"SELECT min({rate}) FROM sample WHERE seconds > 0"))
        self.expect(f"{name}: max", c["max"], self.one(f"SELECT max({rate}) FROM sample WHERE seconds > 0"))
        for percent in 50, 95, 99:
            value = self.one(f"""
                WITH one AS (SELECT {rate} AS value, end_ns - start_ns AS ns FROM sample WHERE seconds > 0),
                part AS (SELECT value, CAST(sum(ns) OVER (ORDER BY value) AS REAL) / sum(ns) OVER () AS below
                         FROM one WHERE value IS NOT NULL)
                SELECT min(value) FROM part WHERE below >= {percent} / 100.0""")
            error = c[f"p{percent}"] - value
            self.expect(f"{name}: p{percent}, {value}, {error} off", True, abs(error) <= 0.00401 * abs(value))

    def region(self, region):
        name = region["name"]
        number = self.one("SELECT id FROM region WHERE name IS ?", name)
        source = f"FROM region_total AS total JOIN region ON region = id WHERE id = {number}"
        if name:
            self.expect(f"{name}: times", region["times"], self.one(f"SELECT times FROM region WHERE id = {number}"))
        self.expect(f"{name}: seconds", region["seconds"], self.one(f"SELECT seconds FROM region WHERE id = {number}"))
        self.expect(f"{name}: samples", region["samples"], self.one(f"SELECT count(*) FROM sample WHERE region = {number}"))
        if not region["samples"]:
            return
        self.expect(f"{name}: sampled", region["sampled_seconds"], self.one(f"SELECT total.seconds {source}"))
        self.figures(f"{name}: ", region, source)
        for c in region["counters"]:
            for key in "total", "mean":
                if key in c:
                    self.expect(f"{name}: {c['name']}", c[key], self.one(f"SELECT \"{c['name']}\" {source}"))

    def run(self):
        self.whole()
        self.expect("counters", [c["name"] for c in self.report["counters"]], list(self.counters))
        for c in self.report["counters"]:
            self.counter(c)
        for region in self.report.get("regions", []):
            self.region(region)
        print(self.compared)


signal.signal(signal.SIGPIPE, signal.SIG_DFL)
parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("report")
parser.add_argument("database")
arguments = parser.parse_args()
Comparison(arguments.report, arguments.database).run()
