#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""usage: ktap.py STATUS [TEST]... <LOG
Prints what the KUnit suites of a kernel's log have found as flat TAP, a result for each test and
each of its parameters, and one for the run, which ended with STATUS. Ends with 1 if any is bad. A
test that is skipped is, but for those that are named."""

import re
import signal
import sys

STAMP = re.compile(r"^\[ *\d+\.\d+\](?:\[ *[TC]\d+\])? ?")
PLAN = re.compile(r"( *)1\.\.(\d+)$")
RESULT = re.compile(r"( *)(not )?ok \d+ ?(?:- )?(.*?)(?: # (.*))?$")
NOTE = re.compile(r" *# ?(.*)$")
# What the framework says of itself, and sums.
CHATTER = re.compile(r"(Subtest: |module: |Totals: |pass:\d+ |.*: pass:\d+ )")


class Level:
    """The tests between two results of a lower indentation."""

    def __init__(self):
        self.planned, self.results, self.bad = None, 0, 0
        self.suite = ""


def unfinished(levels, notes):
    for indent, level in sorted(levels.items()):
        if level.planned is None:
            yield f"{level.suite}: ended", False, "", [f"{level.results} results and no end"] + notes
        elif indent or level.planned > level.results:
            yield f"{level.suite or 'the suites'}: all tests ran", False, "", [
                f"{level.planned} planned, {level.results} results"] + notes
        else:
            continue
        notes = []


def flatten(lines):
    """Yields (name, good, directive, notes)."""
    levels, notes = {}, []
    for line in lines:
        line = STAMP.sub("", line.rstrip("\r\n"))
        if line.startswith("KTAP version"):
            # Another module's.
            yield from unfinished(levels, notes)
            levels, notes = {}, []
            continue
        plan, result, note = PLAN.match(line), RESULT.match(line), NOTE.match(line)
        if plan:
            levels.setdefault(len(plan[1]), Level()).planned = int(plan[2])
        elif result:
            indent, bad, name, directive = len(result[1]), bool(result[2]), result[3], result[4] or ""
            below = [levels.pop(i) for i in sorted(levels) if i > indent]
            # Of what went before at this indentation, too: no name without its suite's.
            name = ": ".join([lv.suite for i, lv in sorted(levels.items()) if i <= indent and lv.suite] + [name])
            own = levels.setdefault(indent, Level())
            own.results += 1
            own.bad += bad
            for level in below:
                if level.planned is not None and level.planned != level.results:
                    yield f"{name}: all its tests ran", False, "", [
                        f"{level.planned} planned, {level.results} results"] + notes
                    notes = []
            if not below or (bad and not any(level.bad for level in below)):
                yield name, not bad, directive, notes
                notes = []
        elif note and note[1].startswith("Subtest: "):
            levels.setdefault(len(line) - len(line.lstrip()), Level()).suite = note[1][9:]
        elif note and not CHATTER.match(note[1]) or re.match(r" {4,}\S", line) and "KTAP version" not in line:
            notes.append(line.strip().lstrip("# "))
        elif notes and line and not note:
            # An expectation's own message follows the values, and is not indented.
            notes.append(line)
    yield from unfinished(levels, notes)


def main():
    # A closed pipe ends this program quietly.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    status = sys.argv[1]
    count, failures = 0, 0
    for name, good, directive, notes in flatten(sys.stdin):
        count += 1
        skip = ""
        if directive.upper().startswith("SKIP"):
            skip = f" # {directive}"
            good = good and name.split(": ")[-1] in sys.argv[2:]
        failures += not good
        print(f"{'' if good else 'not '}ok {count} - {name}{skip}")
        if not good:
            for note in notes:
                print(f"# {note}")
    good = status == "0" and count > 0
    print(f"{'' if good else 'not '}ok {count + 1} - the run ends well")
    if not good:
        print(f"# status {status}, {count} results")
    print(f"1..{count + 1}")
    return 0 if good and not failures else 1


sys.exit(main())
