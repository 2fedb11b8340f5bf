"""Runs the measuring programs in turn and prints their ratios beside what they must and should be.

Called by scripts/bench. Every value is a ratio within one run; the nanoseconds beside it are this machine's, today.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

# quantity, how it comes of the figures, at most, aim
ROWS = [
    ("stack event with its journal line / bare unwinder, depth 10", "event/U(10)", 0.25, 0.10),
    ("stack event with its journal line / bare unwinder, depth 30", "event/U(30)", 0.15, 0.06),
    ("stack event with its journal line / bare unwinder, depth 60", "event/U(60)", 0.12, 0.04),
    ("event without a stack / two clock readings", "free/2C", 8, 4),
    ("throw and catch with the shim / without", "throw", 1.1, 1.0),
]


class Bench:
    def __init__(self, build, runs):
        self.bench = os.path.join(build, "tests", "bench")
        self.shim = os.path.join(build, "libgpumemshim.so")
        self.runs = runs
        self.ratios = {}
        self.figures = {}

    def run(self, *command, shim):
        with tempfile.TemporaryDirectory() as folder:
            environment = dict(os.environ, GPUMEM_DIR=folder, GPUMEM_QUIET="1")
            if shim:
                environment["LD_PRELOAD"] = self.shim
            done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, text=True)
            return done.stdout

    def note(self, key, ratio, figure):
        self.ratios.setdefault(key, []).append(ratio)
        self.figures[key] = figure

    def events(self):
        for line in self.run(os.path.join(self.bench, "event_cost"), shim=True).splitlines():
            cost = json.loads(line)
            unwind, event, free, clock = (cost[k + "_ns"] for k in ("unwind", "allocation", "free", "clock"))
            self.note(f"event/U({cost['depth']})", event / unwind, f"{event:.0f} ns of {unwind:.0f}")
            self.note("free/2C", free / (2 * clock), f"{free:.0f} ns, a reading {clock:.0f}")

    def exceptions(self):
        command = [os.path.join(self.bench, "throw_cost"), os.path.join(self.bench, "throwing_library.so")]
        without, with_shim = (float(self.run(*command, shim=shim)) for shim in (False, True))
        self.note("throw", with_shim / without, f"{with_shim:.0f} ns of {without:.0f}")

    def measure(self):
        for number in range(self.runs):
            if sys.stderr.isatty():
                print(f"\rround {number + 1} of {self.runs}", end="", file=sys.stderr, flush=True)
            self.events()
            self.exceptions()
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--runs", type=int, required=True)
    parser.add_argument("--json")
    options = parser.parse_args()
    bench = Bench(options.build, options.runs)
    bench.measure()
    results = []
    print(f"{'quantity':62} {'median':>7} {'spread':>13} {'must':>6} {'aim':>6}  last run")
    for quantity, key, must, aim in ROWS:
        values = sorted(bench.ratios[key])
        median = statistics.median(values)
        verdict = "" if median <= must else "  MISSED"
        spread = f"{values[0]:.3f}-{values[-1]:.3f}"
        print(f"{quantity:62} {median:7.3f} {spread:>13} {must:6g} {aim:6g}  {bench.figures[key]}{verdict}")
        results.append({"quantity": quantity, "key": key, "median": median, "least": values[0], "most": values[-1],
                        "must": must, "aim": aim})
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"schema_version": 1, "runs": options.runs, "results": results}, file, indent=2)
            file.write("\n")
    return 0 if all(r["median"] <= r["must"] for r in results) else 1


if __name__ == "__main__":
    sys.exit(main())
