#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the text of a trace (vmpi-trace(7)) and prints what is in it.

trace.py FILE: exits with 1 after one line per mistake of structure; else prints
lines "name value" to be compared by tests.
"""
import collections
import json
import sys

RANKS = 1
mistakes = []


def wrong(text, event):
    if len(mistakes) < 10:
        mistakes.append("%s: %s" % (text, json.dumps(event)))


with open(sys.argv[1], encoding="utf-8") as file:
    trace = json.load(file)
events = trace["traceEvents"]

open_slices = collections.defaultdict(list)  # by thread: names begun
last = {}  # by thread: when its last slice began or ended
busy_until = collections.defaultdict(float)  # by thread: end of its last X
flows = collections.defaultdict(list)
lives = {}  # by thread: from when to when there is a slice
counts = collections.Counter()
named = {(e["pid"], e["tid"]) for e in events
         if e["ph"] == "M" and e["name"] == "thread_name"}
# The thread that starts and stops the runtime is no worker.
others = {(e["pid"], e["tid"]) for e in events
          if e["ph"] == "M" and e["name"] == "thread_name" and
          e["args"]["name"].startswith("other threads")}

for event in events:
    phase, thread = event["ph"], (event["pid"], event["tid"])
    for member in ("name", "pid", "tid", "ts"):
        if member not in event:
            wrong("no " + member, event)
    counts[phase] += 1
    if phase in "BEXisf" and thread not in named:
        wrong("a thread without a name", event)
    if phase in "BE":
        if event["ts"] < last.get(thread, 0):
            wrong("time runs back", event)
        last[thread] = event["ts"]
        lives.setdefault(thread, [event["ts"], 0])[1] = event["ts"]
    if phase == "B":
        if event["pid"] != RANKS:
            wrong("begins and ends are for ranks", event)
        open_slices[thread].append(event["name"])
        counts["slice " + event["name"]] += 1
        if len(open_slices[thread]) > 3:
            wrong("deeper than a wait in a call", event)
    elif phase == "E":
        if not open_slices[thread]:
            wrong("an end without a begin", event)
        else:
            name = open_slices[thread].pop()
            kind = {"rank": "rank", "waits": "waits",
                    "yields": "yields"}.get(name, "call")
            if kind != event["name"]:
                wrong("the end of another slice than " + name, event)
    elif phase == "X":
        if event["dur"] < 0:
            wrong("a slice that ends before it begins", event)
        if event["ts"] + 0.0015 < busy_until[thread]:
            wrong("slices of a worker lie upon each other", event)
        busy_until[thread] = event["ts"] + event["dur"]
        counts["idle" if event["name"] == "idle" else "runs"] += 1
    elif phase in "sf":
        flows[event["id"]].append(event)
    elif phase == "C":
        if not isinstance(event["args"]["value"], int):
            wrong("a counter without a value", event)
    elif phase == "i":
        counts["moment " + event["name"]] += 1
    elif phase != "M":
        wrong("an unknown phase", event)

for thread, names in open_slices.items():
    if names:
        wrong("slices without an end", [thread, names])
for flow in flows.values():
    if [e["ph"] for e in flow] != ["s", "f"]:
        wrong("a flow is a begin and an end", flow)
        continue
    if flow[0]["ts"] > flow[1]["ts"]:
        wrong("a message is received before it is sent", flow)
    for end in flow:
        life = lives.get((end["pid"], end["tid"]), (1, 0))
        if not life[0] <= end["ts"] <= life[1]:
            wrong("the end of a flow lies in no slice", end)
if len(flows) != trace["otherData"]["messages"]:
    wrong("another number of messages than it says", trace["otherData"])

for mistake in mistakes:
    print(mistake)
if mistakes:
    sys.exit(1)
threads = collections.Counter(pid for pid, tid in named - others)
print("ranks", threads[RANKS])
print("workers", sum(threads.values()) - threads[RANKS])
for name in sorted(counts):
    print(name.replace(" ", "_"), counts[name])
for name, value in trace["otherData"].items():
    print("other_" + name, value)
