#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Checks the JSON of Mali's GPUs as perf reads it, against the tables of panthor-perf. Prints TAP.

usage: mali_check.py [-n DRAWS] [-s SEED] [DIR]
       mali_check.py -l LAYOUT FILE   FILE, of `perf list -j`, has all events and metrics
       mali_check.py -p LAYOUT FILE   FILE, of `perf stat -M ... -a -j -I N`, has what perf makes of counts

DIR is arch/arm64/mali if not given. -l and -p print no TAP, but what is wrong, a line each, and -p the
metrics, "metric INTERVAL NAME VALUE" (INTERVAL: from 1), and their sums by group, "sum INTERVAL GROUP SUM". Nothing of mali_events.py, which writes these files, is used:
expressions are evaluated as perf does it, equations of the tables by topdown_check.py.
"""
import argparse
import json
import math
import os
import random
import re
import signal
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "../../panthor-perf/tests"))
import topdown_check as td  # noqa: E402

DIRECTORY = dict(zip(td.LAYOUTS, ("g710", "g715", "g720", "g725", "g1")))
BLOCKS = {"CSHW": 3, "TILER": 4, "MEMSYS": 5, "SHADER": 6}
# Events that the kernel makes; the clocks that a device may lack are no part of the JSON.
MADE = {"gpu_time": 1, "gpu_active_time": 2, "gpu_cycles": 3, "gpu_cycles_times_cores": 6,
        "gpu_cycles_times_slices": 7, "external_read_bytes": 8, "external_write_bytes": 9, "firmware_samples": 10, "lost": 11}
SYSFS = {"coregroup_cycles", "shader_cycles"}
TOKEN = re.compile(r"\s*(?:(\d+\.?\d*)|([a-z_][a-z0-9_]*)|([-+*/(),]))")
WORDS = {"min", "max", "d_ratio", "if", "else", "has_event"}
# The G715's GPU is active when a queue is: nothing is left for command streams alone.
ALWAYS_ZERO = {("Mali-G715", "mali_td_fe_command")}
PRODUCTS = 1e-9             # how far two ways to write an equation may differ, of 100 or of the value


class Layout:
    def __init__(self, name, directory):
        self.name, self.problems = name, []
        self.entries = []
        where = os.path.join(directory, DIRECTORY[name], "sys")
        for file in sorted(os.listdir(where)):
            with open(os.path.join(where, file), encoding="utf-8") as f:
                self.entries += json.load(f)
        self.events = {e["EventName"]: e for e in self.entries if "EventName" in e}
        self.metrics = {e["MetricName"]: e for e in self.entries if "MetricName" in e}
        if len(self.events) + len(self.metrics) != len(self.entries):
            self.fail("a name is there twice")
        self.used = {name: self.words(e["MetricExpr"]) for name, e in self.metrics.items()}
        self.code = {name: compile(e["MetricExpr"], name, "eval") for name, e in self.metrics.items()}
        self.table = [r for r in td.table(f"{td.DATA}/hw_counters.csv") if r["layout"] == name]
        self.machine = {r["source_name"].lower(): r["machine_name"] or td.ALIAS.get(r["source_name"]) for r in self.table}

    def fail(self, text):
        self.problems.append(f"{self.name}: {text}")

    def words(self, expression):
        """The events of an expression, which perf's lexer and jevents take apart as this does."""
        at, names, before = 0, set(), ""
        while at < len(expression):
            m = TOKEN.match(expression, at)
            if not m:
                self.fail(f"perf does not read {expression[at:at + 20]!r}")
                return names
            number, word, char = m.groups()
            # A division by what may be 0 gives none: d_ratio() is for that.
            if before == "/" and not (number and float(number)):
                self.fail(f"a division by {word or char}")
            if word and word not in WORDS:
                names.add(word)
            before = char or ""
            at = m.end()
        return names


def check_events(layout):
    """Every counter of the table is an event, and there are no others."""
    want = dict(MADE)
    for r in layout.table:
        want[r["source_name"].lower()] = BLOCKS[r["block"]] << 8 | int(r["index"])
    got = {name: int(e["EventCode"], 0) for name, e in layout.events.items()}
    for name in want.keys() | got.keys():
        if want.get(name) != got.get(name):
            layout.fail(f"{name} is event {got.get(name)}, not {want.get(name)}")
    for e in layout.entries:
        name = e.get("EventName") or e["MetricName"]
        if e["Unit"] != "panthor" or e["Compat"] != "mali-" + DIRECTORY[layout.name]:
            layout.fail(f"{name} is of {e['Unit']} {e['Compat']}")
        if not e["BriefDescription"] or "EventName" in e and not re.fullmatch(r"[a-z][a-z0-9_]*", name):
            layout.fail(f"{name} has no description, or is no name for perf")
        # `perf list` forgets the space behind a comma.
        if "," in e["BriefDescription"]:
            layout.fail(f"{name}: a comma in {e['BriefDescription']!r}")
        # A number, then the unit.
        if not re.fullmatch(r"[0-9.]+(e-[0-9]+)?[A-Za-z%/]+", e.get("ScaleUnit", "1a")):
            layout.fail(f"{name}: perf does not read the unit {e['ScaleUnit']}")


def check_names(layout):
    for name, used in layout.used.items():
        missing = used - layout.events.keys() - SYSFS
        if missing:
            layout.fail(f"{name}: no event {' '.join(missing)}")
        if re.search(r"\bshader_cycles\b", re.sub(
                r"\(d_ratio\(shader_cycles, gpu_cycles\) if has_event\(shader_cycles\) else 1\)", "",
                layout.metrics[name]["MetricExpr"])):
            layout.fail(f"{name}: needs shader_cycles, which not every device has")
        # An id of an expression may also be the name of a metric, or of a group, without regard to case.
        groups = layout.metrics[name]["MetricGroup"].split(";")
        for word in [name, *groups]:
            if word.lower() in layout.events or word.lower() in SYSFS:
                layout.fail(f"{word} is an event and a metric or group")


def members(layout, group):
    return [name for name, e in layout.metrics.items() if group in e["MetricGroup"].split(";")]


def check_groups(layout):
    """All metrics of a level get along with the events of one, so that perf reads them in one group."""
    for group in ("mali_topdown_l1", "mali_topdown_l2"):
        names = members(layout, group)
        if len(names) < 5:
            layout.fail(f"{group} has {len(names)} metrics")
        everything = set().union(*(layout.used[n] for n in names))
        if not any(layout.used[n] == everything for n in names):
            layout.fail(f"no metric of {group} has all {len(everything)} events of it")


def check_left_out(layout, directory):
    """What is no metric is listed, and nothing else is."""
    with open(os.path.join(directory, "left-out.txt"), encoding="utf-8") as f:
        listed = {line.split(" ", 1)[1].split(":", 1)[0] for line in f
                  if line.split(" ", 1)[0] == DIRECTORY[layout.name]}
    want = {r["machine_name"] for r in td.table(f"{td.DATA}/derived_counters.csv") if r["layout"] == layout.name}
    want |= {r["name"] for r in td.table(f"{td.DATA}/topdown.csv")
             if r["level"] and (r["layout"] == "all" or layout.name in r["layout"].split("|"))}
    have = {name.removeprefix("mali_") if name.startswith("mali_td_") else name for name in layout.metrics}
    for name in want:
        if (name in have) == (name in listed):
            layout.fail(f"{name} is {'a metric and in' if name in listed else 'no metric and not in'} left-out.txt")
    for name in listed - want:
        layout.fail(f"{name} of left-out.txt is no equation")


def d_ratio(a, b):
    return a / b if b else 0.0


def functions(counts):
    return {"__builtins__": {}, "d_ratio": d_ratio, "min": lambda a, b: a if a < b else b,
            "max": lambda a, b: a if a > b else b, "has_event": lambda x: x is not None, **counts}


def perf_values(layout, counts):
    space = functions(counts)
    return {name: eval(code, space) for name, code in layout.code.items()}


def reference(layout):
    """An evaluator of all equations of the tables: rows of our own make it evaluate derived counters."""
    rows = td.table(f"{td.DATA}/topdown.csv")
    hw = {layout.machine[r["source_name"].lower()] for r in layout.table} - {None}
    derived = {r["machine_name"]: r["equation"] for r in td.table(f"{td.DATA}/derived_counters.csv")
               if r["layout"] == layout.name}
    blank = dict.fromkeys(rows[0], "")
    rows += [{**blank, "layout": "all", "name": f"value_of_{name}", "equation": name} for name in derived]
    tables = td.Layout(layout.name, hw, derived, rows)
    problems = [p for p in tables.problems if "is not used" not in p]
    if problems:
        layout.fail(problems[0])
    return tables, tables.compile(td.div_perf)


def draw(tables, layout, rng):
    """Counts as topdown_check draws them, with what the kernel's events then are."""
    c = td.draw_free(tables, rng)
    if rng.random() < 0.7:
        c.update(td.draw_bounded(tables, rng))
    active = {"MaliGPUActiveCy"} & set(layout.machine.values())
    for name in [*active, "MALI_CONFIG_ELAPSED_CYCLES", "MaliExtBusRdBt", "MaliExtBusWrBt", *(n for n in layout.machine.values() if n and n not in c)]:
        c[name] = max(1, c.get(name, rng.randint(0, 10 ** 6)))
    # It has an erratum, and may read 0.
    if rng.random() < 0.5:
        c["MaliGPUActiveRawCy"] = 0
    counts = {name: c[m] if m else 1 for name, m in layout.machine.items()}
    beat = c["MALI_CONFIG_EXT_BUS_BYTE_SIZE"]
    time = round(c["MALI_CONFIG_TIME_SPAN"] * 1e9)
    asleep = rng.choice([1, 2, rng.uniform(1, 20)])
    cycles = c["MALI_CONFIG_ELAPSED_CYCLES"] / asleep
    counts.update(gpu_time=time, gpu_active_time=time / asleep, gpu_cycles=cycles,
                  gpu_cycles_times_cores=cycles * c["MALI_CONFIG_SHADER_CORE_COUNT"],
                  gpu_cycles_times_slices=cycles * c["MALI_CONFIG_L2_CACHE_COUNT"],
                  external_read_bytes=c["MaliExtBusRdBt"] * beat, external_write_bytes=c["MaliExtBusWrBt"] * beat,
                  firmware_samples=1, lost=0)
    c["MALI_CONFIG_TIME_SPAN"] = time / 1e9
    if rng.random() < 0.8:
        counts["shader_cycles"] = counts["gpu_cycles"] * c["MALI_CONFIG_SHADER_CLOCK_RATIO"]
    else:
        counts["shader_cycles"] = None
        c["MALI_CONFIG_SHADER_CLOCK_RATIO"] = 1
    return c, counts


def check_levels(layout, values, what):
    for group in ("mali_topdown_l1", "mali_topdown_l2"):
        parts = {n: values[n] for n in members(layout, group)}
        if abs(math.fsum(parts.values()) - 100) > 1e-6 or min(parts.values()) < -1e-6:
            layout.fail(f"{what}: {group} is {math.fsum(parts.values())}: {parts}")


def check_values(layout, draws, seed):
    """What perf makes of counts is what the tables say. Answers how many values were compared."""
    rng = random.Random(f"{seed} {layout.name}")
    tables, run = reference(layout)
    compared, moved = 0, set()
    for _ in range(draws):
        c, counts = draw(tables, layout, rng)
        want, got = run(c), perf_values(layout, counts)
        for name, value in got.items():
            if name.startswith("mali_td_"):
                wanted = 100 * td.div_perf(want[name.removeprefix("mali_")], want["td_total"])
                # Without a cycle of the GPU all is idle; the tables leave that to the tool.
                if name == "mali_td_idle" and not want["td_total"]:
                    wanted = 100
                scale = 100
            elif f"value_of_{name}" in want:
                wanted = want[f"value_of_{name}"]
                # Differences of large counts: as exact as those are.
                scale = max(1, abs(wanted), *(counts[n] or 0 for n in layout.used[name]))
            else:
                continue
            compared += 1
            if value:
                moved.add(name)
            if abs(value - wanted) > PRODUCTS * scale:
                layout.fail(f"{name} is {value}, not {wanted}, of {counts}")
        check_levels(layout, got, "a draw")
        if len(layout.problems) > 5:
            break
    for name in layout.metrics.keys() - moved:
        if (name.startswith("mali_td_") or f"value_of_{name}" in want) and (layout.name, name) not in ALWAYS_ZERO:
            layout.fail(f"{name} was 0 in all draws")
    # A GPU that sleeps all the time: nothing was counted, and that is idleness.
    nothing = {**dict.fromkeys(counts, 0), "gpu_time": 10 ** 9}
    got = perf_values(layout, nothing)
    check_levels(layout, got, "asleep")
    if got["mali_td_idle"] != 100 or got["mali_load_gpu"] != 0 or got["mali_gpu_up"] != 0:
        layout.fail(f"asleep: {got['mali_td_idle']} % idle")
    for title, c, dominant, level in td.workloads(tables):
        if level > 2:
            continue
        counts = {name: c.get(m, 0) if m else 0 for name, m in layout.machine.items()}
        cycles = c["MALI_CONFIG_ELAPSED_CYCLES"]
        counts.update(gpu_time=10 ** 7, gpu_active_time=10 ** 7, gpu_cycles=cycles, gpu_cycles_times_cores=cycles * 4,
                      gpu_cycles_times_slices=cycles * 2, external_read_bytes=0, external_write_bytes=0, firmware_samples=1,
                      lost=0, shader_cycles=cycles * c["MALI_CONFIG_SHADER_CLOCK_RATIO"])
        got = perf_values(layout, counts)
        check_levels(layout, got, title)
        largest = max(members(layout, f"mali_topdown_l{level}"), key=lambda n: got[n])
        if largest != f"mali_{dominant}":
            layout.fail(f"{title}: {largest} is {got[largest]}, mali_{dominant} {got['mali_' + dominant]}")
    return compared


def say_list(layout, path):
    """What is missing from what perf lists."""
    with open(path, encoding="utf-8") as f:
        listed = json.load(f)
    have = {e["EventName"]: e for e in listed if e.get("Unit", "").startswith("panthor") and "EventName" in e}
    metrics = {e["MetricName"]: e for e in listed if "MetricName" in e}
    for entries, found in ((layout.events, have), (layout.metrics, metrics)):
        for name, e in entries.items():
            if name not in found:
                print(f"wrong: {name} is not listed")
            elif found[name].get("BriefDescription", "").rstrip(".") != e["BriefDescription"].rstrip("."):
                print(f"wrong: {name} is described as {found[name].get('BriefDescription')!r}")
    print(f"listed {len(layout.events.keys() & have.keys())} events {len(layout.metrics.keys() & metrics.keys())} metrics")


def say_stat(layout, path):
    """The metrics of each interval, which have to be what their expressions are of the counts there."""
    intervals = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            if line.startswith("{"):
                e = json.loads(line)
                intervals.setdefault(e["interval"], []).append(e)
    if not intervals:
        print(f"wrong: {path} has no interval")
    for number, lines in enumerate(intervals.values(), 1):
        counts, values = {"shader_cycles": None}, {}
        for e in lines:
            if "event" in e:
                name = e["event"]
                if counts.get(name) is not None:
                    print(f"wrong: {name} was counted twice: the metrics are in more than one group")
                if float(e["pcnt-running"]) != 100:
                    print(f"wrong: {name} was counted for {e['pcnt-running']} % of the time")
                scale = re.match(r"[0-9.]+(e-[0-9]+)?", layout.events.get(name, {}).get("ScaleUnit", "1"))[0]
                counts[name] = float(e["counter-value"]) / float(scale)
            # perf of 6.12 says null where there is none.
            unit = e.get("metric-unit", "(null)").split()
            if unit[-1] != "(null)":
                values[unit[-1]] = float(e["metric-value"])
        for name, value in values.items():
            print(f"metric {number} {name} {value:f}")
            want = eval(layout.code[name], functions(counts))
            if abs(want - value) > 1e-5 * max(1, abs(want)):
                print(f"wrong: interval {number}: {name} is {value}, and {want} by its expression")
        for group in ("mali_topdown_l1", "mali_topdown_l2"):
            parts = members(layout, group)
            if all(n in values for n in parts):
                print(f"sum {number} {group} {math.fsum(values[n] for n in parts):f}")


def main():
    # A closed pipe ends this program quietly.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    p = argparse.ArgumentParser()
    p.add_argument("-n", type=int, default=200)
    p.add_argument("-s", type=int, default=1)
    p.add_argument("-l", nargs=2, metavar=("LAYOUT", "FILE"))
    p.add_argument("-p", nargs=2, metavar=("LAYOUT", "FILE"))
    p.add_argument("dir", nargs="?", default=os.path.join(HERE, "arch/arm64/mali"))
    o = p.parse_args()
    if o.l or o.p:
        short, file = o.l or o.p
        layout = Layout(next(name for name, d in DIRECTORY.items() if d == short), o.dir)
        (say_list if o.l else say_stat)(layout, file)
        return
    print(f"1..{len(DIRECTORY)}")
    for number, name in enumerate(DIRECTORY, 1):
        layout = Layout(name, o.dir)
        check_events(layout)
        check_names(layout)
        check_groups(layout)
        check_left_out(layout, o.dir)
        compared = 0 if layout.problems else check_values(layout, o.n, o.s)
        print(f"{'not ' if layout.problems else ''}ok {number} - {name}: {len(layout.events)} events and "
              f"{len(layout.metrics)} metrics for perf say what the tables say")
        print(f"# {compared} values compared")
        for problem in layout.problems[:6]:
            print(f"# {problem[:1500]}")


main()
