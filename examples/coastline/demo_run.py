# SPDX-License-Identifier: BSD-3-Clause
"""One run of the demo as its folder describes it: events of the program, samples and outcome of the limited bed."""

import json
import os

MIB = 1 << 20


class Run:
    def __init__(self, folder):
        self.folder = folder
        with open(os.path.join(folder, "events.jsonl"), encoding="ascii") as file:
            self.events = [json.loads(line) for line in file]
        with open(os.path.join(folder, "outcome.json"), encoding="ascii") as file:
            self.outcome = json.load(file)
        with open(os.path.join(folder, "samples.csv"), encoding="ascii") as file:
            rows = [line.split(",") for line in file.read().splitlines()[1:]]
        self.times = [float(at) for at, _ in rows]
        self.held = [int(held) / MIB for _, held in rows]

    def all(self, event, **members):
        return [e for e in self.events if e["event"] == event and all(e[k] == v for k, v in members.items())]

    def first(self, event):
        found = self.all(event)
        return found[0] if found else None

    def survived(self):
        return self.outcome["outcome"] == "ok" and self.first("checked") is not None

    def fill(self):
        """The part of the memory left after MPI_Init that the data take."""
        room = self.first("room")
        return room["data"] / (room["limit"] - room["held"])
