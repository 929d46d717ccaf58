#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes what perf and the kernel know of the counters of Mali CSF GPUs from the tables of panthor-perf.

usage: mali_events.py [-d DATADIR] header         the kernel's events/ table, a C header, to stdout
       mali_events.py [-d DATADIR] json [DIR]     what perf knows, into DIR, or arch/arm64/mali

DATADIR has the tables; it is tools/panthor-perf/data if not given.

An event's number is the type of its block << 8 | its index in the block, as in the format/ of the
PMU. Its name is the hardware's own one in lower case: that is unique in a layout, and there is one
for each counter. What the hardware calls the same has the same name on each layout.

Each equation of the tables becomes a metric of perf. What its language lacks is made up for here:
a name stands for no other metric (perf of Linux 6.12 knows none of such a PMU), so each equation is
written out; where that would be long, REWRITTEN has shorter ones of the same value. There is no
0 / 0: d_ratio(x, 0) is 0. Numbers of the GPU that are no counters come of events that the kernel
makes (CONFIG). What cannot be said, or is not worth it, is in left-out.txt beside the JSON.
"""
import argparse
import collections
import csv
import fractions
import json
import os
import re
import signal
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
DATA = os.path.join(HERE, "../../panthor-perf/data")
JSON = os.path.join(HERE, "arch/arm64/mali")

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "../../panthor-perf/tests"))
import topdown_check as td  # noqa: E402

# Layouts of counters in the order of architectures 10 to 14: the name in the tables, and the name of
# the directory, which is also what the PMU's identifier has behind "mali-".
LAYOUTS = {"Mali-G710": "g710", "Mali-G715": "g715", "Mali-G720": "g720", "Mali-G725": "g725", "Mali G1": "g1"}

# enum drm_panthor_perf_block_type
BLOCKS = {"FW": 1, "CSG": 2, "CSHW": 3, "TILER": 4, "MEMSYS": 5, "SHADER": 6}

MIB = "9.5367431640625e-07"         # 1 / 2^20, exactly

Made = collections.namedtuple("Made", "name event unit scale title")

# Events that the kernel makes. Their block type is 0, which no block of counters has.
MADE = [
    Made("gpu_time", 0x01, "ns", None, "Time that samples cover (the GPU's sleep included)"),
    Made("gpu_active_time", 0x02, "ns", None, "Time that the GPU was up"),
    Made("gpu_cycles", 0x03, "cycles", None, "Cycles of the GPU's top-level clock while the GPU was up"),
    Made("coregroup_cycles", 0x04, "cycles", None, "Cycles of the core groups' clock while the GPU was up"),
    Made("shader_cycles", 0x05, "cycles", None, "Cycles of the shader cores' clock while the GPU was up"),
    Made("gpu_cycles_times_cores", 0x06, "cycles", None, "gpu_cycles times the number of shader cores"),
    Made("gpu_cycles_times_slices", 0x07, "cycles", None, "gpu_cycles times the number of L2 cache slices"),
    Made("external_read_bytes", 0x08, "MiB", MIB, "Bytes read over the external bus"),
    Made("external_write_bytes", 0x09, "MiB", MIB, "Bytes written over the external bus"),
    Made("firmware_samples", 0x0a, None, None, "Samples of firmware that are in the counts"),
    Made("lost", 0x0b, None, None, "Samples whose counts may be too low (a limit was reached or the GPU failed)"),
]

# Counters that the kernel names in events/, for a perf that has no JSON of ours.
NAMED = """
    gpu_active gpu_iter_active gpu_irq_active mcu_active
    iter_tiler_active iter_tiler_ready_blocked iter_comp_active iter_comp_ready_blocked
    iter_frag_active iter_frag_ready_blocked
    tiler_active prim_visible
    l2_any_lookup l2_read_lookup l2_write_lookup l2_ext_read l2_ext_write l2_ext_read_beats l2_ext_write_beats
    l2_ext_ar_stall l2_ext_w_stall
    shader_core_active exec_core_active frag_active compute_active frag_warps compute_warps
""".split()

# Counters that the kernel makes events of. Each has one number on all layouts, or there is an error.
INPUTS = {
    "EXTERNAL_READ": ("l2_ext_read_beats", "Beats of the external bus that carried data read"),
    "EXTERNAL_WRITE": ("l2_ext_write_beats", "Beats of the external bus that carried data written"),
}

# Counters that the tables give no name of their own, but by which derived counters reckon: the name that
# those use (as in libpanthor-perf's db.c), what they count, and in which unit.
UNNAMED = {
    "gpu_irq_active": ("MaliGPUIRQActiveCy", "Interrupt pending cycles", "cycles"),
    "prim_sample_culled": ("MaliGeomSampleCullPrim", "Sample test culled primitives", "primitives"),
    "pos_shader_warps": ("MaliGeomPosShadTask", "Tiler position shading requests", "requests"),
    "pos_shader_stall": (None, "Tiler position shading stall cycles", "cycles"),
    "pos_fifo_full": (None, "Tiler position FIFO full cycles", "cycles"),
    "vbu_hit": (None, "Varying buffer hits", "requests"),
    "var_shader_warps": ("MaliGeomVarShadTask", "Tiler varying shading requests", "requests"),
    "var_shader_stall": (None, "Tiler varying shading stall cycles", "cycles"),
    "full_warps": ("MaliCoreFullWarp", "Full warps", "warps"),
    "tex_rsps_num_operations": ("MaliTexOutBt", "Texture output beats", "beats"),
    "rt_box_issue_cycles": ("MaliRTUBoxIssueCy", "Ray tracing box tester issue cycles", "cycles"),
    "rt_tri_issue_cycles": ("MaliRTUTriIssueCy", "Ray tracing triangle tester issue cycles", "cycles"),
    "blend_issue": ("MaliBlendIssueCy", "Blend unit issue cycles", "cycles"),
    "attr_issue": ("MaliAttrIssueCy", "Attribute unit issue cycles", "cycles"),
}

Counter = collections.namedtuple("Counter", "layout block name event machine title unit")


def die(text):
    sys.exit(f"mali_events.py: {text}")


class Tables:
    """The tables of panthor-perf."""

    def __init__(self, path):
        self.path = path
        self.credit = None
        self.derived = {layout: {} for layout in LAYOUTS}
        self.counters = {layout: {} for layout in LAYOUTS}
        for r in self.rows("hw_counters.csv"):
            if r["layout"] not in LAYOUTS:
                die(f"hw_counters.csv: layout {r['layout']} is new: add it to LAYOUTS, and to the PMU's identifiers")
            name = r["source_name"].lower()
            what = r["machine_name"], r["human_name"], r["units"]
            if not what[0]:
                what = UNNAMED.get(name) or die(f"hw_counters.csv: {name} has no name: say in UNNAMED what it is")
            c = Counter(r["layout"], r["block"], name, BLOCKS[r["block"]] << 8 | int(r["index"]), *what)
            if c.name in self.counters[c.layout] or c.name in (m.name for m in MADE):
                die(f"hw_counters.csv: {c.layout} has two counters {c.name}")
            self.counters[c.layout][c.name] = c
        for r in self.rows("derived_counters.csv"):
            self.derived[r["layout"]][r["machine_name"]] = r
        self.topdown = list(self.rows("topdown.csv"))

    def rows(self, name):
        """The rows of a table, whose comment says whose the facts are."""
        with open(os.path.join(self.path, name), encoding="utf-8") as f:
            lines = f.readlines()
        for line in lines:
            if line.startswith("# Copyright"):
                self.credit = line[1:].strip()
        return csv.DictReader(line for line in lines if not line.startswith("#"))


def c_string(text):
    return "NULL" if text is None else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def header(tables):
    """The kernel's table of names."""
    numbers = {}
    for name, (source, _) in INPUTS.items():
        found = {tables.counters[layout][source].event for layout in LAYOUTS}
        if len(found) != 1:
            die(f"{source} has not the same number on all layouts: the kernel needs a table of them")
        numbers[name] = found.pop()

    rows = [(m.name, m.event, m.unit, m.scale, (1 << len(LAYOUTS)) - 1) for m in MADE]
    for name in NAMED:
        masks = {}
        for bit, layout in enumerate(LAYOUTS):
            c = tables.counters[layout].get(name)
            if c:
                masks[c.event, c.unit or None] = masks.get((c.event, c.unit or None), 0) | 1 << bit
        if not masks:
            die(f"no layout has a counter {name}")
        rows += [(name, event, unit, None, mask) for (event, unit), mask in masks.items()]

    credit = tables.credit.replace(". Facts", ".\n * Facts", 1)
    out = f"""/* SPDX-License-Identifier: GPL-2.0 or MIT */
/*
 * {credit}
 */
/*
 * Performance counters: names of events for perf.
 *
 * Written by tools/perf/pmu-events/mali_events.py: change that, and run it.
 */

#ifndef __PANTHOR_PERF_PMU_EVENTS_H__
#define __PANTHOR_PERF_PMU_EVENTS_H__

#include "panthor_perf_pmu.h"

"""
    for name, event in numbers.items():
        out += f"/** define PANTHOR_PERF_PMU_{name} - {INPUTS[name][1]} */\n"
        out += f"#define PANTHOR_PERF_PMU_{name}\t0x{event:03x}\n\n"
    out += """/*
 * Files in events/. _layouts has a bit for each architecture that has the event, from 10 on; _i and
 * _next are indices in the array.
 */
#define PMU_FILE(_name, _text, _event, _layouts)				\\
	(&((struct perf_pmu_events_attr[]) { {					\\
		.attr = __ATTR(_name, 0444, perf_event_sysfs_show, NULL),	\\
		.id = PANTHOR_PERF_PMU_ID(_event, _layouts),			\\
		.event_str = _text,						\\
	} })[0].attr.attr)

#define PMU_EVENT(_name, _event, _layouts)					\\
	PMU_FILE(_name, "event=" #_event, _event, _layouts)

#define PMU_UNIT(_unit, _name, _event, _layouts)				\\
	PMU_FILE(_name.unit, _unit, _event, _layouts)

#define PMU_EVENT_UNIT(_i, _next, _unit, args...)				\\
	[_i] = PMU_EVENT(args), [_next] = PMU_UNIT(_unit, args)

static struct attribute *panthor_perf_pmu_events[] = {
"""
    files = 0
    for name, event, unit, scale, mask in rows:
        args = f"{name}, 0x{event:03x}, 0x{mask:02x}"
        if unit:
            out += f"\tPMU_EVENT_UNIT({files}, {files + 1}, {c_string(unit)}, {args}),\n"
            files += 1
        else:
            out += f"\t[{files}] = PMU_EVENT({args}),\n"
        files += 1
        if scale:
            out += f"\t[{files}] = PMU_FILE({name}.scale, {c_string(scale)}, 0x{event:03x}, 0x{mask:02x}),\n"
            files += 1
    return out + f"\t[{files}] = NULL\n}};\n\n#endif\n"


# The files of a layout, by the type of blocks: perf shows their names as topics.
TOPICS = {0: "gpu", 3: "command-stream", 4: "tiler", 5: "memory-system", 6: "shader-core"}

# What a name is that is no counter, as a fraction of events: numerators and denominators. The clock of
# shader cores need not be known, then its event is not there: the cores are taken to be as fast as the rest.
# What is in a denominator is not 0 while the GPU is up, as gpu_active may be on the G715 and the G615, by an erratum.
CONFIG = {
    "MALI_CONFIG_SHADER_CORE_COUNT": (["gpu_cycles_times_cores"], ["gpu_cycles"]),
    "MALI_CONFIG_L2_CACHE_COUNT": (["gpu_cycles_times_slices"], ["gpu_cycles"]),
    "MALI_CONFIG_EXT_BUS_BYTE_SIZE": (["(external_read_bytes + external_write_bytes)"],
                                      ["(l2_ext_read_beats + l2_ext_write_beats)"]),
    "MALI_CONFIG_TIME_SPAN": (["gpu_time"], ["1000000000"]),
    "MALI_CONFIG_ELAPSED_CYCLES": (["gpu_cycles", "gpu_time"], ["gpu_active_time"]),
    "MALI_CONFIG_SHADER_CLOCK_RATIO":
        (["(d_ratio(shader_cycles, gpu_cycles) if has_event(shader_cycles) else 1)"], []),
}
# perf asks whether a name is an event, not whether the device has it: these are known by sysfs alone.
BY_SYSFS = ["coregroup_cycles", "shader_cycles"]

# Equations of the same value as those of the tables, but shorter when all names in them are written out:
# what the tables say by a - min(a, b) and by splits of a sum is said directly. Rows td_p_ are ours alone.
# Behind a name: the layouts, if not all have the same. The test compares values.
OLD, NEW = ("Mali-G710", "Mali-G715"), ("Mali-G720", "Mali-G725", "Mali G1")
NO_PRESSURE, PRESSURE = ("Mali-G710", "Mali-G715", "Mali-G720"), ("Mali-G725", "Mali G1")
REWRITTEN = [
    ("MaliExtBusRdBy", None, "external_read_bytes"),
    ("MaliExtBusWrBy", None, "external_write_bytes"),
    # Cycles that an average core has fragment work: no more than the queue runs.
    ("td_h_cores_main", OLD, "min(td_h_main, min(MaliAnyActiveCy, MaliFragActiveCy) / td_h_percore)"),
    ("td_h_cores_main", NEW, "min(td_h_main, min(MaliAnyActiveCy, MaliMainActiveCy) / td_h_percore)"),
    ("td_h_unfed_other", None, "max(0, td_h_run - td_h_cores - td_h_main + td_h_cores_main)"),
    # Part of the cycles with a warp in which all wait.
    ("td_p_starve", None, "MaliEngStarveCy / (4 * MaliCoreActiveCy)"),
    # Part of the cycles with a warp that are not lost.
    ("td_p_used", NO_PRESSURE, "max(td_h_busy, 1 - td_p_starve)"),
    ("td_p_used", PRESSURE, "max(td_h_busy, 1 + td_h_busy - td_h_need - td_p_starve)"),
    # Cycles that an average core with work loses.
    ("td_p_stuck", None, "td_h_cores - td_h_exec * td_p_used"),
    ("td_h_lost", None, "td_h_tiler + td_p_stuck"),
    ("td_p_bus", None, "max(MaliExtBusRdStallCy, MaliExtBusWrStallCy) / MaliConfigL2CacheCount"),
    ("td_h_keep", None, "max(0, 1 - td_p_bus / td_h_lost)"),
    ("td_h_units", NO_PRESSURE, "td_h_exec * td_h_busy"),
    ("td_h_units", PRESSURE, "td_h_exec * (td_h_busy + (td_h_need - td_h_busy) * td_h_keep)"),
    ("td_core", None, "td_h_cores - td_p_stuck * min(1, td_p_bus / td_h_lost)"),
    ("td_memory", None, "min(td_h_lost, td_p_bus)"),
    ("td_core_blocked", None, "td_h_exec * min(1 - td_h_need, td_p_starve) * td_h_keep"),
    ("td_core_underfed", None, "td_h_exec * max(0, 1 - td_h_need - td_p_starve)"),
    ("td_mem_read", None, "td_memory * (MaliExtBusRdStallCy / (MaliExtBusRdStallCy + MaliExtBusWrStallCy))"),
]

Metric = collections.namedtuple("Metric", "name layouts groups title unit equation")

# Metrics beyond those of the tables. Loads are of all cycles, those too that the GPU slept through.
MORE = [
    Metric("mali_load_gpu", None, "mali_load", "GPU active as a part of all cycles", "percent",
           "100 * MaliGPUActiveCy / td_total"),
    Metric("mali_load_compute", None, "mali_load", "Compute queue running as a part of all cycles", "percent",
           "100 * td_h_comp / td_total"),
    Metric("mali_load_vertex", OLD, "mali_load", "Vertex queue running as a part of all cycles", "percent",
           "100 * td_h_bin / td_total"),
    Metric("mali_load_binning", NEW, "mali_load", "Binning queue running as a part of all cycles", "percent",
           "100 * td_h_bin / td_total"),
    Metric("mali_load_fragment", OLD, "mali_load", "Fragment queue running as a part of all cycles", "percent",
           "100 * td_h_main / td_total"),
    Metric("mali_load_main", NEW, "mali_load", "Main queue running as a part of all cycles", "percent",
           "100 * td_h_main / td_total"),
    Metric("mali_load_tiler", None, "mali_load", "Tiler active as a part of all cycles", "percent",
           "100 * MaliTilerActiveCy / td_total"),
    Metric("mali_load_cores", None, "mali_load", "Average shader core with work as a part of all cycles", "percent",
           "100 * MaliAnyActiveCy / td_h_percore / td_total"),
    Metric("mali_gpu_up", None, "mali_load", "Time that the GPU was up as a part of all time", "percent",
           "100 * gpu_active_time / gpu_time"),
    Metric("mali_gpu_frequency", None, "mali_load", "Mean rate of the GPU's top-level clock while it was up", "MHz",
           "1000 * gpu_cycles / gpu_active_time"),
]
# Groups that metrics of the tables are in besides those of the table.
MORE_GROUPS = {
    "mali_memory": ["MaliExtBusRdBPS", "MaliExtBusWrBPS", "MaliExtBusRdStallRate", "MaliExtBusWrStallRate",
                    "MaliL2CacheRdMissRate", "MaliL2CacheWrMissRate"],
}
SCALES = {"percent": "1%", "bytes/second": MIB + "MiB/s"}

# A node's part of all cycles. Idle is what remains: then it is 100 when the GPU slept through, and had no cycles.
PART = "100 * {0} / td_total"
IDLE = "100 - 100 * MaliGPUActiveCy / td_total"


class Language:
    """Writes equations of one layout in perf's language."""

    def __init__(self, tables, layout):
        self.events = {c.machine: name for name, c in tables.counters[layout].items() if c.machine}
        self.events.update((m.name, m.name) for m in MADE)
        self.trees = {name: td.parse(r["equation"]) for name, r in tables.derived[layout].items()}
        for r in tables.topdown:
            if r["layout"] == "all" or layout in r["layout"].split("|"):
                self.trees[r["name"]] = td.parse(r["equation"])
        for name, layouts, equation in REWRITTEN:
            if not layouts or layout in layouts:
                self.trees[name] = td.parse(equation)
        self.known = {}

    def write(self, equation):
        return self.sum(td.parse(equation))

    def sum(self, tree):
        """The text of it, a sum as it is."""
        if tree[0] in ("+", "-"):
            right = self.operand(tree[2]) if tree[0] == "-" else self.sum(tree[2])
            return f"{self.sum(tree[1])} {tree[0]} {right}"
        if tree[0] == "name" and self.is_sum(tree):
            return self.sum(self.trees[tree[1]])
        return self.product(*self.fraction(tree))

    def is_sum(self, tree):
        while tree[0] == "name" and tree[1] in self.trees:
            tree = self.trees[tree[1]]
        return tree[0] in ("+", "-")

    def operand(self, tree):
        return f"({self.sum(tree)})" if self.is_sum(tree) else self.sum(tree)

    def fraction(self, tree):
        """A factor, numerators and denominators, without what is in both."""
        op = tree[0]
        if op == "number":
            return fractions.Fraction(str(tree[1])), [], []
        if op == "name":
            name = tree[1]
            if name not in self.known:
                if name in CONFIG:
                    self.known[name] = fractions.Fraction(1), *CONFIG[name]
                elif name in self.trees and not self.is_sum(tree):
                    self.known[name] = self.fraction(self.trees[name])
                elif name in self.trees:
                    self.known[name] = fractions.Fraction(1), [self.operand(tree)], []
                else:
                    self.known[name] = fractions.Fraction(1), [self.events[name]], []
            return self.known[name]
        if op in ("min", "max"):
            text = self.sum(tree[-1])
            for part in reversed(tree[1:-1]):
                text = f"{op}({self.sum(part)}, {text})"
            return fractions.Fraction(1), [text], []
        if op in ("*", "/"):
            factor, top, bottom = self.fraction(tree[1])
            factor2, top2, bottom2 = self.fraction(tree[2])
            if op == "/":
                factor2, top2, bottom2 = 1 / factor2, bottom2, top2
            top, bottom = top + top2, bottom + bottom2
            for part in list(top):
                if part in bottom:
                    top.remove(part)
                    bottom.remove(part)
            return factor * factor2, top, bottom
        if op in ("+", "-"):
            return fractions.Fraction(1), [self.operand(tree)], []
        raise td.Bad(f"perf has no {op}")

    @staticmethod
    def product(factor, top, bottom):
        # What was a number as a name, too.
        for part in list(bottom):
            if part.isdigit():
                factor /= int(part)
                bottom = [p for p in bottom if p != part]
        up, down = factor.numerator, factor.denominator
        above = " * ".join([str(up)] * (up != 1 or not top) + top)
        below = " * ".join([str(down)] * (down != 1) + bottom)
        if bottom:
            return f"d_ratio({above}, {below})"
        return f"{above} / {down}" if down != 1 else above


NAME = re.compile(r"[a-z][a-z0-9_]*")
WORDS = {"min", "max", "d_ratio", "if", "else", "has_event"}


def events_of(expression):
    return [name for name in NAME.findall(expression) if name not in WORDS]


def slug(text):
    return "mali_" + re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")


def described(layout, **entry):
    return {**{key: value for key, value in entry.items() if value}, "Unit": "panthor", "Compat": f"mali-{LAYOUTS[layout]}"}


def events_json(tables, layout):
    """The events, by file."""
    files = {topic: [] for topic in TOPICS.values()}
    for m in MADE:
        if m.name not in BY_SYSFS:
            files[TOPICS[0]].append(described(
                layout, EventName=m.name, EventCode=f"0x{m.event:x}", BriefDescription=m.title,
                ScaleUnit=f"{m.scale or 1}{m.unit}" if m.unit else None))
    for c in sorted(tables.counters[layout].values(), key=lambda c: c.event):
        files[TOPICS[c.event >> 8]].append(described(
            layout, EventName=c.name, EventCode=f"0x{c.event:x}",
            BriefDescription=f"{c.title} ({c.machine})" if c.machine else c.title, ScaleUnit=f"1{c.unit}"))
    return files


def metrics_json(tables, layout, left_out):
    """The metrics, by file, and what is none."""
    language = Language(tables, layout)
    files = {"metrics": [], "top-down": []}

    def add(file, name, groups, title, unit, equation, more=None):
        expression = language.write(equation)
        if not events_of(expression):
            left_out.append((LAYOUTS[layout], name, "a constant, there is nothing to count"))
            return
        files[file].append(described(
            layout, MetricName=name, MetricGroup=groups, BriefDescription=title, PublicDescription=more,
            MetricExpr=expression, ScaleUnit=SCALES.get(unit, f"1{unit}")))

    for m in MORE:
        if not m.layouts or layout in m.layouts:
            add("metrics", m.name, m.groups, m.title, m.unit, m.equation)
    for name, r in tables.derived[layout].items():
        groups = [slug(r["group"])] + [group for group, members in MORE_GROUPS.items() if name in members]
        add("metrics", name, ";".join(groups), r["human_name"], r["units"], name)

    nodes = {r["name"]: r for r in tables.topdown if r["level"] and (r["layout"] == "all" or layout in r["layout"].split("|"))}
    parents = {r["parent"] for r in nodes.values()}
    for name, r in nodes.items():
        if r["level"] == "0":
            left_out.append((LAYOUTS[layout], name, "all cycles are always 100 percent"))
        elif int(r["level"]) > 2:
            size = len(events_of(language.write(PART.format(name))))
            left_out.append((LAYOUTS[layout], name, "a third level: without names for parts of an equation, "
                             f"which perf has for metrics of CPUs alone, it would name {size} events"))
        else:
            # A node without parts stands for itself one level down.
            levels = [r["level"]] + ["2"] * (r["level"] == "1" and name not in parents)
            of = "" if r["level"] == "1" else f"{nodes[r['parent']]['title']}: "
            # perf forgets the space behind a comma of a short description.
            title = r["title"].replace(",", "")
            add("top-down", f"mali_{name}", ";".join(f"mali_topdown_l{level}" for level in levels),
                f"{of}{title} as a part of all cycles (estimate)", "percent",
                IDLE if name == "td_idle" else PART.format(name), r["next"])
    return files


def write_json(tables, directory):
    """All files of perf: what is there and is none of them goes."""
    left_out = []
    for layout, short in LAYOUTS.items():
        where = os.path.join(directory, short, "sys")
        os.makedirs(where, exist_ok=True)
        files = {**events_json(tables, layout), **metrics_json(tables, layout, left_out)}
        for name in os.listdir(where):
            if name.removesuffix(".json") not in files:
                os.unlink(os.path.join(where, name))
        for name, entries in files.items():
            with open(os.path.join(where, f"{name}.json"), "w", encoding="utf-8") as f:
                json.dump(entries, f, indent=4)
                f.write("\n")
    with open(os.path.join(directory, "left-out.txt"), "w", encoding="utf-8") as f:
        f.write("# SPDX-License-Identifier: MIT\n"
                "# Equations of panthor-perf's tables that are no metrics of perf: layout, name, why.\n"
                "# Written by mali_events.py.\n")
        f.writelines(f"{layout} {name}: {why}\n" for layout, name, why in left_out)


def main():
    # A closed pipe ends this program quietly.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    parser = argparse.ArgumentParser(description="Writes what perf and the kernel know of the counters of Mali CSF GPUs.")
    parser.add_argument("-d", metavar="DATADIR", default=DATA, help="directory of panthor-perf's tables")
    parser.add_argument("what", choices=["header", "json"])
    parser.add_argument("dir", nargs="?", default=JSON, help="where JSON goes")
    args = parser.parse_args()
    tables = Tables(args.d)
    if args.what == "header":
        sys.stdout.write(header(tables))
    else:
        write_json(tables, args.dir)


main()
