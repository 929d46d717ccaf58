#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Checks topdown.csv: every equation parses and resolves on every layout it applies to, and
on random counters every part is >= 0 and the parts of every node add up to it.

usage: topdown_check.py [-n DRAWS] [-s SEED] [-d DATADIR] [-x LAYOUT NAME] [TOPDOWN.CSV]

Nothing of panthor-perf is used but its data: this is another evaluator of the same equations.

A name in an equation is: a hardware counter's machine name; the name that a derived counter's
equation uses for a hardware row without one (ALIAS, as panthor-perf's data.c has it); a derived
counter; a row of topdown.csv above that applies to the layout; or a value of the GPU (CONFIG).
"""
import argparse, csv, math, os, random, re, signal, sys

DATA = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../data")
LAYOUTS = ["Mali-G710", "Mali-G715", "Mali-G720", "Mali-G725", "Mali G1"]
CONFIG = {"MALI_CONFIG_SHADER_CORE_COUNT", "MALI_CONFIG_L2_CACHE_COUNT", "MALI_CONFIG_EXT_BUS_BYTE_SIZE",
          "MALI_CONFIG_TIME_SPAN"}                        # of libGPUCounters
OURS = {"MALI_CONFIG_ELAPSED_CYCLES",                      # top-level cycles of the period, 0: unknown
        "MALI_CONFIG_SHADER_CLOCK_RATIO"}                  # shader clock / top-level clock, 1: unknown
ALIAS = {"GPU_IRQ_ACTIVE": "MaliGPUIRQActiveCy", "PRIM_SAMPLE_CULLED": "MaliGeomSampleCullPrim",
         "POS_SHADER_WARPS": "MaliGeomPosShadTask", "VAR_SHADER_WARPS": "MaliGeomVarShadTask",
         "FULL_WARPS": "MaliCoreFullWarp", "TEX_RSPS_NUM_OPERATIONS": "MaliTexOutBt",
         "RT_BOX_ISSUE_CYCLES": "MaliRTUBoxIssueCy", "RT_TRI_ISSUE_CYCLES": "MaliRTUTriIssueCy",
         "BLEND_ISSUE": "MaliBlendIssueCy", "ATTR_ISSUE": "MaliAttrIssueCy"}
TOLERANCE = 1e-9                                           # of the root
MAX_NESTING, MAX_DEPTH, MAX_NAME = 16, 64, 63              # limits of panthor-perf's evaluator

TOKEN = re.compile(r"\s*(?:(\d+\.?\d*(?:e-?\d+)?)|([A-Za-z]\w*)|(.))")


class Bad(Exception):
    pass


def parse(text):
    """The grammar of panthor-perf's expr.c: + - * / ( ) numbers names min() max()."""
    tokens = [m.groups() for m in TOKEN.finditer(text.rstrip())] + [(None, None, "")]
    at = 0

    def take(c):
        nonlocal at
        if tokens[at][2] == c:
            at += 1
            return True
        return False

    def term():
        nonlocal at
        number, name, char = tokens[at]
        at += 1
        if number:
            return ("number", float(number))
        if name:
            if tokens[at][2] != "(":
                return ("name", name)
            at += 1
            if name not in ("min", "max"):
                raise Bad(f"{name}() is no function")
            args = [sum_()]
            while take(","):
                args.append(sum_())
            if not take(")"):
                raise Bad("no )")
            return (name, *args)
        if char == "(":
            inner = sum_()
            if not take(")"):
                raise Bad("no )")
            return inner
        if char == "-":
            return ("neg", term())
        raise Bad(f"unexpected {char!r}")

    def product():
        left = term()
        while tokens[at][2] in ("*", "/") and tokens[at][2]:
            op = "*" if take("*") else (take("/") and "/")
            left = (op, left, term())
        return left

    def sum_():
        left = product()
        while tokens[at][2] in ("+", "-") and tokens[at][2]:
            op = "+" if take("+") else (take("-") and "-")
            left = (op, left, product())
        return left

    tree = sum_()
    if tokens[at][2] != "" or at != len(tokens) - 1:
        raise Bad(f"junk after {at} tokens")
    return tree


def names(tree):
    if tree[0] == "name":
        yield tree[1]
    elif tree[0] != "number":
        for arg in tree[1:]:
            yield from names(arg)


def depth(tree):
    return 1 if tree[0] in ("name", "number") else 1 + max(depth(a) for a in tree[1:])


def code(tree):
    op = tree[0]
    if op == "number":
        return repr(tree[1])
    if op == "name":
        return "v_" + tree[1]
    a = [code(x) for x in tree[1:]]
    if op in ("min", "max"):
        return a[0] if len(a) == 1 else f"{op}({', '.join(a)})"
    if op == "neg":
        return f"(-{a[0]})"
    if op == "/":
        return f"div({a[0]}, {a[1]})"
    return f"({a[0]} {op} {a[1]})"


def div_tool(a, b):
    """panthor-perf: 0/0 is 0, x/0 infinite."""
    if b == 0:
        return 0.0 if a == 0 else math.inf
    return a / b


def div_perf(a, b):
    """perf's d_ratio(): anything/0 is 0."""
    return 0.0 if b == 0 else a / b


class Layout:
    def __init__(self, name, hw, derived, rows):
        self.name, self.problems = name, []
        self.hw = sorted(hw)
        self.derived = {n: parse(e) for n, e in derived.items()}
        self.rows = [r for r in rows if r["layout"] == "all" or name in r["layout"].split("|")]
        self.nodes, self.helpers, self.trees, self.order = {}, [], {}, []
        self.nesting = {}
        self.check_names()

    def fail(self, text):
        self.problems.append(f"{self.name}: {text}")

    def need(self, name, seen=()):
        """Puts what an equation needs before it, and says how deep its references go."""
        if name in self.hw and name not in self.derived or name in CONFIG or name in OURS:
            return 0
        if name in self.nesting:
            return self.nesting[name]
        if name in seen:
            raise Bad(f"{name} needs itself")
        if name not in self.derived:
            raise Bad(f"no {name}")
        deep = 1 + max([self.need(n, (*seen, name)) for n in names(self.derived[name])] or [0])
        self.nesting[name] = deep
        self.order.append((name, self.derived[name]))
        return deep

    def check_names(self):
        for r in self.rows:
            name = r["name"]
            if name in self.trees or name in self.hw or name in self.derived:
                self.fail(f"{name} is there twice")
                continue
            if not re.fullmatch(r"[a-z]\w*", name) or len(name) > MAX_NAME:
                self.fail(f"{name} is no name")
            try:
                tree = parse(r["equation"])
                deep = 0
                for n in names(tree):
                    if n not in self.trees:
                        self.need(n)
                    deep = max(deep, self.nesting.get(n, 0))
                if depth(tree) > MAX_DEPTH or deep + 1 > MAX_NESTING:
                    self.fail(f"{name} is too deep ({depth(tree)}, {deep + 1})")
            except Bad as e:
                self.fail(f"{name}: {e}")
                continue
            self.trees[name] = tree
            self.nesting[name] = deep + 1
            self.order.append((name, tree))
            if r["level"] == "":
                self.helpers.append(name)
                continue
            self.nodes[name] = r
        for name, r in self.nodes.items():
            level = int(r["level"])
            if level == 0:
                if r["parent"]:
                    self.fail(f"the root {name} has a parent")
            elif r["parent"] not in self.nodes or int(self.nodes[r["parent"]]["level"]) != level - 1:
                self.fail(f"{name}: parent {r['parent']!r} is not one level up")
            if not r["title"] or not r["next"].endswith("."):
                self.fail(f"{name}: no title or advice")
            for n in re.findall(r"Mali\w+", r["next"]):
                if n not in self.hw and n not in self.derived:
                    self.fail(f"{name}: its advice names {n}, which is not there")
        self.roots = [n for n, r in self.nodes.items() if r["level"] == "0"]
        if len(self.roots) != 1:
            self.fail(f"roots: {self.roots}")
        self.children = {n: [c for c, r in self.nodes.items() if r["parent"] == n] for n in self.nodes}
        for n, c in self.children.items():
            if len(c) == 1:
                self.fail(f"{n} has one part")
        used = {n for t in self.trees.values() for n in names(t)}
        for n in self.helpers:
            if n not in used:
                self.fail(f"helper {n} is not used")

    def compile(self, div):
        known = {n for n, _ in self.order}
        inputs = sorted({n for _, t in self.order for n in names(t)} - known)
        lines = [f"def run(c):"] + [f"    v_{n} = c[{n!r}]" for n in inputs]
        lines += [f"    v_{n} = {code(t)}" for n, t in self.order]
        lines += ["    return {" + ", ".join(f"{n!r}: v_{n}" for n in self.trees) + "}"]
        space = {"div": div}
        exec("\n".join(lines), space)
        self.inputs = [n for n in inputs if n not in CONFIG and n not in OURS]
        return space["run"]

    def expand(self, name):
        """The equation over hardware names and values of the GPU alone."""
        trees = dict(self.order)

        def text(tree, inner=True):
            if tree[0] == "number":
                return f"{tree[1]:g}"
            if tree[0] == "name":
                return text(trees[tree[1]]) if tree[1] in trees else tree[1]
            a = [text(x) for x in tree[1:]]
            if tree[0] in ("min", "max"):
                return f"{tree[0]}({', '.join(a)})"
            if tree[0] == "neg":
                return f"-{a[0]}"
            return f"({a[0]} {tree[0]} {a[1]})"
        return text(("name", name))


def table(path):
    """The rows of one of panthor-perf's tables, whose comments begin with #."""
    with open(path, encoding="utf-8") as f:
        return list(csv.DictReader(line for line in f if not line.startswith("#")))


def load(data, path):
    hw, derived = {l: set() for l in LAYOUTS}, {l: {} for l in LAYOUTS}
    for r in table(f"{data}/hw_counters.csv"):
        n = r["machine_name"] or ALIAS.get(r["source_name"])
        if n:
            hw[r["layout"]].add(n)
    for r in table(f"{data}/derived_counters.csv"):
        derived[r["layout"]][r["machine_name"]] = r["equation"]
    rows = table(path)
    if list(rows[0]) != "layout level name parent title equation next".split():
        raise SystemExit("columns: " + ", ".join(rows[0]))
    for r in rows:
        if r["layout"] != "all" and not set(r["layout"].split("|")) <= set(LAYOUTS):
            raise SystemExit(f"{r['name']}: layout {r['layout']!r}")
    return [Layout(l, hw[l], derived[l], rows) for l in LAYOUTS]


# ---- counters -------------------------------------------------------------------------------

def gpu(rng):
    return {"MALI_CONFIG_SHADER_CORE_COUNT": rng.randint(1, 24), "MALI_CONFIG_L2_CACHE_COUNT": rng.choice([1, 2, 4, 8]),
            "MALI_CONFIG_EXT_BUS_BYTE_SIZE": rng.choice([16, 32]), "MALI_CONFIG_TIME_SPAN": 10 ** rng.uniform(-4, 1),
            "MALI_CONFIG_SHADER_CLOCK_RATIO": rng.choice([1, rng.uniform(0.3, 1.2)])}


def draw_free(layout, rng):
    """Any non-negative counters: absent, tiny, huge, contradicting each other."""
    c = gpu(rng)
    zeros, top = rng.choice([0.05, 0.3, 0.9]), rng.choice([2, 9, 14])
    for n in (*layout.inputs, "MALI_CONFIG_ELAPSED_CYCLES"):
        c[n] = 0 if rng.random() < zeros else math.floor(10 ** rng.uniform(0, top))
    return c


def draw_extreme(layout, rng):
    """All zero, all the same, and each counter alone or missing."""
    every = (*layout.inputs, "MALI_CONFIG_ELAPSED_CYCLES")
    for value in (0, 1, 2 ** 64 - 1):
        yield {**gpu(rng), **dict.fromkeys(every, value)}
    for n in every:
        for low, high in ((0, 1000), (1000, 0), (1, 2 ** 64 - 1)):
            yield {**gpu(rng), **dict.fromkeys(every, low), n: high}


def draw_bounded(layout, rng):
    """Counters that respect what their definitions imply (busy <= active, stall <= queued, ...)."""
    c, L = gpu(rng), layout.name
    old = L in ("Mali-G710", "Mali-G715")
    f = lambda: rng.choice([0, 1, rng.random(), rng.random(), rng.random()])
    i = lambda x: math.floor(x)
    total = i(10 ** rng.uniform(3, 9))
    c["MALI_CONFIG_ELAPSED_CYCLES"] = rng.choice([total, total, total, 0])
    active = i(total * f())
    queued = i(active * f())
    c["MaliGPUActiveCy"], c["MaliGPUAnyQueueActiveCy"] = active, queued
    first, second, main = ("Comp", "Vert", "Frag") if old else ("Comp", "Binning", "Main")
    split = f()
    for q, room in ((first, queued * split), (second, queued * (1 - split)), (main, queued)):
        work = i(room * f())
        c[f"Mali{q}QueueAssignStallCy"] = i(work * f())
        c[f"Mali{q}QueuedCy"] = work
    run = {q: c[f"Mali{q}QueuedCy"] - c[f"Mali{q}QueueAssignStallCy"] for q in (first, second, main)}
    c["MaliTilerActiveCy"] = i(min(queued, c[f"Mali{second}QueuedCy"]) * f())
    cores = c["MALI_CONFIG_SHADER_CORE_COUNT"] * c["MALI_CONFIG_SHADER_CLOCK_RATIO"]
    low = max(max(run[first] + run[second], run[main]) - 1, 0)
    any_ = i(rng.uniform(0, min(queued, sum(run.values()))) * cores) if low else 0
    c["MaliAnyActiveCy"] = any_
    c["MaliFragActiveCy" if old else "MaliMainActiveCy"] = i(min(any_, run[main] * cores) * f())
    core = c["MaliCoreActiveCy"] = i(any_ * f())
    busy = i(core * rng.choice([0.01, 0.1, 0.5, 1, 1]))     # what the units see of it
    c["MaliEngStarveCy"] = i(4 * core * f())
    c["MaliEngStarveICacheCy"] = i(c["MaliEngStarveCy"] * f())
    issue = i(busy * f())                     # arithmetic: within the issue width
    sfu = i(issue / 4 * f())
    cvt = i((issue - sfu) * f())
    c.update(MaliEngSFUInstr=sfu, MaliEngCVTInstr=cvt, MaliEngFMAInstr=issue - sfu - cvt, MaliEngSlot1IssueCy=i(issue / 2 * f()))
    left = i(busy * f())
    for n in ("MaliLSFullRd", "MaliLSPartRd", "MaliLSFullWr", "MaliLSPartWr", "MaliLSAtomic"):
        c[n] = i(left * f())
        left -= c[n]
    slots = (2 if L == "Mali-G710" else 4) * busy
    c["MaliVar32IssueSlot"] = i(slots * f())
    c["MaliVar16IssueSlot"] = i((slots - c["MaliVar32IssueSlot"]) * f())
    c["MaliExtBusRdStallCy"], c["MaliExtBusWrStallCy"] = (i(c["MALI_CONFIG_L2_CACHE_COUNT"] * active * f()) for _ in "rw")
    c["MaliL2CacheFlushCy"], c["MaliCSFMCUActiveCy"] = i(active * f()), i(total * f())
    c["MaliFragMainPassStallCy"] = i(any_ * f())
    for n in layout.inputs:                    # every other one counts at most once a core's active cycle
        if n not in c:
            c[n] = i((core if "Stall" in n else busy) * f())
    return c


def check(layout, run, c, worst, kind):
    v = run(c)
    root = v[layout.roots[0]]
    scale = root if root > 0 else 1
    for n in layout.nodes:
        x = v[n]
        if not math.isfinite(x):
            layout.fail(f"{kind}: {n} is {x} on {c}")
            return v
        worst["low"] = min(worst["low"], x / scale)
        if x < 0 and -x / scale > TOLERANCE:
            layout.fail(f"{kind}: {n} is {x} on {c}")
    for n, parts in layout.children.items():
        if parts:
            off = abs(math.fsum(v[p] for p in parts) - v[n]) / scale
            worst["off"] = max(worst["off"], off)
            if off > TOLERANCE:
                layout.fail(f"{kind}: parts of {n} are off by {off} on {c}")
    # what is shown at a level: its nodes, and the leaves above it
    for level in (1, 2, 3):
        shown = [n for n, r in layout.nodes.items() if int(r["level"]) == level
                 or 0 < int(r["level"]) < level and not layout.children[n]]
        off = abs(math.fsum(v[n] for n in shown) - root) / scale
        worst["off"] = max(worst["off"], off)
        if off > TOLERANCE:
            layout.fail(f"{kind}: level {level} is off by {off} on {c}")
    return v


# ---- made-up workloads: is the right node the largest? --------------------------------------

def workloads(layout):
    L, old = layout.name, layout.name in ("Mali-G710", "Mali-G715")
    bp = L in ("Mali-G725", "Mali G1")
    T, C, S = 10_000_000, 4, 2
    main, other = ("Frag", "Vert") if old else ("Main", "Binning")

    def base(**k):
        c = {**dict.fromkeys(layout.inputs, 0), "MALI_CONFIG_SHADER_CORE_COUNT": C, "MALI_CONFIG_L2_CACHE_COUNT": S,
             "MALI_CONFIG_EXT_BUS_BYTE_SIZE": 16, "MALI_CONFIG_TIME_SPAN": 0.01, "MALI_CONFIG_SHADER_CLOCK_RATIO": 1,
             "MALI_CONFIG_ELAPSED_CYCLES": T}
        c.update(k)
        return c

    def passes(frac=1.0, exec_=0.97, **k):      # a fragment pass that keeps the cores busy
        a = int(T * frac)
        c = base(MaliGPUActiveCy=a, MaliGPUAnyQueueActiveCy=int(a * 0.99), MaliAnyActiveCy=int(C * a * 0.97),
                 MaliCoreActiveCy=int(C * a * 0.97 * exec_), MaliEngStarveCy=0)
        c[f"Mali{main}QueuedCy"] = int(a * 0.99)
        c["MaliFragActiveCy" if old else "MaliMainActiveCy"] = int(C * a * 0.97)
        c.update(k)
        return c

    core = passes()["MaliCoreActiveCy"]
    alu = {"MaliEngFMAInstr": int(core * (0.8 if L == "Mali-G710" else 1.5)), "MaliEngCVTInstr": int(core * 0.1),
           "MaliEngSlot1IssueCy": int(core * 0.75)}
    stall = {"MaliExtBusRdStallCy": int(S * T * 0.5)}
    yield "nothing to do", base(), "td_idle", 1
    yield "10 % load", passes(0.1, MaliTexFiltIssueCy=int(core * 0.08)), "td_idle", 1
    yield "arithmetic", passes(**alu, MaliTexFiltIssueCy=int(core * 0.4)), "td_core_arith", 2
    yield "texture", passes(MaliTexFiltIssueCy=int(core * 0.93), MaliEngFMAInstr=int(core * 0.4),
                            MaliEngStarveCy=int(core * 1.5)), "td_core_tex", 2
    yield "special functions", passes(MaliEngSFUInstr=int(core * 0.22), MaliEngFMAInstr=int(core * 0.2)), "td_arith_sfu", 3
    yield "load/store", passes(MaliLSFullRd=int(core * 0.6), MaliLSPartWr=int(core * 0.25)), "td_core_ls", 2
    yield "varying", passes(MaliVar32IssueSlot=int(core * (1.8 if L == "Mali-G710" else 3.6))), "td_core_var", 2
    if L != "Mali-G710":
        yield "rays", passes(MaliRTUBoxIssueCy=int(core * 0.8), MaliRTUTriIssueCy=int(core * 0.2)), "td_core_rt", 2
    yield "bandwidth", passes(MaliEngStarveCy=int(core * 4 * 0.7), MaliTexFiltIssueCy=int(core * 0.2), **stall), "td_memory", 1
    yield "latency", passes(MaliEngStarveCy=int(core * 4 * 0.7), MaliTexFiltIssueCy=int(core * 0.2)), "td_core_blocked", 2
    yield "latency of textures", passes(MaliEngStarveCy=int(core * 4 * 0.7), MaliTexFiltIssueCy=int(core * 0.2),
                                        MaliTexFiltStallCy=int(core * 0.6)), "td_wait_tex", 3
    yield "latency of buffers", passes(MaliEngStarveCy=int(core * 4 * 0.7), MaliLSFullRd=int(core * 0.2)), "td_wait_other", 3
    if L == "Mali G1":
        yield "latency of instructions", passes(MaliEngStarveCy=int(core * 4 * 0.7), MaliEngStarveICacheCy=int(core * 4 * 0.6)), "td_wait_icache", 3
    yield "stalls that cost nothing", passes(**alu, **stall), "td_core_arith", 2
    yield "clears", passes(exec_=0.05), "td_core_fixed", 2
    yield "clears at the bus's limit", passes(exec_=0.05, MaliExtBusWrStallCy=int(S * T * 0.9)), "td_memory", 1
    yield "few warps", passes(MaliEngFMAInstr=int(core * 0.1)), "td_core_underfed", 2
    geometry = base(MaliGPUActiveCy=T, MaliGPUAnyQueueActiveCy=T, MaliTilerActiveCy=int(T * 0.95),
                    MaliAnyActiveCy=int(C * T * 0.25), MaliCoreActiveCy=int(C * T * 0.2))
    geometry[f"Mali{other}QueuedCy"] = int(T * 0.98)
    yield "geometry", geometry, "td_tiler", 1
    both = dict(geometry, MaliAnyActiveCy=int(C * T * 0.98), MaliCoreActiveCy=int(C * T * 0.95), **alu)
    both[f"Mali{main}QueuedCy"] = T
    both["MaliFragActiveCy" if old else "MaliMainActiveCy"] = int(C * T * 0.95)
    yield "geometry behind fragments", both, "td_core_arith", 2
    tail = passes(MaliAnyActiveCy=int(C * T * 0.3), MaliCoreActiveCy=int(C * T * 0.3), MaliTilerActiveCy=T)
    tail["MaliFragActiveCy" if old else "MaliMainActiveCy"] = int(C * T * 0.3)
    yield "one core of four", tail, "td_fe_spread", 2
    blocked = passes(MaliAnyActiveCy=int(C * T * 0.2), MaliCoreActiveCy=int(C * T * 0.2))
    blocked[f"Mali{main}QueueAssignStallCy"] = int(T * 0.75)
    yield "no endpoints", blocked, "td_fe_queue", 2
    if L != "Mali-G715":
        yield "command streams", base(MaliGPUActiveCy=T, MaliGPUAnyQueueActiveCy=int(T * 0.1), MaliCSFMCUActiveCy=T), "td_fe_command", 2
    slow = passes(**alu, MALI_CONFIG_SHADER_CLOCK_RATIO=0.5)
    for n in list(alu) + ["MaliAnyActiveCy", "MaliCoreActiveCy", "MaliFragActiveCy" if old else "MaliMainActiveCy"]:
        slow[n] //= 2
    yield "cores at half the clock", slow, "td_core_arith", 2
    if bp:
        yield "backpressure", passes(MaliEngLSBackpressureCy=int(core * 0.8), MaliLSFullRd=int(core * 0.1),
                                     MaliEngStarveCy=core * 3), "td_core_ls", 2
        yield "backpressure of the bus", passes(MaliEngLSBackpressureCy=int(core * 0.8), MaliLSFullRd=int(core * 0.1),
                                                MaliExtBusRdStallCy=int(S * T * 0.6)), "td_memory", 1


def main():
    # A closed pipe ends this program quietly.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    p = argparse.ArgumentParser()
    p.add_argument("-n", type=int, default=10000)
    p.add_argument("-s", type=int, default=1)
    p.add_argument("-d", default=DATA)
    p.add_argument("-x", nargs=2, metavar=("LAYOUT", "NAME"), help="print an equation over hardware names alone")
    p.add_argument("csv", nargs="?", default=f"{DATA}/topdown.csv")
    o = p.parse_args()
    layouts = load(o.d, o.csv)
    if o.x:
        print(next(l for l in layouts if l.name == o.x[0]).expand(o.x[1]))
        return 0
    bad = []
    for l in layouts:
        rng = random.Random(f"{o.s} {l.name}")
        worst = {k: {"low": 0.0, "off": 0.0} for k in ("bounded", "free", "extreme")}
        count = dict.fromkeys(worst, 0)
        if not l.problems:
            for div in (div_tool, div_perf):
                run = l.compile(div)
                for _ in range(o.n):
                    for kind, draw in (("bounded", draw_bounded), ("free", draw_free)):
                        check(l, run, draw(l, rng), worst[kind], kind)
                        count[kind] += 1
                for c in draw_extreme(l, rng):
                    check(l, run, c, worst["extreme"], "extreme")
                    count["extreme"] += 1
                for title, c, want, level in workloads(l):
                    v = check(l, run, c, worst["extreme"], title)
                    shown = [n for n, r in l.nodes.items() if int(r["level"]) == level
                             or 0 < int(r["level"]) < level and not l.children[n]]
                    top = max(shown, key=lambda n: v[n])
                    if top != want:
                        l.fail(f"{title}: {top} {v[top] / v['td_total']:.1%}, not {want} {v[want] / v['td_total']:.1%}")
                if len(l.problems) > 20:
                    break
        levels = [sum(1 for r in l.nodes.values() if r["level"] == str(k)) for k in range(4)]
        sums = sum(1 for c in l.children.values() if c)
        print(f"{l.name:10} {len(l.rows):3} rows: nodes by level {levels}, {len(l.helpers)} helpers, {sums} sums, "
              f"{len(l.inputs) if not l.problems else 0} hardware counters, "
              f"deepest reference {max(l.nesting.values())}")
        for k in worst:
            print(f"    {k:8} {count[k]:6} evaluations: lowest part {worst[k]['low']:.1e}, "
                  f"largest error of a sum {worst[k]['off']:.1e} (of the root)")
        print(f"    workloads: {sum(1 for _ in workloads(l))} checked" if not l.problems else "    FAILED")
        bad += l.problems
    for b in bad[:60]:
        print(b[:700])
    print("OK" if not bad else f"{len(bad)} problems")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
