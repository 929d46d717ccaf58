# SPDX-License-Identifier: MIT
"""jobs_check.py CONVERT-JSON REPORT-JSON FRAMES-CSV [FROM-NS UNTIL-NS]: compares what report says of jobs with each moment of the recording.

Between two events that follow each other nothing changes: of each such interval all jobs are looked at. Times are those since the
first sample. Prints what differs, then how many intervals, jobs, causes of idle time, and places of counters, and frames there were.
"""
import csv, json, sys
recording, report = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))
samples, records = recording["samples"], recording["jobs"]
begin, end = samples[0]["start_ns"], samples[-1]["end_ns"]
first, last = (begin + int(sys.argv[4]), min(begin + int(sys.argv[5]), end)) if len(sys.argv) > 4 else (begin, end)
jobs = [job for record in records for job in record["jobs"]]
gaps = [gap for record in records for gap in record["gaps"]]
problems = 0

def same(what, got, want):
    global problems
    if got != want:
        problems += 1
        print(f"{what}: got {got}, want {want}")

def process(job):
    return job["process"], job["pid"]

class Job:
    def __init__(self, job):
        self.end = job["end_ns"]
        self.run = job.get("run_ns", self.end)
        self.ready = job["ready_ns"]
        self.queued = job.get("queued_ns", self.ready)
        self.process, self.queue = process(job), (*process(job), job["queue"])
        self.fence = (job["waited_for_process"], 0, job["waited_for"]) if "waited_for" in job else None
        self.known = "queued_ns" in job and "run_ns" in job
        self.outcome = job["outcome"]

pids = {(job["process"], job["queue_id"]): job["pid"] for job in jobs}
everything = [Job(job) for job in jobs]
for one, job in zip(everything, jobs):
    if one.fence:
        one.fence = (one.fence[0], pids.get((one.fence[0], job["waited_for_id"]), 0), one.fence[2])

# ---- What the GPU did in each interval ----

times = {first, last, begin, end}
for one in everything:
    times |= {one.queued, one.ready, one.run, one.end}
for span in records + gaps:
    times |= {span["start_ns"], span["end_ns"]}
times = sorted(time for time in times if begin <= time <= end)
def what(start):
    """The state from a time on, and whose it is."""
    inside = lambda spans: any(span["start_ns"] <= start < span["end_ns"] for span in spans)
    if not inside(records) or inside(gaps):
        return "unknown", ()
    for state, owners in (("running", {one.process for one in everything if one.run <= start < one.end}),
                          ("ready", {one.queue for one in everything if one.ready <= start < one.run}),
                          ("waiting", {one.fence for one in everything if one.queued <= start < one.ready})):
        if owners:
            return state, tuple(owners)
    before = [one for one in everything if one.run < one.end <= start]
    return "none", (max(before, key=lambda one: one.end).queue,) if before else (None,)

spans, whole = [], []
busy, alone = {}, {}
for start, until in zip(times, times[1:]):
    state, owners = what(start)
    whole.append((start, until, state, "several" if len(owners) > 1 else owners[0] if owners else None))
    if not first <= start < last:
        continue
    if state == "running":
        for owner in owners:
            busy[owner] = busy.get(owner, 0) + until - start
    owner = whole[-1][3]
    if spans and spans[-1][2:] == (state, owner):
        spans[-1] = spans[-1][0], until, state, owner
    else:
        spans.append((start, until, state, owner))

of_state, causes = {}, {}
for start, until, state, owner in spans:
    of_state[state] = of_state.get(state, 0) + until - start
    if state == "running" and owner != "several":
        alone[owner] = alone.get(owner, 0) + until - start
    if state in ("ready", "waiting", "none"):
        number, ns, longest = causes.get((state, owner), (0, 0, 0))
        causes[state, owner] = number + 1, ns + until - start, max(longest, until - start)
several = sum(until - start for start, until, state, owner in spans if (state, owner) == ("running", "several"))

told = report["jobs"]
same("time", told["time_ns"], last - first)
same("busy", told["busy_ns"], of_state.get("running", 0))
same("several at once", told["several_ns"], several)
same("busy and idle", told["busy_ns"] + told["idle_ns"], last - first)
same("parts of idle", sum(part["ns"] for part in told["idle"].values()), told["idle_ns"])
for state, part in told["idle"].items():
    same(f"idle, {state}", part["ns"], of_state.get(state, 0))
    same(f"causes of {state}", sum(cause["ns"] for cause in part.get("causes", [])), part["ns"] if "causes" in part else 0)
    lengths = [cause["ns"] for cause in part.get("causes", [])]
    same(f"order of {state}", lengths, sorted(lengths, reverse=True))
told_causes = {}
for state, part in told["idle"].items():
    for cause in part.get("causes", []):
        owner = "several" if cause["several"] else cause["process"] and (cause["process"], cause["pid"], cause["queue"])
        told_causes[state, owner] = cause["times"], cause["ns"], cause["longest_ns"]
same("causes", told_causes, causes)

# ---- Processes ----

def seen(start, until):
    middle = start + (until - start) // 2
    return len(sys.argv) <= 4 or first <= middle < begin + int(sys.argv[5])

def percentiles(values):
    values = sorted(values)
    return {name: values[max((len(values) * percent + 99) // 100, 1) - 1] for name, percent in (("p50", 50), ("p95", 95), ("max", 100))}

own = [one for one in everything if seen(one.run, one.end)]
wanted = {}
for name in {one.process for one in own} | set(busy):
    mine = [one for one in own if one.process == name]
    timed = [one for one in mine if one.outcome == "done" and one.known]
    wanted[name] = {
        "busy_ns": busy.get(name, 0), "alone_ns": alone.get(name, 0), "jobs": len(mine), "timed": len(timed),
        "dropped": sum(one.outcome == "dropped" for one in mine), "unfinished": sum(one.outcome == "unfinished" for one in mine),
        "unknown": sum(one.outcome == "done" and not one.known for one in mine),
        "queued_to_run_ns": percentiles([one.run - one.queued for one in timed]) if timed else None,
        "run_to_end_ns": percentiles([one.end - one.run for one in timed]) if timed else None,
    }
same("processes", {process(one): {key: one[key] for key in next(iter(wanted.values()))} for one in told["processes"]}, wanted)
same("order of processes", [one["busy_ns"] for one in told["processes"]], sorted(busy.get(name, 0) for name in wanted)[::-1])
for one in told["processes"]:
    same("jobs", one["timed"] + one["dropped"] + one["unfinished"] + one["unknown"], one["jobs"])

# ---- Gaps ----

lost = {}
until = first
for gap in sorted(gaps, key=lambda gap: gap["start_ns"]):
    unseen = gap["cpu"] is None
    ns = max(min(gap["end_ns"], last) - max(gap["start_ns"], until if unseen else first), 0)
    if unseen:
        until = max(until, gap["end_ns"])
    if ns if unseen else seen(gap["start_ns"], gap["end_ns"]):
        count, sum_ns, events, uncounted = lost.get(gap["cpu"], (0, 0, 0, 0))
        lost[gap["cpu"]] = count + 1, sum_ns + ns, events + gap["lost"], uncounted + (not gap["lost"] and not unseen)
same("gaps", {gap["cpu"]: (gap["gaps"], gap["ns"], gap["lost"], gap["uncounted"]) for gap in told["gaps"]}, lost)

# ---- Counters ----

where = {}
for sample in samples:
    start, until = sample["start_ns"], sample["end_ns"]
    if not seen(start, until):
        continue
    kinds = {(owner or state) if state == "running" else "unknown" if state == "unknown" else "idle"
             for state, owner in ((state, owner) for begins, ends, state, owner in whole if begins < until and ends > start)}
    name = kinds.pop() if len(kinds) == 1 else "edges"
    counts, total = where.setdefault(name, [{}, [0, 0]])
    total[0] += 1
    total[1] += until - start
    for block in sample["blocks"]:
        for counter, value in block["values"].items():
            counts[counter] = counts.get(counter, 0) + value

told_where = {process(one): one for one in told["processes"] if "counters" in one} | told["other_samples"]
places = 0
for name in told_where | where:
    counts, total = where.get(name, ({}, [0, 0]))
    one = told_where.get(name, {"samples": 0, "sampled_ns": 0, "counters": []})
    same(f"samples of {name}", [one["samples"], one["sampled_ns"]], total)
    values = {counter["name"]: counter["total"] for counter in one["counters"] if counter["name"] in counts}
    same(f"counts of {name}", values, {counter: counts[counter] for counter in values})
    places += len(values) > 10
for counter in report["counters"]:
    if "blocks" in counter:
        same(f"all of {counter['name']}", sum(other["total"] for one in told_where.values() for other in one["counters"]
                                              if other["name"] == counter["name"]), counter["total"])

# ---- Regions and frames ----

STATES = "none", "waiting", "ready", "unknown"
def did(parts, pid):
    """What the GPU did in parts of the time, of a process with this PID."""
    found = dict.fromkeys(("own_ns", "others_ns", "several_ns") + STATES, 0)
    for since, until in parts:
        for start, stop, state, owner in whole:
            ns = min(stop, until) - max(start, since)
            if ns > 0 and state == "running":
                found["several_ns" if owner == "several" else "own_ns" if owner[1] == pid else "others_ns"] += ns
            elif ns > 0:
                found[state] += ns
    return found

marks = [(begin, None)] + [(mark["time_ns"], mark["name"]) for mark in recording.get("marks", [])] + [(end, None)]
regions = {}
for (time, name), (following, _) in zip(marks, marks[1:]):
    regions.setdefault(name, []).append((time, following))
for region in report.get("regions", []):
    want, got = did(regions[region["name"]], -1), region["jobs"]
    same(f"region {region['name']}", (got["busy_ns"], got["idle"]), (want["others_ns"] + want["several_ns"], {state: want[state] for state in STATES}))
    same(f"time of {region['name']}", round(region["seconds"] * 1e9), got["busy_ns"] + got["idle_ns"])
    same(f"reason of {region['name']}", got["idle"][got["mostly"]], max(want[state] for state in STATES))

frames = list(csv.DictReader(open(sys.argv[3])))
sums = {}
for frame in frames:
    want = did([(int(frame["start_ns"]), int(frame["end_ns"]))], int(frame["pid"]))
    got = {name: int(frame[name if name.endswith("_ns") else name + "_ns"]) for name in want}
    same(f"frame {frame['frame']} of {frame['program']}", got, want)
    same("its time", sum(got.values()), int(frame["end_ns"]) - int(frame["start_ns"]))
    for name in want:
        sums[frame["program"], name] = sums.get((frame["program"], name), 0) + want[name]
for program in report.get("frames", []):
    got = program["jobs"]
    for name in STATES:
        same(f"{name} of {program['program']}", got["idle"][name], sums[program["program"], name])
    for name in ("own_ns", "others_ns", "several_ns"):
        same(f"{name} of {program['program']}", got[name], sums[program["program"], name])

print(problems, len(times) - 1, len(jobs), len(causes), places, len(frames))
