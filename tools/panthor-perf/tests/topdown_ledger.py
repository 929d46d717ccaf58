#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The top-down of what a ledger of the virtual Mali has, one for each enable of its counters.

usage: topdown_ledger.py SHAPE LEDGER

SHAPE is a file of NAME=VALUE lines that say what the GPU is: arch, shader_present, l2_slices,
fw_blocks, csg_blocks, core_hz, stacks_hz, counter_hz (of the timestamps). The clocks must not
have changed. What comes out, a line each:

  epoch EPOCH SAMPLES CYCLES      the enables, each with what was counted since its first sample
  count EPOCH NAME COUNT          one counter, over all blocks
  node EPOCH LEVEL NAME PERCENT   a part of the top-down tree, of all cycles
  over EPOCH SAMPLE NAME PERCENT  a percentage above 100 (SAMPLE: from 1; 0: of the whole epoch)
  still NAME                      a counter that the tree reads, and nothing has moved

Nothing of panthor-perf is used but its data (see topdown_check.py).
"""
import os
import signal
import struct
import sys

sys.dont_write_bytecode = True
import topdown_check as td  # noqa: E402

LAYOUT = {10: "Mali-G710", 11: "Mali-G715", 12: "Mali-G720", 13: "Mali-G725", 14: "Mali G1"}
HEAD = struct.Struct("<QIIQII")
NO_ROOM = 1 << 31
ROUNDING = 1e-9


class Shape:
    """What the blocks of a sample are."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            v = dict(line.strip().split("=", 1) for line in f if "=" in line)
        self.arch = int(v["arch"].split(".")[0])
        if self.arch not in LAYOUT:
            raise SystemExit(f"{path}: architecture {v['arch']} has no layout here")
        self.layout = LAYOUT[self.arch]
        cores = int(v["shader_present"], 0)
        self.cores = bin(cores).count("1")
        self.slices = int(v["l2_slices"], 0)
        self.words = 64 if self.arch == 10 else 128
        # Up to architecture 13 a core is where its bit is, later they are next to each other.
        positions = cores.bit_length() if self.arch < 14 else self.cores
        self.blocks = (["FW"] * int(v["fw_blocks"], 0) + ["CSG"] * int(v["csg_blocks"], 0) + ["CSHW", "TILER"]
                       + ["MEMSYS"] * self.slices + ["SHADER"] * positions)
        self.hz = int(v["core_hz"], 0)
        self.ratio = int(v["stacks_hz"], 0) / self.hz
        self.counter_hz = int(v["counter_hz"], 0)
        self.names = {}
        for r in td.table(f"{td.DATA}/hw_counters.csv"):
            name = r["machine_name"] or td.ALIAS.get(r["source_name"])
            if r["layout"] == self.layout and name:
                self.names[r["block"], int(r["index"])] = name

    def counts(self, data, path):
        """Sums over the blocks of a type, by the names of counters."""
        blocks = self.blocks
        if len(data) == (len(blocks) + 1) * self.words * 4:
            data = data[self.words * 4:]        # metadata
        if len(data) != len(blocks) * self.words * 4:
            raise SystemExit(f"{path}: a sample of {len(data)} bytes, not {len(blocks)} blocks")
        words = struct.unpack(f"<{len(data) // 4}I", data)
        sums = dict.fromkeys(self.names.values(), 0)
        for n, block in enumerate(blocks):
            for i in range(4, self.words):
                name = self.names.get((block, i))
                if name:
                    sums[name] += words[n * self.words + i]
        return sums

    def whole(self, sums, ticks):
        """With the values of the GPU that equations name."""
        return {**sums, "MALI_CONFIG_SHADER_CORE_COUNT": self.cores, "MALI_CONFIG_L2_CACHE_COUNT": self.slices,
                "MALI_CONFIG_EXT_BUS_BYTE_SIZE": 16, "MALI_CONFIG_TIME_SPAN": ticks / self.counter_hz,
                "MALI_CONFIG_SHADER_CLOCK_RATIO": self.ratio,
                "MALI_CONFIG_ELAPSED_CYCLES": round(ticks * self.hz / self.counter_hz)}


def records(path):
    with open(path, "rb") as f:
        data = f.read()
    at = 0
    while at < len(data):
        _, epoch, _, timestamp, reason, size = HEAD.unpack_from(data, at)
        at += HEAD.size
        if not reason & NO_ROOM:
            yield epoch, timestamp, data[at:at + size]
        at += size


def evaluator(layout, trees):
    """A function of the counters for the values of all of @trees, in order."""
    lines, done = ["def run(c):"], set()

    def need(name):
        if name in done:
            return
        done.add(name)
        if name in trees:
            for n in td.names(trees[name]):
                need(n)
            lines.append(f"    v_{name} = {td.code(trees[name])}")
        else:
            lines.append(f"    v_{name} = c[{name!r}]")

    for name in trees:
        need(name)
    lines.append("    return {" + ", ".join(f"{n!r}: v_{n}" for n in trees) + "}")
    space = {"div": td.div_tool}
    exec("\n".join(lines), space)
    return space["run"]


def main():
    # A closed pipe ends this program quietly.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if sys.argv[1:] in (["-h"], ["--help"]):
        print(__doc__)
        return
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    shape = Shape(sys.argv[1])
    layout = next(l for l in td.load(td.DATA, f"{td.DATA}/topdown.csv") if l.name == shape.layout)
    if layout.problems:
        raise SystemExit("\n".join(layout.problems))
    tree = layout.compile(td.div_tool)
    derived = evaluator(layout, layout.derived)
    percents = [r["machine_name"] for r in td.table(f"{td.DATA}/derived_counters.csv")
                if r["layout"] == shape.layout and r["units"] == "percent"]
    epochs = {}
    for epoch, timestamp, data in records(sys.argv[2]):
        epochs.setdefault(epoch, []).append((timestamp, shape.counts(data, sys.argv[2])))

    moved = set()
    for epoch, samples in epochs.items():
        ticks = samples[-1][0] - samples[0][0]
        sums = {n: sum(s[n] for _, s in samples[1:]) for n in shape.names.values()}
        moved |= {n for n, v in sums.items() if v}
        values = shape.whole(sums, ticks)
        print("epoch", epoch, len(samples), values["MALI_CONFIG_ELAPSED_CYCLES"])
        for name, count in sums.items():
            print("count", epoch, name, count)
        parts = tree(values)
        for name, row in layout.nodes.items():
            print("node", epoch, row["level"], name, f"{100 * td.div_tool(parts[name], parts['td_total']):.2f}")
        for n in range(len(samples)):
            if n:
                values = shape.whole(samples[n][1], samples[n][0] - samples[n - 1][0])
            shares = derived(values)
            for name in percents:
                if not shares[name] <= 100 + ROUNDING:
                    print("over", epoch, n, name, shares[name])
    for name in layout.inputs:
        if name not in moved:
            print("still", name)


main()
