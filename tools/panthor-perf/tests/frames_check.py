# SPDX-License-Identifier: MIT
"""frames_check.py CONVERT-JSON REPORT-JSON REPORT-CSV: compares each count of each frame with what samples say.

A sample that spans frames is shared out by time, in whole counts. Frames of a process, and the rest, have all counts. Prints how
many are wrong, whether many were compared, and the number of frames.
"""
import csv, json, math, sys
recording, report = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))
rows = list(csv.DictReader(open(sys.argv[3])))
samples, wrong, compared, totals = [], 0, 0, {}
for sample in recording["samples"]:
    counts = {}
    for block in sample["blocks"]:
        for name, value in block["values"].items():
            counts[name] = counts.get(name, 0) + value
    samples.append((sample["start_ns"], sample["end_ns"], counts))

def until(time, start, end, count):
    if time <= start:
        return 0
    return count if time >= end else math.floor(count * ((time - start) / (end - start)))

names = [name for name in samples[0][2] if name in rows[0]]
def between(among, first, last, name):
    return sum(until(last, start, end, counts[name]) - until(first, start, end, counts[name]) for start, end, counts in among)

for row in rows:
    inside = [sample for sample in samples if sample[1] > int(row["start_ns"]) and sample[0] < int(row["end_ns"])]
    for name in names:
        value = between(inside, int(row["start_ns"]), int(row["end_ns"]), name)
        if row[name] and value != int(row[name]):
            wrong += 1
        key = row["program"], name
        totals[key] = totals.get(key, 0) + int(row[name] or 0)
        compared += 1
for process in report["frames"]:
    frames = [row for row in rows if row["program"] == process["program"]]
    first, last = int(frames[0]["start_ns"]), int(frames[-1]["end_ns"])
    for counter in process["counters"]:
        name = counter["name"]
        if name not in names:
            continue
        whole = sum(counts[name] for _, _, counts in samples)
        rest = between(samples, 0, first, name) + between(samples, last, 1 << 62, name)
        wrong += totals[process["program"], name] + rest != whole or counter["total"] != totals[process["program"], name]
print(wrong, compared > 5000, len(rows))
