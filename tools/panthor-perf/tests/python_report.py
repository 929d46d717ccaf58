#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the figures of report -j with those that the module panthor_perf gives, to the last digit.

Percentiles of report may be 0.4 % too high. Not in the module: the graph over time and its noise. Prints what differs,
and then how many figures were compared."""
import argparse
import json
import math
import signal

import panthor_perf


class Comparison:
    def __init__(self, report, recording):
        with open(report, encoding="utf-8") as file:
            self.report = json.load(file)
        self.recording = panthor_perf.Recording(recording)
        self.total = self.recording.total(per_block=True)
        self.columns = self.recording.columns()
        self.counters = {counter.name: counter for counter in self.recording.counters()}
        self.compared = 0

    def expect(self, name, wanted, got):
        self.compared += 1
        if wanted != got:
            print(f"{name} is {got!r}, report has {wanted!r}")

    def whole(self):
        recording, columns = self.recording, self.columns
        lengths = [int(end) - int(start) for start, end in zip(columns["start_ns"], columns["end_ns"])]
        figures = {
            "start_ns": recording.start_ns,
            "end_ns": recording.end_ns,
            "samples": len(recording),
            "overflow": sum(flags & 1 != 0 for flags in columns["flags"]),
            "error": sum(flags & 2 != 0 for flags in columns["flags"]),
            "stretched": sum(flags & 4 != 0 for flags in columns["flags"]),
            "longest_ns": max(lengths),
            "mean_ns": sum(lengths) / len(lengths),
        }
        for key, value in figures.items():
            self.expect(key, self.report[key], value)
        self.expect("samples of columns", len(recording), len(lengths))
        self.expect("samples of a total", len(recording), self.total.samples)
        head, gpu = self.report["recording"], self.report["recording"]["gpu"]
        for key in "tool", "host", "kernel", "machine":
            self.expect(key, head.get(key, ""), getattr(recording, key))
        self.expect("command", head.get("command"), recording.command)
        self.expect("period_ns", head["period_ns"], recording.period * 1e9)
        self.expect("gpu", (gpu["id"], gpu["name"], gpu["layout"], gpu["cores"], gpu["slices"]),
                    (recording.gpu.gpu_id, recording.gpu.name, recording.gpu.layout, recording.gpu.cores,
                     recording.gpu.slices))
        self.load("", self.report, self.total)
        parts = {part.name: part for level in self.total.topdown.values() for part in level}
        nodes = {node["name"]: node for node in self.report.get("topdown", []) if node["level"]}
        self.expect("parts, but for those that have parts themselves at the last level", sorted(nodes), sorted(parts))
        for name, part in parts.items():
            for key in "title", "cycles", "share":
                self.expect(f"{name}: {key}", nodes[name][key], getattr(part, key))

    def load(self, name, of, total):
        load = of.get("load", {})
        for key in "of_time", "of_cycles", "active_cycles", "cycles":
            if load.get(key) is not None:
                self.expect(f"{name}load.{key}", load[key], getattr(total.load, key))
        if load.get("active_seconds") is not None:
            # report prints nanoseconds.
            self.expect(f"{name}load.active_seconds", load["active_seconds"], round(total.load.active_seconds, 9))
        if load.get("active_hz") is not None:
            self.expect(f"{name}load.active_hz", load["active_hz"], total.load.active_cycles / total.load.active_seconds)
        for key, counter in ("read", "MaliExtBusRdBy"), ("written", "MaliExtBusWrBy"):
            if of.get("bandwidth", {}).get(key) is not None:
                self.expect(f"{name}{key}", of["bandwidth"][key], total.values[counter] / total.seconds)

    def counter(self, c):
        name, counter = c["name"], self.counters[c["name"]]
        for key in "title", "group", "unit":
            self.expect(f"{name}: {key}", c[key], getattr(counter, key))
        count = "total" in c
        lengths = [(int(end) - int(start)) / 1e9 for start, end in zip(self.columns["start_ns"], self.columns["end_ns"])]
        values = [(float(value / seconds if count else value), seconds)
                  for value, seconds in zip(self.columns[name], lengths) if seconds and not math.isnan(value)]
        if "mean" not in c:
            self.expect(f"{name}: samples with a value", 0, len(values))
            return
        value = self.total.values[name]
        if count:
            self.expect(f"{name}: total", c["total"], value)
        if "blocks" in c:
            self.expect(f"{name}: blocks", c["blocks"], self.total.blocks[name])
        self.expect(f"{name}: mean", c["mean"], value / self.total.seconds if count else value)
        self.expect(f"{name}: min", c["min"], min(values)[0])
        self.expect(f"{name}: max", c["max"], max(values)[0])
        values.sort()
        for percent in 50, 95, 99:
            below = percent / 100 * sum(seconds for _, seconds in values)
            part, of = 0, iter(values)
            while part < below * (1 - 1e-12):
                exact, seconds = next(of)
                part += seconds
            self.expect(f"{name}: p{percent}, {exact}, {c[f'p{percent}'] - exact} off", True,
                        abs(c[f"p{percent}"] - exact) <= 0.00401 * abs(exact))

    def region(self, region, total):
        name = region["name"] or ""
        known = next(known for known in self.recording.regions() if known.name == name)
        if name:
            self.expect(f"{name}: times", region["times"], known.times)
            self.expect(f"{name}: marks", region["times"], [mark.name for mark in self.recording.marks()].count(name))
        self.expect(f"{name}: seconds", region["seconds"], known.seconds)
        self.expect(f"{name}: samples", region["samples"], total.samples)
        if not region["samples"]:
            return
        self.expect(f"{name}: sampled", region["sampled_seconds"], total.seconds)
        self.load(f"{name}: ", region, total)
        for c in region["counters"]:
            value = total.values[c["name"]]
            if "total" in c:
                self.expect(f"{name}: {c['name']}", c["total"], value)
            if "mean" in c:
                self.expect(f"{name}: mean of {c['name']}", c["mean"], value / total.seconds if "total" in c else value)

    def samples(self):
        """Those of the iterator are those of the columns."""
        names = [counter["name"] for counter in self.report["counters"]]
        index = -1
        for index, sample in enumerate(self.recording):
            got = [sample.start_ns, sample.end_ns, *sample.cycles.values(), *(sample.values[name] for name in names)]
            cycles = [f"{clock}_cycles" for clock in sample.cycles]
            wanted = [self.columns[name][index] for name in ["start_ns", "end_ns", *cycles, *names]]
            wanted = [None if math.isnan(value) else value for value in wanted]
            if got != wanted:
                self.expect(f"sample {index}", wanted, got)
        self.expect("samples of the iterator", len(self.recording), index + 1)

    def run(self):
        self.whole()
        self.expect("counters", [c["name"] for c in self.report["counters"]], list(self.counters))
        for c in self.report["counters"]:
            self.counter(c)
        totals = self.recording.by_region()
        for region in self.report.get("regions", []):
            self.region(region, totals[region["name"] or ""])
        self.samples()
        print(self.compared)


signal.signal(signal.SIGPIPE, signal.SIG_DFL)
parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("report")
parser.add_argument("recording")
arguments = parser.parse_args()
Comparison(arguments.report, arguments.recording).run()
