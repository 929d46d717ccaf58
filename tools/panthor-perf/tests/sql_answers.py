#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A page of questions in SQL with the answers that a database gives.

Under each heading, the literal block that begins with SELECT, WITH or ATTACH is run, and the next one is what it
answers, as the program sqlite3 shows columns."""
import argparse
import re
import signal
import sqlite3


def answer(database, sql):
    connection = sqlite3.connect(database)
    *before, query = [part for part in sql.split(";") if part.strip()]
    for statement in before:
        connection.execute(statement)
    cursor = connection.execute(query)
    rows = [[name for name, *_ in cursor.description]]
    rows += [["" if value is None else str(value) for value in row] for row in cursor]
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    rows.insert(1, ["-" * width for width in widths])
    return [("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths))).rstrip() for row in rows]


def main(page, database):
    with open(page, encoding="utf-8") as file:
        lines = file.read().split("\n")
    out, number, sql = [], 0, None
    while number < len(lines):
        out.append(lines[number])
        number += 1
        if not out[-1].endswith("::"):
            continue
        out.append(lines[number])
        number += 1
        begin = number
        while number < len(lines) and (lines[number].startswith("  ") or not lines[number]):
            number += 1
        block = lines[begin:number]
        while block and not block[-1]:
            block.pop()
        if sql:
            out += answer(database, sql)
            sql = None
        else:
            out += block
            if re.match(r"  (SELECT|WITH|ATTACH) ", block[0]):
                sql = "\n".join(block)
        out.append("")
    print("\n".join(out[:-1]))


signal.signal(signal.SIGPIPE, signal.SIG_DFL)
parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("page")
parser.add_argument("database")
arguments = parser.parse_args()
main(arguments.page, arguments.database)
