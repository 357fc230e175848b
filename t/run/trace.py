#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks a trace (vmpi-trace(7)) of either format, and prints what is in it.

trace.py FILE: exits with 1 after one line per mistake of structure; else prints
lines "name value" to be compared by tests.

The rules are those by which Perfetto's importer reads a trace: events in the
order of time, an end closes the innermost open slice of its name on its track,
a flow needs an open slice and its begin; and in its own format, numbers of names
and tracks are explained before they are used, in one sequence of packets whose
first one clears the state.  What the importer would drop is a mistake.
"""
import collections
import json
import sys

RANKS = 1
DEPTH_MAX = 512
mistakes = []


def wrong(text, event):
    if len(mistakes) < 10:
        mistakes.append("%s: %s" % (text, json.dumps(event)))


# Protocol buffers.

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """The fields of a message: lists of values by number."""
    found = collections.defaultdict(list)
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            value, at = int.from_bytes(data[at:at + 8], "little"), at + 8
        elif key & 7 == 2:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
            if len(value) != length:
                sys.exit("a field that is cut off")
        else:
            sys.exit("a field of kind %d" % (key & 7))
        found[key >> 3].append(value)
    return found


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def text(value):
    return value.decode("utf-8")


class Perfetto:
    """Reads the packets, and makes events like those of JSON of them."""
    KINDS = {1: "B", 2: "E", 3: "i", 4: "C"}

    def __init__(self, data):
        self.names = {2: {}, 3: {}}  # by field of InternedData: by number
        self.tracks = {}
        self.events = []
        self.totals = {}
        self.clock = self.start = None
        self.last = 0
        whole = fields(data)
        if set(whole) - {1}:
            wrong("fields of Trace that are no packets", sorted(whole))
        for i, packet in enumerate(whole[1]):
            self.packet(fields(packet), i == 0)

    def packet(self, packet, is_first):
        flags = packet[13][0] if packet[13] else 0
        if packet[10] != [1]:
            wrong("a packet of no sequence", packet[10])
        if is_first != bool(flags & 1) or is_first != (packet[87] == [1]):
            wrong("the first packet clears the state, no other does", flags)
        if not is_first and not flags & 2:
            wrong("a packet that does not need the state", flags)
        if packet[59]:
            self.clock = fields(packet[59][0])[58][0]
        for snapshot in packet[6]:
            self.snapshot(fields(snapshot))
        for data in packet[12]:
            self.interned(fields(data))
        for track in packet[60]:
            self.track(fields(track))
        for event in packet[11]:
            if len(packet[8]) != 1:
                wrong("an event without a time", self.last)
                continue
            self.event(fields(event), packet[8][0])

    def snapshot(self, snapshot):
        clocks = {fields(c)[1][0]: fields(c)[2][0] for c in snapshot[1]}
        if snapshot[2] != [self.clock] or self.clock not in clocks:
            wrong("the clock of the times is in no snapshot", clocks)
        if 1 not in clocks:
            wrong("no time of day", clocks)
        self.start = clocks[self.clock]

    def interned(self, data):
        for field, entries in data.items():
            for entry in map(fields, entries):
                number, name = entry[1][0], text(entry[2][0])
                if number in self.names[field] or not number:
                    wrong("a name's number is taken", [number, name])
                self.names[field][number] = name

    def track(self, track):
        uuid, name = track[1][0], text(track[2][0])
        parent = track[5][0] if track[5] else None
        if uuid in self.tracks or not uuid:
            wrong("a track's number is taken", [uuid, name])
        if parent is not None and parent not in self.tracks:
            wrong("a track without its parent", [uuid, name])
        if name in [t["name"] for t in self.tracks.values()
                    if t["parent"] == parent]:
            wrong("tracks of one name, which would be one", name)
        self.tracks[uuid] = {"name": name, "parent": parent,
                             "counter": bool(track[8])}
        if parent is not None and not track[8]:
            self.events.append({
                "ph": "M", "name": "thread_name", "ts": 0,
                "pid": uuid >> 32, "tid": (uuid & 0xffffffff) - 1,
                "args": {"name": name}})

    def name_of(self, message, field, kind, plain):
        for number in message[field]:
            if number not in self.names[kind]:
                wrong("a name that was not explained", number)
                return ""
            return self.names[kind][number]
        return text(message[plain][0]) if message[plain] else None

    def args(self, event):
        found = {}
        for arg in map(fields, event[4]):
            name = self.name_of(arg, 1, 3, 10)
            found[name] = text(arg[6][0]) if arg[6] else signed(arg[4][0])
        return found

    def event(self, event, ns):
        uuid = event[11][0]
        track = self.tracks.get(uuid)
        if ns < self.last:
            wrong("time runs back", ns)
        self.last = ns
        if not track:
            wrong("an event on no track", uuid)
            return
        phase = self.KINDS[event[9][0]]
        if (phase == "C") != track["counter"]:
            wrong("an event on a track of another kind", [phase, track])
        made = {"ph": phase, "pid": uuid >> 32,
                "tid": (uuid & 0xffffffff) - 1,
                "ts": (ns - self.start) / 1000, "args": self.args(event),
                "name": track["name"] if phase == "C" else
                self.name_of(event, 10, 2, 23)}
        if phase == "C":
            made["args"] = {"value": signed(event[30][0])}
        if made["name"] == "contents of this trace":
            self.totals = made["args"]
            return
        for field, letter in ((47, "s"), (48, "f")):
            for flow in event[field]:
                made.update(ph=letter, id=flow)
        self.events.append(made)


with open(sys.argv[1], "rb") as file:
    data = file.read()
is_json = sys.argv[1].endswith(".json")
if is_json:
    trace = json.loads(data.decode("utf-8"))
    events, totals = trace["traceEvents"], trace["otherData"]
else:
    trace = Perfetto(data)
    events, totals = trace.events, trace.totals

open_slices = collections.defaultdict(list)  # by thread: names begun
flows = {}  # by number: the begin
ended = set()  # numbers of flows
counts = collections.Counter()
named = {(e["pid"], e["tid"]) for e in events
         if e["ph"] == "M" and e["name"] == "thread_name"}
# The thread that starts and stops the runtime is no worker.
others = {(e["pid"], e["tid"]) for e in events
          if e["ph"] == "M" and e["name"] == "thread_name" and
          e["args"]["name"].startswith("other threads")}


def flow(event, thread):
    number = event["id"]
    if not open_slices[thread]:
        wrong("the end of a flow lies in no slice", event)
    if event["ph"] == "s":
        if number in flows:
            wrong("a flow begins twice", event)
        flows[number] = event
    elif number not in flows:
        wrong("a flow ends that has not begun", event)
    elif number in ended:
        wrong("a flow ends twice", event)
    else:
        ended.add(number)
        sent = flows[number]
        if event["tid"] != sent["args"]["to"]:
            wrong("a message ends at another rank", event)
        if event["args"]["from"] != sent["tid"] or \
                event["args"]["bytes"] != sent["args"]["bytes"]:
            wrong("both ends say something else", event)


previous = 0
for event in events:
    phase, thread = event["ph"], (event["pid"], event["tid"])
    for member in ("name", "pid", "tid", "ts"):
        if event.get(member) is None:
            wrong("no " + member, event)
    if phase != "M":
        if event["ts"] < previous:
            wrong("time runs back", event)
        previous = event["ts"]
    counts[phase] += 1
    whole = event.get("s") == "p" or thread[1] == -1
    if phase in "BEisf" and thread not in named and not whole:
        wrong("a thread without a name", event)
    if phase == "B":
        stack = open_slices[thread]
        stack.append(event["name"])
        if len(stack) > DEPTH_MAX:
            wrong("a slice too deep", event)
        if len(stack) > (3 if event["pid"] == RANKS else 1):
            wrong("deeper than a wait in a call, or two slices of a worker",
                  event)
        if event["pid"] == RANKS:
            counts["slice " + event["name"]] += 1
        else:
            counts["idle" if event["name"] == "idle" else "runs"] += 1
    elif phase == "E":
        if not open_slices[thread]:
            wrong("an end without a begin", event)
        elif open_slices[thread].pop() != event["name"]:
            wrong("the end of another slice than the innermost", event)
    elif phase in "sf":
        flow(event, thread)
    elif phase == "C":
        if not isinstance(event["args"]["value"], int):
            wrong("a counter without a value", event)
        counts["counter " + event["name"]] += 1
    elif phase == "i":
        counts["moment " + event["name"]] += 1
    elif phase != "M":
        wrong("an unknown phase", event)

for thread, names in open_slices.items():
    if names:
        wrong("slices without an end", [thread, names])
if len(ended) != totals["messages"]:
    wrong("another number of messages than it says", totals)
if not totals["records_overwritten"] and \
        len(flows) - len(ended) > totals["sends_without_receive"]:
    wrong("more flows without an end than sends without a receive", totals)

for mistake in mistakes:
    print(mistake)
if mistakes:
    sys.exit(1)
threads = collections.Counter(pid for pid, tid in named - others)
print("ranks", threads[RANKS])
print("workers", sum(threads.values()) - threads[RANKS])
for name in sorted(counts):
    print(name.replace(" ", "_"), counts[name])
for name, value in totals.items():
    print("other_" + name, value)
