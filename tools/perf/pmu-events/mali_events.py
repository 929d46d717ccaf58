#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes what perf and the kernel know of the counters of Mali CSF GPUs from the tables of panthor-perf.

usage: mali_events.py [-d DATADIR] header       the kernel's events/ table, a C header, to stdout

DATADIR has hw_counters.csv; it is tools/panthor-perf/data if not given.

An event's number is the type of its block << 8 | its index in the block, as in the format/ of the
PMU. Its name is the hardware's own one in lower case: that is unique in a layout, and there is one
for each counter. What the hardware calls the same has the same name on each layout.
"""
import argparse
import collections
import csv
import os
import sys

DATA = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../panthor-perf/data")

# Layouts of counters in the order of architectures 10 to 14: the name in the tables, and the name of
# the directory, which is also what the PMU's identifier has behind "mali-".
LAYOUTS = {"Mali-G710": "g710", "Mali-G715": "g715", "Mali-G720": "g720", "Mali-G725": "g725", "Mali G1": "g1"}

# enum drm_panthor_perf_block_type
BLOCKS = {"FW": 1, "CSG": 2, "CSHW": 3, "TILER": 4, "MEMSYS": 5, "SHADER": 6}

MIB = "9.5367431640625e-07"         # 1 / 2^20, exactly

Made = collections.namedtuple("Made", "name event unit scale title")

# Events that the kernel makes. Their block type is 0, which no block of counters has.
MADE = [
    Made("gpu_time", 0x01, "ns", None, "Time covered by samples, also while the GPU sleeps"),
    Made("gpu_active_time", 0x02, "ns", None, "Time that the GPU was up"),
    Made("gpu_cycles", 0x03, "cycles", None, "Cycles of the GPU's top-level clock while the GPU was up"),
    Made("coregroup_cycles", 0x04, "cycles", None, "Cycles of the core groups' clock while the GPU was up"),
    Made("shader_cycles", 0x05, "cycles", None, "Cycles of the shader cores' clock while the GPU was up"),
    Made("gpu_active_cores", 0x06, "cycles", None, "GPU active cycles times the number of shader cores"),
    Made("gpu_active_slices", 0x07, "cycles", None, "GPU active cycles times the number of L2 cache slices"),
    Made("external_read_bytes", 0x08, "MiB", MIB, "Bytes read over the external bus"),
    Made("external_write_bytes", 0x09, "MiB", MIB, "Bytes written over the external bus"),
    Made("firmware_samples", 0x0a, None, None, "Samples of firmware that are in the counts"),
    Made("lost", 0x0b, None, None, "Samples whose counts may be too low, for a counter or firmware was at its limit or the GPU failed"),
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
    "GPU_ACTIVE": ("gpu_active", "Cycles that the GPU has work or firmware keeps it up"),
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

#include <linux/types.h>

"""
    for name, event in numbers.items():
        out += f"/** define PANTHOR_PERF_PMU_{name} - {INPUTS[name][1]} */\n"
        out += f"#define PANTHOR_PERF_PMU_{name}\t0x{event:03x}\n\n"
    out += """/**
 * enum panthor_perf_pmu_layout - Layouts of counters, one for each architecture
 */
enum panthor_perf_pmu_layout {
"""
    for number, (layout, short) in enumerate(LAYOUTS.items()):
        out += f"\t/** @PANTHOR_PERF_PMU_LAYOUT_{short.upper()}: As of the {layout}, architecture {10 + number}. */\n"
        out += f"\tPANTHOR_PERF_PMU_LAYOUT_{short.upper()},\n"
    out += """};

/**
 * struct panthor_perf_pmu_event - An event that has a name in sysfs
 */
struct panthor_perf_pmu_event {
	/** @name: Name of the event, in lower case. */
	const char *name;

	/**
	 * @event: Block type << 8 | index of the counter in the block. The block type of
	 * events that the kernel makes is 0.
	 */
	u16 event;

	/** @unit: Unit of the count after it was multiplied by @scale, or NULL. */
	const char *unit;

	/** @scale: What perf multiplies the count by for people, or NULL for 1. */
	const char *scale;

	/**
	 * @layouts: Layouts on which the event has this number, a bit for each of
	 * &enum panthor_perf_pmu_layout.
	 */
	u8 layouts;
};

static const struct panthor_perf_pmu_event panthor_perf_pmu_events[] = {
"""
    for name, event, unit, scale, mask in rows:
        out += f"\t{{ {c_string(name)}, 0x{event:03x}, {c_string(unit)}, {c_string(scale)}, 0x{mask:02x} }},\n"
    return out + "};\n\n#endif\n"


def main():
    parser = argparse.ArgumentParser(description="Writes what perf and the kernel know of the counters of Mali CSF GPUs.")
    parser.add_argument("-d", metavar="DATADIR", default=DATA, help="directory of panthor-perf's tables")
    parser.add_argument("what", choices=["header"])
    args = parser.parse_args()
    tables = Tables(args.d)
    if args.what == "header":
        sys.stdout.write(header(tables))


main()
